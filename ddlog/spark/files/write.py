"""Relations to files and tables, written by Spark: a folder of part files for each, or a catalog table.

The text forms hold each value exactly as the in-process writers put it. Both engines read these files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from ...codegen.sqlvalues import string
from ...core import Relation
from ...engine.schema import Column as Stored
from ...engine.spark.codec import Codec
from ...engine.spark.sqltext import quoted
from ...errors.diagnostics import DDlogError
from ...errors.facts import CannotWrite
from ...io.columns import TypeDefs, cell_writer, whole_cell_writer
from ...io.delimitedfiles import csv_header
from ...io.filenames import file_name
from ...io.forms import SPARK_FILES, Forms
from ...io.jsonfiles import json_value_writer, members_writer
from ...lowering.builder import column as stored_column
from ...types import BigInt, Bit, Bool, Float, JsonField, Signed, String, Type
from ...values.shapes import forms_of
from ..sessions.failures import spark_failures
from ..types.workers import register
from .localoutputs import Written

TABLE = "table:"
_FORMATS = ("csv", "tsv", "jsonl", "parquet")
# Up to so many rows make one file. Spark may have few rows as a local relation, and then numbers them as one
# part, whatever the number of parts that it writes.
_FEW = 10_000
_CONTROLS = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}


def write_frame(
    frame: Any,
    rows: int | None,
    codec: Codec,
    relation: Relation,
    typedefs: TypeDefs,
    place: str,
    format: str,
) -> str:
    """Writes a relation's DataFrame (of a multiset, the last column is how often a row is there) below the
    folder or URL `place`, or as the table of a place `table:PREFIX`, and replaces older contents. Few `rows`
    make one part file; None: as many as Spark makes. Returns the name of the folder or table. Raises
    DDlogError."""
    spark = frame.sparkSession
    columns = tuple(stored_column(column.name, column.type) for column in relation.columns)
    if format not in _FORMATS and not place.startswith(TABLE):
        raise DDlogError([CannotWrite(place, f"Spark writes {', '.join(_FORMATS)}, and not {format}")])
    if not columns:
        reason = f"Spark writes no rows without columns, and {relation.name} has none"
        raise DDlogError([CannotWrite(place, reason)])
    with spark_failures():
        if relation.kind != "relation":
            names = ", ".join(quoted(column.name) for column in columns)
            weight = quoted(frame.columns[-1])
            frame = frame.selectExpr(f"inline(array_repeat(struct({names}), CAST({weight} AS INT)))")
        if place.startswith(TABLE):
            name = place.removeprefix(TABLE) + relation.name
            plain = _plain(spark, frame, codec, columns, typedefs)
            plain.write.mode("overwrite").saveAsTable(name)
            return name
        name = f"{place.rstrip('/')}/{file_name(relation.name)}"
        written = Written(spark, name)
        if format == "parquet":
            plain = _plain(spark, frame, codec, columns, typedefs).toDF(*relation.titles)
            written.observed(plain).write.mode("overwrite").parquet(name)
        else:
            whole = frame.coalesce(1) if rows is not None and rows <= _FEW else frame
            lines = _lines(spark, whole, codec, relation, columns, typedefs, format)
            written.observed(lines).write.mode("overwrite").text(name)
        written.check()
        return name


def _lines(
    spark: Any,
    frame: Any,
    codec: Codec,
    relation: Relation,
    columns: Sequence[Stored],
    typedefs: TypeDefs,
    format: str,
) -> Any:
    """The rows as lines of a text format."""
    if format == "jsonl":
        return frame.selectExpr(f"{_json_line(spark, codec, relation, columns, typedefs)} AS value")
    write = cell_writer if format == "csv" and len(columns) > 1 else whole_cell_writer
    cells = [_cell(spark, codec, column, typedefs, write) for column in columns]
    texts = frame.selectExpr(*(f"{cell} AS `t{i}`" for i, cell in enumerate(cells)))
    names = [f"`t{i}`" for i in range(len(cells))]
    if format == "tsv":
        wrong = "concat('a value with a tab or a line end cannot be written tab-separated: ', {})"
        checked = [
            rf"IF({name} RLIKE r'[\t\n\r]', raise_error({wrong.format(name)}), {name})" for name in names
        ]
        return texts.selectExpr(f"concat_ws('\\t', {', '.join(checked)}) AS value")
    line = f"concat_ws(',', {', '.join(map(_csv_cell, names))})"
    if len(names) == 1:
        line = f"IF({line} = '', '\"\"', {line})"
    header = string(csv_header(relation))
    first = "monotonically_increasing_id() % 8589934592L = 0"  # of its part file
    return texts.selectExpr(f"IF({first}, concat({header}, {line}), {line}) AS value")


def _csv_cell(text: str) -> str:
    escaped = f"concat('\"', replace({text}, '\"', '\"\"'), '\"')"
    return (
        f"CASE WHEN {text} IS NULL THEN '' WHEN {text} = '' OR {text} RLIKE r'[,\"\\r\\n]' THEN {escaped} "
        f"ELSE {text} END"
    )


def _cell(
    spark: Any,
    codec: Codec,
    column: Stored,
    typedefs: TypeDefs,
    writer: Callable[[Type, TypeDefs], Callable[[Any], str | None]],
) -> str:
    """SQL of a value's text."""
    of, name = column.type, quoted(column.name)
    match of:
        case String():
            return name
        case Bool() | Bit() | Signed() | BigInt() if codec.sql_type(column) != "BINARY":
            return f"CAST({name} AS STRING)"
    return _text_call(spark, codec, column, lambda: writer(of, typedefs))


