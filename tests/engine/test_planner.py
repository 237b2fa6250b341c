"""Join orders, read off the plans."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from ddlog.engine.circuit import Guard, Inspect, Let, Step, Term
from ddlog.engine.derivedcolumns import derived_keys
from ddlog.engine.planner import Exclude, Fanout, LookUp, PlanStep, RunStep, Stages
from ddlog.engine.planner import plan as plan_of

from .random_circuits import constant, less, next_value

A, B, C = Term(0, ("x", "y")), Term(1, ("y", "z")), Term(2, ("z",))


def sizes(by_term: dict[int, float]):  # type: ignore[no-untyped-def]
    return lambda term, positions: by_term[term] / (10 ** len(positions))


def plan(
    terms: tuple[Term, ...],
    steps: tuple[Step, ...],
    output: tuple[str, ...],
    start: int | None,
    fanout: Fanout,
    late: Collection[int] = (),
) -> tuple[PlanStep, ...]:
    return plan_of(Stages(terms, steps, output, late), start, fanout)


def kinds(steps: tuple[PlanStep, ...]) -> list[object]:
    return [s.term if isinstance(s, LookUp | Exclude) else type(s.step).__name__ for s in steps]


def test_the_smallest_fan_out_comes_first() -> None:
    made = plan((A, B, Term(2, ("y", "w"))), (), ("x",), 0, sizes({0: 1, 1: 500, 2: 50}))
    assert kinds(made) == [2, 1]


def test_a_product_comes_after_every_join() -> None:
    made = plan((A, B, Term(2, ("w",))), (), ("x", "w"), 0, sizes({0: 1, 1: 10**9, 2: 1}))
    assert kinds(made) == [1, 2]


def test_steps_run_as_soon_as_their_inputs_are_bound() -> None:
    made = plan((A, B), (Guard(less("x", "y")), Guard(less("x", "z"))), ("z",), 0, sizes({0: 1, 1: 1}))
    assert kinds(made) == ["Guard", 1, "Guard"]


def test_a_constant_is_a_key() -> None:
    made = plan((A,), (Let("x", constant(1)),), ("y",), None, sizes({0: 100}))
    assert kinds(made) == ["Let", 0]
    look_up = made[1]
    assert isinstance(look_up, LookUp) and look_up.positions == (0,) and look_up.keys == ("x",)


def test_a_bound_name_makes_a_let_a_test() -> None:
    made = plan((A,), (Let("y", next_value("x")),), ("x",), 0, sizes({}))
    assert isinstance(made[0], RunStep) and made[0].check


def test_a_late_step_waits_for_everything_else() -> None:
    made = plan(
        (A, B, C), (Let("n", next_value("x")), Guard(less("x", "z"))), ("n",), 0, sizes({1: 1, 2: 1}), {0}
    )
    assert kinds(made) == [1, "Guard", 2, "Let"]


def test_of_the_steps_that_can_run_the_first_one_runs_and_inspects_come_last() -> None:
    show = Inspect(next_value("x"))
    steps = (show, Let("u", next_value("w")), Guard(less("x", "y")), Let("w", next_value("y")), show)
    made = plan((A,), steps, ("u",), 0, sizes({}))
    assert [each.number for each in made if isinstance(each, RunStep)] == [2, 3, 1, 0, 4]
    assert [sorted(each.keep) for each in made] == [
        ["u", "w", "x", "y"],
        ["u", "w", "x"],
        ["u", "x"],
        ["u", "x"],
        ["u"],
    ]


def test_a_negated_term_runs_when_bound() -> None:
    made = plan((A, Term(1, ("x",), negated=True), B), (), ("z",), 0, sizes({2: 1}))
    assert kinds(made) == [1, 2]
    assert isinstance(made[0], Exclude)


def test_only_what_is_read_later_is_kept() -> None:
    made = plan((A, B), (), ("z",), 0, sizes({1: 1}))
    assert made[0].keep == {"z"}


def test_an_unbound_negated_variable_is_refused() -> None:
    with pytest.raises(ValueError, match="negated"):
        plan((A, Term(1, ("q",), negated=True)), (), ("x",), 0, sizes({}))


def test_a_derived_column_is_no_key_once_its_step_is_done() -> None:
    terms = (Term(0, ("a",)), Term(1, ("u",)), Term(2, ("b",)))
    steps = (Let("w", next_value("a")), Let("u", next_value("w")), Let("w", next_value("b")))
    stages = Stages(terms, steps, (), (), derived_keys(terms, steps))
    made = plan_of(stages, 2, sizes({0: 1000, 1: 1000, 2: 1000}))
    assert kinds(made) == ["Let", "Let", 1, 0]
    first, second = made[-2:]
    assert isinstance(first, LookUp) and first.keys == ("u",)
    assert isinstance(second, LookUp) and second.keys == ("w",)  # and not by u, which nothing reads any more
