"""Queries on Spark: one epoch over the spines of a runtime, which change nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..circuit import Circuit, DeltaGroup, Input, NodeId
from ..epoch import Epoch
from ..incremental import incrementalize
from ..schedule import walk
from .change import Change
from .rows import FrameRows
from .running import RunningEpoch
from .spine import Spine
from .sqltext import everything
from .state import State


def answer(
    of: State, circuit: Circuit, few: Mapping[str, Sequence[tuple[Any, ...]]], most: int | None
) -> FrameRows:
    """The rows of the one output of a circuit whose inputs are relations of a state, or `few` rows;
    at most `most` of them."""
    nodes = [node for node in circuit.nodes if isinstance(node, Input)]
    inputs = [node.relation for node in nodes if node.relation not in few]
    given = {name: of.spine(name) for name in inputs}
    given |= {n.relation: _spine(of, n, few[n.relation]) for n in nodes if n.relation in few}
    state = State(
        incrementalize(circuit), of.tables, of.expressions, of.nan, of.driver_rows, of.maintaining, given
    )
    counted = {name: of.weighted(name) for name in inputs} | dict.fromkeys(few, False)
    (at,) = state.outputs.values()
    schema = state.circuit.nodes[at].schema
    with of.tables.configured():
        (change,) = walk(state.circuit, _Query(state, counted)).values()
        rows = of.tables.nothing(schema) if change is None else change.table
        local = rows.local
        if local is None:
            local = of.tables.fetch(everything(rows.view), schema)
    of.sweep()
    if most is not None:
        local = local.slice(0, most)
    return FrameRows(schema, of.tables.codec, lambda: local.num_rows, lambda: local)


def _spine(of: State, node: Input, rows: Sequence[tuple[Any, ...]]) -> Spine:
    """A few rows as the state of an input."""
    spine = Spine(of.tables, node.schema)
    spine.parts.append(of.tables.of_rows(node.schema, rows))
    return spine


class _Query(RunningEpoch):
    """A static epoch in which the inputs' contents are the changes and the state at once."""

    def __init__(self, state: State, counted: Mapping[str, bool]) -> None:
        """`counted`: for each input, whether its rows have weights."""
        super().__init__(state, Epoch({}, static=True))
        self._counted = counted

    def input(self, at: NodeId, node: Input) -> Change | None:
        spine = self.state.spines[at]
        if not spine.rows():
            return None
        net = self._counted[node.relation] or not spine.once()
        return self._change(at, everything(spine.net() if net else spine.contents()), False)

    def group(self, at: NodeId, node: DeltaGroup, change: Change | None) -> Change | None:
        return None if change is None else self._change(at, self.state.groups[at].first(change), change.small)

    def keep(self, at: NodeId, change: Change | None) -> None:
        if not isinstance(self.circuit.nodes[at], Input):
            super().keep(at, change)
        elif change is not None and len(self.state.read_by[at]) > 1:
            change.settle()
