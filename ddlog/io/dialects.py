"""Options of a place: how its files are written. `orders.csv?delimiter=;&null=NA`

One table has all options. An option is for some formats; in a place of several files it is for those of them.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from ..core import Relation
from ..errors.diagnostics import DDlogError
from ..errors.places import BadPlaceOption, NoPlaceOption, OptionOfOtherFormat, UnknownColumn
from .faults import RefuseFault

DELIMITED = frozenset({"csv", "tsv", "facts"})
JSON = frozenset({"json", "jsonl", "ndjson"})
TABLES = frozenset({"parquet", "arrow", "xlsx"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """How files are written, as far as it is not the usual way of their format."""

    header: str = "auto"
    """Whether the first line names the columns: yes, no, or auto, as it looks."""
    delimiter: str | None = None
    quote: str | None = None
    """The sign around cells; empty for none."""
    encoding: str = "utf-8"
    null: tuple[str, ...] = ()
    """The texts of cells that are absent."""
    date: str | None = None
    """The format of dates and times, as of `strptime`."""
    decimal: str = "."
    """The sign before the fraction of a number."""
    thousands: str = ""
    """The sign between groups of three digits; empty for none."""
    skip: int = 0
    """Lines before the first one that counts."""
    extra: str = "error"
    """The treatment of columns that the relation does not have: error or ignore."""
    map: tuple[tuple[str, str], ...] = ()
    """Some columns, each with its name in the file."""
    member: str | None = None
    """The file in an archive."""
    sheet: str | None = None
    given: frozenset[str] = frozenset()
    """The names of the options that were given."""

    def names(self, relation: Relation) -> list[str]:
        """The name in the file of each column of a relation. Raises DDlogError for a name that is no
        column's, and for one that another column has in the file."""
        mapped, columns = dict(self.map), tuple(column.name for column in relation.columns)
        named = [*zip(columns, relation.titles, strict=True)]
        for name, there in self.map:
            if name not in columns:
                raise DDlogError([UnknownColumn(relation.name, name, columns)])
            own = next((each for each, title in named if title.casefold() == there.casefold()), None)
            if own is not None and own not in mapped:
                expected = f"a name for the column `{own}`, too, as in {own}:OTHER,{name}:{there}"
                raise DDlogError([BadPlaceOption("map", f"{name}:{there}", expected)])
        return [mapped.get(name, title) for name, title in named]


PLAIN = Dialect()


@dataclass(frozen=True, slots=True)
class _Option:
    """The form of an option: `read` makes its value of a text and raises ValueError."""

    expected: str
    read: Callable[[str], Any]
    formats: frozenset[str]
    repeated: bool = False


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return read


def _sign(text: str) -> str:
    sign = {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text)
    if len(sign) != 1 or sign in "\r\n\0":
        raise ValueError
    return sign


def _encoding(text: str) -> str:
    try:
        return codecs.lookup(text).name
    except LookupError:
        raise ValueError from None


def _format(text: str) -> str:
    if "%" not in text:
        raise ValueError
    return text


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ValueError
    return int(text)


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [each.partition(":") for each in text.split(",")]
    if not all(name and colon for name, colon, _ in pairs):
        raise ValueError
    return tuple((name, _ESCAPED.sub(lambda e: chr(int(e[1], 16)), there)) for name, _, there in pairs)


def map_text(renamed: Iterable[tuple[str, str]]) -> str:
    """The value of the option `map` for names of columns and of what they are called in a file."""
    return ",".join(f"{name}:{_ENDING.sub(lambda e: f'%{ord(e[0]):X}', there)}" for name, there in renamed)


_ESCAPED = re.compile("%(2C|26|25)")
_ENDING = re.compile("[,&]|%(?=2C|26|25)")  # what would end a name, or be read as another sign


OPTIONS: Mapping[str, _Option] = {
    "header": _Option("yes, no or auto", _one_of("yes", "no", "auto"), DELIMITED),
    "delimiter": _Option("one sign, or tab", _sign, DELIMITED),
    "quote": _Option("one sign, or nothing", lambda text: _sign(text) if text else "", DELIMITED),
    "encoding": _Option("an encoding such as latin-1", _encoding, DELIMITED | JSON),
    "null": _Option("a text", lambda text: (text,), DELIMITED, repeated=True),
    "date": _Option("a format such as %d.%m.%Y", _format, DELIMITED),
    "decimal": _Option("one sign, such as a comma", _sign, DELIMITED),
    "thousands": _Option("one sign, such as a point", _sign, DELIMITED),
    "skip": _Option("a number of lines", _count, DELIMITED),
    "extra": _Option("error or ignore", _one_of("error", "ignore"), DELIMITED | JSON | TABLES),
    "map": _Option("column:name,…", _pairs, DELIMITED | JSON | TABLES, repeated=True),
    "member": _Option("a file in the archive", str, DELIMITED | JSON),
    "sheet": _Option("the name of a sheet", str, frozenset({"xlsx"})),
}
"""The options of places, in the order of the documents."""

_WRITTEN = re.compile(r"\?([a-z]+=.*)\Z", re.DOTALL)


def split_options(text: str) -> tuple[str, Dialect]:
    """A place without its options, and what they say. Raises DDlogError. A query of a URL is left to it, if
    not all names in it are of options."""
    found = _WRITTEN.search(text)
    if found is None:
        return text, PLAIN
    given = [each.partition("=")[::2] for each in found.group(1).split("&")]
    unknown = next((name for name, _ in given if name not in OPTIONS), None)
    if unknown is not None and "://" in text:
        return text, PLAIN
    if unknown is not None:
        raise DDlogError([NoPlaceOption(unknown, text, tuple(OPTIONS))])
    dialect = reduce(_with_option, given, PLAIN)
    if dialect.thousands == dialect.decimal:
        expected = f"another sign than that before the fraction, decimal={dialect.decimal}"
        raise DDlogError([BadPlaceOption("thousands", dialect.thousands, expected)])
    return text[: found.start()], dialect


def _with_option(dialect: Dialect, given: tuple[str, str]) -> Dialect:
    name, text = given
    option = OPTIONS[name]
    try:
        value = option.read(text)
    except ValueError:
        raise DDlogError([BadPlaceOption(name, text, option.expected)]) from None
    before = getattr(dialect, name)
    value = before + value if option.repeated else value
    return replace(dialect, **{name: value}, given=dialect.given | {name})


def check_fits(dialect: Dialect, format: str, path: str) -> None:
    """Raises DDlogError for an option that the format of a file does not have."""
    for name in sorted(dialect.given):
        if format not in OPTIONS[name].formats:
            raise DDlogError([OptionOfOtherFormat(path, name, ", ".join(sorted(OPTIONS[name].formats)))])


@dataclass(frozen=True, slots=True)
class Reading:
    """The dialect of a file, and who is told notes about it. Wrong rows are refused; without `refuse` they
    are errors."""

    dialect: Dialect = PLAIN
    note: Callable[[str], None] = lambda _: None
    refuse: RefuseFault | None = None


PLAINLY = Reading()
