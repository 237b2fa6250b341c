"""Row expressions in SQL text: native where there is a form, else calls of Arrow UDFs around Python code."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from ..schema import Origin, RowExpr, RowFault
from .codec import Codec
from .evaluation import RowEvaluation, evaluated, fault_of, fault_text, packed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Compiled:
    """SQL text of a value; with `udf`, of a STRUCT<v, e> of the value or the fault, mostly a UDF's call.

    `v` is null where `e` is not. Both are null where an argument is null: a row that has failed before,
    or the field of a constructor that a condition excludes.
    """

    text: str
    udf: bool


class SparkExpressions:
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

    def fault(self, text: str, rule: str) -> RowFault:
        """The fault of a rule for the text `e` of a UDF's result."""
        message, number, _, row = fault_of(text)
        return RowFault(message, rule, list(self._origins)[number], row)

    def number(self, origin: Origin) -> int:
        """The number that stands for an origin in the texts of faults."""
        return self._origins.setdefault(origin, len(self._origins))

    def close(self) -> None:
        """Forgets the UDFs of this runtime."""
        for name in self._registered.values():
            self.spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")
        self._registered.clear()

    def _checked(self, expr: RowExpr, inputs: Sequence[str]) -> Compiled | None:
        """The value of an expression that SQL computes, with its fault, which does not show the row."""
        checked = checked_sql(expr, inputs)
        if checked is None:
            return None
        text, message = checked
        what = RowEvaluation(expr.scalar, (), (), expr.column, False, self.number(expr.origin), expr.text)
        known = " AND ".join([f"{text} IS NULL", *(f"({each}) IS NOT NULL" for each in inputs)])
        fault = f"CASE WHEN {known} THEN '{fault_text(what, message, ())}' END"
        return Compiled(f"named_struct('v', {text}, 'e', {fault})", udf=True)

    # -------------------------------------------------------------------- UDFs

    def _row_udf(self, expr: RowExpr, inputs: Sequence[str], what: str) -> Compiled:
        many, column = what == "elements", expr.column
        arguments = expr.columns or (None,) * len(expr.inputs)
        evaluation = RowEvaluation(
            expr.scalar, tuple(expr.inputs), arguments, column, many, self.number(expr.origin), expr.text
        )
        name = self.registered((what, expr, arguments), evaluation)
        return Compiled(f"{name}({', '.join(inputs) or 'true'})", udf=True)

    def registered(self, key: Hashable, evaluation: RowEvaluation) -> str:
        """The name of a UDF that gives STRUCT<v, e>; the same name for the same key.

        Spark is told that the UDF is not deterministic. Otherwise Spark would put a filter on its result
        under the projection that computes it, and so call it twice.
        """
        name = self._registered.get(key)
        if name is not None:
            return name
        from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

        function = arrow_udf(_caller(packed(evaluation, self.codec)), self._result(evaluation))
        name = f"{self._prefix}_{len(self._registered)}"
        self.spark.udf.register(name, function.asNondeterministic())
        self._registered[key] = name
        return name

    def _result(self, evaluation: RowEvaluation) -> str:
        column = evaluation.column
        type = "BOOLEAN" if column is None else self.codec.sql_type(column)
        return f"STRUCT<v: {f'ARRAY<{type}>' if evaluation.many else type}, e: STRING>"


def native_sql(expr: RowExpr, inputs: Sequence[str]) -> str | None:
    """SQL of an expression that SQL computes and that cannot fault; None for other expressions."""
    if expr.sql is None:
        return None
    try:
        return expr.sql(*inputs)
    except NotImplementedError:
        return None


def checked_sql(expr: RowExpr, inputs: Sequence[str]) -> tuple[str, str] | None:
    """SQL that is null where an expression faults, and the fault's message; None if Python computes it."""
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
