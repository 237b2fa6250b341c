"""Names that a module declares more than once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import errors, syntax
from ..errors.diagnostics import Diagnostic, Note
from ..errors.source import Span
from .modules import CONSTRUCTORS, RELATIONS, TYPES, ModuleSyntax


def definitions(module: ModuleSyntax) -> Iterator[Diagnostic]:
    """An error for every name that the module declares more than once."""
    known: dict[int, dict[str, list[Any]]] = {}
    for table in (TYPES, CONSTRUCTORS, RELATIONS):
        for name in module.names(table):
            if table != TYPES and name in module.tables[TYPES] and len(module.get(TYPES, name)) > 1:
                continue
            found = module.get(table, name)
            if table == CONSTRUCTORS:
                found = _constructors(found, name, known)
            if len(found) > 1:
                spans = [_name_span(each) for each in found]
                notes = tuple(Note("also defined here", span) for span in spans[:1])
                for span in spans[1:]:
                    yield errors.names.MultipleDefinitions(span=span, name=name, notes=notes)


def _constructors(
    declarations: Sequence[Any], name: str, known: dict[int, dict[str, list[Any]]]
) -> tuple[Any, ...]:
    """The constructors of a name in declarations; `known` has those of each type, by name."""
    found: dict[int, Any] = {}
    for each in declarations:
        if isinstance(each, syntax.TypeDecl):
            if id(each) not in known:
                named = known[id(each)] = {}
                for constructor in each.constructors:
                    named.setdefault(constructor.name, []).append(constructor)
            found.update((id(constructor), constructor) for constructor in known[id(each)].get(name, ()))
        else:
            found[id(each)] = each
    return tuple(found.values())


def _name_span(declaration: Any) -> Span:
    span: Span = getattr(declaration, "name_span", None) or declaration.span
    return span
