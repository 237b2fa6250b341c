"""Columns of Arrow tables to values, and relations to Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import Column, Relation
from ..engine import memory
from ..types import BigInt, Bit, Bool, Float, Signed, String, Type, User
from ..values.shapes import is_option, shape_of, some_maker
from ..values.textforms import text_form
from ..values.units import Units
from .columns import (
    ColumnData,
    Columns,
    TypeDefs,
    cell_reader,
    check_names,
    integer_bounds,
    rounded,
    values_of,
)
from .faults import CellFault, RefuseFault, gathered_faults
from .plainform import from_plain, is_optional_string

if TYPE_CHECKING:
    import pyarrow as pa

_PIECE = 10_000  # rows between two looks at the memory


def columns_of_table(
    table: pa.Table, relation: Relation, typedefs: TypeDefs, refuse: RefuseFault | None = None
) -> Columns:
    """The rows of a table whose columns have the names of the relation's, in any order. Wrong rows are
    refused; without `refuse` raises FaultyFile, and always CellFault for wrong columns."""
    check_names(table.column_names, relation)
    wrong: dict[int, CellFault] = {}

    def note(fault: CellFault) -> None:
        wrong.setdefault(fault.line, fault)

    columns = [(table.column(column.name), column) for column in relation.columns]
    data = tuple(checked_column(column, declared, typedefs, note) for column, declared in columns)
    if not wrong:
        return Columns(data, table.num_rows)
    with gathered_faults(refuse) as faults:
        for row in sorted(wrong):
            faults.add(wrong[row])
    right = np.setdiff1d(np.arange(table.num_rows), np.fromiter(wrong, np.int64) - 1)
    return columns_of_table(table.take(right), relation, typedefs)


def checked_column(
    column: pa.ChunkedArray, declared: Column, typedefs: TypeDefs, refuse: RefuseFault
) -> ColumnData:
    """A column of values; the slow way round when the quick one does not fit, to say which rows are wrong.
    They are refused, and have no value."""
    import pyarrow as pa

    try:
        has_others = column.null_count or not _is_text(column.type)
        if is_option(declared.type) and has_others and not pa.types.is_nested(column.type):
            return _optional(column, declared.type, typedefs)
        if not column.null_count:
            return column_of(column, declared.type, typedefs, as_text=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
        pass
    values: list[Any] = []
    for start in range(0, len(column), _PIECE):
        memory.check()
        for row, item in enumerate(column.slice(start, _PIECE).to_pylist(), start + 1):
            try:
                values.append(from_plain(item, declared.type, typedefs))
            except (ValueError, OverflowError) as error:
                refuse(CellFault(f"column `{declared.name}`: {error}", row, 0, ""))
    return values


def column_of(column: pa.ChunkedArray, type: Type, typedefs: TypeDefs, *, as_text: bool) -> ColumnData:
    """A column without nulls as a runtime takes it; `as_text` when a value is written as in text files.
    Raises ValueError or ArrowInvalid when a value is not of the type."""
    import pyarrow as pa

    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    stored = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_text = _is_text(stored)
    match type:
        case Bool() if pa.types.is_boolean(stored):
            return numbers_in(column.cast(pa.uint8())).astype(np.int64)
        case BigInt() | Bit() | Signed() if pa.types.is_integer(stored):
            return _integers(column, type)
        case Float(width) if pa.types.is_floating(stored):
            floats = numbers_in(column.cast(pa.float64()))
            return rounded(floats, width)
        case String() if is_text:
            return dictionary_column(column, lambda text: text)
        case User() if is_text and not as_text and is_optional_string(type):
            return dictionary_column(column, some_maker(type, typedefs))
        case _ if as_text or pa.types.is_string(stored):
            return dictionary_column(column, cell_reader(type, typedefs))
        case User() if text_form(type, typedefs) is not None and not pa.types.is_nested(stored):
            units = _units(column, type, typedefs)
            if units is not None:
                return units
            return dictionary_column(column, lambda item: from_plain(item, type, typedefs))
    raise ValueError(f"expected {type}, found a column of {column.type}")


def _is_text(stored: pa.DataType) -> bool:
    import pyarrow as pa

    of = stored.value_type if pa.types.is_dictionary(stored) else stored
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of))


def _optional(column: pa.ChunkedArray, type: User, typedefs: TypeDefs) -> ColumnData:
    """A column of an Option, which is not nested: the values, each once, and the place of each row's among
    them. A null is None. Raises ValueError when a value is not of the type."""
    import pyarrow as pa

    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    whole = pa.concat_arrays(plain.chunks).dictionary_encode()
    values: Iterable[Any] = (from_plain(item, type, typedefs) for item in whole.dictionary.to_pylist())
    if not _is_text(column.type) or is_optional_string(type):
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
            held, each = type.args[0], pa.chunked_array([whole.dictionary])
            of_held = column_of(each, held, typedefs, as_text=False)
            values = map(some_maker(type, typedefs), values_of(of_held, held))
    listed = [*values, from_plain(None, type, typedefs)]
    return listed, numbers_in(whole.indices.fill_null(len(listed) - 1))


def _units(column: pa.ChunkedArray, type: User, typedefs: TypeDefs) -> ColumnData | None:
    """A column of dates, times, timestamps or decimals by the numbers of their units; None for another."""
    import pyarrow as pa

    form, stored = text_form(type, typedefs), column.type
    if form is None or form.number is None:
        return None
    if form.unit == "days" and pa.types.is_date32(stored):
        numbers = column.cast(pa.int32())
    elif form.unit == "days" and pa.types.is_timestamp(stored) and stored.tz is None:
        days = column.cast(pa.date32())
        if not days.cast(stored).equals(column):
            return None  # a time of the day, which the reader of single values refuses
        numbers = days.cast(pa.int32())
    elif form.unit == "micros" and pa.types.is_timestamp(stored) and stored.tz is None:
        numbers = column.cast(pa.timestamp("us")).cast(pa.int64())
    elif form.unit == "instants" and pa.types.is_timestamp(stored):
        numbers = column.cast(pa.timestamp("us", stored.tz)).cast(pa.int64())
    elif form.unit == "nanos" and pa.types.is_time(stored):
        numbers = column.cast(pa.time64("ns")).cast(pa.int64())
    elif pa.types.is_decimal128(stored) and stored.scale == form.unit and stored.precision <= 18:
        whole = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], stored)
        low = np.frombuffer(whole.buffers()[1], np.int64)[2 * whole.offset :: 2][: len(whole)]
        return Units(low, form.number)
    else:
        return None
    if len(shape_of(type, typedefs).constructors[0].fields) > 1:
        return dictionary_column(numbers, form.number)
    return Units(numbers_in(numbers).astype(np.int64), form.number)


def _integers(column: pa.ChunkedArray, type: Type) -> ColumnData:
    import pyarrow as pa

    bounds = integer_bounds(type)
    assert bounds is not None
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    array = numbers_in(column)
    if array.dtype == np.uint64 and len(array) and int(array.max()) > bounds[1]:
        if isinstance(type, Bit) and type.width >= 64:
            wide: list[int] = array.tolist()
            return wide
        raise ValueError(f"a number is out of the range of {type}")
    array = array.astype(np.int64, copy=False)  # by Arrow's `cast`, a module of Arrow would be imported
    if len(array) and (int(array.min()) < bounds[0] or int(array.max()) > bounds[1]):
        raise ValueError(f"a number is out of the range of {type}")
    return array


def dictionary_column(
    column: pa.ChunkedArray, convert: Callable[[Any], Any]
) -> tuple[list[Any], np.ndarray[Any, Any]]:
    each, places = encoded(column)
    return [convert(item) for item in each.to_pylist()], places


def encoded(column: pa.ChunkedArray) -> tuple[pa.Array, np.ndarray[Any, Any]]:
    """The different values of a column without nulls, and the place of each row's among them."""
    import pyarrow as pa

    dictionary = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = dictionary.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], dictionary.type)
    return whole.dictionary, numbers_in(whole.indices)


