"""Measuring a session: the costs of its commits by stratum and operator, and the slowest commits whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from math import isnan
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...core.rules import Atom
from ...engine.circuit import Circuit, Fixpoint, NodeId
from ...engine.epochcosts import Cost, EpochWalk, Inside, Meter, clock
from ...engine.labels import cost_key, one_line, operator_of
from ...profiling.costs import (
    CommitCost,
    DecisionTaken,
    MemorySize,
    OperatorCost,
    RelationSize,
    Round,
    SlowEpoch,
    StratumCost,
)
from ...profiling.profile import Profile
from .sums import CommitSums, Sums

if TYPE_CHECKING:
    from ...engine.runtime import Delta
    from ..hosts.host import Host
    from ..program import Program

_SLOWEST = 5
"""Epochs that are kept as a whole."""


Commit: TypeAlias = Callable[[], "dict[str, Delta]"]
"""Runs one epoch of a runtime, and gives the changes."""


class _Slow(NamedTuple):
    """A slow commit, with all that was measured."""

    seconds: float
    number: int  # negative, so that of equals the later one goes
    epoch: CommitCost
    circuit: Circuit
    nodes: Sequence[NodeId]
    times: Sequence[float]
    rows: Sequence[float]
    insides: Mapping[NodeId, Inside]


class Recorder:
    """The measurements of a session so far. `commit` measures one commit."""

    def __init__(self) -> None:
        self._meter = Meter()
        self._sums: Sums | None = None
        self._epochs = CommitSums()
        self._slowest: list[_Slow] = []
        self._commits, self._seconds = 0, 0.0

    def commit(self, run: Commit, number: int) -> dict[str, Delta]:
        """The result of `run`, which runs one epoch of the runtime, with so many before it."""
        meter = self._meter
        outer, since = meter.put_in_force(), clock()
        try:
            deltas = run()
            seconds = clock() - since
            if meter.walk is not None:
                self._note(meter.walk, meter.insides, number, seconds)
        finally:
            meter.end(outer)
            meter.forget()  # the walk has the changes
        return deltas

    def _note(self, walk: EpochWalk, insides: Mapping[NodeId, Inside], number: int, seconds: float) -> None:
        nodes, times, rows = walk.nodes, walk.times, walk.rows(walk.nodes)
        if self._sums is None or self._sums.circuit is not walk.circuit:
            self._sums = Sums(walk.circuit)
        self._sums.add(nodes, times, rows, insides)
        told = number, seconds, *self._sums.walks(nodes).ends(rows)
        self._epochs.add(*told)
        self._commits += 1
        self._seconds += seconds
        if len(self._slowest) < _SLOWEST or seconds > self._slowest[0].seconds:
            slow = _Slow(seconds, -number, CommitCost(*told), walk.circuit, nodes, times, rows, insides)
            heappush(self._slowest, slow)
            if len(self._slowest) > _SLOWEST:
                heappop(self._slowest)

    def strata(self, names: _Names) -> tuple[StratumCost, ...]:
        """The costs of all epochs, by stratum."""
        return () if self._sums is None else _strata(self._sums, names)

    def slowest(self, names: _Names) -> Iterator[SlowEpoch]:
        """The slowest epochs, the slowest first."""
        for slow in sorted(self._slowest, key=lambda each: (-each.seconds, -each.number)):
            sums = Sums(slow.circuit)
            sums.add(slow.nodes, slow.times, slow.rows, slow.insides)
            yield SlowEpoch(slow.epoch, _strata(sums, names))

    @property
    def totals(self) -> tuple[int, float, tuple[CommitCost, ...]]:
        """The commits, their seconds, and the epochs that are kept."""
        return self._commits, self._seconds, tuple(CommitCost(*each) for each in self._epochs)


class _Names:
    """The places and the relations of rules, by their text."""

    def __init__(self, program: Program) -> None:
        rules = program.checked.rules
        self._rules = {one_line(rule.text): (str(rule.span), rule.heads[0].relation) for rule in rules}
        self._copies = {
            (rule.heads[0].relation, term.relation): one_line(rule.text)
            for rule in rules
            for term in rule.body
            if isinstance(term, Atom) and sum(isinstance(each, Atom) for each in rule.body) == 1
        }

    def of(self, text: str) -> tuple[str, str]:
        """The place of a rule, and its relation; of another text, no place and its first name."""
        place, relation = self._rules.get(text, ("", text.partition("(")[0].strip()))
        return place, relation.partition("$")[0].removeprefix("input ") or "(internal)"

    def within(self, text: str, relations: Iterable[str]) -> str:
        """The text of a rule of a recursion. One that copies a relation has no operator of its own: it is
        known by what it copies."""
        copied = self.of(text)[1]
        found = (self._copies.get((each, copied), text) for each in relations)
        return text if copied in relations else next((each for each in found if each != text), text)


def profile_of(program: Program, host: Host, kept: Collection[str], recorder: Recorder | None) -> Profile:
    """The profile of a session that computes the relations `kept`; without a recorder, nothing of time."""
    names = _Names(program)
    recorder = recorder or Recorder()
    commits, seconds, epochs = recorder.totals
    runtime = host.runtime
    footprint, plans = runtime.footprint(), runtime.plans()
    held = None if footprint is None else [
        MemorySize(each.kind, each.name.partition("$")[0] if each.kind != "groups" else each.name, each.rows,
             each.bytes, dict(each.parts))
        for each in footprint
    ]  # fmt: skip
    return Profile(
        program=program.source.name,
        engine="Spark" if host.offer.frames is not None else "in-process",
        commits=commits,
        seconds=seconds,
        strata=recorder.strata(names),
        relations=tuple(_relations(program, host, kept, held)),
        plans=None if plans is None else tuple(
            replace(each, place=names.of(each.rule)[0])
            for each in sorted(plans, key=lambda plan: (-plan.spent, -plan.moved))
        ),
        decisions=tuple(
            DecisionTaken(
                each.epoch, tuple(dict.fromkeys(name.partition("$")[0] for name in each.relations)),
                each.way, each.why, each.situation.changed,
                None if each.estimate is None else each.estimate.maintain,
                None if each.estimate is None else each.estimate.recompute, each.seconds,
            )
            for each in runtime.decisions()
        ),
        memory=None if held is None else tuple(sorted(held, key=lambda each: -each.bytes)),
        epochs=epochs,
        slowest=tuple(recorder.slowest(names)),
    )  # fmt: skip


def _relations(
    program: Program, host: Host, kept: Collection[str], held: Iterable[MemorySize] | None
) -> Iterator[RelationSize]:
    by_name: Mapping[str, MemorySize] = {each.name: each for each in held or () if each.kind == "relation"}
    for declared in program.relations.values():
        if not declared.hidden and declared.name in kept:
            memory = by_name.get(declared.name)
            yield RelationSize(
                declared.name,
                host.runtime.size(declared.name),
                None if memory is None else memory.bytes,
                {} if memory is None else memory.parts,
            )


def _strata(sums: Sums, names: _Names) -> tuple[StratumCost, ...]:
    """The strata of a circuit, the dearest first. What a rule of a recursion does outside of it, once for all
    rounds, belongs to the recursion."""
    circuit, costs, insides = sums.circuit, sums.costs, sums.insides
    recursive = {
        name.partition("$")[0]: at
        for at in costs
        if isinstance(node := circuit.nodes[at], Fixpoint)
        for name, _ in node.results
    }
    found: dict[str, list[OperatorCost]] = {}
    outside: dict[NodeId, list[OperatorCost]] = {at: [] for at in recursive.values()}
    for at, cost in costs.items():
        node = circuit.nodes[at]
        if not isinstance(node, Fixpoint):
            operator = _operator(operator_of(node), cost_key(node), cost, names)
            stratum = recursive.get(operator.relation)
            (found.setdefault(operator.relation, []) if stratum is None else outside[stratum]).append(
                operator
            )
    strata = [
        _recursive(circuit, at, costs[at], insides.get(at, Inside()), names, operators)
        for at, operators in outside.items()
    ]
    strata += (
        StratumCost(name, False, _seconds(each), _dearest(each), duplicates=_sum(o.duplicates for o in each))
        for name, each in found.items()
    )
    return tuple(sorted(strata, key=lambda each: -each.seconds))


def _recursive(
    circuit: Circuit,
    at: NodeId,
    whole: Cost,
    inside: Inside,
    names: _Names,
    outside: Sequence[OperatorCost],
) -> StratumCost:
    node = circuit.nodes[at]
    assert isinstance(node, Fixpoint)
    relations = dict.fromkeys(name.partition("$")[0] or "(internal)" for name, _ in node.results)
    operators = [
        _operator(operator, names.within(one_line(text), relations), cost, names)
        for (operator, text), cost in inside.costs.items()
    ]
    rounds = tuple(
        Round(number, each.seconds, int(each.taken), _known(each.out))
        for number, each in sorted(inside.rounds.items())
    )
    new = None if any(each.rows is None for each in rounds) else sum(each.rows or 0 for each in rounds)
    derived = sum(each.derived for each in rounds)
    return StratumCost(
        ", ".join(relations), True, whole.seconds + _seconds(outside),
        _dearest([*operators, *outside]), rounds, new,
        derived - new if new is not None and derived and derived >= new else None,
    )  # fmt: skip


def _dearest(operators: Iterable[OperatorCost]) -> tuple[OperatorCost, ...]:
    return tuple(sorted(operators, key=lambda each: -each.seconds))


def _seconds(operators: Iterable[OperatorCost]) -> float:
    return sum(each.seconds for each in operators)


def _operator(operator: str, text: str, cost: Cost, names: _Names) -> OperatorCost:
    place, relation = names.of(text)
    duplicates = _known(cost.taken - cost.out if operator == "distinct" else cost.out - cost.new)
    if duplicates is not None and duplicates < 0:
        duplicates = None
    taken, out = int(cost.taken), _known(cost.out)
    return OperatorCost(operator, text, relation, place, cost.calls, cost.seconds, taken, out, duplicates)


def _known(rows: float) -> int | None:
    return None if isnan(rows) else int(rows)


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [each for each in numbers if each is not None]
    return sum(known) if known else None
