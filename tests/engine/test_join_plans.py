"""Joins whose candidates are asked, split and validated: against the definition, at limits of a few rows."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.circuit import Circuit, Join, Term
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.joins import proposals
from ddlog.engine.inprocess.joins.join import Joiner
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.inprocess.storage.batch import few_rows
from ddlog.engine.inprocess.storage.interner import Values
from ddlog.engine.inprocess.storage.steps import Evaluator
from ddlog.engine.schema import Column, Kind

from ..trying import trying
from .random_circuits import Changes, circuits, streams
from .test_oracle import follow, undo

limits = st.fixed_dictionaries(
    {
        "ROWS_BY_MEANS": st.sampled_from([0, 1, 3]),
        "PROPOSED_BY_MEANS": st.integers(0, 3),
        "PROPOSED_SAMPLE": st.sampled_from([1, 2, 100]),
        "PROPOSED_AMISS": st.sampled_from([0, 2]),
        "PROPOSED_PEEK": st.sampled_from([1, 3, 100]),
        "ASKING": st.sampled_from([0.0, 0.5, 1.0]),
        "PART": st.sampled_from([-1.0, 0.0, 2.0]),
        "BUILDING": st.sampled_from([0.0, 0.5, 4.0]),
    }
)


def at(limits: dict[str, Any], chunk: int, most: int) -> ExitStack:
    """The limits of proposals and of chunks, for as long as the context lasts."""
    patched = ExitStack()
    for name, limit in limits.items():
        patched.enter_context(
            mock.patch.object(thresholds if hasattr(thresholds, name) else proposals, name, limit)
        )
    patched.enter_context(
        mock.patch.multiple(
            thresholds, FUSED_MATCHES=most, JOIN_CHUNK=chunk, JOIN_LEAST=1, JOIN_WAVE=3, JOIN_MOST=most
        )
    )
    return patched


@trying(10, long=1500)
@given(
    st.booleans().flatmap(lambda rounds: circuits(by_rounds=rounds, most=6)),
    streams(),
    limits,
    st.sampled_from([1, 3, 100]),
    st.sampled_from([1, 4, 1000]),
)
def test_proposals_in_every_epoch(
    circuit: Circuit, epochs: list[Changes], limits: dict[str, Any], chunk: int, most: int
) -> None:
    with at(limits, chunk, most):
        follow(circuit, InProcess(incrementalize(circuit)), [*epochs, *map(undo, reversed(epochs)), *epochs])


def test_rows_that_a_sample_lacks_are_asked_before_they_give_all_their_matches() -> None:
    program = ddlog.compile(
        "input relation A(x: u32, r: u32)\ninput relation B(x: u32, w: u32)\n"
        "input relation C(r: u32, w: u32)\n"
        "output relation Out(x: u32)\nOut(x) :- A(x, r), B(x, w), C(r, w)."
    )
    heavy = range(1001, 20_000, 190)  # no row of a sample of each tenth one
    with mock.patch.object(thresholds, "PROPOSED_SAMPLE", 2000), program.session() as session:
        session.measure()
        session.insert("C", *((1, w) for w in range(5_000)))
        session.insert("B", *((x, w) for x in range(20_000) for w in (x % 7, x % 7 + 7)))
        session.commit()
        session.insert("A", *((x, int(x in heavy)) for x in range(20_000)))
        session.commit()
        assert {row.x for row in session["Out"]} == {*heavy}
        given = [look_up.given or 0 for plan in session.profile().plans or () for look_up in plan.look_ups]
    assert 0 < sum(given) < 5_000


@pytest.mark.parametrize("few", [0, thresholds.FEW_ROWS])
def test_an_update_of_columns_that_a_join_does_not_read_changes_nothing(few: int) -> None:
    schema = tuple(Column(name, Kind.INT, "") for name in ("key", "read", "unread"))
    node = Join((Term(0, ("k", "x", None)), Term(0, (None, None, None))), (), ("k", "x"), schema[:2])
    joiner = Joiner(node, [schema, schema], Evaluator(Values()))
    gone, come = (1, 5, 7), [(1, 5, 8), (1, 6, 7)]

    def net(
        rows: list[tuple[int, ...]], weights: list[int], place: int = 0
    ) -> list[tuple[tuple[int, ...], int]] | None:
        with mock.patch.object(thresholds, "FEW_ROWS", few):
            change = joiner.net(place, few_rows(rows, weights, 3))
        return change and [
            (row[:2], weight) for row, weight in zip(change.rows(), change.weight_list(), strict=True)
        ]

    assert net([gone, come[0]], [-1, 1]) is None
    assert net([gone, *come], [-1, 1, 1]) == [((1, 6), 1)]
    assert net([gone, come[1]], [-1, 1]) == [((1, 5), -1), ((1, 6), 1)]
    assert net([gone, come[0]], [1, 1]) == [((1, 5), 1), ((1, 5), 1)]
    assert net([gone, *come], [-1, 1, 0], place=1) is None
    assert [weight for _, weight in net([gone, *come], [-1, 2, 1], place=1) or ()] == [2]