def arrow_type(type: Type, typedefs: TypeDefs) -> pa.DataType:
    """The Arrow type that values of a type are given as: structs as structs, Option as a nullable
    value, wide integers as decimals, other unions and recursive types as their record text."""
    from .forms import FRAMES, Forms

    return Forms(typedefs, FRAMES).of(type).arrow


def to_table(
    relation_columns: Sequence[tuple[str, Type]],
    data: Sequence[Any],
    typedefs: TypeDefs,
    weights: Sequence[int] | None = None,
) -> pa.Table:
    """Columns of values as an Arrow table; one may be a pair (dictionary of values, positions in it).
    `weights`, of a multiset, say how often each row is repeated."""
    import pyarrow as pa

    arrays = [
        _column_array(name, type, column[0], typedefs).take(pa.array(column[1]))
        if isinstance(column, tuple) and len(column) == 2 and isinstance(column[1], np.ndarray)
        else _column_array(name, type, column if isinstance(column, np.ndarray) else list(column), typedefs)
        for (name, type), column in zip(relation_columns, data, strict=True)
    ]
    table = pa.Table.from_arrays(arrays, names=[name for name, _ in relation_columns])
    return table if weights is None else table.take(pa.array(np.repeat(np.arange(len(weights)), weights)))


def _column_array(name: str, type: Type, column: Any, typedefs: TypeDefs) -> pa.Array:
    """A column in the form of its type; if that has no form for a value, all as texts."""
    from .forms import FRAMES, Forms, texts_of

    form = Forms(typedefs, FRAMES).of(type)
    try:
        return form.encode(column)
    except ValueError as error:
        if isinstance(type, BigInt | Bit | Signed):
            wrong = f"column {name} of type {type} does not fit Arrow's {form.arrow}: {error}"
            raise ValueError(wrong) from None
    return texts_of(type, typedefs).encode(column)


