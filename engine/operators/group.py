"""Grouping and aggregation: for each key of a set, one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import zset
from ..circuit import Aggregate
from ..rounding import rounded
from ..zset import Row, Zset


def group(value: Mapping[Row, int], keys: int, aggregates: Sequence[Aggregate]) -> Zset:
    """One row for each key of a set: the key and its aggregates."""
    groups: dict[Row, list[Row]] = {}
    for row in sorted(zset.distinct(value)):
        groups.setdefault(row[:keys], []).append(row)
    return zset.of_rows(
        key + tuple(_aggregate(a, key, rows) for a in aggregates) for key, rows in groups.items()
    )


def _aggregate(aggregate: Aggregate, key: Row, rows: list[Row]) -> Any:
    columns = sorted(tuple(row[c] for c in aggregate.columns) for row in rows)
    if aggregate.make is not None:
        return aggregate.make(key, columns)
    match aggregate.function:
        case "count":
            return len(rows)
        case "sum":
            total = sum(value for (value,) in columns)
            return aggregate.wrap(total) if aggregate.wrap else total
        case "avg":
            return rounded(sum(value for (value,) in columns), len(columns))
        case "min":
            return columns[0][0]
        case "max":
            return columns[-1][0]
        case _:
            raise ValueError(f"unknown aggregate {aggregate.function}")


def delta_group(
    before: Mapping[Row, int], change: Mapping[Row, int], keys: int, aggregates: Sequence[Aggregate]
) -> Zset:
    """The change of `group` when `before` changes: only the touched keys are looked at."""
    touched = {row[:keys] for row in change}
    old = {row: weight for row, weight in before.items() if row[:keys] in touched}
    return zset.subtract(group(zset.add(old, change), keys, aggregates), group(old, keys, aggregates))
