"""Declarations for the rows of files: types, keys that hold, options where values are missing.

The types are those of the rows that are there; a comment beside each says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from ..errors import facts as errors
from ..errors.diagnostics import DDlogError, counted
from ..syntax.lexer import RESERVED
from ..syntax.tables import tables
from .delimited import RowShape, records, usual_shape
from .dialects import DELIMITED, TABLES, check_fits, split_options
from .faults import CellFault, FaultyFile
from .files import FactFile, no_format, split_name
from .guesses import DATE, FLOAT, INTEGER, MOMENT, ZONED, guessed, usual_cells
from .jsonfiles import items_of
from .read import fault_in, faulty_file, table_of, text_of

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
        """Whether each row has another value."""
        return None not in self.values and len(set(map(_hashed, self.values))) == len(self.values)


def inferred(place: str) -> Inferred:
    """The declaration of a relation that has the rows of a file. Raises DDlogError."""
    name, dialect = split_options(place)
    named = split_name(Path(name))
    if named is None:
        raise DDlogError([no_format(name)])
    stem, format, compressed = named
    check_fits(dialect, format, name)
    try:
        columns, options = _columns(FactFile("", Path(name), format, compressed, dialect))
    except FaultyFile as faulty:
        raise faulty_file(name, faulty) from None
    except CellFault as fault:
        raise DDlogError([fault_in(name, fault)]) from None
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DDlogError([errors.CannotRead(name, reason)]) from None
    return _declared(_type_name(stem), place, columns, options, format in DELIMITED)


def _columns(file: FactFile) -> tuple[list[_Column], list[str]]:
    """The columns of a file, and the options of a place that its form needs."""
    if file.format in DELIMITED:
        return _delimited(file)
    if file.format in TABLES:
        table = table_of(file)
        return [_Column(name, table[name].to_pylist()) for name in table.column_names], []
    text = text_of(file)
    rows = [item for _, item in items_of(text, file.format != "json")]
    if all(isinstance(row, dict) for row in rows):
        names = list(dict.fromkeys(chain.from_iterable(rows)))
        return [_Column(name, [row.get(name) for row in rows]) for name in names], []
    width = max((len(row) for row in rows if isinstance(row, list)), default=0)
    if not all(isinstance(row, list) and len(row) == width for row in rows):
        raise CellFault("the rows are neither all objects nor all arrays of one length", 0, 0, "")
    return [_Column(f"c{at}", [row[at] for row in rows]) for at in range(width)], []


def _delimited(file: FactFile) -> tuple[list[_Column], list[str]]:
    text = text_of(file)
    shape, options = _shape(text, file)
    found = list(records(text, shape))
    first = found[0].cells if found else []
    headed = file.dialect.header == "yes" or (file.dialect.header == "auto" and _is_header(first))
    if file.format != "csv" and "header" not in file.dialect.given:
        options += ["header=yes"] if headed else []
    names = [cell.strip() for cell in first] if headed else [f"c{at}" for at in range(len(first))]
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
    """Whether cells look like names: all are different texts, and none is a number, a date or empty."""
    values = (INTEGER, FLOAT, DATE, MOMENT)
    named = [cell for cell in cells if cell.strip() and not any(each.match(cell) for each in values)]
    return len(set(named)) == len(cells) > 0


def _declared(
    relation: str, place: str, columns: Sequence[_Column], options: list[str], are_texts: bool
) -> Inferred:
    names = _column_names([column.there for column in columns])
    renamed = [(n, c.there) for n, c in zip(names, columns, strict=True) if n != c.there.lower()]
    if renamed:
        options = [*options, "map=" + ",".join(f"{name}:{there}" for name, there in renamed)]
    lines, imports = list[str](), set[str]()
    for name, column in zip(names, columns, strict=True):
        type, why = _type(column.values, are_texts)
        imports.update(re.findall(r"(\w+)::", type))
        comma = "," if len(lines) + 1 < len(columns) else ""
        lines.append(f"    {name}: {type}{comma}  // {why}")
    count = len(columns[0].values) if columns else 0
    text = [f"// {place}: {counted(count, 'row')}", f"input relation {relation}(", *lines, ")"]
    text += _key(names, columns, count)
    sign = "&" if "?" in place else "?"
    whole = f"{relation}={place}" + (sign + "&".join(options) if options else "")
    return Inferred("\n".join(text), frozenset(imports), whole)


def _type(values: Sequence[Any], are_texts: bool) -> tuple[str, str]:
    """The type of a column, and why."""
    present = [value for value in values if value is not None]
    type, why = _type_of(present, are_texts) if present else ("string", "no value is there")
    missing = len(values) - len(present)
    if not missing and present:
        return type, why
    return f"Option<{type}>", f"{why}; missing in {missing:,} of {len(values):,} rows"


def _type_of(values: Sequence[Any], are_texts: bool) -> tuple[str, str]:
    kinds = {type(value) for value in values}
    if kinds == {str}:
        return _type_of_texts(values, are_texts)
    if kinds == {bool}:
        return "bool", "true or false"
    if kinds == {int}:
        return _integer(values)
    if kinds <= {int, float}:
        return "double", f"{min(values)} to {max(values)}"
    if kinds == {date}:
        return "time::Date", f"{min(values)} to {max(values)}"
    if kinds <= {datetime} or all(isinstance(value, datetime) for value in values):
        return "time::DateTime", f"{min(values).isoformat()} to {max(values).isoformat()}"
    if kinds == {list}:
        inner, why = _type([each for value in values for each in value], are_texts)
        return f"Vec<{inner}>", f"lists: {why}"
    if kinds == {dict}:
        return "json::JsonValue", "objects: a typedef with their fields is checked, too"
    if kinds <= {str, bool, int, float, list, dict}:
        return "json::JsonValue", "values of several kinds"
    return "string", f"values that are {', '.join(sorted(kind.__name__ for kind in kinds))} in the file"


def _type_of_texts(values: Sequence[str], are_texts: bool) -> tuple[str, str]:
    def all_are(form: re.Pattern[str], read: Callable[[str], Any]) -> bool:
        return all(map(form.match, values)) and _reads(values, read)

    if all_are(DATE, date.fromisoformat):
        return "time::Date", f"{min(values)} to {max(values)}"
    if all_are(MOMENT, datetime.fromisoformat):
        return "time::DateTime", f"{min(values)} to {max(values)}"
    if all_are(ZONED, datetime.fromisoformat):
        return "time::TzDateTime", f"{min(values)} to {max(values)}"
    if are_texts and all(value in ("true", "false") for value in values):
        return "bool", "true or false"
    if are_texts and all_are(INTEGER, int):
        return _integer(list(map(int, values)))
    if are_texts and all(FLOAT.match(value) and not re.match(r"-?0[0-9]", value) for value in values):
        numbers = list(map(float, values))
        return "double", f"{min(numbers)} to {max(numbers)}"
    example = json.dumps(values[0][:20], ensure_ascii=False)
    return "string", f"{counted(len(set(values)), 'text')}, such as {example}"


def _integer(values: Sequence[int]) -> tuple[str, str]:
    least, most = min(values), max(values)
    fits = least >= -(1 << 63) and most < 1 << 63
    return "s64" if fits else "bigint", f"{least:,} to {most:,}"


def _reads(values: Sequence[str], read: Callable[[str], Any]) -> bool:
    try:
        for value in values:
            read(value)
    except ValueError:
        return False
    return True


def _key(names: Sequence[str], columns: Sequence[_Column], count: int) -> Iterator[str]:
    """The line of a primary key: the first column whose values all differ, or else the first such pair."""
    if count < 2:
        return
    single = [name for name, column in zip(names, columns, strict=True) if column.is_key]
    if single:
        others = f"; so is {', '.join(single[1:])}" if single[1:] else ""
        yield f"primary key (row) row.{single[0]}  // unique in {counted(count, 'row')}{others}"
        return
    for (a, first), (b, second) in combinations(list(zip(names, columns, strict=True))[:_MOST_OF_A_KEY], 2):
        if _Column("", list(zip(first.values, second.values, strict=True))).is_key:
            yield f"primary key (row) (row.{a}, row.{b})  // unique in {counted(count, 'row')}"
            return
    whole = set(map(_hashed, zip(*(column.values for column in columns), strict=True)))
    if len(whole) < count:
        yield f"// {counted(count - len(whole), 'row')} more than once: a relation has each once"


def _hashed(value: Any) -> Any:
    return repr(value) if isinstance(value, list | dict | tuple) else value


def _type_name(stem: str) -> str:
    name = "".join(part[:1].upper() + part[1:] for part in re.split(r"\W+|_", stem) if part)
    return name if name[:1].isalpha() else f"R{name}"


def _column_names(found: Sequence[str]) -> list[str]:
    """Names of columns for those in a file."""
    reserved, names = RESERVED | tables().words.keys(), list[str]()
    for each in found:
        name = re.sub(r"\W+", "_", each).strip("_").lower() or "column"
        name = f"c{name}" if name[0].isdigit() or not name.isascii() else name
        name = f"{name}_" if name in reserved else name
        while name in names:
            name += "_"
        names.append(name)
    return names
