"""Command files: `start; insert Edge(1, 2), delete Edge(2, 3); commit dump_changes;`

A reader is fed text as it comes and gives the commands that are whole; updates are read with the
types of their relation, so what they hold are rows. `interpreter` runs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from .. import values
from ..core import Index, Relation
from ..errors import commands as errors
from ..errors.diagnostics import DDlogError
from ..errors.excerpt import span_in
from ..errors.nearest import nearest
from ..errors.source import Span
from ..errors.unknown import unknown_index, unknown_relation
from ..syntax.cursor import Cursor, TextFault, Unfinished
from ..types import Type, TypeDef
from ..values.digits import to_int
from ..values.fromjson import from_json
from ..values.fromtext import read_arguments, read_name, read_value
from ..values.mutation import read_mutation
from ..values.rows import Row, record_maker
from .kinds import (
    Action,
    Clear,
    Commit,
    Dump,
    DumpIndex,
    Echo,
    Exit,
    LogLevel,
    Profile,
    QueryIndex,
    Rollback,
    Sleep,
    Start,
    Timestamp,
    Update,
)

Locate: TypeAlias = Callable[[], Span]


@dataclass(frozen=True, slots=True)
class Command:
    """An action and the place where it was asked for; `word` is what it is called there."""

    action: Action
    word: str
    place: Locate


_ECHO = re.compile(r"\s*([^;]*);")
_NUMBER = re.compile(r"[0-9]+")
_LONGEST = 365 * 24 * 3600 * 1000


class CommandReader:
    """Reads the commands of a text that may still grow. Places count from the start of the whole text."""

    def __init__(
        self,
        relations: Mapping[str, Relation],
        typedefs: dict[str, TypeDef],
        name: str,
        indexes: Mapping[str, Index] = MappingProxyType({}),
    ) -> None:
        self._relations, self._typedefs, self._name = relations, typedefs, name
        self._indexes = indexes
        self._cursor = Cursor("", comments=True)
        self._first = 1

    def feed(self, text: str) -> None:
        """Adds text at the end."""
        done = self._cursor.text.rfind("\n", 0, self._cursor.position) + 1
        self._first += self._cursor.text.count("\n", 0, done)
        self._cursor = Cursor(self._cursor.text[done:] + text, self._cursor.position - done, comments=True)

    def commands(self, *, final: bool = False) -> Iterator[Command]:
        """The commands that are whole. Raises DDlogError; a command that is wrong is passed over.
        With `final` no more text will come."""
        while not self._cursor.at_end():
            begin = self._cursor.position
            try:
                yield self._command()
            except Unfinished:
                self._cursor.position = begin
                return
            except TextFault as fault:
                place = self._place(fault.start, fault.end)()
                self._recover(begin)
                raise DDlogError([errors.BadCommand(fault.message, span=place)]) from None
            except DDlogError:
                self._recover(begin)
                raise
            except RecursionError:
                place = self._place(begin, begin + 1)()
                self._recover(begin)
                raise DDlogError([errors.BadCommand("a value is nested too deeply", span=place)]) from None

    def remainder(self) -> tuple[str, Span] | None:
        """The text after the last whole command, and its place, if there is any."""
        if self._cursor.at_end():
            return None
        begin = self._cursor.position
        return self._cursor.text[begin:].rstrip(), self._place(begin, begin + 1)()

    def discard(self) -> None:
        """Forgets the text after the last whole command."""
        self._cursor.position = len(self._cursor.text)

    def _command(self) -> Command:
        word, begin, end = read_name(self._cursor, "a command")
        place = self._place(begin, end)
        return Command(self._action(word, place), word, place)

    def _action(self, word: str, place: Locate) -> Action:
        read = _READERS.get(word)
        if read is None:
            if self._cursor.at_end():
                raise self._cursor.fault("expected the rest of a command")
            near = nearest(word, COMMANDS)
            raise DDlogError([errors.UnknownCommand(word, near, COMMANDS, span=place())])
        action = read(self, word)
        if not isinstance(action, Update | Echo):
            self._cursor.expect(";", f"after `{word}`")
        return action

    def _update(self, word: str) -> Update:
        relation, row = self._record()
        return Update(word, relation, row, self._ends_batch())

    def _dump(self, word: str) -> Dump:
        named = not self._cursor.at_end() and not self._cursor.looking_at(";")
        return Dump(self._relation("a relation to dump").name if named else None)

    def _query_index(self, word: str) -> QueryIndex:
        index = self._index("an index to ask")
        self._cursor.expect("(", f"after `{index.name}`")
        fields = tuple((each.name, each.type) for each in index.variables)
        return QueryIndex(index.name, read_arguments(self._cursor, ")", fields, self._typedefs, None))

    def _profile(self, word: str) -> Profile:
        if self._cursor.at_end() or self._cursor.looking_at(";"):
            return Profile()
        what = self._choice("cpu", "change", "timely")
        on = self._choice("on", "off") == "on"
        return Profile(what, on)

    def _choice(self, *words: str) -> str:
        piece, _, end = self._cursor.next_piece()
        if piece not in words:
            raise self._cursor.fault(f"expected {' or '.join(f'`{each}`' for each in words)}")
        self._cursor.position = end
        return piece

    def _number(self, what: str) -> int:
        found = self._cursor.match(_NUMBER)
        if found is None:
            raise self._cursor.fault(f"expected {what}")
        return to_int(found.group())

    def _sleep(self, word: str) -> Sleep:
        start = self._cursor.skip()
        milliseconds = self._number("a number of milliseconds")
        if milliseconds > _LONGEST:
            raise TextFault("expected a number of milliseconds under a year", start, self._cursor.position)
        return Sleep(milliseconds)

    def _echo(self, word: str) -> Echo:
        found = _ECHO.match(self._cursor.text, self._cursor.position)
        if found is None:
            end = len(self._cursor.text)
            raise Unfinished("expected `;` after the text", end, end)
        self._cursor.position = found.end()
        return Echo(found.group(1))

    def _ends_batch(self) -> bool:
        if self._cursor.accept(","):
            return False
        self._cursor.expect(";", "or `,` after an update")
        return True

    def _record(self) -> tuple[str, Row]:
        cursor, declared = self._cursor, self._relation("a relation")
        if declared.constructor is None or cursor.looking_at("["):
            return declared.name, self._element(declared)
        cursor.expect("(", f"after `{declared.name}`")
        columns = tuple((column.name, column.type) for column in declared.columns)
        default = self._default if cursor.looking_at(".") else None
        return declared.name, read_arguments(cursor, ")", columns, self._typedefs, default)

    def _default(self, _: str, type: Type) -> Any:
        return values.default_value(type, self._typedefs)

    def _element(self, declared: Relation) -> Row:
        """`[value]`, an element of a relation; its constructor's fields are the columns, if it has one."""
        self._cursor.expect("[", f"after `{declared.name}`")
        element = read_value(self._cursor, declared.record, self._typedefs)
        self._cursor.expect("]")
        return (element,) if declared.constructor is None else tuple(element)

    def _keyed(self, word: str) -> Update:
        cursor, declared = self._cursor, self._relation("a relation with a primary key")
        if declared.key is None:
            raise TextFault(f"{declared.name} has no primary key", cursor.position - 1, cursor.position)
        key: Hashable = read_value(cursor, declared.key.result, self._typedefs)
        change = None
        if word == "modify":
            cursor.expect("<-", "after the key")
            change = self._mutation(declared)
        return Update(word, declared.name, key, self._ends_batch(), change)

    def _mutation(self, declared: Relation) -> Callable[[Row], Row]:
        mutate = read_mutation(self._cursor, declared.record, self._typedefs)
        if declared.constructor is None:
            return lambda row: (mutate(row[0]),)
        make = record_maker(declared, self._typedefs)
        return lambda row: tuple(mutate(make(row)))

    def _relation(self, what: str) -> Relation:
        name, begin, end = read_name(self._cursor, what)
        declared = self._relations.get(name)
        if declared is None:
            problem = unknown_relation(name, self._relations, self._indexes)
            raise DDlogError([replace(problem, span=self._place(begin, end)())])
        return declared

    def _index(self, what: str) -> Index:
        name, begin, end = read_name(self._cursor, what)
        index = self._indexes.get(name)
        if index is None:
            problem = unknown_index(name, self._indexes, self._relations)
            raise DDlogError([replace(problem, span=self._place(begin, end)())])
        return index

    def _accept_word(self, word: str) -> bool:
        piece, _, end = self._cursor.next_piece()
        if piece == word:
            self._cursor.position = end
        return piece == word

    def _place(self, start: int, end: int) -> Locate:
        text, first = self._cursor.text, self._first
        return lambda: span_in(self._name, text, first, start, end)

    def _recover(self, begin: int) -> None:
        """Passes over the rest of a command that is wrong."""
        end = self._cursor.text.find(";", max(begin, self._cursor.position))
        self._cursor.position = end + 1 if end >= 0 else len(self._cursor.text)


