"""Tables of other libraries, and mappings of names to columns, in the form that a runtime takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np

from .. import values
from ..core import Column, Relation
from ..types import BigInt, Bit, Bool, Float, Signed, String
from .columns import ColumnData, Columns, TypeDefs, check_names, integer_bounds, rounded
from .dialects import PLAIN
from .faults import CellFault, FaultyFile, raise_fault
from .header import places_in
from .plainform import from_plain

_TIMES = "mM"  # the kinds of NumPy's times, which its lists have as numbers


def columns_of(table: Any, relation: Relation, typedefs: TypeDefs) -> Columns:
    """The rows of an Arrow table, a pandas or polars data frame, another object that Arrow can read,
    or a mapping of column names to arrays or lists. The columns have the names of the relation's, in
    any order and any case. Raises CellFault with the number of the row."""
    if isinstance(table, Mapping):
        return _by_name(list(map(str, table)), list(table.values()), relation, typedefs)
    if _is_pandas(table) and hasattr(table, "columns"):
        names = [str(name) for name in table.columns]
        return _by_name(names, [table.iloc[:, i] for i in range(len(names))], relation, typedefs)
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        import pyarrow as pa

        from .arrow import columns_of_table
        from .arrowfiles import in_columns

        try:
            return columns_of_table(in_columns(pa.table(table), relation, PLAIN), relation, typedefs)
        except FaultyFile as faulty:
            raise faulty.faults[0] from None
        except (ValueError, TypeError):
            raise _no_table(table) from None
    raise _no_table(table)


def _no_table(table: Any) -> CellFault:
    expected = "an Arrow table, a data frame or a mapping of column names to columns"
    return CellFault(f"expected {expected}, found {type(table).__name__}", 0, 0, "")


def _by_name(names: list[str], found: list[Any], relation: Relation, typedefs: TypeDefs) -> Columns:
    """Columns with names, in any case unless one is written alike."""
    places = places_in(names, relation)
    if None in places or len(places) < len(names):
        check_names(names, relation)
    given = zip(places, relation.columns, strict=True)
    data = tuple(_column(found[place or 0], column, typedefs) for place, column in given)
    counts = [len(each[1]) if isinstance(each, tuple) else len(each) for each in data]
    if len(set(counts)) > 1:
        lengths = ", ".join(f"{c.name} {n}" for c, n in zip(relation.columns, counts, strict=True))
        raise CellFault(f"the columns differ in length: {lengths}", 0, 0, "")
    return Columns(data, counts[0] if counts else 0)


def _column(data: Any, column: Column, typedefs: TypeDefs) -> ColumnData:
    """A column of any form. A missing value of pandas is NaN in a column of floats, and None in any other."""
    if _is_pandas(data):
        plain = isinstance(data.dtype, np.dtype)
        missing = plain and data.dtype.kind == "f" and not isinstance(column.type, Float)
        if plain and not missing and data.dtype.kind not in _TIMES:
            data = data.to_numpy()
        else:
            import pyarrow as pa

            data = pa.array(data, from_pandas=True)
    if isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.kind in _TIMES:
        import pyarrow as pa

        data = pa.array(data)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        import pyarrow as pa

        from .arrow import checked_column

        if not isinstance(data, pa.ChunkedArray):
            data = pa.chunked_array(data if hasattr(data, "__arrow_c_stream__") else [pa.array(data)])
        return checked_column(data, column, typedefs, raise_fault)
    if isinstance(data, np.ndarray):
        return _from_numpy(data, column, typedefs)
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise CellFault(f"column `{column.name}`: expected an array or a list, found {data!r:.60}", 0, 0, "")
    return _from_list(list(data), column, typedefs)


def _from_numpy(data: np.ndarray[Any, Any], column: Column, typedefs: TypeDefs) -> ColumnData:
    if data.ndim != 1:
        raise CellFault(f"column `{column.name}`: the array has {data.ndim} dimensions, not one", 0, 0, "")
    match column.type:
        case Bool() if data.dtype.kind == "b":
            return data.astype(np.int64)
        case Float(width) if data.dtype.kind == "f":
            return rounded(data.astype(np.float64), width)
        case BigInt() | Bit() | Signed() if data.dtype.kind in "iu" and _within(data, column):
            return data.astype(np.int64)
    return _from_list(data.tolist(), column, typedefs)


def _from_list(items: list[Any], column: Column, typedefs: TypeDefs) -> ColumnData:
    """A column of Python values. One pass of numpy suffices when all are of one plain class."""
    kinds = set(map(type, items))
    match column.type:
        case BigInt() | Bit() | Signed() if kinds == {int}:
            if _within(items, column):
                return np.array(items, np.int64)
        case String() if kinds == {str} and all(map(str.isascii, items)):
            return items
        case Float(64) if kinds == {float}:
            return np.array(items, np.float64)
        case Bool() if kinds == {bool}:
            return np.array(items, np.int64)
    check = _checker(column, typedefs)
    checked: list[Any] = []
    for row, item in enumerate(items, 1):
        try:
            checked.append(check(item))
        except ValueError as error:
            raise CellFault(f"column `{column.name}`: {error}", row, 0, "") from None
    return checked


def _within(data: Any, column: Column) -> bool:
    """Whether all of some integers are in the range of the column's type and of int64."""
    bounds = integer_bounds(column.type)
    assert bounds is not None
    if not len(data):
        return True
    extremes = (data.min(), data.max()) if isinstance(data, np.ndarray) else (min(data), max(data))
    return bounds[0] <= int(extremes[0]) and int(extremes[1]) <= bounds[1]


def _checker(column: Column, typedefs: TypeDefs) -> Callable[[Any], Any]:
    """A function that checks a Python value, or else the plain form of one that a data frame has returned."""
    of = column.type
    plain = isinstance(of, Bool | Float | String)

    def check(item: Any) -> Any:
        try:
            return values.check(item, of, typedefs)
        except ValueError as error:
            if plain or (isinstance(of, BigInt | Bit | Signed) and not isinstance(item, Decimal)):
                raise
            with suppress(ValueError):
                return from_plain(item, of, typedefs)
            raise error

    return check


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"
