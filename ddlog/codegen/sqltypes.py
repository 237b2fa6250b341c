"""The Spark SQL type that stands for each type of the language.

Integers take the narrowest Spark type that holds them, structs keep their fields' names, a union is a struct
of its constructor's name and a nullable struct for each constructor with fields. Types that Spark lacks
(recursive types, integers beyond 38 digits) are BINARY: equal values have equal bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..types import BigInt, Bit, Bool, Float, Opaque, Signed, String, Tuple, Type, User
from ..types.unify import named_in
from ..values import TypeDefs, local_name
from ..values.shapes import collection_of, shape_of

DIGITS = 38  # of Spark's widest decimal

_MACHINE = ((8, "TINYINT"), (16, "SMALLINT"), (32, "INT"), (64, "BIGINT"))


@dataclass(frozen=True, slots=True)
class UnionCase:
    """A constructor of a union as the column has it: the value of `tag`, the name of the struct of its
    fields (empty when it has none), and the fields' names and types."""

    tag: str
    member: str
    fields: tuple[tuple[str, Type], ...]


def spark_type(type: Type, typedefs: TypeDefs) -> str:
    """The type as Spark SQL writes it; names stand between backticks."""
    match type:
        case Bool():
            return "BOOLEAN"
        case Bit() | Signed() | BigInt():
            return integer_type(type)
        case Float(width):
            return "FLOAT" if width == 32 else "DOUBLE"
        case String():
            return "STRING"
        case Tuple() | User() if not is_binary(type, typedefs):
            return _record_type(type, typedefs)
        case Opaque() if (collection := collection_of(type)) is not None:
            element = collection.element
            if isinstance(element, Tuple) and collection.kind == "Map":
                key, value = (spark_type(each, typedefs) for each in element.items)
                return f"ARRAY<STRUCT<`key`: {key}, `value`: {value}>>"
            return f"ARRAY<{spark_type(element, typedefs)}>"
    if (group := group_of(type)) is not None:
        key, member = (spark_type(each, typedefs) for each in group)
        return f"STRUCT<`key`: {key}, `values`: ARRAY<{member}>>"
    return "BINARY"


def integer_type(type: Bit | Signed | BigInt) -> str:
    """The narrowest type for an integer: TINYINT to BIGINT, DECIMAL, BINARY for the widest."""
    if isinstance(type, BigInt):
        return f"DECIMAL({DIGITS},0)"
    bits = type.width + isinstance(type, Bit)
    for width, name in _MACHINE:
        if bits <= width:
            return name
    if bits == 65:
        return "DECIMAL(20,0)"
    return f"DECIMAL({DIGITS},0)" if bits <= 127 else "BINARY"


