"""What evaluations of loops leave: recordings, which are compared, and no more."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import ddlog
from ddlog.engine.circuit import Fixpoint
from ddlog.engine.inprocess.recursion.loopcontents import LoopContents
from ddlog.engine.inprocess.recursion.looprecording import LoopRecording
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.loopparts import LoopParts

GROUPED = """
input relation Edge(x: s32, y: s32)
output relation Least(x: s32, least: s32)
relation Offer(x: s32, least: s32)
Offer(x, x) :- Edge(x, _).
Offer(y, least) :- Least(x, least), Edge(x, y).
Offer(y, least) :- Least(x, least), Edge(y, x), least > 1.
Least(x, least) :- Offer(x, each), var least = each.group_by(x).min().
"""


def test_what_an_evaluation_held_goes_with_its_epoch() -> None:
    """It is much, and the collector of cycles comes late."""
    session = ddlog.compile(GROUPED).session(maintain="never")
    gc.collect()
    others = _contents()  # of workers in threads
    gc.disable()
    try:
        for edge in ((1, 2), (2, 3)):
            session.insert("Edge", edge)
            session.commit()
        assert _contents() <= others
    finally:
        gc.enable()


def _contents() -> set[int]:
    return {id(each) for each in gc.get_objects() if isinstance(each, LoopContents)}


def test_a_recording_is_compared_by_a_sample() -> None:
    """Of two parts with many rows, one is the same and one has a quarter of its rows replaced."""

    def recording(*starts: int) -> LoopRecording:
        circuit = ddlog.compile(GROUPED).circuit()
        (node,) = (each for each in circuit.nodes if isinstance(each, Fixpoint))
        found = LoopRecording(LoopParts(node), {})
        found.told = {
            at: [(time, Batch((np.arange(start, start + 8000),), 8000)) for time in range(20)]
            for at, start in enumerate(starts)
        }
        return found

    before = recording(0, 0).sample()
    assert recording(0, 0).differs(before) == 0
    assert recording(0, 2000).differs(before) == pytest.approx(0.125, abs=0.02)
    assert recording(0, 0, 0).differs(before) == pytest.approx(1 / 3, abs=0.02)
