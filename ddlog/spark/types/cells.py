"""Texts as values in SQL: Spark reads a cell of a file as `ddlog.io` does.

Spark itself reads numbers, booleans and strings, by the forms that `ddlog.values.cells` declares and with the
same messages; a Python function around the reader of the in-process engine reads other types. Two limits:
Spark holds integers of up to 38 digits, and reads hexadecimal numbers of up to 31 digits.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...codegen.sqltypes import integer_type, spark_type
from ...codegen.sqlvalues import string
from ...io.columns import TypeDefs
from ...types import BigInt, Bit, Bool, Float, Signed, String, Type
from ...values import integer_range
from ...values.cells import BLANKS, BOOL, DECIMAL, FLOAT, FRACTION, HEXADECIMAL, INTEGER

_PLAIN_DECIMAL = r"\A-?[0-9]+\z"
_NAN = rf"(?:\+|-{BLANKS})?(?i:nan)"  # which casts do not know with a sign
_MEANINGLESS = "_ \t\n\v\f\r"
_LONG = (-(1 << 63), (1 << 63) - 1)
_WIDEST = 10**38 - 1
_LOW = 15  # hexadecimal digits that always fit into 64 bits, so that two parts make the longest number
NO_PROBLEM = "CAST(NULL AS STRING)"


@dataclass(frozen=True, slots=True)
class Cell:
    """SQL of a value, and SQL of the fault in it: null for a value without one. `problem_of_known` is that of
    a value that is not null; None: it has none."""

    value: str
    problem: str
    problem_of_known: str | None = None


def is_native(type: Type) -> bool:
    """Whether `text_cell` reads the type without Python."""
    match type:
        case Bool() | Float() | String():
            return True
        case Bit() | Signed() | BigInt():
            return integer_type(type) != "BINARY"
    return False


def text_cell(type: Type, text: str, typedefs: TypeDefs) -> Cell:
    """The value of a native type that the SQL `text`, never null, writes. Raises ValueError for others."""
    match type:
        case String():
            return Cell(text, NO_PROBLEM)
        case Bool():
            value = f"CASE WHEN {_matches(text, BOOL)} THEN contains(lower({text}), 'true') END"
            return Cell(value, f"CASE WHEN {value} IS NULL THEN {_unexpected(type, text)} END")
        case Float(width):
            return _float_cell(type, text, width)
        case Bit() | Signed() | BigInt():
            return _integer_cell(type, text, spark_type(type, typedefs))
    raise ValueError(f"{type} is not read by Spark")


def bounds_of(type: Bit | Signed | BigInt) -> tuple[int, int]:
    """The least and the greatest integer that the type and its Spark type hold."""
    return (-_WIDEST, _WIDEST) if isinstance(type, BigInt) else integer_range(type)


def range_problem(type: Bit | Signed | BigInt, shown: str) -> str:
    """SQL of the message that a number is out of range."""
    if isinstance(type, BigInt):
        return f"concat({shown}, ' has more than 38 digits, the most that Spark holds')"
    least, greatest = integer_range(type)
    return f"concat({shown}, ' is out of the range of {type}, {least} to {greatest}')"


def _unexpected(type: Type, text: str) -> str:
    return f"concat('expected {type}, found \"', {text}, '\"')"


def _matches(text: str, form: str) -> str:
    """SQL of whether a text is of a declared form, blanks around it."""
    return rf"{text} RLIKE r'\A{BLANKS}(?:{form}){BLANKS}\z'"


def _meaningful(text: str) -> str:
    """SQL of a text without blanks and underscores."""
    return f"translate({text}, {string(_MEANINGLESS)}, '')"


def _whole(text: str) -> str:
    """SQL of a decimal number without its fraction."""
    return f"substring_index({text}, '.', 1)"


def _integer_cell(type: Bit | Signed | BigInt, text: str, target: str) -> Cell:
    least, greatest = bounds_of(type)
    wide = "BIGINT" if _LONG[0] <= least and greatest <= _LONG[1] else "DECIMAL(38,0)"
    value = (
        f"CASE WHEN {text} RLIKE r'{_PLAIN_DECIMAL}' THEN TRY_CAST({text} AS {wide}) "
        f"WHEN {_matches(text, DECIMAL)} THEN TRY_CAST({_whole(_meaningful(text))} AS {wide}) "
        f"WHEN {_matches(text, HEXADECIMAL)} THEN TRY_CAST({_from_hexadecimal(text)} AS {wide}) END"
    )
    decimal = f"concat({_sign(text)}, {_magnitude(text)})"
    shown = f"IF({_matches(text, DECIMAL)}, {decimal}, coalesce({_from_hexadecimal(text)}, {text}))"
    message = f"IF({_matches(text, INTEGER)}, {range_problem(type, shown)}, {_unexpected(type, text)})"
    problem = (
        f"CASE WHEN coalesce({value} BETWEEN {least} AND {greatest}, false) THEN NULL ELSE {message} END"
    )
    return Cell(f"CAST({value} AS {target})", problem)


def _sign(text: str) -> str:
    return f"IF(contains({text}, '-'), '-', '')"


def _magnitude(text: str) -> str:
    """SQL of the digits of an integer, without zeros before them."""
    digits = f"substring_index(lower(translate({_whole(text)}, {string(_MEANINGLESS + '-')}, '')), 'x', -1)"
    return f"trim(LEADING '0' FROM {digits})"


def _from_hexadecimal(text: str) -> str:
    """SQL of the decimal digits, with a sign, of a hexadecimal number; null if it has too many digits."""
    digits = _magnitude(text)
    parts = [f"left({digits}, length({digits}) - {_LOW})", f"right({digits}, {_LOW})"]
    high, low = (f"CAST(conv(concat('0', {part}), 16, 10) AS DECIMAL(38,0))" for part in parts)
    number = f"CAST({high} * {16**_LOW}BD + {low} AS STRING)"
    return f"CASE WHEN length({digits}) <= {_LOW + 16} THEN concat({_sign(text)}, {number}) END"


def _float_cell(type: Float, text: str, width: int) -> Cell:
    plain = _meaningful(text)
    value = (
        f"CASE WHEN {_matches(text, _NAN)} THEN double('NaN') "
        f"WHEN {_matches(text, FRACTION)} THEN TRY_CAST({plain} AS DOUBLE) "
        f"WHEN {_matches(text, FLOAT)} THEN TRY_CAST({_from_hexadecimal(text)} AS DOUBLE) END"
    )
    problem = f"CASE WHEN {value} IS NULL THEN {_unexpected(type, text)} END"
    return Cell(canonical_float(value, width), problem)


def canonical_float(value: str, width: int) -> str:
    """SQL of a double as the one that stands for it: no negative zero, the precision of the type."""
    return f"(CAST({value} AS FLOAT) + CAST(0 AS FLOAT))" if width == 32 else f"({value} + 0.0D)"
