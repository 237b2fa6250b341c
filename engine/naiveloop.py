"""The meaning of loops, for `engine.reference`: round by round, each from the beginning of its body.

A loop or a fixpoint in the body is evaluated anew in each round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from . import circuit as c
from . import zset
from .settling import FIRST, MOST_ROUNDS, SHOWN, LoopLimit, LoopRepetition, is_checkpoint
from .zset import Zset

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
        at = _repeated(node, past, memory, self._named[-1])
        if at is not None:
            period, states = len(past) - 1 - at, past[at:]
            moved = [
                (relation, row, 0)
                for relation, rows in past[-1].items()
                for row in sorted({row for state in states for row in state[relation]})
                if any(state[relation].get(row, 0) != rows.get(row, 0) for state in states)
            ]
            raise LoopRepetition(period, name, list(past[-1]), moved, origin)
        limit = next(each for each in (most, self._limit, MOST_ROUNDS) if each is not None)
        if len(past) - 1 <= limit + self._named[-1]:
            return
        changing = [
            (relation, row, weight)
            for relation, rows in past[-1].items()
            for row, weight in sorted(zset.subtract(rows, past[-2][relation]).items())[:SHOWN]
        ]
        if changing:
            raise LoopLimit(limit, name, list(past[-1]), changing, origin)

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
                case c.Result(fixpoint, relation):
                    values[at] = values[fixpoint][relation]
                case c.Constant(rows):
                    values[at] = zset.zset((row, 1) for row in rows)
                case _:
                    values[at] = self._meaning(each, [values[source] for source in each.reads()])
        return {relation: values[at] for relation, at in node.results}


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
