"""The relations of a program that a session computes, by name, whole or on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..errors.diagnostics import DDlogError
from .asking.demandbudget import Sparing
from .hosts.host import Host, here_of
from .program import Program

if TYPE_CHECKING:
    from ..engine.circuit import Circuit

_MANY = 1 << 60
"""Stands for the rows of a relation that has not been brought up to the last epoch."""


def wanted_names(program: Program, relations: str | Iterable[str], lasting: bool) -> tuple[str, ...]:
    """The relations that a session computes, for what `Program.session` takes as `relations`; with a state
    all inputs are among them."""
    wanted = program.kept_names(relations)
    return (*wanted, *(name for name in program.names("input") if lasting and name not in wanted))


def kept_of(program: Program, circuit: Circuit) -> frozenset[str]:
    """The relations of a program that a circuit computes."""
    return frozenset(name for name, _ in circuit.relations if name in program.relations)


def sparing_of(program: Program, host: Host, wanted: Sequence[str], kept: frozenset[str]) -> Sparing | None:
    """The choice between outputs on demand and whole ones; None: there is none."""
    if host.offer.budgeted is None or not may_be_whole(program, kept):
        return None
    return Sparing(host.offer.budgeted, partial(host.offer.lowered, program, wanted, False))


def may_be_whole(program: Program, wanted: Iterable[str]) -> bool:
    """Whether some of the wanted relations are on demand, and no state but that of the inputs tells what
    they are."""
    if not any(program.relations[name].demand for name in wanted):
        return False
    from ..demand.program import there_anyway

    return there_anyway(program.checked) <= {*program.names("input")}


def live_rows(host: Host) -> Callable[[str], int]:
    """A function that gives the rows which a host in process holds of a relation."""
    fields = here_of(host)
    return lambda relation: host.runtime.size(relation) if fields.is_settled else _MANY


def check_externs(program: Program) -> None:
    """Loads the Python files of a program's extern functions. Raises DDlogError."""
    if program.checked.externs:
        from ..codegen.programexterns import loading_problems

        problems = loading_problems(program.checked)
        if problems:
            raise DDlogError(problems)
