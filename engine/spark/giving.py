"""Rows given to a commit on Spark, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ..circuit import Input, NodeId
from ..schema import Schema
from .driverrows import DriverDelta
from .faults import raising
from .pruning import leading
from .remembered import schema_of
from .rows import FrameDelta
from .sqltext import As, Query, Select, everything, names, partitioned, quoted
from .state import State
from .tables import WEIGHT, Table, arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rows_given(state: State, relation: str, rows: Sequence[tuple[Any, ...]]) -> Table:
    """Rows for a relation."""
    return state.tables.of_rows(state.schema(relation), rows)


def named_columns(schema: Schema, frame: DataFrame) -> DataFrame:
    """The rows of a frame of a relation's columns, each of weight 1, as columns c0, c1, … and `w`."""
    columns = [As(quoted(name), c) for name, c in zip(frame.columns, names(schema), strict=True)]
    return frame.selectExpr(*map(str, columns), "1L AS w")


def frame_given(state: State, relation: str, frame: DataFrame, once: bool, most: int = 0) -> Table:
    """The rows of a frame for a relation, computed now. `once`: of a set, each row once will do. The driver
    takes at most `most` rows."""
    schema, tables = state.schema(relation), state.tables
    with raising(state.expressions), tables.configured():
        renamed = tables.named(named_columns(schema, frame))
        try:
            return _taken(state, relation, everything(renamed), once, most)
        finally:
            tables.forget(renamed)


def weighted_given(
    state: State, relation: str, rows: pa.Table | DataFrame, most: int = 0
) -> list[tuple[Table, int]]:
    """The signed rows that change an input relation as some rows say: an Arrow table or a frame of the
    columns c0, c1, … and the weight `w`, with no row twice. The driver takes at most `most` rows."""
    schema, tables = state.schema(relation), state.tables
    columns = names(schema)
    if isinstance(rows, pa.Table):
        whole = rows.cast(arrow_schema(tables.codec, schema))
        weights = whole.column("w")
        gone = whole.filter(pc.less(weights, 0))
        gone = gone.set_column(len(columns), WEIGHT, pc.negate(gone.column("w")))
        parts = (
            (tables.local(each.combine_chunks()), sign)
            for each, sign in ((gone, -1), (whole.filter(pc.greater(weights, 0)), 1))
        )
        return [(table, sign) for table, sign in parts if table.rows]
    found = []
    with raising(state.expressions), tables.configured():
        view = tables.named(rows.select(*columns, "w"))
        try:
            for sign in (-1, 1):
                signed = Select([*columns, As(f"{sign} * w", "w")], view, where=f"{sign} * w > 0")
                table = _taken(state, relation, signed, sign > 0, most)
                if table.rows:
                    found.append((table, sign))
        finally:
            tables.forget(view)
    return found


def contents_given(state: State, at: NodeId, rows: pa.Table | DataFrame | None) -> Table:
    """The rows that a node of a window begins with: an Arrow table or a frame of its columns c0, c1, … and
    the weight `w`, with no row twice; or none."""
    schema, tables = schema_of(state, at), state.tables
    if rows is None:
        return tables.nothing(schema)
    if isinstance(rows, pa.Table):
        return tables.local(rows.cast(arrow_schema(tables.codec, schema)).combine_chunks())
    columns = names(schema)
    with raising(state.expressions), tables.configured():
        view = tables.named(rows.select(*columns, "w"))
        try:
            return tables.stored(everything(view), by=columns)
        finally:
            tables.forget(view)


def _taken(state: State, relation: str, query: Query, once: bool, most: int) -> Table:
    """The rows of a query for a relation: on the driver if they are no more than `most`, as far as Spark can
    tell beforehand."""
    at, schema, tables = state.at(relation), state.schema(relation), state.tables
    if most > 0:
        rows = tables.few(query, schema, most)
        if rows is not None:
            return tables.local(rows)
    node = state.circuit.nodes[at]
    if once and isinstance(node, Input) and not node.multiset:
        columns = names(schema)
        # Facts seldom come twice: each is moved at once, not first looked for in its partition.
        moved = partitioned(query, tables.partitions, columns)
        distinct = Select([*columns, As("max(w)", "w")], moved, grouped=columns)
        table = tables.stored(distinct, lies=columns, ordered=leading(tables.codec, schema))
        table.once = True
    else:
        table = tables.stored(query, ordered=leading(tables.codec, schema))
    return table


def delta_given(state: State, relation: str, delta: FrameDelta | DriverDelta) -> list[tuple[Table, int]]:
    """The signed rows that change an input relation as a delta of the same runtime: a small one from here,
    a large one where it lies."""
    columns = names(state.schema(relation))
    if len(delta) <= state.tables.most_small or not columns:
        counted = list(zip(delta.rows, delta.weights, strict=True))
        few = ((sign, [row for row, w in counted for _ in range(w * sign)]) for sign in (-1, 1))
        return [(rows_given(state, relation, rows), sign) for sign, rows in few if rows]
    frame = delta.frame().toDF(*columns, "w")
    repeated = f"inline(array_repeat(struct({', '.join(columns)}), CAST(abs(w) AS INT)))"
    many = ((sign, frame.where(f"{sign} * w > 0").selectExpr(repeated)) for sign in (-1, 1))
    made = [(frame_given(state, relation, part, False), sign) for sign, part in many]
    return [(table, sign) for table, sign in made if table.rows]
