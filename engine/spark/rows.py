"""Rows and changes that the Spark runtime gives out, brought to the driver when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..schema import Schema
from .codec import Codec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Collected:
    """Rows of an Arrow table (columns c0, c1, …, weight `w`) as Python values in value order."""

    def __init__(self, schema: Schema, codec: Codec, rows: pa.Table) -> None:
        self.schema = schema
        values = [codec.decode(column, rows.column(k)) for k, column in enumerate(schema)]
        weights = rows.column("w").to_pylist()
        decoded = list(zip(*values, strict=True)) if schema else [()] * rows.num_rows
        order = sorted(range(len(decoded)), key=decoded.__getitem__)
        self.rows: list[tuple[Any, ...]] = [decoded[k] for k in order]
        self.weights: list[int] = [weights[k] for k in order]


class FrameRows:
    """The contents of a relation, counted and read on demand."""

    def __init__(
        self, schema: Schema, codec: Codec, count: Callable[[], int], fetch: Callable[[], pa.Table]
    ) -> None:
        self.schema = schema
        self._codec, self._count, self._fetch = codec, count, fetch

    @cached_property
    def _collected(self) -> Collected:
        return Collected(self.schema, self._codec, self._fetch())

    @property
    def weights(self) -> list[int] | None:
        """The weight of each row; None: all 1."""
        weights = self._collected.weights
        return None if all(weight == 1 for weight in weights) else weights

    def columns(self) -> list[list[Any]]:
        """The values column by column."""
        return [[row[k] for row in self._collected.rows] for k in range(len(self.schema))]

    def __len__(self) -> int:
        return len(self._collected.rows) if "_collected" in self.__dict__ else self._count()

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._collected.rows)


class FrameDelta:
    """The consolidated change of a relation in one epoch."""

    def __init__(
        self,
        schema: Schema,
        codec: Codec,
        size: int,
        fetch: Callable[[], pa.Table],
        frame: Callable[[], DataFrame],
    ) -> None:
        self._schema, self._codec, self._size, self._fetch = schema, codec, size, fetch
        self.frame = frame

    @cached_property
    def _collected(self) -> Collected:
        return Collected(self._schema, self._codec, self._fetch())

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows that changed, in value order."""
        return self._collected.rows if self._size else []

    @property
    def weights(self) -> list[int]:
        """The change of each row's weight."""
        return self._collected.weights if self._size else []

    def __len__(self) -> int:
        return self._size