def _json_line(
    spark: Any, codec: Codec, relation: Relation, columns: Sequence[Stored], typedefs: TypeDefs
) -> str:
    """SQL of a row as JSON, as `io.write.json_writer` has it."""
    if relation.constructor is None:
        return _json_value(spark, codec, columns[0], JsonField("value"), typedefs)
    import json

    named = forms_of(relation.constructor)
    if any(form.flatten for form in named):
        each = [_json_members(spark, codec, *pair, typedefs) for pair in zip(columns, named, strict=True)]
        return f"concat('{{', array_join(filter(array({', '.join(each)}), part -> part <> ''), ', '), '}}')"
    parts = []
    for place, (column, form) in enumerate(zip(columns, named, strict=True)):
        opening = f"{', ' if place else '{'}{json.dumps(form.name, ensure_ascii=False)}: "
        parts += [string(opening), _json_value(spark, codec, column, form, typedefs)]
    return f"concat({', '.join(parts)}, '}}')"


def _json_members(spark: Any, codec: Codec, column: Stored, form: JsonField, typedefs: TypeDefs) -> str:
    return _text_call(spark, codec, column, lambda: members_writer(column.type, form, typedefs))


def _json_value(spark: Any, codec: Codec, column: Stored, form: JsonField, typedefs: TypeDefs) -> str:
    of, name = column.type, quoted(column.name)
    match of:
        case String():
            return _json_string(name)
        case Bool():
            return f"CAST({name} AS STRING)"
        case Bit() | Signed() if codec.sql_type(column) in (
            "TINYINT",
            "SMALLINT",
            "INT",
            "BIGINT",
            "DECIMAL(20,0)",
        ):
            return f"CAST({name} AS STRING)"

    return _text_call(spark, codec, column, lambda: json_value_writer(of, form, typedefs))


def _json_string(text: str) -> str:
    """SQL of a string between quotes, with JSON's escapes."""
    plain = f"replace(replace({text}, '\\\\', '\\\\\\\\'), '\"', '\\\\\"')"
    escaped = plain
    for code in range(32):
        escape = _CONTROLS.get(code, f"\\u{code:04x}")
        escaped = f"replace({escaped}, chr({code}), {string(escape)})"
    return f"concat('\"', IF({text} RLIKE r'[\\x00-\\x1f]', {escaped}, {plain}), '\"')"


def _text_call(
    spark: Any, codec: Codec, column: Stored, writer: Callable[[], Callable[[Any], str | None]]
) -> str:
    """SQL of a call of a Python function that writes values as texts."""

    def build(items: pa.Array) -> pa.Array:
        write = writer()
        return pa.array([write(value) for value in codec.decode(column, items)], pa.string())

    return f"{register(spark, build, 'STRING')}({quoted(column.name)})"


def _plain(spark: Any, frame: Any, codec: Codec, columns: Sequence[Stored], typedefs: TypeDefs) -> Any:
    """The columns as the in-process engine gives them to Arrow, for other systems, if Spark has it."""
    chosen = []
    for column in columns:
        name = quoted(column.name)
        if isinstance(column.type, Bool | Bit | Signed | BigInt | Float | String) and (
            codec.sql_type(column) != "BINARY"
        ):
            chosen.append(name)
            continue
        chosen.append(f"{_plain_function(spark, codec, column, typedefs)}({name}) AS {name}")
    return frame.selectExpr(*chosen)


def _plain_function(spark: Any, codec: Codec, column: Stored, typedefs: TypeDefs) -> str:
    from pyspark.sql.pandas.types import from_arrow_type

    of: Type = column.type

    def build(items: pa.Array) -> pa.Array:
        return Forms(typedefs, SPARK_FILES).of(of).encode(codec.decode(column, items))

    return register(spark, build, from_arrow_type(Forms(typedefs, SPARK_FILES).of(of).arrow))
