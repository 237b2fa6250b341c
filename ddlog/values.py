"""Values at run time: immutable, hashable, and ordered by Python's own `<` as the language orders them.

A struct is a tuple of its fields, a union value a tuple of its constructor's index and its fields;
Vec, Set, Map and Group are tuples too, so one comparison in C serves every composite value. Sets and
maps are kept sorted. The only special scalar is NaN, which is the singleton `NAN`.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn, cast

from .types import (
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    Function,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    TypeDef,
    TypeVar,
    User,
)

TypeDefs = Mapping[str, TypeDef]


class Fault(Exception):
    """User code failed on a value: a division by zero, an index out of range."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


# --------------------------------------------------------------------- floats


class _NotANumber(float):
    """NaN as the language has it: equal to itself and greater than every number."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, float) and math.isnan(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return self == other

    def __gt__(self, other: object) -> bool:
        return not self == other

    def __ge__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0x7FF8

    def __repr__(self) -> str:
        return "NaN"

    def __reduce__(self) -> tuple[Any, ...]:
        return canonical_float, (math.nan,)


NAN = _NotANumber("nan")


def canonical_float(value: float) -> float:
    """The value with one NaN and no negative zero."""
    return value + 0.0 if value == value and value is not NAN else NAN


def single(value: float) -> float:
    """The nearest value of single precision, canonical."""
    if value != value or value is NAN:
        return NAN
    try:
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded + 0.0


def int_to_double(value: int) -> float:
    """The nearest double; infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def int_to_single(value: int) -> float:
    """The nearest single, rounded once."""
    excess = abs(value).bit_length() - 30
    if excess <= 0:
        return single(float(value))
    if excess > 1000:
        return math.inf if value > 0 else -math.inf
    magnitude = abs(value)
    leading = magnitude >> excess | (magnitude & (1 << excess) - 1 != 0)
    return single(math.copysign(math.ldexp(leading, excess), value))


# -------------------------------------------------------------------- integers


def wrap_bit(value: int, width: int) -> int:
    """The value modulo 2^width."""
    return value & (1 << width) - 1


def wrap_signed(value: int, width: int) -> int:
    """The value modulo 2^width, in two's complement."""
    half = 1 << width - 1
    return (value + half & (half << 1) - 1) - half


def wrap(value: int, type: Type) -> int:
    """The value brought into the range of an integer type."""
    match type:
        case Bit(width):
            return wrap_bit(value, width)
        case Signed(width):
            return wrap_signed(value, width)
    return value


def integer_range(type: Bit | Signed) -> tuple[int, int]:
    """The least and the greatest value of the type."""
    if isinstance(type, Bit):
        return 0, (1 << type.width) - 1
    return -(1 << type.width - 1), (1 << type.width - 1) - 1


def decimal(value: int) -> str:
    """The decimal digits, however many."""
    try:
        return str(value)
    except ValueError:
        if value < 0:
            return "-" + decimal(-value)
        half = value.bit_length() * 3 // 20
        high, low = divmod(value, 10**half)
        return decimal(high) + decimal(low).zfill(half)


# ----------------------------------------------------------------- collections


