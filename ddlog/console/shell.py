"""The shell of the REPL: it takes a command or a query and prints the answer."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from ..commands.interpreter import Interpreter
from ..commands.programtext import asks, has_ended, needs_more, parses, takes_lines
from ..commands.reader import CommandReader
from ..commands.sqlreader import SqlReader, Statement, begins_sql
from ..commands.updatefiles import update_commands
from ..errors.diagnostics import DDlogError, counted, internal_error_text, render
from ..errors.sessions import InTransaction
from ..errors.shell import NoRule
from ..errors.state import EpochExpected
from ..io.tables import SHOWN, cell_texts, table_lines
from ..sessions.results import Changes, Result
from ..sessions.runtimeviews import changes_views
from ..sessions.session import Session
from .deltas import Delta, shows
from .exits import heard
from .notes import Note, in_color, noting, warning
from .printer import row_lines
from .progress import ProgressLine
from .shellcommands import SHELL_COMMANDS, shell_commands

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
  relation Top(x: string)       declare a relation, a function or a type; an empty line ends the text
  Top(x) :- Path("a", x).       add a rule for a declared relation; also facts
  drop Top;                     drop a relation with its rules, a function, …; or a rule, by its text
  SELECT x FROM Path;           ask in SQL; also INSERT INTO, UPDATE, DELETE FROM, MERGE, BEGIN, COMMIT, and
                                CREATE VIEW, DROP VIEW, DESCRIBE Path, SHOW TABLES, EXPLAIN, EXPLAIN WHY
  load Edge.csv;                commit facts (also Edge=data.csv), run updates (day2.dat), or add a program
                                (rules.dl, views.sql)
  save rules.dl;                write the program as it is now
  edit                          enter the last text again, in $EDITOR
  relations                     list relations and indexes, their columns and sizes
  profile cpu on;  profile;     measure commits (also `change`); print sizes and measurements
  echo text;  timestamp;  mssleep 10;  log_level 400;
  help  exit                    Ctrl-C stops a command, Ctrl-D ends the session
A command ends with `;` or an empty line. Updates separated by `,` are applied together."""


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
        self._warned, self._note = warning(quiet), noting(quiet)
        self._interpreter = Interpreter(
            session, self._show, self._changed, self._outputs(), color=in_color(sys.stdout),
            warned=self._warned, lines=row_lines(format),
        )  # fmt: skip
        self._reader = self._new_reader()
        self._lines: list[str] = []
        self._part = ""  # of a query or a program, which goes on in another line
        self._later: list[str] = []
        self._past: tuple[int, Session] | None = None
        self.last = ""
        """The text that was entered last."""
        self.saved = {session.program.source.name}
        """The files that `save` may overwrite."""

    def _outputs(self) -> list[str]:
        return [name for name in self.session.program.names("output") if self.session.keeps(name)]

    def _new_reader(self) -> CommandReader:
        program, more = self.session.program, shell_commands(self)
        return CommandReader(program.relations, self.session.typedefs, "<input>", program.indexes, more)

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
        if not stripped or has_ended(text) or _last_line(stripped) in _ALWAYS_HEARD:
            return True
        if takes_lines(stripped):
            return not needs_more(text)
        return stripped[0] == "#" or stripped.endswith(";") or _is_alone(stripped)

    def take(self, text: str) -> None:
        """Answers a query or a command, or takes a part of a program. An incomplete one waits for further
        text."""
        self._take(text)
        while self._later:
            self._take(self._later.pop(0))

    def later(self, text: str) -> None:
        """Lets a text be taken after the one that is being taken."""
        self._later.append(text)

    def _take(self, text: str) -> None:
        word = text.strip()
        if _last_line(word) in _ALWAYS_HEARD:
            self._discard()
            text = word = _last_line(word)
        elif self._part:
            self._take_part(text)
            return
        if self._reader.remainder() is None:
            if not _is_alone(word):
                self.last = text
            if takes_lines(word):
                self._take_part(text)
                return
            if _is_alone(word) or (has_ended(text) and not word.endswith(";")):
                text = f"{word};"
        self._reader.feed(text if text.endswith("\n") else f"{text}\n")
        self._answer(self._run)

    def _take_part(self, text: str) -> None:
        """Takes more of a query or of a part of a program, which is taken once it is whole."""
        self._part = f"{self._part}\n{text}" if self._part else text
        if needs_more(self._part):
            return
        whole, self._part = self._part, ""
        if whole.lstrip().startswith("?"):
            self._answer(lambda: self._query(whole.split("?", 1)[1]))
        else:
            self._answer(lambda: self.take_program(whole, "<input>"))

    def _discard(self) -> None:
        """Drops what waits for further text."""
        self._part = ""
        self._reader.discard()

    def end(self, note: Note) -> None:
        """Notes what the end of the input leaves unfinished."""
        rest = self._reader.remainder()
        if rest is not None or self._part:
            text, place = rest or (self._part, "<input>")
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
        reader = self._reader
        for command in reader.commands():
            began = time.perf_counter()
            self._interpreter.step(command)
            if command.word == "commit":
                self._show(f"({_elapsed(began)})")
            if self.ended:
                return
            if self._reader is not reader:  # the program is another one
                self._run()
                return
        if self._reader.remainder() is None:
            self._interpreter.flush()

    # ------------------------------------------------------------- what commands do

    def take_script(self) -> None:
        """Carries out the statements behind the views of the program."""
        script = self.session.program.script
        if script is not None and not self.session.resumed:
            self._answer(lambda: self._take_sql(script.text, script.name))

    def take_program(self, text: str, name: str) -> None:
        """Adds a text to the program, or carries out its statements of SQL."""
        if begins_sql(text):
            self._take_sql(text, name)
            return
        if not parses(text) and asks(text):
            raise DDlogError([NoRule(" ".join(text.split()))])
        self.change_program(lambda: self.session.extend(text, name=name, warned=self._warned))

    def _take_sql(self, text: str, name: str) -> None:
        """Carries out statements of SQL."""
        program = self.session.program
        reader = SqlReader(program.relations, self.session.typedefs, name, program.source)
        reader.feed(text)
        for command in reader.commands(final=True):
            began, statement = time.perf_counter(), command.action
            assert isinstance(statement, Statement)
            if changes_views(statement.passage.text):
                self.change_program(partial(self._changed_views, statement))
                continue
            outcome = statement.carried_out(self._interpreter)
            if outcome.rows is not None:
                self._show_result(outcome.rows, began)
            if outcome.changes is not None or outcome.count:
                self._show(f"({counted(outcome.count, 'row')} changed, {_elapsed(began)})")

    def _changed_views(self, statement: Statement) -> Changes:
        changes = statement.carried_out(self._interpreter).changes
        assert changes is not None
        return changes

    def change_program(self, change: Callable[[], Changes]) -> None:
        """Changes the program of the session, and shows how that changes the outputs."""
        if self.in_transaction:
            raise DDlogError([InTransaction()])
        began = time.perf_counter()
        changes = change()
        rest = self._reader.remainder()
        self.close()
        self._interpreter.go_on(self._outputs())
        self._reader = self._new_reader()
        if rest is not None:
            self._reader.feed(f"{rest[0]}\n")
        self._changed(changes, False)
        self._show(f"({_elapsed(began)})")

    def take_facts(self, place: str) -> None:
        """Commits the facts at a place."""
        if self.in_transaction:
            raise DDlogError([InTransaction()])
        began = time.perf_counter()
        places = set(self.session.program.names("input")) - {place.partition("=")[0], Path(place).stem}
        changes = self.session.load([place], note=self._note_but(places))
        self._changed(changes, False)
        self._show(f"({_elapsed(began)})")

    def _note_but(self, relations: Collection[str]) -> Note:
        """Gives notes, but not that there are no facts of some relations."""
        silent = {f"no file for the input relation {name}: it is empty" for name in relations}
        return lambda text: None if text in silent else self._note(text)

    def take_updates(self, path: str) -> None:
        """Carries out the commands of a file."""
        program = self.session.program
        commands = update_commands(
            path, program.relations, self.session.typedefs, program.indexes, like=program.source
        )
        for command in commands:
            self._interpreter.step(command)
        self._interpreter.flush()
        self._interpreter.ended = False

    def show_all(self, lines: Iterable[str]) -> None:
        """Prints lines."""
        self._lines.extend(lines)

    def relations(self) -> None:
        """Lists the relations and indexes."""
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

    def help(self) -> None:
        """Lists the commands."""
        self._show(HELP)

    def leave(self) -> None:
        """Ends the conversation."""
        self._interpreter.ended = True

    def aside(self) -> AbstractContextManager[None]:
        """While another program has the terminal."""
        return self._progress.aside()

    # ------------------------------------------------------------- answers

    def _answer(self, act: Callable[[], None]) -> None:
        """Does something for the user: its output at the end, errors printed, Ctrl-C stops it."""
        try:
            with self._progress:
                act()
        except DDlogError as error:
            self._page()
            self._discard()
            print(render(error.diagnostics, color=in_color(sys.stderr)), file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            heard()
            self._lines.clear()
            self._discard()
            print("interrupted; the session is at its last commit", file=sys.stderr, flush=True)
            self._interpreter.forget()
        except Exception as error:
            if os.environ.get("DDLOG_DEBUG"):
                raise
            self._lines.clear()
            self._discard()
            print(internal_error_text(error), file=sys.stderr, flush=True)
            self._interpreter.forget()
        self._page()

    def _query(self, text: str) -> None:
        began = time.perf_counter()
        then = _AT.match(text)
        if then is not None:
            past = self._session_at(int(then[1]))
            self._show_result(past.ask(text[then.end() :].strip(" \n;"), warned=self._warned), began)
            return
        if _AT_SOMETHING.match(text) is not None:
            raise DDlogError([EpochExpected(f"?{text.rstrip()}", '? at 17: Path("a", x)')])
        result = self.session.ask(text.strip().removesuffix(";"), warned=self._warned)
        self._show_result(result, began)

    def _session_at(self, epoch: int) -> Session:
        """The session as of an epoch. The last one that was asked for is kept."""
        if self._past is None or self._past[0] != epoch:
            self.close()
            self._past = epoch, self.session.at(epoch)
        return self._past[1]

    def _show_result(self, result: Result, began: float) -> None:
        taken = _elapsed(began)
        if not result.columns:
            self._show(f"{'true' if result else 'false'} ({taken})")
            return
        if self._format is not None:
            self._lines.extend(row_lines(self._format)([result], False))
            return
        count = len(result)
        rows = cell_texts(result.types, result.typedefs, itertools.islice(result.stored, SHOWN))
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


_AT = re.compile(r"\s*at\s+(\d+)\s*:")
_AT_SOMETHING = re.compile(r"\s*at\s+\S")
_ALWAYS_HEARD = ("exit", "exit;", "quit", "quit;", "help", "help;")
"""Words that are heard on a line of their own in the midst of a command, too, and drop it."""


def _is_alone(text: str) -> bool:
    """Whether a text is a command of the REPL, without the `;` at its end."""
    first = text.split(None, 1)[0] if text else ""
    return ";" not in text and (first in SHELL_COMMANDS or first == "exit")


def _last_line(text: str) -> str:
    return text.rpartition("\n")[2].strip()


def _elapsed(began: float) -> str:
    seconds = time.perf_counter() - began
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
