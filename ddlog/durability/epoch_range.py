"""The epochs that a state tells of one by one, in messages and for people, whatever the state is in."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence

from ..errors.diagnostics import DDlogError, counted
from ..errors.state import NoHistory
from .records import Stored

SHOWN = 10
"""The last epochs that are described."""


class EpochRange(ABC):
    """The epochs from `first` to `last`, whose changes a state has by themselves."""

    last: int

    @property
    @abstractmethod
    def first(self) -> int:
        """The first epoch whose changes are there by themselves."""

    @abstractmethod
    def time(self, epoch: int) -> float:
        """When an epoch was written."""

    @abstractmethod
    def counts(self, epoch: int) -> Mapping[int, int]:
        """The number of rows of each relation, by its id, that an epoch changed. Raises DDlogError and
        OSError."""

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
        names = {stored.id: name for name, stored in relations.items() if stored.role == "input"}
        yield f"{head}, {size:,} bytes"
        yield f"history of {self.known}" if self.first <= self.last else self.known
        for epoch in range(max(self.first, self.last - SHOWN + 1), self.last + 1):
            at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.time(epoch)))
            counts = self.counts(epoch)
            rows = ", ".join(f"{names[each]} {counts[each]:,}" for each in sorted(names) if counts.get(each))
            yield f"  epoch {epoch:,}  {at}  {rows or 'no changes'}"


def report(
    epoch: int,
    first: int,
    spans: int,
    size: int,
    program: Mapping[str, str],
    relations: Sequence[tuple[Stored, int]],
    ids: int,
) -> Iterator[str]:
    """Lines that say what a state holds; `first` is the first epoch of its history, `relations` have each the
    number of their rows, `ids` is the number of the ids of updates."""
    told = f"history from epoch {first:,}" if first <= epoch else "no history"
    yield f"epoch {epoch:,}, {told}, {counted(spans, 'span')}, {size:,} bytes"
    if program:
        yield f"program {program['name']}, SHA-256 {program['digest'][:16]}"
    for stored, rows in relations:
        columns = ", ".join(f"{name}: {type}" for name, type in stored.columns)
        dropped = ", dropped: --compact removes it" if stored.dropped else ""
        yield f"{stored.role} {stored.kind} {stored.name}({columns})  {counted(rows, 'row')}{dropped}"
    if ids:
        yield f"{counted(ids, 'id')} of applied updates"


def exported_relations(relations: Collection[Stored]) -> list[Stored]:
    """The relations that `--export` writes."""
    return [each for each in relations if not each.dropped and each.role == "input" and each.kind != "stream"]
