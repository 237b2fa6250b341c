"""Rows on their way between workers, and the workers that own them.

Each worker numbers wide values by itself, so a parcel has the values. The owner of a row depends on its
values alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from .. import thresholds
from ..inprocess.sealing import coded_column
from ..inprocess.storage.batch import Batch, concat
from ..inprocess.storage.interner import Values
from ..schema import INLINE_LIMIT, Array, Column, Kind, Schema
from .team import Team

_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
"""Not that of `kernels/hashing.py`: the rows of a worker would have the slots of half of a table."""
_SHIFT = np.uint64(31)
_UNKNOWN = 1 << 61  # more than any number of a value


class Parcel(NamedTuple):
    """The rows of a batch, in forms that do not depend on the worker: see `coded_column`. Numbers take no
    more bytes than the greatest of them."""

    columns: tuple[Any, ...]
    length: int
    weights: Array | None
    times: Array | None


def packed(values: Values, schema: Sequence[Column], batch: Batch) -> Parcel:
    """A batch for another worker."""
    columns = tuple(narrow(coded_column(values, *pair)) for pair in zip(schema, batch.columns, strict=True))
    return Parcel(columns, batch.length, narrow(batch.weights), narrow(batch.times))


def narrow(data: Any) -> Any:
    """A column whose numbers, if it has such, are of the least type that holds them all."""
    if isinstance(data, tuple):
        listed, places = data
        return listed, narrow(places)
    if not isinstance(data, np.ndarray) or data.dtype != np.int64 or len(data) <= thresholds.FEW_ROWS:
        return data
    low, high = data.min(), data.max()
    for kind in (np.int8, np.int16, np.int32):
        limits = np.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return data.astype(kind)
    return data


def wide(numbers: Any) -> Any:
    """A column that was narrowed, of 64 bits again."""
    return None if numbers is None else numbers.astype(np.int64, copy=False)


def unpacked(values: Values, schema: Schema, parcel: Parcel) -> Batch:
    """The batch that another worker packed."""
    columns = tuple(values.encode_input(*pair) for pair in zip(schema, parcel.columns, strict=True))
    return Batch(columns, parcel.length, wide(parcel.weights), wide(parcel.times))


def known(values: Values, schema: Sequence[Column], parcel: Parcel) -> Batch:
    """The same, for look-ups: a value that has no number here gets one that no row has. Interns nothing, so
    that another thread may do so."""
    columns = tuple(_known(values, *pair) for pair in zip(schema, parcel.columns, strict=True))
    return Batch(columns, parcel.length, wide(parcel.weights), wide(parcel.times))


def _known(values: Values, column: Column, data: Any) -> Array:
    if isinstance(data, np.ndarray):
        return values.encode_input(column, data)
    listed, places = data if isinstance(data, tuple) else (data, None)
    number, inline = values.domain(column.domain).ids.get, column.kind is Kind.INT
    codes = [
        value
        if inline and -INLINE_LIMIT <= value < INLINE_LIMIT
        else (INLINE_LIMIT if inline else 0) + number(value, _UNKNOWN)
        for value in listed
    ]
    found: Array = np.array(codes, np.int64)
    return found if places is None else found[places]


def owners(
    values: Values, schema: Sequence[Column], columns: Sequence[Array], length: int, owning: range
) -> Array:
    """For each row, the worker that owns rows with these values, of the ranks `owning`; 0 without columns."""
    if not columns:
        return np.zeros(length, np.int64)
    if len(owning) == 1:
        return np.full(length, owning.start, np.int64)
    high = mixed(values, schema, columns, length) >> np.uint64(32)  # low bits of small numbers hardly mix
    owned: Array = (high % np.uint64(len(owning))).astype(np.int64) + owning.start
    return owned


def mixed(values: Values, schema: Sequence[Column], columns: Sequence[Array], length: int) -> Any:
    """A hash of each row, the same in all workers, as unsigned numbers of 64 bits."""
    found = np.zeros(length, np.uint64)
    for column, codes in zip(schema, columns, strict=True):
        found = (found ^ _hashes(values, column, codes)) * _FACTOR
        found ^= found >> _SHIFT
    return found


def _hashes(values: Values, column: Column, codes: Array) -> Any:
    """A number for each value of a column, the same for the same value in all workers."""
    wide = column.kind is Kind.INT and len(codes) and int(codes.max()) >= INLINE_LIMIT
    if column.kind is not Kind.OBJECT and not wide:
        return codes.astype(np.uint64)
    unique, places = np.unique(codes, return_inverse=True)
    hashes = [stable_hash(value) for value in values.decode_column(column, unique)]
    if wide:  # small numbers as they are in columns without wide ones
        inline = unique < INLINE_LIMIT
        hashes = [
            int(code) if plain else found for code, plain, found in zip(unique, inline, hashes, strict=True)
        ]
    return np.array(hashes, np.int64).astype(np.uint64)[places]


def stable_hash(value: Any) -> int:
    """A hash of a value that is the same in all processes: that of Python differs where there is a text. All
    values that are not atoms are tuples."""
    if isinstance(value, str):
        return crc32(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, tuple):
        return hash(tuple(map(stable_hash, value)))
    return crc32(value) if isinstance(value, bytes) else hash(value)


def divided(
    values: Values, schema: Schema, key: Sequence[int], batch: Batch, owning: range
) -> list[Batch | None]:
    """The rows of a batch for each rank, by the columns at the positions `key`; None: no rows."""
    owned = owners(values, [schema[k] for k in key], [batch.columns[k] for k in key], batch.length, owning)
    parts = [np.flatnonzero(owned == owner) for owner in range(owning.stop)]
    return [
        None if not len(part) else batch if len(part) == batch.length else batch.take(part) for part in parts
    ]


def exchanged(
    team: Team,
    values: Values,
    schema: Schema,
    key: Sequence[int],
    batch: Batch | None,
    speaking: Collection[int] | None = None,
) -> Batch | None:
    """The rows that this worker owns in the batches of all workers, or of those that speak; `batch` is its
    own."""
    parts = [None] * team.size if batch is None else divided(values, schema, key, batch, team.owning)
    own = parts[team.rank]
    sent = [None if part is None or part is own else packed(values, schema, part) for part in parts]
    came = [unpacked(values, schema, each) for each in team.swap(sent, speaking) if each is not None]
    if own is not None:
        came.append(own)
    return concat(came, len(schema)) if came else None
