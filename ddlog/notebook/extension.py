"""The extension of IPython: the magics `%%ddlog` and `%ddlog`, and how circuits and errors look."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.display import display

from ..commands.programtext import asks, parses, takes_lines
from ..commands.sqlreader import begins_sql
from ..engine.circuit import Circuit
from ..engine.svg import to_svg
from ..engine.text import to_text
from ..errors.diagnostics import DDlogError, Diagnostic, render
from ..errors.shell import NoRule
from ..errors.source import Source
from ..sessions.session import Session
from .answers import Answers
from .cells import Cells

_OPTION = re.compile(r"\s*(?:-s|--session)[ =](\w+)(?:\s+|\Z)")
_display: Any = display
_STYLE = "padding: .2em .6em; white-space: pre; overflow-x: auto; border-left: .3em solid #b7791f"


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Makes the magics known to a shell; `%load_ext ddlog` calls this function."""
    ipython.register_magics(DDlogMagics(ipython))
    forms: Any = ipython.display_formatter
    forms.mimebundle_formatter.for_type(Circuit, _drawn)


def _drawn(circuit: Circuit) -> dict[str, str]:
    return {"text/plain": to_text(circuit).rstrip("\n"), "image/svg+xml": to_svg(circuit)}


class Warnings:
    """Diagnostics that stop nothing, as a notebook shows them."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self._text = render(diagnostics)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": self._text, "text/html": f'<pre style="{_STYLE}">{escape(self._text)}</pre>'}


def _warn(diagnostics: Sequence[Diagnostic]) -> None:
    if diagnostics:
        _display(Warnings(diagnostics))


@magics_class
class DDlogMagics(Magics):
    """The magics. They work on the session that a variable of the notebook has."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self._cells: dict[str, Cells] = {}  # by the variable of the session
        self._answers: dict[str, Answers] = {}
        self._cell: str | None = None  # the id of the cell, where the notebook tells it
        shell.events.register("pre_run_cell", self._begins)

    def _begins(self, info: Any) -> None:
        self._cell = getattr(info, "cell_id", None)

    @no_var_expand
    @line_cell_magic
    def ddlog(self, line: str, cell: str | None = None) -> Any:
        """Takes a part of a program, a query, or commands.

        %%ddlog                                 a cell of declarations, rules and facts begins a program,
        output relation Reach(a: u32, b: u32)   or extends it; run again, it replaces what it was

        %ddlog ? Reach({start}, x)              a query; {start} is the value of a variable of Python
        %ddlog start; insert Edge(1, 2); commit;    commands as in command files; also: why, dump, circuit

        The session is the variable `session`; with `-s NAME` another one.
        """
        option = _OPTION.match(line)
        name, rest = ("session", line) if option is None else (option[1], line[option.end() :])
        if cell is not None and rest.strip():
            raise UsageError(f"%%ddlog takes `-s NAME` and no other option: {rest.strip()}")
        text = rest if cell is None else cell
        if not text.strip():
            raise UsageError(
                "%ddlog takes a query or commands, %%ddlog a cell of them or of a program: see %ddlog?"
            )
        shown = self._taken(name, text, (cell is not None and self._cell) or text)
        for each in shown[:-1]:
            _display(each)
        return shown[-1] if shown else None

    def _taken(self, name: str, text: str, key: str) -> list[Any]:
        """The values to be shown for a text. A part of a program takes the place of the part with its key."""
        source = Source(f"In[{self._shell.execution_count}]", text)
        session = self._shell.user_ns.get(name)
        if isinstance(session, Session) and session.state.closed:
            session = None
        if session is not None and not isinstance(session, Session):
            raise UsageError(
                f"{name} is {type(session).__name__}, and no session: `-s NAME` names another one"
            )
        stripped = text.lstrip()
        asked = stripped.startswith("?") or begins_sql(stripped)
        if (takes_lines(stripped) and not asked) or parses(text):
            return self._program(name, session, source, key)
        if session is None:
            raise UsageError(f"there is no session {name} yet: a cell %%ddlog with a program begins one")
        answers = self._answers.get(name)
        if answers is None or answers.session is not session:
            answers = self._answers[name] = Answers(session, self._shell.user_ns)
        return answers.to(text, source.name, _warn)

    def _program(self, name: str, session: Session | None, part: Source, key: str) -> list[Any]:
        """Begins a session with a part of a program, or lets it go on with the part."""
        if not parses(part.text) and asks(part.text):
            raise DDlogError([NoRule(" ".join(part.text.split()))])
        if session is None:
            cells = Cells()
            session, changes = cells.begin(key, part, _warn)
            self._cells[name] = cells
            self._shell.user_ns[name] = session
        else:
            changes = self._cells.setdefault(name, Cells()).put(session, key, part, _warn)
        return [changes] if changes else []
