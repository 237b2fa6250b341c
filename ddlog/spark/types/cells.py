"""Texts as values in SQL: what `ddlog.io` does with a cell of a file, done by Spark.

Numbers, booleans and strings are read by Spark itself, with the same forms, checks and messages; other types
by a Python function around the very reader of the in-process engine.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...codegen.sqltypes import integer_type, spark_type
from ...io.columns import TypeDefs
from ...types import BigInt, Bit, Bool, Float, Signed, String, Type
from ...values import integer_range

_DECIMAL = "^-?[0-9]+$"
_SPACED = r"^\s*-?\s*[0-9][0-9_]*\s*$"
_HEX = r"^\s*-?\s*0[xX][0-9a-fA-F_]+\s*$"
_FLOAT = r"^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity|nan))$"
_SPACED_FLOAT = r"^\s*-?\s*(?:[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][-+]?[0-9]+)?|inf|NaN)\s*$"
_LONG = (-(1 << 63), (1 << 63) - 1)
_WIDEST = 10**38 - 1


@dataclass(frozen=True, slots=True)
class Cell:
    """SQL of a value, and SQL of what is wrong with it: null when nothing is."""

    value: str
    problem: str


def quoted(text: str) -> str:
    """A text as a literal of Spark SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def name_sql(name: str) -> str:
    """A name as SQL takes it, whatever it is."""
    return "`" + name.replace("`", "``") + "`"


def is_native(type: Type) -> bool:
    """Whether `text_cell` reads the type without Python."""
    match type:
        case Bool() | Float() | String():
            return True
        case Bit() | Signed() | BigInt():
            return integer_type(type) != "BINARY"
    return False


def text_cell(type: Type, text: str, typedefs: TypeDefs) -> Cell:
    """What the text that the SQL `text` gives, never null, stands for. The type is native."""
    match type:
        case String():
            return Cell(text, "CAST(NULL AS STRING)")
        case Bool():
            value = f"CASE trim({text}) WHEN 'true' THEN true WHEN 'false' THEN false END"
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


def _integer_cell(type: Bit | Signed | BigInt, text: str, target: str) -> Cell:
    least, greatest = bounds_of(type)
    wide = "BIGINT" if _LONG[0] <= least and greatest <= _LONG[1] else "DECIMAL(38,0)"
    plain = f"regexp_replace({text}, r'[_\\s]', '')"
    digits = f"conv(replace(replace(lower({plain}), '-', ''), '0x', ''), 16, 10)"
    from_hex = f"concat(IF(startswith({plain}, '-'), '-', ''), {digits})"
    value = (
        f"CASE WHEN {text} RLIKE '{_DECIMAL}' THEN TRY_CAST({text} AS {wide}) "
        f"WHEN {text} RLIKE r'{_SPACED}' THEN TRY_CAST({plain} AS {wide}) "
        f"WHEN {text} RLIKE r'{_HEX}' AND length({plain}) <= 18 THEN TRY_CAST({from_hex} AS {wide}) END"
    )
    is_number = f"({text} RLIKE r'{_SPACED}' OR {text} RLIKE r'{_HEX}')"
    message = f"IF({is_number}, {range_problem(type, text)}, {_unexpected(type, text)})"
    problem = (
        f"CASE WHEN coalesce({value} BETWEEN {least} AND {greatest}, false) THEN NULL ELSE {message} END"
    )
    return Cell(f"CAST({value} AS {target})", problem)


def _float_cell(type: Float, text: str, width: int) -> Cell:
    plain = f"regexp_replace({text}, r'[_\\s]', '')"
    value = (
        f"CASE WHEN lower({text}) RLIKE '^[+-]?nan$' THEN double('NaN') "
        f"WHEN {text} RLIKE r'{_FLOAT}' THEN TRY_CAST({text} AS DOUBLE) "
        f"WHEN {text} RLIKE r'{_SPACED_FLOAT}' THEN TRY_CAST({plain} AS DOUBLE) END"
    )
    problem = f"CASE WHEN {value} IS NULL THEN {_unexpected(type, text)} END"
    return Cell(canonical_float(value, width), problem)


def canonical_float(value: str, width: int) -> str:
    """SQL of a double as the one that stands for it: no negative zero, the precision of the type."""
    return f"(CAST({value} AS FLOAT) + CAST(0 AS FLOAT))" if width == 32 else f"({value} + 0.0D)"
