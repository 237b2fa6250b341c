"""Faults of rules as they run, as diagnostics at the place of the expression."""

from __future__ import annotations

from ..engine.schema import RowFault
from ..errors.sessions import FaultInRule
from ..errors.source import Span


def diagnosed(fault: RowFault) -> FaultInRule:
    """The error for a fault, at its origin: the span that lowering gave the expression."""
    row = ", ".join(f"{name} = {value!r}" for name, value in fault.row.items() if not name.startswith("$"))
    span = fault.origin if isinstance(fault.origin, Span) else None
    return FaultInRule(fault.message, fault.rule, row, span=span)
