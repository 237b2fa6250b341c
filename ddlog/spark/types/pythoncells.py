"""Arrow functions for Spark's Python workers around the readers of the in-process engine.

Each gives STRUCT<v, e> for an item: its value, or the message of what is wrong with it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any
from zipfile import BadZipFile, ZipFile

import pyarrow as pa

from ... import values
from ...core import Relation
from ...engine.schema import Column as Stored
from ...engine.schema import fault_message
from ...engine.spark.codec import Codec
from ...io.columns import Columns, TypeDefs, cell_reader
from ...io.decompression import unpacked
from ...io.dialects import Dialect, Reading
from ...io.faults import CellFault, FaultyFile
from ...io.formats import text_format
from ...io.plainform import from_plain
from .workers import register

_GZIP = b"\x1f\x8b"

ReadItem = Callable[[Any], Any]


def text_function(spark: Any, codec: Codec, column: Stored, typedefs: TypeDefs) -> str:
    """The name of a function from texts, as cells of files have them, to values of the column's type."""
    read = cell_reader(column.type, typedefs)

    def read_text(text: str | None) -> Any:
        if text is None:
            raise ValueError(f"expected {column.type}, found null")
        return read(text)

    return _function(spark, codec, column, lambda items: _single(items, read_text, codec, column))


def plain_function(spark: Any, codec: Codec, column: Stored, typedefs: TypeDefs, stored: bool) -> str:
    """The name of a function from items of a table to values of the column's type. With `stored`, the table
    has the type that the codec gives to the column."""
    of = column.type

    def build(items: pa.Array) -> pa.Array:
        if not stored:
            return _single(items, lambda item: from_plain(item, of, typedefs), codec, column)

        def decoded(position: int) -> Any:
            item = items.slice(position, 1)
            if item.null_count:
                raise ValueError(f"expected {of}, found null")
            try:
                return values.check(codec.decode(column, item)[0], of, typedefs)
            except (KeyError, IndexError, TypeError, AttributeError, pa.ArrowException):
                raise ValueError(f"this is no {of} in the form that Spark holds: {item[0].as_py()}") from None

        return _single(pa.array(range(len(items)), pa.int64()), decoded, codec, column)

    return _function(spark, codec, column, build)


def _function(spark: Any, codec: Codec, column: Stored, build: Callable[[pa.Array], pa.Array]) -> str:
    return register(spark, build, f"STRUCT<v: {codec.sql_type(column)}, e: STRING>", once=True)


def lines_function(
    spark: Any,
    codec: Codec,
    columns: Sequence[Stored],
    relation: Relation,
    typedefs: TypeDefs,
    form: str,
    header: str | None,
) -> str:
    """The name of a function from lines of files of a form to rows, read many at once as the in-process
    engine reads such a file. `header`: the first line of the files, if it names the columns."""
    dialect = Dialect(header="yes" if header else "no", skip=0 if header else 1, given=frozenset({"header"}))
    first = (header or "").encode()

    def read(lines: Sequence[bytes], reading: Reading) -> Columns:
        text = b"\r\n".join([first, *lines, b""])  # a line keeps a carriage return of its own
        return text_format(form).read(text, relation, typedefs, reading)

    def read_lines(lines: Sequence[bytes]) -> tuple[list[Any], list[str | None]] | None:
        """The rows of lines, and the problems of lines without one; None if that takes each line alone."""
        refused: dict[int, str] = {}

        def refuse(fault: CellFault) -> None:
            refused.setdefault(fault.line - 2, _told(fault))

        try:
            whole = read(lines, Reading(dialect, refuse=refuse))
        except FaultyFile:
            return None
        if whole.count + len(refused) != len(lines):
            return None
        rows, places = whole.rows(relation), range(len(lines))
        return [None if at in refused else next(rows) for at in places], [refused.get(at) for at in places]

    def read_line(line: bytes) -> Any:
        try:
            line.decode()
            rows = list(read([line], Reading(dialect)).rows(relation))
        except UnicodeDecodeError:
            raise ValueError("this is not UTF-8") from None
        except FaultyFile as faulty:
            raise ValueError(_told(faulty.faults[0])) from None
        if len(rows) != 1:
            raise ValueError(f"expected a row, found {len(rows)}")
        return rows[0]

    def build(items: pa.Array) -> pa.Array:
        lines = items.cast(pa.binary()).to_pylist()
        found, problems = read_lines(lines) or _each(lines, read_line)
        arrays = []
        for place, column in enumerate(columns):
            array, problems = _encoded([row and row[place] for row in found], problems, codec, column)
            arrays.append(array)
        absent = pa.array([problem is not None for problem in problems])
        rows = pa.StructArray.from_arrays(arrays, [f"_{i}" for i in range(len(arrays))], mask=absent)
        return pa.StructArray.from_arrays([rows, pa.array(problems, pa.string())], ["v", "e"])

    return register(spark, build, f"STRUCT<v: {row_type(codec, columns)}, e: STRING>", once=True)


