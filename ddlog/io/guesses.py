"""Guesses how the cells of a file are written: its words for what is absent, the signs in its numbers, and
the format of its dates.

A guess holds for all columns of the file. Where two forms would do, none is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from .columns import is_value
from .dialectcells import number_form, usual_number
from .dialects import Dialect

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)\Z")
FLOAT = re.compile(r"-?([0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|(?i:inf|infinity))\Z")
DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")
TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d{1,9})?\Z")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?\Z")
ZONED = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d(:?\d\d)?)\Z")

_WORDS = ("NA", "N/A", "#N/A", "NULL", "null", "NaN", "nan", "None", "-", "\\N")
_SIGNS = ((",", "."), (",", " "), (",", ""), (".", ","), (".", "'"))
_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_FORMATS = tuple(day + time for day in (*_DAYS, "%Y-%m-%d") for time in _TIMES if day + time != "%Y-%m-%d")

_Cells = Sequence[str]


def guessed(columns: Sequence[_Cells], given: Dialect) -> tuple[Dialect, list[str]]:
    """How the cells of columns are written, as far as it is not given, and the options that say it."""
    words = ("", *_WORDS, *given.null)
    cores = [[cell.strip() for cell in cells if cell.strip() not in words] for cells in columns]
    dialect, options = given, list[str]()
    if not given.given & {"decimal", "thousands"}:
        decimal, thousands = next((signs for signs in _SIGNS if _are_signs(signs, cores)), (".", ""))
        dialect = replace(dialect, decimal=decimal, thousands=thousands)
        options += [f"decimal={decimal}"] if decimal != "." else []
        options += [f"thousands={'space' if thousands == ' ' else thousands}"] if thousands else []
    if given.date is None:
        date = _date_format(cores)
        dialect = replace(dialect, date=date)
        options += [f"date={date}"] if date is not None else []
    if not given.null:
        found = [word for word in _WORDS if any(_is_absence(word, cells, dialect) for cells in columns)]
        empty = [""] if found and any("" in cells for cells in columns) else []
        dialect = replace(dialect, null=tuple(found + empty))
        options += [f"null={word}" for word in dialect.null]
    return dialect, options


def usual_cells(cells: _Cells, dialect: Dialect) -> list[str | None]:
    """The cells of a column in their usual form; None for what is absent."""
    absent = dialect.null or ("",)
    present = [cell for cell in cells if cell not in absent]
    usual = _usual(present, dialect)
    return [None if cell in absent else usual(cell) for cell in cells]


def _usual(cells: _Cells, dialect: Dialect) -> Callable[[str], str]:
    """A function that gives the cells of a column in their usual form."""
    decimal, thousands, date = dialect.decimal, dialect.thousands, dialect.date
    if (decimal != "." or thousands) and all(map(number_form(decimal, thousands).match, cells)):
        return lambda cell: usual_number(cell, decimal, thousands)
    if date is not None and _all_dates(cells, date):
        is_day = not re.search("%[HIMSf]", date)
        return lambda cell: _iso(datetime.strptime(cell, date), is_day)
    return lambda cell: cell


def _iso(moment: datetime, is_day: bool) -> str:
    return (moment.date() if is_day else moment).isoformat()


def _are_signs(signs: tuple[str, str], cores: Sequence[_Cells]) -> bool:
    """Whether numbers are written with these signs: some must be, and none otherwise."""
    decimal, thousands = signs
    plain, form = number_form(".", ""), number_form(*signs)
    numbers = [cells for cells in cores if cells and all(map(form.match, cells))]
    others = [cells for cells in cores if cells not in numbers and cells and all(map(plain.match, cells))]
    return not others and any(_shows(cells, decimal, thousands) for cells in numbers)


def _shows(cells: _Cells, decimal: str, thousands: str) -> bool:
    """Whether a number of a column can only mean these signs: `1,234` could mean others."""
    if thousands:
        return any(cell.count(thousands) + (decimal in cell) > 1 and thousands in cell for cell in cells)
    return any(decimal in cell and not re.search(r"\D\d{3}\Z", cell) for cell in cells)


def _date_format(cores: Sequence[_Cells]) -> str | None:
    """The format of the dates of all columns that have some, if it is one."""
    if any(cells and all(DATE.match(cell) or MOMENT.match(cell) for cell in cells) for cells in cores):
        return None
    found = [[each for each in _FORMATS if _all_dates(cells, each)] for cells in cores if cells]
    chosen = {tuple(each) for each in found if each}
    return next(iter(chosen))[0] if len(chosen) == 1 and len(next(iter(chosen))) == 1 else None


def _all_dates(cells: _Cells, format: str) -> bool:
    return all(is_value(lambda cell: datetime.strptime(cell, format), cell) for cell in cells)


def _is_absence(word: str, cells: _Cells, dialect: Dialect) -> bool:
    """Whether a word stands among numbers or dates."""
    others = [cell for cell in cells if cell and cell not in _WORDS]
    if word not in cells or not others:
        return False
    usual = _usual(others, dialect)
    return all(FLOAT.match(text) or DATE.match(text) or MOMENT.match(text) for text in map(usual, others))