_READERS: dict[str, Callable[[CommandReader, str], Action]] = {
    "start": lambda reader, _: Start(),
    "commit": lambda reader, _: Commit(reader._accept_word("dump_changes")),
    "rollback": lambda reader, _: Rollback(),
    "insert": CommandReader._update,
    "insert_or_update": CommandReader._update,
    "delete": CommandReader._update,
    "delete_key": CommandReader._keyed,
    "modify": CommandReader._keyed,
    "clear": lambda reader, _: Clear(reader._relation("a relation to clear").name),
    "dump": CommandReader._dump,
    "query_index": CommandReader._query_index,
    "dump_index": lambda reader, _: DumpIndex(reader._index("an index to dump").name),
    "echo": CommandReader._echo,
    "timestamp": lambda reader, _: Timestamp(),
    "profile": CommandReader._profile,
    "log_level": lambda reader, _: LogLevel(reader._number("a level, a number")),
    "mssleep": CommandReader._sleep,
    "exit": lambda reader, _: Exit(),
}
COMMANDS = tuple(_READERS)


def key_from_json(data: Any, declared: Relation, typedefs: dict[str, TypeDef]) -> Any:
    """A primary key from decoded JSON. Raises ValueError."""
    if declared.key is None:
        raise ValueError(f"{declared.name} has no primary key")
    return from_json(data, declared.key.result, typedefs)
