"""Reading relations on Spark: rows on the driver, look-ups, and DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..schema import Schema
from .codec import Codec
from .faults import raising
from .rows import FrameDelta, FrameRows
from .spine import Spine
from .sqltext import As, Joined, Select, broadcast, consolidated, equal, quoted
from .state import State
from .tables import Table, Tables

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def rows_of(state: State, relation: str) -> FrameRows:
    """The contents of a relation."""
    spine, counted = state.spine(relation), state.weighted(relation)
    tables = list(spine.seen())

    def fetch() -> Any:
        if not counted and len(tables) == 1 and tables[0].least >= 1 and tables[0].local is not None:
            return tables[0].local
        with state.tables.guard(), raising(state.expressions), state.tables.configured():
            return state.tables.fetch(consolidated(spine.columns, spine.of(tables)), spine.schema)

    return FrameRows(spine.schema, state.tables.codec, lambda: size_of(state, relation), fetch)


def size_of(state: State, relation: str) -> int:
    """The number of rows of a relation."""
    spine = state.spine(relation)
    if not state.weighted(relation):
        return spine.total()
    if not spine.rows():
        return 0
    with state.tables.guard(), raising(state.expressions), state.tables.configured():
        (row,) = state.tables.spark.sql(str(Select(("count(*)",), spine.net()))).collect()
    return int(row[0])


def weights_of(state: State, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
    """The weight of each row in a relation; 0 for a row that is not there."""
    spine = state.spine(relation)
    if not rows or not spine.rows():
        return [0] * len(rows)
    found = _matches(state, spine, spine.schema, list(dict.fromkeys(rows)), equal("s", "d", spine.columns))
    held = _values(state.tables.codec, spine.schema, found)
    weights = dict(zip(held, found.column("w").to_pylist(), strict=True))
    return [weights.get(tuple(row), 0) for row in rows]


def find(state: State, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
    """The rows of a relation with these values in the columns at these positions."""
    spine = state.spine(relation)
    if not spine.rows():
        return []
    positions = sorted(values)
    schema = tuple(spine.schema[p] for p in positions)
    on = " AND ".join(f"s.c{p} = d.c{k}" for k, p in enumerate(positions)) or "true"
    found = _matches(state, spine, schema, [tuple(values[p] for p in positions)], on)
    return sorted(_values(state.tables.codec, spine.schema, found))


def _matches(
    state: State, spine: Spine, schema: Schema, wanted: Sequence[tuple[Any, ...]], on: str
) -> pa.Table:
    """The rows `s` of a spine, with their weights, for which there is a wanted row `d`."""
    with state.tables.guard(), raising(state.expressions), state.tables.configured():
        asked = state.tables.of_rows(schema, wanted)
        joined = Joined("LEFT SEMI JOIN", asked.view, "d", on)
        held = Select(("s.*",), spine.contents(), "s", [joined], hints=[broadcast("d")])
        found = state.tables.fetch(consolidated(spine.columns, held), spine.schema)
        asked.release()
    return found


def _values(codec: Codec, schema: Schema, rows: Any) -> list[tuple[Any, ...]]:
    if not schema:
        return [()] * rows.num_rows
    return list(zip(*(codec.decode(c, rows.column(k)) for k, c in enumerate(schema)), strict=True))


def frame_of(state: State, relation: str, weight: bool | None) -> DataFrame:
    """The contents of a relation as a DataFrame, its columns named as the relation's; with `weight` (None:
    where rows may have weights other than 1) also the column `weight`. It stays what it is when the relation
    changes."""
    spine, counted, tables = state.spine(relation), state.weighted(relation), state.tables
    with raising(state.expressions), tables.configured():
        frame = tables.united(spine.seen() or [tables.nothing(spine.schema)], spine.columns)
        if counted or not spine.once():
            summed = frame.groupBy(*spine.columns).agg({"w": "sum"})
            frame = summed.withColumnRenamed("sum(w)", "w").where("w <> 0")
        shown = counted if weight is None else weight
        return _renamed(frame, state.named(relation), "weight" if shown else None)


def shown_delta(tables: Tables, schema: Schema, table: Table) -> FrameDelta:
    """A change, given as a table, as a commit returns it."""

    def fetch() -> Any:
        with tables.guard():
            return tables.collected(table.frame, schema) if table.local is None else table.local

    def frame() -> DataFrame:
        return _renamed(table.frame, schema, "weight")

    return FrameDelta(schema, tables.codec, table.rows, fetch, frame)


def _renamed(frame: DataFrame, schema: Schema, weight: str | None) -> DataFrame:
    """A frame with the columns' own names."""
    items = [As(f"c{k}", quoted(column.name)) for k, column in enumerate(schema)]
    if weight:
        items.append(As("w", weight))
    return frame.selectExpr(*map(str, items))
