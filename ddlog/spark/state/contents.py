"""What relations held after an epoch, and how epochs changed them, from the files of a state: on the driver
where the rows are few, on the executors where they are many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...durability.chains import following
from ...durability.epoch_range import EpochRange
from ...durability.records import Stored
from ...errors.diagnostics import DDlogError
from ...errors.state import NoState
from .folder import StateFolder, newest, past_of
from .manifest import FolderSpan, Manifest, RowFiles, StoredFile
from .past import Piece, loose
from .rows import FEW, RelationRows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from .files import Files


@dataclass(frozen=True, slots=True)
class Signed:
    """Rows of a part to be added, or taken away; only those of the `epochs` between two, if rows say them."""

    part: RowFiles
    sign: int = 1
    epochs: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class RowReader:
    """How the rows of relations, by their ids, are read."""

    rows: Mapping[int, RelationRows]
    files: Files
    spark: SparkSession | None

    def sum(self, some: Iterable[Signed], apart: bool = True) -> pa.Table | DataFrame | None:
        """The sum of rows of one relation: columns c0, c1, … and `w`; None: there are none. `apart`: no part
        has a row twice. Raises OSError and ValueError."""
        taken = [each for each in some if each.part.rows]
        if not taken:
            return None
        rows = self.rows[taken[0].part.relation]
        once = apart and len(taken) == 1 and taken[0].sign > 0
        if sum(each.part.rows for each in taken) <= FEW or self.spark is None:
            read = self._table(rows, taken)
            return read if once else rows.summed(read)
        frame = self._frame(self.spark, rows, taken)
        return frame if once else rows.summed_frame(self.spark, frame)

    def minus(
        self, rows: RelationRows, one: pa.Table | DataFrame, other: pa.Table | DataFrame
    ) -> pa.Table | DataFrame:
        """The difference of two sums of a relation."""
        import pyarrow as pa

        if isinstance(one, pa.Table) and isinstance(other, pa.Table):
            return rows.summed(pa.concat_tables([one, _negated(other)]).combine_chunks())
        assert self.spark is not None
        more, less = (
            self.spark.createDataFrame(each) if isinstance(each, pa.Table) else each for each in (one, other)
        )
        return rows.summed_frame(self.spark, more.unionAll(less.selectExpr(*rows.columns, "-w AS w")))

    def plus(self, rows: RelationRows, some: Sequence[pa.Table | DataFrame]) -> pa.Table | DataFrame | None:
        """The sum of sums of a relation; None: there are none."""
        import pyarrow as pa

        if len(some) < 2:
            return some[0] if some else None
        tables = [each for each in some if isinstance(each, pa.Table)]
        if len(tables) == len(some):
            return rows.summed(pa.concat_tables(tables).combine_chunks())
        assert self.spark is not None
        first, *others = (
            self.spark.createDataFrame(each) if isinstance(each, pa.Table) else each for each in some
        )
        for frame in others:
            first = first.unionAll(frame)
        return rows.summed_frame(self.spark, first)

    def _table(self, rows: RelationRows, taken: Sequence[Signed]) -> pa.Table:
        import pyarrow as pa

        plain = [each.part for each in taken if each.sign > 0 and each.epochs is None]
        found = [rows.read(self.files, plain)]
        for each in taken:
            if each.sign < 0 or each.epochs is not None:
                found.append(self._part(rows, each))
        return pa.concat_tables(found).combine_chunks()

    def _part(self, rows: RelationRows, taken: Signed) -> pa.Table:
        if taken.epochs is None:
            found = rows.read(self.files, [taken.part])
        else:
            found = rows.of_epochs(self.files, [taken.part], *taken.epochs)
        return found if taken.sign > 0 else _negated(found)

    def _frame(self, spark: SparkSession, rows: RelationRows, taken: Sequence[Signed]) -> DataFrame:
        alike: dict[tuple[int, tuple[int, int] | None], list[RowFiles]] = {}
        for each in taken:
            alike.setdefault((each.sign, each.epochs), []).append(each.part)
        found: DataFrame | None = None
        for (sign, epochs), parts in alike.items():
            frame = rows.read_frame(spark, self.files, parts, epochs)
            if sign < 0:
                frame = frame.selectExpr(*rows.columns, "-w AS w")
            found = frame if found is None else found.unionAll(frame)
        assert found is not None
        return found


def _negated(rows: pa.Table) -> pa.Table:
    import pyarrow.compute as pc

    at = rows.num_columns - 1
    return rows.set_column(at, rows.field(at), pc.negate(rows.column(at)))


class Told(Protocol):
    """What a state tells of its relations. The methods raise OSError and ValueError."""

    def held(self, stored: Stored, epoch: int) -> pa.Table | DataFrame | None:
        """What a relation held as of an epoch; of a stream, its elements in it. None: nothing."""

    def of_epoch(self, stored: Stored, epoch: int) -> pa.Table | DataFrame | None:
        """How an epoch changed a relation; of a stream, its elements. None: not at all."""


class Contents:
    """What the current spans tell: all of the last epoch, and of as many before it as stand by themselves."""

    def __init__(self, manifest: Manifest, reading: RowReader) -> None:
        self._manifest, self._reading = manifest, reading

    def held(self, stored: Stored, epoch: int) -> pa.Table | DataFrame | None:
        first = epoch if stored.kind == "stream" else 1
        return self._reading.sum(map(Signed, self.parts(stored, first, epoch)))

    def of_epoch(self, stored: Stored, epoch: int) -> pa.Table | DataFrame | None:
        return self._reading.sum(map(Signed, self.parts(stored, epoch, epoch)))

    def parts(self, stored: Stored, first: int, last: int) -> list[RowFiles]:
        """The rows of a relation in the spans that end in some epochs."""
        return parts_of(self._manifest.spans, stored, first, last)


def parts_of(spans: Iterable[FolderSpan], stored: Stored, first: int, last: int) -> list[RowFiles]:
    """The rows of a relation in the spans that end in some epochs."""
    return [
        part
        for span in spans
        if first <= span.last <= last
        for part in span.parts
        if part.relation == stored.id and part.rows
    ]


class History(EpochRange):
    """What the state tells of earlier epochs, too.

    now:      ████████████████████ (epochs 1 to 190, folded) █ █ █
    history:        █ █ ██████ (epochs 100 to 190)
    at 120:   what the spans hold that begin before it, minus the changes of the epochs 121 to 190
    """

    def __init__(self, manifest: Manifest, pieces: Sequence[Piece], last: int, reading: RowReader) -> None:
        """`last` is the last epoch to be told of."""
        self._manifest, self.last, self._reading = manifest, last, reading
        self.pieces = following([*pieces, *loose(manifest.spans, manifest.migrated)], manifest.epoch)

    @property
    def first(self) -> int:
        return self.pieces[0].first if self.pieces else self._manifest.epoch + 1

    def held(self, stored: Stored, epoch: int) -> pa.Table | DataFrame | None:
        if stored.kind == "stream":
            return self.of_epoch(stored, epoch)
        begun = [span for span in self._manifest.spans if span.first <= epoch]
        last = max((span.last for span in begun), default=epoch)
        parts = parts_of(begun, stored, 1, last)
        return self._reading.sum([*map(Signed, parts), *self._changes(stored, epoch + 1, last, -1)])

    def of_epoch(self, stored: Stored, epoch: int) -> pa.Table | DataFrame | None:
        return self._reading.sum(self._changes(stored, epoch, epoch, 1))

    def _changes(self, stored: Stored, first: int, last: int, sign: int) -> Iterator[Signed]:
        """The changes of a relation in some epochs."""
        for piece in self.pieces:
            if piece.last < first or piece.first > last:
                continue
            between = (max(first, piece.first), min(last, piece.last))
            for part in piece.parts:
                if part.relation == stored.id:
                    yield Signed(part, sign, between if piece.apart else None)

    def counts(self, epoch: int) -> dict[int, int]:
        found: dict[int, int] = {}
        rows, files, piece = self._reading.rows, self._reading.files, self._piece(epoch)
        for part in piece.parts:
            if part.relation in rows:
                of = rows[part.relation]
                count = of.of_epochs(files, [part], epoch, epoch).num_rows if piece.apart else part.rows
                found[part.relation] = found.get(part.relation, 0) + count
        return {relation: count for relation, count in found.items() if count}

    def time(self, epoch: int) -> float:
        piece = self._piece(epoch)
        return piece.times[epoch - piece.first]

    def _piece(self, epoch: int) -> Piece:
        (found,) = (piece for piece in self.pieces if piece.first <= epoch <= piece.last)
        return found

    def files(self, first: int) -> dict[str, StoredFile]:
        """The files with what holds now, and with the changes of an epoch and later ones, by their names."""
        pieces = (each for piece in self.pieces if piece.last >= first for each in piece.files())
        return {each.name: each for each in (*self._manifest.files(), *pieces)}


def latest(folder: StateFolder) -> tuple[Manifest, tuple[Piece, ...]]:
    """A manifest whose files are there, with its history: a state that is only read may have been folded by
    its writer. Raises DDlogError and OSError."""
    if not folder.read_only:
        return folder.manifest, folder.past()
    tried = -1
    while True:
        manifest = newest(folder.files)
        if manifest is None:
            raise DDlogError([NoState(folder.root)])
        try:
            return manifest, past_of(folder.files, manifest)
        except FileNotFoundError:
            if manifest.number == tried:
                raise
            tried = manifest.number  # a writer went on
