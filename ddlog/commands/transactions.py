"""Runs of transactions that are read ahead: `start; insert Edge(1, 2); commit; start; insert Edge(2, 3); …`

Many small transactions cost little each if they are not read and carried out command by command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ..errors.source import Span
from ..values.rows import Row
from .commands import Commit, Start
from .interpreter import Action, Command, Interpreter
from .update import Update

MOST_AHEAD = 1 << 8
"""Transactions that are read before the first of them is carried out. A wrong value among them lets each
before it read them again."""


@dataclass(slots=True, eq=False)
class Transactions:
    """Transactions that follow each other, each of one update of one kind and one relation. Nobody changes
    it, like a command. `dumps` tells which end with `commit dump_changes`. `place` computes the place of a
    word of a transaction from its number."""

    kind: str
    relation: str
    rows: Sequence[Row]
    dumps: Sequence[bool]
    place: Callable[[int, str], Span]

    def perform(self, on: Interpreter) -> None:
        kind, relation, place = self.kind, self.relation, self.place
        for number, row in enumerate(self.rows):
            on.transact(kind, relation, row, self.dumps[number], partial(place, number))

    def singly(self) -> Iterator[Command]:
        """The commands one by one."""
        for number, (row, dumps) in enumerate(zip(self.rows, self.dumps, strict=True)):
            actions: dict[str, Action | Update] = {
                "start": Start(),
                self.kind: Update(self.kind, self.relation, row, True),
                "commit": Commit(dumps),
            }
            for word, action in actions.items():
                yield Command(action, word, partial(self.place, number, word))
