"""Names that can stand at a place, and the parameters of the call around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .. import syntax
from ..names.modules import CONSTRUCTORS, FUNCTIONS, RELATIONS, TYPES
from ..syntax.tables import tables
from .analysis import Analysis, NameDeclaration
from .hover import comment_above, heading
from .occurrences import CONSTRUCTOR, FIELD, FUNCTION, RELATION, TYPE, VARIABLE, has_letters
from .receivers import fields_of, functions_of, type_before

KEYWORD = "keyword"
_KINDS = {RELATIONS: RELATION, TYPES: TYPE, CONSTRUCTORS: CONSTRUCTOR, FUNCTIONS: FUNCTION}
_CALL = re.compile(r"([A-Za-z_][\w:]*)$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A name that can stand at a place."""

    name: str
    kind: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SurroundingCall:
    """The call or atom around a place: its name, its parameters as they are declared, and the number of the
    one at the place."""

    name: str
    parameters: tuple[str, ...]
    active: int
    text: str = ""


def candidates(analysis: Analysis, line: int, column: int) -> list[Candidate]:
    """The names that can stand at a place, without repetition: those that have the letters before it, in
    this order."""
    before = _before(analysis, line, column)
    begun = re.search(r"([\w:]*)$", before)
    letters = begun[1] if begun else ""
    rest = before.removesuffix(letters)
    return [each for each in _possible(analysis, line, before, rest) if has_letters(each.name, letters)]


def _possible(analysis: Analysis, line: int, before: str, rest: str) -> Iterable[Candidate]:
    if rest.endswith("."):
        columns = _columns(analysis, before, rest)
        return columns if columns is not None else _unique(_receiving(analysis, rest))
    scope = analysis.scope(line)
    own = [
        Candidate(each.name, VARIABLE)
        for each in analysis.piece(line).parsed.occurrences
        if each.kind == VARIABLE and each.scope is scope
    ]
    return _unique([*_column_here(analysis, before), *own, *_keywords(), *_visible(analysis, tuple(_KINDS))])


def _column_here(analysis: Analysis, before: str) -> Iterator[Candidate]:
    """The columns of the atom around a place, as variables: first the one at the place."""
    call = _around(before)
    found = None if call is None else analysis.names.find(RELATIONS, call[0], "")
    if call is not None and found is not None:
        fields = found[1].fields or ()
        for each in (*fields[call[1] :], *fields[: call[1]]):
            yield Candidate(each.name, VARIABLE, each.type.span.text())


def _receiving(analysis: Analysis, rest: str) -> Iterator[Candidate]:
    """The fields and functions of what stands before the `.` at the end of a text: all functions where its
    type is not known."""
    of = type_before(analysis, rest.rpartition("\n\n")[2])
    if of is None:
        yield from _visible(analysis, (FUNCTIONS,))
        return
    for name, type_ in fields_of(analysis, of):
        yield Candidate(name, FIELD, type_)
    for name in functions_of(analysis, of):
        if not name.startswith("__") and "::" not in name:
            yield Candidate(name, FUNCTION)


def _keywords() -> Iterator[Candidate]:
    return (Candidate(each, KEYWORD) for each in tables().words if each.isalpha())


def _visible(analysis: Analysis, tables: Iterable[str]) -> Iterator[Candidate]:
    for table in tables:
        for name in analysis.names.names(table, ""):
            if not name.startswith("__") and "::__" not in name:
                yield Candidate(name, _KINDS[table])


def _columns(analysis: Analysis, before: str, rest: str) -> list[Candidate] | None:
    """The columns or fields of the atom or struct around a place for `.name =`; None elsewhere."""
    if not re.search(r"[({,]\s*\.$", rest):
        return None
    call = _around(before)
    declared = None if call is None else _fields(analysis, call[0])
    return [Candidate(each.name, FIELD, each.type.span.text()) for each in declared or ()]


def _fields(analysis: Analysis, name: str) -> tuple[syntax.Field, ...]:
    last = name.rpartition("::")[2]
    for table in (RELATIONS, CONSTRUCTORS):
        found = analysis.names.find(table, name, "")
        if found is not None:
            node = found[1]
            if isinstance(node, syntax.TypeDecl):
                return next((each.fields for each in node.constructors if each.name == last), ())
            return node.fields or ()
    return ()


def call_around(analysis: Analysis, line: int, column: int) -> SurroundingCall | None:
    """The call or atom around a place; None where there is none that is declared."""
    around = _around(_before(analysis, line, column))
    if around is None:
        return None
    name, active = around
    found = analysis.names.find(FUNCTIONS, name, "")
    if found is not None:
        owner, node = found
        parameters = tuple(each.span.text() for each in node.parameters)
        declared = NameDeclaration(owner, node, node.name_span)
        return SurroundingCall(heading(declared), parameters, active, comment_above(declared))
    fields = tuple(each.span.text() for each in _fields(analysis, name))
    return SurroundingCall(f"{name}({', '.join(fields)})", fields, active) if fields else None


def _before(analysis: Analysis, line: int, column: int) -> str:
    """The text of the declaration before a place: twenty lines at the most."""
    lines = [analysis.source.line(each) for each in range(max(1, line - 20), line)]
    return "\n".join([*lines, analysis.source.line(line)[: column - 1]])


def _around(before: str) -> tuple[str, int] | None:
    """The name before the innermost open bracket, and the number of commas behind that."""
    depth = commas = 0
    for i in range(len(before) - 1, -1, -1):
        match before[i]:
            case ")" | "}" | "]":
                depth += 1
            case "(" | "{" if depth == 0:
                found = _CALL.search(before[:i])
                return (found[1], commas) if found else None
            case "(" | "{" | "[":
                depth -= 1
            case "," if depth == 0:
                commas += 1
    return None


def _unique(found: Iterable[Candidate]) -> Iterable[Candidate]:
    names: dict[str, Candidate] = {}
    for each in found:
        names.setdefault(each.name, each)
    return names.values()
