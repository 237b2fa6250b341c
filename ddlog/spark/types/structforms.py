"""Structs, unions and lists as Arrow arrays and back, over the forms of their fields and elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, pairwise, repeat
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
    """ValueList of typedefs of several constructors: the name of one, and the fields of it alone."""

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
class ListsForm:
    """Vec, Set and Map: their elements in order."""

    element: ArrowForm
    make: Callable[[Any], Any]

    @property
    def arrow(self) -> pa.DataType:
        return pa.list_(self.element.arrow)

    def encode(self, values: ValueList) -> pa.Array:
        offsets = np.zeros(len(values) + 1, np.int32)
        np.cumsum(np.fromiter(map(len, values), np.int32, len(values)), out=offsets[1:])
        elements = self.element.encode(list(chain.from_iterable(values)))
        return pa.ListArray.from_arrays(pa.array(offsets), elements, type=self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        elements = self.element.decode(array.flatten())
        offsets = array.offsets.to_numpy()
        bounds = (offsets - offsets[0]).tolist() if len(offsets) else []
        return [self.make(elements[start:end]) for start, end in pairwise(bounds)]
