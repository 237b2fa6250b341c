"""Literals of values, and structs and unions with their fields, as Spark SQL in the types of `sqltypes`."""

from __future__ import annotations

import math
import re
from typing import Any

from ..types import BigInt, Bit, Bool, Float, Signed, String, Tuple, Type, User
from ..values import TypeDefs
from ..values.shapes import collection_of, shape_of
from .sqlnumbers import NoSqlForm, integer
from .sqltypes import (
    UnionCase,
    cases_of,
    fields_type,
    integer_type,
    is_binary,
    is_union,
    spark_type,
    wide_to_bytes,
)

_PLAIN = re.compile(r"[\w .,:;!?()\[\]<>=+*/@#&|^~%-]*", re.ASCII)


# -------------------------------------------------------------------- literals


def constant(value: Any, type: Type, typedefs: TypeDefs) -> str:
    """A literal of the stored form of a value. Raises NoSqlForm if there is none."""
    match type:
        case Bool():
            return "true" if value else "false"
        case Bit() | Signed() if integer_type(type) == "BINARY":
            return f"X'{wide_to_bytes(value, type).hex()}'"
        case Bit() | Signed() | BigInt():
            return integer(value, type)
        case Float():
            return floating_literal(value, type)
        case String():
            return string(value)
        case Tuple(items):
            fields = [constant(v, of, typedefs) for v, of in zip(value, items, strict=True)]
            return record(type, 0, fields, typedefs)
        case User():
            constructors = shape_of(type, typedefs).constructors
            union = is_union(type, typedefs)
            number, plain = (value[0], tuple(value)[1:]) if union else (0, tuple(value))
            pairs = zip(plain, constructors[number].fields, strict=True)
            return record(type, number, [constant(v, of, typedefs) for v, (_, of) in pairs], typedefs)
    collection = collection_of(type)
    if collection is None:
        raise NoSqlForm
    elements = ", ".join(constant(each, collection.element, typedefs) for each in value)
    return f"CAST(array({elements}) AS {spark_type(type, typedefs)})"


def string(value: str) -> str:
    """A literal of a string; of one that Spark might read otherwise, by its bytes."""
    if _PLAIN.fullmatch(value):
        return f"'{value}'"
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


def floating_literal(value: float, type: Float) -> str:
    """A literal of a float."""
    kind = "FLOAT" if type.width == 32 else "DOUBLE"
    if value != value or math.isnan(value):
        return f"CAST('NaN' AS {kind})"
    if math.isinf(value):
        return f"CAST('{'-' if value < 0 else ''}Infinity' AS {kind})"
    literal = f"{float(value)!r}D" if value >= 0 else f"({float(value)!r}D)"
    return literal if type.width == 64 else f"CAST({literal} AS FLOAT)"


def to_string(text: str, type: Type) -> str:
    """A value as interpolation prints it. Raises NoSqlForm if Spark's cast gives another text."""
    match type:
        case String():
            return text
        case Bool():
            return f"CAST({text} AS STRING)"
        case Bit() | Signed() | BigInt() if integer_type(type) != "BINARY":
            return f"CAST({text} AS STRING)"
    raise NoSqlForm


# ---------------------------------------------------------- structs and unions


def record(type: Type, number: int, fields: list[str], typedefs: TypeDefs) -> str:
    """A tuple, a struct, or the union value of the constructor with this number."""
    cases = stored_cases(type, typedefs)
    if not is_union(type, typedefs):
        return _named_struct(cases[0], fields) if fields else "true"
    members = [f"'tag', {string(cases[number].tag)}"]
    for at, case in enumerate(cases):
        if case.fields:
            absent = f"CAST(NULL AS {fields_type(case, typedefs)})"
            members.append(
                f"{string(case.member)}, {_named_struct(case, fields) if at == number else absent}"
            )
    return f"named_struct({', '.join(members)})"


def _named_struct(case: UnionCase, fields: list[str]) -> str:
    items = (f"{string(name)}, {text}" for (name, _), text in zip(case.fields, fields, strict=True))
    return f"named_struct({', '.join(items)})"


def stored_cases(type: Type, typedefs: TypeDefs) -> tuple[UnionCase, ...]:
    """The constructors of a type that is stored as a struct. Raises NoSqlForm for other types."""
    if not isinstance(type, Tuple | User) or is_binary(type, typedefs):
        raise NoSqlForm
    return cases_of(type, typedefs)


def field_texts(text: str, type: Type, number: int, typedefs: TypeDefs) -> list[str]:
    """The fields of a value that the constructor with this number made."""
    case = stored_cases(type, typedefs)[number]
    inside = f"({text}).`{case.member}`" if is_union(type, typedefs) else f"({text})"
    return [f"{inside}.`{name}`" for name, _ in case.fields]


def field(text: str, type: Type, name: str, typedefs: TypeDefs) -> str:
    """A field by its name, of whichever constructor has it."""
    if not isinstance(type, User):
        raise NoSqlForm
    found = []
    for number, constructor in enumerate(shape_of(type, typedefs).constructors):
        names = [each for each, _ in constructor.fields]
        if name in names:
            found.append(field_texts(text, type, number, typedefs)[names.index(name)])
    return found[0] if len(found) == 1 else f"coalesce({', '.join(found)})"
