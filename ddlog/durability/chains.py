"""Spans of epochs that follow each other without a gap."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar


class EpochStretch(Protocol):
    """Something that has the changes of the epochs from `first` to `last`."""

    @property
    def first(self) -> int:
        """The first epoch."""

    @property
    def last(self) -> int:
        """The last one."""


S = TypeVar("S", bound=EpochStretch)


def following(spans: Iterable[S], last: int) -> list[S]:
    """The spans that follow each other up to an epoch, the oldest first; of several that end together, the
    shortest."""
    by_last: dict[int, S] = {}
    for span in spans:
        known = by_last.get(span.last)
        if known is None or known.first < span.first:
            by_last[span.last] = span
    found: list[S] = []
    while last in by_last:
        found.append(by_last[last])
        last = found[-1].first - 1
    return found[::-1]


def gap(spans: Iterable[EpochStretch], last: int) -> str:
    """The error about epochs up to one that are missing in spans in order; empty if none is."""
    reached = 0
    for span in spans:
        if span.first != reached + 1:
            return f"the epochs after {reached} are missing"
        reached = span.last
    return "" if reached == last else f"the epochs {reached + 1} to {last} are missing"
