"""Which nodes are provably sets, whatever the inputs."""

from __future__ import annotations

from collections.abc import Sequence

from ..circuit import Circuit


def provable_sets(circuit: Circuit, outside: Sequence[bool] = ()) -> tuple[bool, ...]:
    """For each node, whether all its weights are 1. `outside` is the answer for the nodes that a body
    imports."""
    sets: list[bool] = []
    for node in circuit.nodes:
        sets.append(node.is_set(sets, circuit.nodes, outside))
    return tuple(sets)
