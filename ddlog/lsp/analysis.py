"""One version of a document: its names, the declarations that it sees, its errors and types."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from .. import syntax
from ..errors.source import Source, Span
from ..names.environment import Environment
from ..names.imports import Modules, load_program
from ..names.modules import (
    CONSTRUCTORS,
    FUNCTIONS,
    OTHER,
    RELATIONS,
    TRANSFORMERS,
    TYPES,
    ModuleSyntax,
    library,
)
from ..syntax.stackroom import deep_recursion
from .findings import Findings, find
from .occurrences import (
    CONSTRUCTOR,
    FUNCTION,
    INDEX,
    MODULE,
    RELATION,
    TYPE,
    VARIABLE,
    Occurrence,
)
from .pieces import Known, PlacedPiece, pieces

_TABLES = {
    RELATION: (RELATIONS,), TYPE: (TYPES,), CONSTRUCTOR: (CONSTRUCTORS,), FUNCTION: (FUNCTIONS, TRANSFORMERS),
}  # fmt: skip
Unsaved = Mapping[Path, bytes | None]


@dataclass(frozen=True)
class NameDeclaration:
    """The declaration that a name stands for: the module that has it, the node, and the place of its name."""

    owner: ModuleSyntax
    node: Any
    span: Span


class Analysis:
    """One version of a document. `unsaved` are the texts of other documents that an editor holds; `before` is
    the last version, whose pieces are taken over.

    Nodes and occurrences have places in their pieces; `placed` makes places in the document of them.
    """

    def __init__(
        self,
        source: Source,
        folders: Sequence[Path] = (),
        unsaved: Unsaved | None = None,
        before: Analysis | None = None,
    ) -> None:
        self.source, self.folders, self.unsaved = source, folders, dict(unsaved or {})
        self._before: Known = {} if before is None else before._pieces[1]

    @cached_property
    def _pieces(self) -> tuple[list[PlacedPiece], Known]:
        is_program = not self.source.name.endswith((".dat", ".sql"))
        with deep_recursion():
            found = pieces(self.source if is_program else Source(self.source.name, ""), self._before)
        self._before = {}
        return found

    @cached_property
    def pieces(self) -> list[PlacedPiece]:
        """The pieces of the document."""
        return self._pieces[0]

    @cached_property
    def _places(self) -> dict[int, int]:
        """The lines before each piece, by the identity of its text."""
        return {id(each.parsed.source): each.first for each in self.pieces}

    def placed(self, span: Span) -> Span:
        """A place in the document, of one in a piece; places in other documents stay."""
        first = self._places.get(id(span.source))
        if first is None:
            return span
        return Span(self.source, span.line + first, span.column, span.end_line + first, span.end_column)

    def piece(self, line: int) -> PlacedPiece:
        """The piece with a line."""
        return self.pieces_of(line, line)[0]

    def pieces_of(self, first: int, last: int) -> list[PlacedPiece]:
        """The pieces with some lines."""
        at = max(0, bisect_right(self.pieces, first - 1, key=lambda each: each.first) - 1)
        return self.pieces[at : bisect_right(self.pieces, last - 1, key=lambda each: each.first)]

    @cached_property
    def tree(self) -> syntax.Module:
        """The declarations of the document that can be read."""
        trees = [each.parsed.tree for each in self.pieces]
        hidden = {name: error for tree in trees for name, error in tree.hidden.items()}
        span = Span(self.source, 1, 1, self.source.text.count("\n") + 1, 1)
        return syntax.Module(tuple(each for tree in trees for each in tree.declarations), span, hidden)

    @property
    def occurrences(self) -> Iterator[Occurrence]:
        """The names in the document, in order of their places."""
        return chain.from_iterable(each.parsed.occurrences for each in self.pieces)

    @cached_property
    def modules(self) -> Modules:
        """The modules of the program whose main file the document is."""
        file = Path(self.source.name)
        folders = [*([file.parent] if file.is_file() else []), *self.folders]
        with deep_recursion():
            return load_program(self.source, folders, self.unsaved, self.tree)[0]

    @cached_property
    def names(self) -> Environment:
        """The names of the modules, as each sees them."""
        return Environment(self.modules.all, tuple(library()))

    @cached_property
    def findings(self) -> Findings:
        """The errors and warnings of the program, found here and now."""
        return find(self.source, self.folders, self.unsaved)

    def learn(self, findings: Findings) -> None:
        """Keeps the types that were found for this version of the document. They are known in later versions
        for the pieces that stay."""
        for each in self.pieces:
            each.parsed.types = []
        for span, variables in findings.types:
            piece = self.piece(span.line)
            piece.parsed.types.append((_moved(span, piece), variables))

    def at(self, line: int, column: int) -> Occurrence | None:
        """The name at a place, or just before it."""
        piece = self.piece(line)
        own = line - piece.first
        return next((each for each in piece.parsed.occurrences if _covers(each.span, own, column)), None)

    def scope(self, line: int) -> syntax.Declaration | None:
        """The declaration around a line."""
        piece = self.piece(line)
        own = line - piece.first
        spans = [(each.span, each) for each in piece.parsed.tree.declarations]
        return next((each for span, each in spans if span.line <= own <= span.end_line), None)

    def declared(self, occurrence: Occurrence, module: str = "") -> NameDeclaration | None:
        """The declaration of a name that a module of the program has."""
        if occurrence.kind == VARIABLE:
            same = self.of_variable(occurrence)
            first = next((each for each in same if each.declares), same[0])
            return NameDeclaration(self.modules.all[module], None, self.placed(first.span))
        if occurrence.kind == MODULE:
            found = self.modules.all.get(occurrence.name)
            return None if found is None else NameDeclaration(found, None, Span(found.source, 1, 1, 1, 1))
        if occurrence.kind == INDEX:
            return NameDeclaration(self.modules.all[module], occurrence.scope, self.placed(occurrence.span))
        for table in _TABLES.get(occurrence.kind, ()):
            place = self.names.find(table, occurrence.name, module)
            if place is not None:
                owner, node = place
                return NameDeclaration(owner, node, self.placed(_name_span(node, occurrence)))
        return None

    def of_variable(self, occurrence: Occurrence) -> list[Occurrence]:
        """The occurrences of a variable: those of its name in the same declaration."""
        return [
            each for each in self.around(occurrence)
            if each.kind == VARIABLE and each.name == occurrence.name and each.scope is occurrence.scope
        ]  # fmt: skip

    def around(self, occurrence: Occurrence) -> list[Occurrence]:
        """The names in the piece of a name of this document."""
        return self.piece(self.placed(occurrence.span).line).parsed.occurrences

    def rules(self, relation: ModuleSyntax, name: str) -> Iterator[syntax.RuleDecl]:
        """The rules of the document's program whose heads have a relation, as its own module names it."""
        declared = relation.get(RELATIONS, name)[:1]
        for module in self.modules.own:
            for each in module.all(OTHER):
                if isinstance(each, syntax.RuleDecl) and any(
                    head.relation.rpartition("::")[2] == name
                    and self.names.find(RELATIONS, head.relation, module.name) == (relation, *declared)
                    for head in each.heads
                ):
                    yield each

    def type_of(self, occurrence: Occurrence) -> tuple[str, str | None] | None:
        """The type of a variable of a rule, and the name of the typedef that it is of; None where it is not
        known."""
        if not isinstance(occurrence.scope, syntax.RuleDecl | syntax.ForDecl):
            return None
        piece = self.piece(self.placed(occurrence.span).line)
        for span, variables in piece.parsed.types:
            if _within(occurrence.span, span) and occurrence.name in variables:
                return variables[occurrence.name]
        return None


def _moved(span: Span, piece: PlacedPiece) -> Span:
    first = piece.first
    return Span(piece.parsed.source, span.line - first, span.column, span.end_line - first, span.end_column)


def _within(span: Span, other: Span) -> bool:
    """Whether a place is in another one of the same text."""
    begin, end = (span.line, span.column), (span.end_line, span.end_column)
    return (other.line, other.column) <= begin and end <= (other.end_line, other.end_column)


def _covers(span: Span, line: int, column: int) -> bool:
    return span.line == line and span.column <= column <= span.end_column


def _name_span(node: Any, occurrence: Occurrence) -> Span:
    """The place of the name in its declaration; of a constructor in that of its type."""
    last = occurrence.name.rpartition("::")[2]
    if occurrence.kind == CONSTRUCTOR and isinstance(node, syntax.TypeDecl):
        for each in node.constructors:
            if each.name == last:
                span: Span = each.span
                return Span(span.source, span.line, span.column, span.line, span.column + len(last))
    found: Span = node.name_span
    return found
