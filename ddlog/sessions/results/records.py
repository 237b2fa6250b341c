"""A runtime whose circuit has a column for each field of a record, for sessions, which see records.

See `ddlog.values.layouts` and `ddlog.lowering.records`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ...core import Relation
from ...engine.divergence import Unsettled
from ...engine.runtime import Batch, ComparingRuntime, Delta, PartedRows, RowSet
from ...engine.schema import Schema
from ...lowering.builder import column
from ...types import Type, TypeDef
from ...values.layouts import ColumnLayout, Layouts, put_together, taken_apart, width
from ...values.rows import Row
from ...values.units import Units

T = TypeVar("T")


class RecordColumns:
    """The columns of a relation or of an answer as sessions see them, and as they lie."""

    def __init__(self, columns: Iterable[tuple[str, Type]], layouts: Layouts) -> None:
        named = tuple(columns)
        self.schema: Schema = tuple(column(name, of) for name, of in named)
        self.layouts = tuple(layouts.of(of) for _, of in named)
        starts = [0]
        for layout in self.layouts:
            starts.append(starts[-1] + width(layout))
        self.starts = tuple(starts)
        self.any = any(layout is not None for layout in self.layouts)

    def apart(self, columns: Iterable[Any]) -> list[Any]:
        """Columns of values, in the forms of `batch_from_columns`, as columns of fields."""
        pairs = zip(self.layouts, columns, strict=True)
        return [part for layout, values in pairs for part in _apart(layout, values)]

    def rows_apart(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Rows of values as rows of fields."""
        if not self.any or not rows:
            return rows
        pairs = zip(self.layouts, zip(*rows, strict=True), strict=True)
        fields = [part for layout, values in pairs for part in taken_apart(layout, values)]
        return list(zip(*fields, strict=True))

    def together(self, columns: Iterable[list[Any]]) -> list[list[Any]]:
        """Columns of fields as columns of values."""
        return put_together(self.layouts, iter(columns))

    def rows_together(self, rows: Sequence[Row]) -> list[Row]:
        """Rows of fields as rows of values."""
        if not self.any or not rows:
            return list(rows)
        return list(zip(*self.together(map(list, zip(*rows, strict=True))), strict=True))

    def shown(self, stored: RowSet) -> RowSet:
        """Rows of fields as rows of values, taken together when they are read."""
        return RecordRows(self, stored) if self.any else stored


def _apart(layout: ColumnLayout | None, values: Any) -> Iterator[Any]:
    if layout is None:
        yield values.values() if isinstance(values, Units) else values
    elif isinstance(values, Units):
        yield values.numbers
    elif isinstance(values, tuple):
        dictionary, codes = values
        yield from ((part, codes) for part in taken_apart(layout, dictionary))
    else:
        yield from taken_apart(layout, values)


class RecordRows:
    """The rows of a runtime, with records. See `RowSet`."""

    def __init__(self, of: RecordColumns, stored: RowSet) -> None:
        self.schema = of.schema
        self._of, self._stored = of, stored

    @property
    def weights(self) -> list[int] | None:
        """The weight of each row; None: all 1."""
        return self._stored.weights

    def some(self, first: int, count: int) -> RecordRows:
        """A part of the rows in no order. See `PartedRows`."""
        assert isinstance(self._stored, PartedRows)
        return RecordRows(self._of, self._stored.some(first, count))

    def columns(self) -> list[list[Any]]:
        """The values column by column."""
        return self._of.together(self._stored.columns())

    def __len__(self) -> int:
        return len(self._stored)

    def __iter__(self) -> Iterator[Row]:
        if not self.schema:
            return iter(self._stored)
        return zip(*self.columns(), strict=True)


class RecordDelta:
    """The change of a relation in one epoch, with records. See `Delta`."""

    def __init__(self, of: RecordColumns, stored: Delta) -> None:
        self._of, self.stored = of, stored

    @property
    def rows(self) -> list[Row]:
        """The rows that changed."""
        return self._of.rows_together(self.stored.rows)

    @property
    def weights(self) -> list[int]:
        """The change of each row's weight; never 0."""
        return self.stored.weights

    def __len__(self) -> int:
        return len(self.stored)


def with_records(
    runtime: ComparingRuntime, relations: Mapping[str, Relation], typedefs: Mapping[str, TypeDef]
) -> ComparingRuntime:
    """A runtime over the fields of the records in some relations, as one over the records."""
    layouts = Layouts(typedefs)
    columns = {
        name: RecordColumns(((each.name, each.type) for each in relation.columns), layouts)
        for name, relation in relations.items()
    }
    return RecordRuntime(runtime, columns) if any(each.any for each in columns.values()) else runtime


class RecordRuntime:
    """A runtime over fields as one over records. See `engine.runtime.Runtime`: what is not here is as the
    other runtime does it."""

    def __init__(self, runtime: ComparingRuntime, columns: Mapping[str, RecordColumns]) -> None:
        self.inner, self._columns = runtime, columns

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def batch(self, relation: str, rows: Sequence[Row]) -> Batch:
        return self.inner.batch(relation, self._columns[relation].rows_apart(rows))

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> Batch:
        return self.inner.batch_from_columns(relation, self._columns[relation].apart(columns))

    def batches(self, relation: str, delta: Delta) -> Sequence[tuple[Batch, int]]:
        return self.inner.batches(relation, delta.stored if isinstance(delta, RecordDelta) else delta)

    def contains(self, relation: str, rows: Sequence[Row]) -> list[bool]:
        return self.inner.contains(relation, self._columns[relation].rows_apart(rows))

    def lookup(self, relation: str, rows: Sequence[Row]) -> list[int]:
        return self.inner.lookup(relation, self._columns[relation].rows_apart(rows))

    def find(self, relation: str, values: Mapping[int, Any]) -> list[Row]:
        of = self._columns[relation]
        fields: dict[int, Any] = {}
        for place, value in values.items():
            parts = taken_apart(of.layouts[place], [value])
            fields.update({at: part for at, (part,) in enumerate(parts, of.starts[place])})
        return of.rows_together(self.inner.find(relation, fields))

    def has_room(
        self, relation: str, key: Sequence[int], come: Sequence[Batch], gone: Sequence[Batch]
    ) -> bool:
        starts = self._columns[relation].starts
        places = [at for place in key for at in range(starts[place], starts[place + 1])]
        return self.inner.has_room(relation, places, come, gone)

    def births(
        self, relation: str, rows: Sequence[Row], together: Collection[str]
    ) -> tuple[Sequence[int], bool] | None:
        return self.inner.births(relation, self._columns[relation].rows_apart(rows), together)

    def rows(self, relation: str) -> RowSet:
        return self.shown_rows(relation, self.inner.rows(relation))

    def shown_rows(self, relation: str, stored: RowSet) -> RowSet:
        """Rows of the runtime over fields, with records."""
        return self._columns[relation].shown(stored)

    def commit(self, changes: Mapping[str, Sequence[tuple[Batch, int]]], **how: Any) -> dict[str, Delta]:
        try:
            deltas = self.inner.commit(changes, **how)
        except Unsettled as unsettled:
            unsettled.changing = tuple(
                (name, self._columns[name].rows_together([row])[0], weight)
                for name, row, weight in unsettled.changing
            )
            raise
        return self.shown(deltas)

    def shown(self, deltas: Mapping[str, Delta]) -> dict[str, Delta]:
        """Changes of the runtime over fields, with records."""
        return {
            name: RecordDelta(self._columns[name], delta) if self._columns[name].any else delta
            for name, delta in deltas.items()
        }
