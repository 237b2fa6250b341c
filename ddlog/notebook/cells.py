"""The program of a session, made of the texts of cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ..errors.diagnostics import Diagnostic, counted
from ..errors.names import EmptyRelation, UnusedRelation
from ..errors.sessions import RowsGone
from ..errors.source import Source
from ..sessions.amendments import ended
from ..sessions.extension import check_changeable
from ..sessions.migration import input_changes
from ..sessions.program import Program, compile_source
from ..sessions.results import Changes
from ..sessions.session import Session

Warned = Callable[[Sequence[Diagnostic]], None]


@dataclass(frozen=True, slots=True)
class CellsSource(Source):
    """A text that ends with those of cells: of each its name, the lines before it and its own. A place in it
    is one in a cell."""

    cells: tuple[tuple[str, int, int], ...] = ()

    def place(self, line: int, column: int) -> str:
        """The place as messages write it."""
        for name, before, lines in self.cells:
            if before < line <= before + lines:
                return f"{name}:{line - before}:{column}"
        return Source.place(self, line, column)


_EMPTY = CellsSource("<notebook>", "")


@dataclass
class Cells:
    """The text of a program before its cells, and the text of each cell by its key."""

    made: Program | None = None
    """The program of the cells. If the session has another one by now, that stands before new cells."""
    before: Source = _EMPTY
    parts: Mapping[str, Source] = field(default_factory=dict)

    def begin(self, key: str, part: Source, warned: Warned) -> tuple[Session, Changes]:
        """A session of the program that a cell is, and the output relations that it begins with. Raises
        DDlogError."""
        program = _joined(_EMPTY, {key: part}, partial(compile_source, externs="error"))
        session = program.session()
        try:
            changes = session.start()
        except BaseException:
            session.close()
            raise
        self.made, self.before, self.parts = program, _EMPTY, {key: part}
        warned(_about(program, part))
        return session, changes

    def put(self, session: Session, key: str, part: Source, warned: Warned) -> Changes:
        """Lets a session go on with a cell, in place of what the cell was before. Returns how that changes
        the output relations. Raises DDlogError, and then the session is as it was."""
        again, before, parts = session.program.again, self.before, self.parts
        if again is None or type(session) is not Session or session.program.source.name.endswith(".sql"):
            return session.extend(part.text, name=part.name, warned=warned)
        check_changeable(session.state, session.in_transaction)
        if self.made is not session.program:
            before, parts = session.program.source, {}
        parts = {**parts, key: part}
        program = _joined(before, parts, again)
        gone = _gone(session, program)
        changes = session.go_on_with(program)
        self.made, self.before, self.parts = program, before, parts
        warned([*_about(program, part), *gone])
        return changes


def _gone(session: Session, program: Program) -> list[Diagnostic]:
    """Warnings about what the rows of a session lose with a program."""
    found = input_changes(session.state, program)
    columns = [(name, f"{name}.{each}") for name, lost in found.changed.items() for each in lost]
    return [
        RowsGone(what, counted(session.size(name), "row"))
        for name, what in [*((name, name) for name in found.gone), *columns]
    ]


def _joined(before: Source, parts: Mapping[str, Source], again: Callable[[Source], Program]) -> Program:
    """The program of what stands before the cells and of the cells. Raises DDlogError."""
    text, cells = ended(before), list[tuple[str, int, int]]()
    for part in parts.values():
        lines = text.count("\n")
        text += ended(part)
        cells.append((part.name, lines, text.count("\n") - lines))
    known = before.cells if isinstance(before, CellsSource) else ()
    return again(CellsSource(before.name, text, (*known, *cells), dialect=before.dialect))


def _about(program: Program, part: Source) -> list[Diagnostic]:
    """The warnings in a cell. Another cell may yet use a relation."""
    kept = (each for each in program.warnings if not isinstance(each, UnusedRelation | EmptyRelation))
    return [each for each in kept if each.span is not None and str(each.span).startswith(f"{part.name}:")]