class Vec(tuple[Any, ...]):
    """A vector."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Vec([{', '.join(map(repr, self))}])"


class Set(tuple[Any, ...]):
    """A set: its elements in order, each once."""

    __slots__ = ()

    def __new__(cls, elements: Iterable[Any] = ()) -> Set:
        return tuple.__new__(cls, sorted(set(elements)))

    @staticmethod
    def ordered(elements: Iterable[Any]) -> Set:
        """The set of elements that are in order and distinct already."""
        return tuple.__new__(Set, elements)

    def has(self, element: Any) -> bool:
        """Whether the element is in the set."""
        at = bisect_left(self, element)
        return at < len(self) and bool(self[at] == element)

    def __repr__(self) -> str:
        return f"Set([{', '.join(map(repr, self))}])"


class Map(tuple[tuple[Any, Any], ...]):
    """A map: its (key, value) pairs in the order of keys, each key once. Of equal keys the last wins."""

    __slots__ = ()

    def __new__(cls, pairs: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> Map:
        return tuple.__new__(cls, sorted(dict(pairs).items(), key=itemgetter(0)))

    @staticmethod
    def ordered(pairs: Iterable[tuple[Any, Any]]) -> Map:
        """The map of pairs that are in order, with distinct keys, already."""
        return tuple.__new__(Map, pairs)

    def position(self, key: Any) -> int:
        """Where the key is, or would be."""
        return bisect_left(self, key, key=itemgetter(0))

    def has(self, key: Any) -> bool:
        """Whether the key is in the map."""
        at = self.position(key)
        return at < len(self) and bool(self[at][0] == key)

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of the key, or the default."""
        at = self.position(key)
        return self[at][1] if at < len(self) and self[at][0] == key else default

    def keys(self) -> tuple[Any, ...]:
        """The keys, in order."""
        return tuple(key for key, _ in self)

    def values(self) -> tuple[Any, ...]:
        """The values, in the order of their keys."""
        return tuple(value for _, value in self)

    def items(self) -> tuple[tuple[Any, Any], ...]:
        """The pairs, in order."""
        return tuple(self)

    def to_dict(self) -> dict[Any, Any]:
        """A dictionary of the pairs."""
        return dict(self)

    def __repr__(self) -> str:
        return f"Map({{{', '.join(f'{key!r}: {value!r}' for key, value in self)}}})"


class Group(tuple[Any, tuple[Any, ...]]):
    """What `group_by` makes: a key and the distinct values of its group, in order."""

    __slots__ = ()

    def __new__(cls, key: Any, values: Iterable[Any]) -> Group:
        return tuple.__new__(cls, (key, tuple(values)))

    @staticmethod
    def of(key: Any, values: Iterable[Any]) -> Group:
        """The group of values that are in no order and may repeat."""
        return Group(key, sorted(set(values)))

    @property
    def key(self) -> Any:
        """The key."""
        return self[0]

    @property
    def values(self) -> tuple[Any, ...]:
        """The values."""
        return self[1]

    def __getnewargs__(self) -> tuple[Any, tuple[Any, ...]]:
        return self[0], self[1]

    def __repr__(self) -> str:
        return f"Group({self[0]!r}, [{', '.join(map(repr, self[1]))}])"


# ------------------------------------------------------------ structs and unions


class Origin(NamedTuple):
    """Where a struct class comes from. `number`, the constructor's, is None where the typedef has one constructor."""

    typedef: str
    constructor: str
    number: int | None
    names: tuple[str, ...]


class _StructType(type):
    """The class of struct classes: `make` stays reachable beside a field of that name."""

    __ddlog__: Origin

    @property
    def make(cls) -> Callable[..., Any]:
        """What builds a value from its fields, in order."""
        index = cls.__ddlog__.number
        if index is None:
            return lambda *fields: tuple.__new__(cls, fields)  # type: ignore[arg-type]
        return lambda *fields: tuple.__new__(cls, (index, *fields))  # type: ignore[arg-type]


