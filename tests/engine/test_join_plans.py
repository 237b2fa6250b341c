"""Joins whose candidates are asked, split and validated: against the definition, at limits of a few rows."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine import thresholds
from ddlog.engine.circuit import Circuit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.joins import proposals
from ddlog.engine.inprocess.runtime import InProcess

from .random_circuits import Changes, circuits, streams
from .test_oracle import follow, thorough, undo

limits = st.fixed_dictionaries(
    {
        "ROWS_BY_MEANS": st.sampled_from([0, 1, 3]),
        "PROPOSED_BY_MEANS": st.integers(0, 3),
        "PROPOSED_SAMPLE": st.sampled_from([1, 2, 100]),
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


@thorough
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
