"""Errors about circuits that are built in Python. Their spans are lines of the user's Python file."""

from __future__ import annotations

from .diagnostics import Diagnostic


class BadOperator(Diagnostic):
    """An operator that cannot be built of what it is given."""

    title = "`{operator}`: {problem}"
    label = "made here"
    operator: str
    problem: str


class CycleWithoutDelay(Diagnostic):
    """A cycle of operators of which none is strict."""

    title = "a cycle without a delay: {cycle}"
    label = "closed here"
    suggestion = "every cycle goes through a `delay()`, so that its value is that of the time before"
    cycle: str


class FaultInOperator(Diagnostic):
    """An expression or a function of an operator that failed on a row."""

    title = "{problem}, in `{operator}`{row}"
    label = "made here"
    problem: str
    operator: str
    row: str


class NeverZero(Diagnostic):
    """An integral over nested time of a stream that does not become zero."""

    title = "the integral of a stream that never becomes zero, in `{operator}`"
    operator: str


class BadChange(Diagnostic):
    """A change that an input of a circuit cannot take."""

    title = "{where}: {problem}"
    where: str
    problem: str
