"""What a host of sessions does not offer yet: the one list, with the error of each gap, which gives the
reason.

Forms and places of fact files that one engine cannot read are refused where facts are looked for, in
`ddlog.io.places` and `ddlog.spark.files`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from ..errors.diagnostics import DDlogError, Diagnostic
from ..errors.spark import NeedsSpark, NoCircumstances, NoFrameOfLookup
from ..errors.stream import CheckpointOfTime, NeedsClassicSpark


class HostKind(Enum):
    """Where a session keeps its relations, or where the source of a stream is."""

    IN_PROCESS = "in-process"
    SPARK = "Spark"
    CONNECT = "Spark Connect"


class Ability(Enum):
    """Something that a host may offer."""

    FRAMES_IN = "insert a Spark DataFrame"
    LOAD_FRAMES = "load input relations from Spark DataFrames"
    FRAMES_OUT = "give a relation or its change as a Spark DataFrame"
    LOOKUP_FRAMES = "give the rows that an index finds as a Spark DataFrame"
    WRITE = "let Spark's executors write a relation"
    STREAM = "be driven by Structured Streaming"
    CHECKPOINT_OF_PAST = "keep a checkpoint of a program with input streams or delayed relations"
    CIRCUMSTANCES = "give an Inspect the weight or the time of a row"


_ON_SPARK = (HostKind.SPARK, HostKind.CONNECT)
_NEEDS_SPARK: Mapping[Ability, str] = {
    Ability.FRAMES_IN: "a Spark DataFrame",
    Ability.LOAD_FRAMES: "load_frames",
    Ability.FRAMES_OUT: "to_spark",
    Ability.LOOKUP_FRAMES: "to_spark",
    Ability.WRITE: "write",
}

GAPS: Mapping[tuple[HostKind, Ability], Callable[[str], Diagnostic]] = {
    **{
        (HostKind.IN_PROCESS, ability): lambda _, name=name: NeedsSpark(name)  # type: ignore[misc]
        for ability, name in _NEEDS_SPARK.items()
    },
    (HostKind.CONNECT, Ability.STREAM): lambda _: NeedsClassicSpark(),
    **{(kind, Ability.CHECKPOINT_OF_PAST): CheckpointOfTime for kind in HostKind},
    **{(kind, Ability.LOOKUP_FRAMES): lambda _: NoFrameOfLookup() for kind in _ON_SPARK},
    **{(kind, Ability.CIRCUMSTANCES): NoCircumstances for kind in _ON_SPARK},
}
"""The error of each gap, made from the names of the relations or the text of the rule that asks for the
ability."""


def refused(kind: HostKind, ability: Ability, asked_by: str = "") -> DDlogError:
    """The error for an ability that a kind of host does not offer. Raises KeyError if it offers it."""
    return DDlogError([GAPS[kind, ability](asked_by)])


def check_offered(kind: HostKind, ability: Ability, asked_by: str = "") -> None:
    """Raises DDlogError if a kind of host does not offer an ability."""
    if (kind, ability) in GAPS:
        raise refused(kind, ability, asked_by)
