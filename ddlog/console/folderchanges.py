"""The files of a followed folder as changes of relations.

A file of facts inserts rows. A file of changes inserts and deletes rows, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from ..core import Relation
from ..errors.diagnostics import DDlogError
from ..errors.follow import NotOfThisFolder
from ..io.files import split_name
from ..io.refusals import Refuse, stop
from ..sessions.results import Changes
from ..sessions.session import Session
from ..sessions.transactions.facts import insert_file
from ..values.rows import Row
from .followedfiles import changes_in
from .notes import Note


class FolderChanges:
    """Turns the files below a folder, `home`, into changes. `refuse` takes what is wrong in them; None: it
    is an error."""

    def __init__(self, session: Session, home: Path, note: Note, refuse: Refuse | None = None) -> None:
        self._session, self._home, self._note, self._refuse = session, home, note, refuse
        self._inputs = session.program.names("input")
        self._passed: set[tuple[str, str]] = set()

    def relation(self, path: Path) -> Relation | None:
        """The relation that a file is for; None if it is for none, which is noted once for each folder."""
        inside = path.relative_to(self._home).parts if path.is_relative_to(self._home) else ()
        folder = inside[0] if len(inside) > 1 else path.name
        if len(inside) > 1 and folder in self._inputs and split_name(path) is not None:
            return self._session.program.relations[folder]
        reason = f"{folder} is no input relation" if len(inside) > 1 else "it is in no relation's folder"
        if folder in self._inputs:
            reason = "its ending is no format's"
        if (folder, reason) not in self._passed:
            self._passed.add((folder, reason))
            self._note(f"{path} is not followed: {reason}")
        return None

    def changes(self, path: Path, relation: Relation) -> Iterator[tuple[str, Row, int]] | None:
        """The changes of a file, as relation, row and +1 or -1; None if it holds facts. Raises DDlogError."""
        program = self._session.program
        typedefs = self._session.typedefs
        signed = changes_in(path, relation, program.relations, typedefs, self._refuse or stop)
        return None if signed is None else (self._checked(path, each) for each in signed)

    def apply(self, paths: Iterable[Path]) -> Changes:
        """Commits the changes of files as one epoch, in their order. Raises DDlogError, and then changes
        nothing."""
        try:
            for path in paths:
                relation = self.relation(path)
                if relation is not None:
                    self._apply(path, relation)
            return self._session.commit()
        except BaseException:
            self._session.rollback()
            raise

    def _apply(self, path: Path, relation: Relation) -> None:
        """Puts the changes of a file into the transaction. Raises DDlogError."""
        session, changes = self._session, self.changes(path, relation)
        if changes is None:
            insert_file(session.state, session.transaction, relation.name, path, self._note, self._refuse)
            return
        for (name, op), run in groupby(changes, key=itemgetter(0, 2)):
            put = session.insert_rows if op > 0 else session.delete_rows
            put(name, [row for _, row, _ in run])

    def _checked(self, path: Path, change: tuple[str, Row, int]) -> tuple[str, Row, int]:
        if change[0] not in self._inputs:
            raise DDlogError([NotOfThisFolder(str(path), change[0])])
        return change
