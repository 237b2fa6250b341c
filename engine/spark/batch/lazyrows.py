"""The rows of a relation, and its contents as its change: queries give them when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from ...schema import Schema
from ..codec import Codec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


Fetch: TypeAlias = Callable[["tuple[int, int] | None"], pa.Table]
"""Brings an Arrow table: columns c0, c1, … and the weight `w`; of all rows, or of so many from one on."""


class LazyRows:
    """The contents of a relation."""

    def __init__(self, schema: Schema, codec: Codec, count: Callable[[], int], fetch: Fetch) -> None:
        self.schema, self._codec, self.count, self._fetch = schema, codec, count, fetch

    @cached_property
    def _sorted(self) -> tuple[list[tuple[Any, ...]], list[int]]:
        """The rows as Python values in value order, and their weights."""
        rows = self._fetch(None)
        values = [self._codec.decode(column, rows.column(k)) for k, column in enumerate(self.schema)]
        weights = rows.column("w").to_pylist()
        decoded = list(zip(*values, strict=True)) if self.schema else [()] * rows.num_rows
        order = sorted(range(len(decoded)), key=decoded.__getitem__)
        return [decoded[k] for k in order], [weights[k] for k in order]

    def some(self, first: int, count: int) -> LazyRows:
        """At most so many of the rows, from one on, without the others being fetched."""
        found = self._fetch((first, count))
        return LazyRows(self.schema, self._codec, lambda: found.num_rows, lambda part: found)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows, in value order."""
        return self._sorted[0]

    @property
    def weights(self) -> list[int] | None:
        """The weight of each row; None: all 1."""
        weights = self._sorted[1]
        return None if all(weight == 1 for weight in weights) else weights

    def columns(self) -> list[list[Any]]:
        """The values column by column."""
        return [[row[k] for row in self.rows] for k in range(len(self.schema))]

    def __len__(self) -> int:
        return len(self.rows) if "_sorted" in self.__dict__ else self.count()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)


class LazyDelta:
    """The contents of an output as its change. `frame` gives it as a DataFrame."""

    def __init__(self, rows: LazyRows, frame: Callable[[], DataFrame]) -> None:
        self._rows, self.frame = rows, frame

    def some(self, first: int, count: int) -> LazyDelta:
        """At most so many of the changed rows, from one on, without the others being fetched."""
        return LazyDelta(self._rows.some(first, count), self.frame)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows that changed, in value order."""
        return self._rows.rows

    @property
    def weights(self) -> list[int]:
        """The change of each row's weight."""
        return self._rows.weights or [1] * len(self.rows)

    def __len__(self) -> int:
        return self._rows.count()