def wide_to_bytes(value: int, type: Bit | Signed) -> bytes:
    """A wide integer in a fixed number of bytes whose order is that of the values."""
    return (value + _offset(type)).to_bytes((type.width + 7) // 8, "big")


def wide_from_bytes(data: bytes, type: Bit | Signed) -> int:
    """The wide integer of these bytes."""
    return int.from_bytes(data, "big") - _offset(type)


def _offset(type: Bit | Signed) -> int:
    return 1 << type.width - 1 if isinstance(type, Signed) else 0


def wrapped(type: Bit | Signed | BigInt, text: str) -> str | None:
    """SQL of an integer, a BIGINT or DECIMAL, brought into the range of a type and its Spark type, as
    arithmetic wraps; None for a type that is stored as bytes. Casts wrap where Spark is not ANSI."""
    stored = integer_type(type)
    if stored == "BINARY":
        return None
    if isinstance(type, BigInt):
        return f"CAST({text} AS {stored})"
    if isinstance(type, Bit):
        if type.width > 63:
            return f"CAST(pmod(CAST({text} AS DECIMAL(38,0)), {1 << type.width}BD) AS {stored})"
        return f"CAST((CAST({text} AS BIGINT) & {(1 << type.width) - 1}L) AS {stored})"
    if type.width > 64:
        half = 1 << type.width - 1
        return f"CAST(pmod(CAST({text} AS DECIMAL(38,0)) + {half}BD, {2 * half}BD) - {half}BD AS {stored})"
    if type.width in (8, 16, 32, 64):
        return f"CAST({text} AS {stored})"
    unused = 64 - type.width
    return f"CAST(shiftright(shiftleft(CAST({text} AS BIGINT), {unused}), {unused}) AS {stored})"


def _record_type(type: Tuple | User, typedefs: TypeDefs) -> str:
    cases = cases_of(type, typedefs)
    if isinstance(type, User) and is_union(type, typedefs):
        members = (f"`{each.member}`: {fields_type(each, typedefs)}" for each in cases if each.fields)
        return f"STRUCT<{', '.join(('`tag`: STRING', *members))}>"
    return fields_type(cases[0], typedefs) if cases[0].fields else "BOOLEAN"


def fields_type(case: UnionCase, typedefs: TypeDefs) -> str:
    """The struct of a constructor's fields."""
    return f"STRUCT<{', '.join(f'`{name}`: {spark_type(of, typedefs)}' for name, of in case.fields)}>"


def is_union(type: Type, typedefs: TypeDefs) -> bool:
    """Whether the type has several constructors."""
    return isinstance(type, User) and len(typedefs[type.name].constructors) != 1


def is_binary(type: Type, typedefs: TypeDefs) -> bool:
    """Whether values of a type that is no number are stored as bytes."""
    match type:
        case User(name):
            return name in _reachable(name, typedefs)
        case Bool() | Bit() | Signed() | BigInt() | Float() | String() | Tuple():
            return False
    return collection_of(type) is None and group_of(type) is None


def _reachable(name: str, typedefs: TypeDefs) -> set[str]:
    """The typedefs that the fields of a typedef mention, and those that theirs mention."""
    found: set[str] = set()
    pending = [name]
    while pending:
        for constructor in typedefs[pending.pop()].constructors:
            for _, of in constructor.fields:
                new = {*named_in(of)} & typedefs.keys() - found
                found |= new
                pending += new
    return found


def group_of(type: Type) -> tuple[Type, Type] | None:
    """The types of a Group's key and values; None for other types."""
    match type:
        case Opaque(name, (key, value)) if local_name(name) == "Group":
            return key, value
    return None


def cases_of(type: Tuple | User, typedefs: TypeDefs) -> tuple[UnionCase, ...]:
    """The constructors of a struct or union; a tuple is a struct of the fields _0, _1 and so on.

    Spark does not tell names by case: where two of a struct differ in nothing else, a number is added.
    """
    if isinstance(type, Tuple):
        return (UnionCase("", "", tuple((f"_{i}", item) for i, item in enumerate(type.items))),)
    constructors = shape_of(type, typedefs).constructors
    members = distinct_names(["tag", *(local_name(each.name) for each in constructors)])[1:]
    return tuple(
        UnionCase(local_name(each.name), member, _fields(each.fields))
        for each, member in zip(constructors, members, strict=True)
    )


def _fields(fields: tuple[tuple[str, Type], ...]) -> tuple[tuple[str, Type], ...]:
    names = distinct_names([name for name, _ in fields])
    return tuple((name, of) for name, (_, of) in zip(names, fields, strict=True))


def distinct_names(names: list[str]) -> list[str]:
    """The names, with a number added to each that only differs by case from one before it."""
    taken: set[str] = set()
    found = []
    for name in names:
        new, count = name, 1
        while new.lower() in taken:
            count += 1
            new = f"{name}_{count}"
        taken.add(new.lower())
        found.append(new)
    return found


def is_ordered(type: Type, typedefs: TypeDefs) -> bool:
    """Whether Spark orders the type's values as the language does."""
    match type:
        case Bool() | Bit() | Signed() | BigInt() | Float() | String():
            return True
        case Tuple() | User() if not is_binary(type, typedefs):
            cases = cases_of(type, typedefs)
            tags = [each.tag for each in cases]
            in_order = tags == sorted(tags) or not is_union(type, typedefs)
            return in_order and all(is_ordered(of, typedefs) for each in cases for _, of in each.fields)
    collection, group = collection_of(type), group_of(type)
    inner = (collection.element,) if collection is not None else group
    return inner is not None and all(is_ordered(each, typedefs) for each in inner)
