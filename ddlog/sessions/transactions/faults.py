"""Faults of rules as they run, and recursions that do not settle, as diagnostics."""

from __future__ import annotations

from collections.abc import Mapping

from ...core import Relation
from ...engine.divergence import IterationLimit, LoopLimit, LoopRepetition, Repetition, Unsettled
from ...engine.memory import Exhausted, Growth
from ...engine.schema import RowFault
from ...errors.diagnostics import Diagnostic, InternalError, Note
from ...errors.loops import LoopLimitReached, LoopRepeats
from ...errors.memory import MemoryLimitReached, NoMemoryLeft
from ...errors.origins import SqlPlace
from ...errors.recursion import IterationLimitReached, RecursionRepeats
from ...errors.sessions import BROKEN, ConstraintBroken, FaultInRule, FaultInView
from ...errors.source import Span
from ...types import TypeDef
from ...values.rows import record_text
from ..sizes import size_text

_WAYS = {1: "{} comes", -1: "{} goes", 0: "{} comes and goes"}


def diagnosed(fault: RowFault) -> Diagnostic:
    """The error for a fault, at its origin: the span that lowering gave the expression."""
    span = fault.origin if isinstance(fault.origin, Span) else None
    if isinstance(span, SqlPlace):
        is_constraint = fault.message.startswith(BROKEN)
        return (ConstraintBroken if is_constraint else FaultInView)(fault.message, span=span)
    row = ", ".join(f"{name} = {value!r}" for name, value in fault.row.items() if not name.startswith("$"))
    return FaultInRule(fault.message, fault.rule, row, span=span)


def never_settled(
    unsettled: Unsettled, relations: Mapping[str, Relation], typedefs: Mapping[str, TypeDef]
) -> Diagnostic:
    """The error for a recursion that does not settle, with some of the rows that change."""
    notes = tuple(
        Note(f"still changing: {_WAYS[weight].format(record_text(relations[name], typedefs)(row))}")
        for name, row, weight in unsettled.changing
        if name in relations
    )
    match unsettled:
        case IterationLimit(limit=limit):
            return IterationLimitReached(limit, unsettled.relations, notes=notes)
        case LoopLimit(name=name, origin=origin) | LoopRepetition(name=name, origin=origin):
            span = origin if isinstance(origin, Span) else None
            shown = tuple(each for each in unsettled.relations if "$" not in each)
            if isinstance(unsettled, LoopLimit):
                return LoopLimitReached(unsettled.limit, name, shown, notes=notes, span=span)
            return LoopRepeats(unsettled.period, name, shown, notes=notes, span=span)
        case Repetition(period=period):
            return RecursionRepeats(period, unsettled.relations, notes=notes)
        case _:
            raise InternalError(str(unsettled))


def out_of_memory(exhausted: Exhausted) -> Diagnostic:
    """The error for an epoch that ran out of memory, with the relations that grew."""
    notes = [Note(_growth(each)) for each in exhausted.grown]
    if exhausted.resident is not None:
        notes.append(Note(f"the process had {size_text(exhausted.resident)}"))
    if exhausted.problem is not None:
        notes.append(Note(f"nothing more goes to {exhausted.problem}"))
    phase = " ".join(exhausted.phase.split())
    if exhausted.limit is None:
        return NoMemoryLeft(phase, notes=tuple(notes))
    return MemoryLimitReached(size_text(exhausted.limit), phase, notes=tuple(notes))


def _growth(grown: Growth) -> str:
    name = grown.name.partition("$")[0] or "(internal)"
    return f"`{name}` grew from {grown.rows_before:,} rows to {grown.rows:,} rows ({size_text(grown.bytes)})"
