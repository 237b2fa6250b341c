"""Faults of a circuit as it runs, as errors at the line that made the operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..engine import circuit as c
from ..engine.divergence import Endless, IterationLimit, LoopLimit, LoopRepetition, Repetition, Unsettled
from ..engine.memory import Exhausted
from ..engine.operators.steps import expression, with_expression
from ..engine.schema import Origin, RowFault, fault_message
from ..errors.circuits import FaultInOperator, NeverZero
from ..errors.diagnostics import DDlogError, Note
from ..errors.memory import NoMemoryLeft
from ..errors.recursion import IterationLimitReached, RecursionRepeats
from ..errors.source import Span
from ..sessions.transactions.faults import out_of_memory
from .places import Made

_WAYS = {1: "comes", -1: "goes", 0: "comes and goes"}


def diagnosed(error: BaseException, places: Mapping[str, Span]) -> DDlogError | None:
    """The error for the users of a circuit. None: it is none of theirs. `places` are those of fixpoints and
    integrals, by the names of their results."""
    match error:
        case RowFault():
            row = ", ".join(f"{name} = {value!r}" for name, value in error.row.items() if "$" not in name)
            span, operator = _operator(error)
            return DDlogError(
                [
                    FaultInOperator(
                        span=span, problem=error.message, operator=operator, row=f", for {row}" if row else ""
                    )
                ]
            )
        case Unsettled():
            return DDlogError([_unsettled(error, places)])
        case Exhausted():
            return DDlogError([out_of_memory(error)])
        case MemoryError():
            return DDlogError([NoMemoryLeft("")])
    return None


def _operator(fault: RowFault) -> tuple[Span | None, str]:
    """The line and the text of the operator whose expression failed."""
    origin = fault.origin
    if isinstance(origin, Made):
        return origin.place, " ".join(origin.text.split())
    return origin if isinstance(origin, Span) else None, " ".join(fault.rule.split())


def _unsettled(
    error: Unsettled, places: Mapping[str, Span]
) -> IterationLimitReached | RecursionRepeats | NeverZero:
    names = ", ".join(error.relations)
    notes = tuple(Note(f"still changing: {name}{row} {_WAYS[way]}") for name, row, way in error.changing)
    span = next((places[name] for name in error.relations if name in places), None)
    match error:
        case IterationLimit(limit=limit) | LoopLimit(limit=limit):
            return IterationLimitReached(limit, error.relations, notes=notes, span=span)
        case Repetition(period=period) | LoopRepetition(period=period):
            return RecursionRepeats(period, error.relations, notes=notes, span=span)
        case Endless():
            return NeverZero(operator=names, notes=notes, span=span)
        case _:
            raise error


def with_faults(circuit: c.Circuit) -> c.Circuit:
    """The circuit with expressions that raise RowFault, as runtimes do, for the reference evaluation."""
    return replace(circuit, nodes=tuple(map(_with_faults, circuit.nodes)))


def _with_faults(node: c.Node) -> c.Node:
    match node:
        case c.Fixpoint():
            return replace(node, body=with_faults(node.body))
        case c.Join() | c.DeltaJoin():
            return replace(node, steps=tuple(_step(each, node.text) for each in node.steps))
        case c.Group() | c.DeltaGroup():
            return replace(node, aggregates=tuple(_aggregate(each, node.text) for each in node.aggregates))
    return node


def _step(step: c.Step, text: str) -> c.Step:
    value = expression(step)
    faulty = replace(value, scalar=_raising(value.scalar, text, value.origin, value.inputs))
    return with_expression(step, faulty)


def _aggregate(aggregate: c.Aggregate, text: str) -> c.Aggregate:
    if aggregate.make is None:
        return aggregate
    return replace(aggregate, make=_raising(aggregate.make, text, aggregate.origin, ("key",)))


def _raising(
    function: Callable[..., Any], text: str, origin: Origin, inputs: Sequence[str]
) -> Callable[..., Any]:
    def call(*row: Any) -> Any:
        try:
            return function(*row)
        except Exception as error:
            message = fault_message(error)
            raise RowFault(message, text, origin, dict(zip(inputs, row, strict=False))) from error

    return call
