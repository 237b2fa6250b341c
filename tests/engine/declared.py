"""Relations declared by hand, for tests that need no program."""

from __future__ import annotations

from ddlog.core import Column, Relation
from ddlog.errors.source import Source, Span
from ddlog.types import (
    BigInt,
    Bit,
    Bool,
    Constructor,
    Float,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    TypeDef,
    TypeVar,
    User,
)

PLACE = Span(Source("test.dl", ""), 1, 1, 1, 1)

OPTION = TypeDef(
    "ddlog_std::Option",
    ("A",),
    (
        Constructor("ddlog_std::None", 0, ()),
        Constructor("ddlog_std::Some", 1, (("x", TypeVar("A")),)),
    ),
)
SHAPE = TypeDef(
    "Shape",
    (),
    (
        Constructor("Dot", 0, ()),
        Constructor("Circle", 1, (("r", Float(64)),)),
        Constructor("Box", 2, (("w", Bit(8)), ("h", Bit(8)))),
    ),
)
POINT = TypeDef("Point", (), (Constructor("Point", 0, (("x", Signed(32)), ("y", Signed(32)))),))

S32, STRING, BOOL, BIGINT, DOUBLE = Signed(32), String(), Bool(), BigInt(), Float(64)
SHAPES: Type = User("Shape")
POINTS: Type = User("Point")


def vec(of: Type) -> Type:
    """Vec<of>."""
    return Opaque("ddlog_std::Vec", (of,))


def set_of(of: Type) -> Type:
    """Set<of>."""
    return Opaque("ddlog_std::Set", (of,))


def map_of(key: Type, value: Type) -> Type:
    """Map<key, value>."""
    return Opaque("ddlog_std::Map", (key, value))


def option(of: Type) -> Type:
    """Option<of>."""
    return User("ddlog_std::Option", (of,))


def pair(a: Type, b: Type) -> Type:
    """(a, b)."""
    return Tuple((a, b))


def relation(name: str, /, role: str = "input", kind: str = "relation", **columns: Type) -> Relation:
    """A relation with named columns."""
    constructor = Constructor(name, 0, tuple(columns.items()))
    declared = tuple(Column(n, of) for n, of in columns.items())
    return Relation(name, role, kind, User(name), constructor, declared, None, PLACE)


def typedefs(*relations: Relation) -> dict[str, TypeDef]:
    """The type definitions of the tests, with the records of relations."""
    known = {each.name: each for each in (OPTION, SHAPE, POINT)}
    for each in relations:
        if each.constructor is not None:
            known[each.name] = TypeDef(each.name, (), (each.constructor,))
    return known
