"""The positions of streams: the rows of a relation of the state, which change in the epoch of each batch. So
a batch and its position are on disk together, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
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
        self._next: Mapping[str, tuple[str, int]] = {}

    def of(self, stream: str) -> Position | None:
        """The position of a stream; None if no batch of it was applied."""
        return self._known.get(stream)

    def below(self, beginning: str) -> Mapping[str, Position]:
        """The positions of the streams whose names begin so, by the rest of their names."""
        return {
            name.removeprefix(beginning): each
            for name, each in self._known.items()
            if name.startswith(beginning)
        }

    def advanced(self, stream: str, query: str, batch: int) -> AbstractContextManager[None]:
        """The commit inside brings a stream to a batch."""
        return self.all_advanced({stream: (query, batch)})

    @contextmanager
    def all_advanced(self, streams: Mapping[str, tuple[str, int]]) -> Iterator[None]:
        """The commit inside brings each stream to the batch of a query."""
        self._next = streams
        try:
            yield
        finally:
            self._next = {}

    def changes(self, epoch: int) -> list[tuple[PositionRow, int]]:
        """The changes of the relation in an epoch, with weights."""
        changed: list[tuple[PositionRow, int]] = []
        for stream, (query, batch) in self._next.items():
            known = self._known.get(stream)
            if known is not None:
                changed.append(((stream, known.query, known.batch, known.epoch), -1))
            changed.append(((stream, query, batch, epoch), 1))
        return changed

    def settle(self, epoch: int) -> None:
        """Takes in the changes of an epoch, which the state has now."""
        self._known |= {name: Position(query, batch, epoch) for name, (query, batch) in self._next.items()}
        self._next = {}
