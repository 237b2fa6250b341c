"""Joins whose candidates are asked, split and validated: against the definition, at limits of a few rows."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine.circuit import Circuit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.joins import fused, join, proposals
from ddlog.engine.inprocess.runtime import InProcess

from .random_circuits import Changes, circuits, streams
from .test_oracle import follow, thorough, undo

limits = st.fixed_dictionaries(
    {
        "FEW": st.sampled_from([0, 1, 3]),
        "FEW_PROPOSED": st.integers(0, 3),
        "SAMPLE": st.sampled_from([1, 2, 100]),
        "PEEK": st.sampled_from([1, 3, 100]),
        "ASKING": st.sampled_from([0.0, 0.5, 1.0]),
        "PART": st.sampled_from([-1.0, 0.0, 2.0]),
        "BUILDING": st.sampled_from([0.0, 0.5, 4.0]),
    }
)


def at(limits: dict[str, Any], chunk: int, most: int) -> ExitStack:
    """The limits of proposals and of chunks, for as long as the context lasts."""
    patched = ExitStack()
    patched.enter_context(mock.patch.multiple(proposals, **limits))
    patched.enter_context(mock.patch.object(fused, "LEAST", most))
    patched.enter_context(
        mock.patch.multiple(
            join, FEW_PROPOSED=limits["FEW_PROPOSED"], CHUNK=chunk, LEAST=1, WAVE=3, MOST=most
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
