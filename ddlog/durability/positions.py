"""The positions of streams: the rows of a relation of the state, which change in the epoch of each batch. So
a batch and its position are on disk together, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from .records import Stored

PositionRow = tuple[str, str, int, int]

POSITIONS: Final = Stored(
    0,
    "$streams",
    "relation",
    "position",
    False,
    (("stream", "string"), ("query", "string"), ("batch", "signed<64>"), ("epoch", "signed<64>")),
    (),
)
"""The relation of the positions, without an id. A state has it from its first stream on."""

FACTS: Final = ""
"""The name, which no stream has, of a position whose query is the digest of the facts before all batches."""


@dataclass(frozen=True, slots=True)
class Position:
    """The last batch of a stream that a state has: Spark's id of its query, its number, and its epoch."""

    query: str
    batch: int
    epoch: int


class Positions:
    """The positions of the streams of a session. `stored` is their relation in the state; None: there is none
    yet."""

    def __init__(self, stored: Stored | None, rows: Iterable[tuple[PositionRow, int]]) -> None:
        """`rows` are changes of the relation, with weights."""
        self.stored = stored
        sums: dict[PositionRow, int] = {}
        for row, weight in rows:
            sums[row] = sums.get(row, 0) + weight
        self._known = {row[0]: Position(*row[1:]) for row, weight in sums.items() if weight}
        self._next: tuple[str, str, int] | None = None

    def of(self, stream: str) -> Position | None:
        """The position of a stream; None if no batch of it was applied."""
        return self._known.get(stream)

    @contextmanager
    def advanced(self, stream: str, query: str, batch: int) -> Iterator[None]:
        """The commit inside brings a stream to a batch."""
        self._next = stream, query, batch
        try:
            yield
        finally:
            self._next = None

    def changes(self, epoch: int) -> list[tuple[PositionRow, int]]:
        """How the relation changes in an epoch, with weights."""
        if self._next is None:
            return []
        stream, query, batch = self._next
        known = self._known.get(stream)
        gone = [] if known is None else [((stream, known.query, known.batch, known.epoch), -1)]
        return [*gone, ((stream, query, batch, epoch), 1)]

    def settle(self, epoch: int) -> None:
        """Takes in the changes of an epoch, which the state has now."""
        if self._next is not None:
            stream, query, batch = self._next
            self._known[stream] = Position(query, batch, epoch)
            self._next = None