class Struct(tuple[Any, ...], metaclass=_StructType):
    """A value of a typedef. Fields are attributes; `match` takes it apart; `_asdict()` gives a dictionary."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    __ddlog__ = Origin("", "", None, ())

    def __new__(cls, *args: Any, **named: Any) -> Struct:
        origin = cls.__ddlog__
        fields = args + tuple(named.pop(name) for name in origin.names[len(args) :] if name in named)
        if named or len(fields) != len(origin.names):
            raise TypeError(f"{cls.__name__} has the fields ({', '.join(origin.names)})")
        return tuple.__new__(cls, fields if origin.number is None else (origin.number, *fields))

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self.__ddlog__.names, _fields(self), strict=True))

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name, value in zip(self.__ddlog__.names, _fields(self), strict=True))
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (*self.__ddlog__, tuple(self))


def _fields(value: Struct) -> tuple[Any, ...]:
    return tuple(value) if value.__ddlog__.number is None else tuple(value)[1:]


@cache
def _struct_class(origin: Origin) -> type[Struct]:
    offset = 0 if origin.number is None else 1
    body: dict[str, Any] = {
        "__slots__": (),
        "__match_args__": origin.names,
        "__doc__": f"`{origin.constructor}` of `{origin.typedef}`.",
        "__ddlog__": origin,
    }
    body |= {name: property(itemgetter(at + offset)) for at, name in enumerate(origin.names)}
    made = _StructType(local_name(origin.constructor), (Struct,), body)
    return cast("type[Struct]", made)


def _restore(typedef: str, constructor: str, index: int | None, names: tuple[str, ...], items: Any) -> Struct:
    return tuple.__new__(_struct_class(Origin(typedef, constructor, index, names)), items)


def struct_class(typedef_name: str, constructor: Constructor, union: bool) -> type[Struct]:
    """The class of the values that a constructor makes."""
    names = tuple(name for name, _ in constructor.fields)
    return _struct_class(Origin(typedef_name, constructor.name, constructor.index if union else None, names))


@lru_cache(maxsize=4096)
def constructors_of(typedef: TypeDef, args: tuple[Type, ...]) -> tuple[Constructor, ...]:
    """The constructors of a typedef with their fields typed for type arguments."""
    if not typedef.parameters:
        return typedef.constructors
    bound = dict(zip(typedef.parameters, args, strict=True))
    return tuple(
        Constructor(each.name, each.index, tuple((name, _bind(of, bound)) for name, of in each.fields))
        for each in typedef.constructors
    )


def _bind(type: Type, bound: dict[str, Type]) -> Type:
    match type:
        case TypeVar(name):
            return bound.get(name, type)
        case Tuple(items):
            return Tuple(tuple(_bind(item, bound) for item in items))
        case User(name, args):
            return User(name, tuple(_bind(arg, bound) for arg in args))
        case Opaque(name, args):
            return Opaque(name, tuple(_bind(arg, bound) for arg in args))
        case Function(parameters, mutable, result):
            return Function(tuple(_bind(each, bound) for each in parameters), mutable, _bind(result, bound))
    return type


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


# -------------------------------------------------------------------- defaults


def default_value(type: Type, typedefs: TypeDefs) -> Any:
    """Zero, false, empty, or the first constructor with default fields."""
    match type:
        case Bool():
            return False
        case BigInt() | Bit() | Signed():
            return 0
        case Float():
            return 0.0
        case String():
            return ""
        case Tuple(items):
            return tuple(default_value(item, typedefs) for item in items)
        case User(name, args):
            first = constructors_of(typedefs[name], args)[0]
            return make(typedefs[name], first, [default_value(of, typedefs) for _, of in first.fields])
        case Opaque(name, args):
            match local_name(name):
                case "Vec":
                    return Vec()
                case "Set":
                    return Set()
                case "Map":
                    return Map()
    raise Fault(f"the type {type} has no default value")


def local_name(name: str) -> str:
    """The last part of a qualified name."""
    return name.rpartition("::")[2]


# -------------------------------------------------------------------- printing

_ESCAPED = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def quote(text: str) -> str:
    """The string between quotes, with escapes where a character does not print."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    shown = (_ESCAPED.get(c) or (c if c.isprintable() else f"\\u{{{ord(c):x}}}") for c in text)
    return f'"{"".join(shown)}"'


def float_text(value: float, width: int = 64) -> str:
    """The shortest decimal that gives the value back at the precision, without an exponent."""
    if value is NAN or value != value:
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    digits = repr(value)
    if width == 32:
        digits = next(text for p in range(1, 18) if single(float(text := f"{value:.{p}g}")) == value)
    if "e" in digits:
        from decimal import Decimal

        digits = format(Decimal(digits), "f")
    return digits.removesuffix(".0")


