"""The shell of the REPL: it takes a command or a query and prints the answer."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import time
from collections.abc import Callable

from ..commands.interpreter import Interpreter
from ..commands.reader import CommandReader
from ..errors.diagnostics import DDlogError, internal_error_text, render
from ..errors.state import EpochExpected
from ..sessions.results import Changes, Result
from ..sessions.session import Session
from .deltas import Delta, shows
from .ending import heard
from .notes import Note, warning
from .printing import row_lines
from .progress import ProgressLine
from .tables import SHOWN, cell_texts, table_lines

HELP = """\
  ? Path("a", x), x != "b"      the rows that satisfy a rule body; also ? 1 + 2
  start;                        begin a transaction
  insert Edge(1, 2);            also delete, insert_or_update, delete_key R key, modify R key <- {..}
  clear Edge;                   remove every row
  commit;  commit dump_changes; apply the transaction; print its changes
  rollback;                     drop the transaction
  dump;  dump Path;             print the output relations, or one relation
  query Path("a", x);           print what `?` shows as a table, a line for each row
  why Path("a", "d");           a proof of a row; `why Path("a", x);` the first that matches; why all: each
                                derivation of the row; why not Path("d", "a");
                                why change Path("a", "d"); why the last commit made it come or go
  query_index ByFrom(1);        print the records that an index has for a key; dump_index ByFrom; all
  state;  changes 17;           the durable state; what an epoch changed
  ? at 17: Path("a", x)         the same query as of an epoch of the durable state
  relations                     list relations and indexes, their columns and sizes
  profile cpu on;  profile;     measure commits (also `change`); print sizes and measurements
  echo text;  timestamp;  mssleep 10;  log_level 400;
  help  exit                    Ctrl-C stops a command, Ctrl-D ends the session
