"""An update: the change of one row that a command or a line of a change file asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..sessions.session import Session
from ..values.rows import Row


@dataclass(frozen=True, slots=True)
class Update:
    """A change of one row: `kind` is insert, insert_or_update, delete, delete_key or modify.

    `row` is the row, or for delete_key and modify the primary key. A batch of updates is applied together;
    the update that is `last` ends its batch.
    """

    kind: str
    relation: str
    row: Any
    last: bool
    change: Callable[[Row], Row] | None = None

    def apply(self, session: Session) -> None:
        """Makes the change in the session's transaction. Raises DDlogError."""
        match self.kind:
            case "insert":
                session.insert_rows(self.relation, [self.row])
            case "delete":
                session.delete_rows(self.relation, [self.row])
            case "insert_or_update":
                session.upsert_rows(self.relation, [self.row])
            case "delete_key":
                session.delete_key(self.relation, self.row)
            case _:
                assert self.change is not None
                session.modify(self.relation, self.row, self.change)
