"""Values that a query is given: `Reach({x}, y)` with a value for x.

A value stands in the tree and never in the text. Its type is that of its place, so each place checks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import core, syntax, values
from ..errors.diagnostics import Diagnostic
from ..errors.lookups import NoValue, UnknownTypeOfValue, UnusedValue, WrongValue
from ..syntax.walk import nodes, rebuilt
from ..types import Type, TypeDef
from ..values.structs import reason
from .context import Context, Typed
from .erase import Eraser


def with_values(
    query: syntax.Query, given: Mapping[str, Any], typedefs: Mapping[str, TypeDef]
) -> tuple[syntax.Query, list[Diagnostic]]:
    """The query with a value in place of each `{x}` that is given one, and the errors about names."""

    def filled(part: Any) -> Any:
        name = _given_name(part)
        if name not in given:
            return part
        return syntax.GivenValue(name, lambda of: _value(given[name], of, typedefs), part.span)

    missing = (each for each in _in_terms(query) if _given_name(each) not in given)
    errors: list[Diagnostic] = [NoValue(str(_given_name(each)), span=each.span) for each in missing]
    named = names_of_values(query)
    errors += (UnusedValue(each, span=query.span) for each in given if each not in named)
    return (rebuilt(query, filled) if given else query), errors


def names_of_values(query: syntax.Query) -> set[str]:
    """The names that stand alone in braces."""
    return {name for clause in query.body for each in nodes(clause) if (name := _given_name(each))}


def _given_name(part: object) -> str:
    match part:
        case syntax.Block((syntax.Name(name, _),), _):
            return name
    return ""


def _in_terms(query: syntax.Query) -> Iterator[syntax.Block]:
    """The arguments of terms that are names in braces. In rules these are patterns."""
    for clause in query.body:
        if isinstance(clause, syntax.Atom):
            for each in clause.args or ():
                if isinstance(each.value, syntax.Block) and _given_name(each.value):
                    yield each.value


def _value(value: Any, of: Type, typedefs: Mapping[str, TypeDef]) -> Any:
    return values.check(value, Eraser().type(of), typedefs)


def given_value(context: Context, given: syntax.GivenValue) -> Typed:
    """The value as a constant of the type that its place has."""
    type_, made = context.fresh(), list[Any]()

    def check() -> None:
        if context.is_open(type_):
            context.report(UnknownTypeOfValue(given.name, span=given.span))
            return
        try:
            made.append(given.of(context.final(type_)))
        except (ValueError, RecursionError) as error:
            context.report(WrongValue(given.name, reason(error), span=given.span))

    context.later(check)
    return Typed(type_, given.span, lambda: core.Const(made[0], context.final(type_), given.span))
