"""Transactions that wait are one epoch, if they do not conflict.

Each is applied after those before it, and what an erroneous one did is taken back at once. A transaction
that touches a row, or the key of a row, that one before it in the epoch touches is left for the next
epoch, so that no change that a subscriber should see is lost in the sum of two. If the epoch fails as a
whole, as by a fault of a rule, each transaction is an epoch of its own, and only those that fail are told so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..sessions.results import Changes
from ..sessions.session import Session

EVERY_ROW = object()
"""Stands for the rows of a relation that a transaction touches all or unknown ones of."""

KEYS = ""
"""Stands for a relation with a row for the key of each transaction: two with one key conflict."""


@dataclass(slots=True, eq=False)
class Waiting:
    """A transaction that waits: `apply` makes its changes, `touches` are the rows, or their keys, by
    relation. One with a function `tell` is an epoch of its own, whose changes the function gets. `future`
    is told the answer."""

    apply: Callable[[Session], None]
    touches: Sequence[tuple[str, Hashable]]
    key: str | None
    tell: Callable[[Changes], Any] | None
    future: asyncio.Future[Answer] | None = field(default=None)


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a transaction: its epoch and, if it asked for them, its changes. `repeated`: it was
    committed before."""

    epoch: int
    changes: Any = None
    repeated: bool = False

    def text(self) -> str:
        """The members of the answer's object of JSON."""
        repeated = ',"repeated":true' if self.repeated else ""
        changes = "" if self.changes is None else f',"changes":{self.changes}'
        return f'"epoch":{self.epoch}{repeated}{changes}'


Outcome = Answer | BaseException


class Committer:
    """Commits transactions on a session. `committed` is called with the changes of each epoch and the
    number of its transactions, and returns the number of the epoch."""

    def __init__(self, session: Session, committed: Callable[[Changes, int], int], number: Callable[[], int]):
        self._session, self._committed, self._number = session, committed, number

    def commit(self, waiting: Sequence[Waiting], outcomes: list[tuple[Waiting, Outcome]]) -> None:
        """Commits transactions, in their order as far as they conflict, and adds the outcome of each."""
        rest = list(waiting)
        while rest:
            rest = self._epoch(rest, outcomes)

    def _epoch(self, waiting: Sequence[Waiting], outcomes: list[tuple[Waiting, Outcome]]) -> list[Waiting]:
        """Makes an epoch of the transactions that can be one; returns the others."""
        session, applied = self._session, self._session.applied
        together: list[Waiting] = []
        later: list[Waiting] = []
        touched: dict[str, set[Hashable]] = {}
        for each in waiting:
            touches = each.touches if each.key is None else (*each.touches, (KEYS, each.key))
            if each.key is not None and applied.has(each.key) and each.key not in applied.pending:
                outcomes.append((each, Answer(self._number(), repeated=True)))
                continue
            if (together and (each.tell or together[0].tell)) or _conflicts(touches, touched):
                later.append(each)
            else:
                mark = session.mark()
                try:
                    each.apply(session)
                except Exception as error:
                    session.undo(mark)
                    outcomes.append((each, error))
                    continue
                together.append(each)
                if each.key is not None:
                    applied.note([each.key])
            for name, row in touches:  # what waits behind one that waits keeps its place
                touched.setdefault(name, set()).add(row)
        if together:
            outcomes.extend(self._ended(together))
        elif session.in_transaction:
            session.rollback()
        return later

    def _ended(self, together: Sequence[Waiting]) -> list[tuple[Waiting, Outcome]]:
        try:
            changes = self._session.commit()
        except Exception as error:
            if len(together) == 1:
                return [(together[0], error)]
            return [outcome for each in together for outcome in self._singly(each)]
        tell = together[0].tell
        answer = Answer(self._committed(changes, len(together)), None if tell is None else tell(changes))
        return [(each, answer) for each in together]

    def _singly(self, each: Waiting) -> list[tuple[Waiting, Outcome]]:
        try:
            each.apply(self._session)
        except Exception as error:
            self._session.rollback()
            return [(each, error)]
        if each.key is not None:
            self._session.applied.note([each.key])
        return self._ended([each])


def _conflicts(touches: Iterable[tuple[str, Hashable]], touched: dict[str, set[Hashable]]) -> bool:
    for name, row in touches:
        rows = touched.get(name)
        if rows and (row in rows or EVERY_ROW in rows or row is EVERY_ROW):
            return True
    return False
