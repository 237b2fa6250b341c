"""Declarations for the rows of files: types, keys that hold, options where values are missing.

The types are those of the rows that are there; a comment beside each says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from ..errors.diagnostics import counted
from .delimited import RowShape, records, usual_shape
from .dialects import DELIMITED, TABLES, map_text
from .faults import CellFault
from .files import FactFile
from .guesses import DATE, FLOAT, INTEGER, MOMENT, guessed, usual_cells
from .header import SAMPLE, column_places, plain_name
from .inferredtypes import InferredTypes, field_names, type_name
from .jsonfiles import items_of
from .places import file_at
from .read import errors_of, table_of, text_of

_MOST_OF_A_KEY = 12
"""The columns whose pairs are tried as keys."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """A declaration for the rows of a file, the modules that its types need, and a place that reads them."""

    text: str
    imports: frozenset[str]
    place: str


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a file: its name there, and its values; None for one that is missing."""

    there: str
    values: Sequence[Any]

    @property
    def is_key(self) -> bool:
        """Whether each row has another value, which is one number, text or time."""
        if any(value is None or isinstance(value, list | dict) for value in self.values):
            return False
        return len(set(map(_hashed, self.values))) == len(self.values)


def inferred(place: str) -> Inferred:
    """The declaration of a relation that has the rows of a file. Raises DDlogError."""
    file = file_at(place)
    name = file.shown
    with errors_of(name):
        columns, options = _columns(file)
        if not columns:
            raise CellFault("there are no rows", 0, 0, "")
    stem = Path(file.dialect.member or name).name.partition(".")[0]
    return _declared(type_name(stem), place, columns, options, file.format in DELIMITED)


def _columns(file: FactFile) -> tuple[list[_Column], list[str]]:
    """The columns of a file, and the options of a place that its form needs."""
    if file.format in DELIMITED:
        return _delimited(file)
    if file.format in TABLES:
        table = table_of(file)
        names = table.column_names
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise CellFault(f"two columns are named `{twice}`", 0, 0, "")
        values = _sheet_values if file.format == "xlsx" else list
        return [_Column(name, values(table[name].to_pylist())) for name in names], []
    text = text_of(file)
    rows = [item for _, item in items_of(text, file.format != "json")]
    if all(isinstance(row, dict) for row in rows):
        names = list(dict.fromkeys(chain.from_iterable(rows)))
        return [_Column(name, [row.get(name) for row in rows]) for name in names], []
    width = max((len(row) for row in rows if isinstance(row, list)), default=0)
    if not all(isinstance(row, list) and len(row) == width for row in rows):
        raise CellFault("the rows are neither all objects nor all arrays of one length", 0, 0, "")
    return [_Column(f"c{at}", [row[at] for row in rows]) for at in range(width)], []


def _sheet_values(values: list[Any]) -> list[Any]:
    """The values of a column of a sheet, where all numbers are doubles and all dates have a time: as integers
    and as dates, if all of them can be."""
    present = [value for value in values if value is not None]
    if all(isinstance(each, float) and each.is_integer() for each in present):
        return [each if each is None else int(each) for each in values]
    if all(isinstance(each, datetime) and each.time() == time() for each in present):
        return [each if each is None else each.date() for each in values]
    return values


def _delimited(file: FactFile) -> tuple[list[_Column], list[str]]:
    text = text_of(file)
    shape, options = _shape(text, file)
    found = list(records(text, shape))
    first = [cell.strip() for cell in found[0].cells] if found else []
    headed = file.dialect.header == "yes" or (file.dialect.header == "auto" and _is_header(first))
    again = headed and any(cell in row.cells for row in found[1 : SAMPLE + 1] for cell in first)
    if (file.format != "csv" or again) and "header" not in file.dialect.given:
        options += ["header=yes"] if headed else []
    if not headed and file.dialect.header == "auto" and _repeats_names(first, found[1:]):
        twice = next(cell for cell in first if list(first).count(cell) > 1)
        message = f"two columns are named `{twice}`; give them different names, or say `?header=no`"
        raise CellFault(message, 1, 1, found[0].text, len(found[0].text))
    names = first if headed else [f"c{at}" for at in range(len(first))]
    rows = found[1:] if headed else found
    wrong = next((row for row in rows if len(row.cells) != len(names)), None)
    if wrong is not None:
        message = f"expected {counted(len(names), 'column')}, found {len(wrong.cells)}"
        raise CellFault(message, wrong.line, 1, wrong.text, len(wrong.text))
    columns = [[row.cells[at] for row in rows] for at in range(len(names))]
    dialect, guesses = guessed(columns, file.dialect)
    cells = [usual_cells(each, dialect) for each in columns]
    return list(map(_Column, names, cells)), options + guesses


