"""The rows of a relation, and its contents as its change: queries give them when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...schema import Schema
from ..codec import Codec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class LazyRows:
    """The contents of a relation. `fetch` brings an Arrow table: columns c0, c1, … and the weight `w`."""

    def __init__(
        self, schema: Schema, codec: Codec, count: Callable[[], int], fetch: Callable[[], pa.Table]
    ) -> None:
        self.schema, self._codec, self.count, self._fetch = schema, codec, count, fetch

    @cached_property
    def _sorted(self) -> tuple[list[tuple[Any, ...]], list[int]]:
        """The rows as Python values in value order, and their weights."""
        rows = self._fetch()
        values = [self._codec.decode(column, rows.column(k)) for k, column in enumerate(self.schema)]
        weights = rows.column("w").to_pylist()
        decoded = list(zip(*values, strict=True)) if self.schema else [()] * rows.num_rows
        order = sorted(range(len(decoded)), key=decoded.__getitem__)
        return [decoded[k] for k in order], [weights[k] for k in order]

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
