"""Row expressions in SQL text: native where there is a form, else calls of Arrow UDFs around Python code."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from ..circuit import Aggregate
from ..rounding import rounded, rounded_single
from ..schema import Column, Origin, RowExpr, RowFault, Schema
from .codec import Codec
from .evaluation import Argument, Evaluation, evaluated, fault_of, fault_text, packed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Compiled:
    """SQL text of a value; with `udf`, of what may fault, mostly a UDF's call, STRUCT<v, e>: the value or the
    fault.

    `v` is null where `e` is not. Both are null where an argument is null: a row that has failed before,
    or the field of a constructor that a condition excludes.
    """

    text: str
    udf: bool


class Expressions:
    """The expressions of one runtime. Each that needs Python is registered once with the session."""

    def __init__(self, spark: SparkSession, codec: Codec) -> None:
        self.spark, self.codec = spark, codec
        self._prefix = f"ddlog_{uuid4().hex[:12]}"
        self._registered: dict[Hashable, str] = {}
        self._origins: dict[Origin, int] = {}  # numbered, since faults come back as text

    def value(self, expr: RowExpr, inputs: Sequence[str]) -> Compiled:
        """The value of an expression over the SQL texts of its inputs."""
        native = native_sql(expr, inputs)
        if native is not None:
            return Compiled(native, udf=False)
        return self._checked(expr, inputs) or self._row_udf(expr, inputs, "value")

    def elements(self, expr: RowExpr, inputs: Sequence[str]) -> Compiled:
        """The array of the elements that `expr` gives, each as `expr.column` says."""
        native = native_sql(expr, inputs)
        if native is not None:
            # A cast renames the fields of a map's pairs.
            return Compiled(f"CAST({native} AS ARRAY<{self.codec.sql_type(expr.column)}>)", udf=False)
        return self._row_udf(expr, inputs, "elements")

    def inspect(self, expr: RowExpr, inputs: Sequence[str]) -> Compiled:
        """An expression evaluated for its effect: true."""
        return self._row_udf(expr, inputs, "inspect")

    def make(
        self,
        aggregate: Aggregate,
        keys: Sequence[Column],
        members: Sequence[Column],
        out: Column,
        names: Sequence[str] = (),
    ) -> str:
        """The name of a UDF of the columns of a key and the array of a group's members, structs of the
        aggregate's columns, which gives STRUCT<v, e>: what `aggregate` makes of them."""
        result = aggregate.make or {"min": _least, "max": _greatest}.get(aggregate.function)
        if result is None:
            result = _total(aggregate, out)
        arguments: tuple[Argument, ...] = (*keys, tuple(members))
        key = ("make", aggregate, arguments, out)
        shown = names or [f"key {i + 1}" for i in range(len(keys))]
        evaluation = Evaluation(
            _OfGroup(result),
            (*shown, "group"),
            arguments,
            out,
            False,
            self._number(aggregate.origin),
            aggregate.function,
        )
        return self._register(key, evaluation, f"STRUCT<v: {self.codec.sql_type(out)}, e: STRING>")

    def collects(self, aggregate: Aggregate, source: Schema) -> bool:
        """Whether an aggregate is made of the list of all members of a group."""
        if aggregate.make is not None:
            return True
        match aggregate.function:
            case "count":
                return False
            case "min" | "max":
                return not self.codec.ordered(source[aggregate.columns[0]])
        return self.codec.sql_type(source[aggregate.columns[0]]) == "BINARY"

    def gathered(self, aggregate: Aggregate, source: Schema) -> str:
        """What Spark gathers of the members c0, c1, … of a group, for `finish`: a number, an extreme, or
        all members."""
        columns = [f"c{k}" for k in aggregate.columns]
        if self.collects(aggregate, source):
            fields = ", ".join(f"'_{k}', {c}" for k, c in enumerate(columns))
            return f"collect_list(named_struct({fields}))"
        match aggregate.function:
            case "count":
                return "count(*)"
            case "min" | "max":
                return f"{aggregate.function}({columns[0]})"
        wide = self.wide(source[aggregate.columns[0]])
        return f"sum(CAST({columns[0]} AS {'DECIMAL(38,0)' if wide else 'BIGINT'}))"

    def finish(self, aggregate: Aggregate, source: Schema, keys: int, out: Column, name: str) -> Compiled:
        """The aggregate of a group of which `gathered` is the column `name`, the key the columns c0, c1, …
        and the number of members the column `n`."""
        native = self.grouped(aggregate, source, keys, out, name)
        if native is not None:
            return Compiled(native, udf=False)
        if self.collects(aggregate, source):
            members = [source[k] for k in aggregate.columns]
            named = [each.name for each in source[:keys]]
            call = self.make(aggregate, source[:keys], members, out, named)
            return Compiled(f"{call}({', '.join([*(f'c{k}' for k in range(keys)), name])})", udf=True)
        match aggregate.function:
            case "count":
                return Compiled(f"CAST({name} AS {self.codec.sql_type(out)})", udf=False)
            case "min" | "max":
                return Compiled(name, udf=False)
            case "avg":
                return self._average(aggregate, self.wide(source[aggregate.columns[0]]), out, name)
        return self._sum(aggregate, self.wide(source[aggregate.columns[0]]), out, name)

    def grouped(self, aggregate: Aggregate, source: Schema, keys: int, out: Column, name: str) -> str | None:
        """SQL of a group as a value, as for `finish`; None where it is Python's, or the aggregate another."""
        if aggregate.function != "group" or not self.collects(aggregate, source):
            return None
        members = [source[k] for k in aggregate.columns]
        return self.codec.grouped(out, [f"c{k}" for k in range(keys)], members, name)

    def wide(self, column: Column) -> bool:
        """Whether sums of an integer column may leave 64 bits."""
        return self.codec.sql_type(column) not in ("TINYINT", "SMALLINT", "INT")

    def fault(self, text: str, rule: str) -> RowFault:
        """The fault that the `e` of a UDF's result tells of."""
        message, number, _, row = fault_of(text)
        return RowFault(message, rule, list(self._origins)[number], row)

    def close(self) -> None:
        """Forgets the UDFs of this runtime."""
        for name in self._registered.values():
            self.spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")
        self._registered.clear()

    def _checked(self, expr: RowExpr, inputs: Sequence[str]) -> Compiled | None:
        """What SQL can compute but for a fault, which then does not show the row's values."""
        checked = checked_sql(expr, inputs)
        if checked is None:
            return None
        text, message = checked
        what = Evaluation(expr.scalar, (), (), expr.column, False, self._number(expr.origin), expr.text)
        known = " AND ".join([f"{text} IS NULL", *(f"({each}) IS NOT NULL" for each in inputs)])
        fault = f"CASE WHEN {known} THEN '{fault_text(what, message, ())}' END"
        return Compiled(f"named_struct('v', {text}, 'e', {fault})", udf=True)

    def _number(self, origin: Origin) -> int:
        return self._origins.setdefault(origin, len(self._origins))

    # -------------------------------------------------------------------- UDFs

    def _row_udf(self, expr: RowExpr, inputs: Sequence[str], what: str) -> Compiled:
        many, column = what == "elements", None if what == "inspect" else expr.column
        arguments = expr.columns or (None,) * len(expr.inputs)
        evaluation = Evaluation(
            expr.scalar, tuple(expr.inputs), arguments, column, many, self._number(expr.origin), expr.text
        )
        type = "BOOLEAN" if column is None else self.codec.sql_type(column)
        result = f"STRUCT<v: {f'ARRAY<{type}>' if many else type}, e: STRING>"
        name = self._register((what, expr, arguments), evaluation, result)
        return Compiled(f"{name}({', '.join(inputs) or 'true'})", udf=True)

    def _register(self, key: Hashable, evaluation: Evaluation, result: str) -> str:
        """The name of the UDF. Spark is told that it is not deterministic: it would put a filter on its
        result under the projection that computes it, and so call it twice."""
        name = self._registered.get(key)
        if name is not None:
            return name
        from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

        function = arrow_udf(_caller(packed(evaluation, self.codec)), result)
        name = f"{self._prefix}_{len(self._registered)}"
        self.spark.udf.register(name, function.asNondeterministic())
        self._registered[key] = name
        return name

    # --------------------------------------------------------------- aggregates

    def _sum(self, aggregate: Aggregate, wide: bool, out: Column, name: str) -> Compiled:
        text = self.codec.wrapped(out, name) if aggregate.wrap is not None else name
        if text is None:
            call = self._scalar(("wrap", aggregate, out), aggregate.wrap, ("sum",), out, aggregate)
            return Compiled(f"{call}({name})", udf=True)
        if not wide or (aggregate.wrap is None and self.codec.sql_type(out) == "BIGINT"):
            return Compiled(text, udf=False)
        message = "a sum is beyond the 38 digits that Spark can hold"
        what = Evaluation(_least, (), (), None, False, self._number(aggregate.origin), aggregate.function)
        fault = fault_text(what, message, ())
        lost = f"CASE WHEN {name} IS NULL THEN '{fault}' END"
        return Compiled(f"named_struct('v', {text}, 'e', {lost})", udf=True)

    def _average(self, aggregate: Aggregate, wide: bool, out: Column, name: str) -> Compiled:
        divide = rounded_single if out.domain == "float" else rounded
        call = self._scalar(("avg", aggregate.origin, out, wide), divide, ("sum", "count"), out, aggregate)
        # A lost sum is null, which must not pass for a row to leave out.
        lost = fault_text(
            Evaluation(divide, (), (), None, False, self._number(aggregate.origin), aggregate.function),
            "a sum is beyond the 38 digits that Spark can hold",
            (),
        )
        text = f"{call}({name}, n)"
        if wide:
            text = (
                f"CASE WHEN {name} IS NULL THEN named_struct('v', CAST(NULL AS {self.codec.sql_type(out)}), "
                f"'e', '{lost}') ELSE {text} END"
            )
        return Compiled(text, udf=True)

    def _scalar(
        self, key: Hashable, function: Any, names: tuple[str, ...], out: Column, aggregate: Aggregate
    ) -> str:
        """A UDF of integers."""
        integers = _Integers(function)
        unknown: tuple[None, ...] = (None,) * len(names)
        evaluation = Evaluation(
            integers, names, unknown, out, False, self._number(aggregate.origin), aggregate.function
        )
        return self._register(key, evaluation, f"STRUCT<v: {self.codec.sql_type(out)}, e: STRING>")


def native_sql(expr: RowExpr, inputs: Sequence[str]) -> str | None:
    """SQL of what SQL computes without a fault, None of other expressions."""
    if expr.sql is None:
        return None
    try:
        return expr.sql(*inputs)
    except NotImplementedError:
        return None


def checked_sql(expr: RowExpr, inputs: Sequence[str]) -> tuple[str, str] | None:
    """SQL that is null where an expression faults, and what the fault says; None: it is Python's."""
    if expr.sql is None:
        return None
    try:
        return expr.sql.checked(*inputs)
    except NotImplementedError:
        return None


def _caller(data: bytes) -> Callable[..., pa.Array]:
    """The function that Spark ships: it knows no more than the bytes of an evaluation."""

    def call(*columns: pa.Array) -> pa.Array:
        return evaluated(data, columns)

    # Spark reads the kind of a UDF off its annotations, and cannot look up those that are text.
    call.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return call


class _OfGroup:
    """A function of a key and the sorted members, given the columns of the key and the members."""

    def __init__(self, make: Callable[[tuple[Any, ...], list[tuple[Any, ...]]], Any]) -> None:
        self.make = make

    def __call__(self, *row: Any) -> Any:
        return self.make(row[:-1], sorted(row[-1]))


class _Integers:
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
