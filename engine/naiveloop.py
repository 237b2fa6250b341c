"""The meaning of loops, of recursions that are not monotone, and of brackets, for `engine.reference`: round
by round, each from the beginning of its body.

A loop or a fixpoint in the body is evaluated anew in each round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from . import circuit as c
from . import zset
from .divergence import (
    FIRST,
    MOST_ROUNDS,
    SHOWN,
    Endless,
    IterationLimit,
    LoopLimit,
    LoopRepetition,
    Repetition,
    is_checkpoint,
)
from .zset import Row, Zset

State: TypeAlias = dict[str, Zset]
"""The relations of a loop in one round."""


class Naive:
    """Evaluates loops. `meaning` is the value of a node that has no clock of its own, given the values of the
    nodes that it reads; `limit` are the rounds that a loop may take."""

    def __init__(self, limit: int | None, meaning: Callable[[c.Node, list[Zset]], Zset]) -> None:
        self._limit, self._meaning = limit, meaning
        self._clocks: list[int] = []  # the rounds of the scopes around, the innermost last
        self._named: list[int] = []  # for each of them, the last round that a row of an Admit has named

    def relations(self, node: c.Fixpoint, outside: Mapping[c.NodeId, Any]) -> State:
        """The relations of a loop in its last round, or of a fixpoint."""
        past: list[State] = []
        memory = max((n.rounds for n in node.body.nodes if isinstance(n, c.Earlier)), default=1)
        self._clocks.append(0)
        self._named.append(0)
        while True:
            past.append(self._round(node, outside, past))
            if self._is_over(node, past, memory):
                self._clocks.pop()
                self._named.pop()
                return past[-1]
            self._check(node, past, memory)
            self._clocks[-1] += 1

    def _is_over(self, node: c.Fixpoint, past: Sequence[State], memory: int) -> bool:
        number = len(past) - 1
        if isinstance(node, c.Loop) and node.rounds is not None:
            return number == node.rounds
        if isinstance(node, c.Loop) and node.empty is not None and not past[-1][node.empty]:
            return True
        if number < max(self._named[-1], memory):
            return False
        return all(each == past[-1] for each in past[-memory - 1 :])

    def _check(self, node: c.Fixpoint, past: Sequence[State], memory: int) -> None:
        name, origin, most = "", None, None
        if isinstance(node, c.Loop):
            name, origin, most = node.name, node.origin, node.most
        is_recursion = len(self._clocks) == 1 and not isinstance(node, c.Loop)
        at = _repeated(node, past, memory, self._named[-1])
        if at is not None:
            period, states = len(past) - 1 - at, past[at:]
            moved = [
                (relation, row, 0)
                for relation, rows in past[-1].items()
                for row in sorted({row for state in states for row in state[relation]})
                if any(state[relation].get(row, 0) != rows.get(row, 0) for state in states)
            ]
            if is_recursion:
                raise Repetition(period, list(past[-1]), moved)
            raise LoopRepetition(period, name, list(past[-1]), moved, origin)
        limit = next(each for each in (most, self._limit, MOST_ROUNDS) if each is not None) - is_recursion
        if len(past) - 1 <= limit + self._named[-1]:
            return
        some = changing(past[-2] if len(past) > 1 else {}, past[-1])
        if some and is_recursion:
            raise IterationLimit(limit + 1, list(past[-1]), some)
        if some:
            raise LoopLimit(limit, name, list(past[-1]), some, origin)

    def _round(self, node: c.Fixpoint, outside: Mapping[c.NodeId, Any], past: Sequence[State]) -> State:
        values: dict[c.NodeId, Any] = {}
        for at, each in enumerate(node.body.nodes):
            match each:
                case c.Import(source):
                    values[at] = outside[source]
                case c.Variable(relation):
                    values[at] = past[-1][relation] if past else {}
                case c.Earlier(relation, rounds):
                    values[at] = past[-rounds][relation] if len(past) >= rounds else {}
                case c.Admit(source, _, _, _, scope):
                    values[at] = admitted(each, values[source], self._clocks[-1 - scope])
                    self._named[-1 - scope] = max(self._named[-1 - scope], _last(each, values[source]))
                case c.Fixpoint():
                    values[at] = self.relations(each, values)
                case c.FixpointResult(fixpoint, relation):
                    values[at] = values[fixpoint][relation]
                case c.Constant(rows):
                    values[at] = zset.zset((row, 1) for row in rows)
                case _:
                    values[at] = self._meaning(each, [values[source] for source in each.reads()])
        return {relation: values[at] for relation, at in node.results}


def changing(before: State, now: State) -> list[tuple[str, Row, int]]:
    """Some rows of each relation that come or go from one round to the next."""
    return [
        (relation, row, weight)
        for relation, rows in now.items()
        for row, weight in sorted(zset.subtract(rows, before.get(relation, {})).items())[:SHOWN]
    ]


def admitted(node: c.Admit, rows: Zset, number: int) -> Zset:
    """The rows that a round admits, without the columns that say so."""
    arity, until = len(node.schema), len(node.schema) + node.since
    return zset.zset(
        (row[:arity], weight)
        for row, weight in rows.items()
        if all(each <= number for each in row[arity:until]) and all(number < each for each in row[until:])
    )


def _repeated(node: c.Fixpoint, past: Sequence[State], memory: int, named: int) -> int | None:
    """An earlier round whose state was that of the last one, if the loop comes back to it for ever."""
    number = len(past) - 1
    if isinstance(node, c.Loop) and node.rounds is not None:
        return None
    at = next((each for each in range(number - 1, max(FIRST, named), -1) if is_checkpoint(each)), None)
    if at is None or past[at - memory + 1 : at + 1] != past[number - memory + 1 :]:
        return None
    return at


def _last(node: c.Admit, rows: Zset) -> int:
    """The last round that one of the rows names."""
    return max((each for row in rows for each in row[len(node.schema) :]), default=0)


def bracket(
    node: c.Bracket,
    outside: Mapping[c.NodeId, Zset],
    step: Callable[[Mapping[c.NodeId, Zset], dict[c.NodeId, Any]], tuple[dict[c.NodeId, Any], Any]],
    limit: int | None,
) -> State:
    """The results of a Bracket for the values outside: what enters does so at iteration 0. `step` gives the
    values of the body and what it remembers, for what enters and what it remembered."""
    values, memory = step(outside, {})
    sums, done, rest = {name: values[at] for name, at in node.results}, 1, False
    while not rest:
        before = memory
        values, memory = step({source: {} for source in node.reads()}, before)
        done, rest = done + 1, memory == before
        now = {name: values[at] for name, at in node.results}
        sums = {name: zset.add(rows, now[name]) for name, rows in sums.items()}
        moving = [(name, row, 1) for name, rows in now.items() for row in sorted(rows)[:SHOWN]]
        if rest and moving:
            raise Endless(list(sums), moving)
        if not rest and done > (MOST_ROUNDS if limit is None else limit):
            raise IterationLimit(done - 1, list(sums), moving)
    return sums
