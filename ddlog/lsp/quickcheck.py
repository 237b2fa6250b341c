"""What is wrong after an edit, told before the whole program is checked again.

Only declarations that can differ are checked: those that the edit changed, and those that name a declaration
which it changed, came or went. A type or relation of these changes its users in turn. What else was known of
the last version is still so, and only its lines move:

    pieces before and now --same objects?--> pieces that changed --equal trees?--> declarations that did
        --names in other declarations--> all that can differ --check_declared--> their errors

Checks of the program as a whole, such as those for relations that nothing reads, keep what they said of
declarations that stay, and say nothing of others until the whole check ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .. import syntax
from ..check.program import check_declared
from ..errors.diagnostics import Diagnostic, moved
from ..errors.firstuse import told_once
from ..errors.source import Source, Span
from ..names.modules import ModuleSyntax
from ..syntax.parser import parse_program
from ..syntax.stackroom import deep_recursion
from .analysis import Analysis
from .findings import types_of
from .pieces import Parsed, PlacedPiece

MOST = 60
"""Declarations that are checked at once, each in about a millisecond: an answer may have to wait for them."""
_WIDE = (syntax.ImportDecl, syntax.LoopDecl, syntax.TransformerDecl, syntax.ApplyDecl)
_IMPLICIT = {"to_string", "group_key"}  # functions that expressions call without naming them


@dataclass(frozen=True, slots=True)
class _Place:
    """A declaration and its piece."""

    declaration: syntax.Declaration
    piece: PlacedPiece


@dataclass(frozen=True)
class _Edit:
    """The pieces that went and came, and their declarations: those that stay, by the identity of the old one,
    and those that went or came."""

    gone: Sequence[PlacedPiece]
    come: Sequence[PlacedPiece]
    same: dict[int, tuple[_Place, _Place]]
    changed: Sequence[syntax.Declaration]
    new: Sequence[syntax.Declaration]


def differing(before: Analysis, told: Sequence[Diagnostic], now: Analysis) -> list[Diagnostic] | None:
    """The errors and warnings of a document, by those of its last version; None where too much can differ."""
    edit = _edited(before, now)
    if any(each.parsed.is_open for each in (*edit.gone, *edit.come)):
        return None
    affected = _affected(edit, now)
    if affected is None:
        return None
    found = _checked(now, affected)
    found += [error for each in edit.come for error in _unreadable(now, each)]
    kept = _kept(before, told, now, edit, affected)
    return told_once([*kept, *found])


def _edited(before: Analysis, now: Analysis) -> _Edit:
    old, new = ({id(each.parsed) for each in analysis.pieces} for analysis in (before, now))
    gone = [each for each in before.pieces if id(each.parsed) not in new]
    come = [each for each in now.pieces if id(each.parsed) not in old]
    waiting: dict[syntax.Declaration, list[_Place]] = {}
    for place in _places(gone):
        waiting.setdefault(place.declaration, []).append(place)
    same: dict[int, tuple[_Place, _Place]] = {}
    added: list[syntax.Declaration] = []
    for place in _places(come):
        found = waiting.get(place.declaration)
        if found:
            first = found.pop(0)
            same[id(first.declaration)] = first, place
        else:
            added.append(place.declaration)
    lost = [place.declaration for places in waiting.values() for place in places]
    return _Edit(gone, come, same, [*lost, *added], added)


def _places(pieces: Iterable[PlacedPiece]) -> Iterator[_Place]:
    return (_Place(each, piece) for piece in pieces for each in piece.parsed.tree.declarations)


def _affected(edit: _Edit, now: Analysis) -> list[_Place] | None:
    """The declarations that can differ; None for too many."""
    if any(isinstance(each, _WIDE) for each in edit.changed):
        return None
    fresh = {id(each) for each in edit.new}
    found = {id(each.declaration): each for each in _places(edit.come) if id(each.declaration) in fresh}
    done: set[str] = set()
    names = {name for each in edit.changed for name in _declares(each)}
    while names:
        if names & _IMPLICIT:
            return None
        done |= names
        users = [each for piece in now.pieces for each in _users(piece, names) if id(each) not in found]
        if len(found) + len(users) > MOST:
            return None
        places = {id(each.declaration): each for each in _places(now.pieces)} if users else {}
        found |= {id(each): places[id(each)] for each in users}
        names = {name for each in users for name in _declares(each)} - done
    return None if len(found) > MOST else list(found.values())


def _declares(declaration: syntax.Declaration) -> Iterator[str]:
    match declaration:
        case syntax.TypeDecl(name=name, constructors=constructors):
            yield name
            yield from (each.name for each in constructors)
        case (
            syntax.RelationDecl(name=name)
            | syntax.FunctionDecl(name=name)
            | syntax.AliasDecl(name=name)
            | syntax.ExternTypeDecl(name=name)
        ):
            yield name


def _users(piece: PlacedPiece, names: set[str]) -> list[syntax.Declaration]:
    """The declarations of a piece that have one of the names."""
    text = piece.parsed.source.text
    if not any(name in text for name in names):
        return []
    scopes = {id(each.scope) for each in piece.parsed.occurrences if each.name.rpartition("::")[2] in names}
    return [each for each in piece.parsed.tree.declarations if scopes & {*map(id, _within(each))}]


def _within(declaration: syntax.Declaration) -> Iterator[syntax.Declaration]:
    yield declaration
    if isinstance(declaration, syntax.LoopDecl):
        for each in declaration.declarations:
            yield from _within(each)


def _checked(now: Analysis, affected: Sequence[_Place]) -> list[Diagnostic]:
    """The errors and warnings in some declarations. Learns the types of their variables."""
    main = now.modules.all[""]
    spans = {id(inner.span) for each in affected for inner in _within(each.declaration)}
    tables = {
        table: {name: kept for name, every in names.items()
                if (kept := [each for each in every if id(each.span) in spans])}
        for table, names in main.tables.items()
    }  # fmt: skip
    part = ModuleSyntax(main.name, main.source, tables, main.path, main.hidden)
    rules, diagnostics = check_declared(now.modules, [part])
    own = [each.declaration.span for each in affected]
    pieces = {id(each.piece.parsed.source): each.piece.parsed for each in affected}
    for each in affected:
        parsed = each.piece.parsed
        parsed.types = [known for known in parsed.types if not known[0].within(each.declaration.span)]
    for rule in rules:
        of = pieces.get(id(rule.span.source))
        if of is not None:
            of.types.append((rule.span, types_of(rule)))
    return [
        moved(each, now.placed)
        for each in diagnostics
        if each.span is not None and any(each.span.within(span) for span in own)
    ]


def _unreadable(now: Analysis, piece: PlacedPiece) -> list[Diagnostic]:
    """The errors of syntax in a piece. One at its end depends on what follows."""
    if not piece.parsed.errors:
        return []
    at = now.pieces.index(piece)
    lines = piece.parsed.source.text.count("\n")
    following = now.pieces[at + 1].parsed if at + 1 < len(now.pieces) else None
    later = set() if following is None else {_line(each) + lines for each in following.errors}
    text = piece.parsed.source.text + ("" if following is None else following.source.text)
    whole = Source(piece.parsed.source.name, text)
    with deep_recursion():
        errors = parse_program(whole)[1]

    def placed(span: Span) -> Span:
        return replace(
            span, source=now.source, line=span.line + piece.first, end_line=span.end_line + piece.first
        )

    return [moved(each, placed) for each in errors if _line(each) <= lines or _line(each) not in later]


def _line(diagnostic: Diagnostic) -> int:
    return 0 if diagnostic.span is None else diagnostic.span.line


def _kept(
    before: Analysis, told: Sequence[Diagnostic], now: Analysis, edit: _Edit, affected: Sequence[_Place]
) -> Iterator[Diagnostic]:
    """The diagnostics of declarations that cannot differ, at their places now."""
    current = {id(each.parsed): each for each in now.pieces}
    again = {id(each.declaration) for each in affected}

    def move(span: Span) -> Span | None:
        if span.source.name != before.source.name:
            return span
        piece = before.piece(span.line)
        line = span.line - piece.first
        declaration = _around(piece.parsed, line, span.column)
        there = current.get(id(piece.parsed))
        if there is None:
            pair = None if declaration is None else edit.same.get(id(declaration))
            if pair is None or pair[0].declaration.span.column != pair[1].declaration.span.column:
                return None
            declaration, there = pair[1].declaration, pair[1].piece
            line += pair[1].declaration.span.line - pair[0].declaration.span.line
        if declaration is not None and id(declaration) in again:
            return None
        first = there.first + line
        return Span(now.source, first, span.column, first + span.end_line - span.line, span.end_column)

    for each in told:
        if each.span is None or move(each.span) is not None:
            yield moved(each, move)


def _around(parsed: Parsed, line: int, column: int) -> syntax.Declaration | None:
    """The declaration around a place of a piece."""
    for each in parsed.tree.declarations:
        span = each.span
        if (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column):
            return each
    return None
