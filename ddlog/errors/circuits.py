"""Errors about circuits that are built in Python. Their spans are lines of the user's Python file."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class BadOperator(Diagnostic):
    """An operator that cannot be built of what it is given."""

    title: ClassVar[str] = "`{operator}`: {problem}"
    label: ClassVar[str] = "made here"
    operator: str
    problem: str


@declared(kw_only=True)
class CycleWithoutDelay(Diagnostic):
    """A cycle of operators of which none is strict."""

    title: ClassVar[str] = "a cycle without a delay: {cycle}"
    label: ClassVar[str] = "closed here"
    suggestion: ClassVar[str] = (
        "every cycle goes through a `delay()`, so that its value is that of the time before"
    )
    cycle: str


@declared(kw_only=True)
class FaultInOperator(Diagnostic):
    """An expression or a function of an operator that failed on a row."""

    title: ClassVar[str] = "{problem}, in `{operator}`{row}"
    label: ClassVar[str] = "made here"
    problem: str
    operator: str
    row: str


@declared(kw_only=True)
class NeverZero(Diagnostic):
    """An integral over nested time of a stream that does not become zero."""

    title: ClassVar[str] = "the integral of a stream that never becomes zero, in `{operator}`"
    operator: str


@declared(kw_only=True)
class BadChange(Diagnostic):
    """A change that an input of a circuit cannot take."""

    title: ClassVar[str] = "{where}: {problem}"
    where: str
    problem: str
