"""Rows of a relation whose columns have changed: mapped by name, converted where nothing is lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import values
from ..core import Column, Relation
from ..errors.diagnostics import DDlogError
from ..errors.state import CannotFill, CannotMigrate
from ..io.columns import Columns, cell_reader
from ..io.plainform import from_plain
from ..types import Float, String, Type, TypeDef
from ..values.defaults import default_value
from ..values.shapes import is_option
from .sums import weights_of

if TYPE_CHECKING:
    import pyarrow as pa

    from .records import Stored


def check_fill(
    fill: Iterable[str], inputs: Iterable[Relation], changed: Sequence[tuple[Stored, Stored]]
) -> None:
    """Raises DDlogError for the name of a value, `Relation.column`, that is no new column of an input whose
    columns changed. `changed` are the relations that a state has, and what they are now."""
    known = {f"{each.name}.{column.name}" for each in inputs for column in each.columns}
    added = {
        f"{new.name}.{name}" for old, new in changed for name in dict(new.columns).keys() - dict(old.columns)
    }
    for name in fill:
        if name not in known:
            raise DDlogError([CannotFill(name, "no input relation has this column")])
        if name not in added:
            raise DDlogError([CannotFill(name, "it is no new column")])


class Migration:
    """The changes of a state that `--migrate` makes. `fill` gives the values of new columns by
    `Relation.column`."""

    def __init__(self, path: str, typedefs: Mapping[str, TypeDef], fill: Mapping[str, Any]) -> None:
        self._path, self._typedefs, self._fill = path, typedefs, fill

    def migrated(
        self, old: Stored, relation: Relation, table: pa.Table
    ) -> tuple[Columns, np.ndarray[Any, Any]]:
        """The rows of a table as rows of a relation, with their weights. Raises DDlogError for a value that
        would lose something."""
        data = tuple(self.column(old, relation, column, table) for column in relation.columns)
        weights = weights_of(table)
        if relation.kind == "relation" and len(weights) and int(weights.max()) > 1:
            raise self.twice(old, relation)
        return Columns(data, table.num_rows), weights

    def column(
        self, old: Stored, relation: Relation, column: Column, table: pa.Table
    ) -> tuple[list[Any], np.ndarray[Any, Any]]:
        """A column of the rows of a table in their new form: different values, and the number of each row's.
        Raises DDlogError."""
        name, types = f"{relation.name}.{column.name}", dict(old.columns)
        if column.name not in types:
            return [self._filling(name, column.type)], np.zeros(table.num_rows, np.int64)
        return self._converted(old, column.name, types[column.name], column.type, table)

    def twice(self, old: Stored, relation: Relation) -> DDlogError:
        """The error for a row that is there more than once, and cannot be."""
        return self._refused(relation.name, old.kind, relation.kind, "a row is there more than once")

    def _filling(self, name: str, of: Type) -> Any:
        if name not in self._fill:
            return default_value(of, self._typedefs)
        given = self._fill[name]
        try:
            if isinstance(given, str):
                return cell_reader(of, self._typedefs)(given)
            return values.check(given, of, self._typedefs)
        except ValueError as error:
            raise DDlogError([CannotFill(name, str(error))]) from None

    def _converted(
        self, stored: Stored, name: str, old: str, new: Type, table: pa.Table
    ) -> tuple[list[Any], np.ndarray[Any, Any]]:
        column = table.column(name)
        places: dict[str, int] = {}
        found: list[Any] = []
        codes = np.empty(len(column), np.int64)
        for row, item in enumerate(column.to_pylist()):
            place = places.setdefault(repr(item), len(places))
            if place == len(found):
                try:
                    found.append(self._value(item, old, new))
                except (ValueError, OverflowError) as error:
                    raise self._refused(f"{stored.name}.{name}", old, str(new), str(error)) from None
            codes[row] = place
        return found, codes

    def _value(self, item: Any, old: str, new: Type) -> Any:
        """A value in Arrow's form as one of another type. Raises ValueError if something would be lost."""
        inner = new.args[0] if is_option(new) else new
        text = isinstance(item, str)
        if text and old in ("string", "ddlog_std::Option<string>") and not isinstance(inner, String):
            raise ValueError("a text is not read as another value")
        if isinstance(inner, String) and item is not None and not text:
            raise ValueError("a value is not written as a text")
        if text and not isinstance(inner, String):
            return cell_reader(new, self._typedefs)(item)
        if isinstance(inner, Float) and isinstance(item, int) and int(values.check(item, inner, {})) != item:
            raise ValueError(f"{item} has no exact floating-point value")
        narrow = isinstance(inner, Float) and inner.width == 32 and isinstance(item, float) and item == item
        if narrow and values.check(item, inner, {}) != item:
            raise ValueError(f"{item} has no exact value of 32 bits")
        return from_plain(item, new, self._typedefs)

    def _refused(self, column: str, old: str, new: str, reason: str) -> DDlogError:
        return DDlogError([CannotMigrate(self._path, column, old, new, reason)])
