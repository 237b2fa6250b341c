"""Faults of rules as they run, as diagnostics with the place of the rule."""

from __future__ import annotations

from collections.abc import Iterable

from ..engine.schema import RowFault
from ..errors.sessions import FaultInRule
from ..errors.source import Source, Span


def diagnosed(fault: RowFault, sources: Iterable[Source]) -> FaultInRule:
    """The error for a fault; its line is shown if one of the sources has it."""
    row = ", ".join(f"{name} = {value!r}" for name, value in fault.row.items() if not name.startswith("$"))
    name, *place = fault.place.rsplit(":", 2)
    for source in sources:
        if name == source.name and len(place) == 2 and all(part.isdigit() for part in place):
            line, column = map(int, place)
            span = Span(source, line, column, line, column + 1)
            return FaultInRule(fault.message, fault.rule, fault.place, row, span=span)
    return FaultInRule(fault.message, fault.rule, fault.place, row)
