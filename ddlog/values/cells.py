"""The written form of integers, floats and booleans, one for every reader of them.

Text files, command files, tables with columns of text and Spark's SQL all read these forms. The patterns
are written in the syntax that Python's and Java's regular expressions share. `tests/io/cells.tsv` gives
examples with their values.
"""

from __future__ import annotations

import re
from typing import Final

from ..syntax.digits import CONVERTIBLE, to_int
from ..types import BigInt, Bit, Bool, Float, Signed, Type
from .fromplain import check
from .numbers import int_to_double

BLANKS: Final = r"[ \t\n\x0B\f\r]*"
BOOL: Final = "(?i:true|false)"  # as pandas and spreadsheets write them, too
HEXADECIMAL: Final = rf"-?{BLANKS}0[xX]_*[0-9a-fA-F][0-9a-fA-F_]*"
DECIMAL: Final = rf"-?{BLANKS}[0-9][0-9_]*(?:\.0+)?"  # 3.0: how pandas writes integers beside missing values
INTEGER: Final = rf"(?:{DECIMAL}|{HEXADECIMAL})"
_DIGITS = "[0-9][0-9_]*"
_MAGNITUDE = rf"(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?[0-9]+)?"
FRACTION: Final = rf"(?:\+|-{BLANKS})?(?:{_MAGNITUDE}|(?i:inf|infinity|nan))"
FLOAT: Final = rf"(?:{FRACTION}|{HEXADECIMAL})"
WRITTEN_WORDS: Final = ("NaN", "inf", "-inf")  # the floats that JSON has no number for, as they are written

_BOOL_CELL = re.compile(BLANKS + BOOL + BLANKS)
_INTEGER_CELL = re.compile(BLANKS + INTEGER + BLANKS)
_FLOAT_CELL = re.compile(BLANKS + FLOAT + BLANKS)
_MEANINGLESS = str.maketrans("", "", "_ \t\n\x0b\f\r")


def read_bool(text: str) -> bool:
    """The boolean that a cell writes. Raises ValueError."""
    if _BOOL_CELL.fullmatch(text) is None:
        raise _unexpected(text, Bool())
    return "true" in text.lower()


def read_integer(text: str, type: BigInt | Bit | Signed) -> int:
    """The integer of the type that a cell writes. Raises ValueError, also when it is out of range."""
    if _INTEGER_CELL.fullmatch(text) is None:
        raise _unexpected(text, type)
    return integer_of(text, type)


def read_float(text: str, type: Float) -> float:
    """The float that a cell writes, rounded to the type. Raises ValueError."""
    if _FLOAT_CELL.fullmatch(text) is None:
        raise _unexpected(text, type)
    return float_of(text, type)


def integer_of(number: str, type: BigInt | Bit | Signed) -> int:
    """The value of a text of the form INTEGER. Raises ValueError when it is out of the range of the type."""
    number = number.partition(".")[0]
    try:
        value = int(number) if len(number) <= CONVERTIBLE else to_int(number.translate(_MEANINGLESS))
    except ValueError:
        value = to_int(number.translate(_MEANINGLESS))
    return check(value, type, {})  # type: ignore[no-any-return]


def float_of(number: str, type: Float) -> float:
    """The value of a text of the form FLOAT, rounded to the type."""
    try:
        value = float(number)
    except ValueError:
        digits = number.translate(_MEANINGLESS)
        value = int_to_double(to_int(digits)) if "x" in digits.lower() else float(digits)
    return check(value, type, {})  # type: ignore[no-any-return]


def _unexpected(text: str, type: Type) -> ValueError:
    return ValueError(f'expected {type}, found "{text}"')
