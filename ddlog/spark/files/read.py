"""Fact files and tables to DataFrames, read and checked by Spark, never through the driver.

A file means the same as `ddlog.io` reads from it. A wrong record ends the job that reads it, with its text
and the column; `failures` makes the diagnostic of that. Spark reads pieces of files: no numbers of lines.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...codegen.sqlvalues import string
from ...core import Relation
from ...engine.schema import Column as Stored
from ...engine.spark.codec import Codec
from ...engine.spark.sqltext import quoted
from ...errors.changes import BadTable
from ...errors.diagnostics import DDlogError
from ...errors.spark import NotForSpark
from ...io.columns import TypeDefs
from ...io.dialects import PLAIN, Dialect
from ...io.faults import CellFault
from ...io.header import SAMPLE
from ...io.utf8 import decode
from ...lowering.builder import column as stored_column
from ...types import String
from ...values.rows import Row
from ..sessions.failures import fault_sql, fault_text, spark_failures, unless
from ..types.cast import Cell, cast_cell, cast_function
from ..types.pythoncells import document_function, lines_function
from .listing import SparkFile

_TEXT = {"csv": ",", "tsv": "\t", "facts": "\t"}
_JSON_LINES = ("jsonl", "ndjson")
_COLUMNAR = ("parquet", "orc")

_QUOTED_RECORD = r'^(?:(?:"[^"]*+(?:""[^"]*+)*+"|[^",][^,]*+|),)++$'
_NOT_BLANK = r"NOT (line RLIKE r'(?U)^[\s\x1c-\x1f]*$')"  # as `str.isspace` tells


@dataclass(frozen=True, slots=True)
class FactReader:
    """Reads files and tables for the relations of a program, into the types of a codec. `lazily`: a column of
    a table is checked where it is read, so that what nothing reads is not looked at."""

    spark: Any
    codec: Codec
    typedefs: TypeDefs
    lazily: bool = False

    def files(self, relation: Relation, files: Sequence[SparkFile]) -> Any:
        """A DataFrame of the rows of files, of the relation's columns. Raises DDlogError."""
        frames = []
        with spark_failures():
            for form, dialect in dict.fromkeys((file.form, file.dialect) for file in files):
                same = [file for file in files if (file.form, file.dialect) == (form, dialect)]
                frames += self._frames(relation, form, same, dialect)
            whole = frames[0]
            for frame in frames[1:]:
                whole = whole.unionAll(frame)
        return whole

    def check(self, relation: Relation, frame: Any, name: str) -> None:
        """Raises DDlogError if a DataFrame does not have the relation's columns."""
        _check_names([field.name for field in frame.schema.fields if field.name != "$file"], relation, name)

    def table(self, relation: Relation, frame: Any, name: str, file: str = "") -> Any:
        """The rows of a DataFrame with the relation's columns in any order and of types that can be cast.
        Raises DDlogError; of values that do not fit, when the rows are computed. `file` is SQL."""
        self.check(relation, frame, name)
        columns = self.columns(relation)
        if not {column.name for column in columns} <= {*frame.columns}:
            frame = _renamed(frame, relation, PLAIN)
        fields = {field.name: field.dataType for field in frame.schema.fields}
        cells, made = [], []
        for column in columns:
            source = fields[column.name]
            cell = cast_cell(column, quoted(column.name), source, self.typedefs)
            if cell is None:
                function = cast_function(self.spark, self.codec, column, source, self.typedefs)
                made.append(f"{function}({quoted(column.name)}) AS {quoted('$' + column.name)}")
                found = quoted("$" + column.name)
                cell = Cell(f"{found}.v", f"{found}.e", f"{found}.e")
            cells.append(cell)
        whole = frame.selectExpr("*", *made) if made else frame
        if self.lazily:
            nullable = {field.name: field.nullable for field in frame.schema.fields}
            return whole.selectExpr(
                *(
                    self._cell(column, cell, name, nullable[column.name])
                    for column, cell in zip(columns, cells, strict=True)
                )
            )
        shown = f"to_json(struct({', '.join(quoted(column.name) for column in columns)}))"
        return self._checked(whole, relation, cells, file or string(name), shown)

    def _cell(self, column: Stored, cell: Cell, file: str, nullable: bool) -> str:
        """The value of a cell under the column's name; a problem ends the job that reads it. A null is told
        apart as Spark likes it best: its plans show little more than the column."""
        name = quoted(column.name)
        problem = cell.problem if nullable else cell.problem_of_known
        if problem is None:
            return f"{cell.value} AS {name}"
        type = self.codec.sql_type(column)
        if cell.problem_of_known is None:
            message = fault_text(file, f"expected {column.type}, found null", column.name)
            return f"coalesce({cell.value}, CAST(raise_error({string(message)}) AS {type})) AS {name}"
        fault = fault_sql(string(file), problem, string(column.name), "''")
        return f"CASE WHEN ({problem}) IS NULL THEN {cell.value} ELSE CAST({fault} AS {type}) END AS {name}"

    def columns(self, relation: Relation) -> tuple[Stored, ...]:
        """The relation's columns as the engine describes them."""
        return tuple(stored_column(column.name, column.type) for column in relation.columns)

    def rows(self, relation: Relation, frame: Any) -> list[Row]:
        """The rows of a DataFrame of the relation's columns, on the driver. Raises DDlogError."""
        with spark_failures():
            table = frame.toArrow()
        columns = enumerate(self.columns(relation))
        data = [self.codec.decode(column, table.column(place)) for place, column in columns]
        return list(zip(*data, strict=True))

    # ------------------------------------------------------------ forms

    def _frames(
        self, relation: Relation, form: str, files: Sequence[SparkFile], dialect: Dialect
    ) -> list[Any]:
        """The rows of files of a form. Spark splits large files of the usual way of their form; any other is
        read whole."""
        paths = [file.url for file in files]
        if form in _COLUMNAR:
            return [self._columnar(relation, form, paths, dialect)]
        if form == "json" or (dialect != PLAIN and form in (*_TEXT, *_JSON_LINES)):
            return [self._documents(relation, form, paths, dialect)]
        if form in _JSON_LINES:
            return [self._records(relation, form, None, paths)]
        if form in _TEXT:
            return self._delimited(relation, form, files)
        raise DDlogError([NotForSpark(files[0].shown, f".{form} files")])

    def _columnar(self, relation: Relation, form: str, paths: Sequence[str], dialect: Dialect) -> Any:
        frame = self.spark.read.format(form).load(list(paths))
        if self.lazily:  # the file of each row would be read with it
            whole = paths[0] if len(paths) == 1 else f"{posixpath.dirname(paths[0])}/*.{form}"
            return self.table(relation, _renamed(frame, relation, dialect), whole)
        with_file = frame.selectExpr("*", "_metadata.file_path AS `$file`")
        return self.table(relation, _renamed(with_file, relation, dialect), paths[0], "`$file`")

    def _documents(
        self, relation: Relation, form: str, paths: Sequence[str], dialect: Dialect = PLAIN
    ) -> Any:
        columns = self.columns(relation)
        read = document_function(self.spark, self.codec, columns, relation, self.typedefs, form, dialect)
        files = self.spark.read.format("binaryFile").load(list(paths))
        read_files = files.selectExpr("path AS file", f"{read}(content) AS rows")
        fault = fault_sql("file", "rows.e", "''", "''")
        whole = read_files.where(unless("rows.e IS NULL", fault))
        rows = whole.selectExpr("inline(rows.v)")
        return rows.selectExpr(*(f"_{i} AS {quoted(column.name)}" for i, column in enumerate(columns)))

    def _delimited(self, relation: Relation, form: str, files: Sequence[SparkFile]) -> list[Any]:
        frames = []
        if form == "csv":
            broken = self._with_broken_lines(list(files))
            whole = [file for file in files if file.url in broken]
            files = [file for file in files if file.url not in broken]
            frames = [self._documents(relation, "csv", [file.url for file in whole])] if whole else []
        headers: dict[str | None, list[SparkFile]] = {}
        for file in files:
            headers.setdefault(self._header(relation, file) if form == "csv" else None, []).append(file)
        return frames + [
            self._records(relation, form, header, [file.url for file in same])
            for header, same in headers.items()
        ]

    def _records(self, relation: Relation, form: str, header: str | None, paths: Sequence[str]) -> Any:
        """The rows of files with the same first line, if that names the columns."""
        columns = self.columns(relation)
        lines = self._lines(paths)
        if header is not None:
            lines = lines.where(f"NOT (block = 0 AND line = {string(header)})")
        if form in _JSON_LINES or len(columns) > 1 or not isinstance(relation.columns[0].type, String):
            lines = lines.where(_NOT_BLANK if form in _JSON_LINES else "line <> ''")
        named = header if len(columns) > 1 else None
        read = lines_function(self.spark, self.codec, columns, relation, self.typedefs, form, named)
        rows = lines.selectExpr("file", "line", f"{read}(line) AS row")
        cells = [Cell(f"row.v._{i}", "row.e" if not i else "NULL") for i in range(len(columns))]
        return self._checked(rows, relation, cells, "file", "line", named=False)

    def _lines(self, paths: Sequence[str]) -> Any:
        """The lines of files, without their ends, and the file and part of a file that each is in."""
        texts = self.spark.read.option("lineSep", "\n").text(list(paths))
        line = "IF(endswith(value, '\\r'), left(value, length(value) - 1), value) AS line"
        return texts.selectExpr(line, "_metadata.file_path AS file", "_metadata.file_block_start AS block")

    def _with_broken_lines(self, files: Sequence[SparkFile]) -> set[str]:
        """The URLs of the files in which a quoted cell has a line end: these files are read whole."""
        candidates = [file for file in files if file.may_have(b'"')]
        if not candidates:
            return set()
        lines = self._lines([file.url for file in candidates])
        odd = lines.where(f"contains(line, '\"') AND NOT concat(line, ',') RLIKE r'{_QUOTED_RECORD}'")
        found = {row[0] for row in odd.select("file").distinct().limit(1000).collect()}
        return {file.url for file in candidates if any(file.is_at(url) for url in found)}

    def _header(self, relation: Relation, file: SparkFile) -> str | None:
        """The first line of a file if it names the columns. Raises DDlogError if it names only some."""
        lines = file.first_lines(SAMPLE)
        if lines is None:
            lines = [row[0] for row in self._lines([file.url]).select("line").head(SAMPLE)]
        lines = [line.removeprefix("\ufeff") for line in lines] or [""]
        order = _order(relation, lines, self.typedefs, file.shown)
        return lines[0] if order is not None else None

    # ------------------------------------------------------------ checks

    def _checked(
        self,
        frame: Any,
        relation: Relation,
        cells: Sequence[Cell],
        file: str,
        record: str,
        *,
        named: bool = True,
    ) -> Any:
        """The values of cells as the relation's columns; a problem ends the job."""
        names = [column.name for column in relation.columns]
        problems = [cell.problem for cell in cells]
        which = " ".join(
            f"WHEN ({problem}) IS NOT NULL THEN {string(name)}"
            for problem, name in zip(problems, names, strict=True)
        )
        column = f"CASE {which} END" if named else "''"
        first = f"coalesce({', '.join(problems)}, CAST(NULL AS STRING))"
        fault = fault_sql(file, first, column, record)
        good = frame.where(unless(f"{first} IS NULL", fault))
        return good.selectExpr(
            *(f"{cell.value} AS {quoted(name)}" for cell, name in zip(cells, names, strict=True))
        )


