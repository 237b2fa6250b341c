"""INSERT of literals and parameters, read without the parser: a file of such statements is as fast as facts.

Statements that differ in literals alone have one *shape*: the text with a mark for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..core import Relation
from ..errors.diagnostics import DDlogError
from ..errors.source import Source
from ..types import Float, TypeDef, User
from ..values.rows import Row, row_of

MARK = "\0"
MOST_SHAPES = 1_024
"""The most shapes of statements that are remembered."""
_PART = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/ | (?<![\w.$])\d+(?:\.\d+)?(?![\w.])""",
    re.VERBOSE | re.DOTALL,
)
_OTHERWISE = re.compile(r"""[\\"`]|''""")
_CELL = r"(?:\0|-\s*\0|\?|NULL|TRUE|FALSE)"
_ROW = rf"\(\s*{_CELL}(?:\s*,\s*{_CELL})*\s*\)"
_INSERT = re.compile(
    rf"""\s*INSERT\s+INTO\s+(?P<table>\w+|"\w+")\s*(?:\((?P<columns>[\w\s,"]+)\)\s*)?
    VALUES\s*(?P<rows>{_ROW}(?:\s*,\s*{_ROW})*)\s*;?\s*\Z""",
    re.VERBOSE | re.IGNORECASE,
)
_CELLS = re.compile(_CELL, re.IGNORECASE)
_CHANGE = re.compile(
    r"\s*(UPDATE|DELETE|MERGE|INSERT\b(?=.*\bVALUES\b))\s*(?!.*(\bSELECT\b|[?:$]))", re.IGNORECASE | re.DOTALL
)


def shape_of(text: str) -> tuple[str, list[str]]:
    """The text with a mark for each number and each string, and these."""
    literals: list[str] = []

    def marked(found: re.Match[str]) -> str:
        part = found.group()
        if part[0] in '"-/':
            return part
        literals.append(part)
        return MARK

    return _PART.sub(marked, text), literals


def literal_of(text: str) -> Any:
    """The value of a literal."""
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    return Decimal(text) if "." in text else int(text)


def parametrised(text: str, dialect: str) -> tuple[str, list[Any]] | None:
    """A statement that changes rows, with parameters in the places of its literals, and these; None for other
    statements, and where a subquery may count by them."""
    shape, literals = shape_of(text)
    if _CHANGE.match(shape) is None or not literals or not _reads_alike(text, dialect):
        return None
    first, *rest = shape.split(MARK)
    return first + "".join(f"${n}{part}" for n, part in enumerate(rest, 1)), list(map(literal_of, literals))


@dataclass(frozen=True, slots=True)
class PlainInsert:
    """An INSERT of literals and parameters: the cells of its rows, one after another, and for each column of
    the relation its place in a row, -1 where it has none. `jsons` are the columns of JSON."""

    relation: Relation
    cells: tuple[str, ...]
    width: int
    places: tuple[int, ...]
    jsons: tuple[int, ...]

    def rows(
        self, literals: Iterable[str], parameters: Sequence[Any], typedefs: Mapping[str, TypeDef]
    ) -> list[Row] | None:
        """The rows; None if values have to be brought to the types of columns."""
        if self.cells.count("?") != len(parameters):
            return None
        values = [*self._values(iter(literals), iter(parameters)), None]
        floats = [at for at, each in enumerate(self.relation.columns) if _is_float(each.type)]
        made = []
        for begin in range(0, len(self.cells), self.width):
            row: list[Any] = [values[begin + at] if at >= 0 else None for at in self.places]
            for at in floats:
                row[at] = float(row[at]) if isinstance(row[at], Decimal) else row[at]
            if not all(map(_is_json, (row[at] for at in self.jsons))):
                return None
            try:
                made.append(row_of(tuple(row), self.relation, typedefs))
            except DDlogError:
                return None
        return made

    def _values(self, literals: Iterator[str], parameters: Iterator[Any]) -> Iterator[Any]:
        for cell in self.cells:
            match cell:
                case "\0":
                    yield literal_of(next(literals))
                case "?":
                    yield next(parameters)
                case "NULL":
                    yield None
                case "TRUE" | "FALSE":
                    yield cell == "TRUE"
                case _:
                    value = literal_of(next(literals))
                    yield value if isinstance(value, str) else -value


