"""A state that takes over what another one holds, in the same process: only what differs is derived.

circuit before      a ── b ── c              nodes with the same fingerprint compute the same,
circuit after       a ── b ── d ── e         so a and b go on with what they hold, and d and e are walked
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy

from ..circuit import DeltaGroup, FixpointResult, Input, Node, NodeId
from .recursion.recursion import Recursion
from .state import State
from .units import unit_nodes

_OF_RECURSION = ("sets", "ranked", "knows_births", "costs")


def adopt(
    state: State, names: Sequence[str | None], before: State, named_before: Sequence[str | None]
) -> dict[NodeId, NodeId]:
    """Puts what nodes of the state before hold into a state that has had no epoch, by the fingerprints of the
    nodes of both; an input without a fingerprint is told by itself. The state before stays as it is. Returns
    the nodes that hold something now, each with the node before."""
    places: dict[str | Input, list[NodeId]] = {}
    for at, name in enumerate(named_before):
        places.setdefault(_key(before.circuit.nodes[at], name), []).append(at)
    places.pop("", None)
    found: dict[NodeId, NodeId] = {}
    for at in unit_nodes(state):
        candidates = places.get(_key(state.circuit.nodes[at], names[at]), [])
        old = next((each for each in candidates if _fits(state, at, before, each, found)), None)
        if old is not None:
            candidates.remove(old)
            found[at] = old
            _take(state, at, before, old)
    for at, group in state.groups.items():
        node = state.circuit.nodes[at]
        if isinstance(node, DeltaGroup) and node.reads_members and at not in found:
            group.read_from(state.stores[node.source])
    return found


def _key(node: Node, name: str | None) -> str | Input:
    """The mark that tells a node from others: its fingerprint, or an input that has none; nothing for another
    node."""
    return name or (node if isinstance(node, Input) else "")


def _fits(state: State, at: NodeId, before: State, old: NodeId, found: Collection[NodeId]) -> bool:
    """Whether a node before holds all that a node has to hold."""
    node = state.circuit.nodes[at]
    if at in state.recursions:
        pair = state.recursions[at], before.recursions.get(old)
        return all(isinstance(each, Recursion) for each in pair)
    if at in state.groups and old not in before.groups:
        return False
    if isinstance(node, DeltaGroup) and node.reads_members and not is_adopted(state, node.source, found):
        return False
    has_forgotten = old in before.forgetful and at not in state.forgetful and not isinstance(node, Input)
    return not has_forgotten and (at not in state.stores or old in before.stores)


def is_adopted(state: State, at: NodeId, found: Collection[NodeId]) -> bool:
    """Whether `found` has a node, or the recursion that the node is a relation of."""
    node = state.circuit.nodes[at]
    return (node.fixpoint if isinstance(node, FixpointResult) else at) in found


def goes_on(
    state: State, at: NodeId, before: State, old: NodeId | None, found: Mapping[NodeId, NodeId]
) -> bool:
    """Whether a node goes on with what one certain node before holds."""
    node = state.circuit.nodes[at]
    if old is None or not isinstance(node, FixpointResult):
        return old is not None and found.get(at) == old
    then = before.circuit.nodes[old]
    return (
        isinstance(then, FixpointResult)
        and then.relation == node.relation
        and found.get(node.fixpoint) == then.fixpoint
    )


def _take(state: State, at: NodeId, before: State, old: NodeId) -> None:
    if at in state.recursions:
        recursion, held = state.recursions[at], before.recursions[old]
        assert isinstance(recursion, Recursion) and isinstance(held, Recursion)
        for name in _OF_RECURSION:
            setattr(recursion, name, getattr(held, name))
        state.reread(at)
        return
    if at in state.stores:
        state.replace(at, before.stores[old])
    if at in state.groups:
        node = state.circuit.nodes[at]
        assert isinstance(node, DeltaGroup)
        state.groups[at] = copy(before.groups[old])
        state.groups[at].node = node
    if at in state.clocks:
        state.clocks[at] = before.clocks[old]
    state.memories.take(at, before.memories, old)
