"""Rows on their way into an input relation: single rows, tables of other libraries, and fact files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import values
from ...core import Relation
from ...engine.runtime import Batch, Runtime
from ...errors.changes import BadKey, BadTable, CannotModify, NoPrimaryKey
from ...errors.diagnostics import DDlogError
from ...types import TypeDef
from ...values.rows import Row, row_of
from ...values.units import Units
from ..results.records import RecordRuntime

if TYPE_CHECKING:
    from ...io.columns import Columns
    from ...io.files import FactFile
    from ...io.refusals import Refuse


@dataclass(frozen=True, slots=True)
class IncomingRows:
    """The rows of a table or a file: `batch` makes a batch of the runtime, `rows` gives them one by one."""

    batch: Callable[[], Batch]
    rows: Callable[[], Iterable[Row]]


def table_rows(
    runtime: Runtime, declared: Relation, table: Any, typedefs: Mapping[str, TypeDef]
) -> IncomingRows:
    """The rows of an Arrow table, a data frame or a mapping of columns. Raises DDlogError."""
    from ...io.faults import CellFault
    from ...io.frames import columns_of

    try:
        columns = columns_of(table, declared, typedefs)
    except CellFault as fault:
        raise DDlogError([BadTable(declared.name, fault.message, fault.line)]) from None
    return column_rows(runtime, declared, columns)


def file_rows(
    runtime: Runtime,
    declared: Relation,
    file: FactFile,
    typedefs: Mapping[str, TypeDef],
    note: Callable[[str], None],
    refuse: Refuse | None,
) -> IncomingRows:
    """The rows of a fact file, which is read now. Raises DDlogError."""
    from ...io.read import read_facts

    return column_rows(runtime, declared, read_facts(file, declared, typedefs, note, refuse))


def column_rows(runtime: Runtime, declared: Relation, columns: Columns) -> IncomingRows:
    """The rows of columns of checked values."""
    if declared.columns:
        data = columns.data
        if not isinstance(runtime, RecordRuntime):
            data = tuple(each.values() if isinstance(each, Units) else each for each in data)
        batch = partial(runtime.batch_from_columns, declared.name, data)
    else:
        batch = partial(runtime.batch, declared.name, [()] * columns.count)
    return IncomingRows(batch, partial(columns.rows, declared))


def key_value(declared: Relation, key: Any, typedefs: Mapping[str, TypeDef]) -> Any:
    """A primary key as a canonical value. Raises DDlogError for a relation without a key, or another type."""
    if declared.key is None:
        raise DDlogError([NoPrimaryKey(declared.name)])
    try:
        return values.check(key, declared.key.result, typedefs)
    except ValueError as error:
        raise DDlogError([BadKey(declared.name, str(error))]) from None


def row_change(
    declared: Relation, change: Mapping[str, Any] | Callable[[Row], Row], typedefs: Mapping[str, TypeDef]
) -> Callable[[Row], Row]:
    """A change of a row, as a function from row to row that raises DDlogError where the result is no row."""
    if not isinstance(change, Mapping):
        return lambda row: row_of(_changed(change, row, declared), declared, typedefs)
    names = [column.name for column in declared.columns]
    return lambda row: row_of({**dict(zip(names, row, strict=True)), **change}, declared, typedefs)


def _changed(change: Callable[[Row], Row], row: Row, declared: Relation) -> Row:
    try:
        return change(row)
    except ValueError as error:
        raise DDlogError([CannotModify(declared.name, str(error))]) from None


def is_frame(value: Any) -> bool:
    """Whether a value is a Spark DataFrame, classic or of Spark Connect. Does not import PySpark."""
    kind = type(value)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")
