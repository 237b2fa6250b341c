"""The records of a state: its relations, its spans, and its head, as rows of their tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .parts import checksum

PROGRAM_TEXTS: Final = frozenset({"name", "digest", "text", "depth"})
"""The names of the rows of the table `program`, which is empty or has all."""


SPAN_KINDS: Final = frozenset({"epochs", "added", "migrated"})
KINDS: Final = frozenset({"relation", "multiset", "stream"})
ROLES: Final = frozenset({"input", "past", "window", "late", "passed", "position"})
_LATEST: Final = 1e11
"""Seconds since 1970, after which no state is written."""
_MOST_PARTS: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Stored:
    """A relation of a state. See the table `relation`."""

    id: int
    name: str
    kind: str
    role: str
    keyed: bool
    columns: tuple[tuple[str, str], ...]
    types: tuple[str, ...]
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class EpochSpan:
    """The place of the changes of some epochs. See the table `span`."""

    id: int
    first: int
    last: int
    kind: str
    folded: bool
    time: float
    part_from: int
    parts: int
    bytes: int

    def written(self, epoch: int) -> float:
        """When an epoch was written."""
        return self.time


@dataclass(frozen=True, slots=True)
class StateHead:
    """The last epoch of a state, and the numbers of its records."""

    epoch: int
    spans: int
    applied: int


def span_row(span: EpochSpan, sums: Sequence[int]) -> tuple[Any, ...]:
    """A span as a row, with a checksum that is also of those of its parts."""
    fields = (
        span.id, span.first, span.last, span.kind, int(span.folded), span.time, span.part_from, span.parts,
        span.bytes,
    )  # fmt: skip
    return *fields, checksum(*fields, *sums)


def span_of(row: Sequence[Any], sums: Mapping[int, int]) -> EpochSpan | None:
    """The span of a row; None if the row, or the checksum of a part, is not what was written."""
    id, first, last, kind, folded, time, part_from, parts, bytes, known = row
    numbers = id, first, last, folded, part_from, parts, bytes
    if not all(isinstance(each, int) for each in numbers) or not 0 <= parts <= len(sums):
        return None
    if kind not in SPAN_KINDS or not isinstance(time, float) or not 0 <= time < _LATEST:
        return None
    if not 0 <= first <= last or not 1 <= part_from < _MOST_PARTS or bytes < 0:
        return None
    span = EpochSpan(id, first, last, kind, bool(folded), time, part_from, parts, bytes)
    return span if span_row(span, own_sums(span, sums))[-1] == known else None


def own_sums(span: EpochSpan, sums: Mapping[int, int]) -> tuple[int, ...]:
    """The checksums of a span's parts; -1 for one that is missing."""
    return tuple(sums.get(part, -1) for part in range(span.part_from, span.part_from + span.parts))


def overlap(spans: Sequence[EpochSpan]) -> bool:
    """Whether two spans are of the same parts."""
    end = 0
    for span in sorted(spans, key=lambda each: each.part_from):
        if span.parts and span.part_from < end:
            return True
        end = max(end, span.part_from + span.parts)
    return False


KEY = "\x1f"
"""The beginning of an id that is the key of a request to a server."""
LAST_KEYS = 1_000_000
"""The keys of requests that are kept, the last ones; other ids are kept for ever."""


def applied_row(id: str, epoch: int) -> tuple[str, int, int]:
    """The id of an update that was applied in an epoch, as a row."""
    return id, epoch, checksum(id, epoch)


def relation_row(stored: Stored) -> tuple[Any, ...]:
    """A relation as a row, with its checksum."""
    fields = (
        stored.id, stored.name, stored.kind, stored.role, int(stored.keyed),
        json.dumps(stored.columns), json.dumps(stored.types), int(stored.dropped),
    )  # fmt: skip
    return *fields, checksum(*fields)


def stored_of(row: Sequence[Any]) -> Stored | None:
    """The relation of a row; None if the row is of none."""
    id, name, kind, role, keyed, columns, types, dropped, _ = row
    if not isinstance(name, str) or kind not in KINDS or role not in ROLES:
        return None
    try:
        pairs = tuple((str(n), str(t)) for n, t in json.loads(columns))
        texts = tuple(map(str, json.loads(types)))
        return Stored(id, name, kind, role, bool(keyed), pairs, texts, bool(dropped))
    except (ValueError, TypeError, RecursionError):
        return None
