"""Columns that are unpacked when they are first read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from ...schema import Array


class LazyColumns(Sequence[Array]):
    """Columns that are kept once they are read. A subclass gives the number of columns and `unpack`."""

    def __init__(self) -> None:
        self._known: dict[int, Array] = {}

    def unpack(self, position: int) -> Array:
        """The column at a position."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Array]:
        return iter([self[position] for position in range(len(self))])

    @overload
    def __getitem__(self, position: int) -> Array: ...

    @overload
    def __getitem__(self, position: slice) -> tuple[Array, ...]: ...

    def __getitem__(self, position: int | slice) -> Array | tuple[Array, ...]:
        if isinstance(position, slice):
            return tuple(self[k] for k in range(*position.indices(len(self))))
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(position)
        if position not in self._known:
            self._known[position] = self.unpack(position)
        return self._known[position]