A command ends with `;` and may take several lines. Updates separated by `,` are applied together."""


class Shell:
    """Takes the user's inputs and prints the answers. No error ends it."""

    def __init__(
        self,
        session: Session,
        progress: ProgressLine,
        delta: Delta = "all",
        quiet: bool = False,
        format: str | None = None,
    ) -> None:
        self.session, self._progress, self._delta, self._format = session, progress, delta, format
        self._reader = CommandReader(
            session.program.relations, session.typedefs, "<input>", session.program.indexes
        )
        outputs = [name for name in session.program.names("output") if session.keeps(name)]
        color = sys.stdout.isatty()
        self._warned = warning(quiet)
        self._interpreter = Interpreter(
            session,
            self._show,
            self._changed,
            outputs,
            color=color,
            warned=self._warned,
            lines=row_lines(format),
        )
        self._lines: list[str] = []
        self._past: tuple[int, Session] | None = None

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
        heard = stripped in _WORDS or _last_line(stripped) in _ALWAYS_HEARD
        return not stripped or stripped[0] in "?#" or heard or stripped.endswith(";")

    def take(self, text: str) -> None:
        """Answers a query or a command. An incomplete command waits for further text."""
        word = text.strip()
        if _last_line(word) in _ALWAYS_HEARD:
            self._reader.discard()
            word = _last_line(word).removesuffix(";")
        if self._reader.remainder() is None:
            if word.startswith("?"):
                self._answer(lambda: self._query(text.split("?", 1)[1]))
                return
            if _CHANGES.match(word) is not None:
                self._answer(lambda: self._changes_of(word))
                return
            if word in _WORDS:
                self._answer(lambda: _WORDS[word](self))
                return
        self._reader.feed(text if text.endswith("\n") else f"{text}\n")
        self._answer(self._run)

    def end(self, note: Note) -> None:
        """Notes what the end of the input leaves unfinished."""
        rest = self._reader.remainder()
        if rest is not None:
            text, place = rest
            note(f"{place}: ignored, as it is not finished: {text.splitlines()[0]}")
        if self.in_transaction:
            note("the last transaction was not committed")
            self._interpreter.forget()

    def close(self) -> None:
        """Closes the session as of another epoch, if a query opened one."""
        if self._past is not None:
            self._past[1].close()
        self._past = None

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
            heard()
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
        then = _AT.match(text)
        if then is not None:
            past = self._session_at(int(then[1]))
            self._show_result(past.query(text[then.end() :].strip(" \n;"), warned=self._warned), began)
            return
        if _AT_SOMETHING.match(text) is not None:
            raise DDlogError([EpochExpected(f"?{text.rstrip()}", '? at 17: Path("a", x)')])
        result = self.session.query(text.strip().removesuffix(";"), warned=self._warned)
        self._show_result(result, began)

    def _changes_of(self, text: str) -> None:
        epoch = _CHANGES_OF.match(text)
        if epoch is None:
            raise DDlogError([EpochExpected(text, "changes 17;")])
        lines = list(self.session.changes_of(int(epoch[1])).lines())
        self._lines.extend(lines or [f"epoch {int(epoch[1]):,} changed no output"])

    def _session_at(self, epoch: int) -> Session:
        """The session as of an epoch. The last one that was asked for is kept."""
        if self._past is None or self._past[0] != epoch:
            self.close()
            self._past = epoch, self.session.at(epoch)
        return self._past[1]

    def _state(self) -> None:
        self._lines.extend(self.session.described_state())

    def _show_result(self, result: Result, began: float) -> None:
        taken = _elapsed(began)
        if not result.columns:
            self._show(f"{'true' if result else 'false'} ({taken})")
            return
        if self._format is not None:
            self._lines.extend(row_lines(self._format)([result], False))
            return
        count = len(result)
        rows = cell_texts(result.types, self.session.typedefs, itertools.islice(result.stored, SHOWN))
        self._lines.extend(table_lines(result.columns, result.types, rows))
        more = f", the first {SHOWN:,} shown" if count > SHOWN else ""
        self._show(f"({count:,} {'row' if count == 1 else 'rows'}{more}, {taken})")

    def _changed(self, changes: Changes, dump_changes: bool) -> None:
        if not shows(self._delta, dump_changes):
            return
        if dump_changes:
            self._lines.extend(changes.lines())
            return
        for name in changes:
            weights = [weight for _, weight in changes.stored(name)]
            added, removed = sum(w for w in weights if w > 0), sum(w for w in weights if w < 0)
            self._show(f"{name}: {' '.join(f'{count:+,}' for count in (added, removed) if count)}")

    def _relations(self) -> None:
        for relation in self.session.program.relations.values():
            if relation.hidden:
                continue
            columns = ", ".join(f"{column.name}: {column.type}" for column in relation.columns)
            name = relation.name
            size = f"{self.session.size(name):,} rows" if self.session.keeps(name) else "on demand"
            self._show(f"{relation.role} {relation.kind} {name}({columns})  {size}")

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


_CHANGES = re.compile(r"changes\b")
_CHANGES_OF = re.compile(r"changes\s+(\d+)\s*;?\Z")
_AT = re.compile(r"\s*at\s+(\d+)\s*:")
_AT_SOMETHING = re.compile(r"\s*at\s+\S")

_WORDS: dict[str, Callable[[Shell], None]] = {
    "state": Shell._state,
    "state;": Shell._state,
    "help": Shell._help,
    "help;": Shell._help,
    "relations": Shell._relations,
    "relations;": Shell._relations,
    "exit": Shell._leave,
    "quit": Shell._leave,
    "quit;": Shell._leave,
}
_ALWAYS_HEARD = ("exit", "exit;", "quit", "quit;", "help", "help;")
"""Words that are heard on a line of their own in the midst of a command, too, and drop it."""


def _last_line(text: str) -> str:
    return text.rpartition("\n")[2].strip()


def _elapsed(began: float) -> str:
    seconds = time.perf_counter() - began
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
