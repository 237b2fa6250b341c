"""`ddlog circuit --plans`: the orders of the joins of a program."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from ..engine.circuit import DeltaJoin, Fixpoint, Join
from ..engine.joinplan import JoinPlan
from ..engine.maintenance import RATE, Costs, Expectation, ImportSize, Situation, expectation
from ..engine.operators.steps import has_effect
from ..engine.plans import ASSUMED
from ..engine.plans import plans as planned
from ..errors.diagnostics import DDlogError
from ..errors.options import CannotBeCombined, OptionNeeded
from ..io.places import check_not_empty
from ..sessions.measuring.plans import expectation_lines, plans_text
from ..sessions.program import Program
from .notes import noting
from .sinks import print_lines

_ITERATIONS = 10  # that a recursion is guessed to take


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
    guessed = list(_recursions(program, found_rows=ASSUMED))
    if guessed:
        yield "Recursions, by guesses: what a commit would do"
        yield from expectation_lines(guessed)


def _recursions(program: Program, found_rows: int) -> Iterator[Expectation]:
    """For each recursion, whether a commit would maintain it, if it and its imports had so many rows."""
    for node in program.circuit().nodes:
        if isinstance(node, Fixpoint):
            costs = Costs()
            costs.evaluated(
                found_rows, found_rows, RATE * 2 * found_rows, [(k, 1) for k in range(_ITERATIONS)]
            )
            imports = [ImportSize(found_rows) for _ in node.reads()]
            effects = any(
                has_effect(s) for n in node.body.nodes if isinstance(n, Join | DeltaJoin) for s in n.steps
            )
            why = "a rule has an effect" if effects and node.monotone else ""
            names = (name for name, _ in node.results)
            yield expectation(names, costs, Situation(found_rows, imports), why)


def _ran(program: Program, places: list[str]) -> Iterator[str]:
    with program.session(relations="outputs", engine="in-process") as session:
        session.load(places, note=noting(quiet=False), static=True)
        ran = session.state.host.runtime.plans() or ()
        expected = session.state.host.runtime.expectations() or ()
    yield "Plans of joins that ran on these facts:"
    yield from plans_text(program, ran)
    if expected:
        yield "Recursions, as measured by this load: what a commit would do"
        yield from expectation_lines(expected)