def _shape(text: str, file: FactFile) -> tuple[RowShape, list[str]]:
    """The shape of the rows; a file without commas in its first line may have other signs."""
    dialect, usual = file.dialect, usual_shape(file.format)
    first = text.split("\n", 1)[0]
    signs = [sign for sign in (usual.separator, ";", "\t", "|") if sign in first]
    sign = dialect.delimiter or (signs[0] if signs else usual.separator)
    guessed = dialect.delimiter is None and sign != usual.separator
    quote = usual.quote if dialect.quote is None else dialect.quote
    options = [f"delimiter={'tab' if sign == chr(9) else sign}"] if guessed else []
    return RowShape(sign, quote, dialect.skip), options


def _is_header(cells: Sequence[str]) -> bool:
    """Whether cells look like names: all are different texts, and none is a number, a date or empty, but for
    the first, above the index of a data frame."""
    values = (INTEGER, FLOAT, DATE, MOMENT)
    named = [cell for cell in cells if cell.strip() and not any(each.match(cell) for each in values)]
    indexed = len(cells) > 1 and cells[0] == ""
    return len(set(named)) + indexed == len(cells) > 0


def _repeats_names(cells: Sequence[str], rows: Sequence[Any]) -> bool:
    """Whether cells look like names, some of them twice: no one is a number, as some cells below are."""
    below = [cell for row in rows for cell in row.cells]
    return len(set(cells)) < len(cells) and not any(map(FLOAT.match, cells)) and any(map(FLOAT.match, below))


def _declared(
    relation: str, place: str, columns: Sequence[_Column], options: list[str], are_texts: bool
) -> Inferred:
    there = [column.there for column in columns]
    names = field_names(there)
    found, plain = column_places(there, names), list(map(plain_name, there))  # the places without a map
    renamed = [
        (names[at], there[at]) for at, place in enumerate(found) if place != at or plain.count(plain[at]) > 1
    ]
    if renamed:
        options = [*options, f"map={map_text(renamed)}"]
    types = InferredTypes(relation, are_texts)
    lines = types.fields([(name, column.values) for name, column in zip(names, columns, strict=True)])
    options = [*options, "extra=ignore"] if types.left_out else options
    count = len(columns[0].values) if columns else 0
    text = [f"// {place}: {counted(count, 'row')}", *types.typedefs]
    text += [f"input relation {relation}(", *lines, ")"]
    kept = [each for each in zip(names, columns, strict=True) if each[0] not in types.left_out]
    text += _key(kept, count)
    sign = "&" if "?" in place else "?"
    whole = f"{relation}={place}" + (sign + "&".join(options) if options else "")
    return Inferred("\n".join(text), frozenset(types.imports), whole)


def _key(columns: Sequence[tuple[str, _Column]], count: int) -> Iterator[str]:
    """The line of a primary key: the first column whose values all differ, or else the first such pair."""
    if count < 2:
        return
    single = [name for name, column in columns if column.is_key]
    if single:
        others = f"; so is {', '.join(single[1:])}" if single[1:] else ""
        yield f"primary key (row) row.{single[0]}  // unique in {counted(count, 'row')}{others}"
        return
    for (a, first), (b, second) in combinations(columns[:_MOST_OF_A_KEY], 2):
        if _Column("", list(zip(first.values, second.values, strict=True))).is_key:
            yield f"primary key (row) (row.{a}, row.{b})  // unique in {counted(count, 'row')}"
            return
    whole = set(map(_hashed, zip(*(column.values for _, column in columns), strict=True)))
    if len(whole) < count:
        yield f"// {counted(count - len(whole), 'row')} more than once: a relation has each once"


def _hashed(value: Any) -> Any:
    return repr(value) if isinstance(value, list | dict | tuple) else value
