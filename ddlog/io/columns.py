"""Rows as columns on their way between files and a runtime, and the text of one cell."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .. import values
from ..core import Relation
from ..syntax.cursor import TextFault
from ..types import (
    ANY,
    BigInt,
    Bit,
    Bool,
    Float,
    FunctionType,
    Opaque,
    Signed,
    String,
    TextForm,
    Type,
    TypeDef,
    User,
)
from ..values.anyjson import JSON_VALUE
from ..values.cells import read_bool, read_float, read_integer
from ..values.defaults import default_value
from ..values.fromjson import decode_json, from_json
from ..values.fromtext import parse_value
from ..values.numbers import decimal, shortest
from ..values.shapes import is_nullable, is_option, some_maker
from ..values.textforms import from_written, text_form
from ..values.tojson import json_text, to_json
from ..values.units import Units
from .faults import CellFault

TypeDefs: TypeAlias = Mapping[str, TypeDef]
ColumnData: TypeAlias = "np.ndarray[Any, Any] | list[Any] | tuple[list[Any], np.ndarray[Any, Any]] | Units"

WIDEST = 1 << 63
_NULLS = ("", "\\N")
_TAKEN = re.compile(r'\s*(["%@\[{]|(ddlog_std::)?(None|Some)\b)')  # how Options may begin, not their values
_QUOTES, _BRACKETS = tuple('"%@'), tuple("[{")  # the first signs of commands' strings, and of JSON


@dataclass(frozen=True, slots=True)
class Columns:
    """The rows of a file: the data of each column of the relation, in the forms that a runtime takes, or as
    numbers of units."""

    data: tuple[ColumnData, ...]
    count: int

    def rows(self, relation: Relation) -> Iterator[tuple[Any, ...]]:
        """The rows one by one, of canonical values."""
        if not self.data:
            return iter([()] * self.count)
        return zip(*map(values_of, self.data, (column.type for column in relation.columns)), strict=True)


def values_of(data: ColumnData, type: Type) -> Iterable[Any]:
    """The values of a column, row by row."""
    if isinstance(data, tuple):
        dictionary, codes = data
        return [dictionary[code] for code in codes.tolist()]
    if isinstance(data, Units):
        return data.values()
    if isinstance(data, list):
        return data
    match type:
        case Bool():
            return map(bool, data.tolist())
        case Float():
            return map(values.canonical_float, data.tolist())
    listed: list[Any] = data.tolist()
    return listed


def integer_bounds(type: Type) -> tuple[int, int] | None:
    """The least and greatest integer of a type as far as int64 holds them; None for other types."""
    match type:
        case Bit(width):
            return 0, min((1 << width) - 1, WIDEST - 1)
        case Signed(width):
            return max(-(1 << (width - 1)), -WIDEST), min((1 << (width - 1)) - 1, WIDEST - 1)
        case BigInt():
            return -WIDEST, WIDEST - 1
    return None


def rounded(floats: np.ndarray[Any, Any], width: int) -> np.ndarray[Any, Any]:
    """Doubles with the precision of a type; infinite beyond its largest number."""
    if width == 64:
        return floats
    with np.errstate(over="ignore"):
        return floats.astype(np.float32).astype(np.float64)


def cell_reader(type: Type, typedefs: TypeDefs) -> Callable[[str], Any]:
    """A function that reads one cell of a text file as a value of the type. It raises ValueError."""
    match type:
        case String():
            return _identity
        case Bit() | Signed() | BigInt():
            return lambda text: read_integer(text, type)
        case Float():
            return lambda text: read_float(text, type)
        case Bool():
            return read_bool
        case User() if is_nullable(type, typedefs):
            return _nullable_reader(type, typedefs)
    return lambda text: _composite_cell(text, type, typedefs)


def is_value(read: Callable[[str], Any], text: str) -> bool:
    """Whether a text has the form that `read` reads, which raises ValueError for others."""
    try:
        read(text)
    except ValueError:
        return False
    return True


def _nullable_reader(type: User, typedefs: TypeDefs) -> Callable[[str], Any]:
    """A cell of a table of SQL: nothing, or `\\N`, is NULL."""
    some, none = some_maker(type, typedefs), default_value(type, typedefs)
    read = cell_reader(type.args[0], typedefs)
    return lambda text: none if text in _NULLS else some(read(text))


def cell_writer(type: Type, typedefs: TypeDefs) -> Callable[[Any], str | None]:
    """A function that writes a value of the type as one cell of a text file: its text, or JSON. It returns
    None for an absent value."""
    match type:
        case String():
            return _identity
        case Bit(width) | Signed(width) if width <= 64:
            return str
        case Bit() | Signed() | BigInt():
            return decimal
        case Float(width):
            return lambda value: shortest(value, width)
        case User() if is_option(type):
            return _option_writer(type, typedefs)
        case User() if type == JSON_VALUE:
            return lambda value: json_text(to_json(value, type, typedefs))
        case FunctionType() | Opaque() if isinstance(type, FunctionType) or type.name in {ANY, *typedefs}:
            return lambda value: values.show(value, type, typedefs)
    form = text_form(type, typedefs)
    if form is None:
        return lambda value: _data_text(to_json(value, type, typedefs))
    write = form.write
    return lambda value: write(value) or _data_text(to_json(value, type, typedefs))


def _option_writer(type: User, typedefs: TypeDefs) -> Callable[[Any], str | None]:
    """The text of the value in an Option. A text that would be taken for an Option stands in the Option's."""
    held = type.args[0]
    if is_option(held) or held == JSON_VALUE:
        return lambda value: json_text(to_json(value, type, typedefs)) if value[0] else None
    write, nullable = cell_writer(held, typedefs), is_nullable(type, typedefs)

    def write_present(value: Any) -> str | None:
        text = write(value[1]) if value[0] else None
        if text is None or nullable or _TAKEN.match(text) is None:
            return text
        return text if cell_reader(type, typedefs)(text) == value else values.show(value, type, typedefs)

    return write_present


