"""A circuit as Spark runs it: under each operator its expressions, as SQL or as Python in an Arrow UDF."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...engine import plans as engine_plans
from ...engine.circuit import (
    Circuit,
    DeltaGroup,
    DeltaJoin,
    Fixpoint,
    Group,
    Guard,
    Inspect,
    Join,
    Let,
    Step,
    Unnest,
)
from ...engine.joinplan import JoinPlan
from ...engine.labels import one_line
from ...engine.operators.steps import step_text
from ...engine.schema import RowExpr
from ...engine.spark.aggregates import Aggregates
from ...engine.spark.expressions import Compiled, SparkExpressions, checked_sql, native_sql
from ...engine.spark.joins import JoinText
from ...engine.text import to_text
from ...sessions.program import Program
from ..types.codec import SparkCodec

_NODE = re.compile(r"(\s*)(n[0-9.]+) = ")


def explain(program: Program) -> str:
    """The incremental circuit of all relations as text, with the SQL or Python of each expression. Needs no
    Spark."""
    circuit = program.circuit("incremental", tuple(program.relations), records="values")
    expressions = SparkExpressions(None, SparkCodec(program.checked.typedefs))  # type: ignore[arg-type]
    remarks = dict(_remarks(circuit, "n", expressions))
    return "".join(_with_remarks(to_text(circuit), remarks))


def plans(program: Program) -> Iterator[JoinPlan]:
    """The plans of the joins on Spark, if every relation had as many rows. Needs no Spark."""
    circuit = program.circuit("incremental", records="values")
    expressions = _Unregistered(None, SparkCodec(program.checked.typedefs))  # type: ignore[arg-type]
    return engine_plans.plans(circuit, lambda node, schemas: JoinText(node, schemas, expressions).stages)


class _Unregistered(SparkExpressions):
    """Expressions of which those that need Python are not registered with a session."""

    def _row_udf(self, expr: RowExpr, inputs: Sequence[str], what: str) -> Compiled:
        return Compiled("", udf=True)


def _with_remarks(text: str, remarks: dict[str, list[str]]) -> Iterator[str]:
    for line in text.splitlines():
        yield f"{line}\n"
        node = _NODE.match(line)
        for remark in remarks.get(node.group(2), ()) if node else ():
            assert node is not None
            yield f"{node.group(1)}        {remark}\n"


def _remarks(circuit: Circuit, prefix: str, expressions: SparkExpressions) -> Iterator[tuple[str, list[str]]]:
    for place, node in enumerate(circuit.nodes):
        name = f"{prefix}{place}"
        match node:
            case Join() | DeltaJoin():
                yield name, [_step(step) for step in node.steps]
            case Group() | DeltaGroup():
                yield name, list(_aggregates(node, circuit, expressions))
            case Fixpoint():
                yield from _remarks(node.body, f"{name}.", expressions)


def _step(step: Step) -> str:
    match step:
        case Guard(expr):
            return _expression(expr, step)
        case Let(_, expr) | Unnest(_, expr):
            return _expression(expr, step)
        case Inspect():
            return f"on the driver: {one_line(step_text(step))}"


def _expression(expr: RowExpr, step: Step) -> str:
    text = native_sql(expr, expr.inputs)
    if text is None and not isinstance(step, Unnest):
        checked = checked_sql(expr, expr.inputs)
        text = checked and checked[0]
    source = one_line(step_text(step))
    return f"udf: {source}" if text is None else f"sql: {source}  as  {one_line(text)}"


def _aggregates(node: Group | DeltaGroup, circuit: Circuit, expressions: SparkExpressions) -> Iterator[str]:
    schema = circuit.nodes[node.source].schema
    outs, aggregates = node.schema[node.keys :], Aggregates(expressions)
    for aggregate, out in zip(node.aggregates, outs, strict=True):
        gathered = aggregates.gathered(aggregate, schema)
        grouped = aggregates.native(aggregate, schema, node.keys, out, gathered)
        if grouped is not None:
            yield f"sql: {aggregate.function}  as  {grouped}"
        elif aggregates.collects(aggregate, schema):
            yield f"udf: {aggregate.function} of the group's rows"
        else:
            yield f"sql: {aggregate.function}  as  {gathered}"
