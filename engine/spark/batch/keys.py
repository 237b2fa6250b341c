"""Keys: columns that tell any two rows of a node apart, so that no row comes twice.

They follow from functional dependencies: a row of a term is a function of the variables of its key, and the
variable of a Let is a function of the variables that it reads. A join of terms with keys has each row once if
its output determines the keys of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from ...circuit import (
    Circuit,
    Constant,
    DeltaDistinct,
    DeltaGroup,
    DeltaJoin,
    FixpointResult,
    Input,
    Join,
    Let,
    Loop,
    Node,
    Output,
    Sum,
    Unnest,
)
from ...operators.bracket import DeltaBracket

Key: TypeAlias = frozenset[int] | None
"""The positions of the columns of a key; None: a row may come more than once."""

Tested: TypeAlias = Callable[[Join | DeltaJoin], Collection[int]]
"""The terms of a join whose rows only have to be there: they do not multiply others."""


def none_tested(node: Join | DeltaJoin) -> Collection[int]:
    """No term."""
    return ()


def keys_of(
    circuit: Circuit,
    declared: Mapping[str, Sequence[int]],
    sets: bool,
    tested: Tested = none_tested,
) -> tuple[Key, ...]:
    """A key of each node of a circuit of changes, for contents that are the first change.

    `declared` are the keys of input relations. With `sets`, an input without one is a set, and a distinct
    makes one. Without, both have a row as often as it is given: what has a key still needs no distinct
    anywhere.
    """
    keys: list[Key] = []
    for node in circuit.nodes:
        keys.append(_key(node, circuit.nodes, keys, declared, sets, tested))
    return tuple(keys)


def _key(
    node: Node,
    nodes: Sequence[Node],
    keys: Sequence[Key],
    declared: Mapping[str, Sequence[int]],
    sets: bool,
    tested: Tested,
) -> Key:
    everything = frozenset(range(len(node.schema)))
    match node:
        case Input(multiset=True):
            return None
        case Input(relation):
            if relation in declared:
                return frozenset(declared[relation])
            return everything if sets else None
        case Constant(rows):
            return everything if len(set(rows)) == len(rows) else None
        case DeltaGroup():
            return frozenset(range(node.keys))
        case FixpointResult(fixpoint):
            return None if isinstance(nodes[fixpoint], DeltaBracket | Loop) else everything
        case DeltaDistinct(source):
            return everything if keys[source] is None and sets else keys[source]
        case Output(_, source):
            return keys[source]
        case Sum(sources):
            return keys[sources[0]] if len(sources) == 1 else None
        case Join() | DeltaJoin():
            return _of_join(node, keys, tested(node))
    return None


def _of_join(join: Join | DeltaJoin, keys: Sequence[Key], tested: Collection[int]) -> Key:
    """A key of a join, without columns that the others determine."""
    if any(isinstance(step, Unnest) for step in join.steps):
        return None
    if not _determines(join, keys, tested, join.output):
        return None
    kept = list(range(len(join.output)))
    for place in reversed(range(len(join.output))):
        fewer = [k for k in kept if k != place]
        if _determines(join, keys, tested, [join.output[k] for k in fewer]):
            kept = fewer
    return frozenset(kept)


def _determines(
    join: Join | DeltaJoin, keys: Sequence[Key], tested: Collection[int], names: Iterable[str]
) -> bool:
    """Whether some variables determine the row of each positive term, but those that are tested."""
    known = set(names)
    terms = [term for k, term in enumerate(join.terms) if not term.negated and k not in tested]
    lets = [step for step in join.steps if isinstance(step, Let)]
    left = list(terms)
    before = -1
    while before != len(known) + len(terms) - len(left):
        before = len(known) + len(terms) - len(left)
        for term in tuple(left):
            key = keys[term.source]
            if key is not None and all(term.columns[k] in known for k in key):
                left.remove(term)
                known.update(name for name in term.columns if name is not None)
        known.update(step.name for step in lets if known.issuperset(step.value.inputs))
    return not left
