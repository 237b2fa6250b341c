"""Structs, unions, options and collections as Arrow arrays and back, over the forms of what is in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from ..values import Map
from .scalarforms import ArrowForm, ValueList


@dataclass(frozen=True)
class StructsForm:
    """Tuples and values of typedefs of one constructor; of no fields, true."""

    members: tuple[tuple[str, ArrowForm], ...]
    make: Callable[[Any], Any]
    skip: int = 0  # items before the fields: the constructor's number of a union value

    @property
    def arrow(self) -> pa.DataType:
        if not self.members:
            return pa.bool_()
        return pa.struct([(name, form.arrow) for name, form in self.members])

    def encode(self, values: ValueList) -> pa.Array:
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
class UnionAlternative:
    tag: str
    member: str
    fields: StructsForm | None
    make: Callable[[Any], Any]


@dataclass(frozen=True)
class UnionsForm:
    """Values of typedefs of several constructors: the name of one, and the fields of it alone."""

    alternatives: tuple[UnionAlternative, ...]

    @property
    def arrow(self) -> pa.DataType:
        members = [(each.member, each.fields.arrow) for each in self.alternatives if each.fields is not None]
        return pa.struct([("tag", pa.string()), *members])

    def encode(self, values: ValueList) -> pa.Array:
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
        from pyarrow.compute import index_in  # takes a tenth of the start of a worker, which seldom needs it

        found: list[Any] = [None] * len(array)
        tags = pa.array([each.tag for each in self.alternatives], pa.string())
        numbers = index_in(array.field(0), tags).to_numpy(zero_copy_only=False)
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
class OptionsForm:
    """Options of values that are never null: the value, or null."""

    value: ArrowForm
    some: Callable[[Any], Any]
    none: Any

    @property
    def arrow(self) -> pa.DataType:
        return self.value.arrow

    def encode(self, values: ValueList) -> pa.Array:
        present = np.fromiter((value[0] for value in values), bool, len(values))
        dense = self.value.encode([value[1] for value in values if value[0]])
        return dense.take(pa.array(np.cumsum(present) - 1, mask=~present))

    def decode(self, array: pa.Array) -> list[Any]:
        found = iter(self.value.decode(array.drop_null()))
        valid = array.is_valid().to_pylist()
        return [self.some(next(found)) if each else self.none for each in valid]


@dataclass(frozen=True)
class ListsForm:
    """Vec, Set and Map: their elements in order."""

    element: ArrowForm
    make: Callable[[Any], Any]

    @property
    def arrow(self) -> pa.DataType:
        return pa.list_(self.element.arrow)

    def encode(self, values: ValueList) -> pa.Array:
        elements = self.element.encode(list(chain.from_iterable(values)))
        return pa.ListArray.from_arrays(_offsets(values), elements, type=self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        elements = self.element.decode(array.flatten())
        return [self.make(elements[start:end]) for start, end in pairwise(_bounds(array))]


@dataclass(frozen=True)
class MapsForm:
    """Maps as Arrow has them, in the order of their keys."""

    key: ArrowForm
    item: ArrowForm

    @property
    def arrow(self) -> pa.DataType:
        return pa.map_(self.key.arrow, self.item.arrow)

    def encode(self, values: ValueList) -> pa.Array:
        pairs = list(chain.from_iterable(values))
        keys = self.key.encode([key for key, _ in pairs])
        return pa.MapArray.from_arrays(_offsets(values), keys, self.item.encode([item for _, item in pairs]))

    def decode(self, array: pa.Array) -> list[Any]:
        bounds = _bounds(array)
        whole = [each.slice(array.offsets[0].as_py(), bounds[-1]) for each in (array.keys, array.items)]
        pairs = list(zip(self.key.decode(whole[0]), self.item.decode(whole[1]), strict=True))
        return [Map.ordered(pairs[start:end]) for start, end in pairwise(bounds)]


def _offsets(values: ValueList) -> pa.Array:
    """Where the elements of each collection begin, and where the last ones end."""
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, values), np.int32, len(values)), out=offsets[1:])
    return pa.array(offsets)


def _bounds(array: pa.Array) -> list[int]:
    """The offsets, from 0 on, at which the elements of each collection of an array begin; the last end."""
    offsets = array.offsets.to_numpy()
    bounds: list[int] = (offsets - offsets[0]).tolist() if len(offsets) else [0]
    return bounds
