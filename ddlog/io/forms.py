"""The form of each type in Arrow: of columns of frames and files, of states, and of Spark.

Booleans, floats, strings, records and lists have one form. For the other types an `Encoding` chooses it:

| type | FRAMES | SPARK_FILES | SPARK (`ddlog/spark/types`) |
| --- | --- | --- | --- |
| integer of up to 64 bits | int8 to uint64 | int8 to int64, decimal128(20) | as in SPARK_FILES |
| wider integer | decimal256(76) | text | decimal128(38), or bytes in the order of the numbers |
| bigint | decimal128(38) | decimal128(38) | decimal128(38) |
| Option | the value or null | the value or null | as a union |
| other union | text | text | struct of a tag and a struct for each case |
| recursive type | text | text | bytes |
| type without fields | text | text | true |
| Map | map | map | list of structs of key and value |
| date, time, decimal | date32, time64, timestamp, decimal128 | as in FRAMES, time::Time a text | struct |
| Uuid | arrow.uuid | text | struct |
| other type that is written as text | text | text | struct |
| Group, function, Any | text | text | struct of key and values; bytes |

A state takes the forms of FRAMES, but writes integers of more than 64 bits as int64 or text, and values that
a form does not give back as text (`ddlog/durability/forms.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa

from ..types import BigInt, Bit, Bool, Float, Opaque, Signed, String, TextForm, Tuple, Type, User
from ..values import TypeDefs, struct_class
from ..values.shapes import UUID_TYPE, collection_of, is_option, shape_of, some_maker
from ..values.textforms import text_form
from .columns import cell_reader, cell_writer
from .scalarforms import (
    ArrowForm,
    DecimalsForm,
    FloatsForm,
    IntegersForm,
    PlainForm,
    UnitsForm,
    UuidsForm,
    WrittenForm,
)
from .structforms import ListsForm, MapsForm, OptionsForm, StructsForm

Integer: TypeAlias = Bit | Signed | BigInt


@dataclass(frozen=True, slots=True)
class Encoding:
    """The choices of an encoding: the form of an integer type; that of any other type, or None for the form
    that all encodings have; and the names and types of the fields of a record."""

    integer: Callable[[Integer], ArrowForm]
    chosen: Callable[[Type, Forms, frozenset[str]], ArrowForm | None]
    fields: Callable[[Tuple | User, TypeDefs], Sequence[tuple[str, Type]]]


@dataclass(frozen=True, slots=True)
class Forms:
    """The forms of a program's types in an encoding."""

    typedefs: TypeDefs
    encoding: Encoding

    def of(self, type: Type, within: frozenset[str] = frozenset()) -> ArrowForm:
        """The form of a type that is inside of the named types `within`."""
        match type:
            case Bool():
                return PlainForm(pa.bool_())
            case Bit() | Signed() | BigInt():
                return self.encoding.integer(type)
            case Float(width):
                return FloatsForm(pa.float32() if width == 32 else pa.float64())
            case String():
                return PlainForm(pa.string())
        chosen = self.encoding.chosen(type, self, within)
        if chosen is not None:
            return chosen
        if isinstance(type, Tuple | User):
            fields = self.encoding.fields(type, self.typedefs)
            return StructsForm(self.members(fields, within | _name(type)), self.maker(type))
        collection = collection_of(type)
        assert collection is not None
        return ListsForm(self.of(collection.element, within), collection.ordered)

    def members(
        self, fields: Sequence[tuple[str, Type]], within: frozenset[str] = frozenset()
    ) -> tuple[tuple[str, ArrowForm], ...]:
        """The forms of fields by their names."""
        return tuple((name, self.of(of, within)) for name, of in fields)

    def maker(self, type: Tuple | User) -> Callable[[Any], Any]:
        """A function that makes a record of its fields."""
        if isinstance(type, Tuple):
            return tuple
        shape = shape_of(type, self.typedefs)
        return partial(tuple.__new__, struct_class(shape.typedef.name, shape.constructors[0], False))


def _name(type: Type) -> frozenset[str]:
    return frozenset([type.name]) if isinstance(type, User) else frozenset()


def texts_of(type: Type, typedefs: TypeDefs) -> ArrowForm:
    """The form of values as the cells of text files."""
    return WrittenForm(pa.string(), cell_writer(type, typedefs), cell_reader(type, typedefs))


