"""Inspect on the cluster: what its expression reads comes to the driver, which evaluates it there.

All that tells the valuations of a body apart is in columns of the body's query, after its own, so that
each valuation is seen with its own weight. They are seen rule by rule and, in a recursion, iteration by
iteration; those that come together in the order of the values that are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from ..circuit import (
    CIRCUMSTANCES,
    EPOCH,
    ITERATION,
    WEIGHT,
    DeltaJoin,
    Inspect,
    Join,
    Let,
    Step,
    Term,
    Unnest,
)
from ..operators.steps import inputs
from ..schema import Column, RowFault, Schema, fault_message, ready
from .sqltext import Query, Select, consolidated, names
from .table import TIME
from .tables import Tables


@dataclass(frozen=True, slots=True)
class Inspected:
    """The Inspects of a body. `schema` is that of its query: the `own` columns of the body, then those of
    all variables of its valuations, by `places`."""

    steps: tuple[Inspect, ...] = ()
    schema: Schema = ()
    own: int = 0
    places: dict[str, int] = field(default_factory=dict)
    text: str = ""


def without_inspects(
    node: Join | DeltaJoin, schemas: Sequence[Schema]
) -> tuple[Join | DeltaJoin, Inspected | None]:
    """The body without its Inspects, and these; None if there are none. `schemas` are those of its terms."""
    steps = tuple(step for step in node.steps if isinstance(step, Inspect))
    if not steps:
        return node, None
    terms = tuple(_all_named(k, term) for k, term in enumerate(node.terms))
    others = tuple(step for step in node.steps if not isinstance(step, Inspect))
    columns = _columns(terms, others, schemas)
    read = {name for step in steps for name in inputs(step)}
    read |= {name for term in terms if not term.negated for name in term.columns if name is not None}
    read |= {step.name for step in others if isinstance(step, Unnest)}
    names = [name for name in columns if name in read]
    schema = (*node.schema, *(columns[name] for name in names))
    places = {name: len(node.schema) + k for k, name in enumerate(names)}
    body = replace(node, terms=terms, steps=others, output=(*node.output, *names), schema=schema)
    return body, Inspected(steps, schema, len(node.schema), places, node.text)


def _all_named(number: int, term: Term) -> Term:
    """A term with a variable for each column, as its rows count one by one."""
    if term.negated:
        return term
    columns = (name or f"$inspected {number} {k}" for k, name in enumerate(term.columns))
    return replace(term, columns=tuple(columns))


def _columns(terms: Sequence[Term], steps: Sequence[Step], schemas: Sequence[Schema]) -> dict[str, Column]:
    """The column of each variable of a body."""
    found: dict[str, Column] = {}
    for term, schema in zip(terms, schemas, strict=True):
        for name, column in zip(term.columns, schema, strict=True):
            if name is not None:
                found.setdefault(name, column)
    for step in steps:
        if isinstance(step, Let | Unnest):
            found.setdefault(step.name, step.value.column)
    return found


@dataclass(frozen=True, slots=True)
class Inspecting:
    """The Inspects of one epoch, of this number."""

    tables: Tables
    epoch: int

    def of(self, inspected: Inspected | None, query: Query, timed: bool, small: bool) -> Query:
        """The query of a body's own columns, after its Inspects have seen the rows of the whole query: it is
        computed now. Raises RowFault."""
        if inspected is None:
            return query
        extra, time = ((TIME,), ["t"]) if timed else ((), [])
        columns = names(inspected.schema)
        net = consolidated(columns, query, times=time)
        table = self.tables.settled(net, inspected.schema, small=small, extra=extra)
        if table.rows:
            rows = table.local
            if rows is None:
                rows = self.tables.collected(
                    table.frame.select(*columns, "w", *time), inspected.schema, extra
                )
            for step in inspected.steps:
                self._look(step, inspected, rows, timed)
        return own_columns(inspected, table.view, timed)

    def _look(self, step: Inspect, inspected: Inspected, rows: pa.Table, timed: bool) -> None:
        names_read = [name for name in step.value.inputs if name not in CIRCUMSTANCES]
        decode = self.tables.codec.decode
        values = [
            decode(inspected.schema[k], rows.column(k))
            for k in (inspected.places[name] for name in names_read)
        ]
        # What is derived from rows of an iteration is of the next one.
        iterations = [time + 1 for time in rows.column("t").to_pylist()] if timed else [0] * rows.num_rows
        seen = sorted(zip(*values, iterations, rows.column("w").to_pylist(), strict=True))
        function, place = ready(step.value.scalar), {name: k for k, name in enumerate(names_read)}
        for row in seen:
            known: dict[str, Any] = {WEIGHT: row[-1], ITERATION: row[-2], EPOCH: self.epoch}
            known |= {name: row[k] for name, k in place.items()}
            given = {name: known[name] for name in step.value.inputs}
            try:
                function(*given.values())
            except Exception as fault:
                message = fault_message(fault)
                raise RowFault(message, inspected.text, step.value.origin, given) from fault


def own_columns(inspected: Inspected | None, source: Query | str, timed: bool) -> Select:
    """The columns of a body without those that its Inspects read."""
    width = 0 if inspected is None else inspected.own
    return Select([*(f"c{k}" for k in range(width)), "w", *(["t"] if timed else [])], source)
