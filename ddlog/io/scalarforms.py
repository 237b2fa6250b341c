"""Booleans, numbers, strings, texts and bytes as Arrow arrays and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from ..values import NAN

_LIMIT = 10**38

ValueList: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]


class ArrowForm(Protocol):
    """The form of the values of one type in an Arrow array."""

    @property
    def arrow(self) -> pa.DataType:
        """The type of the array."""

    def encode(self, values: ValueList) -> pa.Array:
        """Values as an array. Raises ValueError for one that does not fit."""

    def decode(self, array: pa.Array) -> list[Any]:
        """The values of an array without nulls."""


@dataclass(frozen=True)
class PlainForm:
    """Booleans, strings, machine integers, and the widest decimals: values that Arrow takes as they are."""

    arrow: pa.DataType

    def encode(self, values: ValueList) -> pa.Array:
        if isinstance(values, np.ndarray):
            return pa.array(values.astype(self.arrow.to_pandas_dtype(), copy=False), self.arrow)
        return pa.array(values, self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        found: list[Any] = array.to_pylist()
        return found


@dataclass(frozen=True)
class IntegersForm(PlainForm):
    """Machine integers, and decimals of 256 bits."""

    def decode(self, array: pa.Array) -> list[Any]:
        if pa.types.is_decimal(self.arrow):
            return list(map(int, array.to_pylist()))
        found: list[Any] = array.to_numpy(zero_copy_only=False).tolist()
        return found


@dataclass(frozen=True)
class DecimalsForm:
    """Integers of up to 38 digits: 16 bytes each."""

    arrow: pa.DataType

    def encode(self, values: ValueList) -> pa.Array:
        numbers = values.tolist() if isinstance(values, np.ndarray) else values
        try:
            machine = np.fromiter(numbers, np.int64, len(numbers))
        except OverflowError:
            return self._wide(numbers)
        high = machine >> 63
        return self._of(np.column_stack((machine, high)).tobytes(), len(numbers))

    def _wide(self, numbers: ValueList) -> pa.Array:
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
        raise ValueError(f"an integer of {digits} digits is beyond the 38 digits that a column can hold")
    return value


@dataclass(frozen=True)
class FloatsForm:
    arrow: pa.DataType

    def encode(self, values: ValueList) -> pa.Array:
        return pa.array(np.asarray(values, self.arrow.to_pandas_dtype()))

    def decode(self, array: pa.Array) -> list[Any]:
        numbers = array.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
        found: list[Any] = numbers.tolist()
        for at in np.flatnonzero(np.isnan(numbers)).tolist():
            found[at] = NAN
        return found


@dataclass(frozen=True)
class WrittenForm:
    """Values that are written one by one, as texts or as bytes."""

    arrow: pa.DataType
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]

    def encode(self, values: ValueList) -> pa.Array:
        plain = values.tolist() if isinstance(values, np.ndarray) else values
        return pa.array(list(map(self.write, plain)), self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        return [self.read(item or "") for item in array.to_pylist()]


@dataclass(frozen=True)
class UnitsForm:
    """Values that are whole numbers of a unit: dates, times and decimals. `storage` is the form of the
    number, `years` the numbers in the years that Python knows."""

    arrow: pa.DataType
    storage: ArrowForm
    years: range | None
    make: Callable[[int], Any]
    count: Callable[[Any], int]

    def encode(self, values: ValueList) -> pa.Array:
        numbers = list(map(self.count, values))
        if self.years is not None and not all(number in self.years for number in numbers):
            raise ValueError("a date is not in the years 1 to 9999")
        array = self.storage.encode(numbers)
        return array if array.type == self.arrow else array.view(self.arrow)

    def decode(self, array: pa.Array) -> list[Any]:
        return list(map(self.make, self.storage.decode(array.view(self.storage.arrow))))


@dataclass(frozen=True)
class UuidsForm:
    """Values of one field, a number of 128 bits, as the 16 bytes of Arrow's UUID."""

    make: Callable[[Any], Any]

    @property
    def arrow(self) -> pa.DataType:
        return pa.uuid()

    def encode(self, values: ValueList) -> pa.Array:
        data = [value[0].to_bytes(16) for value in values]
        return pa.ExtensionArray.from_storage(self.arrow, pa.array(data, pa.binary(16)))

    def decode(self, array: pa.Array) -> list[Any]:
        return [self.make((int.from_bytes(data),)) for data in array.cast(pa.binary(16)).to_pylist()]
