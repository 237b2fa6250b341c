"""The rows of relations after an epoch, and their changes by epochs, from the files of a state: on the driver
where the rows are few, on the executors where they are many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ...durability.chains import following
from ...durability.history import Cut, History
from ...durability.records import Stored
from .folder import StateFolder, of_newest, past_of
from .manifest import FolderSpan, Manifest, RowFiles, StoredFile
from .past import Piece, loose
from .rows import FEW, FolderTable, RelationRows, negated

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .files import Files

SpanLike: TypeAlias = FolderSpan | Piece
FolderHistory: TypeAlias = "History[SpanLike, FolderTable]"


@dataclass(frozen=True, slots=True)
class SignedPart:
    """Rows of a part to be added, or taken away; only those of the `epochs` between two, if rows say them."""

    part: RowFiles
    sign: int = 1
    epochs: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class RowReader:
    """How the rows of relations, by their ids, are read. See `ddlog.durability.history.SpanRows`."""

    rows: Mapping[int, RelationRows]
    files: Files
    spark: SparkSession | None

    def sum(self, stored: Stored, some: Sequence[Cut[SpanLike]]) -> list[FolderTable]:
        taken = parts_of(some, stored)
        return [self.sum_of(taken)] if taken else []

    def count(self, stored: Stored, some: Sequence[Cut[SpanLike]]) -> int:
        found, taken = self.rows.get(stored.id), parts_of(some, stored)
        whole = sum(each.part.rows for each in taken if each.epochs is None)
        apart = [each for each in taken if each.epochs is not None]
        return whole + sum(self._rows_of(found, each) for each in apart) if found else 0

    def _rows_of(self, rows: RelationRows, apart: SignedPart) -> int:
        return int(rows.read(self.files, [apart.part], apart.epochs).num_rows)

    def sum_of(self, taken: Sequence[SignedPart], apart: bool = True) -> FolderTable:
        """The sum of rows of one relation. `apart`: no part has a row twice. Raises OSError, ValueError."""
        alike: dict[tuple[int, tuple[int, int] | None], list[RowFiles]] = {}
        for each in taken:
            alike.setdefault((each.sign, each.epochs), []).append(each.part)
        rows, found = self.rows[taken[0].part.relation], list[FolderTable]()
        spark = self.spark if sum(each.part.rows for each in taken) > FEW else None
        for (sign, epochs), parts in alike.items():
            if spark is None:
                read: FolderTable = rows.read(self.files, parts, epochs)
            else:
                read = rows.read_frame(spark, self.files, parts, epochs)
            found.append(negated(read) if sign < 0 else read)
        once = apart and len(taken) == 1 and taken[0].sign > 0
        return found[0] if once else rows.sum(spark, found)


def history_of(manifest: Manifest, pieces: Sequence[Piece], last: int, reading: RowReader) -> FolderHistory:
    """The history of a folder up to an epoch, of which `pieces` are the parts."""
    fine = following([*pieces, *loose(manifest.spans, manifest.migrated)], manifest.epoch)
    return History(manifest.spans, fine, last, reading)


def files_of(history: FolderHistory, first: int) -> dict[str, StoredFile]:
    """The files with what holds now, and with the changes of an epoch and later ones, by their names."""
    spans = (*history.current, *(each for each in history.fine if each.last >= first))
    return {each.name: each for span in spans for each in span.files()}


def parts_of(some: Iterable[Cut[Any]], stored: Stored) -> list[SignedPart]:
    """The rows of a relation in spans, part by part."""
    found: list[SignedPart] = []
    for cut in some:
        apart = isinstance(cut.span, Piece) and cut.span.apart
        if cut.whole or apart or cut.has_last:
            epochs = None if cut.whole or not apart else (cut.first, cut.last)
            parts = (part for part in cut.span.parts if part.relation == stored.id and part.rows)
            found += [SignedPart(part, cut.sign, epochs) for part in parts]
    return found


def latest(folder: StateFolder) -> tuple[Manifest, tuple[Piece, ...]]:
    """A manifest whose files are there, with its history: a state that is only read may have been folded by
    its writer. Raises DDlogError and OSError."""
    if not folder.read_only:
        return folder.manifest, folder.past()
    return of_newest(folder.files, lambda manifest: (manifest, past_of(folder.files, manifest)))
