"""The codec of the Spark runtime: the types of the language as Spark and Arrow have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ...codegen.scalar import compile_function_table
from ...codegen.sqltypes import group_of, is_ordered, spark_type, wrapped
from ...core import CheckedProgram
from ...engine.schema import Column
from ...engine.spark.evaluation import pickled, unpickled
from ...io.forms import Forms
from ...io.scalarforms import ArrowForm
from ...types import UNIT, BigInt, Bit, Constructor, Signed, Type, TypeDef
from ...values import NAN, FunctionValue, Struct, TypeDefs, storable_closures, struct_class
from .forms import SPARK


class SparkCodec:
    """Converts columns of values of a program's types. Two of the same typedefs are the same codec; it is
    pickled as its typedefs, and the code of the closures that rows can hold."""

    def __init__(self, typedefs: TypeDefs, closures: bytes = b"") -> None:
        self.typedefs = dict(typedefs)
        self._closures = closures
        self._link(unpickled(closures, self.persistent_load) if closures else {})
        self._forms: dict[Type, ArrowForm] = {}
        self._texts: dict[Type, str] = {}

    def learn(self, program: CheckedProgram, types: Iterable[Type]) -> None:
        """Takes in the types of a program, perhaps with a query, and the closures in columns of `types`."""
        known = self.typedefs
        known.update({name: each for name, each in program.typedefs.items() if name not in known})
        missing = [each for each in storable_closures(types, known) if known[each].closure is None]
        if missing:
            functions = compile_function_table(program)
            self._link({place: functions.closures(place) for place in missing})
            classes = {name: each.closure for name, each in known.items() if each.closure is not None}
            self._closures = pickled(classes, self.persistent_id)

    def _link(self, classes: Mapping[str, type[FunctionValue]]) -> None:
        for place, made in classes.items():
            self.typedefs[place] = replace(self.typedefs[place], closure=made)

    def __reduce__(self) -> tuple[Any, ...]:
        needed = {
            name: _plain(each)
            for name, each in self.typedefs.items()
            if each.function is None or each.closure is not None
        }
        return SparkCodec, (needed, self._closures)

    def sql_type(self, column: Column) -> str:
        """The column's type as Spark writes it."""
        found = self._texts.get(column.type)
        if found is None:
            found = self._texts[column.type] = spark_type(_type(column), self.typedefs)
        return found

    def arrow_type(self, column: Column) -> pa.DataType:
        """The Arrow type that stands for `sql_type`."""
        return self.form(column).arrow

    def encode(self, column: Column, values: Sequence[Any] | np.ndarray[Any, Any]) -> pa.Array:
        """Values (a list, or a NumPy array of numbers) as an Arrow array. Raises ValueError for a value
        that the Spark type cannot hold: a bigint of more than 38 digits."""
        return self.form(column).encode(values)

    def decode(self, column: Column, array: pa.Array | pa.ChunkedArray) -> list[Any]:
        """The values of an Arrow array, canonical."""
        form = self.form(column)
        if isinstance(array, pa.ChunkedArray):
            return [value for chunk in array.chunks for value in self.decode(column, chunk)]
        return form.decode(array if array.type == form.arrow else array.cast(form.arrow))

    def ordered(self, column: Column) -> bool:
        """Whether Spark's order of the column is the language's: of all but unions whose constructors'
        names are not in order and recursive types."""
        return is_ordered(_type(column), self.typedefs)

    def wrapped(self, column: Column, text: str) -> str | None:
        """SQL of an integer of any size wrapped to the column's type; None where it is stored as bytes."""
        of = _type(column)
        return wrapped(of, text) if isinstance(of, Bit | Signed | BigInt) else None

    def grouped(self, out: Column, keys: Sequence[str], members: Sequence[Column], text: str) -> str | None:
        """SQL of the Group of a key and an array of its members, which are structs; None where Spark would
        not sort them as the language does."""
        group = group_of(_type(out))
        if group is None or not all(self.ordered(each) for each in members):
            return None
        fields = (f"'_{k}', {each}" for k, each in enumerate(keys))
        key = keys[0] if len(keys) == 1 else f"named_struct({', '.join(fields)})" if keys else "true"
        values = f"sort_array({text})"
        if spark_type(group[1], self.typedefs) != self._struct(members):
            values = f"transform({values}, member -> member.`_0`)"
        found = f"named_struct('key', {key}, 'values', {values})"
        return f"CAST({found} AS {self.sql_type(out)})"

    def _struct(self, members: Sequence[Column]) -> str:
        return f"STRUCT<{', '.join(f'`_{k}`: {self.sql_type(each)}' for k, each in enumerate(members))}>"

    def form(self, column: Column) -> ArrowForm:
        """The form of the column's values in Arrow arrays."""
        found = self._forms.get(column.type)
        if found is None:
            found = self._forms[column.type] = Forms(self.typedefs, SPARK).of(_type(column))
        return found

    def persistent_id(self, value: Any) -> Any:
        """The name in a pickle of an object that must stay one object: NaN, or the class of a struct."""
        if value is NAN:
            return "NaN"
        if isinstance(value, type) and issubclass(value, Struct) and value is not Struct:
            return tuple(value.__ddlog__)
        return None

    def persistent_load(self, known: Any) -> Any:
        """The object that `persistent_id` names."""
        if known == "NaN":
            return NAN
        typedef, constructor, number, names = known
        fields = tuple((name, UNIT) for name in names)  # a class knows the names alone
        return struct_class(typedef, Constructor(constructor, number or 0, fields), number is not None)


def _plain(typedef: TypeDef) -> TypeDef:
    """The type without the functions in it: the class of its closures, and the forms in JSON."""
    if typedef.closure is not None:
        return replace(typedef, closure=None)
    if not any(each.json for each in typedef.constructors):
        return typedef
    return replace(typedef, constructors=tuple(replace(each, json=()) for each in typedef.constructors))


def _type(column: Column) -> Type:
    if column.type is None:
        raise ValueError(f"the type of column {column.name} is not known")
    found: Type = column.type
    return found
