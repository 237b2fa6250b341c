"""How many rows have different integers in some columns, with little more work than to read them: each row is
a bit in the word of its tile, and a tile of 64 neighbours is one group.

    one column: 64 neighbours                 two columns: 8 x 8 neighbours
    group  k >> 6, bit  k & 63                group  a >> 3, b >> 3, bit  8 (a & 7) + (b & 7)

Keys are mostly dense: six million of them are some hundred thousand groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BITS = 6  # of a place in a word
_INTEGERS = ("tinyint", "smallint", "int", "bigint")


def count_different(frame: DataFrame, columns: Sequence[str]) -> tuple[int, int | None]:
    """The number of rows of a frame, and that of their different values of some columns, by one job; None for
    the latter if the columns are not up to three integers."""
    types = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    if not 0 < len(columns) <= 3 or any(types[column] not in _INTEGERS for column in columns):
        return int(frame.selectExpr("count(*)").collect()[0][0]), None
    each = _BITS // len(columns)
    mask = (1 << each) - 1
    names = [f"k{place}" for place in range(len(columns))]
    places = [f"shiftleft({name} & {mask}, {each * at})" for at, name in enumerate(names)]
    keys = frame.select(
        *(
            frame[f"`{column}`"].cast("bigint").alias(name)
            for column, name in zip(columns, names, strict=True)
        )
    )
    tiles = keys.selectExpr(
        *(f"shiftright({name}, {each}) AS {name}" for name in names),
        f"shiftleft(1L, CAST({' | '.join(places)} AS INT)) AS bit",
    )
    from pyspark.sql import functions as f

    words = tiles.groupBy(*names).agg(f.expr("count(*)").alias("n"), f.expr("bit_or(bit)").alias("word"))
    (row,) = words.selectExpr("sum(n)", "sum(bit_count(word))").collect()
    return int(row[0] or 0), int(row[1] or 0)
