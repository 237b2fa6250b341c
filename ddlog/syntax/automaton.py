"""The LALR automaton: it goes through tokens by the tables of a grammar, and builds the phrases that end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from .reductions import Build
from .tables import ParseTables

END = "$END"
"""The kind of the token after the last one."""

Reduction: TypeAlias = tuple[int, str, Build | None]
"""Of a production its number of symbols, its origin, and the function that builds its phrases; None where one
symbol stands for another, with its value and place."""


class Reductions(Protocol):
    """The reductions of productions, by their numbers."""

    def __getitem__(self, at: int, /) -> Reduction: ...


class Automaton:
    """One run from a start symbol: for each phrase so far a state, a value, and the place of its beginning.
    `begins[i]` is where a phrase begins whose first token is number i, and `ends[i]` where one ends that is
    complete before this token; the functions of the reductions take these numbers."""

    def __init__(
        self,
        tables: ParseTables,
        start: str,
        reductions: Reductions,
        begins: Sequence[int],
        ends: Sequence[int],
    ) -> None:
        self._moves, self._reductions, self._begins, self._ends = tables.moves, reductions, begins, ends
        self._accept = tables.ends[start]
        self.states, self.values, self._starts = [tables.starts[start]], list[Any](), list[int]()
        self._renamed: dict[tuple[int, int, str], int] = {}

    def take(self, tokens: Sequence[tuple[Any, ...]], at: int) -> int:
        """Takes the tokens from a number on, each of which begins with its kind. Returns the number of the
        first that does not fit, or the number of tokens."""
        for i in range(at, len(tokens)):
            if not self.feed(tokens[i][0], i):
                return i
            self.values.append(tokens[i])
            self._starts.append(self._begins[i])
        return len(tokens)

    def feed(self, kind: str, at: int) -> bool:
        """Completes the phrases that end before token number `at`, of a kind, and goes to the state after it;
        the caller puts its value. For END, whether the start symbol is complete. False if it does not fit."""
        moves, states, values, starts = self._moves, self.states, self.values, self._starts
        while (move := moves[states[-1]].get(kind)) is not None:
            if move >= 0:
                states.append(move)
                return True
            length, origin, build = self._reductions[~move]
            if build is None:
                states[-1] = self._after_renaming(states[-2], states[-1], kind)
                continue
            if length:
                start = starts[-length]
                value = build(start, self._ends[at], values[-length:])
                del states[-length:], values[-length:], starts[-length:]
            else:
                start = self._ends[at]
                value = build(start, start, [])
            states.append(moves[states[-1]][origin])
            values.append(value)
            starts.append(start)
        return kind == END and states[-1] == self._accept

    def _after_renaming(self, below: int, state: int, kind: str) -> int:
        """The state in place of one above another, while before a token of the kind one symbol only stands
        for another: operators have many levels of precedence."""
        key = below, state, kind
        known = self._renamed.get(key)
        if known is None:
            known = state
            while (move := self._moves[known].get(kind, 0)) < 0 and self._reductions[~move][2] is None:
                known = self._moves[below][self._reductions[~move][1]]
            self._renamed[key] = known
        return known

    def forget(self, kind: str) -> None:
        """Drops open phrases until a token of the kind can come."""
        while len(self.states) > 1 and kind not in self._moves[self.states[-1]]:
            del self.states[-1], self.values[-1], self._starts[-1]
