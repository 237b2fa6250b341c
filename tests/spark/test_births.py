"""Distinct in a recursion: the cluster's SQL against the definition."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine.spark.history import DerivationHistory
from ddlog.engine.spark.spine import Spine
from ddlog.engine.spark.sqltext import everything
from ddlog.engine.spark.tables import Options, Table, Tables
from ddlog.spark.types.codec import SparkCodec

from ..engine.timelines import Derived, Timeline, check, epochs
from ..trying import trying

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = ddlog.compile("input relation R(a: s32)\n")


class OnCluster:
    """A relation with history; `on_driver`: until there are many derivations, its births are on the
    driver."""

    def __init__(self, tables: Tables, before: Sequence[Timeline], on_driver: bool) -> None:
        circuit = PROGRAM.circuit()
        schema = circuit.nodes[circuit.relation("R")].schema
        self._tables, self._on_driver = tables, on_driver
        events, history = Spine(tables, schema, True), Spine(tables, schema, True)
        known = [(row, w, t) for row, each in enumerate(before) for t, w in each.items()]
        history.replace([self._table(known)] if known else [])
        self._history = DerivationHistory(schema, events, history)

    def _table(self, derived: Derived) -> Table:
        rows, weights, times = ([each[k] for each in derived] for k in range(3))
        arrays = [pa.array(rows, pa.int32()), pa.array(weights, pa.int64()), pa.array(times, pa.int32())]
        return self._tables.local(pa.table(dict(zip(("c0", "w", "t"), arrays, strict=True))))

    @property
    def times(self) -> Collection[int]:
        return set(self._history.pending)

    def derive(self, derived: Derived) -> None:
        if derived:
            self._history.derive([everything(self._table(derived).view)], self._on_driver)

    def step(self, time: int) -> Mapping[int, int]:
        delta = self._history.step(time)
        self._history.take(delta)
        return _weights(delta)

    def net(self) -> Mapping[int, int]:
        return _weights(self._history.net())


def _weights(table: Table) -> dict[int, int]:
    return {row.c0: row.w for row in table.frame.collect()} if table.rows else {}


@pytest.mark.parametrize("small", [0, 1000])
@pytest.mark.usefixtures("interpreted")
def test_distinct_in_a_recursion_on_the_cluster(small: int, spark: SparkSession) -> None:
    tables = Tables(spark, SparkCodec({}), Options(small_rows=small))

    @trying(3)
    @given(epochs(), st.integers(0, 2), st.booleans())
    def follows(rows: list[list[tuple[int, int]]], ahead: int, on_driver: bool) -> None:
        check(rows, lambda before: OnCluster(tables, before, on_driver), ahead)

    with tables.configured():
        follows()
    tables.close()
