"""The changes that the last epoch made to the inputs, so that it can be undone on trial.

Only what is there anyway is kept, and not of an epoch with very many changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias, TypeVar

import numpy as np

from ..circuit import Input
from ..runtime import NotKept
from .batch import Batch, consolidate
from .lazycolumns import LazyColumns
from .running import RunningEpoch

MOST = 1_000_000
"""The changes of an epoch that are kept, at the most."""

Latest: TypeAlias = "Mapping[str, tuple[Input, Batch]] | int | None"
"""The change of each input by the last epoch, or only how many rows changed; None: of no epoch."""

T = TypeVar("T")


def latest(running: RunningEpoch) -> Latest:
    """What is kept of an epoch that was committed."""
    if running.epoch.first or running.epoch.static:
        return None
    count = sum(batch.length for batch in running.taken.values())
    if count > MOST:
        return count
    kept: dict[str, tuple[Input, Batch]] = {}
    for at, batch in running.taken.items():
        node = running.circuit.nodes[at]
        assert isinstance(node, Input)
        if isinstance(batch.columns, LazyColumns):  # of a table, which later epochs change
            batch = replace(batch, columns=tuple(batch.columns))
        running.state.values.hold(node.schema, batch)
        kept[node.relation] = node, batch
    return kept


def known(kept: Mapping[str, T] | int | None) -> Mapping[str, T]:
    """The changes that are kept. Raises NotKept if they are not."""
    if kept is None:
        raise NotKept("there was no commit since the session began with its state")
    if isinstance(kept, int):
        raise NotKept(f"its {kept:,} changes of facts are too many, more than {MOST:,}")
    return kept


def undoing(kept: Latest) -> dict[str, list[tuple[Batch, int]]]:
    """The changes that undo the last epoch. Raises NotKept."""
    return {name: _inverse(node, consolidate(batch)) for name, (node, batch) in known(kept).items()}


def _inverse(node: Input, batch: Batch) -> list[tuple[Batch, int]]:
    if node.multiset:
        return [(batch, -1)]
    weights = batch.weight_array()
    signed = ((np.flatnonzero(weights > 0), -1), (np.flatnonzero(weights < 0), 1))
    return [
        (Batch(tuple(column[rows] for column in batch.columns), len(rows)), sign)
        for rows, sign in signed
        if len(rows)
    ]
