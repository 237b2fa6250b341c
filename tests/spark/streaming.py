"""What the tests of streams share: a program with every kind of input, and a folder that a stream reads."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddlog.sessions.program import Program, compile
from ddlog.sessions.results import Changes
from ddlog.sessions.session import Session
from ddlog.spark.streaming.stream import SparkStream, stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_EPOCH = 1_700_000_000

WINDOWED = """
import window
input stream Event(id: u32, time: u64)
input relation Now(time: u64)
output relation Clock(time: u64)
Clock(t) :- Now(t).
output multiset Recent[Event]
output stream Late[Event]
apply window::range_late(Event, |e| e.time, Now, 60, 0) -> (Recent, Late)
"""

PATHS = """
input relation Edge(from: u32, to: u32)
input multiset Visit(at: u32)
input relation Name(at: u32, name: string) primary key (x) x.at
output relation Path(from: u32, to: u32)
output relation Ratio(at: u32, r: u32)
output relation Seen(at: u32, name: string)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
Ratio(x, 100 / y) :- Edge(x, y).
Seen(x, n) :- Visit(x), Name(x, n).
"""


def program() -> Program:
    """Paths of edges, and which names were visited; an edge to 0 is a fault."""
    return compile(PATHS)


class Source:
    """A folder of JSON files, each of which is a batch of a stream."""

    def __init__(self, spark: SparkSession, folder: Path, schema: str) -> None:
        folder.mkdir(exist_ok=True)
        self._spark, self._folder, self._schema, self._files = spark, folder, schema, 0

    def put(self, *rows: dict[str, Any]) -> None:
        """One more file, whole at once."""
        self._files += 1
        draft = self._folder / f".draft{self._files}"
        draft.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        os.utime(draft, (_EPOCH + self._files,) * 2)  # Spark goes by the time
        draft.rename(self._folder / f"{self._files:05d}.json")

    def frame(self) -> DataFrame:
        """A streaming DataFrame of the files."""
        reader = self._spark.readStream.schema(self._schema).option("maxFilesPerTrigger", 1)
        return reader.json(str(self._folder))


def edges(spark: SparkSession, folder: Path) -> Source:
    """Batches of edges; the types are not the relation's, nor is the order of the columns."""
    return Source(spark, folder, "to BIGINT, op STRING, from INT")


def edge(start: int, end: int, op: str = "+1") -> dict[str, Any]:
    """An edge that comes or goes."""
    return {"from": start, "to": end, "op": op}


class Told:
    """The changes that a stream told of, batch by batch."""

    def __init__(self) -> None:
        self.batches: list[tuple[int, dict[str, list[tuple[Any, ...]]]]] = []

    def __call__(self, changes: Changes, batch: int) -> None:
        rows = {name: [(*row, weight) for row, weight in changes.rows(name)] for name in changes}
        self.batches.append((batch, rows))

    def sum(self, relation: str) -> set[tuple[Any, ...]]:
        """The relation that the changes add up to. Fails where a change is no change of it."""
        rows: set[tuple[Any, ...]] = set()
        for _, changes in self.batches:
            for *row, weight in changes.get(relation, []):
                assert (tuple(row) in rows) == (weight < 0), f"{row} {weight:+} is told twice"
                (rows.add if weight > 0 else rows.remove)(tuple(row))
        return rows


def run_once(session: Session, source: Source, relation: str, **options: Any) -> SparkStream:
    """Lets a stream take what is there."""
    running = stream(session, source.frame(), relation, once=True, **options)
    assert running.wait(120)
    return running


def contents(session: Session, relation: str) -> set[tuple[Any, ...]]:
    """A relation's rows."""
    return set(session[relation].tuples())


def closure(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The paths of edges, computed in another way."""
    found = set(pairs)
    while True:
        more = {(a, d) for a, b in found for c, d in pairs if b == c} - found
        if not more:
            return found
        found |= more
