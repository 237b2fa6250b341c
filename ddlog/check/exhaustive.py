"""Values that no pattern of a list matches, and patterns that can never match.

After Maranget, "Warnings for pattern matching": patterns are rows of a matrix, taken apart column by
column, one alternative of the first column's type at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from .. import core
from ..types import Bool, Tuple, Type, User, unwrapped

Row: TypeAlias = tuple[core.Pattern, ...]
Constructors: TypeAlias = Callable[[User], Sequence[tuple[str, tuple[tuple[str, Type], ...]]]]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One shape of the values of a type: a constructor, a tuple, a constant."""

    key: Any
    parts: tuple[tuple[str, Type], ...]


def missing(patterns: Sequence[core.Pattern], type_: Type, constructors: Constructors) -> str | None:
    """The text of a pattern for values that no arm matches; None if the arms are exhaustive."""
    found = _witness([(pattern,) for pattern in patterns], (type_,), constructors)
    return None if found is None else found[0]


def useless(patterns: Sequence[core.Pattern], type_: Type, constructors: Constructors) -> Iterator[int]:
    """The places of the patterns that match no value that no earlier one does. A pattern is held against
    those that have its constant or constructor, or none, at the top: many constants take linear time."""
    earlier: dict[Any, list[Row]] = {None: []}
    for place, pattern in enumerate(patterns):
        head = _head(pattern)
        relevant = earlier.values() if head is None else [earlier[None], earlier.get(head, [])]
        known = [row for rows in relevant for row in rows]
        if not _useful(known, (pattern,), (type_,), constructors):
            yield place
        earlier.setdefault(head, []).append((pattern,))


def irrefutable(pattern: core.Pattern, constructors: Constructors) -> bool:
    """Whether the pattern matches every value of its type."""
    return missing([pattern], pattern.type, constructors) is None


def _witness(rows: list[Row], types: tuple[Type, ...], constructors: Constructors) -> list[str] | None:
    if not types:
        return None if rows else []
    used = {_head(row[0]) for row in rows} - {None}
    every = _alternatives(types[0], constructors)
    if every is None or not used.issuperset(alternative.key for alternative in every):
        rest = _witness(_default(rows), types[1:], constructors)
        if rest is None:
            return None
        absent = next((alternative for alternative in every or () if alternative.key not in used), None)
        return [_show(absent, ["_"] * len(absent.parts)) if absent and used else "_", *rest]
    for alternative in every:
        inner = tuple(type_ for _, type_ in alternative.parts)
        found = _witness(_specialise(rows, alternative), inner + types[1:], constructors)
        if found is not None:
            return [_show(alternative, found[: len(inner)]), *found[len(inner) :]]
    return None


def _useful(rows: list[Row], vector: Row, types: tuple[Type, ...], constructors: Constructors) -> bool:
    if not types:
        return not rows
    head = _head(vector[0])
    every = _alternatives(types[0], constructors)
    if head is not None:
        known = next((each for each in every or () if each.key == head), Alternative(head, ()))
        return _useful_under(known, rows, vector, types, constructors)
    used = {_head(row[0]) for row in rows} - {None}
    if every is not None and used.issuperset(each.key for each in every):
        return any(_useful_under(each, rows, vector, types, constructors) for each in every)
    return _useful(_default(rows), vector[1:], types[1:], constructors)


def _useful_under(
    alternative: Alternative,
    rows: list[Row],
    vector: Row,
    types: tuple[Type, ...],
    constructors: Constructors,
) -> bool:
    inner = tuple(type_ for _, type_ in alternative.parts)
    specialised = _specialise([vector], alternative)
    return _useful(_specialise(rows, alternative), specialised[0], inner + types[1:], constructors)


def _bare(pattern: core.Pattern) -> core.Pattern:
    while isinstance(pattern, core.VarPattern):
        pattern = pattern.inner or core.AnyPattern(pattern.type)
    return pattern


def _head(pattern: core.Pattern) -> Any:
    """The constant or constructor at the top of the pattern; None for a pattern that matches every value."""
    match _bare(pattern):
        case core.ConstPattern(value, _):
            return (type(value).__name__, value)
        case core.TuplePattern():
            return "tuple"
        case core.StructPattern(constructor, _, _):
            return constructor.name
        case _:
            return None


def _alternatives(type_: Type, constructors: Constructors) -> tuple[Alternative, ...] | None:
    """All alternatives of a type, or of the content of a Ref or Intern; None if they cannot be enumerated."""
    type_ = unwrapped(type_)
    match type_:
        case Bool():
            return (Alternative(("bool", False), ()), Alternative(("bool", True), ()))
        case Tuple(items):
            return (Alternative("tuple", tuple((str(i), item) for i, item in enumerate(items))),)
        case User():
            return tuple(Alternative(name, fields) for name, fields in constructors(type_))
        case _:
            return None


def _specialise(rows: list[Row], alternative: Alternative) -> list[Row]:
    kept: list[Row] = []
    for row in rows:
        match _bare(row[0]):
            case core.AnyPattern():
                kept.append((*(core.AnyPattern(type_) for _, type_ in alternative.parts), *row[1:]))
            case core.TuplePattern(items, _):
                kept.append((*items, *row[1:]))
            case core.StructPattern(constructor, args, _) if constructor.name == alternative.key:
                kept.append((*args, *row[1:]))
            case core.ConstPattern() as constant if _head(constant) == alternative.key:
                kept.append(row[1:])
    return kept


def _default(rows: list[Row]) -> list[Row]:
    return [row[1:] for row in rows if _head(row[0]) is None]


def _show(alternative: Alternative, parts: list[str]) -> str:
    match alternative.key:
        case "tuple":
            return f"({', '.join(parts)})"
        case ("bool", value):
            return "true" if value else "false"
        case name:
            named = ", ".join(
                f".{field} = {part}" for (field, _), part in zip(alternative.parts, parts, strict=True)
            )
            short = str(name).removeprefix("ddlog_std::")
            return f"{short}{{{named}}}" if parts else short
