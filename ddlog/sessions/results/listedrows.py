"""Rows in a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...engine.schema import Schema
from ...values.rows import Row


class ListedRows:
    """Rows in the order of a list, with their weights; None: all 1. See `RowSet`."""

    def __init__(self, schema: Schema, rows: Sequence[Row], weights: list[int] | None = None) -> None:
        self.schema, self._rows, self.weights = schema, rows, weights

    def columns(self) -> list[list[Any]]:
        return [[row[i] for row in self._rows] for i in range(len(self.schema))]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)


def found_rows(schema: Schema, weighted: Mapping[Row, int]) -> ListedRows:
    """The rows that a look-up found, in value order."""
    rows = sorted(weighted)
    weights = [weighted[row] for row in rows]
    return ListedRows(schema, rows, None if all(weight == 1 for weight in weights) else weights)
