"""`ddlog circuit --plans`: the orders of the joins of a program."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from ..engine.plans import ASSUMED, JoinPlan
from ..engine.plans import plans as planned
from ..errors.diagnostics import DDlogError
from ..errors.options import CannotBeCombined, OptionNeeded
from ..io.places import check_not_empty
from ..sessions.plans import plans_text
from ..sessions.program import Program
from .notes import noting
from .sinks import print_lines


def show_plans(compiled: Callable[[], Program], arguments: argparse.Namespace) -> None:
    """Prints the plans of the joins: by guesses, or with --input those that ran. Raises DDlogError."""
    _check(arguments)
    program = compiled()
    print_lines(_ran(program, arguments.input) if arguments.input else _guessed(program, arguments.engine))


def _check(arguments: argparse.Namespace) -> None:
    check_not_empty(arguments.input)
    if not arguments.plans:
        reason = "a circuit does not depend on facts"
        raise DDlogError([OptionNeeded("--input", "--plans", reason)])
    if arguments.output is not None:
        raise DDlogError([CannotBeCombined("--plans", "--output", "plans are printed as text")])
    if arguments.stage != "incremental":
        reason = "plans are those of the incremental circuit"
        raise DDlogError([CannotBeCombined("--plans", f"--stage {arguments.stage}", reason)])
    if arguments.input and arguments.engine == "spark":
        reason = "Spark does not tell which rows its joins gave"
        raise DDlogError([CannotBeCombined("--plans --input", "--engine spark", reason)])


def _guessed(program: Program, engine: str) -> Iterator[str]:
    if engine == "spark":
        from ..spark.sessions.explain import plans

        found: Iterator[JoinPlan] = plans(program)
    else:
        found = planned(program.circuit())
    yield f"Plans of joins, if every relation had {ASSUMED:,} rows:"
    yield from plans_text(program, found)


def _ran(program: Program, places: list[str]) -> Iterator[str]:
    with program.session(relations="outputs", engine="in-process") as session:
        session.load(places, note=noting(quiet=False), static=True)
        ran = session.state.host.runtime.plans() or ()
    yield "Plans of joins that ran on these facts:"
    yield from plans_text(program, ran)
