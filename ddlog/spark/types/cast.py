"""Columns of DataFrames as columns of a relation: a value that fits is cast, another is a fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...codegen.sqltypes import integer_type, spark_type
from ...engine.schema import Column as Stored
from ...engine.spark.codec import Codec
from ...io.columns import TypeDefs
from ...types import BigInt, Bit, Bool, Float, Signed, String, Type
from ...values import integer_range
from .pythoncells import plain_function, text_function

_BOUNDS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_WIDEST = 10**38 - 1
_NO_PROBLEM = "CAST(NULL AS STRING)"


@dataclass(frozen=True, slots=True)
class Cell:
    """SQL of a value, and SQL of the fault in it: null for a value without one. `problem_of_known` is that of
    a value that is not null; None: it has none."""

    value: str
    problem: str
    problem_of_known: str | None = None


def cast_cell(column: Stored, name: str, source: Any, typedefs: TypeDefs) -> Cell | None:
    """SQL of a value of the column from the column `name`, of the Spark type `source`; None where that
    takes Python."""
    native = _native(column.type, name, source.simpleString(), typedefs)
    if native is None:
        return None
    missing = f"CASE WHEN {name} IS NULL THEN 'expected {column.type}, found null' ELSE {native.problem} END"
    return Cell(native.value, missing, None if native.problem == _NO_PROBLEM else native.problem)


def cast_function(spark: Any, codec: Codec, column: Stored, source: Any, typedefs: TypeDefs) -> str:
    """The name of a Python function that casts values of any type: values in the codec's own form are
    checked, texts of numbers and booleans are read as cells of files, and others are taken as the in-process
    engine takes them from Arrow tables."""
    if source.simpleString() == "string" and isinstance(column.type, Bit | Signed | BigInt | Float | Bool):
        return text_function(spark, codec, column, typedefs)
    stored = codec.sql_type(column)
    own_form = stored.startswith(("STRUCT", "ARRAY", "BINARY")) and _same(spark, stored, source)
    return plain_function(spark, codec, column, typedefs, own_form)


def _native(type: Type, name: str, found: str, typedefs: TypeDefs) -> Cell | None:
    """The cast by Spark alone; None if there is none."""
    match type:
        case String() if found == "string":
            return Cell(name, _NO_PROBLEM)
        case Bool() if found == "boolean":
            return Cell(name, _NO_PROBLEM)
        case Float(width) if found in ("double", "float", *_BOUNDS):
            double = f"CAST({name} AS DOUBLE)"  # no negative zero, the precision of the type
            value = f"(CAST({double} AS FLOAT) + CAST(0 AS FLOAT))" if width == 32 else f"({double} + 0.0D)"
            return Cell(value, _NO_PROBLEM)
        case Bit() | Signed() | BigInt() if integer_type(type) != "BINARY":
            return _integer(type, name, found, typedefs)
    return None


def _integer(type: Bit | Signed | BigInt, name: str, found: str, typedefs: TypeDefs) -> Cell | None:
    widest = -_WIDEST, _WIDEST  # of 38 digits, the most that Spark holds
    least, greatest = widest if isinstance(type, BigInt) else integer_range(type)
    target = spark_type(type, typedefs)
    value = f"CAST({name} AS {target})"
    if found in _BOUNDS:
        bits = _BOUNDS[found]
        if least <= -(1 << bits) and (1 << bits) - 1 <= greatest:
            return Cell(value, _NO_PROBLEM)
    elif found.startswith("decimal"):
        if not found.endswith(",0)"):
            return None
    else:
        return None
    told = f"is out of the range of {type}, {least} to {greatest}"
    if isinstance(type, BigInt):
        told = "has more than 38 digits, the most that Spark holds"
    message = f"concat(CAST({name} AS STRING), ' {told}')"
    return Cell(value, f"CASE WHEN {name} NOT BETWEEN {least} AND {greatest} THEN {message} END")


def _same(spark: Any, stored: str, source: Any) -> bool:
    schema = spark.sql(f"SELECT CAST(NULL AS {stored}) AS v").schema
    return bool(schema["v"].dataType.simpleString() == source.simpleString())
