"""Aggregates of groups in SQL: the columns that Spark gathers of the members, and the result made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..circuit import Aggregate
from ..rounding import rounded, rounded_single
from ..schema import Column, Schema
from .evaluation import ArgumentColumn, RowEvaluation, fault_text
from .expressions import Compiled, SparkExpressions
from .means import mean

_UP_TO_64_BITS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL(20,0)")
_LOST_SUM = "a sum is beyond the 38 digits that Spark can hold"


class Aggregates:
    """Writes the aggregates of one runtime. UDFs are registered by its expressions."""

    def __init__(self, expressions: SparkExpressions) -> None:
        self.expressions, self.codec = expressions, expressions.codec

    # ------------------------------------------------------------- gathering

    def collects(self, aggregate: Aggregate, source: Schema) -> bool:
        """Whether an aggregate is made of the list of all members of a group."""
        if aggregate.make is not None:
            return True
        match aggregate.function:
            case "count":
                return False
            case "min" | "max":
                return not self.codec.ordered(source[aggregate.columns[0]])
            case "sum" | "avg":
                return self.codec.sql_type(source[aggregate.columns[0]]) == "BINARY"
        raise ValueError(f"unknown aggregate {aggregate.function}")

    def gathered(self, aggregate: Aggregate, source: Schema) -> str:
        """SQL of what Spark gathers of the members c0, c1, … of a group, for `finish`: a number, an extreme,
        or all members."""
        columns = [f"c{k}" for k in aggregate.columns]
        if self.collects(aggregate, source):
            fields = ", ".join(f"'_{k}', {c}" for k, c in enumerate(columns))
            return f"collect_list(named_struct({fields}))"
        match aggregate.function:
            case "count":
                return "count(*)"
            case "min" | "max":
                return f"{aggregate.function}({columns[0]})"
        wide = self._wide(aggregate, source)
        return f"sum(CAST({columns[0]} AS {'DECIMAL(38,0)' if wide else 'BIGINT'}))"

    # ------------------------------------------------------------- finishing

    def finish(self, aggregate: Aggregate, source: Schema, keys: int, out: Column, name: str) -> Compiled:
        """The aggregate of a group of which `gathered` is the column `name`, the key the columns c0, c1, …
        and the number of members the column `n`."""
        if self.collects(aggregate, source):
            return self._of_members(aggregate, source, keys, out, name)
        match aggregate.function:
            case "count":
                return Compiled(f"CAST({name} AS {self.codec.sql_type(out)})", udf=False)
            case "min" | "max":
                return Compiled(name, udf=False)
        lost = self.codec.sql_type(source[aggregate.columns[0]]) not in _UP_TO_64_BITS
        if aggregate.function == "avg":
            return self._average(aggregate, source, lost, out, name)
        return self._sum(aggregate, lost, out, name)

    def native(self, aggregate: Aggregate, source: Schema, keys: int, out: Column, name: str) -> str | None:
        """SQL of a group as a value, as for `finish`; None if Python makes it, or it is another."""
        if aggregate.function != "group" or not self.collects(aggregate, source):
            return None
        members = [source[k] for k in aggregate.columns]
        return self.codec.grouped(out, [f"c{k}" for k in range(keys)], members, name)

    def _of_members(
        self, aggregate: Aggregate, source: Schema, keys: int, out: Column, name: str
    ) -> Compiled:
        native = self.native(aggregate, source, keys, out, name)
        if native is not None:
            return Compiled(native, udf=False)
        call = self._make(aggregate, source, keys, out)
        return Compiled(f"{call}({', '.join([*(f'c{k}' for k in range(keys)), name])})", udf=True)

    def _make(self, aggregate: Aggregate, source: Schema, keys: int, out: Column) -> str:
        """The name of a UDF of the columns of a key and the array of a group's members, structs of the
        aggregate's columns: it gives what `aggregate` makes of them."""
        make = aggregate.make or {"min": _least, "max": _greatest}.get(aggregate.function)
        if make is None:
            make = _total(aggregate, out)
        members = tuple(source[k] for k in aggregate.columns)
        arguments: tuple[ArgumentColumn, ...] = (*source[:keys], members)
        names = (*(each.name for each in source[:keys]), "group")
        origin = self.expressions.number(aggregate.origin)
        evaluation = RowEvaluation(_OfGroup(make), names, arguments, out, False, origin, aggregate.function)
        return self.expressions.registered(("make", aggregate, arguments, out), evaluation)

    def _sum(self, aggregate: Aggregate, lost: bool, out: Column, name: str) -> Compiled:
        """`lost`: the sum may be beyond 38 digits; of values of 64 bits, only that of 2^62 members."""
        text = self.codec.wrapped(out, name) if aggregate.wrap is not None else name
        if text is None:
            call = self._scalar(("wrap", aggregate, out), aggregate.wrap, ("sum",), out, aggregate)
            return Compiled(f"{call}({name})", udf=True)
        if not lost or (aggregate.wrap is None and self.codec.sql_type(out) == "BIGINT"):
            return Compiled(text, udf=False)
        fault = f"CASE WHEN {name} IS NULL THEN '{self._lost_sum(aggregate)}' END"
        return Compiled(f"named_struct('v', {text}, 'e', {fault})", udf=True)

    def _average(self, aggregate: Aggregate, source: Schema, lost: bool, out: Column, name: str) -> Compiled:
        single = out.domain == "float"
        if not single and self.codec.sql_type(source[aggregate.columns[0]]) in _UP_TO_64_BITS:
            text, udf = mean(name, "n"), False
        else:
            divide = rounded_single if single else rounded
            call = self._scalar(
                ("avg", aggregate.origin, out, lost), divide, ("sum", "count"), out, aggregate
            )
            text, udf = f"{call}({name}, n)", True
        if lost:
            # A lost sum is null, which must not pass for a row to leave out.
            none = f"CAST(NULL AS {self.codec.sql_type(out)})"
            fault = f"named_struct('v', {none}, 'e', '{self._lost_sum(aggregate)}')"
            given = text if udf else f"named_struct('v', {text}, 'e', CAST(NULL AS STRING))"
            text, udf = f"CASE WHEN {name} IS NULL THEN {fault} ELSE {given} END", True
        return Compiled(text, udf)

    def _scalar(
        self, key: Sequence[Any], function: Any, names: tuple[str, ...], out: Column, aggregate: Aggregate
    ) -> str:
        """A UDF of integers."""
        unknown: tuple[None, ...] = (None,) * len(names)
        origin = self.expressions.number(aggregate.origin)
        evaluation = RowEvaluation(
            _OfIntegers(function), names, unknown, out, False, origin, aggregate.function
        )
        return self.expressions.registered(tuple(key), evaluation)

    def _lost_sum(self, aggregate: Aggregate) -> str:
        origin = self.expressions.number(aggregate.origin)
        evaluation = RowEvaluation(_least, (), (), None, False, origin, aggregate.function)
        return fault_text(evaluation, _LOST_SUM, ())

    def _wide(self, aggregate: Aggregate, source: Schema) -> bool:
        """Whether the sum of an integer column may leave 64 bits, and that matters: one that wraps around at
        64 bits, or fewer, may wrap there first."""
        stored = self.codec.sql_type(source[aggregate.columns[0]])
        wraps = aggregate.function == "sum" and aggregate.wrap is not None
        return stored not in ("TINYINT", "SMALLINT", "INT", *(["BIGINT"] if wraps else []))


# ------------------------------------------------------------- functions of the workers


class _OfGroup:
    """A function of a key and the sorted members, given the columns of the key and the members."""

    def __init__(self, make: Callable[[tuple[Any, ...], list[tuple[Any, ...]]], Any]) -> None:
        self.make = make

    def __call__(self, *row: Any) -> Any:
        return self.make(row[:-1], sorted(row[-1]))


class _OfIntegers:
    """A function of Python integers, given decimals."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *row: Any) -> Any:
        return self.function(*map(int, row))


def _least(key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> Any:
    return rows[0][0]


def _greatest(key: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> Any:
    return rows[-1][0]


def _total(aggregate: Aggregate, out: Column) -> Callable[[Any, list[tuple[Any, ...]]], Any]:
    """A sum or mean of integers too wide for Spark's sums."""
    wrap, is_sum, is_single = aggregate.wrap, aggregate.function == "sum", out.domain == "float"

    def total(key: Any, rows: list[tuple[Any, ...]]) -> Any:
        found = sum(value for (value,) in rows)
        if is_sum:
            return wrap(found) if wrap else found
        return (rounded_single if is_single else rounded)(found, len(rows))

    return total