def _order(relation: Relation, lines: Sequence[str], typedefs: TypeDefs, path: str = "") -> list[int] | None:
    """The place of each column in the first line; None if it is no header.

    Raises DDlogError if the line names only some columns."""
    from ...io.delimited import COMMAS, records
    from ...io.delimitedfiles import cell_readers
    from ...io.header import find_header
    from ...io.read import fault_in

    try:
        first, *below = (
            list(records(decode(line.encode("utf-8", "surrogatepass")), COMMAS)) for line in lines
        )
        readers = cell_readers(relation, typedefs)
        rows = [record for each in below for record in each]
        return find_header(first[0], rows, relation, readers)[0] if first else None
    except CellFault as fault:
        if "quoted cell" in fault.message:
            return None
        raise DDlogError([fault_in(path, fault)]) from None


def _renamed(frame: Any, relation: Relation, dialect: Dialect) -> Any:
    """A DataFrame with the names of the relation's columns where the dialect, or another case, names them.
    Other columns stay, to be errors, if the dialect does not ignore them. Raises DDlogError."""
    from ...io.header import places_in

    own = [name for name in frame.columns if name != "$file"]
    places = places_in(own, relation, dialect)
    if None in places or (dialect.extra == "error" and len(places) < len(own)):
        return frame
    named = zip(places, relation.columns, strict=True)
    chosen = [f"{quoted(own[place or 0])} AS {quoted(column.name)}" for place, column in named]
    return frame.selectExpr(*chosen, *(["`$file`"] if len(own) < len(frame.columns) else []))


def _check_names(found: list[str], relation: Relation, name: str) -> None:
    from ...io.columns import check_names

    try:
        check_names(found, relation)
    except CellFault as fault:
        raise DDlogError(
            [BadTable(relation.name, fault.message if " " in name else f"{name}: {fault.message}")]
        ) from None
