"""JSON files: a value a line, or one array; each an object by column name or an array by position."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from json.encoder import encode_basestring
from typing import Any

from ..core import Relation
from ..engine import memory
from ..types import Bit, JsonField, Signed, String, Type
from ..values.fromjson import STRICT, fields_from_json, from_json
from ..values.shapes import forms_of
from ..values.structs import reason
from ..values.tojson import field_to_json, json_text, members
from .columns import Columns, TypeDefs, transpose
from .dialects import PLAINLY, Dialect, Reading
from .faults import CellFault, RefuseFault, gathered_faults
from .formats import Row, TextFormat
from .header import column_places, plain_name
from .utf8 import decode

_BLANK = re.compile(r"\s*")


def read_json(
    data: bytes, relation: Relation, typedefs: TypeDefs, reading: Reading = PLAINLY, *, lines: bool
) -> Columns:
    """The rows of a JSON text. An array at its beginning is a row if `lines`, and else holds all rows.
    Raises FaultyFile."""
    text = decode(data.removeprefix(b"\xef\xbb\xbf"), reading.dialect.encoding)
    named = in_columns(relation, reading.dialect)
    rows = item_rows(text, lines, lambda item: row_from_json(named(item), relation, typedefs), reading.refuse)
    return transpose(rows, len(relation.columns))


def item_rows(
    text: str, lines: bool, read: Callable[[Any], tuple[Any, ...]], refuse: RefuseFault | None = None
) -> list[tuple[Any, ...]]:
    """The rows that `read` makes of the values of a JSON text. Raises FaultyFile."""
    rows: list[tuple[Any, ...]] = []
    with gathered_faults(refuse) as faults:
        for position, item in items_of(text, lines, faults.add if lines else None):
            memory.check()
            try:
                rows.append(read(item))
            except (ValueError, RecursionError) as error:
                faults.add(fault_at(text, position, reason(error)))
    return rows


def in_columns(relation: Relation, dialect: Dialect) -> Callable[[Any], Any]:
    """A function that gives the members of an object the names of columns, in any case and with any signs,
    and leaves out others if the dialect ignores them, but not those that may be a column that lacks one. It
    raises ValueError for a member that has the name of a column which another one is."""
    titles = dict(zip((column.name for column in relation.columns), relation.titles, strict=True))
    mapped: dict[Any, str] = {there: titles[name] for name, there in dialect.map}
    forms = forms_of(relation.constructor) if relation.constructor is not None else ()
    known = {form.name for form in forms}
    flattens = any(form.flatten for form in forms)
    names = [] if flattens else [form.name for form in forms]
    keeps_all = dialect.extra == "error" or flattens or not forms

    @lru_cache(256)
    def columns_of(found: tuple[str, ...]) -> dict[str, str]:
        """The new names of members that stay."""
        places = column_places(found, names)
        placed = {found[at]: name for name, at in zip(names, places, strict=True) if at is not None}
        open = {plain_name(name) for name, at in zip(names, places, strict=True) if at is None}
        return {
            each: placed.get(each, each)
            for each in found
            if keeps_all or each in placed or plain_name(each) in open
        }

    def named(item: Any) -> Any:
        if not isinstance(item, dict) or (not mapped and item.keys() <= known):
            return item
        renamed = {mapped.get(name, name): value for name, value in item.items()}
        if len(renamed) < len(item):
            twice = next(name for there, name in mapped.items() if {there, name} <= item.keys())
            if dialect.extra == "error":
                raise ValueError(f"`{twice}` is there beside the member that is mapped to it")
            renamed |= {name: item[there] for there, name in mapped.items() if there in item}
        return {new: renamed[name] for name, new in columns_of(tuple(renamed)).items()}

    return named


def row_from_json(item: Any, relation: Relation, typedefs: TypeDefs) -> tuple[Any, ...]:
    """The row that a JSON value describes. Raises ValueError."""
    if relation.constructor is None:
        (column,) = relation.columns
        if isinstance(item, dict) and list(item) == [column.name]:
            item = item[column.name]
        return (from_json(item, column.type, typedefs),)
    fields = tuple((column.name, column.type) for column in relation.columns)
    return fields_from_json(item, fields, relation.name, typedefs, relation.constructor.json)


def items_of(text: str, lines: bool, refuse: RefuseFault | None = None) -> Iterator[tuple[int, Any]]:
    """The JSON values of a text, each with the position where it begins: the values of the lines, or the
    elements of the one array. Raises CellFault; with `refuse`, the rest of a line that is no JSON is
    refused, and so is an object that has a name twice."""
    position = _skip(text, 0)
    array = not lines and text.startswith("[", position)
    position = _skip(text, position + 1) if array else position
    while text[position : position + 1] != "]" if array else position < len(text):
        try:
            item, end = STRICT.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            at = error.pos if isinstance(error, json.JSONDecodeError) else position
            fault = fault_at(text, at, _problem(error))
            if refuse is None:
                raise fault from None
            refuse(fault_at(text, min(at, _line_end(text, position)), fault.message))
            position = _skip(text, _end(text, position, error))
            continue
        yield position, item
        position = _skip(text, end)
        if array and text[position : position + 1] == ",":
            position = _skip(text, position + 1)
            if text[position : position + 1] == "]":
                raise fault_at(text, position, "expected a row behind `,` in the array of rows")
        elif array and text[position : position + 1] != "]":
            raise fault_at(text, position, "expected `,` or `]` in the array of rows")
    if array and (rest := _skip(text, position + 1)) < len(text):
        raise fault_at(text, rest, "nothing may follow the array of rows")


def _problem(error: ValueError | RecursionError) -> str:
    match error:
        case json.JSONDecodeError():
            return f"this is not JSON: {error.msg}"
        case RecursionError():
            return "this is not JSON: it is nested too deeply"
    return str(error)


def _end(text: str, position: int, error: ValueError | RecursionError) -> int:
    """The place where reading goes on after a wrong value: the end of its line, or of an object that is JSON
    and has a name twice."""
    if isinstance(error, json.JSONDecodeError | RecursionError):
        return _line_end(text, position)
    return json.JSONDecoder(parse_int=str).raw_decode(text, position)[1]


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _skip(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    assert found is not None
    return found.end()


def fault_at(text: str, position: int, message: str) -> CellFault:
    """The fault at a position of a text."""
    begin = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[begin : end if end >= 0 else len(text)]
    return CellFault(message, text.count("\n", 0, begin) + 1, position - begin + 1, line)


def json_writer(relation: Relation, typedefs: TypeDefs) -> Callable[[Row], str]:
    """A function that writes a row as JSON: an object by column name, or the element of a relation `R[T]`."""
    if relation.constructor is None:
        write = json_value_writer(relation.columns[0].type, JsonField("value"), typedefs)
        return lambda row: write(row[0])
    named = forms_of(relation.constructor)
    if any(form.flatten for form in named):
        every = [
            members_writer(column.type, form, typedefs)
            for column, form in zip(relation.columns, named, strict=True)
        ]
        return lambda row: _object([write(value) for write, value in zip(every, row, strict=True)])
    writers = [
        json_value_writer(column.type, form, typedefs)
        for column, form in zip(relation.columns, named, strict=True)
    ]
    names = (json.dumps(form.name, ensure_ascii=False).replace("%", "%%") for form in named)
    template = f"{{{', '.join(f'{name}: %s' for name in names)}}}"
    if all(write is str for write in writers):
        return lambda row: template % row
    return lambda row: template % tuple([write(value) for write, value in zip(writers, row, strict=True)])


def members_writer(type: Type, form: JsonField, typedefs: TypeDefs) -> Callable[[Any], str]:
    """A function that writes what a field adds to an object, without brackets: perhaps nothing."""
    return lambda value: json_text(members(value, form, type, typedefs))[1:-1]


def _object(parts: list[str]) -> str:
    return f"{{{', '.join(part for part in parts if part)}}}"


def json_value_writer(type: Type, form: JsonField, typedefs: TypeDefs) -> Callable[[Any], str]:
    """A function that writes the value of a field as JSON."""
    match type:
        case Bit(width) | Signed(width) if width <= 64:
            return str
        case String():
            return encode_basestring
    return lambda value: json_text(field_to_json(value, form, type, typedefs))


def json_line(relation: Relation, typedefs: TypeDefs) -> Callable[[Row], str]:
    """A function that writes a row as a line of JSON."""
    write = json_writer(relation, typedefs)
    return lambda row: write(row) + "\n"


LINES = TextFormat(partial(read_json, lines=True), json_line)
DOCUMENT = TextFormat(
    partial(read_json, lines=False), json_writer, lambda _: "[\n", between=",\n", end="\n]\n"
)
