"""The contents of windows that a durable state keeps: those that do not follow from the inputs, under names
that stay when the program's text moves.

    Recent$window    the rows of a window with their times, or all elements of a stream so far
    Now$clock        the value of a clock
    Late$late        the late rows of an epoch
    Order$passed     the rows of an input that came in an epoch and were forgotten in it, for the past
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Protocol, TypeVar

from ... import core
from ...engine.circuit import Circuit, NodeId
from ...engine.circuit import Window as WindowNode
from ...engine.integrals import shown
from ...engine.windowmemory import forgetful_inputs, remembers
from ...types import Type
from .stored_changes import PASSED

if TYPE_CHECKING:
    from ..program import Program


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class SealedWindows(Protocol[T_co]):
    """An epoch that tells how windows changed in it."""

    def remembered(self) -> Mapping[str, T_co]:
        """The changes of the contents of windows, by their names."""

    def passed(self) -> Mapping[str, T_co]:
        """The rows of inputs that came and were forgotten at once."""


@dataclass(frozen=True)
class KeptWindows:
    """The kept windows of a circuit: `nodes` whose contents are, by the names of these; `relations` are those
    of the file, with their `roles`, and `sizes` are the relations of the session that have as many rows.
    `last` are contents that follow from the past of a stream: its name, and the number of epochs. `forgetful`
    are the inputs that forget rows."""

    nodes: dict[str, NodeId] = field(default_factory=dict)
    relations: dict[str, core.Relation] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, str] = field(default_factory=dict)
    last: dict[str, tuple[str, int]] = field(default_factory=dict)
    forgetful: Collection[str] = ()

    def add(self, name: str, role: str, kind: str, like: core.Relation, *more: core.Column) -> None:
        """Adds a relation of the file, with the columns of another and `more`."""
        columns = (*like.columns, *more)
        self.relations[name] = replace(like, name=name, columns=columns, kind=kind, key=None)
        self.roles[name] = role

    def changes(self, sealed: SealedWindows[T]) -> Mapping[str, T]:
        """The changes of the state's relations in an epoch."""
        if not self.relations:
            return {}
        passed = {f"{name}{PASSED}": rows for name, rows in sealed.passed().items()}
        return {**sealed.remembered(), **passed}


def kept_windows(program: Program, computed: Collection[str], circuit: Circuit) -> KeptWindows:
    """The kept windows of the circuit of a session that computes these relations."""
    windows = [
        (name, relation, relation.window)
        for name, relation in program.relations.items()
        if relation.window is not None and name in computed
    ]
    if not windows:
        return KeptWindows()
    places = dict(circuit.relations)
    at = {name: shown(circuit, places[name]) for name, _, _ in windows}
    found = KeptWindows(forgetful=forgetful_inputs(circuit))
    for name in found.forgetful:
        found.add(f"{name}{PASSED}", "passed", "stream", program.relations[name])
    sums = {at[name] for name, _, window in windows if window.kind in ("all", "last")}
    for name, relation, window in sorted(windows, key=lambda each: at[each[0]]):
        node = circuit.nodes[at[name]]
        if isinstance(node, WindowNode):
            time = core.Column("$time", _time(program, name))
            clock = _free(f"{window.clock}$clock", node.clock, found.nodes)
            found.nodes[clock] = node.clock
            found.add(clock, "window", "relation", replace(relation, columns=(time,)))
            if not remembers(circuit, at[name], sums):
                continue
            relation = replace(relation, columns=(*relation.columns, time))
        own = _free(f"{window.shown_by}${_ENDS.get(window.kind, 'window')}", at[name], found.nodes)
        found.nodes[own] = at[name]
        if window.kind == "last":
            found.last[own] = _reach(program, name)
            continue
        kind = {"late": "stream", "clock": "relation"}.get(window.kind, "multiset")
        found.add(own, "late" if kind == "stream" else "window", kind, relation)
        if kind == "multiset":
            found.sizes[own] = name
    return found


_ENDS = {"late": "late", "clock": "greatest"}


def _free(name: str, node: NodeId, taken: Mapping[str, NodeId]) -> str:
    """The name of a node; with a number if one relation shows several windows."""
    numbered = (name if number == 1 else f"{name} {number}" for number in count(1))
    return next(each for each in numbered if taken.get(each, node) == node)


def _rules(program: Program, name: str) -> Iterator[core.Rule]:
    for rule in program.checked.rules:
        if any(head.relation == name for head in rule.heads):
            yield rule


def _time(program: Program, name: str) -> Type:
    """The type of the times of a window."""
    (rule,) = _rules(program, name)
    return rule.variables[core.TIME]


def _reach(program: Program, name: str) -> tuple[str, int]:
    """The stream whose last elements a window holds, and how many epochs they are of."""
    for rule in _rules(program, name):
        for clause in rule.body:
            if isinstance(clause, core.Atom):
                past = program.relations[clause.relation].past
                if past is not None:
                    return past
    raise TypeError(f"{name} does not read the past of a stream")
