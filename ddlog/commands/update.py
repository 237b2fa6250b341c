"""Updates: the changes of single rows that commands and lines of change files ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..errors.source import Span
from ..sessions.session import Session
from ..values.rows import Row

RowChange: TypeAlias = Callable[[Row], Row]


@dataclass(frozen=True, slots=True)
class Update:
    """A change of one row: `kind` is insert, insert_or_update, delete, delete_key or modify.

    `row` is the row, or for delete_key and modify the primary key. A batch of updates is applied together;
    the update that is `last` ends its batch. An update whose `id` was applied is skipped.
    """

    kind: str
    relation: str
    row: Any
    last: bool
    change: RowChange | None = None
    id: str | None = None

    def apply(self, session: Session) -> None:
        """Makes the change in the session's transaction. Raises DDlogError."""
        match self.kind:
            case "insert" | "delete" | "insert_or_update":
                apply(session, self.kind, self.relation, [self.row])
            case "delete_key":
                session.delete_key(self.relation, self.row)
            case _:
                assert self.change is not None
                session.modify(self.relation, self.row, self.change)


@dataclass(slots=True, eq=False)
class UpdateRun:
    """Updates of one kind and one relation that follow each other: `kind` is insert, insert_or_update or
    delete. Nobody changes it, like a command.

    If they are `apart`, each is a batch of its own. Otherwise they are parts of one batch, and the last of
    them ends it if it is `last`. `place` computes the place of an update from its number.
    """

    kind: str
    relation: str
    rows: Sequence[Row]
    apart: bool
    last: bool
    place: Callable[[int], Span]

    def apply(self, session: Session) -> None:
        """Makes all changes in the session's transaction, or, if it raises DDlogError, none."""
        apply(session, self.kind, self.relation, self.rows)

    def singly(self) -> Iterator[Update]:
        """The updates one by one."""
        final = len(self.rows) - 1
        for number, row in enumerate(self.rows):
            yield Update(self.kind, self.relation, row, self.apart or (self.last and number == final))


def apply(session: Session, kind: str, relation: str, rows: Sequence[Row]) -> None:
    """Makes changes of one kind of one relation in the session's transaction. Raises DDlogError; then it made
    none."""
    match kind:
        case "insert":
            session.insert_rows(relation, rows)
        case "delete":
            session.delete_rows(relation, rows)
        case _:
            session.upsert_rows(relation, rows)
