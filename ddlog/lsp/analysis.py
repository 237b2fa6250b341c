"""One version of a document: its names, the declarations that it sees, its errors and types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import syntax
from ..check.program import check_program
from ..core import CheckedProgram, Rule
from ..errors.diagnostics import Diagnostic
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
from ..syntax.nesting import deep_recursion
from ..syntax.parser import parse_program
from .occurrences import (
    CONSTRUCTOR,
    FUNCTION,
    INDEX,
    MODULE,
    RELATION,
    TYPE,
    VARIABLE,
    Occurrence,
    occurrences,
)

_TABLES = {
    RELATION: (RELATIONS,), TYPE: (TYPES,), CONSTRUCTOR: (CONSTRUCTORS,), FUNCTION: (FUNCTIONS, TRANSFORMERS),
}  # fmt: skip
Unsaved = Mapping[Path, bytes | None]


@dataclass(frozen=True)
class Declared:
    """The declaration that a name stands for: the module that has it, the node, and the place of its name."""

    owner: ModuleSyntax
    node: Any
    span: Span


class Analysis:
    """One version of a document. `unsaved` are the texts of other documents that an editor holds."""

    def __init__(self, source: Source, folders: Sequence[Path] = (), unsaved: Unsaved | None = None) -> None:
        self.source, self.folders, self.unsaved = source, folders, dict(unsaved or {})

    @cached_property
    def tree(self) -> syntax.Module:
        """The declarations of the document that can be read."""
        with deep_recursion():
            return parse_program(self.source)[0]

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """The names in the document, in order of their places."""
        return occurrences(self.tree)

    @cached_property
    def modules(self) -> Modules:
        """The modules of the program whose main file the document is."""
        with deep_recursion():
            return load_program(self.source, self.folders, self.unsaved)[0]

    @cached_property
    def names(self) -> Environment:
        """The names of the modules, as each sees them."""
        return Environment(self.modules.all, tuple(library()))

    @cached_property
    def checked(self) -> tuple[CheckedProgram | None, list[Diagnostic]]:
        """The program, None if it has errors, and all errors and warnings."""
        return check_program(self.source, self.folders, known=self.unsaved)

    def at(self, line: int, column: int) -> Occurrence | None:
        """The name at a place, or just before it."""
        return next((each for each in self.occurrences if _covers(each.span, line, column)), None)

    def scope(self, line: int) -> syntax.Declaration | None:
        """The declaration around a line."""
        spans = [(each.span, each) for each in self.tree.declarations]
        return next((each for span, each in spans if span.line <= line <= span.end_line), None)

    def declared(self, occurrence: Occurrence, module: str = "") -> Declared | None:
        """The declaration of a name that a module of the program has."""
        if occurrence.kind == VARIABLE:
            same = self.of_variable(occurrence)
            first = next((each for each in same if each.declares), same[0])
            return Declared(self.modules.all[module], None, first.span)
        if occurrence.kind == MODULE:
            found = self.modules.all.get(occurrence.name)
            return None if found is None else Declared(found, None, Span(found.source, 1, 1, 1, 1))
        if occurrence.kind == INDEX:
            return Declared(self.modules.all[module], occurrence.scope, occurrence.span)
        for table in _TABLES.get(occurrence.kind, ()):
            place = self.names.find(table, occurrence.name, module)
            if place is not None:
                owner, node = place
                return Declared(owner, node, _name_span(node, occurrence))
        return None

    def of_variable(self, occurrence: Occurrence) -> list[Occurrence]:
        """The occurrences of a variable: those of its name in the same declaration."""
        return [
            each for each in self.occurrences
            if each.kind == VARIABLE and each.name == occurrence.name and each.scope is occurrence.scope
        ]  # fmt: skip

    def rules(self, relation: ModuleSyntax, name: str) -> Iterator[syntax.RuleDecl]:
        """The rules of the document's program whose heads have a relation, as its own module names it."""
        for module in self.modules.own:
            for each in module.all(OTHER):
                if isinstance(each, syntax.RuleDecl) and any(
                    self.names.find(RELATIONS, head.relation, module.name) == (relation, head_of)
                    for head in each.heads
                    for head_of in relation.get(RELATIONS, name)[:1]
                ):
                    yield each

    def checked_rules(self) -> Iterator[Rule]:
        """The rules of the document, with the types of their variables."""
        program = self.checked[0]
        for rule in () if program is None else program.rules:
            if rule.span.source.name == self.source.name:
                yield rule

    def type_of(self, occurrence: Occurrence) -> Any:
        """The type of a variable of a rule; None where it is not known."""
        for rule in self.checked_rules():
            if occurrence.span.within(rule.span) and occurrence.name in rule.variables:
                return rule.variables[occurrence.name]
        return None


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
