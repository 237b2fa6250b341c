"""`ddlog repl`: commands and queries, one after another, on the state of a session."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from ..commands.interpreter import Interpreter
from ..commands.reader import CommandReader
from ..errors.diagnostics import DDlogError, render
from ..errors.mishap import internal_error_text
from ..sessions.engines import EngineOptions
from ..sessions.program import Program
from ..sessions.results import Changes, Result
from ..sessions.session import Session
from .launch import launch
from .progress import Progress

HELP = """\
  ? Path("a", x), x != "b"      what satisfies a rule body, over any relation; also ? 1 + 2
  start;                        begin a transaction
  insert Edge(1, 2);            also delete, insert_or_update, delete_key R key, modify R key <- {..}
  clear Edge;                   remove every row
  commit;  commit dump_changes; apply the transaction; print its changes
  rollback;                     forget it
  dump;  dump Path;             print the output relations, or one relation
  query_index ByFrom(1);        what a key finds in an index; dump_index ByFrom; all that it has
  relations                     what relations and indexes there are, their columns and sizes
  profile cpu on;  profile;     measure commits (also `change`); print sizes and what was measured
  echo text;  timestamp;  mssleep 10;  log_level 400;
  help  exit                    Ctrl-C stops what runs, Ctrl-D ends the session
