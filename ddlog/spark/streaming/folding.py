"""Many changes of an input relation as one, which has the same effect on any contents of the relation.

Folded twice, since a small log is read on the driver: by a query, and in Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...values.rows import Row
from .changelog import ChangeColumns, Signed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def folded(spark: SparkSession, columns: ChangeColumns, change: DataFrame) -> DataFrame:
    """Changes of many `_seq` as one change without `_seq`."""
    names = ", ".join(columns.names)
    if columns.exact or (columns.relation.kind == "relation" and columns.relation.key is not None):
        text = _SUM
    elif columns.relation.kind != "relation":
        text = _MULTISET
    else:
        text = _SET
    return spark.sql(text.format(names=names, change="{change}"), change=change)


# The last change of a row counts; within one `_seq` that is an insertion, if there is one.
_SET = """
SELECT {names}, max(struct(_seq, _op))._op AS _op FROM {change} GROUP BY {names}
"""

# With a primary key, every insertion was of an absent row and every deletion of a present one.
_SUM = """
SELECT {names}, sum(_op) AS _op FROM {change} GROUP BY {names} HAVING sum(_op) <> 0
"""

# Deleting an absent row has no effect. The lowest point of the running count tells how many rows the folded
# change has to delete first, if so many are present; after that all insertions and deletions add up.
_MULTISET = """
WITH steps AS (
    SELECT {names}, _seq, sum(_op) AS change, sum(greatest(_op, 0L)) AS come
    FROM {change} GROUP BY {names}, _seq
), counts AS (
    SELECT {names}, change,
        sum(change) OVER (PARTITION BY {names} ORDER BY _seq ROWS UNBOUNDED PRECEDING) - come AS low
    FROM steps
), sums AS (
    SELECT {names}, -least(min(low), 0L) AS gone, sum(change) AS net FROM counts GROUP BY {names}
), both AS (
    SELECT {names}, explode(array(-gone, net + gone)) AS _op FROM sums
)
SELECT {names}, _op FROM both WHERE _op <> 0
"""


def folded_rows(columns: ChangeColumns, rows: Iterable[Signed]) -> list[Signed]:
    """Insertions (+1) and deletions (-1) of rows one after another, as one change."""
    if columns.relation.kind != "relation" and not columns.exact:
        return list(_multiset(rows))
    if columns.relation.key is None and not columns.exact:
        return list(dict(rows).items())
    sums: dict[Row, int] = {}
    for row, op in rows:
        sums[row] = sums.get(row, 0) + op
    return [(row, op) for row, op in sums.items() if op]


def _multiset(rows: Iterable[Signed]) -> Iterator[Signed]:
    gone: dict[Row, int] = {}
    come: dict[Row, int] = {}
    for row, op in rows:
        if op > 0:
            come[row] = come.get(row, 0) + 1
        elif come.get(row, 0):
            come[row] -= 1
        else:
            gone[row] = gone.get(row, 0) - 1
    for counts in (gone, come):
        yield from ((row, count) for row, count in counts.items() if count)
