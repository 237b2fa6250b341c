"""Folding of a state in a folder: spans that follow each other become one, with the sum of their changes.

As in a file (`ddlog.durability.folding`), newer spans are folded until they hold about as much as the one
before them, so that a row is written again a number of times that is the logarithm of the state's size. A
thread does it, in a Spark session of its own; a commit waits only for the manifest. What was folded stays as
history (`past.py`).
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...errors.diagnostics import DDlogError
from .contents import RowReader, SignedPart
from .folder import StateFolder
from .manifest import FolderSpan, RowFiles, StoredFile
from .past import Piece, grown, joined, loose, packed
from .rows import FEW, RelationRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANY = 64
"""The number of loose spans that are worth a fold."""


class Folding:
    """Folds the spans of a folder. `passing` are the relations of which no earlier rows are needed, `depth`
    is the number of epochs before the last that have to be told apart. Relations without `rows` stay as they
    are. `spark` None: there are few rows."""

    def __init__(
        self,
        folder: StateFolder,
        spark: SparkSession | None,
        rows: Mapping[int, RelationRows],
        passing: Collection[int],
        depth: int,
    ) -> None:
        self._folder, self._spark, self._rows = folder, spark, rows
        self._passing, self._depth = passing, depth
        self._one_at_a_time = threading.Lock()

    def fold_if_due(self) -> None:
        """Folds spans, if there are many. Raises what `fold` does."""
        if len(self._folder.manifest.spans) >= MANY:
            self.fold()

    def fold(self, whole: bool = False) -> bool:
        """Folds spans, if there are enough; `whole`: all that may be, without history. Raises DDlogError,
        OSError and what Spark raises; then the spans stand."""
        with self._one_at_a_time:
            chosen = self._all() if whole else self._chosen()
            return bool(chosen) and self._fold(chosen, whole)

    def _fold(self, chosen: Sequence[FolderSpan], whole: bool) -> bool:
        draft = self._folder.draft()
        try:
            folded = self._folded(chosen, draft.folder)
            past = None if whole else self._history(chosen, folded, draft.folder)
            self._folder.replace(chosen, folded, past)
        except BaseException:
            self._folder.discard(draft)
            raise
        return True

    def ids(self) -> set[str]:
        """The ids of all updates that were applied."""
        return set(applied(self._folder, self._folder.manifest.spans))

    def _chosen(self) -> Sequence[FolderSpan]:
        """The spans to be folded together: the newest that may be, and those before them that are not much
        larger."""
        able = self._able()
        if len(able) < max(2, MANY // 2):
            return ()
        start, rows = len(able) - 1, able[-1].rows
        while start and (
            able[start - 1].rows <= 2 * rows
            or len(able) - start < MANY // 2
            or able[start].kind != "epochs"  # what was added to an epoch goes with it
        ):
            start -= 1
            rows += able[start].rows
        return able[start:]

    def _all(self) -> Sequence[FolderSpan]:
        """All spans that may be folded, if that changes anything."""
        able = self._able()
        past = any(part.relation in self._passing for span in able for part in span.parts)
        return able if len(able) > 1 or past else ()

    def _able(self) -> list[FolderSpan]:
        """The spans of epochs that need not be told apart."""
        manifest = self._folder.manifest
        return [span for span in manifest.spans if span.last <= manifest.epoch - self._depth - 1]

    def _folded(self, spans: Sequence[FolderSpan], folder: str) -> FolderSpan:
        parts: dict[int, list[RowFiles]] = {}
        dropped: list[RowFiles] = []
        for part in (part for span in spans for part in span.parts):
            if part.relation in self._rows and part.relation not in self._passing:
                parts.setdefault(part.relation, []).append(part)
            elif part.relation not in self._passing:
                dropped.append(part)
        summed = [self._summed(self._rows[id], some, folder) for id, some in parts.items()]
        epochs = [span for span in spans if span.kind == "epochs"]
        kept = tuple(part for part in (*summed, *dropped) if part.rows)
        ids = self._id_files(spans, folder)
        return FolderSpan(epochs[0].first, epochs[-1].last, "epochs", kept, (), ids, folded=True)

    def _history(self, spans: Sequence[FolderSpan], folded: FolderSpan, folder: str) -> StoredFile | None:
        """The history with the epochs of some spans, as a file that names it."""
        manifest, files = self._folder.manifest, self._folder.files
        more = loose(spans, manifest.migrated)
        if not more:
            return manifest.past
        current = [folded, *(span for span in manifest.spans if span not in spans)]

        def join(group: Sequence[Piece], name: str) -> Piece:
            return joined(files, self._rows, group, f"{folder}/{name}")

        size = sum(each.bytes for span in current for each in span.files())
        known = self._folder.past()
        while True:
            try:
                pieces = grown([*known, *more], size, join)
                break
            except DDlogError:  # a damaged history must not keep the state from being folded
                if not known:
                    raise
                known = known[1:]
        return self._written(f"{folder}/past.json", packed(pieces))

    def _summed(self, rows: RelationRows, parts: Sequence[RowFiles], folder: str) -> RowFiles:
        many = self._spark is not None and sum(part.rows for part in parts) > FEW
        spark = self._spark.newSession() if self._spark is not None and many else None
        reader = RowReader({rows.id: rows}, self._folder.files, spark)
        found = reader.sum_of([SignedPart(part) for part in parts], apart=False)
        return rows.keep(self._folder.files, folder, found, spark)

    def _id_files(self, spans: Sequence[FolderSpan], folder: str) -> tuple[StoredFile, ...]:
        ids = list(applied(self._folder, spans))
        if not ids:
            return ()
        return (self._written(f"{folder}/ids.json", json.dumps(ids).encode()),)

    def _written(self, name: str, data: bytes) -> StoredFile:
        self._folder.files.write(name, data)
        return StoredFile(name, len(data), zlib.crc32(data))


def applied(folder: StateFolder, spans: Iterable[FolderSpan]) -> Iterator[str]:
    """The ids of the updates that were applied in some spans."""
    for span in spans:
        for each in span.id_files:
            yield from json.loads(folder.files.read(each.name))
        yield from span.ids
