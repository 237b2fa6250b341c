"""The names in a syntax tree: what each stands for, and where it stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from .. import syntax
from ..errors.source import Span

RELATION, TYPE, CONSTRUCTOR, FUNCTION, VARIABLE, FIELD, MODULE, INDEX = (
    "relation", "type", "constructor", "function", "variable", "field", "module", "index",
)  # fmt: skip


_PLAIN = {"Span", "Span | None", "str", "str | None", "int", "int | None", "bool", "tuple[str, ...]"}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at a place, as it is written there. `scope` is the declaration around it; `declares`: it is a
    declaration of the name."""

    kind: str
    name: str
    span: Span
    scope: syntax.Declaration
    declares: bool = False


def has_letters(name: str, letters: str) -> bool:
    """Whether a name has letters in this order, whether capital or not."""
    left = iter(name.lower())
    return all(letter in left for letter in letters.lower())


def occurrences(module: syntax.Module) -> list[Occurrence]:
    """All occurrences of names in a module, in order of their places."""
    found = [each for declaration in module.declarations for each in _declared(declaration)]
    return sorted(found, key=lambda each: (each.span.line, each.span.column))


def _declared(declaration: syntax.Declaration) -> Iterator[Occurrence]:
    if isinstance(declaration, syntax.LoopDecl):
        for inner in declaration.declarations:
            yield from _declared(inner)
        return
    found = list(_names(declaration, declaration))
    variables = {each.name for each in found if each.kind == VARIABLE and each.declares}
    for each in found:
        # A name that is called is a function, unless a variable of that name is declared here.
        called = each.kind == FUNCTION and each.name in variables
        yield replace(each, kind=VARIABLE) if called else each


def _names(node: Any, scope: syntax.Declaration) -> Iterator[Occurrence]:
    """The names of a node and of the nodes in it."""
    if isinstance(node, tuple):
        for each in node:
            yield from _names(each, scope)
        return
    if not dataclasses.is_dataclass(node):
        return
    yield from _own(node, scope)
    called = isinstance(node, syntax.Call) and isinstance(node.function, syntax.Name)
    kind: Any = type(node)
    for name in _parts(kind):
        if not (called and name == "function"):
            yield from _names(getattr(node, name), scope)


@cache
def _parts(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a node that can hold other nodes."""
    return tuple(each.name for each in dataclasses.fields(kind) if each.type not in _PLAIN)


def _own(node: Any, scope: syntax.Declaration) -> Iterator[Occurrence]:
    def at_start(kind: str, name: str, span: Span, declares: bool = False) -> Occurrence:
        return Occurrence(kind, name, _part(span, 0, len(name)), scope, declares)

    def at_end(kind: str, name: str, span: Span, declares: bool = False) -> Iterator[Occurrence]:
        at = span.text().rfind(name)
        if at >= 0 and span.line == span.end_line:
            yield Occurrence(kind, name, _part(span, at, len(name)), scope, declares)

    match node:
        case syntax.RelationDecl():
            yield Occurrence(RELATION, node.name, node.name_span, scope, True)
        case syntax.TypeDecl() | syntax.AliasDecl() | syntax.ExternTypeDecl():
            yield Occurrence(TYPE, node.name, node.name_span, scope, True)
        case syntax.FunctionDecl() | syntax.TransformerDecl():
            yield Occurrence(FUNCTION, node.name, node.name_span, scope, True)
        case syntax.IndexDecl():
            yield Occurrence(INDEX, node.name, node.name_span, scope, True)
        case syntax.ConstructorDecl(name=name, span=span):
            yield at_start(CONSTRUCTOR, name, span, True)
        case syntax.Parameter(name=name, span=span) | syntax.ClosureParameter(name=name, span=span):
            yield at_start(VARIABLE, name, span, True)
        case syntax.Atom():
            yield Occurrence(RELATION, node.relation, node.name_span, scope)
            if node.binder is not None:
                before = node.span.text().partition(" in ")[0]
                at = before.rfind(node.binder)
                if at >= 0 and "\n" not in before:
                    yield Occurrence(VARIABLE, node.binder, _part(node.span, at, len(node.binder)), scope)
        case syntax.NamedType(name=name, span=span):
            yield at_start(TYPE, name, span)
        case syntax.Struct(constructor=name, span=span):
            yield at_start(CONSTRUCTOR, name, span)
        case syntax.Call(function=syntax.Name(name=name, span=span)):
            yield Occurrence(FUNCTION, name, span, scope)
        case syntax.MethodCall():
            yield Occurrence(FUNCTION, node.name, node.name_span, scope)
        case syntax.Name(name=name, span=span):
            yield Occurrence(VARIABLE, name, span, scope)
        case syntax.Binding():
            yield Occurrence(VARIABLE, node.name, node.name_span, scope, True)
        case syntax.VarDecl(name=name, span=span):
            yield from at_end(VARIABLE, name, span, True)
        case syntax.GetField(name=name, span=span):
            yield from at_end(FIELD, name, span)
        case syntax.Argument(name=str(name), span=span):
            yield Occurrence(FIELD, name, _part(span, 1, len(name)), scope)
        case syntax.ImportDecl(module=name, span=span):
            at = span.text().find(name)
            if at >= 0:
                yield Occurrence(MODULE, name, _part(span, at, len(name)), scope)


def _part(span: Span, start: int, length: int) -> Span:
    """A stretch of the first line of a span."""
    column = span.column + start
    return Span(span.source, span.line, column, span.line, column + length)
