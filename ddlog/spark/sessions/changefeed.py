"""Change feeds of tables as changes of an input relation: Delta's and Iceberg's, and any in their form.

A feed has a row for each row that came or went, and its column `_change_type` says which. Over several
versions of the table a row may come and go more than once. A change of a table is a Z-set, so the order does
not matter: insertions count +1, deletions -1, and what a row sums up to is its change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...codegen.sqlvalues import string
from ...core import Relation
from ...engine.spark.sqltext import quoted
from ...errors.changes import BadTable
from ...errors.diagnostics import DDlogError
from .failures import fault_sql, unless

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CHANGE = "_change_type"
_COME = ("insert", "update_postimage", "update_after")
_GONE = ("delete", "update_preimage", "update_before")
_BESIDE = (CHANGE, "_commit_version", "_commit_timestamp", "_change_ordinal", "_commit_snapshot_id")
"""Columns that the feeds of Delta and Iceberg have beside the table's."""


def net_change(
    relation: Relation, feed: DataFrame, cast: Callable[[DataFrame, str], DataFrame]
) -> tuple[DataFrame, DataFrame, DataFrame]:
    """The rows that a feed deletes from a relation, those that it inserts, and the frame under both, to be
    kept meanwhile. `cast` makes the relation's columns of a frame with a name for messages. Raises
    DDlogError; of values and kinds of changes that do not fit, when the rows are computed."""
    name = f"the change feed for {relation.name}"
    if CHANGE not in feed.columns or not relation.columns:
        problem = f"it has no column {CHANGE}" if relation.columns else "the relation has no columns"
        raise DDlogError([BadTable(relation.name, f"{name}: {problem}")])
    own = {column.name for column in relation.columns}
    places = [f"c{place}" for place in range(len(relation.columns))]
    beside = [each for each in _BESIDE if each not in own]
    kind = f"lower(CAST({quoted(CHANGE)} AS STRING))"
    sign = f"CASE WHEN {kind} IN {_COME} THEN 1 WHEN {kind} IN {_GONE} THEN -1 ELSE {_unknown(name)} END"
    come, gone = (
        cast(feed.where(f"{sign} = {each}").drop(*beside), name)
        .toDF(*places)
        .selectExpr("*", f"{each}L AS w")
        for each in (1, -1)
    )
    summed = come.unionAll(gone).groupBy(*places).agg({"w": "sum"}).withColumnRenamed("sum(w)", "w")
    net = summed.where("w <> 0")
    if relation.kind == "relation":
        net = net.where(unless("w BETWEEN -1 AND 1", _more_than_once(name, places)))
    named = [f"{place} AS {quoted(c.name)}" for place, c in zip(places, relation.columns, strict=True)]
    repeated = f"inline(array_repeat(struct({', '.join(named)}), CAST(abs(w) AS INT)))"
    deleted, inserted = (net.where(f"w {each} 0").selectExpr(repeated) for each in "<>")
    return deleted, inserted, net


def _unknown(name: str) -> str:
    """SQL that ends the job at a kind of change that is none."""
    expected = f"expected {', '.join(_COME[:2] + _GONE[:2])}, found "
    found = f"coalesce(CAST({quoted(CHANGE)} AS STRING), 'null')"
    return fault_sql(string(name), f"concat({string(expected)}, {found})", string(CHANGE), "''")


def _more_than_once(name: str, places: list[str]) -> str:
    """SQL that ends the job at a row that comes or goes twice: the rows of the table are no set."""
    problem = "this row comes or goes more than once; declare the relation as a multiset"
    return fault_sql(string(name), string(problem), "''", f"to_json(struct({', '.join(places)}))")
