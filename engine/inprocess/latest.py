"""The changes that the last epoch made to the inputs, so that it can be undone on trial.

Only what is there anyway is kept, and not of an epoch with very many changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias, TypeVar

import numpy as np

from .. import thresholds
from ..circuit import Circuit, Input, NodeId
from ..runtime import NotKept
from .epoch import RunningEpoch
from .storage.batch import Batch, TableColumns, consolidate
from .storage.marks import Marks

Latest: TypeAlias = "Mapping[str, tuple[Input, Batch]] | int | None"
"""The change of each input by the last epoch, or only how many rows changed; None: of no epoch."""

Taken: TypeAlias = "Mapping[NodeId, Batch] | int | None"
"""The same, by the nodes of the inputs."""

T = TypeVar("T")


def taken(running: RunningEpoch) -> Taken:
    """The record of an epoch that was committed: the changes of its inputs as they are; where memory is too
    short for them, their number."""
    if running.epoch.first or running.epoch.static:
        return None
    found = running.taken
    count = 0
    for batch in found.values():  # a generator would take longer in a small epoch
        count += batch.length
    if count > thresholds.UNDONE_ROWS:
        return count
    try:
        for at, batch in found.items():
            if batch.columns.__class__ is TableColumns:  # of a table, which later epochs change
                found[at] = replace(batch, columns=tuple(batch.columns))
    except MemoryError:
        return count
    return found


def by_relation(found: Taken, circuit: Circuit) -> Latest:
    """The changes of inputs by their relations."""
    if found is None or isinstance(found, int):
        return found
    kept: dict[str, tuple[Input, Batch]] = {}
    for at, batch in found.items():
        node = circuit.nodes[at]
        assert isinstance(node, Input)
        kept[node.relation] = node, batch
    return kept


def mark(found: Taken, circuit: Circuit, marks: Marks) -> None:
    """Marks the ids in the changes that are kept."""
    if found is not None and not isinstance(found, int):
        for at, batch in found.items():
            marks.columns(circuit.nodes[at].schema, batch.columns)


def known(kept: Mapping[str, T] | int | None) -> Mapping[str, T]:
    """The changes that are kept. Raises NotKept if they are not."""
    if kept is None:
        raise NotKept("there was no commit since the session began with its state")
    if isinstance(kept, int):
        too_many = kept > thresholds.UNDONE_ROWS
        why = f", more than {thresholds.UNDONE_ROWS:,}" if too_many else " for the memory"
        raise NotKept(f"its {kept:,} changes of facts are too many{why}")
    return kept


def undoing(kept: Latest) -> dict[str, list[tuple[Batch, int]]]:
    """The changes that undo the last epoch. Raises NotKept. Each epoch ends the streams of the one before, so
    the elements of the last one would go twice, and those before them do not come again."""
    if any(node.stream for node, _ in known(kept).values()):
        raise NotKept("it changed streams")
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
