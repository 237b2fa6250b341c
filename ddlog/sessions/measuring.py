"""Measuring a session: the costs of its commits by stratum and operator, and the slowest commits whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from typing import TYPE_CHECKING

from ..engine.circuit import Circuit, Fixpoint, Input, NodeId, Output, Result, Trace
from ..engine.labels import cost_key, one_line, operator_of
from ..engine.metering import Cost, Inside, Meter, Visit, clock, measuring
from ..profiling.profile import (
    Decision,
    Epoch,
    Held,
    LookUp,
    Operator,
    Plan,
    Profile,
    Relation,
    Round,
    SlowEpoch,
    Stratum,
)

if TYPE_CHECKING:
    from ..engine.runtime import Delta
    from .session import Session
    from .state import Commit

_RING = 10_000
"""Epochs whose summaries are kept."""
_SLOWEST = 5
"""Epochs that are kept as a whole."""
_AT_ONCE = 64
"""Epochs that are summed up together."""
_ROUNDS = 2_000
"""Rounds of a recursion that are told; later ones count as the last of them."""


@dataclass(slots=True)
class _Recursion:
    """The sums inside one recursion."""

    costs: dict[tuple[str, str], Cost] = field(default_factory=dict)
    rounds: dict[int, list[float]] = field(default_factory=dict)  # seconds, derived, rows; -1 rows: unknown


class Sums:
    """The costs of some epochs, by node."""

    def __init__(self, circuit: Circuit) -> None:
        self.costs: dict[NodeId, Cost] = {}
        self.recursions: dict[NodeId, _Recursion] = {}
        # what each node reads; None of nodes that only pass on
        passing = (Output, Result, Trace)
        self._reads = [None if isinstance(node, passing) else node.reads() for node in circuit.nodes]
        self._results: dict[NodeId, list[NodeId]] = {}
        for at, node in enumerate(circuit.nodes):
            if isinstance(node, Result):
                self._results.setdefault(node.fixpoint, []).append(at)

    def add(self, visits: Sequence[Visit]) -> None:
        """Adds an epoch."""
        outs = {visit[0]: visit[2] or 0 for visit in visits}
        for at, seconds, out, inside in visits:
            reads = self._reads[at]
            if reads is None:
                continue
            cost = self.costs.get(at)
            if cost is None:
                cost = self.costs[at] = Cost()
            cost.calls += 1
            cost.seconds += seconds
            for source in reads:
                cost.taken += outs.get(source, 0)
            cost.out = None if out is None or cost.out is None else cost.out + out
            if inside is not None:
                self._add_inside(at, inside, sum(outs.get(each, 0) for each in self._results.get(at, ())))

    def _add_inside(self, at: NodeId, inside: Inside, came: int) -> None:
        recursion = self.recursions.setdefault(at, _Recursion())
        for key, cost in inside.costs.items():
            recursion.costs.setdefault(key, Cost()).add(cost.calls, cost.seconds, cost.taken, cost.out)
        grown = sum(each[3] or 0 for each in inside.rounds)
        for number, seconds, derived, rows in inside.rounds:
            if number == 0:
                rows = came - grown
            number = min(number, _ROUNDS)
            sums = recursion.rounds.get(number)
            if sums is None:
                sums = recursion.rounds[number] = [0.0, 0, 0]
            sums[0] += seconds
            sums[1] += derived
            sums[2] = -1 if rows is None or rows < 0 or sums[2] < 0 else sums[2] + rows


class Recorder:
    """The measurements of a session so far. `commit` measures one commit."""

    def __init__(self) -> None:
        self._meter = Meter()
        self._circuit: Circuit | None = None
        self._sums: Sums | None = None
        self._waiting: list[list[Visit]] = []
        self._ends: tuple[frozenset[NodeId], frozenset[NodeId]] = frozenset(), frozenset()
        self._epochs: deque[Epoch] = deque(maxlen=_RING)
        self._slowest: list[tuple[float, int, list[Visit], Epoch]] = []
        self._commits, self._seconds = 0, 0.0

    def commit(self, run: Commit, number: int) -> dict[str, Delta]:
        """What `run` gives, which runs one epoch of the runtime, with so many before it."""
        since = clock()
        try:
            with measuring(self._meter):
                deltas = run()
        except BaseException:
            self._meter.take()
            raise
        seconds = clock() - since
        visits, circuit = self._meter.take(), self._meter.circuit
        if circuit is None:
            return deltas
        if self._sums is None:
            self._begin(circuit)
            assert self._sums is not None
        self._commits += 1
        self._seconds += seconds
        inputs, outputs = self._ends
        taken = given = 0
        for at, _, out, _ in visits:
            if at in inputs:
                taken += out or 0
            elif at in outputs:
                given += out or 0
        epoch = Epoch(number, seconds, taken, given)
        self._epochs.append(epoch)
        entry = seconds, -number, visits, epoch
        if len(self._slowest) < _SLOWEST:
            heappush(self._slowest, entry)
        elif seconds > self._slowest[0][0]:
            heappushpop(self._slowest, entry)
        self._waiting.append(visits)
        if len(self._waiting) == _AT_ONCE:
            self._add()
        return deltas

    def _add(self) -> None:
        """Adds the epochs that wait: many at once take half the time."""
        assert self._sums is not None
        for visits in self._waiting:
            self._sums.add(visits)
        self._waiting.clear()

    def _begin(self, circuit: Circuit) -> None:
        self._circuit, self._sums = circuit, Sums(circuit)
        nodes = list(enumerate(circuit.nodes))
        self._ends = (
            frozenset(at for at, node in nodes if isinstance(node, Input)),
            frozenset(at for at, node in nodes if isinstance(node, Output)),
        )

    def strata(self, names: _Names) -> tuple[Stratum, ...]:
        """The costs of all epochs, by stratum."""
        if self._circuit is None or self._sums is None:
            return ()
        self._add()
        return _strata(self._circuit, self._sums, names)

    def slowest(self, names: _Names) -> Iterator[SlowEpoch]:
        """The slowest epochs, the slowest first."""
        for _, _, visits, epoch in sorted(self._slowest, key=lambda each: (-each[0], -each[1])):
            assert self._circuit is not None
            sums = Sums(self._circuit)
            sums.add(visits)
            yield SlowEpoch(epoch, _strata(self._circuit, sums, names))

    @property
    def totals(self) -> tuple[int, float, tuple[Epoch, ...]]:
        """The commits, their seconds, and the last of them."""
        return self._commits, self._seconds, tuple(self._epochs)


class _Names:
    """The places and the relations of rules, by their text."""

    def __init__(self, session: Session) -> None:
        rules = session.program.checked.rules
        self._rules = {one_line(rule.text): (str(rule.span), rule.heads[0].relation) for rule in rules}

    def of(self, text: str) -> tuple[str, str]:
        """The place of a rule, and its relation; of another text, no place and its first name."""
        place, relation = self._rules.get(text, ("", text.partition("(")[0].strip()))
        return place, relation.partition("$")[0].removeprefix("input ") or "(internal)"


def profile_of(session: Session, recorder: Recorder | None) -> Profile:
    """The profile of a session; without a recorder, nothing of time."""
    names = _Names(session)
    recorder = recorder or Recorder()
    commits, seconds, epochs = recorder.totals
    runtime = session.state.host.runtime
    footprint, plans = runtime.footprint(), runtime.plans()
    held = None if footprint is None else [
        Held(each.kind, each.name.partition("$")[0] if each.kind != "groups" else each.name, each.rows,
             each.bytes, dict(each.parts))
        for each in footprint
    ]  # fmt: skip
    return Profile(
        program=session.program.source.name,
        engine="Spark" if session.on_spark else "in-process",
        commits=commits,
        seconds=seconds,
        strata=recorder.strata(names),
        relations=tuple(_relations(session, held)),
        plans=None if plans is None else tuple(
            Plan(each.rule, names.of(each.rule)[0], each.start, tuple(
                LookUp(e.depth, e.term, e.keys, e.rows, e.expected, e.given, e.why) for e in each.extensions
            ))
            for each in sorted(plans, key=lambda plan: -plan.moved)
        ),
        decisions=tuple(
            Decision(
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


def _relations(session: Session, held: Iterable[Held] | None) -> Iterator[Relation]:
    by_name: Mapping[str, Held] = {each.name: each for each in held or () if each.kind == "relation"}
    for declared in session.program.relations.values():
        if not declared.hidden and session.keeps(declared.name):
            memory = by_name.get(declared.name)
            yield Relation(
                declared.name,
                session.size(declared.name),
                None if memory is None else memory.bytes,
                {} if memory is None else memory.parts,
            )


def _strata(circuit: Circuit, sums: Sums, names: _Names) -> tuple[Stratum, ...]:
    """The strata of a circuit, the dearest first. What a rule of a recursion does outside of it, once for all
    rounds, belongs to the recursion."""
    recursive = {
        name.partition("$")[0]: at
        for at in sums.costs
        if isinstance(node := circuit.nodes[at], Fixpoint)
        for name, _ in node.results
    }
    found: dict[str, list[Operator]] = {}
    outside: dict[NodeId, list[Operator]] = {at: [] for at in recursive.values()}
    for at, cost in sums.costs.items():
        node = circuit.nodes[at]
        if not isinstance(node, Fixpoint):
            operator = _operator(operator_of(node), cost_key(node), cost, names)
            stratum = recursive.get(operator.relation)
            (found.setdefault(operator.relation, []) if stratum is None else outside[stratum]).append(
                operator
            )
    strata = [_recursive(circuit, at, sums, names, operators) for at, operators in outside.items()]
    strata += (
        Stratum(name, False, _seconds(each), _dearest(each), duplicates=_sum(o.duplicates for o in each))
        for name, each in found.items()
    )
    return tuple(sorted(strata, key=lambda each: -each.seconds))


def _recursive(
    circuit: Circuit, at: NodeId, sums: Sums, names: _Names, outside: Sequence[Operator]
) -> Stratum:
    node, inside = circuit.nodes[at], sums.recursions.get(at, _Recursion())
    assert isinstance(node, Fixpoint)
    relations = dict.fromkeys(name.partition("$")[0] or "(internal)" for name, _ in node.results)
    operators = [
        _operator(operator, one_line(text), cost, names) for (operator, text), cost in inside.costs.items()
    ]
    rounds = tuple(
        Round(number, seconds, int(derived), None if rows < 0 else int(rows))
        for number, (seconds, derived, rows) in sorted(inside.rounds.items())
    )
    new = None if any(each.rows is None for each in rounds) else sum(each.rows or 0 for each in rounds)
    derived = sum(each.derived for each in rounds)
    return Stratum(
        ", ".join(relations), True, sums.costs[at].seconds + _seconds(outside),
        _dearest([*operators, *outside]), rounds, new,
        derived - new if new is not None and derived and derived >= new else None,
    )  # fmt: skip


def _dearest(operators: Iterable[Operator]) -> tuple[Operator, ...]:
    return tuple(sorted(operators, key=lambda each: -each.seconds))


def _seconds(operators: Iterable[Operator]) -> float:
    return sum(each.seconds for each in operators)


def _operator(operator: str, text: str, cost: Cost, names: _Names) -> Operator:
    place, relation = names.of(text)
    duplicates = cost.taken - cost.out if operator == "distinct" and cost.out is not None else None
    if duplicates is not None and duplicates < 0:
        duplicates = None
    return Operator(
        operator, text, relation, place, cost.calls, cost.seconds, cost.taken, cost.out, duplicates
    )


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [each for each in numbers if each is not None]
    return sum(known) if known else None
