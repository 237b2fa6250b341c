"""The one list of features that a host of sessions does not offer yet, with the error that gives the reason.

Forms and places of fact files that one engine cannot read are refused where facts are looked for, in
`ddlog.io.places` and `ddlog.spark.files`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from ..errors.diagnostics import DDlogError, Diagnostic
from ..errors.sessions import ProgramStays
from ..errors.spark import NeedsSpark, NoExternTypes, NoFrameOfLookup, SkipsNoRows
from ..errors.state import StateNeedsClassicSpark


class HostKind(Enum):
    """The kind of place where a session keeps its relations, or of a stream's source."""

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
    STATE = "keep a state in a folder"
    SKIP_ROWS = "skip wrong rows of facts"
    OTHER_RULES = "take other rules"
    EXTERN_TYPES = "hold values of extern types of a program"


@dataclass(frozen=True, slots=True)
class Gap:
    """An ability that some hosts do not offer. `error` makes the diagnostic from the names of the relations
    that need the ability."""

    ability: Ability
    hosts: tuple[HostKind, ...]
    error: Callable[[str], Diagnostic]


def _needs_spark(used: str) -> Callable[[str], Diagnostic]:
    return lambda _: NeedsSpark(used)


_IN_PROCESS = (HostKind.IN_PROCESS,)
_ON_SPARK = (HostKind.SPARK, HostKind.CONNECT)

GAPS = (
    Gap(Ability.FRAMES_IN, _IN_PROCESS, _needs_spark("a Spark DataFrame")),
    Gap(Ability.LOAD_FRAMES, _IN_PROCESS, _needs_spark("load_frames")),
    Gap(Ability.FRAMES_OUT, _IN_PROCESS, _needs_spark("to_spark")),
    Gap(Ability.LOOKUP_FRAMES, _IN_PROCESS, _needs_spark("to_spark")),
    Gap(Ability.LOOKUP_FRAMES, _ON_SPARK, lambda _: NoFrameOfLookup()),
    Gap(Ability.WRITE, _IN_PROCESS, _needs_spark("write")),
    Gap(Ability.STATE, (HostKind.CONNECT,), StateNeedsClassicSpark),
    Gap(Ability.OTHER_RULES, _ON_SPARK, lambda _: ProgramStays("it runs on Spark")),
    Gap(Ability.SKIP_ROWS, _ON_SPARK, lambda _: SkipsNoRows()),
    Gap(Ability.EXTERN_TYPES, _ON_SPARK, NoExternTypes),
)
"""Every gap."""

_ERRORS = {(kind, gap.ability): gap.error for gap in GAPS for kind in gap.hosts}


def refused(kind: HostKind, ability: Ability, asked_by: str = "") -> DDlogError:
    """The error for an ability that a kind of host does not offer. Raises KeyError if it offers it."""
    return DDlogError([_ERRORS[kind, ability](asked_by)])


def check_offered(kind: HostKind, ability: Ability, asked_by: str = "") -> None:
    """Raises DDlogError if a kind of host does not offer an ability."""
    if (kind, ability) in _ERRORS:
        raise refused(kind, ability, asked_by)
