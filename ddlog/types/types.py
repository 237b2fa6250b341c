"""The types of the language, as the checker and all later stages see them (aliases expanded)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Bool:
    """`bool`."""

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class BigInt:
    """`bigint`, also spelt `integer`."""

    def __str__(self) -> str:
        return "bigint"


@dataclass(frozen=True, slots=True)
class Bit:
    """`bit<N>`, unsigned."""

    width: int

    def __str__(self) -> str:
        return f"bit<{self.width}>"


@dataclass(frozen=True, slots=True)
class Signed:
    """`signed<N>`, two's complement."""

    width: int

    def __str__(self) -> str:
        return f"signed<{self.width}>"


@dataclass(frozen=True, slots=True)
class Float:
    """`float` (width 32) and `double` (width 64)."""

    width: int

    def __str__(self) -> str:
        return "float" if self.width == 32 else "double"


@dataclass(frozen=True, slots=True)
class String:
    """`string`."""

    def __str__(self) -> str:
        return "string"


def _close(made: Tuple | User | Opaque | FunctionType, parts: tuple[Type, ...]) -> None:
    """Notes of a type whether no type variable is in it, so that nobody looks for one again."""
    object.__setattr__(made, "closed", all(map(is_closed, parts)))


def is_closed(type: Type) -> bool:
    """Whether no type variable is in a type."""
    if isinstance(type, Tuple | User | Opaque | FunctionType):
        return type.closed
    return not isinstance(type, TypeVar)


@dataclass(frozen=True, slots=True)
class Tuple:
    """`(A, B, ...)`; the unit type is the tuple of no items."""

    items: tuple[Type, ...]
    closed: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _close(self, self.items)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


@dataclass(frozen=True, slots=True)
class User:
    """A struct or tagged union declared by a typedef, by its qualified name."""

    name: str
    args: tuple[Type, ...] = ()
    closed: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _close(self, self.args)

    def __str__(self) -> str:
        return self.name + (f"<{', '.join(map(str, self.args))}>" if self.args else "")


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type whose values only Python code builds: Vec, Set, Map, Group and other extern types."""

    name: str
    args: tuple[Type, ...] = ()
    closed: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _close(self, self.args)

    def __str__(self) -> str:
        return self.name + (f"<{', '.join(map(str, self.args))}>" if self.args else "")


@dataclass(frozen=True, slots=True)
class TypeVar:
    """`'A`, a parameter of a generic declaration."""

    name: str

    def __str__(self) -> str:
        return f"'{self.name}"


@dataclass(frozen=True, slots=True)
class FunctionType:
    """`function(A, mut B): C`."""

    parameters: tuple[Type, ...]
    mutable: tuple[bool, ...]
    result: Type
    closed: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _close(self, (*self.parameters, self.result))

    def __str__(self) -> str:
        shown = ", ".join(
            ("mut " if m else "") + str(p) for p, m in zip(self.parameters, self.mutable, strict=True)
        )
        return f"function({shown}): {self.result}"


Type: TypeAlias = (
    Bool | BigInt | Bit | Signed | Float | String | Tuple | User | Opaque | TypeVar | FunctionType
)

UNIT = Tuple(())

REF, INTERN, ANY = "ddlog_std::Ref", "internment::Intern", "ddlog_std::Any"


CLOSURE = "|"
"""Begins the name of the TypeDef of a closure: the struct of the values that it captured."""
TRANSPARENT = frozenset({REF, INTERN, "intern::IObj"})
"""The types whose values are stored as the value inside."""
HASH_SETS = frozenset({"hashset::HashSet", "tinyset::Set64"})
"""The types whose values are kept as Set."""


def wrapped(type: Type) -> Type | None:
    """The type inside a Ref or an Intern; None for other types."""
    match type:
        case Opaque(name, (inner,)) if name in (REF, INTERN):
            return inner
    return None


def unwrapped(type: Type) -> Type:
    """The type without any Ref or Intern around it."""
    while (inner := wrapped(type)) is not None:
        type = inner
    return type


@dataclass(frozen=True, slots=True)
class KeyOf:
    """The function that computes the keys of a map which JSON writes as the array of its values: its name,
    and in a compiled program what it computes."""

    name: str
    function: Callable[[Any], Any] | None = field(default=None, compare=False, repr=False)

    def __call__(self, value: Any) -> Any:
        assert self.function is not None, "the program is not compiled"
        return self.function(value)


@dataclass(frozen=True, slots=True)
class JsonField:
    """The form of a field in JSON: its name there, whether it may be absent (and then has the default value
    of its type), and of a map that is an array of its values, the function of the keys. The fields of a
    flattened one stand among the others; a nested one is a string that holds its JSON. A raw one is a text:
    JSON other than a string is its own text there."""

    name: str
    optional: bool = False
    key: KeyOf | None = None
    flatten: bool = False
    nested: bool = False
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Constructor:
    """One alternative of a typedef: its qualified name, its position, its fields.

    `json` is the form in JSON that attributes give to each field; empty if there are none. `variant` is the
    name in JSON that an attribute gives it. `aliases` are the names that imports give it.
    """

    name: str
    index: int
    fields: tuple[tuple[str, Type], ...]
    json: tuple[JsonField, ...] = ()
    variant: str = ""
    aliases: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TextForm:
    """The form of a type whose values are written as text: the function that reads it, which raises
    ValueError, an example, and the function that writes it, which returns None for fields that are no value.

    `dumped` says that dumps have the text, too; they have the fields of other values. `python` makes the
    object of Python's library that stands for a value, or the value itself if none does. `number` makes the
    value of a whole number of `unit`, which is a day, a microsecond since 1970 (of an instant in UTC) or of a
    day, a nanosecond of a day, or 10 to the power of minus a number; `count` is the number of a value, and
    raises ValueError."""

    read: Callable[[str], Any]
    example: str
    write: Callable[[Any], str | None]
    dumped: bool = False
    python: Callable[[Any], Any] | None = None
    unit: str | int = ""
    number: Callable[[int], Any] | None = None
    count: Callable[[Any], int] | None = None


@dataclass(frozen=True, slots=True)
class TypeDef:
    """A struct (one constructor) or a tagged union (several), with its type parameters.

    `tag` is the key beside the fields that names the constructor in JSON, empty if nothing does; without
    one the object of the fields stands in another, under the constructor's name. `text` is the form of a
    type of the library whose values are also written as text. `nullable` says of Option, in a program that is
    a module of SQL, that a value is written as the bare one, and none as NULL.

    The struct of the values that a closure captured has the closure's type as its `function`, and where
    closures are made of stored values, their class as its `closure`.

    An extern type of the program has no constructors; `extern` gives the class of its values.
    """

    name: str
    parameters: tuple[str, ...]
    constructors: tuple[Constructor, ...]
    tag: str | None = None
    text: TextForm | None = None
    nullable: bool = False
    function: FunctionType | None = None
    closure: type[Any] | None = field(default=None, compare=False, repr=False)
    extern: Callable[[], type[Any]] | None = field(default=None, compare=False, repr=False)