def show(value: Any, type: Type, typedefs: TypeDefs) -> str:
    """The value as command files write it: `Cons{.field = 1}`, `["a", "b"]`, `(1, true)`."""
    match type:
        case Bool():
            return "true" if value else "false"
        case BigInt() | Bit() | Signed():
            return decimal(value)
        case Float(width):
            return float_text(value, width)
        case String():
            return quote(value)
        case Tuple(items):
            return f"({', '.join(show(v, of, typedefs) for v, of in zip(value, items, strict=True))})"
        case User():
            constructor, fields = taken_apart(value, type, typedefs)
            shown = (
                f".{name} = {show(v, of, typedefs)}"
                for v, (name, of) in zip(fields, constructor.fields, strict=True)
            )
            return f"{constructor.name}{{{', '.join(shown)}}}"
        case Opaque():
            element, elements = _elements(value, type)
            return f"[{', '.join(show(each, element, typedefs) for each in elements)}]"
    return repr(value)


def to_string(value: Any, type: Type, typedefs: TypeDefs) -> str:
    """The value as interpolation prints it: strings without quotes, collections between brackets."""
    match type:
        case String():
            return str(value)
        case Opaque():
            element, elements = _elements(value, type)
            return f"[{', '.join(to_string(each, element, typedefs) for each in elements)}]"
        case Tuple(items):
            return f"({', '.join(to_string(v, of, typedefs) for v, of in zip(value, items, strict=True))})"
    return show(value, type, typedefs)


def _elements(value: Any, type: Opaque) -> tuple[Type, Iterable[Any]]:
    match local_name(type.name), type.args:
        case "Vec" | "Set", (element,):
            return element, value
        case "Map", (key, of):
            return Tuple((key, of)), value
        case "Group", (_, element):
            return element, value[1]
    raise Fault(f"values of type {type} do not print")


# -------------------------------------------------------------------- checking


def check(value: Any, type: Type, typedefs: TypeDefs) -> Any:
    """The canonical value of `type` for a plain Python value. Raises ValueError saying what is wrong.

    Lists and tuples serve for tuples, structs and vectors, sets for Set, dictionaries for Map and
    for structs, None and a bare value for Option, numpy scalars for numbers.
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
            return single(float(value)) if width == 32 else canonical_float(float(value))
        case String():
            return _check_string(value)
        case Tuple(items):
            if not isinstance(value, tuple | list) or len(value) != len(items):
                _refuse(value, type)
            return tuple(check(v, of, typedefs) for v, of in zip(value, items, strict=True))
        case User():
            return _check_user(value, type, typedefs)
        case Opaque():
            return _check_collection(value, type, typedefs)
    return _refuse(value, type)


def _refuse(value: Any, type: Type) -> NoReturn:
    shown = repr(value)
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
            raise ValueError(f"{decimal(number)} is out of the range of {type}, {least} to {greatest}")
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
    if isinstance(value, Struct):
        origin = value.__ddlog__
        found = [each for each in constructors if each.name == origin.constructor]
        if not found or origin.typedef != typedef.name:
            _refuse(value, type)
        return _check_fields(_fields(value), found[0], type, typedefs)
    if len(constructors) == 1:
        return _check_fields(_plain_fields(value, constructors[0], type), constructors[0], type, typedefs)
    if local_name(type.name) == "Option":
        which, given = (constructors[0], ()) if value is None else (constructors[1], (value,))
        return _check_fields(given, which, type, typedefs)
    if isinstance(value, str):
        for each in constructors:
            if not each.fields and value in (each.name, local_name(each.name)):
                return make(typedef, each, ())
    _refuse(value, type)


def _plain_fields(value: Any, constructor: Constructor, type: User) -> tuple[Any, ...]:
    names = [name for name, _ in constructor.fields]
    if isinstance(value, tuple | list):
        return tuple(value)
    if isinstance(value, Mapping):
        unknown = [key for key in value if key not in names]
        missing = [name for name in names if name not in value]
        if unknown or missing:
            what = f"has no field {unknown[0]!r}" if unknown else f"lacks its field {missing[0]!r}"
            raise ValueError(f"a value of {type} {what}: {value!r}")
        return tuple(value[name] for name in names)
    if names and all(hasattr(value, name) for name in names):
        return tuple(getattr(value, name) for name in names)
    _refuse(value, type)


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
