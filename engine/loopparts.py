"""A loop with all that is in it as one list of operators, each with its place in product time.

Entering a scope leaves a packed time as it is (the new component is 0), so an Import inside is the node that
it imports. A delay adds to the component of its scope, and a FixpointResult sets the component of the scope
that it reads to 0. A loop that ends when a relation is empty has a Gate behind each delay:

    delay ──► Gate ──► body ──► … ──► the relation ──► is there a row? ──┐
                ▲                                                       │
                └──────────────────────── z⁻¹ ◄─────────────────────────┘

It lets changes of a round pass where the relation was not empty in the round before. After the last round
nothing enters the rounds any more, and they stay as the last one is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from .circuit import (
    Admit,
    Distinct,
    Earlier,
    Exchange,
    Fixpoint,
    FixpointResult,
    Group,
    Import,
    Join,
    Loop,
    Node,
    NodeId,
    Term,
    Variable,
)
from .node import SingleSource
from .operators.join import keeps_valuations
from .schema import Schema
from .time import Lattice

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Gate(SingleSource):
    """Lets the changes of the rounds pass in which there is a flag, a row without columns, and those of round
    0. `component` is that of the loop."""

    source: NodeId
    flag: NodeId
    component: int
    schema: Schema
    text: str = field(default="", compare=False)


@dataclass(slots=True)
class LoopPart:
    """An operator. `sources` are parts, `place` its position in each of the scopes around it, the outermost
    first, and `scope` the innermost of them."""

    node: Node
    sources: tuple[int, ...]
    place: tuple[int, ...]
    scope: int
    depth: int = field(init=False)  # the number of scopes around it

    def __post_init__(self) -> None:
        self.depth = len(self.place)


@dataclass(slots=True)
class LoopScope:
    """A loop or fixpoint: its node, the component of its rounds, and the part of each of its relations.
    `last` is the round with which it ends, if that is said; `flag` the part that ends it."""

    node: Fixpoint
    component: int
    parent: int
    results: dict[str, int] = field(default_factory=dict)
    flag: int | None = None

    @property
    def last(self) -> int | None:
        """The round with which it ends, if that is said."""
        return self.node.rounds if isinstance(self.node, Loop) else None


class LoopParts:
    """The parts of a loop, in an order in which each comes before its readers but for delays."""

    def __init__(self, loop: Fixpoint) -> None:
        self.parts: list[LoopPart] = []
        self.scopes: list[LoopScope] = []
        self.imports: dict[NodeId, int] = {}
        self._add_scope(loop, (), -1, None)
        self.lattice = Lattice(max(scope.component for scope in self.scopes) + 1)
        self.readers: list[list[tuple[int, int]]] = [[] for _ in self.parts]
        for at, part in enumerate(self.parts):
            for slot, source in enumerate(part.sources):
                self.readers[source].append((at, slot))

    @property
    def results(self) -> Mapping[str, int]:
        """The parts of the relations of the outermost loop."""
        return self.scopes[0].results

    def _add(self, node: Node, sources: tuple[int, ...], place: tuple[int, ...], scope: int) -> int:
        self.parts.append(LoopPart(node, sources, place, scope))
        return len(self.parts) - 1

    def _add_scope(
        self, node: Fixpoint, outer: tuple[int, ...], parent: int, outside: Mapping[NodeId, int] | None
    ) -> int:
        """Adds a scope at a place of the one around it. Returns its number."""
        number = len(self.scopes)
        scope = LoopScope(node, len(outer), parent)
        self.scopes.append(scope)
        empty = node.empty if isinstance(node, Loop) else None
        if empty is not None:
            scope.flag = self._add(Earlier("", 1, ()), (), (*outer, -1), number)
        ids: dict[NodeId, int] = {}
        inner: dict[NodeId, int] = {}
        delays: list[tuple[int, str]] = []
        for at, each in enumerate(node.body.nodes):
            place = (*outer, 2 * at)
            match each:
                case Import(source):
                    if outside is not None:
                        ids[at] = outside[source]
                    else:
                        ids[at] = self.imports[source] = self._add(each, (), place, number)
                case Fixpoint():
                    inner[at] = self._add_scope(each, place, number, ids)
                case FixpointResult(fixpoint, relation):
                    made = self.scopes[inner[fixpoint]].results[relation]
                    ids[at] = self._add(each, (made,), place, number)
                case Variable(relation) | Earlier(relation):
                    delay = (
                        each if isinstance(each, Earlier) else Earlier(relation, 1, each.schema, each.text)
                    )
                    made = self._add(delay, (), place, number)
                    delays.append((made, relation))
                    ids[at] = self._gated(made, number, number)
                case Admit(source):
                    made = self._add(each, (ids[source],), place, number)
                    ids[at] = self._gated(made, number, self._around(number, each.scope))
                case _:
                    ids[at] = self._add(each, tuple(ids[source] for source in each.reads()), place, number)
        scope.results = {relation: ids[at] for relation, at in node.results}
        for made, relation in delays:
            self.parts[made].sources = (scope.results[relation],)
        if scope.flag is not None and empty is not None:
            self._end(scope, number, empty, (*outer, 2 * len(node.body.nodes)))
        return number

    def target(self, part: LoopPart) -> int:
        """The scope whose rounds an Admit means."""
        assert isinstance(part.node, Admit)
        return self._around(part.scope, part.node.scope)

    def lag(self, at: int) -> int:
        """The rounds by which an Earlier is behind."""
        node = self.parts[at].node
        assert isinstance(node, Earlier)
        return node.rounds

    def delayed(self, at: int, changes: Iterable[tuple[int, T]]) -> list[tuple[int, T]]:
        """The changes of an Earlier by time, for those of its source."""
        scope, rounds = self.scopes[self.parts[at].scope], self.lag(at)
        later = rounds * self.lattice.unit(scope.component)
        return [
            (time + later, change)
            for time, change in changes
            if scope.last is None or self.lattice.round(time, scope.component) + rounds <= scope.last
        ]

    def _around(self, scope: int, clocks: int) -> int:
        for _ in range(clocks):
            scope = self.scopes[scope].parent
        return scope

    def _gated(self, part: int, scope: int, target: int) -> int:
        """The part, or its gate if the loop `target` has a flag."""
        flag = self.scopes[target].flag
        if flag is None:
            return part
        schema, place = self.parts[part].node.schema, self.parts[part].place
        gate = Gate(part, flag, self.scopes[target].component, schema)
        return self._add(gate, (part, flag), (*place[:-1], place[-1] + 1), scope)

    def _end(self, scope: LoopScope, number: int, empty: str, place: tuple[int, ...]) -> None:
        """Adds what tells whether a relation has rows, and makes it the source of the flag."""
        source = scope.results[empty]
        term = Term(source, (None,) * len(self.parts[source].node.schema))
        some = self._add(Join((term,), (), (), (), ""), (source,), place, number)
        for node in (Exchange(some, (), ()), Distinct(some, ())):
            place = *place[:-1], place[-1] + 1
            some = self._add(node, (some,), place, number)
        assert scope.flag is not None
        self.parts[scope.flag].sources = (some,)


def counts(parts: LoopParts, at: int) -> bool:
    """Whether a part is a distinct of rows that are no set, so that it counts them."""
    part = parts.parts[at]
    return isinstance(part.node, Distinct) and not is_set(parts, part.sources[0])


def is_set(parts: LoopParts, at: int) -> bool:
    """Whether the values of a part are sets at all times: a distinct of it does nothing."""
    part = parts.parts[at]
    node = part.node
    if isinstance(node, Join) and len(part.sources) == 1:
        term, source = node.terms[0], part.sources[0]
        of = {term.source: parts.parts[source].node}
        return not term.negated and keeps_valuations(node, of) and is_set(parts, source)
    if isinstance(node, Exchange):
        return is_set(parts, part.sources[0])
    if isinstance(node, FixpointResult | Earlier | Gate):
        node = origin(parts, part.sources[0]).node
    return isinstance(node, Distinct | Group)


def origin(parts: LoopParts, at: int) -> LoopPart:
    """The part whose rows a part has, wherever they are."""
    part = parts.parts[at]
    while isinstance(part.node, Exchange):
        part = parts.parts[part.sources[0]]
    return part


def looked_up(parts: LoopParts, but: Collection[int] = ()) -> set[int]:
    """The parts whose changes up to a time joins or groups, but for some, ask for. Joins look imports up
    outside."""
    found: set[int] = set()
    for part in parts.parts:
        if isinstance(part.node, Join) and (len(part.sources) > 1 or part.node.terms[0].negated):
            found.update(part.sources)
    found -= {*parts.imports.values()}
    groups = (at for at, part in enumerate(parts.parts) if isinstance(part.node, Group) and at not in but)
    return found | {parts.parts[at].sources[0] for at in groups}


def delays(parts: LoopParts) -> dict[int, int]:
    """For each Earlier the part whose changes it gives, some rounds later."""
    found: dict[int, int] = {}
    for at, part in enumerate(parts.parts):
        if isinstance(part.node, Earlier):
            source = part.sources[0]
            while isinstance(parts.parts[source].node, Distinct):
                (given,) = parts.parts[source].sources
                if not isinstance(parts.parts[given].node, Distinct | Group):
                    break
                source = given
            found[at] = source
    return found


def unsteady(parts: LoopParts) -> set[int]:
    """The parts that may change after round 0 of the outermost loop."""
    found: set[int] = set()
    for at, part in enumerate(parts.parts):
        if isinstance(part.node, Earlier | Gate | Admit) or any(source in found for source in part.sources):
            found.add(at)
    return found


def reaches(parts: LoopParts) -> list[int]:
    """For each part the number of components of a time that may be other than 0 where it changes."""
    found: list[int] = []
    for part in parts.parts:
        if isinstance(part.node, Earlier):
            found.append(part.depth)
            continue
        reach = max((found[source] for source in part.sources), default=1)
        if isinstance(part.node, FixpointResult):
            reach = min(reach, part.depth)
        elif isinstance(part.node, Gate):
            reach = max(reach, part.node.component + 1)
        elif isinstance(part.node, Admit):
            reach = max(reach, parts.scopes[parts.target(part)].component + 1)
        found.append(reach)
    return found
