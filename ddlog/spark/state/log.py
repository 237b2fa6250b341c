"""Epochs of a log in the folder of a state. See `ddlog.durability.log`.

    rows ──▶ wait ──▶ files, which nothing names yet ──▶ manifest

Rows that wait are Arrow tables, which nothing changes. Many epochs that wait together become one span with
the sum of their changes, but for the last ones, which have to be told apart.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...durability.records import Stored
from ...engine.spark.tables import LocalTable
from ...errors.diagnostics import DDlogError
from ...errors.state import ValueNotKept
from .folder import Draft, StateFolder
from .manifest import FolderSpan, Manifest, RowFiles
from .rows import RelationRows

if TYPE_CHECKING:
    import pyarrow as pa

_APART = 8
"""So many epochs that wait go to the folder each by itself, so that the past tells them apart."""


@dataclass(frozen=True, slots=True, eq=False)
class FolderEpoch:
    """The changes of an epoch."""

    epoch: int
    rows: Sequence[tuple[RelationRows, pa.Table]]
    ids: Sequence[str]
    time: int


FolderChanges = Sequence[tuple[RelationRows, LocalTable]]
"""The changes of an epoch, relation by relation."""


class FolderWriter:
    """Writes epochs to a folder. `passing` are the relations of which no earlier rows are needed, `depth` is
    the number of epochs before the last that have to be told apart. See `durability.log.EpochWriter`."""

    def __init__(
        self,
        folder: StateFolder,
        program: Mapping[str, str],
        relations: Sequence[Stored],
        passing: Collection[int],
        depth: int,
    ) -> None:
        self._folder, self._program, self._relations = folder, program, relations
        self._passing, self._depth = passing, depth
        self._staged: list[tuple[FolderSpan, Sequence[Draft]]] = []  # in files that nothing names yet

    @property
    def place(self) -> str:
        return self._folder.root

    def rows(self, changes: FolderChanges) -> int:
        return sum([int(table.local.num_rows) for _, table in changes])

    def taken(self, epoch: int, changes: FolderChanges, ids: Sequence[str], waits: bool) -> FolderEpoch:
        held = [(rows, table.local.select([*rows.columns, "w"])) for rows, table in changes]
        return FolderEpoch(epoch, held, ids, int(time.time()))

    def write(self, epochs: Sequence[FolderEpoch]) -> None:
        made = list[Draft]()
        try:
            self._staged += list(self._spans(epochs, made))
        except BaseException:
            self._discard(made)
            raise

    def finish(self) -> None:
        """Lets a manifest name all that is written."""
        if self._staged:
            self._folder.extend([span for span, _ in self._staged], self._program, self._relations)
            self._staged = []

    def drop(self, epoch: FolderEpoch) -> None:
        if self._staged and self._staged[-1][0].last == epoch.epoch:
            self._discard(self._staged.pop()[1])

    def shown(self, manifest: Manifest) -> Manifest:
        """A manifest of the folder with the epochs that are written, and do not last yet."""
        spans = [span for span, _ in self._staged]
        whole = (*manifest.spans, *spans)
        return replace(manifest, epoch=spans[-1].last, spans=whole) if spans else manifest

    def _spans(
        self, waiting: Sequence[FolderEpoch], made: list[Draft]
    ) -> Iterator[tuple[FolderSpan, Sequence[Draft]]]:
        """Some epochs as spans with files, and where these are. Adds new places to `made`, also if it
        fails."""
        apart = len(waiting) if len(waiting) <= _APART else self._depth + 1
        together, others = waiting[: len(waiting) - apart], waiting[len(waiting) - apart :]
        for group in ([together] if together else []) + [[each] for each in others]:
            known = len(made)
            span = self._span(group, made)
            yield span, made[known:]

    def _span(self, group: Sequence[FolderEpoch], drafts: list[Draft]) -> FolderSpan:
        """Some epochs as one span, with the sum of their changes."""
        passing = self._passing if len(group) > 1 else ()
        together: dict[int, list[tuple[RelationRows, pa.Table]]] = {}
        for each in group:
            for rows, table in each.rows:
                if rows.id not in passing:
                    together.setdefault(rows.id, []).append((rows, table))
        parts = list[RowFiles]()
        if together:
            draft = self._folder.draft()
            drafts.append(draft)
            for some in together.values():
                rows = some[0][0]
                with _holding(rows):
                    whole = some[0][1] if len(some) == 1 else rows.sum(None, [table for _, table in some])
                    if whole.num_rows:
                        parts.append(rows.write(self._folder.files, draft.folder, whole))
        ids = [id for each in group for id in each.ids]
        return FolderSpan(
            group[0].epoch, group[-1].epoch, "epochs", tuple(parts), tuple(ids),
            folded=len(group) > 1, time=group[-1].time,
        )  # fmt: skip

    def _discard(self, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            self._folder.discard(draft)


@contextmanager
def _holding(rows: RelationRows) -> Iterator[None]:
    """Turns values that no file can hold inside into DDlogErrors."""
    try:
        yield
    except ValueError as error:
        raise DDlogError([ValueNotKept(rows.name, str(error))]) from None
