"""The changes that the last epoch on Spark made to the inputs, so that it can be undone on trial.

Batches of the driver and tables that the epoch has made are kept, as they are: an epoch costs no more for it.
The changes that undo it are made when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from .. import thresholds
from ..circuit import Input
from ..inprocess.latest import known
from ..inprocess.latest import latest as latest_here
from ..inprocess.storage.batch import Batch, consolidate
from ..runtime import NotKept
from ..schema import Schema
from .giving import weighted_given
from .moving import Crossing
from .placedepoch import PlacedEpoch
from .sqltext import names
from .state import State
from .table import is_loss
from .tables import WEIGHT, Table

Kept: TypeAlias = "Mapping[str, list[Batch | Table]] | int | None"
"""The change of each input by the last epoch, or only how many rows changed; None: of no epoch."""


class Latest:
    """The changes of the last epoch."""

    def __init__(self) -> None:
        self._kept: Kept = None
        self._crossing: Crossing | None = None  # of the batches
        self._undoing: dict[str, list[tuple[Table, int]]] | None = None

    def take(self, running: PlacedEpoch) -> None:
        """Keeps the changes of an epoch that was committed, instead of those of the one before."""
        self._kept, self._crossing, self._undoing = _kept(running), running.crossing, None

    def forget(self) -> None:
        """The last epoch changed nothing."""
        self._kept, self._undoing = {}, None

    def undoing(self, state: State) -> Mapping[str, list[tuple[Table, int]]]:
        """The changes that undo the epoch. Raises NotKept."""
        kept = known(self._kept)
        if self._undoing is None:
            try:
                self._undoing = {
                    name: list(self._inverse(state, name, parts)) for name, parts in kept.items()
                }
            except Exception as error:
                if is_loss(error):
                    raise NotKept("executors ended, and its changes of facts went with them") from None
                raise
        return self._undoing

    def _inverse(
        self, state: State, relation: str, parts: list[Batch | Table]
    ) -> Iterator[tuple[Table, int]]:
        assert self._crossing is not None
        schema = state.schema(relation)
        for part in parts:
            table = part if isinstance(part, Table) else self._crossing.table(schema, consolidate(part))
            if table.local is not None:
                yield from weighted_given(state, relation, _negated(table.local, schema))
            else:
                frame = table.frame.selectExpr(*names(schema), "-w AS w")
                yield from weighted_given(state, relation, frame)


def _kept(running: PlacedEpoch) -> Kept:
    here = latest_here(running.here)
    if here is None:
        return None
    changes = [(running.circuit.nodes[at], change.table) for at, change in running.there.taken.items()]
    many = sum(table.rows for _, table in changes)
    many += here if isinstance(here, int) else sum(batch.length for _, batch in here.values())
    if isinstance(here, int) or many > thresholds.UNDONE_ROWS:
        return many
    found: dict[str, list[Batch | Table]] = {name: [batch] for name, (_, batch) in here.items()}
    for node, table in changes:
        assert isinstance(node, Input)
        found.setdefault(node.relation, []).append(table)
    return found


def _negated(rows: pa.Table, schema: Schema) -> pa.Table:
    """Rows with the opposite weights."""
    return rows.set_column(len(schema), WEIGHT, pc.negate(rows.column("w")))
