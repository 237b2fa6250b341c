"""Transactions as requests have them: the updates of change files as JSON, or a table of Arrow.

    {"insert": {"Edge": [[1, 2], {"from": 2, "to": 3}]}, "delete": {"Edge": [[7, 8]]}}
    [{"insert": {"Edge": [1, 2]}}, {"modify": {"Node": {"key": 1, "set": {"name": "a"}}}}]

Lines of JSON are the lines of a change file, without `commit`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from ..commands.changefiles import JsonReader
from ..commands.commands import Clear, Start
from ..commands.interpreter import Command, placed
from ..commands.update import Update
from ..core import Relation, relation_named
from ..errors.commands import BadCommand
from ..errors.diagnostics import DDlogError
from ..errors.excerpt import Excerpt
from ..errors.server import BadRequest, ChangedMeanwhile
from ..errors.source import Span
from ..errors.unknown import unknown_relation
from ..io.arrowfiles import tables_of_streams
from ..io.jsonfiles import row_from_json
from ..sessions.program import Program
from ..sessions.session import Session
from ..values.fromjson import decode_json
from ..values.numbers import brief
from ..values.rows import Row
from ..values.structs import reason
from .groupcommit import EVERY_ROW

NAME = "<transaction>"
_SHOWN, _ITEMS = 200, 6  # of what a message shows: characters of a text, and items
Change = tuple[Update | Clear, Callable[[], Span]]
RowsRead = tuple[Relation, Sequence[Row], Sequence[int]]


class Updates(Protocol):
    """The changes of a transaction, which a server makes in a session."""

    def apply(self, session: Session) -> None:
        """Makes the changes. Raises DDlogError."""

    def touches(self, keys: Keys) -> list[tuple[str, Hashable]]:
        """The relations that the changes are about, each with a row, the key of one, or EVERY_ROW."""


@dataclass(frozen=True, slots=True)
class TableChanges:
    """Tables of Arrow, each with its relation, to insert, delete or upsert. See `Updates`."""

    tables: tuple[tuple[str, str, Any], ...]

    def apply(self, session: Session) -> None:
        change = {"insert": session.insert_table, "delete": session.delete_table}
        for kind, relation, table in self.tables:
            change.get(kind, session.upsert_table)(relation, table)

    def touches(self, keys: Keys) -> list[tuple[str, Hashable]]:
        return [(relation, EVERY_ROW) for _, relation, _ in self.tables]


@dataclass(frozen=True, slots=True)
class PlacedUpdates:
    """Updates with their places, and the rows that must be there for them, each with its least weight. An
    error has the place of the update that is wrong. See `Updates`."""

    changes: tuple[Change, ...]
    read: tuple[RowsRead, ...] = ()

    def apply(self, session: Session) -> None:
        for relation, rows, weights in self.read:
            found = session.state.host.runtime.lookup(relation.name, rows)
            if any(here < there for here, there in zip(found, weights, strict=True)):
                raise DDlogError([ChangedMeanwhile(f"{relation.source_name} has lost a row")])
        for change, place in self.changes:
            try:
                if isinstance(change, Clear):
                    session.clear(change.relation)
                else:
                    change.apply(session)
            except DDlogError as error:
                raise placed(error, place()) from None

    def touches(self, keys: Keys) -> list[tuple[str, Hashable]]:
        return [
            *((relation.name, EVERY_ROW) for relation, _, _ in self.read),
            *(
                (each.relation, EVERY_ROW) if isinstance(each, Clear) else keys.touched(each)
                for each, _ in self.changes
            ),
        ]


class Keys:
    """The primary keys of the rows of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._functions: dict[str, Callable[[Row], Any] | None] = {}

    def touched(self, update: Update) -> tuple[str, Hashable]:
        """The relation of an update, and the row or its key."""
        name = update.relation
        if name not in self._functions:
            declared = self._program.relations[name]
            self._functions[name] = None if declared.key is None else self._program.key_function(declared)
        key = self._functions[name]
        if key is None or update.kind in ("delete_key", "modify"):
            return name, update.row
        try:
            return name, key(update.row)
        except Exception:  # a fault of the key's expression, which the session will tell
            return name, EVERY_ROW


def read_json(program: Program, text: str) -> PlacedUpdates:
    """The changes of an object of JSON, or of an array of them, in their order. Raises DDlogError."""
    try:
        return decoded_changes(program, decode_json(text))
    except json.JSONDecodeError as error:
        raise DDlogError(
            [BadCommand(f"this is not JSON: {error.msg}", span=_span(text, error.pos))]
        ) from None
    except (ValueError, RecursionError) as error:
        raise DDlogError([BadRequest(reason(error))]) from None