def _frame_integer(type: Integer) -> ArrowForm:
    if isinstance(type, BigInt):
        return DecimalsForm(pa.decimal128(38, 0))
    if type.width > 64:
        return IntegersForm(pa.decimal256(76, 0))
    width = next(size for size in (8, 16, 32, 64) if type.width <= size)
    return IntegersForm(getattr(pa, f"{'int' if isinstance(type, Signed) else 'uint'}{width}")())


def _spark_file_integer(type: Integer) -> ArrowForm:
    """Spark has no unsigned integers, and decimals of up to 38 digits."""
    if not isinstance(type, BigInt) and type.width > 64:
        return texts_of(type, {})
    if not isinstance(type, Bit):
        return _frame_integer(type)
    if type.width > 32:
        return DecimalsForm(pa.decimal128(20, 0))
    return IntegersForm(pa.int16() if type.width <= 8 else pa.int32() if type.width <= 16 else pa.int64())


def _frame_form(type: Type, forms: Forms, within: frozenset[str]) -> ArrowForm | None:
    typedefs = forms.typedefs
    if is_option(type) and not is_option(type.args[0]):
        value = forms.of(type.args[0], within)
        none = shape_of(type, typedefs).constructors[0]
        return OptionsForm(value, some_maker(type, typedefs), shape_of(type, typedefs).make(none)())
    match type:
        case User(name) if name not in within:
            shape = shape_of(type, typedefs)
            if shape.is_union or not shape.constructors[0].fields:
                return texts_of(type, typedefs)
            if type == UUID_TYPE:
                return UuidsForm(forms.maker(type))
            form = text_form(type, typedefs)
            return _of_units(form) or (None if form is None else texts_of(type, typedefs))
        case Tuple((_, *_)):
            return None
        case Opaque():
            collection = collection_of(type)
            if collection is not None and collection.kind == "Map":
                assert isinstance(collection.element, Tuple)
                return MapsForm(*(forms.of(each, within) for each in collection.element.items))
            if collection is not None:
                return None
    return texts_of(type, typedefs)


def _of_units(form: TextForm | None) -> ArrowForm | None:
    """The form of dates, times and decimals; None for other types."""
    if form is None or form.number is None or form.count is None:
        return None
    if isinstance(form.unit, int):
        decimal = pa.decimal128(38, form.unit)
        return UnitsForm(decimal, DecimalsForm(decimal), None, form.number, form.count)
    arrow, number, known = _UNITS[form.unit]
    return UnitsForm(arrow, IntegersForm(number), known, form.number, form.count)


def _spark_file_form(type: Type, forms: Forms, within: frozenset[str]) -> ArrowForm | None:
    """Spark has no times of nanoseconds, and no UUIDs."""
    form = text_form(type, forms.typedefs)
    finer = form is not None and form.unit == "nanos"
    return texts_of(type, forms.typedefs) if finer or type == UUID_TYPE else _frame_form(type, forms, within)


def _frame_fields(type: Tuple | User, typedefs: TypeDefs) -> Sequence[tuple[str, Type]]:
    if isinstance(type, Tuple):
        return [(str(place), item) for place, item in enumerate(type.items)]
    return shape_of(type, typedefs).constructors[0].fields


_EPOCH, _DAY, _MICRO = datetime(1970, 1, 1), timedelta(days=1), timedelta(microseconds=1)
_MICROS = range((datetime.min - _EPOCH) // _MICRO, (datetime.max - _EPOCH) // _MICRO + 1)
_UNITS = {
    "days": (pa.date32(), pa.int32(), range((datetime.min - _EPOCH).days, (datetime.max - _EPOCH).days + 1)),
    "time": (pa.time64("us"), pa.int64(), range(_DAY // _MICRO)),
    "nanos": (pa.time64("ns"), pa.int64(), None),
    "micros": (pa.timestamp("us"), pa.int64(), _MICROS),
    "instants": (pa.timestamp("us", "UTC"), pa.int64(), _MICROS),
}

FRAMES = Encoding(_frame_integer, _frame_form, _frame_fields)
SPARK_FILES = Encoding(_spark_file_integer, _spark_file_form, _frame_fields)
