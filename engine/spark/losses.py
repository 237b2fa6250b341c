"""Rows that went with an executor: what is gone, and what can be made again.

A table of the executors is a local checkpoint. Each partition of it lies on the disks of as many executors as
`Options.copies` says, and is gone when all of these have ended. Then, in this order:

    rows that the driver has, too       go to the executors again when they are next read
    copies of a table by another key    are made again when a join next asks for them
    derived relations                   are evaluated from the inputs, if these are whole
    anything else                       is gone: the session has ended
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet

from ..circuit import (
    Circuit,
    DeltaJoin,
    Fixpoint,
    Input,
    Join,
    Output,
)
from ..operators.steps import has_effect
from ..runtime import StateGone
from .sides import Sides
from .sqltext import everything
from .state import State
from .table import Table

_UNNAMED = "what rules derive"


def lost(state: State, given: Mapping[str, Sequence[tuple[Table, int]]]) -> Collection[str]:
    """The relations that have lost rows, after all that can be made again without an epoch has been left to
    be. A job looks at each table of the executors. Raises StateGone if rows `given` to an epoch are gone."""
    batches = [table for parts in given.values() for table, _ in parts]
    tables = dict.fromkeys([*state.held(), *batches])
    gone = {table for table in tables if not table.is_whole() and not table.sent_again()}
    for spine in state.every_spine():
        spine.forget_copies(gone)
    for relation, parts in given.items():
        if any(table in gone for table, _ in parts):
            raise StateGone((relation,), "given")
    return _names(state, gone.intersection(state.held()))


def _names(state: State, gone: AbstractSet[Table]) -> Collection[str]:
    """The relations that tables belong to."""
    if not gone:
        return ()
    names = set[str]()
    for relation in {*state.inputs, *state.relations}:
        at = state.inputs[relation] if relation in state.inputs else state.stored_at(relation)
        if at in state.spines and state.spines[at].lacks(gone):
            names.add(relation)
    for recursion in state.recursions.values():
        if not gone.isdisjoint(recursion.held()):
            names.update(recursion.schemas)
    return sorted(names) or (_UNNAMED,)


def repeatable(circuit: Circuit) -> bool:
    """Whether a state follows from the contents of the inputs: it remembers no earlier epochs, and no rule
    has an effect that would happen again."""
    bodies = [node.body.nodes for node in circuit.nodes if isinstance(node, Fixpoint)]
    nodes = [node for each in (circuit.nodes, *bodies) for node in each]
    joins = [node for node in nodes if isinstance(node, Join | DeltaJoin)]
    return not (
        any(node.remembers for node in nodes)
        or any(isinstance(node, Input | Output) and node.stream for node in nodes)
        or any(has_effect(step) for join in joins for step in join.steps)
    )


def contents_of_inputs(sides: Sides) -> dict[str, list[tuple[Table, int]]]:
    """The contents of the inputs, each row once: an epoch over them makes the state from nothing."""
    found = {}
    for name, at in sides.there.inputs.items():
        spine, tables = sides.there.spines[at], sides.tables
        parts = spine.seen()
        if at not in sides.places.kept_there:
            here = sides.held(at)
            parts = [] if here is None else [here]
        elif len(parts) > 1 or not spine.once():
            parts = [tables.settled(everything(spine.net()), spine.schema, small=False, lies=spine.columns)]
        found[name] = [(table, 1) for table in parts]
    return found
