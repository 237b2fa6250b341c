"""The hand-written loop: the code of a careful Spark user, to compare with.

Semi-naive evaluation over DataFrames. What is new is joined, made distinct, and cleared of what is known by
an anti join; a local checkpoint cuts the lineage, and a count fills it. Small sides are broadcast, and what
is known is merged every few iterations.

Tried on local[2], warm, and slower: adaptive execution (tc 19 s instead of 15), shuffled hash joins (20 s),
one partition (25 s) or four (the same), no broadcast of edges (21 s) or of the frontier (reach 9 s instead
of 4), `subtract` for distinct and anti join (17 s), merging never (39 s) or always (the same), grouping all
that is known with what is new instead of the anti join (20 s).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Step: TypeAlias = "Callable[[DataFrame, DataFrame | None, DataFrame, int], DataFrame]"
"""Derived rows, from the new rows, the rows known before, both together, and the number of new rows."""

MERGE = 4  # iterations after which the parts of what is known become one
SMALL = 300_000  # rows up to which a side of a join is broadcast


class Parts:
    """Rows in parts, each computed once and without its lineage.

    A checkpoint alone does it by one job, but from it Spark goes on guessing sizes from the history that was
    cut: in a rule with two recursive joins the guess has twice as many digits after each iteration, and
    planning the twentieth takes minutes. `sized` caches each part first, which tells the true size.
    """

    def __init__(self, sized: bool) -> None:
        self.sized = sized
        self.frames: list[DataFrame] = []
        self.cached: list[DataFrame] = []

    def add(self, frame: DataFrame) -> int:
        """Adds a part and returns the number of its rows."""
        if not self.sized:
            self.frames.append(frame.localCheckpoint(eager=False))
            return self.frames[-1].count()
        cached = frame.persist()
        rows = cached.count()
        self.cached.append(cached)
        self.frames.append(cached.localCheckpoint(eager=False))
        return rows

    def merge(self) -> None:
        """Merges the parts. Their checkpoints have been used, and so computed: the caches can be dropped."""
        frame, cached = union(self.frames).repartition(*self.frames[0].columns), self.cached
        self.frames, self.cached = [], []
        self.add(frame)
        for each in cached:
            each.unpersist()


def fixpoint(first: DataFrame, step: Step, sized: bool = False) -> DataFrame:
    """All rows that the step derives from these rows. `sized` as in Parts."""
    keys = first.columns
    parts = Parts(sized)
    total = count = parts.add(first.distinct())
    iteration = 0
    while count:
        iteration += 1
        *old, new = parts.frames
        known = union(parts.frames)
        candidates = step(new, union(old) if old else None, known, count)
        fresh = candidates.distinct().join(broadcast(known, total), keys, "left_anti")
        if iteration % MERGE == 0:
            parts.merge()
        count = parts.add(fresh)
        total += count
    return union(parts.frames)


def union(parts: list[DataFrame]) -> DataFrame:
    """The rows of all parts."""
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    return whole


def broadcast(frame: DataFrame, rows: int) -> DataFrame:
    """The frame, broadcast if it is small."""
    return F.broadcast(frame) if rows <= SMALL else frame


def reached(Edge: DataFrame, Source: DataFrame) -> DataFrame:
    """The nodes that the sources reach."""
    edges = Edge.cache()

    def step(new: DataFrame, before: DataFrame | None, known: DataFrame, count: int) -> DataFrame:
        return edges.join(broadcast(new, count), "x").select(F.col("y").alias("x"))

    return fixpoint(Source, step)


def components(Edge: DataFrame) -> DataFrame:
    """The least node that each node is connected to: in each iteration the nodes whose label fell tell their
    neighbours."""
    both = Edge.union(Edge.select("y", "x")).repartition("x").cache()
    parts = Parts(sized=True)
    count = parts.add(both.select("x", F.col("x").alias("label"), F.lit(True).alias("fell")).distinct())
    while count:
        (known,), before = parts.frames, parts.cached
        new = known.where("fell").select("x", "label")
        told = (
            both.join(broadcast(new, count), "x")
            .groupBy(F.col("y").alias("x"))
            .agg(F.min("label").alias("less"))
        )
        least, fell = known.join(told, "x", "left"), F.col("less") < F.col("label")
        parts = Parts(sized=True)
        parts.add(
            least.select(
                "x", F.least("label", "less").alias("label"), (fell & fell.isNotNull()).alias("fell")
            )
        )
        count = parts.frames[0].where("fell").count()
        for each in before:
            each.unpersist()
    return parts.frames[0]


OVER_FRAMES: dict[str, Callable[..., DataFrame]] = {"components": components, "reach": reached}
CONF = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""What was fastest on local[2]. What to broadcast is known better than by guesses."""