def decoded_changes(program: Program, data: Any) -> PlacedUpdates:
    """The changes of decoded JSON. Raises DDlogError, or ValueError."""
    reader = JsonReader(program.relations, program.checked.typedefs, NAME)
    found, read = list[Change](), list[RowsRead]()
    for number, item in enumerate(data if isinstance(data, list) else [data], 1):
        id, parts = _parts(item)
        for part in parts:
            if isinstance(part, dict) and "read" in part:
                read += _read_rows(program, part["read"])
                continue

            def place(part: Any = part, number: int = number) -> Span:
                shown = json.dumps(_excerpt(part), ensure_ascii=False)
                return Span(Excerpt(NAME, shown, number), number, 1, number, 1 + max(1, len(shown)))

            found += _read(reader, part if id is None else {**part, "id": id}, place)
    return PlacedUpdates(tuple(found), tuple(read))


def _read_rows(program: Program, given: Any) -> Iterator[RowsRead]:
    """The rows that a transaction has read: `{"R": [[row, weight], …]}`. Raises DDlogError or ValueError."""
    if not isinstance(given, dict) or not all(isinstance(each, list) for each in given.values()):
        raise ValueError('"read" has rows and weights by input relations')
    for name, pairs in given.items():
        declared = relation_named(name, program.relations)
        if declared is None or declared.role != "input":
            raise DDlogError([unknown_relation(name, program.names("input"))])
        if not all(isinstance(each, list) and len(each) == 2 and type(each[1]) is int for each in pairs):
            raise ValueError('"read" has pairs of a row and its weight')
        rows = [row_from_json(row, declared, program.checked.typedefs) for row, _ in pairs]
        yield declared, rows, [weight for _, weight in pairs]


def _parts(item: Any) -> tuple[Any, list[Any]]:
    """The id of an object, and each of its words alone."""
    if not isinstance(item, dict) or len(item) < 2:
        return None, [item]
    rest = dict(item)
    id = rest.pop("id", None)
    return id, [{word: content} for word, content in rest.items()]


def _excerpt(part: Any, levels: int = 6) -> Any:
    """The beginning of decoded JSON, for a message."""
    if isinstance(part, dict | list) and not levels:
        return "…"
    if isinstance(part, dict):
        return {name[:_SHOWN]: _excerpt(each, levels - 1) for name, each in islice(part.items(), _ITEMS)}
    if isinstance(part, list):
        return [_excerpt(each, levels - 1) for each in part[:_ITEMS]]
    if isinstance(part, int) and abs(part) >> 64:
        return brief(part)
    return part[:_SHOWN] if isinstance(part, str) else part


def _read(reader: JsonReader, part: Any, place: Callable[[], Span]) -> Iterator[Change]:
    try:
        yield from _changes(reader.item_commands(part, place))
    except DDlogError as error:
        raise placed(error, place()) from None
    except (ValueError, RecursionError) as error:
        raise DDlogError([BadCommand(reason(error), span=place())]) from None


def read_lines(program: Program, text: str) -> PlacedUpdates:
    """The changes of lines of JSON. Raises DDlogError."""
    reader = JsonReader(program.relations, program.checked.typedefs, NAME)
    reader.feed(text)
    return PlacedUpdates(tuple(_changes(reader.commands(final=True))))


def _changes(commands: Iterable[Command]) -> Iterator[Change]:
    for command in commands:
        if isinstance(command.action, Update | Clear):
            yield command.action, command.place
        elif not isinstance(command.action, Start):
            wrong = f"a request is one transaction: leave out {command.word}"
            raise DDlogError([BadCommand(wrong, span=command.place())])


def read_arrow(program: Program, body: bytes, relation: str, kind: str) -> TableChanges:
    """The changes by streams of Arrow, one behind the other. The metadata of a schema may name another
    relation and kind of change. Raises DDlogError."""
    tables: list[tuple[str, str, Any]] = []
    try:
        for table in tables_of_streams(body):
            named = {word.decode(): text.decode() for word, text in (table.schema.metadata or {}).items()}
            name, word = named.get("relation", relation), named.get("kind", kind)
            if not name:
                raise DDlogError([BadRequest("`relation` is the name of the relation of the rows")])
            declared = relation_named(name, program.relations)
            if declared is None:
                raise DDlogError([unknown_relation(name, program.relations)])
            if word not in ("insert", "delete", "upsert"):
                raise DDlogError([BadRequest(f"kind is insert, delete or upsert, not {word!r}")])
            tables.append((word, declared.name, table))
    except ValueError as error:
        raise DDlogError([BadRequest(f"this is no stream of Arrow: {error}")]) from None
    return TableChanges(tuple(tables))


def _span(text: str, position: int) -> Span:
    line = text.count("\n", 0, position) + 1
    begin = text.rfind("\n", 0, position) + 1
    shown = text[begin:].split("\n", 1)[0][:200]
    column = position - begin + 1
    return Span(Excerpt(NAME, shown, line), line, column, line, column + 1)
