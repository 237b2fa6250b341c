"""The first line of separated rows: is it a header, or a row?

It is a header if its cells are the names of the columns, each once, in any order, in any case and with any
signs beside letters and digits. If they could be values as well, they are a header all the same, unless one
of them occurs as a cell below: then they are a row. In these two cases a note says what was done, but not
where three or more cells are the names as they are declared: that is a header, whatever is below. Cells
without letters that could be values are a row. The option `header` of a place says it beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core import Relation
from .columns import is_value
from .delimited import Record
from .dialects import PLAIN, Dialect
from .faults import CellFault, RefuseFault

SAMPLE = 1000
"""The rows below the first line that are looked at."""
_OTHER_SIGNS = re.compile(r"[\W_]+")
_ENOUGH = 3
"""A row of so many cells is hardly ever the names of its columns in their order."""


def find_header(
    first: Record,
    below: Iterable[Record],
    relation: Relation,
    readers: Sequence[Callable[[str], Any]],
    dialect: Dialect = PLAIN,
) -> tuple[list[int] | None, str]:
    """The place of each column, or None if the first line is a row; and a note, or nothing. `readers` read
    cells. Raises CellFault for a header that is not right."""
    names = dialect.names(relation)
    cells = [cell.strip().removeprefix("\ufeff") for cell in first.cells]
    places = places_in(cells, relation, dialect)
    if dialect.header == "no":
        return None, ""
    is_row = len(cells) == len(names) and all(map(is_value, readers, first.cells))
    if None in places or (len(cells) > len(names) and dialect.extra == "error"):
        known = sum(place is not None for place in places)
        told = dialect.header == "yes" or bool(dialect.map)
        if told or (not is_row and known and 2 * known >= len(names)):
            raise _wrong_header(first, cells, names, relation)
        return None, ""
    found = [place for place in places if place is not None]
    if is_row and not (dialect.header == "yes" or dialect.map or _has_letters(cells)):
        return None, ""
    if not is_row or dialect.header == "yes" or dialect.map or (cells == names and len(names) >= _ENOUGH):
        return found, ""
    seen = {cell for record in below for cell in record.cells}
    again = next((cell for cell in first.cells if cell in seen), None)
    if again is not None:
        why = f"as `{again}` is also below it"
        return None, f"the first line is taken for a row, {why}; header=yes says otherwise"
    return found, "the first line names the columns, and is taken for a header; header=no says otherwise"


def check_no_header(
    first: Record,
    relation: Relation,
    readers: Sequence[Callable[[str], Any]],
    refuse: RefuseFault | None = None,
) -> str:
    """A note, or nothing, about the first row of a file that has no header, if it names the columns. Raises
    CellFault if it can be no row, unless wrong rows are refused."""
    cells = [cell.strip() for cell in first.cells]
    if len(cells) != len(relation.columns) or not _has_letters(cells):
        return ""
    if None in places_in(cells, relation):
        return ""
    if all(map(is_value, readers, first.cells)):
        return "the first line names the columns, and is taken for a row; header=yes says otherwise"
    if refuse is not None:
        return ""
    message = "this line names the columns, and is read as a row"
    help = "an option of the place says that the first line is a header: `?header=yes`"
    raise CellFault(message, first.line, 1, first.text, len(first.text), help)


def places_in(found: Sequence[str], relation: Relation, dialect: Dialect = PLAIN) -> list[int | None]:
    """The place of each column of a relation among those found, by its name in files, or else all by those in
    rules; None: it is not there, or twice."""
    places = column_places(found, dialect.names(relation))
    if None not in places or dialect.map:
        return places
    ruled = column_places(found, [column.name for column in relation.columns])
    return places if None in ruled else ruled


def column_places(found: Sequence[str], names: Sequence[str]) -> list[int | None]:
    """The place of each name among those found: of one that is written alike, else in another case, else with
    other signs; None: it is not there, or twice."""
    forms: tuple[Callable[[str], str], ...] = (str, str.casefold, plain_name)
    made: list[tuple[Sequence[str], Sequence[str]]] = [(found, names)]  # in each form that was needed

    def place(name: str) -> int | None:
        for at, form in enumerate(forms):
            if at == len(made):
                made.append(([form(each) for each in found], [form(each) for each in names]))
            (there, own), wanted = made[at], form(name)
            if wanted in there:
                return there.index(wanted) if there.count(wanted) == own.count(wanted) == 1 else None
        return None

    return [place(name) for name in names]


def _has_letters(cells: Iterable[str]) -> bool:
    """Whether some cell has a letter. The row `0,1` is hardly ever a header of columns `c0` and `c1`."""
    return any(sign.isalpha() for cell in cells for sign in cell)


def plain_name(name: str) -> str:
    """A name in small letters, without other signs than letters and digits: of `Total, $` it is `total`.
    Letters of all alphabets stay, so that no name is taken for one with other letters."""
    plain = _OTHER_SIGNS.sub("_", name.casefold()).strip("_") or name
    return f"c{plain}" if plain[:1].isdigit() else plain


def _wrong_header(
    record: Record, cells: Sequence[str], names: Sequence[str], relation: Relation
) -> CellFault:
    known = {plain_name(name) for name in names}
    plain = [plain_name(cell) for cell in cells]
    missing = next(
        (name for name, at in zip(names, column_places(cells, names), strict=True) if at is None), None
    )
    for position, cell in enumerate(plain):
        if cell not in known or plain.index(cell) < position:
            what = "twice in the header" if cell in known else f"no column of {relation.name}"
            message = f"`{cells[position]}` is {what}; the columns are {', '.join(names)}"
            help = "`?extra=ignore` leaves out such columns" if cell not in known and missing is None else ""
            return CellFault(message, record.line, record.column(position), record.text, help=help)
    message = f"the header lacks the column `{missing}` of {relation.name}"
    return CellFault(message, record.line, 1, record.text)