def _data_text(data: Any) -> str:
    """Data of JSON as a cell; the name of a constructor without quotes."""
    return data if isinstance(data, str) and data.isidentifier() else json_text(data)


def whole_cell_writer(type: Type, typedefs: TypeDefs) -> Callable[[Any], str]:
    """The function that writes cells of files that cannot tell an empty text from an absent value."""
    write = cell_writer(type, typedefs)
    if not is_option(type):
        return lambda value: write(value) or ""
    return lambda value: write(value) or (values.show(value, type, typedefs) if value[0] else "")


def _identity(text: str) -> str:
    return text


def _composite_cell(text: str, type: Type, typedefs: TypeDefs) -> Any:
    """A value in the form of command files, as its own text without quotes, or as JSON. An Option of a plain
    value may also be that value, or nothing."""
    if is_option(type):
        if not text:
            return parse_value("None", type, typedefs)
        try:
            return _cell_value(text, type, typedefs)
        except ValueError:
            of = type.args[0]
            if not isinstance(of, String | Bit | Signed | BigInt | Float | Bool):
                raise
            return some_maker(type, typedefs)(cell_reader(of, typedefs)(text))
    return _cell_value(text, type, typedefs)


def _cell_value(text: str, type: Type, typedefs: TypeDefs) -> Any:
    """A value in the form of command files, as its own text without quotes, or as JSON."""
    try:
        return parse_value(text, type, typedefs)
    except TextFault as fault:
        problem = f"expected {type}: {fault.message}"
    of = type.args[0] if is_option(type) else type
    form = text_form(of, typedefs)
    if form is None or text.lstrip()[:1] in _QUOTES:
        return _json_cell(text, type, typedefs, problem)
    if text.lstrip()[:1] in _BRACKETS:
        with suppress(ValueError):
            return _json_cell(text, type, typedefs, "")
    try:
        value = _bare_text(text, form, of)
    except ValueError as error:
        with suppress(ValueError):
            return _json_cell(text, type, typedefs, "")
        raise error from None
    return some_maker(type, typedefs)(value) if is_option(type) else value


def _json_cell(text: str, type: Type, typedefs: TypeDefs, problem: str) -> Any:
    """A value as JSON. Raises ValueError, with the problem if the text is no JSON at all."""
    try:
        return from_json(decode_json(text), type, typedefs)
    except json.JSONDecodeError:
        raise ValueError(problem) from None
    except RecursionError:
        raise ValueError("the value is nested too deeply") from None


def _bare_text(text: str, form: TextForm, type: Type) -> Any:
    """A value as its own text; with blanks around it, if they are no part of it. Raises ValueError."""
    try:
        return form.read(text)
    except ValueError:
        return from_written(text.strip(" \t\n\v\f\r"), form, type)


def check_names(found: list[str], relation: Relation) -> None:
    """Checks that a table has the columns of the relation, in any order. Raises CellFault."""
    if sorted(found) == sorted(column.name for column in relation.columns):
        return
    names = relation.titles
    missing = next((name for name in names if name not in found), None)
    wrong = next((name for name in found if name not in names or found.count(name) > 1), None)
    if missing is None and wrong is None:
        return
    what = f"there is no column `{missing}`"
    if missing is None:
        what = f"the column `{wrong}` is there twice" if wrong in names else f"`{wrong}` is no column"
    raise CellFault(f"{what}; the columns of {relation.name} are {', '.join(names)}", 0, 0, "")


def transpose(rows: Sequence[tuple[Any, ...]], width: int) -> Columns:
    """Rows of values as columns."""
    if not rows:
        return Columns(tuple([] for _ in range(width)), 0)
    return Columns(tuple(list(column) for column in zip(*rows, strict=True)), len(rows))
