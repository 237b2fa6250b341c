"""The functions and fields that an expression before a `.` has, by its type."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..names.modules import FUNCTIONS, RELATIONS
from ..types import String, Type, TypeVar, User, unwrapped
from .analysis import Analysis

_NAME = re.compile(r"(?<![\w.)\]])([a-z_]\w*)\.$")
_ATOM = re.compile(r"(?<![\w.])((?:[a-z_]\w*::)*[A-Z]\w*)\(([^()]*)\)")


def type_before(analysis: Analysis, text: str) -> Type | None:
    """The type of what stands before the `.` at the end of the text of a declaration: of a string, or of a
    variable that is a column of an atom before it. None where that is not known: what is written there cannot
    be read yet."""
    if re.search(r'"\.$', text):
        return String()
    found = _NAME.search(text)
    return None if found is None else _type_of(analysis, found[1], text)


def _type_of(analysis: Analysis, name: str, text: str) -> Type | None:
    for atom in _ATOM.finditer(text):
        relation = analysis.names.find(RELATIONS, atom[1], "")
        if relation is None:
            continue
        owner, declaration = relation
        fields = {each.name: each for each in declaration.fields or ()}
        for at, written in enumerate(atom[2].split(",")):
            column, _, value = written.strip().rpartition("=")
            names = list(fields)
            key = column.strip().removeprefix(".") or (names[at] if at < len(names) else "")
            if value.strip() == name and key in fields:
                return analysis.names.convert(fields[key].type, owner.name)
    return None


def functions_of(analysis: Analysis, of: Type) -> Iterator[str]:
    """The names of the functions that take a value of a type first, those for this type before those for
    any."""
    own, every = [], []
    for name in analysis.names.names(FUNCTIONS, ""):
        firsts = [each.parameters[0].type for each in analysis.names.functions(name, "") if each.parameters]
        if any(_fits(each, of) for each in firsts):
            own.append(name)
        elif any(isinstance(each, TypeVar) for each in firsts):
            every.append(name)
    yield from own
    yield from every


def _fits(wanted: Type, of: Type) -> bool:
    """Whether two types are one, whatever they hold."""
    if wanted == of:
        return True
    return (
        type(wanted) is type(of)
        and bool(name := getattr(of, "name", ""))
        and name == getattr(wanted, "name", "")
    )


def fields_of(analysis: Analysis, of: Type) -> list[tuple[str, str]]:
    """The fields of a value that all constructors of its type have, with their types."""
    held = unwrapped(of)
    if not isinstance(held, User):
        return []
    constructors = [dict(fields) for _, fields in analysis.names.constructors_of(held)]
    return [
        (name, str(type_))
        for name, type_ in (constructors[0] if constructors else {}).items()
        if all(name in each for each in constructors)
    ]