def _told(fault: CellFault) -> str:
    return f"column `{fault.of}`: {fault.message}" if fault.of else fault.message


def document_function(
    spark: Any,
    codec: Codec,
    columns: Sequence[Stored],
    relation: Relation,
    typedefs: TypeDefs,
    form: str,
    dialect: Dialect,
) -> str:
    """The name of a function from a whole file (bytes; perhaps compressed, or an archive) to an array of its
    rows."""
    reading = Reading(dialect)

    def read(data: bytes) -> Columns:
        if dialect.member is not None:
            with ZipFile(BytesIO(data)) as archive:
                whole = archive.read(dialect.member)
        else:
            whole = unpacked(data) if data.startswith(_GZIP) else data
        return text_format(form).read(whole, relation, typedefs, reading)

    def build(items: pa.Array) -> pa.Array:
        rows: list[tuple[Any, ...]] = []
        offsets: list[int | None] = [0]
        problems: list[str | None] = []
        for item in items.to_pylist():
            try:
                found = list(read(item).rows(relation))
                for place, column in enumerate(columns):
                    codec.encode(column, [row[place] for row in found])
                rows += found
                problems.append(None)
            except (FaultyFile, CellFault) as error:
                fault = error.faults[0] if isinstance(error, FaultyFile) else error
                problems.append(f"line {fault.line}, column {fault.column}: {fault.message}")
            except (ValueError, OSError, EOFError, zlib.error, BadZipFile, KeyError) as error:
                problems.append(str(error))
            offsets.append(len(rows))
        arrays = [codec.encode(column, [row[place] for row in rows]) for place, column in enumerate(columns)]
        structs = pa.StructArray.from_arrays(arrays, [f"_{i}" for i in range(len(arrays))])
        lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), structs)
        return pa.StructArray.from_arrays([lists, pa.array(problems, pa.string())], ["v", "e"])

    return register(spark, build, f"STRUCT<v: ARRAY<{row_type(codec, columns)}>, e: STRING>", once=True)


def row_type(codec: Codec, columns: Sequence[Stored]) -> str:
    """The struct of a row: fields _0, _1 and so on."""
    return f"STRUCT<{', '.join(f'_{i}: {codec.sql_type(column)}' for i, column in enumerate(columns))}>"


def _single(items: pa.Array, read: ReadItem, codec: Codec, column: Stored) -> pa.Array:
    """One value for each item; equal texts are read once."""
    indices = None
    if pa.types.is_string(items.type) or pa.types.is_large_string(items.type):
        encoded = items.dictionary_encode(null_encoding="encode")
        items, indices = encoded.dictionary, encoded.indices
    found, problems = _each(items.to_pylist(), read)
    array, problems = _encoded(found, problems, codec, column)
    both = pa.StructArray.from_arrays([array, pa.array(problems, pa.string())], ["v", "e"])
    return both if indices is None else both.take(indices)


def _each(items: list[Any], read: ReadItem) -> tuple[list[Any], list[str | None]]:
    found: list[Any] = []
    problems: list[str | None] = []
    for item in items:
        try:
            found.append(read(item))
            problems.append(None)
        except (ValueError, OverflowError, RecursionError) as error:
            found.append(None)
            problems.append(fault_message(error))
    return found, problems


def _encoded(
    found: list[Any], problems: list[str | None], codec: Codec, column: Stored
) -> tuple[pa.Array, list[str | None]]:
    """The values that have no problem as an array, with nulls for the others."""
    good = [place for place, problem in enumerate(problems) if problem is None]
    problems = list(problems)
    try:
        array = codec.encode(column, [found[place] for place in good])
    except ValueError:
        for place in list(good):
            try:
                codec.encode(column, [found[place]])
            except ValueError as error:
                problems[place] = str(error)
                good.remove(place)
        array = codec.encode(column, [found[place] for place in good])
    places: list[int | None] = [None] * len(found)
    for number, place in enumerate(good):
        places[place] = number
    return array.take(pa.array(places, pa.int64())), problems
