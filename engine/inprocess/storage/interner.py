"""Interning: values that are not a machine word become dense ids, one numbering a domain."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from threading import Lock
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from ... import thresholds
from ...schema import INLINE_LIMIT, Array, Column, Kind, Schema
from ...sortedrows import ColumnOrder
from .batch import Batch
from .marks import Bools, Marks
from .threadpool import building
from .unread import Unread, is_unread, read_later

_RISING = ColumnOrder()
_FLOAT = struct.Struct("<d")
_WORD = struct.Struct("<q")
_MOST_CODINGS = 256  # schemas whose functions are kept
_TURNED = 512  # rows that are turned into columns at once: `zip` makes an iterator for each
_HELD = 256  # batches beyond twice those that were alive, from which it is looked which still are
NAN_BITS = _WORD.unpack(_FLOAT.pack(float("nan")))[0]


class _Forgotten:
    """Stands at an id that no value has."""

    def __repr__(self) -> str:
        return "<forgotten>"


_FORGOTTEN = _Forgotten()


class Interner(Unread):
    """The values of one domain by id, and back. `sweeping` says when a value is forgotten; its id is then
    `free` for another. The last sweep read `read` codes and left `kept` values; -1: there was none."""

    def __init__(self) -> None:
        self.ids: dict[Any, int] = {}
        self.values: list[Any] = []
        self.free: list[int] = []
        self.kept, self.read = 0, -1
        self._given = 0  # ids before the last sweep

    def restore(self, count: int, free: list[int], given: int, read: Callable[[], Iterable[Any]]) -> None:
        """Makes an empty interner one of so many values, which `read` gives when they are first needed, in
        the order of their ids, without those that are free. So many ids were `given`."""
        self.free, self.kept, self._given = free, count, given

        def values() -> list[Any]:
            found, gone = iter(read()), {*free}
            return [_FORGOTTEN if at in gone else next(found) for at in range(count + len(free))]

        read_later(self, "values", values)
        read_later(self, "ids", self._numbered)

    def _numbered(self) -> dict[Any, int]:
        return {value: at for at, value in enumerate(self.values) if value is not _FORGOTTEN}

    @property
    def is_unread(self) -> bool:
        """Whether the values were restored from a checkpoint, and have not been read yet."""
        return is_unread(self)

    def __len__(self) -> int:
        return self.kept if self.is_unread else len(self.ids)

    def new(self) -> int:
        """The number of values that came since the last sweep."""
        return len(self) - self.kept

    @property
    def given(self) -> int:
        """The number of the ids that values ever had: rows that are absent may have each of them."""
        return max(self._given, len(self) + len(self.free))

    def listed(self) -> list[Any]:
        """The values in the order of their ids, without those that are free."""
        return [value for value in self.values if value is not _FORGOTTEN] if self.free else self.values

    def id(self, value: Any) -> int:
        """The id of a value, a new one the first time."""
        found = self.ids.get(value)
        if found is None:
            if self.free:
                found = self.ids[value] = self.free.pop()
                self.values[found] = value
            else:
                found = self.ids[value] = len(self.values)
                self.values.append(value)
        return found

    def keep(self, used: Bools) -> None:
        """Forgets all values but those of these ids, as an array of bools."""
        ends = np.flatnonzero(used)
        top = int(ends[-1]) + 1 if len(ends) else 0
        freed = np.flatnonzero(~used)
        values, ids, before = self.values, self.ids, len(self.ids)
        for at in freed.tolist():
            if values[at] is not _FORGOTTEN:
                del ids[values[at]]
                values[at] = _FORGOTTEN
        self._given = max(self._given, len(values))
        del values[top:]
        self.free = freed[freed < top][::-1].tolist()  # the least is given first, so that the end stays free
        if 2 * len(ids) < before:
            self.ids = dict(ids)  # a dictionary gives room back only when it is copied


def float_bits(value: float) -> int:
    """The bit pattern of a double, with one NaN and no negative zero."""
    if value != value or value == 0.0:
        return NAN_BITS if value != value or value else 0
    return int(_WORD.unpack(_FLOAT.pack(value))[0])


class Coding(NamedTuple):
    """The functions that encode and decode a row of a schema, given those of a value. `sorts`: Python
    compares its rows as their values are ordered."""

    schema: Schema
    sorts: bool
    encode: Callable[[tuple[Any, ...], Callable[[Kind, str, Any], int]], tuple[int, ...]]
    decode: Callable[[tuple[int, ...], Callable[[Kind, str, int], Any]], tuple[Any, ...]]


def _coding(schema: Schema, domain: Callable[[str], Interner]) -> Coding:
    """Writes the functions of a schema. What makes no new id is done where it stands."""
    given: dict[str, Any] = {}
    encoded, decoded = [], []
    for k, column in enumerate(schema):
        given[f"k{k}"], given[f"d{k}"] = column.kind, column.domain
        to = back = f"of(k{k}, d{k}, row[{k}])"
        if column.kind is Kind.INT:
            plain = f"row[{k}].__class__ is int and {-INLINE_LIMIT} <= row[{k}] < {INLINE_LIMIT}"
            to, back = f"row[{k}] if {plain} else {to}", f"row[{k}] if row[{k}] < {INLINE_LIMIT} else {back}"
        elif column.kind is Kind.BOOL:
            to, back = f"1 if row[{k}] else 0", f"row[{k}] != 0"
        elif column.kind is Kind.OBJECT:
            given[f"n{k}"] = domain(column.domain)
            to, back = f"at if (at := n{k}.ids.get(row[{k}])) is not None else {to}", f"n{k}.values[row[{k}]]"
        encoded.append(f"{to}, ")
        decoded.append(f"{back}, ")
    encode, decode = (eval(f"lambda row, of: ({''.join(each)})", given) for each in (encoded, decoded))
    return Coding(schema, all(column.kind is not Kind.FLOAT for column in schema), encode, decode)


class Values:
    """All interned values of a runtime, which turns values of columns of every kind into int64 and back.

    `nan` is the value that stands for NaN in rows, so that decoded rows compare as the language says.
    """

    def __init__(self, nan: float = float("nan")) -> None:
        self._domains: dict[str, Interner] = {}
        self._held: list[tuple[ref[Batch], Schema]] = []  # also some that are gone
        self._held_most = _HELD
        self._holding = Lock()
        self._codings: dict[int, Coding] = {}  # by the identity of the schema
        self._nan = nan
        self.swept = 0
        """The number of sweeps so far: what ids mean may be different since the last one."""
        self._looked_at = 0

    @contextmanager
    def looked_at(self) -> Iterator[None]:
        """Inside, somebody looks at an epoch that will be taken back, and may run others of the same
        values."""
        self._looked_at += 1
        try:
            yield
        finally:
            self._looked_at -= 1

    @property
    def may_be_swept(self) -> bool:
        """Whether nobody looks at an epoch that will be taken back: rows that it took away come back."""
        return not self._looked_at

    def domain(self, name: str) -> Interner:
        """The interner of a domain."""
        found = self._domains.get(name)
        if found is None:
            found = self._domains[name] = Interner()
        return found

    def bounds(self, column: Column) -> tuple[int, int]:
        """The least and the greatest int64 that a column of rows, also of absent ones, can have."""
        found = self._domains.get(column.domain)
        ids = 0 if found is None else found.given
        match column.kind:
            case Kind.OBJECT:
                return 0, ids - 1
            case Kind.BOOL:
                return 0, 1
            case Kind.INT:
                return -INLINE_LIMIT, INLINE_LIMIT + ids - 1
        return -(1 << 63), (1 << 63) - 1

    def domains(self) -> Iterable[tuple[str, Interner]]:
        """All domains by name."""
        return self._domains.items()

    def interners(self) -> Iterable[Interner]:
        """The interners of all domains."""
        return self._domains.values()

    def forget_all(self) -> None:
        """Forgets all values."""
        self._domains.clear()
        self._codings.clear()
        self._held.clear()

    def settle(self) -> None:
        """Takes the values of the first epoch for used, until a sweep finds out."""
        for each in self._domains.values():
            each.kept = len(each)

    def hold(self, schema: Schema, batch: Batch) -> None:
        """The values of a batch are not forgotten while it is alive: it goes beyond the epoch."""
        if self._domains and batch.length:
            with self._holding:
                if len(self._held) >= self._held_most:
                    self._held = [each for each in self._held if each[0]() is not None]
                    self._held_most = _HELD + 2 * len(self._held)
                self._held.append((ref(batch), schema))

    def mark_held(self, marks: Marks) -> None:
        """Marks the ids in the batches that are held."""
        with self._holding:
            held = [(of(), schema) for of, schema in self._held]
        for batch, schema in held:
            if batch is not None:
                marks.columns(schema, batch.columns)

    def encode(self, kind: Kind, domain: str, value: Any) -> int:
        """The int64 of one value."""
        if kind is Kind.OBJECT:
            interner = self._domains.get(domain)
            found = None if interner is None else interner.ids.get(value)
            if found is not None:
                return found
            with building:  # array code asks for its constants
                return self.domain(domain).id(value)
        if kind is Kind.FLOAT:
            return float_bits(value)
        if kind is Kind.BOOL:
            return 1 if value else 0
        if -INLINE_LIMIT <= value < INLINE_LIMIT:
            return int(value)
        return INLINE_LIMIT + self.domain(domain).id(value)

    def decode(self, kind: Kind, domain: str, code: int) -> Any:
        """The value of one int64."""
        if kind is Kind.OBJECT:
            return self._domains[domain].values[code]
        if kind is Kind.INT:
            return code if code < INLINE_LIMIT else self._domains[domain].values[code - INLINE_LIMIT]
        if kind is Kind.BOOL:
            return bool(code)
        (value,) = _FLOAT.unpack(_WORD.pack(code))
        return self._nan if value != value else value

    def coding(self, schema: Schema) -> Coding:
        """The functions that encode and decode a row."""
        found = self._codings.get(id(schema))
        if found is None:
            if len(self._codings) >= _MOST_CODINGS:
                self._codings.clear()
            found = self._codings[id(schema)] = _coding(schema, self.domain)
        return found

    def encode_column(self, column: Column, values: Iterable[Any], length: int) -> Array:
        """The int64s of a column of values."""
        kind = column.kind
        if kind is Kind.OBJECT:
            one = self.domain(column.domain).id
            return np.fromiter(map(one, values), np.int64, length)
        if kind is Kind.INT:
            listed = values if isinstance(values, list) else list(values)
            if length <= thresholds.FEW_ROWS:
                if not length or (min(listed) >= -INLINE_LIMIT and max(listed) < INLINE_LIMIT):
                    return np.array(listed, np.int64)
                return np.array([self.encode(kind, column.domain, v) for v in listed], np.int64)
            try:
                out = np.array(listed, np.int64)
            except OverflowError:
                pass
            else:
                if int(out.min()) >= -INLINE_LIMIT and int(out.max()) < INLINE_LIMIT:
                    return out
            return np.fromiter((self.encode(kind, column.domain, v) for v in listed), np.int64, length)
        if kind is Kind.BOOL:
            return np.fromiter(map(bool, values), np.int64, length)
        if length <= thresholds.FEW_ROWS:
            return np.fromiter(map(float_bits, values), np.int64, length)
        return self._encode_array(column, np.fromiter(values, np.float64, length))

    def decode_column(self, column: Column, codes: Array) -> list[Any]:
        """The values of a column of int64s."""
        kind = column.kind
        if kind is Kind.OBJECT:
            values = self.domain(column.domain).values
            return [values[i] for i in codes.tolist()]
        if kind is Kind.BOOL:
            return (codes != 0).tolist()  # type: ignore[no-any-return]
        if kind is Kind.FLOAT:
            return [self._nan if v != v else v for v in codes.view(np.float64).tolist()]
        plain = codes.tolist()
        if plain and (int(codes.max()) if len(plain) > thresholds.FEW_ROWS else max(plain)) >= INLINE_LIMIT:
            values = self.domain(column.domain).values
            return [values[v - INLINE_LIMIT] if v >= INLINE_LIMIT else v for v in plain]
        return plain  # type: ignore[no-any-return]

    def encode_input(self, column: Column, data: Any) -> Array:
        """A column given as an array, a list of values, or a pair (dictionary, codes)."""
        if isinstance(data, tuple):
            dictionary, codes = data
            return self.encode_column(column, dictionary, len(dictionary))[codes]
        if isinstance(data, np.ndarray) and column.kind is not Kind.OBJECT:
            return self._encode_array(column, data)
        listed = data.tolist() if isinstance(data, np.ndarray) else list(data)
        return self.encode_column(column, listed, len(listed))

    def _encode_array(self, column: Column, data: np.ndarray[Any, Any]) -> Array:
        if column.kind is Kind.FLOAT:
            doubles = np.array(data, np.float64)
            doubles[doubles == 0.0] = 0.0
            codes = doubles.view(np.int64)
            codes[np.isnan(doubles)] = NAN_BITS
            return codes
        if data.dtype == np.uint64 or data.dtype == object:
            return self.encode_column(column, data.tolist(), len(data))
        codes = np.array(data, np.int64)  # of our own: contiguous and writable, the one form kernels take
        if codes.size and (int(codes.min()) < -INLINE_LIMIT or int(codes.max()) >= INLINE_LIMIT):
            return self.encode_column(column, codes.tolist(), len(codes))
        return codes

    def order_keys(self, column: Column, codes: Array, order: ColumnOrder = _RISING) -> Array:
        """Int64s that sort as the values of the column are ordered."""
        keys = self._order_keys(column, codes, order.key)
        return ~keys if order.falls else keys

    def _order_keys(self, column: Column, codes: Array, key: Callable[[Any], Any] | None) -> Array:
        if column.kind is Kind.FLOAT:
            keys = np.where(codes < 0, codes ^ np.int64(0x7FFFFFFFFFFFFFFF), codes)
            keys[codes == NAN_BITS] = np.iinfo(np.int64).max
            return keys
        wide = column.kind is Kind.INT and codes.size and int(codes.max()) >= INLINE_LIMIT
        if column.kind is Kind.OBJECT or wide:
            unique, inverse = np.unique(codes, return_inverse=True)
            values = self.decode_column(column, unique)
            rank = np.empty(len(unique), np.int64)
            made = values if key is None else list(map(key, values))
            rank[np.array(sorted(range(len(made)), key=made.__getitem__), np.int64)] = np.arange(len(made))
            return rank[inverse]
        return codes


def encode_rows(
    values: Values, schema: Sequence[Column], rows: Sequence[tuple[Any, ...]]
) -> tuple[Array, ...]:
    """Columns from rows of Python values."""
    listed: list[list[Any]] = [[] for _ in schema]
    for start in range(0, len(rows), _TURNED):
        part = zip(*rows[start : start + _TURNED], strict=True)
        for column, some in zip(listed, part, strict=True):
            column.extend(some)
    return tuple(values.encode_column(c, v, len(rows)) for c, v in zip(schema, listed, strict=True))


def encode_each(values: Values, schema: Schema, rows: Sequence[tuple[Any, ...]]) -> list[tuple[int, ...]]:
    """Rows of int64s from rows of Python values."""
    encode, of = values.coding(schema).encode, values.encode
    return [encode(row, of) for row in rows]


def decode_rows(
    values: Values, schema: Sequence[Column], columns: Sequence[Array], length: int
) -> list[tuple[Any, ...]]:
    """Rows of Python values from columns."""
    if not schema:
        return [()] * length
    return list(zip(*(values.decode_column(c, a) for c, a in zip(schema, columns, strict=True)), strict=True))


def decode_each(values: Values, schema: Schema, rows: Sequence[tuple[int, ...]]) -> list[tuple[Any, ...]]:
    """Rows of Python values from rows of int64s."""
    return [*map(values.coding(schema).decode, rows, repeat(values.decode))]


def order_of(values: Values, schema: Sequence[Column], columns: Sequence[Array], length: int) -> Array:
    """The permutation that sorts rows by value, first column first."""
    if not schema:
        return np.arange(length, dtype=np.int64)
    keys = [values.order_keys(c, a) for c, a in zip(schema, columns, strict=True)]
    return np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0], kind="stable")