A command ends with `;` and may take several lines. Updates separated by `,` are applied together."""

_SHOWN = 1000  # rows of a table


def repl(
    program: Program,
    inputs: Sequence[str] = (),
    engine: EngineOptions = EngineOptions(),  # noqa: B008 - frozen
    *,
    max_iterations: int | None = None,
    quiet: bool = False,
) -> int:
    """Reads commands until the end of the input; gives the exit code."""
    from .run import tell

    progress = Progress(quiet)
    note: Callable[[str], None] = (lambda text: None) if quiet else tell
    with progress:
        session = launch(program, inputs, engine, max_iterations=max_iterations, progress=progress, note=note)
    with session:
        with progress:
            if inputs:
                session.load(inputs, note=note)
            else:
                session.start()
        shell = Shell(session, progress)
        if sys.stdin.isatty():
            _converse(shell, quiet)
        else:
            for line in sys.stdin:
                shell.take(line)
                if shell.ended:
                    break
    return 0


def _converse(shell: Shell, quiet: bool) -> None:
    from .prompt import prompt_lines

    if not quiet:
        print("Commands end with `;`, queries begin with `?`. `help` says more.")
    for text in prompt_lines(shell):
        shell.take(text)
        if shell.ended:
            return


class Shell:
    """Takes what the user enters and prints the answers. No error ends it."""

    def __init__(self, session: Session, progress: Progress) -> None:
        self.session, self._progress = session, progress
        self._reader = CommandReader(
            session.program.relations, session.typedefs, "<input>", session.program.indexes
        )
        self._interpreter = Interpreter(session, self._show, self._changed, session.program.names("output"))
        self._lines: list[str] = []

    @property
    def ended(self) -> bool:
        """Whether the user asked to leave."""
        return self._interpreter.ended

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._interpreter.in_transaction

    def is_whole(self, text: str) -> bool:
        """Whether the text needs no further line."""
        stripped = text.strip()
        return not stripped or stripped[0] in "?#" or stripped in _WORDS or stripped.endswith(";")

    def take(self, text: str) -> None:
        """Answers a line or a whole command; what is not whole waits for more."""
        word = text.strip()
        if self._reader.remainder() is None:
            if word.startswith("?"):
                self._answer(lambda: self._query(text.split("?", 1)[1]))
                return
            if word in _WORDS:
                self._answer(lambda: _WORDS[word](self))
                return
        self._reader.feed(text if text.endswith("\n") else f"{text}\n")
        self._answer(self._run)

    def _run(self) -> None:
        for command in self._reader.commands():
            began = time.perf_counter()
            self._interpreter.step(command)
            if command.word == "commit":
                self._show(f"({_elapsed(began)})")
            if self.ended:
                return
        if self._reader.remainder() is None:
            self._interpreter.flush()

    def _answer(self, act: Callable[[], None]) -> None:
        """Does something for the user: its output at the end, errors printed, Ctrl-C stops it."""
        try:
            with self._progress:
                act()
        except DDlogError as error:
            self._page()
            self._reader.discard()
            print(render(error.diagnostics, color=sys.stderr.isatty()), file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            self._lines.clear()
            self._reader.discard()
            print("interrupted; the session is at its last commit", file=sys.stderr, flush=True)
            self._interpreter.forget()
        except Exception as error:
            if os.environ.get("DDLOG_DEBUG"):
                raise
            self._lines.clear()
            self._reader.discard()
            print(internal_error_text(error), file=sys.stderr, flush=True)
            self._interpreter.forget()
        self._page()

    def _query(self, text: str) -> None:
        began = time.perf_counter()
        result = self.session.query(text.strip().removesuffix(";"), name="<query>")
        taken = _elapsed(began)
        if not result.columns:
            self._show(f"{'true' if result else 'false'} ({taken})")
            return
        count = len(result)
        self._lines.extend(table_lines(result))
        more = f", the first {_SHOWN:,} shown" if count > _SHOWN else ""
        self._show(f"({count:,} {'row' if count == 1 else 'rows'}{more}, {taken})")

    def _changed(self, changes: Changes, asked: bool) -> None:
        if asked:
            self._lines.extend(changes.lines())
            return
        for name in changes:
            weights = [weight for _, weight in changes.rows(name)]
            added, removed = sum(w for w in weights if w > 0), sum(w for w in weights if w < 0)
            self._show(f"{name}: {' '.join(f'{count:+,}' for count in (added, removed) if count)}")

    def _relations(self) -> None:
        for relation in self.session.program.relations.values():
            if relation.hidden:
                continue
            columns = ", ".join(f"{column.name}: {column.type}" for column in relation.columns)
            size = self.session.size(relation.name)
            self._show(f"{relation.role} {relation.kind} {relation.name}({columns})  {size:,} rows")

        for index in self.session.program.indexes.values():
            variables = ", ".join(f"{each.name}: {each.type}" for each in index.variables)
            self._show(f"index {index.name}({variables}) on {index.relation}")

    def _help(self) -> None:
        self._show(HELP)

    def _leave(self) -> None:
        self._interpreter.ended = True

    def _show(self, line: str) -> None:
        self._lines.append(line)

    def _page(self) -> None:
        """Prints the gathered lines, through a pager if they are more than the terminal has."""
        lines, self._lines = self._lines, []
        if not lines:
            return
        if sys.stdin.isatty() and sys.stdout.isatty() and len(lines) >= shutil.get_terminal_size().lines:
            import pydoc

            pydoc.pager("\n".join(lines))
        else:
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()


_WORDS: dict[str, Callable[[Shell], None]] = {
    "help": Shell._help,
    "help;": Shell._help,
    "relations": Shell._relations,
    "relations;": Shell._relations,
    "exit": Shell._leave,
    "quit": Shell._leave,
    "quit;": Shell._leave,
}


def table_lines(result: Result) -> Iterator[str]:
    """A query's answer as a table, as wide as it needs to be."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    numeric = [
        str(type).startswith(("bit<", "signed<", "bigint", "float", "double")) for type in result.types
    ]
    for name, right in zip(result.columns, numeric, strict=True):
        table.add_column(Text(name), justify="right" if right else "left", no_wrap=True)
    for texts in result.texts(_SHOWN):
        table.add_row(*map(Text, texts))
    console = Console(width=1 << 16, color_system=None)
    with console.capture() as captured:
        console.print(table)
    yield from (line.rstrip() for line in captured.get().splitlines() if line.strip())


def _elapsed(began: float) -> str:
    seconds = time.perf_counter() - began
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
