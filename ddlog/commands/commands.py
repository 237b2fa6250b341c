"""The commands. A new command is a class here, which reads and performs itself, and a row of `COMMANDS`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import commands as errors
from ..errors.diagnostics import DDlogError
from ..stdlib.log import set_level
from ..syntax.cursor import TextFault
from .interpreter import Action, Interpreter
from .passages import Passage
from .scanner import Scanner
from .update import Update

_LONGEST = 365 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Start:
    """Begins a transaction."""

    def perform(self, on: Interpreter) -> None:
        on.start()


@dataclass(frozen=True, slots=True)
class Commit:
    """Ends a transaction; with `dump_changes`, prints its changes."""

    dump_changes: bool = False

    def perform(self, on: Interpreter) -> None:
        on.commit(self.dump_changes)


@dataclass(frozen=True, slots=True)
class Rollback:
    """Ends a transaction without a change."""

    def perform(self, on: Interpreter) -> None:
        on.rollback()


@dataclass(frozen=True, slots=True)
class Clear:
    """Removes every row of an input relation."""

    relation: str

    def perform(self, on: Interpreter) -> None:
        on.need_transaction("clear")
        on.session.clear(self.relation)


@dataclass(frozen=True, slots=True)
class Dump:
    """Prints a relation, or all output relations."""

    relation: str | None

    def perform(self, on: Interpreter) -> None:
        on.dump(self.relation)


@dataclass(frozen=True, slots=True)
class QueryCommand:
    """Prints the values of the variables for which a rule body holds; without variables, whether it does."""

    asked: Passage

    def perform(self, on: Interpreter) -> None:
        with self.asked.placing():
            answer = on.ask(self.asked.text, self.asked.name)
        if not answer.columns:
            on.show("true" if answer else "false")
        else:
            on.show_rows(answer)


@dataclass(frozen=True, slots=True)
class Why:
    """Prints why a row holds, does not hold, or came or went with the last commit, or what ends it: as the
    method of a session says it that is named."""

    method: str
    question: Passage

    def perform(self, on: Interpreter) -> None:
        on.explain(_asked(on, self.method, self.question))


@dataclass(frozen=True, slots=True)
class WhyAll:
    """Prints a proof of a row for each of its derivations, and how many there are."""

    question: Passage

    def perform(self, on: Interpreter) -> None:
        found = _asked(on, "why_all", self.question)
        for number, each in enumerate(found, 1):
            on.show(f"derivation {number} of {len(found)}")
            on.explain(each)


def _asked(on: Interpreter, method: str, question: Passage) -> Any:
    with question.placing():
        return getattr(on.session, method)(question.text, values=on.values_in(question.text))


@dataclass(frozen=True, slots=True)
class QueryIndex:
    """Prints the records that an index has for a key."""

    index: str
    key: tuple[Any, ...]

    def perform(self, on: Interpreter) -> None:
        on.show_rows(on.session.index(self.index).find(self.key))


@dataclass(frozen=True, slots=True)
class DumpIndex:
    """Prints all records of an index."""

    index: str

    def perform(self, on: Interpreter) -> None:
        on.show_rows(on.session.index(self.index).all())


@dataclass(frozen=True, slots=True)
class Echo:
    """Prints a text."""

    text: str

    def perform(self, on: Interpreter) -> None:
        on.show(self.text)


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Prints the time."""

    def perform(self, on: Interpreter) -> None:
        on.show(f"Timestamp: {time.time_ns()}")


@dataclass(frozen=True, slots=True)
class Sleep:
    """Waits."""

    milliseconds: int

    def perform(self, on: Interpreter) -> None:
        time.sleep(self.milliseconds / 1000)


@dataclass(frozen=True, slots=True)
class ProfileCommand:
    """Prints the measurements; with `what`, which is cpu, change or timely, begins or ends one."""

    what: str | None = None
    on: bool = False

    def perform(self, on: Interpreter) -> None:
        match self.what:
            case None:
                for line in on.profile.lines():
                    on.show(line)
            case "cpu":
                on.profile.cpu = self.on
            case "change":
                on.profile.change = self.on
            case _:
                raise DDlogError([errors.NoTimely()])


@dataclass(frozen=True, slots=True)
class LogLevel:
    """Lets the program's log messages up to a level be printed."""

    level: int

    def perform(self, on: Interpreter) -> None:
        set_level(self.level)


@dataclass(frozen=True, slots=True)
class Exit:
    """Ends the reading of commands."""

    def perform(self, on: Interpreter) -> None:
        on.ended = True


def _update(scanner: Scanner, word: str) -> Update:
    declared = scanner.relation("a relation")
    row = scanner.row(declared)
    return Update(word, declared.name, row, scanner.ends_batch())


def _keyed_update(scanner: Scanner, word: str) -> Update:
    declared = scanner.relation("a relation with a primary key")
    key = scanner.primary_key(declared)
    change = scanner.mutation(declared) if word == "modify" else None
    return Update(word, declared.name, key, scanner.ends_batch(), change)


def _dump(scanner: Scanner, word: str) -> Dump:
    return Dump(None if scanner.at_command_end() else scanner.relation("a relation to dump").name)


def _why(scanner: Scanner, word: str) -> Why | WhyAll:
    """The rest of a command that begins with `why`."""
    if scanner.accept_word("all"):
        return WhyAll(scanner.query())
    word = next((each for each in ("change", "ends", "not") if scanner.accept_word(each)), "")
    return Why(f"why_{word}" if word else "why", scanner.query())


def _query_index(scanner: Scanner, word: str) -> QueryIndex:
    index = scanner.index("an index to query")
    return QueryIndex(index.name, scanner.index_key(index))


def _profile(scanner: Scanner, word: str) -> ProfileCommand:
    if scanner.at_command_end():
        return ProfileCommand()
    return ProfileCommand(scanner.choice("cpu", "change", "timely"), scanner.choice("on", "off") == "on")


def _sleep(scanner: Scanner, word: str) -> Sleep:
    start = scanner.cursor.skip()
    milliseconds = scanner.number("a number of milliseconds")
    if milliseconds > _LONGEST:
        raise TextFault("expected a number of milliseconds under a year", start, scanner.cursor.position)
    return Sleep(milliseconds)


COMMANDS: dict[str, Callable[[Scanner, str], Action | Update]] = {
    "start": lambda scanner, _: Start(),
    "commit": lambda scanner, _: Commit(scanner.accept_word("dump_changes")),
    "rollback": lambda scanner, _: Rollback(),
    "insert": _update,
    "insert_or_update": _update,
    "delete": _update,
    "delete_key": _keyed_update,
    "modify": _keyed_update,
    "clear": lambda scanner, _: Clear(scanner.relation("a relation to clear").name),
    "dump": _dump,
    "query": lambda scanner, _: QueryCommand(scanner.query()),
    "why": _why,
    "query_index": _query_index,
    "dump_index": lambda scanner, _: DumpIndex(scanner.index("an index to dump").name),
    "echo": lambda scanner, _: Echo(scanner.text_until_end()),
    "timestamp": lambda scanner, _: Timestamp(),
    "profile": _profile,
    "log_level": lambda scanner, _: LogLevel(scanner.number("a level, a number")),
    "mssleep": _sleep,
    "exit": lambda scanner, _: Exit(),
}
"""The function that reads the rest of a command, by the command's first word. The reader passes over the `;`
after all commands but updates and `echo`, which end themselves."""