class PlainInserts:
    """The INSERTs of literals into some relations, with what is known of each shape."""

    def __init__(
        self, relations: Mapping[str, Relation], typedefs: Mapping[str, TypeDef], like: Source
    ) -> None:
        """Statements are read as the program `like`."""
        self._dialect = like.dialect
        self._relations = {
            each.source_name.lower(): each
            for each in readable(relations)
            if like.zone == "UTC"
            or not any("sql::TimestampTz" in str(column.type) for column in each.columns)
        }
        self._typedefs = typedefs
        self._known: dict[str, PlainInsert | None] = {}

    def of(self, text: str, parameters: Sequence[Any] = ()) -> tuple[str, list[Row]] | None:
        """The relation and the rows of an INSERT of literals and parameters; None for other statements."""
        if not _reads_alike(text, self._dialect):
            return None
        shape, literals = shape_of(text)
        if shape not in self._known:
            if len(self._known) > MOST_SHAPES:
                self._known.clear()
            self._known[shape] = plain_insert(shape, self._relations)
        found = self._known[shape]
        rows = None if found is None else found.rows(literals, parameters, self._typedefs)
        return None if found is None or rows is None else (found.relation.name, rows)


def _reads_alike(text: str, dialect: str) -> bool:
    """Whether the literals of a text are those of DuckDB in a dialect, too."""
    return dialect == "duckdb" or _OTHERWISE.search(text) is None


def readable(relations: Mapping[str, Relation]) -> list[Relation]:
    """The relations that statements know."""
    return [
        each
        for each in relations.values()
        if not (each.hidden or each.made or each.kind == "stream" or "::" in each.name)
    ]


def plain_insert(shape: str, relations: Mapping[str, Relation]) -> PlainInsert | None:
    """The INSERT of a shape into one of the relations, by their names in SQL; None for anything else, as for
    one that leaves a column to its default."""
    found = _INSERT.match(shape)
    relation = relations.get(found["table"].strip('"').lower()) if found else None
    if found is None or relation is None or relation.role != "input" or relation.constructor is None:
        return None
    names = [_plain(each.name) for each in relation.columns]
    given = [_plain(each.strip().strip('"')) for each in (found["columns"] or ",".join(names)).split(",")]
    rows = [_CELLS.findall(each) for each in re.findall(r"\([^)]*\)", found["rows"])]
    if (
        any(len(each) != len(given) for each in rows)
        or len(set(given)) < len(given)
        or set(given) - set(names)
    ):
        return None
    cells = tuple(each[0] + MARK if each[0] == "-" else each.upper() for row in rows for each in row)
    places = tuple(given.index(each) if each in given else -1 for each in names)
    columns = _columns_of(relation)
    if any(at == -1 and each.default for at, each in zip(places, columns, strict=False)):
        return None
    jsons = tuple(at for at, each in enumerate(columns) if each.type.kind == "json")
    return PlainInsert(relation, cells, len(given), places, jsons)


def _plain(name: str) -> str:
    """The name of a column, in lower case, without the sign that tells it from words of the language."""
    return name.lower().removesuffix("_")


def _columns_of(relation: Relation) -> Sequence[Any]:
    """The columns of a relation as SQL declares them; none if it does not."""
    origins = relation.span.source.origins
    declared: Any = None if origins is None else origins.tables.get(relation.name)
    return () if declared is None else declared.relation.columns


def _is_json(value: Any) -> bool:
    """True for NULL, and for a text that a parser of JSON reads."""
    from ..stdlib.sqljson import json_valid

    return value is None or (isinstance(value, str) and json_valid(value))


def _is_float(type: object) -> bool:
    if isinstance(type, User) and type.name == "ddlog_std::Option":
        type = type.args[0]
    return isinstance(type, Float)