def portable(table: pa.Table) -> pa.Table:
    """The table without the wide decimals that other systems lack: narrower ones, or else texts."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        for instead in (pa.decimal128(38, 0), pa.string()):
            target = _with_decimals(table.schema.field(position).type, instead)
            with suppress(pa.ArrowInvalid):
                table = table.set_column(position, field.name, table.column(position).cast(target))
                break
    return table


def _with_decimals(type: pa.DataType, instead: pa.DataType) -> pa.DataType:
    """The type with another in the place of decimals of 256 bits."""
    import pyarrow as pa

    if pa.types.is_decimal256(type):
        return instead
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_with_decimals(field.type, instead)) for field in type])
    if pa.types.is_map(type):
        return pa.map_(_with_decimals(type.key_type, instead), _with_decimals(type.item_type, instead))
    if pa.types.is_list(type):
        return pa.list_(_with_decimals(type.value_type, instead))
    return type


def without_uuids(table: pa.Table) -> pa.Table:
    """The table with UUIDs as texts, for systems that have none."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if field.type == pa.uuid():
            texts = [None if each is None else str(each) for each in table.column(position).to_pylist()]
            table = table.set_column(position, field.name, pa.array(texts, pa.string()))
    return table


def narrowed(table: pa.Table) -> pa.Table:
    """The table with columns of whole numbers as int64, and times in microseconds, where that loses nothing.
    Other times, which Python does not have, are texts."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            with suppress(pa.ArrowInvalid):
                table = table.set_column(position, field.name, table.column(position).cast(pa.int64()))
        elif field.type == pa.time64("ns"):
            times = table.column(position)
            try:
                times = times.cast(pa.time64("us"))
            except pa.ArrowInvalid:
                times = times.cast(pa.string())
            table = table.set_column(position, field.name, times)
    return table


def numbers_in(column: pa.Array | pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """The numbers of a column, which may be those in Arrow's memory: not to be changed. Arrow's own
    conversion imports pandas, which takes half a second."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    of = column.type
    if column.null_count or not (pa.types.is_integer(of) or pa.types.is_floating(of)):
        return np.asarray(column)
    kind = np.dtype(of.to_pandas_dtype())
    data = column.buffers()[1]
    if data is None or not len(column):
        return np.empty(0, kind)
    return np.frombuffer(data, kind, len(column), column.offset * kind.itemsize)
