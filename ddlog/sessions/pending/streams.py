"""Pending changes of a stream, which begins each transaction empty."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors.changes import NothingToClear
from ...errors.diagnostics import DDlogError
from ...values.rows import Row
from .bags import BagChanges
from .present import SignedBatch


class StreamChanges(BagChanges):
    """The elements of the transaction. A deletion takes back an element that was inserted before it."""

    def clear(self) -> None:
        raise DDlogError([NothingToClear(self._present.relation.name)])

    def _whole(self) -> list[SignedBatch] | None:
        only_insertions = all(run.sign > 0 for run in self._runs)
        return super()._whole() if only_insertions else None

    def _held(self) -> Mapping[Row, int]:
        return {}
