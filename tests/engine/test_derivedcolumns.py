"""Derived columns: which keys the steps of a join give, and indexes by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ddlog.engine.circuit import Guard, Let, Term
from ddlog.engine.derivedcolumns import derived_keys
from ddlog.engine.inprocess.arrangements.index import FaultyKey, RowIndex
from ddlog.engine.inprocess.storage.derivedcolumns import evaluated_keys
from ddlog.engine.inprocess.storage.interner import Values
from ddlog.engine.inprocess.storage.steps import Evaluator
from ddlog.engine.inprocess.storage.table import RowTable
from ddlog.engine.planner import LookUp, RunStep, Stages, plan
from ddlog.engine.schema import RowExpr

from .random_circuits import int_column, less, next_value, schema

NEXT = replace(next_value("x"), key="+1")
A, B = Term(0, ("x", "y")), Term(1, ("z", None))
KEYED = (Let("k", NEXT), Let("k", replace(NEXT, inputs=("z",))))


def test_both_sides_of_an_equation_are_keys() -> None:
    (a,), (b,) = derived_keys((A, B), KEYED)
    assert (a.name, a.inputs, a.ensured) == ("k", {"x"}, {0})
    assert (b.name, b.inputs, b.ensured) == ("k", {"z"}, {1})
    assert a.column == b.column, "the same function of the first column"


def test_definitions_are_followed_and_conditions_before_them_go_along() -> None:
    steps = (
        Guard(less("x", "y")),
        Let("m", next_value("y")),
        Guard(less("m", "x")),
        Let("z", next_value("m")),
    )
    keys = {key.name: key for key in derived_keys((A, B), steps)[0]}
    assert keys["z"].ensured == {3} and keys["z"].inputs == {"y"}
    assert [type(step) for step in keys["z"].column.steps] == [Let, Let]
    both = (
        Guard(less("x", "y")),
        Let("z", NEXT),
        Let("w", less("x", "y")),
    )
    keys = {key.name: key for key in derived_keys((A, B), both)[0]}
    assert keys["z"].ensured == {1} and keys["w"].ensured == {0, 2}


def test_a_negated_term_and_a_function_of_two_terms_give_no_key() -> None:
    assert derived_keys((A, replace(B, negated=True)), KEYED)[1] == ()
    assert derived_keys((A, B), (Let("k", less("x", "z")), Let("k", less("y", "z")))) == ((), ())


@pytest.mark.parametrize("start", [0, 1])
def test_a_plan_looks_up_by_a_derived_column_instead_of_a_product(start: int) -> None:
    keys = derived_keys((A, B), KEYED)
    stages = Stages((A, B), KEYED, ("x", "z"), (), keys)
    made = plan(stages, start, lambda term, positions: 100.0)
    run, look_up = made
    assert isinstance(run, RunStep) and isinstance(look_up, LookUp)
    assert look_up.positions == (keys[1 - start][0].column,) and look_up.keys == ("k",)


def faulty(value: int) -> int:
    if value == 9:
        raise ValueError("nine")
    return value % 3


def test_an_index_has_the_rows_with_a_key_and_none_while_one_faults() -> None:
    rest = RowExpr(("y",), int_column(""), "rest", "rest(y)", "t.dl:1:1", faulty)
    steps = (Guard(less("x", "y")), Let("k", replace(rest, inputs=("y",))), Let("k", next_value("z")))
    ((key,), _) = evaluated_keys(
        derived_keys((A, B), (replace(steps[0], condition=below_y()), *steps[1:])),
        (schema(2), schema(2)),
        Evaluator(Values()),
    )
    table = RowTable(2)

    def put(*rows: tuple[int, int]) -> np.ndarray:
        return table.insert([np.array([row[k] for row in rows]) for k in (0, 1)], len(rows))

    def found(k: int) -> list[tuple[int, int]]:
        groups = index.groups([np.array([k])], 1)
        _, rows = index.expand(groups, index.matches(groups))
        return sorted(zip(*(column.tolist() for column in table.columns_at(rows)), strict=True))

    index = RowIndex(table, (key.column,), put((1, 2), (1, 5), (1, 8), (1, 20), (1, 3)))
    assert found(2) == [(1, 2), (1, 5), (1, 8)] and found(0) == [(1, 3)] and index.size == 4
    index.insert(put((2, 2), (2, 30)))
    index.remove(put((1, 5), (1, 20)))
    assert found(2) == [(1, 2), (1, 8), (2, 2)]
    index.insert(put((3, 9), (3, 8)))
    with pytest.raises(FaultyKey):
        found(2)
    index.remove(put((3, 9)))
    assert found(2) == [(1, 2), (1, 8), (2, 2), (3, 8)]


def below_y() -> RowExpr:
    """y < 10."""
    return replace(less("y", "y"), inputs=("y",), key="y<10", arrays=None, scalar=lambda y: y < 10)
