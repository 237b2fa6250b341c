"""Patterns as Python expressions: the tests that a value must pass, and the values of the variables."""

from __future__ import annotations

from typing import Any, Protocol

from .. import core
from ..core import Pattern
from ..types import Constructor, Type
from ..values import NAN


class ValueNames(Protocol):
    """The names in generated code of constants and of the classes of structs."""

    def constant(self, value: Any) -> str:
        """The name of a constant."""

    def struct(self, type: Type, constructor: Constructor) -> tuple[str, bool]:
        """The name of a struct class, and whether its values begin with the constructor's index."""


def constant_text(value: Any, names: ValueNames) -> str:
    """The Python expression of a constant: a literal, or the name of one that has none."""
    if isinstance(value, bool | str) or (type(value) is int and 0 <= value < 1 << 64) or value == ():
        return repr(value) if value != () else "()"
    if value is NAN:
        return "_NAN"
    return names.constant(value)


def conditions(subject: str, pattern: Pattern, names: ValueNames) -> list[str]:
    """The tests that a value must pass to match; `subject` is the expression of the value."""
    match pattern:
        case core.VarPattern(_, _, inner):
            return conditions(subject, inner, names) if inner is not None else []
        case core.ConstPattern(bool() as value):
            return [subject if value else f"not {subject}"]
        case core.ConstPattern(value):
            return [f"{subject} == {constant_text(value, names)}"]
        case core.TuplePattern(items):
            return [
                test for i, each in enumerate(items) for test in conditions(f"{subject}[{i}]", each, names)
            ]
        case core.StructPattern(constructor, args, type):
            _, union = names.struct(type, constructor)
            tests = [f"{subject}[0] == {constructor.index}"] if union else []
            for i, each in enumerate(args):
                tests += conditions(f"{subject}[{i + union}]", each, names)
            return tests
    return []


def bindings(subject: str, pattern: Pattern, names: ValueNames) -> list[tuple[str, str]]:
    """The variables that a pattern binds, each with the expression of its value."""
    match pattern:
        case core.VarPattern(name, _, inner):
            found = bindings(subject, inner, names) if inner is not None else []
            return [(name, subject), *found]
        case core.TuplePattern(items):
            return [b for i, each in enumerate(items) for b in bindings(f"{subject}[{i}]", each, names)]
        case core.StructPattern(constructor, args, type):
            _, union = names.struct(type, constructor)
            return [
                b for i, each in enumerate(args) for b in bindings(f"{subject}[{i + union}]", each, names)
            ]
    return []
