"""The measurements of a session as frozen data. docs/profile.md describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..engine.joinplan import JoinPlan

VERSION = 1


@dataclass(frozen=True)
class OperatorCost:
    """An operator of a rule: `join`, `group`, `distinct` and so on; `rule` is a whole rule of a recursion.
    `rows_in` are the rows of the changes that it was given, `rows_out` those that it gave, and None where
    they are not counted. `duplicates` are the rows that a `distinct`, or the relation of a rule, had already
    or was given twice."""

    operator: str
    text: str
    relation: str
    place: str
    calls: int
    seconds: float
    rows_in: int
    rows_out: int | None
    duplicates: int | None = None


@dataclass(frozen=True)
class Round:
    """A round of a recursion, summed up over the epochs. `derived` are the rows that its rules gave, `rows`
    those that were new; None where that is not known."""

    round: int
    seconds: float
    derived: int
    rows: int | None


@dataclass(frozen=True)
class StratumCost:
    """A relation that is not recursive, or relations that are recursive together."""

    name: str
    recursive: bool
    seconds: float
    operators: tuple[OperatorCost, ...]
    rounds: tuple[Round, ...] = ()
    rows_out: int | None = None
    duplicates: int | None = None


@dataclass(frozen=True)
class CommitCost:
    """A commit: its number from 0, its seconds, and the rows by which inputs and outputs changed. Commit 0
    begins the session, with the program's own facts and those that it loads first. The rows of short commits
    are not always known."""

    number: int
    seconds: float
    rows_in: int | None
    rows_out: int | None

    @property
    def rows(self) -> str:
        """The rows, as a text; empty if they are not known."""
        if self.rows_in is None or self.rows_out is None:
            return ""
        return f", {self.rows_in:,} rows in, {self.rows_out:,} out"


@dataclass(frozen=True)
class SlowEpoch:
    """One of the slowest commits, with all that it did."""

    epoch: CommitCost
    strata: tuple[StratumCost, ...]


@dataclass(frozen=True)
class RelationSize:
    """A relation that the session keeps: the rows in it, and the bytes of its store and its indexes."""

    name: str
    rows: int
    bytes: int | None
    parts: Mapping[str, int]


@dataclass(frozen=True)
class MemorySize:
    """A part of the memory: `kind` is relation, groups, recursion or values, `parts` are the bytes of its
    stores and indexes."""

    kind: str
    name: str
    rows: int
    bytes: int
    parts: Mapping[str, int]


@dataclass(frozen=True)
class DecisionTaken:
    """The way that an epoch took with a recursion, and why: `way` is maintained, recomputed or given up."""

    epoch: int
    relations: tuple[str, ...]
    way: str
    why: str
    changed: int
    expected_maintain: float | None
    expected_recompute: float | None
    seconds: float


@dataclass(frozen=True)
class PhaseTime:
    """A phase of a run of the command line, such as parsing, and its seconds."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Measurements:
    """The measurements of a session: sums over the epochs that were measured, the last of these epochs, and
    the slowest as a whole. `phases` are those of a run of the command line, and account for its whole time.
    `memory` and `plans` are None on Spark, which has its own pages for them."""

    program: str
    engine: str
    commits: int
    seconds: float
    strata: tuple[StratumCost, ...]
    relations: tuple[RelationSize, ...]
    plans: tuple[JoinPlan, ...] | None
    decisions: tuple[DecisionTaken, ...]
    memory: tuple[MemorySize, ...] | None
    epochs: tuple[CommitCost, ...]
    slowest: tuple[SlowEpoch, ...]
    version: int = VERSION
    phases: tuple[PhaseTime, ...] = ()

    @property
    def operators(self) -> tuple[OperatorCost, ...]:
        """The operators of all strata, the dearest first."""
        found = (each for stratum in self.strata for each in stratum.operators)
        return tuple(sorted(found, key=lambda each: -each.seconds))


def seconds_text(seconds: float) -> str:
    """A time, in short."""
    return f"{seconds:,.2f} s" if seconds >= 1 else f"{seconds * 1000:,.2f} ms"


def by_rule(operators: Sequence[OperatorCost]) -> dict[tuple[str, str], tuple[float, int]]:
    """The seconds and the rows given, by the relation and the text of rules."""
    found: dict[tuple[str, str], tuple[float, int]] = {}
    for each in operators:
        key = each.relation, each.text
        seconds, rows = found.get(key, (0.0, 0))
        found[key] = seconds + each.seconds, rows + (each.rows_out or 0)
    return found
