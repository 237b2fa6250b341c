"""Sums of Z-sets that lie in Arrow tables: equal rows become one, with the sum of their weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.arrow import numbers_in
from .forms import EPOCH, WEIGHT
from .records import Stored
from .typetexts import form_of_rows

if TYPE_CHECKING:
    import pyarrow as pa

Ints = np.ndarray[Any, Any]
_ODD = np.uint64(0x9E3779B97F4A7C15)


def weights_of(table: pa.Table) -> Ints:
    """The weight of each row."""
    if WEIGHT in table.column_names:
        return numbers_in(table.column(WEIGHT))
    return np.ones(table.num_rows, np.int64)


def alike(tables: Sequence[pa.Table]) -> bool:
    """Whether the columns of tables have the same types, weights and epochs aside."""
    schemas = [plain(table).schema for table in tables]
    return all(each.equals(schemas[0], check_metadata=True) for each in schemas[1:])


def merged(tables: Iterable[pa.Table]) -> list[pa.Table]:
    """The tables, with those that follow each other and have the same columns as one."""
    import pyarrow as pa

    groups: list[list[pa.Table]] = []
    for table in tables:
        if groups and groups[-1][0].schema.equals(table.schema, check_metadata=True):
            groups[-1].append(table)
        else:
            groups.append([table])
    return [pa.concat_tables(group) if len(group) > 1 else group[0] for group in groups]


def form_of(table: pa.Table) -> bytes:
    """The schema of a table, weights and epochs aside: equal for tables that are alike."""
    return bytes(plain(table).schema.serialize())


def in_one_form(tables: Sequence[pa.Table]) -> list[pa.Table]:
    """The tables, alike where that is possible: without dictionaries, and with integers as texts where other
    tables have them so, also inside records."""
    if alike(tables):
        return list(tables)
    found = list(tables)
    for position in range(len(plain(tables[0]).schema)):
        fields = [table.schema.field(position) for table in tables]
        for number, (table, field) in enumerate(zip(found, fields, strict=True)):
            wanted = _plainest(field, fields)
            if not wanted.equals(field, check_metadata=True):
                column = table.column(position).cast(wanted.type)
                found[number] = table.set_column(position, wanted, column)
    return found


def _plainest(field: pa.Field, others: Sequence[pa.Field]) -> pa.Field:
    """The form of a column that columns of the `others` can be brought to as well, if there is one."""
    import pyarrow as pa

    of = field.type
    if pa.types.is_struct(of):
        structs = [each.type for each in others if pa.types.is_struct(each.type)]
        inner = [_plainest(of.field(k), [each.field(k) for each in structs]) for k in range(of.num_fields)]
        return field.with_type(pa.struct(inner))
    if pa.types.is_dictionary(of):
        return field.with_type(of.value_type)
    text = next((each for each in others if each.metadata), None)
    if text is not None and pa.types.is_integer(of):
        return field.with_type(pa.string()).with_metadata(text.metadata)
    return field


def summed(tables: Sequence[pa.Table], of_set: bool = False) -> pa.Table:
    """The sum of tables that are alike, without epochs, in the order of the rows' first occurrence. `of_set`:
    they follow each other, and are changes of a set, where a row only comes again after it has gone."""
    import pyarrow as pa

    weights = np.concatenate([weights_of(table) for table in tables])
    whole = pa.concat_tables([plain(table) for table in tables])
    if not whole.num_columns:
        total = int(weights.sum())
        return pa.table({WEIGHT: pa.array([total] if total else [], pa.int64())})
    if of_set and bool((weights == 1).all()):
        return whole
    whole = whole.unify_dictionaries().combine_chunks()
    codes = [each for column in whole.columns for each in _codes(column)]
    first, totals = _sums_of_set(codes, weights) if of_set else _sums_by(codes, weights)
    kept = np.flatnonzero(totals)
    found = whole.take(pa.array(first[kept]))
    if bool((totals[kept] == 1).all()):
        return found
    return found.append_column(WEIGHT, pa.array(totals[kept], pa.int64()))


def _sums_of_set(codes: list[Ints], weights: Ints) -> tuple[Ints, Ints]:
    """The first place of each row of a set, in order, and the sum of its weights. Only rows that are deleted,
    or have the hash of one, can be there more than once."""
    hashes = np.zeros(len(weights), np.uint64)
    for each in codes:
        hashes = (hashes ^ each.view(np.uint64)) * _ODD
        hashes ^= hashes >> np.uint64(29)
    deleted = np.unique(hashes[weights < 0])
    near = deleted[np.minimum(np.searchsorted(deleted, hashes), len(deleted) - 1)]
    places, others = np.flatnonzero(near == hashes), np.flatnonzero(near != hashes)
    first, totals = _sums_by([each[places] for each in codes], weights[places])
    first, totals = np.concatenate([others, places[first]]), np.concatenate([weights[others], totals])
    order = np.argsort(first)
    return first[order], totals[order]


def _sums_by(codes: list[Ints], weights: Ints) -> tuple[Ints, Ints]:
    """The first place of each row of numbers, in order, and the sum of its weights. Arrow does it, and other
    threads go on."""
    import pyarrow as pa

    names = [f"code {k}" for k in range(len(codes))]
    numbers = pa.table([*codes, weights, np.arange(len(weights))], names=[*names, "weight", "place"])
    found = numbers.group_by(names, use_threads=False).aggregate([("weight", "sum"), ("place", "min")])
    first, totals = (numbers_in(found.column(name)) for name in ("place_min", "weight_sum"))
    order = np.argsort(first)
    return first[order], totals[order]


def plain(table: pa.Table) -> pa.Table:
    """The table without weights and epochs."""
    return table.drop_columns([name for name in (WEIGHT, EPOCH) if name in table.column_names])


def _codes(column: pa.ChunkedArray) -> Iterator[Ints]:
    """Columns of numbers that are equal where the values are."""
    import pyarrow as pa

    of = column.type
    if pa.types.is_struct(of):
        for k in range(of.num_fields):
            parts = [chunk.field(k) for chunk in column.chunks]
            yield from _codes(pa.chunked_array(parts, of.field(k).type))
        return
    if pa.types.is_boolean(of):
        column = column.cast(pa.int8())
    if pa.types.is_integer(column.type) and not column.null_count:
        whole = numbers_in(column)
        yield whole.view(np.int64) if whole.dtype == np.uint64 else whole.astype(np.int64)
        return
    if pa.types.is_floating(of) and not column.null_count:
        yield numbers_in(column.cast(pa.float64())).view(np.int64)
        return
    if pa.types.is_nested(of):
        numbers: dict[str, int] = {}
        yield np.array([numbers.setdefault(repr(item.as_py()), len(numbers)) for item in column], np.int64)
        return
    encoded = column if pa.types.is_dictionary(of) else column.dictionary_encode()
    yield np.concatenate(
        [
            numbers_in(chunk.indices.fill_null(-1)).astype(np.int64)
            for chunk in encoded.unify_dictionaries().chunks
        ]
        or [np.zeros(0, np.int64)]
    )


def added_up(stored: Stored, tables: Sequence[pa.Table]) -> list[pa.Table]:
    """The sum of changes of a relation, as one table; the changes, if only the program can tell whether a
    value and a text are the same."""
    if len(tables) < 2:
        return list(tables)
    some = in_one_form(tables)
    if not alike(some):
        form = form_of_rows(stored)
        if form is None:
            return some
        some = [form.table([form.rows(table) for table in tables])]
    return [summed(some)]
