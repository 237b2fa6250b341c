"""Marks: which ids of interned values are used. See `sweeping`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ... import thresholds
from ...schema import INLINE_LIMIT, Array, Column, Kind, Schema
from .table import RowTable

Bools = npt.NDArray[np.bool_]


class Marks:
    """The ids found to be used, of the domains that are swept."""

    def __init__(self, domains: Iterable[tuple[str, int]]) -> None:
        """`domains` has the number of ids of each."""
        self._used = {name: np.zeros(size, np.bool_) for name, size in domains}
        self.read = dict.fromkeys(self._used, 0)

    def used(self, domain: str) -> Bools:
        """Whether each id of a domain is used."""
        return self._used[domain]

    def columns(self, schema: Schema, columns: Sequence[Array]) -> None:
        """Marks the ids in columns."""
        for position, column in enumerate(schema):
            if self._wanted(column):
                self._mark(column, columns[position])

    def rows(self, schema: Schema, table: RowTable, rows: Array | None) -> None:
        """Marks the ids in rows of a table, by number, in rising order; None: in all."""
        for position, column in enumerate(schema):
            if not self._wanted(column):
                continue
            count = table.size if rows is None else len(rows)
            for at in range(0, count, thresholds.CHUNK):
                end = min(at + thresholds.CHUNK, count)
                codes = (
                    table.column(position, at, end)
                    if rows is None
                    else table.column_at(rows[at:end], position)
                )
                self._mark(column, codes)
        for derived in table.derived.values():
            derived.mark(self, rows)

    def _wanted(self, column: Column) -> bool:
        return column.kind in (Kind.OBJECT, Kind.INT) and column.domain in self._used

    def _mark(self, column: Column, codes: Array) -> None:
        if column.kind is Kind.INT:
            codes = codes[codes >= INLINE_LIMIT] - INLINE_LIMIT
        self._used[column.domain][codes] = True
        self.read[column.domain] += len(codes)
