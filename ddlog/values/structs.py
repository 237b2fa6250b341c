"""Values of typedefs: tuples of their fields, of union values after the constructor's index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from itertools import count
from operator import itemgetter
from typing import Any, NamedTuple, cast

from ..types import ANY, Constructor, Type, TypeDef, User
from ..types.unify import named_in, substitute

TypeDefs = Mapping[str, TypeDef]


class Fault(Exception):
    """A program failed on a value: a division by zero, an index out of range."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def reason(error: ValueError | RecursionError) -> str:
    """The fault of a value, by the error that its reader raised."""
    return "the value is nested too deeply" if isinstance(error, RecursionError) else str(error)


class StructKey(NamedTuple):
    """The identity of a struct class. `number` is the constructor's index in a union, None in a struct."""

    typedef: str
    constructor: str
    number: int | None
    names: tuple[str, ...]


class _StructType(type):
    """The class of struct classes: `make` stays reachable beside a field of that name."""

    __ddlog__: StructKey

    @property
    def make(cls) -> Callable[..., Any]:
        """A function that makes a value from its fields, in order."""
        index = cls.__ddlog__.number
        if index is None:
            return lambda *fields: tuple.__new__(cls, fields)  # type: ignore[arg-type]
        return lambda *fields: tuple.__new__(cls, (index, *fields))  # type: ignore[arg-type]


class Struct(tuple[Any, ...], metaclass=_StructType):
    """A value of a typedef. Fields are attributes; `match` takes it apart; `_asdict()` gives a dictionary."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    __ddlog__ = StructKey("", "", None, ())

    def __new__(cls, *args: Any, **named: Any) -> Struct:
        key = cls.__ddlog__
        fields = args + tuple(named.pop(name) for name in key.names[len(args) :] if name in named)
        if named or len(fields) != len(key.names):
            raise TypeError(f"{cls.__name__} has the fields ({', '.join(key.names)})")
        return tuple.__new__(cls, fields if key.number is None else (key.number, *fields))

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self.__ddlog__.names, fields_of(self), strict=True))

    def __repr__(self) -> str:
        named = zip(self.__ddlog__.names, fields_of(self), strict=True)
        try:
            return f"{type(self).__name__}({', '.join([f'{name}={value!r}' for name, value in named])})"
        except RecursionError:  # it is nested more deeply than Python shows
            return f"{type(self).__name__}(…)"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (*self.__ddlog__, tuple(self))


def fields_of(value: Struct) -> tuple[Any, ...]:
    """The fields of a value."""
    return tuple(value) if value.__ddlog__.number is None else tuple(value)[1:]


@cache
def _struct_class(key: StructKey) -> type[Struct]:
    offset = 0 if key.number is None else 1
    body: dict[str, Any] = {
        "__match_args__": key.names,
        "__doc__": f"`{key.constructor}` of `{key.typedef}`.",
        "__ddlog__": key,
    }
    body |= {name: property(itemgetter(at + offset)) for at, name in enumerate(key.names)}
    made = _StructType(local_name(key.constructor), (Struct,), body)
    return cast("type[Struct]", made)


def restored(typedef: str, constructor: str, index: int | None, names: tuple[str, ...], items: Any) -> Struct:
    """The value whose `__reduce__` gave these arguments."""
    return tuple.__new__(_struct_class(StructKey(typedef, constructor, index, names)), items)


_restore = restored  # the name in values that were pickled


def struct_class(typedef_name: str, constructor: Constructor, union: bool) -> type[Struct]:
    """The class of the values that a constructor makes."""
    names = tuple(name for name, _ in constructor.fields)
    return _struct_class(
        StructKey(typedef_name, constructor.name, constructor.index if union else None, names)
    )


@lru_cache(maxsize=4096)
def constructors_of(typedef: TypeDef, args: tuple[Type, ...]) -> tuple[Constructor, ...]:
    """The constructors of a typedef with their fields typed for type arguments."""
    if not typedef.parameters:
        return typedef.constructors
    bound = dict(zip(typedef.parameters, args, strict=True))
    return tuple(
        replace(each, fields=tuple((name, substitute(of, bound)) for name, of in each.fields))
        for each in typedef.constructors
    )


def bound_nesting(typedefs: TypeDefs) -> None:
    """Lets values that may be nested in each other without end be hashed with Python's limit of recursion,
    as they are compared and written: C's hash of a tuple has none, and ends the process. So that a list is
    not hashed anew whenever something comes before it, values that hold many others keep their hash."""
    for name in _nested_without_end(typedefs):
        for each in typedefs[name].constructors:
            struct_class(name, each, len(typedefs[name].constructors) > 1).__hash__ = _hash  # type: ignore[assignment,method-assign]


_MANY = 16
"""A value that holds so many others without a hash keeps its own: one in so many has an attribute."""

_KEPT = "its hash"  # the attribute, which no field is called
_hashed = count()  # of all threads: what others hash meanwhile only lets more values keep a hash


def _hash(value: tuple[Any, ...]) -> int:
    kept: int | None = getattr(value, _KEPT, None)
    if kept is not None:
        return kept
    before = next(_hashed)
    found = tuple.__hash__(value)
    if next(_hashed) - before > 2 * _MANY:
        setattr(value, _KEPT, found)
    return found


def _nested_without_end(typedefs: TypeDefs) -> set[str]:
    """The types that hold themselves, or a type that does."""
    fields = {
        name: [of for each in it.constructors for _, of in each.fields] for name, it in typedefs.items()
    }
    holders: dict[str, list[str]] = {}
    waiting = {}
    known = typedefs.keys() | {ANY}
    for name, types in fields.items():
        held = {inner for of in types for inner in named_in(of)} & known
        waiting[name] = len(held)
        for inner in held:
            holders.setdefault(inner, []).append(name)
    ended = [name for name, count in waiting.items() if not count]
    for name in ended:
        for holder in holders.get(name, ()):
            waiting[holder] -= 1
            if not waiting[holder]:
                ended.append(holder)
    return waiting.keys() - {*ended}


def make(typedef: TypeDef, constructor: Constructor, fields: Iterable[Any]) -> Struct:
    """The value that a constructor of the typedef makes of its fields."""
    union = len(typedef.constructors) > 1
    cls = struct_class(typedef.name, constructor, union)
    return tuple.__new__(cls, (constructor.index, *fields) if union else fields)


def taken_apart(value: Any, type: User, typedefs: TypeDefs) -> tuple[Constructor, tuple[Any, ...]]:
    """The constructor that made a value of the type, and the fields."""
    constructors = constructors_of(typedefs[type.name], type.args)
    if len(constructors) == 1:
        return constructors[0], tuple(value)
    return constructors[value[0]], tuple(value)[1:]


def local_name(name: str) -> str:
    """The last part of a qualified name."""
    return name.rpartition("::")[2]
