"""Columns of values as Arrow arrays and back, a form for each kind of Spark type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import chain, pairwise, repeat
from operator import itemgetter
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...codegen.sqltypes import (
    Case,
    cases_of,
    element_of,
    group_of,
    integer_type,
    is_binary,
    is_union,
    wide_from_bytes,
    wide_to_bytes,
)
from ...types import BigInt, Bit, Bool, Float, Signed, String, Tuple, Type, User
from ...values import NAN, Group, Map, TypeDefs, struct_class
from ...values.shapes import shape_of
from .canonical import Canonical, collection_maker

_MACHINE = {"TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64()}
_LIMIT = 10**38

Values: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]


class Form(Protocol):
    """How the values of one type stand in an Arrow array."""

    @property
    def arrow(self) -> pa.DataType:
        """The type of the array."""

    def encode(self, values: Values) -> pa.Array:
        """Values as an array. Raises ValueError for one that does not fit."""

    def decode(self, array: pa.Array) -> list[Any]:
        """The values of an array without nulls."""


def form_of(type: Type, typedefs: TypeDefs) -> Form:
    """The form of a type."""
    match type:
        case Bool():
            return _Bools()
        case Bit() | Signed() | BigInt():
            return _integer_form(type)
        case Float(width):
            return _Floats(pa.float32() if width == 32 else pa.float64())
        case String():
            return _Strings()
        case User() if is_union(type, typedefs) and not is_binary(type, typedefs):
            return _union_form(type, typedefs)
        case Tuple() | User() if not is_binary(type, typedefs):
            (case,) = cases_of(type, typedefs)
            return _Structs(_members(case, typedefs), _struct_maker(type, typedefs))
    element = element_of(type)
    if element is not None:
        make = collection_maker(type)
        return _Lists(_element_form(element, typedefs, make is Map.ordered), make)
    group = group_of(type)
    if group is not None:
        key, value = (form_of(each, typedefs) for each in group)
        return _Structs((("key", key), ("values", _Lists(value, tuple))), partial(tuple.__new__, Group))
    canonical = Canonical(type, typedefs)
    return _Bytes(canonical.to_bytes, canonical.from_bytes)


def _integer_form(type: Bit | Signed | BigInt) -> Form:
    name = integer_type(type)
    if name in _MACHINE:
        return _Integers(_MACHINE[name])
    if name == "BINARY":
        assert isinstance(type, Bit | Signed)
        return _Bytes(partial(wide_to_bytes, type=type), partial(wide_from_bytes, type=type))
    return _Decimals(pa.decimal128(20 if "20" in name else 38, 0))


def _members(case: Case, typedefs: TypeDefs) -> tuple[tuple[str, Form], ...]:
    return tuple((name, form_of(of, typedefs)) for name, of in case.fields)


def _struct_maker(type: Tuple | User, typedefs: TypeDefs) -> Callable[[Any], Any]:
    if isinstance(type, Tuple):
        return tuple
    shape = shape_of(type, typedefs)
    return partial(tuple.__new__, struct_class(shape.typedef.name, shape.constructors[0], False))


def _element_form(element: Type, typedefs: TypeDefs, is_map: bool) -> Form:
    if is_map:
        assert isinstance(element, Tuple)
        names = zip(("key", "value"), element.items, strict=True)
        return _Structs(tuple((name, form_of(of, typedefs)) for name, of in names), tuple)
    return form_of(element, typedefs)


def _union_form(type: User, typedefs: TypeDefs) -> Form:
    shape, alternatives = shape_of(type, typedefs), []
    for case, constructor in zip(cases_of(type, typedefs), shape.constructors, strict=True):
        make = partial(tuple.__new__, struct_class(shape.typedef.name, constructor, True))
        fields = _Structs(_members(case, typedefs), tuple, skip=1) if case.fields else None
        alternatives.append(_Alternative(case.tag, case.member, fields, make))
    return _Unions(tuple(alternatives))


# -------------------------------------------------------------------- scalars


@dataclass(frozen=True)
class _Bools:
    arrow = pa.bool_()

    def encode(self, values: Values) -> pa.Array:
        if isinstance(values, np.ndarray):
            return pa.array(values.astype(bool))
        return pa.array(values, self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        found: list[Any] = array.to_pylist()
        return found


@dataclass(frozen=True)
class _Integers:
    arrow: pa.DataType

    def encode(self, values: Values) -> pa.Array:
        if isinstance(values, np.ndarray):
            return pa.array(values.astype(self.arrow.to_pandas_dtype(), copy=False))
        return pa.array(values, self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        found: list[Any] = array.to_numpy(zero_copy_only=False).tolist()
        return found


@dataclass(frozen=True)
class _Decimals:
    """Integers of up to 38 digits: 16 bytes each."""

    arrow: pa.DataType

    def encode(self, values: Values) -> pa.Array:
        numbers = values.tolist() if isinstance(values, np.ndarray) else values
        try:
            machine = np.fromiter(numbers, np.int64, len(numbers))
        except OverflowError:
            return self._wide(numbers)
        high = machine >> 63
        return self._of(np.column_stack((machine, high)).tobytes(), len(numbers))

    def _wide(self, numbers: Values) -> pa.Array:
        data = b"".join([value.to_bytes(16, "little", signed=True) for value in map(_fitting, numbers)])
        return self._of(data, len(numbers))

    def _of(self, data: bytes, length: int) -> pa.Array:
        return pa.Array.from_buffers(self.arrow, length, [None, pa.py_buffer(data)])

    def decode(self, array: pa.Array) -> list[Any]:
        if array.type != self.arrow or not len(array):
            return [int(value) for value in array.to_pylist()]
        start = array.offset * 2
        halves = np.frombuffer(array.buffers()[1], np.int64)[start : start + 2 * len(array)]
        low, high = halves[::2], halves[1::2]
        if np.array_equal(low >> 63, high):
            found: list[Any] = low.tolist()
            return found
        pairs = zip(high.tolist(), low.view(np.uint64).tolist(), strict=True)
        return [(upper << 64) + lower for upper, lower in pairs]


def _fitting(value: int) -> int:
    if not -_LIMIT < value < _LIMIT:
        digits = len(str(Decimal(value))) - (value < 0)
        raise ValueError(f"an integer of {digits} digits is beyond the 38 digits that Spark can hold")
    return value


@dataclass(frozen=True)
class _Floats:
    arrow: pa.DataType

    def encode(self, values: Values) -> pa.Array:
        return pa.array(np.asarray(values, self.arrow.to_pandas_dtype()))

    def decode(self, array: pa.Array) -> list[Any]:
        numbers = array.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
        found: list[Any] = numbers.tolist()
        for at in np.flatnonzero(np.isnan(numbers)).tolist():
            found[at] = NAN
        return found


@dataclass(frozen=True)
class _Strings:
    arrow = pa.string()

    def encode(self, values: Values) -> pa.Array:
        return pa.array(values, self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        found: list[Any] = array.to_pylist()
        return found


@dataclass(frozen=True)
class _Bytes:
    to_bytes: Callable[[Any], bytes]
    from_bytes: Callable[[bytes], Any]
    arrow = pa.binary()

    def encode(self, values: Values) -> pa.Array:
        return pa.array([self.to_bytes(value) for value in values], self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        return [self.from_bytes(data) for data in array.to_pylist()]


# ---------------------------------------------------------- structs and lists


@dataclass(frozen=True)
class _Structs:
    """Tuples and values of typedefs of one constructor; of no fields, true."""

    members: tuple[tuple[str, Form], ...]
    make: Callable[[Any], Any]
    skip: int = 0  # items before the fields: the constructor's number of a union value

    @property
    def arrow(self) -> pa.DataType:
        if not self.members:
            return pa.bool_()
        return pa.struct([(name, form.arrow) for name, form in self.members])

    def encode(self, values: Values) -> pa.Array:
        if not self.members:
            return pa.array(np.ones(len(values), bool))
        arrays = [
            form.encode(list(map(itemgetter(at), values)))
            for at, (_, form) in enumerate(self.members, self.skip)
        ]
        return pa.StructArray.from_arrays(arrays, fields=list(self.arrow))

    def decode(self, array: pa.Array) -> list[Any]:
        if not self.members:
            return [self.make(())] * len(array)
        columns = [form.decode(array.field(i)) for i, (_, form) in enumerate(self.members)]
        return list(map(self.make, zip(*columns, strict=True)))


@dataclass(frozen=True)
class _Alternative:
    tag: str
    member: str
    fields: _Structs | None
    make: Callable[[Any], Any]


@dataclass(frozen=True)
class _Unions:
    """Values of typedefs of several constructors: the name of one, and the fields of it alone."""

    alternatives: tuple[_Alternative, ...]

    @property
    def arrow(self) -> pa.DataType:
        members = [(each.member, each.fields.arrow) for each in self.alternatives if each.fields is not None]
        return pa.struct([("tag", pa.string()), *members])

    def encode(self, values: Values) -> pa.Array:
        numbers = np.fromiter((value[0] for value in values), np.int64, len(values))
        tags = pa.array([each.tag for each in self.alternatives], pa.string())
        arrays = [tags.take(pa.array(numbers))]
        for number, each in enumerate(self.alternatives):
            if each.fields is None:
                continue
            mine = numbers == number
            dense = each.fields.encode([value for value in values if value[0] == number])
            arrays.append(dense.take(pa.array(np.cumsum(mine) - 1, mask=~mine)))
        return pa.StructArray.from_arrays(arrays, fields=list(self.arrow))

    def decode(self, array: pa.Array) -> list[Any]:
        found: list[Any] = [None] * len(array)
        tags = pa.array([each.tag for each in self.alternatives], pa.string())
        numbers = pc.index_in(array.field(0), tags).to_numpy(zero_copy_only=False)
        column = 1
        for number, each in enumerate(self.alternatives):
            rows = np.flatnonzero(numbers == number)
            if each.fields is None:
                made: Any = repeat(each.make((number,)), len(rows))
            else:
                contents = array.field(column).take(pa.array(rows))
                parts = (form.decode(contents.field(i)) for i, (_, form) in enumerate(each.fields.members))
                made = map(each.make, zip(repeat(number), *parts, strict=False))
                column += 1
            for row, value in zip(rows.tolist(), made, strict=True):
                found[row] = value
        return found


@dataclass(frozen=True)
class _Lists:
    """Vec, Set and Map: their elements in order."""

    element: Form
    make: Callable[[Any], Any]

    @property
    def arrow(self) -> pa.DataType:
        return pa.list_(self.element.arrow)

    def encode(self, values: Values) -> pa.Array:
        offsets = np.zeros(len(values) + 1, np.int32)
        np.cumsum(np.fromiter(map(len, values), np.int32, len(values)), out=offsets[1:])
        elements = self.element.encode(list(chain.from_iterable(values)))
        return pa.ListArray.from_arrays(pa.array(offsets), elements, type=self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        elements = self.element.decode(array.flatten())
        offsets = array.offsets.to_numpy()
        bounds = (offsets - offsets[0]).tolist() if len(offsets) else []
        return [self.make(elements[start:end]) for start, end in pairwise(bounds)]
