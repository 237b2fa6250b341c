"""Plain Python values, as users give them, to values of a type."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from ..types import (
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    FunctionType,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    TypeDef,
    User,
)
from .closures import check_closure
from .collections import Group, Map, Set, Vec
from .numbers import brief, canonical_float, int_to_double, int_to_single, integer_range, single
from .structs import Struct, TypeDefs, constructors_of, fields_of, local_name, make
from .textforms import from_written, written


def check(value: Any, type: Type, typedefs: TypeDefs) -> Any:
    """The canonical value of `type` for a plain Python value. Raises ValueError with the reason.

    Lists and tuples serve for tuples, structs and vectors, sets for Set, dictionaries for Map and
    for structs, None and a bare value for Option, `{"some": None}` for an Option that holds an absent one,
    numpy scalars for numbers and times, and the missing values of pandas for None.
    """
    match type:
        case Bool():
            if isinstance(value, bool):
                return value
            return bool(value) if _is_numpy(value, "bool") else _refuse(value, type)
        case BigInt() | Bit() | Signed():
            return _check_integer(value, type)
        case Float(width):
            if isinstance(value, bool) or not hasattr(value, "__float__"):
                _refuse(value, type)
            if isinstance(value, int):
                return int_to_single(value) if width == 32 else int_to_double(value)
            return single(float(value)) if width == 32 else canonical_float(float(value))
        case String():
            return _check_string(value)
        case Tuple(items):
            if not isinstance(value, tuple | list) or len(value) != len(items):
                _refuse(value, type)
            return tuple(check(v, of, typedefs) for v, of in zip(value, items, strict=True))
        case User():
            return _check_user(value, type, typedefs)
        case Opaque(name) if name in typedefs:
            return _check_object(value, type, typedefs[name])
        case Opaque():
            return _check_collection(value, type, typedefs)
        case FunctionType():
            return check_closure(value, type, typedefs)
    return _refuse(value, type)


def _refuse(value: Any, type: Type) -> NoReturn:
    shown = brief(value) if value.__class__ is int else repr(value)
    raise ValueError(f"expected {type}, found {shown if len(shown) <= 60 else shown[:57] + '...'}")


def _is_numpy(value: Any, of: str) -> bool:
    kind = value.__class__
    return kind.__module__ == "numpy" and bool(kind.__name__.startswith(of))


def _check_integer(value: Any, type: BigInt | Bit | Signed) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        _refuse(value, type)
    number = int(value.__index__())
    if not isinstance(type, BigInt):
        least, greatest = integer_range(type)
        if not least <= number <= greatest:
            raise ValueError(f"{brief(number)} is out of the range of {type}, {least} to {greatest}")
    return number


def _check_string(value: Any) -> str:
    if not isinstance(value, str):
        _refuse(value, String())
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"expected string, found the half of a surrogate pair in {value!r}") from None
    return str(value)


def _check_user(value: Any, type: User, typedefs: TypeDefs) -> Struct:
    typedef = typedefs[type.name]
    constructors = constructors_of(typedef, type.args)
    is_option = local_name(type.name) == "Option"
    if typedef.text is not None and (text := written(value, typedef.text)) is not None:
        return from_written(text, typedef.text, type)  # type: ignore[no-any-return]
    if isinstance(value, Struct) and not (is_option and value.__ddlog__.typedef != typedef.name):
        key = value.__ddlog__
        found = [each for each in constructors if each.name == key.constructor]
        if not found or key.typedef != typedef.name:
            _refuse(value, type)
        return _check_fields(fields_of(value), found[0], type, typedefs)
    if len(constructors) == 1:
        return _check_fields(_plain_fields(value, constructors[0], type), constructors[0], type, typedefs)
    if is_option:
        nested = isinstance(type.args[0], User) and local_name(type.args[0].name) == "Option"
        if nested and isinstance(value, Mapping) and list(value) == ["some"]:
            return _check_fields((value["some"],), constructors[1], type, typedefs)
        if value is None or _is_missing(value, type.args[0]):
            return make(typedef, constructors[0], ())
        return _check_fields((value,), constructors[1], type, typedefs)
    if isinstance(value, str):
        for each in constructors:
            if not each.fields and value in (each.name, local_name(each.name)):
                return make(typedef, each, ())
    for each in constructors:
        if value.__class__.__name__ == local_name(each.name):  # an object of a class of that name
            return _check_fields(_plain_fields(value, each, type), each, type, typedefs)
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, fields),) = value.items()  # as in JSON
        for each in constructors:
            if name in (each.name, local_name(each.name)):
                return _check_fields(_plain_fields(fields, each, type), each, type, typedefs)
    _refuse(value, type)


def _is_missing(value: Any, type: Type) -> bool:
    """Whether a value of NumPy or pandas says that there is none: NaT, NA, and NaN where no float can be."""
    module, _, _ = value.__class__.__module__.partition(".")
    if module == "pandas" or _is_numpy(value, "datetime64"):
        return value.__class__.__name__ in ("NaTType", "NAType") or str(value) == "NaT"
    return isinstance(value, float) and value != value and not isinstance(type, Float)


def _plain_fields(value: Any, constructor: Constructor, type: User) -> tuple[Any, ...]:
    names = [name for name, _ in constructor.fields]
    value = by_attributes(value, names)
    if isinstance(value, tuple | list):
        return tuple(value)
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in names]
        missing = [name for name in names if name not in value]
        if unknown or missing:
            what = f"has no field {unknown[0]!r}" if unknown else f"lacks its field {missing[0]!r}"
            raise ValueError(f"a value of {type} {what}: {value!r}")
        return tuple(value[name] for name in names)
    _refuse(value, type)


def by_attributes(value: Any, names: Sequence[str]) -> Any:
    """The attributes with these names, as a mapping, of a dataclass, a named tuple, or an object with all of
    them. Any other value is itself."""
    if isinstance(value, tuple):
        named = [name for name in names if name in getattr(value, "_fields", ())]
        return {name: getattr(value, name) for name in named} if named else value
    if isinstance(value, list | str | Mapping):
        return value
    if dataclasses.is_dataclass(value) or (names and all(hasattr(value, name) for name in names)):
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    return value


def _check_object(value: Any, type: Opaque, typedef: TypeDef) -> Any:
    """A value of an extern type of the program."""
    return value if typedef.extern and isinstance(value, typedef.extern()) else _refuse(value, type)


def _check_fields(
    fields: tuple[Any, ...], constructor: Constructor, type: User, typedefs: TypeDefs
) -> Struct:
    if len(fields) != len(constructor.fields):
        expected = len(constructor.fields)
        raise ValueError(f"{constructor.name} has {expected} fields, found {len(fields)}: {fields!r}")
    checked: list[Any] = []
    for field, (name, of) in zip(fields, constructor.fields, strict=True):
        try:
            checked.append(check(field, of, typedefs))
        except ValueError as error:
            raise ValueError(f"field {name} of {constructor.name}: {error}") from None
    return make(typedefs[type.name], constructor, checked)


def _check_collection(value: Any, type: Opaque, typedefs: TypeDefs) -> Any:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        _refuse(value, type)
    match local_name(type.name), type.args:
        case "Vec", (element,):
            return Vec(check(each, element, typedefs) for each in value)
        case "Set", (element,):
            return Set(check(each, element, typedefs) for each in value)
        case "Map", (key, of):
            pairs = value.items() if isinstance(value, Mapping) else value
            return Map(check(each, Tuple((key, of)), typedefs) for each in pairs)
        case "Group", (key, of) if isinstance(value, Group):
            return Group.of(check(value[0], key, typedefs), (check(v, of, typedefs) for v in value[1]))
    _refuse(value, type)
