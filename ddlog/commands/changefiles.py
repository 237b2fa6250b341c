"""Change files: JSON lines, and comma- or tab-separated rows with a leading +1 or -1.

JSON, an object a line (`insert_or_update`, also called `upsert`, `delete_key` and `clear` besides):

    {"insert": {"Edge": {"from": 1, "to": 2}}}
    {"delete": {"Edge": [2, 3]}}
    {"insert": {"Edge": [{"from": 1, "to": 2}, [3, 4]]}}
    {"modify": {"Node": {"key": 1, "set": {"name": "a"}}}}
    {"commit": true}

An update may carry an "id", a string or an integer: one whose id was applied before is skipped.

The last line may also be `{"commit": "dump_changes"}`.

Separated, in a file named after its relation (`Edge.csv`, `Edge.changes.tsv`), a header or none; a
line `commit` ends a transaction, and so does the end of the file:

    +1,1,2
    -1,2,3
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..core import Relation, relation_named
from ..errors import commands as errors
from ..errors.changes import NotAnInput
from ..errors.diagnostics import DDlogError
from ..errors.excerpt import Excerpt
from ..errors.nearest import nearest
from ..errors.source import Span
from ..errors.unknown import NoSuchRelation
from ..io.columns import TypeDefs
from ..io.delimited import Record, RowShape, records
from ..io.delimitedfiles import cell_readers, read_cells, shaped
from ..io.dialects import PLAIN, Dialect
from ..io.faults import CellFault
from ..io.header import find_header
from ..io.jsonfiles import in_columns, row_from_json
from ..io.refusals import Refuse, stop
from ..types import JsonField
from ..values.fromjson import decode_json, field_from_json, from_json
from ..values.rows import Row
from ..values.structs import reason
from .commands import Clear, Commit, Rollback, Start
from .interpreter import Action, Command, Locate
from .jsonruns import COMMIT, JsonRuns
from .transactions import Transactions
from .update import RowChange, Update, UpdateRun

_UPDATES = ("insert", "delete", "insert_or_update", "delete_key", "modify")
WORDS = (*_UPDATES, "clear", "commit", "rollback")
_PLAIN_COMMIT = {"commit": True}
_Changes = Sequence[tuple[Any, RowChange | None]]
"""Rows or keys, each with what `modify` changes."""

_SIGNS = {"+1": "insert", "1": "insert", "-1": "delete"}


class JsonReader:
    """Reads the changes of JSON lines as commands. A transaction begins with its first change."""

    def __init__(self, relations: Mapping[str, Relation], typedefs: TypeDefs, name: str) -> None:
        self._relations, self._typedefs, self._name = relations, typedefs, name
        self._line = 0
        self._open = False
        self._text, self._lines, self._at = "", list[str](), 0
        self._runs = JsonRuns(relations, typedefs)

    def feed(self, text: str) -> None:
        """Adds text at the end."""
        self._text += text

    def commands(self, *, final: bool = False, runs: bool = False) -> Iterator[Command]:
        """The commands of the lines that are whole; with `final`, of the last line too. Raises DDlogError,
        and then goes on after the wrong line. With `runs`, plain lines that change one relation in one way
        come as one `UpdateRun`."""
        if "\n" in self._text or (final and self._text):  # it goes on after an error without a copy of all
            *whole, rest = self._text.split("\n")
            self._lines = [*self._lines[self._at :], *whole, *([rest] if final else [])]
            self._text, self._at = "" if final else rest, 0
        lines = self._lines
        while self._at < len(lines):
            at = self._at
            run = self._runs.read(lines, at, True) if runs and not self._open else None
            if run is not None:
                self._at += 2 * len(run[-1])
                yield self._transactions(*run, lines, at)
                continue
            run = self._runs.read(lines, at) if runs else None
            if run is not None:
                self._at += len(run[-1])
                yield from self._run(*run, lines, at)
            else:
                self._at += 1
                self._line += 1
                yield from self._read(lines[at])

    def _transactions(
        self, word: str, name: str, rows: Sequence[Row], lines: Sequence[str], at: int
    ) -> Command:
        first = self._line + 1
        self._line += 2 * len(rows)

        def place(number: int, word: str) -> Span:
            later = 2 * number + (word == "commit")
            return self._place(lines[at + later], number=first + later)()

        run = Transactions(word, name, rows, [False] * len(rows), place)
        return Command(run, "start", partial(place, 0, word))

    def _run(
        self, word: str, name: str, rows: Sequence[Row], lines: Sequence[str], at: int
    ) -> Iterator[Command]:
        first = self._line + 1
        self._line += len(rows)

        def place(number: int) -> Span:
            return self._place(lines[at + number], number=first + number)()

        begin = self._place(lines[at], number=first)
        if not self._open:
            self._open = True
            yield Command(Start(), "start", begin)
        yield Command(UpdateRun(word, name, rows, True, True, place), word, begin)

    def _read(self, line: str) -> Iterator[Command]:
        if not line.strip():
            return
        place = self._place(line)
        try:
            yield from self.item_commands(_PLAIN_COMMIT if line == COMMIT else decode_json(line), place)
        except json.JSONDecodeError as error:
            raise self._bad(f"this is not JSON: {error.msg}", self._place(line, error.pos)) from None
        except (ValueError, RecursionError) as error:
            raise self._bad(reason(error), place) from None

    def item_commands(self, item: Any, place: Locate) -> Iterator[Command]:
        """The commands of one object of JSON. Raises DDlogError, or ValueError without a place."""
        id = None
        if isinstance(item, dict) and len(item) == 2 and "id" in item:
            item = dict(item)
            id = _id(item.pop("id"))
        if not isinstance(item, dict) or len(item) != 1:
            raise ValueError('expected an object with one of "insert", "delete", "commit", …')
        ((word, content),) = item.items()
        if id is not None and word not in (*_UPDATES, "upsert"):
            raise ValueError(f"only an update has an id, not {word}")
        if word in ("commit", "rollback"):
            asked = word == "commit" and content == "dump_changes"
            if content is not True and not asked:
                or_asked = ' or {"commit": "dump_changes"}' if word == "commit" else ""
                raise ValueError(f'expected {{"{word}": true}}{or_asked}')
            if not self._open:
                yield Command(Start(), "start", place)
            self._open = False
            yield Command(Commit(asked) if word == "commit" else Rollback(), word, place)
            return
        actions = list(self._actions("insert_or_update" if word == "upsert" else word, content, place))
        if not self._open:
            self._open = True
            yield Command(Start(), "start", place)
        for action in actions:
            if id is not None and isinstance(action, Update):
                action = replace(action, id=id)
            yield Command(action, word, place)

    def _actions(self, word: str, content: Any, place: Locate) -> Iterator[Action | Update]:
        if word == "clear" and isinstance(content, str):
            yield Clear(_declared(content, self._relations, place).name)
            return
        if word not in _UPDATES:
            raise DDlogError([errors.UnknownCommand(word, WORDS, span=place())])
        if not isinstance(content, dict):
            raise ValueError(f'expected {{"{word}": {{"Relation": row}}}}')
        for position, (name, given) in enumerate(content.items(), 1):
            declared = _declared(name, self._relations, place)
            read = {"delete_key": _key_from_json, "modify": _changes_from_json}.get(word, _rows_from_json)
            *others, (last, change) = read(given, declared, self._typedefs)
            yield from (Update(word, declared.name, row, False, each) for row, each in others)
            yield Update(word, declared.name, last, position == len(content), change)

    def _place(self, line: str, column: int = 0, number: int = 0) -> Locate:
        name, number = self._name, number or self._line
        width = 1 if column else max(1, len(line))
        return lambda: Span(Excerpt(name, line, number), number, column + 1, number, column + 1 + width)

    def _bad(self, message: str, place: Locate) -> DDlogError:
        return DDlogError([errors.BadCommand(message, span=place())])


def _id(given: Any) -> str:
    """The id of an update. Raises ValueError."""
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise ValueError('the "id" of an update is a string or an integer')
    return json.dumps(given)


def separated_changes(
    text: str,
    shape: RowShape,
    relation: str,
    relations: Mapping[str, Relation],
    typedefs: TypeDefs,
    name: str,
    refuse: Refuse = stop,
    dialect: Dialect = PLAIN,
) -> Iterator[Command]:
    """The commands of a change file of one relation. A wrong row is refused. Raises DDlogError."""
    whole = _at(name, Record(1, text.split("\n", 1)[0], []), 0, 1)
    declared = _declared(relation, relations, whole)
    if declared.role != "input":
        inputs = tuple(sorted(each.name for each in relations.values() if each.role == "input"))
        raise DDlogError([NotAnInput(relation, declared.role, inputs, span=whole())])
    readers = cell_readers(declared, typedefs, dialect)
    place, is_open = whole, False
    try:
        rows, order = _records(text, shaped(shape, dialect, declared), declared, readers, dialect)
        for record in rows:
            place = _at(name, record, 0, len(record.text))
            if record.cells == ["commit"]:
                if not is_open:
                    yield Command(Start(), "commit", place)
                is_open = False
                yield Command(Commit(), "commit", place)
                continue
            try:
                update = _update(record, order, declared, readers, dialect.extra == "ignore")
            except CellFault as fault:
                refuse(_error(name, fault))
                continue
            if not is_open:
                is_open = True
                yield Command(Start(), "insert", place)
            yield Command(update, update.kind, place)
    except CellFault as fault:
        raise _error(name, fault) from None
    if is_open:
        yield Command(Commit(), "commit", place)


def _error(name: str, fault: CellFault) -> DDlogError:
    span = _at(name, Record(fault.line, fault.text, []), fault.column - 1, fault.width)()
    return DDlogError([errors.BadCommand(fault.message, span=span)])


def _records(
    text: str, shape: RowShape, declared: Relation, readers: Sequence[Callable[[str], Any]], dialect: Dialect
) -> tuple[Iterator[Record], list[int]]:
    found = records(text, replace(shape, keep_empty=False))
    straight = list(range(1, len(declared.columns) + 1))
    first = next(found, None)
    if first is None:
        return iter(()), straight
    names = {name.casefold() for name in dialect.names(declared)}
    if {cell.strip().casefold() for cell in first.cells} == names != {"commit"}:
        raise CellFault("the header lacks a first column, of +1 and -1", first.line, 1, first.text)
    if first.cells[0].strip() not in _SIGNS and len(first.cells) > 1:
        starts = [first.column(position) for position in range(1, len(first.cells))]
        head = Record(first.line, first.text, first.cells[1:], starts)
        order, _ = find_header(head, (), declared, readers, dialect)
        if order is not None:
            return found, [place + 1 for place in order]
    return itertools.chain([first], found), straight


def _update(
    record: Record,
    order: Sequence[int],
    declared: Relation,
    readers: Sequence[Callable[[str], Any]],
    wide: bool,
) -> Update:
    """The change of a row, which may have more cells if it is `wide`. Raises CellFault."""
    kind = _SIGNS.get(record.cells[0].strip())
    if kind is None:
        message = f"expected +1, -1 or commit, found `{record.cells[0]}`"
        raise CellFault(message, record.line, 1, record.text, max(1, len(record.cells[0])))
    if len(record.cells) <= max(order, default=0) if wide else len(record.cells) != len(readers) + 1:
        message = f"expected +1 or -1 and {len(readers)} columns, found {len(record.cells)} columns"
        raise CellFault(message, record.line, 1, record.text, len(record.text))
    return Update(kind, declared.name, read_cells(record, readers, order), True)


def _at(name: str, record: Record, column: int, width: int) -> Locate:
    line, text = record.line, record.text
    return lambda: Span(Excerpt(name, text, line), line, column + 1, line, column + 1 + max(1, width))


def _declared(name: str, relations: Mapping[str, Relation], place: Locate) -> Relation:
    declared = relation_named(name, relations)
    if declared is None:
        raise DDlogError([NoSuchRelation(name, nearest(name, relations), span=place())])
    return declared


def _rows_from_json(data: Any, declared: Relation, typedefs: TypeDefs) -> _Changes:
    """A row from decoded JSON, or the rows of an array that is none itself, or is one only as any JSON would
    be. Raises ValueError."""
    named, forms = in_columns(declared, PLAIN), _forms(declared)
    are_rows = isinstance(data, list) and bool(data) and all(isinstance(each, list | dict) for each in data)
    takes_any = bool(forms) and all(each.raw for each in forms)
    try:
        if not (are_rows and takes_any):
            return [(row_from_json(named(data), declared, typedefs), None)]
    except ValueError:
        if not are_rows:
            raise
    return [(row_from_json(named(each), declared, typedefs), None) for each in data]


def _forms(declared: Relation) -> Sequence[JsonField]:
    """The forms of the columns of a relation in JSON; none if they are the usual ones."""
    return () if declared.constructor is None else declared.constructor.json


def _key_from_json(data: Any, declared: Relation, typedefs: TypeDefs) -> _Changes:
    """A primary key from decoded JSON. Raises ValueError."""
    if declared.key is None:
        raise ValueError(f"{declared.name} has no primary key")
    return [(from_json(data, declared.key.result, typedefs), None)]


def _changes_from_json(data: Any, declared: Relation, typedefs: TypeDefs) -> _Changes:
    """Primary keys and changes of their rows, from decoded JSON: one, or those of an array. Raises
    ValueError."""
    found = list[tuple[Any, RowChange | None]]()
    for each in data if isinstance(data, list) and data else [data]:
        if not isinstance(each, dict) or set(each) != {"key", "set"} or not isinstance(each["set"], dict):
            raise ValueError('expected {"key": …, "set": {"column": value}}')
        ((key, _),) = _key_from_json(each["key"], declared, typedefs)
        found.append((key, _setting(declared, each["set"], typedefs)))
    return found


def _setting(declared: Relation, given: Mapping[str, Any], typedefs: TypeDefs) -> RowChange:
    """The function that gives columns of a row other values. Raises ValueError."""
    places = {title: at for at, title in enumerate(declared.titles)}
    forms, new = _forms(declared), dict[int, Any]()
    for name, value in in_columns(declared, PLAIN)(given).items():
        if name not in places:
            raise ValueError(f"{declared.name} has no column {name}")
        at, of = places[name], declared.columns[places[name]].type
        new[at] = field_from_json(value, forms[at], of, typedefs) if forms else from_json(value, of, typedefs)
    return lambda row: tuple(new.get(at, value) for at, value in enumerate(row))
