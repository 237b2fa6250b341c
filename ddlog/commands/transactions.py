"""Runs of transactions that are read ahead: `start; insert Edge(1, 2); commit; start; insert Edge(2, 3); …`

Many small transactions cost little each if they are not read and carried out command by command.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors.source import Span
from ..values.rows import Row
from .interpreter import Interpreter


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
        kind, relation, dumps, place = self.kind, self.relation, self.dumps, self.place
        for number, row in enumerate(self.rows):
            on.transact(kind, relation, row, dumps[number], place, number)
