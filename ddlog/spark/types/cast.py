"""Columns of DataFrames as columns of a relation: a value that fits is cast, another is a fault."""

from __future__ import annotations

from typing import Any

from ...codegen.sqltypes import integer_type, spark_type
from ...engine.schema import Column as Stored
from ...engine.spark.codec import Codec
from ...io.columns import TypeDefs
from ...types import BigInt, Bit, Bool, Float, Signed, Type
from .cells import NO_PROBLEM, Cell, bounds_of, canonical_float, is_native, range_problem, text_cell
from .pythoncells import plain_function

_BOUNDS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}


def cast_cell(column: Stored, name: str, source: Any, typedefs: TypeDefs) -> Cell | None:
    """SQL of a value of the column from the column `name`, of the Spark type `source`; None where that
    takes Python."""
    native = _native(column.type, name, source.simpleString(), typedefs)
    if native is None:
        return None
    missing = f"CASE WHEN {name} IS NULL THEN 'expected {column.type}, found null' ELSE {native.problem} END"
    return Cell(native.value, missing, None if native.problem == NO_PROBLEM else native.problem)


def cast_function(spark: Any, codec: Codec, column: Stored, source: Any, typedefs: TypeDefs) -> str:
    """The name of a Python function that casts values of any type: values in the codec's own form are
    checked, others are taken as the in-process engine takes them from Arrow tables."""
    stored = codec.sql_type(column)
    own_form = stored.startswith(("STRUCT", "ARRAY", "BINARY")) and _same(spark, stored, source)
    return plain_function(spark, codec, column, typedefs, own_form)


def _native(type: Type, name: str, found: str, typedefs: TypeDefs) -> Cell | None:
    """The cast by Spark alone; None if there is none."""
    match type:
        case _ if found == "string" and is_native(type):
            return text_cell(type, name, typedefs)
        case Bool() if found == "boolean":
            return Cell(name, NO_PROBLEM)
        case Float(width) if found in ("double", "float", *_BOUNDS):
            return Cell(canonical_float(f"CAST({name} AS DOUBLE)", width), NO_PROBLEM)
        case Bit() | Signed() | BigInt() if integer_type(type) != "BINARY":
            return _integer(type, name, found, typedefs)
    return None


def _integer(type: Bit | Signed | BigInt, name: str, found: str, typedefs: TypeDefs) -> Cell | None:
    least, greatest = bounds_of(type)
    target = spark_type(type, typedefs)
    value = f"CAST({name} AS {target})"
    if found in _BOUNDS:
        bits = _BOUNDS[found]
        if least <= -(1 << bits) and (1 << bits) - 1 <= greatest:
            return Cell(value, NO_PROBLEM)
    elif found.startswith("decimal"):
        if not found.endswith(",0)"):
            return None
    else:
        return None
    message = range_problem(type, f"CAST({name} AS STRING)")
    return Cell(value, f"CASE WHEN {name} NOT BETWEEN {least} AND {greatest} THEN {message} END")


def _same(spark: Any, stored: str, source: Any) -> bool:
    schema = spark.sql(f"SELECT CAST(NULL AS {stored}) AS v").schema
    return bool(schema["v"].dataType.simpleString() == source.simpleString())
