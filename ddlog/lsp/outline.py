"""The outline of a document: its declarations, the lines that fold, the types of its variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .. import syntax
from ..errors.source import Span
from .analysis import Analysis
from .occurrences import CONSTRUCTOR, FUNCTION, INDEX, RELATION, TYPE, VARIABLE

LOOP = "loop"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declaration with the place of its name and those in it."""

    name: str
    kind: str
    span: Span
    name_span: Span
    detail: str = ""
    parts: tuple[Symbol, ...] = ()


def symbols(analysis: Analysis) -> list[Symbol]:
    """The declarations of names in a document."""
    return [_placed(analysis, found) for each in analysis.tree.declarations for found in _symbols(each)]


def _placed(analysis: Analysis, symbol: Symbol) -> Symbol:
    place, name, parts = analysis.placed(symbol.span), analysis.placed(symbol.name_span), symbol.parts
    moved = tuple(_placed(analysis, each) for each in parts)
    return Symbol(symbol.name, symbol.kind, place, name, symbol.detail, moved)


def _symbols(declaration: syntax.Declaration) -> Iterator[Symbol]:
    match declaration:
        case syntax.RelationDecl(name=name, span=span, name_span=place):
            yield Symbol(name, RELATION, span, place, f"{declaration.role} {declaration.kind}")
        case syntax.TypeDecl(name=name, span=span, name_span=place):
            parts = tuple(
                Symbol(each.name, CONSTRUCTOR, each.span, each.span) for each in declaration.constructors
            )
            yield Symbol(name, TYPE, span, place, parts=parts)
        case (
            syntax.AliasDecl(name=name, span=span, name_span=place)
            | syntax.ExternTypeDecl(name=name, span=span, name_span=place)
        ):
            yield Symbol(name, TYPE, span, place)
        case (
            syntax.FunctionDecl(name=name, span=span, name_span=place)
            | syntax.TransformerDecl(name=name, span=span, name_span=place)
        ):
            yield Symbol(name, FUNCTION, span, place)
        case syntax.IndexDecl(name=name, span=span, name_span=place):
            yield Symbol(name, INDEX, span, place)
        case syntax.LoopDecl(name=name, span=span, name_span=place):
            parts = tuple(found for each in declaration.declarations for found in _symbols(each))
            yield Symbol(name, LOOP, span, place, parts=parts)


def flat(found: Iterable[Symbol]) -> Iterator[Symbol]:
    """Symbols with all those in them."""
    for each in found:
        yield each
        yield from flat(each.parts)


def folds(analysis: Analysis) -> list[tuple[int, int]]:
    """The first and last lines of declarations, and of comments, that have several."""
    places = [analysis.placed(each.span) for each in analysis.tree.declarations]
    found = [(each.line, each.end_line) for each in places]
    lines = analysis.source.text.split("\n")
    start = None
    for number, line in enumerate([*lines, ""], 1):
        if line.lstrip().startswith("//"):
            start = start or number
        elif start is not None:
            found.append((start, number - 1))
            start = None
    return [(first, last) for first, last in found if last > first]


def types_of_variables(analysis: Analysis, first: int, last: int) -> Iterator[tuple[Span, str]]:
    """The places of `var x` in rules on some lines, with the types of the variables."""
    for piece in analysis.pieces_of(first, last):
        for each in piece.parsed.occurrences:
            if each.kind == VARIABLE and each.declares:
                place, type_ = analysis.placed(each.span), analysis.type_of(each)
                if type_ is not None and first <= place.line <= last:
                    yield place, type_[0]
