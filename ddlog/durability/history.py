"""The history of relations that the spans of a state have: of now, and of the past, as far back as they tell
epochs apart.

    now:      ██████████████████ (epochs 1 to 1000, folded)  █ █ █
    fine:              █ █ █ █ █ █ █ █ (epochs 600 to 1000)  █ █ █
    at 800:   what holds now, minus the changes of the epochs after 800

A store reads rows as `SpanRows`: tables of Arrow, or data frames. What is read and cut is decided here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ..errors.diagnostics import DDlogError
from ..errors.state import NoHistory
from .chains import EpochStretch
from .records import Stored

SHOWN = 10
"""The last epochs that are described."""


class Timed(EpochStretch, Protocol):
    """Holds the changes of some epochs, and the time at which they were written."""

    def written(self, epoch: int) -> float:
        """When an epoch was written."""


S = TypeVar("S", bound=Timed)
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Cut(Generic[S]):
    """The part of a span with the epochs from `first` to `last`, to be added, or taken away. Rows that do not
    say their epochs are of the last one of the span; `exact`: not if that is a guess."""

    span: S
    first: int
    last: int
    sign: int = 1
    exact: bool = False

    @property
    def whole(self) -> bool:
        """Whether that is all of the span."""
        return self.first <= self.span.first and self.span.last <= self.last

    @property
    def has_last(self) -> bool:
        """Whether the last epoch of the span is among these."""
        return self.first <= self.span.last <= self.last


def cuts(spans: Iterable[S], first: int, last: int, sign: int = 1, exact: bool = False) -> list[Cut[S]]:
    """The parts of spans with some epochs."""
    return [
        Cut(each, first, last, sign, exact) for each in spans if each.first <= last and first <= each.last
    ]


class Untold(Exception):
    """Changes that are only known together with others."""


class SpanRows(Protocol[S, R_co]):
    """Reads the rows of spans. The methods raise DDlogError, and OSError of a folder."""

    def sum(self, stored: Stored, some: Sequence[Cut[S]]) -> Iterable[R_co]:
        """The sum of what spans have of a relation, to be applied one after another: each has a row once at
        most. Raises Untold."""

    def count(self, stored: Stored, some: Sequence[Cut[S]]) -> int:
        """The number of rows that spans have of a relation."""


class History(Generic[S, R]):
    """The epochs from `first` to `last`, whose changes a state has apart, and what held after each. Reading
    rows raises DDlogError, and OSError of a folder."""

    def __init__(self, current: Sequence[S], fine: Sequence[S], last: int, rows: SpanRows[S, R]) -> None:
        """`fine` tell their epochs apart, and follow each other, but for those that add to the epoch of
        another. For now, and the last epochs as far as the current spans have them apart, these will do."""
        self.current, self.fine, self.last, self._rows = current, fine, last, rows
        self.first = min((each.first for each in fine), default=_end(current) + 1)

    def held(self, stored: Stored, epoch: int) -> Iterable[R]:
        """The rows of a relation as of an epoch; of a stream, its elements in it."""
        if stored.kind == "stream":
            return self.of_epoch(stored, epoch)
        last = _end(span for span in self.current if span.first <= epoch)
        held = cuts(self.current, 1, last)
        return self._rows.sum(stored, [*held, *cuts(self.fine, epoch + 1, last, -1)])

    def of_epoch(self, stored: Stored, epoch: int) -> Iterable[R]:
        """The changes of a relation in an epoch; of a stream, its elements."""
        return self._rows.sum(stored, cuts(self.fine, epoch, epoch))

    def between(self, stored: Stored, first: int, last: int) -> Iterable[R]:
        """The changes of a relation by epochs. Raises Untold if that is only known together with others."""
        return self._rows.sum(stored, cuts(self.fine, first, last, exact=True))

    @property
    def known(self) -> str:
        """The epochs whose changes are there by themselves, for messages."""
        return f"the epochs {self.first:,} to {self.last:,}" if self.first <= self.last else "no history"

    def check(self, epoch: int) -> None:
        """Raises DDlogError if the state as of an epoch cannot be told."""
        if not max(self.first - 1, 0) <= epoch <= self.last:
            raise DDlogError([NoHistory(epoch, self.known)])

    def check_past(self, epoch: int, depth: int) -> None:
        """Raises DDlogError if no session can begin as of an epoch, with the epochs before it that rules
        read."""
        if epoch:
            self.check(epoch)
            self.check(max(0, epoch - depth))

    def check_change(self, epoch: int) -> None:
        """Raises DDlogError if what an epoch changed cannot be told."""
        if not max(self.first, 1) <= epoch <= self.last:
            raise DDlogError([NoHistory(epoch, self.known)])

    def described(self, head: str, size: int, relations: Mapping[str, Stored]) -> Iterator[str]:
        """Lines about a state and its last epochs. Raises DDlogError and OSError."""
        inputs = sorted(
            (each for each in relations.items() if each[1].role == "input"), key=lambda e: e[1].id
        )
        yield f"{head}, {size:,} bytes"
        yield f"history of {self.known}" if self.first <= self.last else self.known
        for epoch in range(max(self.first, self.last - SHOWN + 1), self.last + 1):
            some = cuts(self.fine, epoch, epoch)
            written = max(each.span.written(epoch) for each in some)
            at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(written))
            counts = [(name, self._rows.count(stored, some)) for name, stored in inputs]
            rows = ", ".join(f"{name} {count:,}" for name, count in counts if count)
            yield f"  epoch {epoch:,}  {at}  {rows or 'no changes'}"


def _end(spans: Iterable[EpochStretch]) -> int:
    """The last epoch of spans; 0: there are none."""
    return max((each.last for each in spans), default=0)
