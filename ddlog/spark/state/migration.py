"""`--migrate` of a state in a folder: rows in the form that other columns give them, as new parts.

The driver converts the rows in pieces of bounded size, also where they are many. Columns that are as before
are not looked into. The old parts stay, as those of a relation that is dropped.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ...core import Column, Relation
from ...durability.forms import RelationForm, Rows
from ...durability.history import History, cuts
from ...durability.inputs import definitions
from ...durability.migration import Migration
from ...durability.records import Stored
from ...engine.schema import Column as RowColumn
from ...engine.spark.tables import arrow_schema
from ...errors.diagnostics import DDlogError
from ...errors.state import CannotMigrate, KeyOfSeveral
from ...io.arrowfiles import checked
from ...sessions.results.records import RecordColumns
from ...types import BigInt, Bit, Bool, Signed, String, Type
from ...values.layouts import Layouts
from ...values.shapes import is_option
from ..types.codec import SparkCodec
from .contents import FolderHistory, RowReader, SignedPart, parts_of
from .folder import StateFolder
from .manifest import FolderSpan, RowFiles
from .relations import defined, stored_rows, stored_types, unclear
from .rows import FolderTable, RelationRows, negated

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

PIECE: Final = 1 << 18
"""The rows that are converted at once."""


class Conversion:
    """The rows of a relation as a state has them become those of a relation of the program. Raises DDlogError
    if that is not possible whatever the rows are."""

    def __init__(
        self,
        root: str,
        old: Stored,
        new: Stored,
        relation: Relation,
        codec: SparkCodec,
        fill: Mapping[str, Any],
    ) -> None:
        self.old, self.new, self._relation, self._codec = old, new, relation, codec
        self._root = root
        self._migration = Migration(root, codec.typedefs, fill)
        self._typedefs = stored_types(old, codec.typedefs)
        self._coded = SparkCodec(self._typedefs)
        self.before = stored_rows(root, old, self._typedefs)
        self.after = RelationRows(new.id, relation, codec)
        self._places = {name: place for place, (name, _) in enumerate(old.columns)}
        self._kept = {each.name for each in relation.columns if self._same(each)}
        others = {n: t for n, t in self._typedefs.items() if t is not codec.typedefs.get(n)}
        wrong = unclear(others)
        if wrong:
            reason = f"the definition of {wrong}, which has several parameters, is another one"
            raise self._refused(relation.name, wrong, wrong, reason)

    def _same(self, each: Column) -> bool:
        """Whether a column is as before."""
        if dict(self.old.columns).get(each.name) != str(each.type):
            return False
        known = defined(self.old)
        now = definitions([str(each.type)], self._codec.typedefs)
        return all(f"{name}: {known.get(name)}" in now for name in (text.partition(": ")[0] for text in now))

    @property
    def may_join(self) -> bool:
        """Whether different rows may become the same."""
        names = {each.name for each in self._relation.columns}
        if not names.issuperset(self._places):
            return True
        changed = [each for each in self._relation.columns if each.name not in self._kept]
        return any(each.name in self._places and not _is_plain(self._type(each.name)) for each in changed)

    def _type(self, name: str) -> Type:
        found: Type = self.before.schema[self._places[name]].type
        return found

    def twice(self) -> DDlogError:
        """The error for a row that is there more than once, and cannot be."""
        return self._migration.twice(self.old, self._relation)

    def converted(self, rows: pa.Table) -> pa.Table:
        """Rows of the driver in their new form, with their weights. Raises DDlogError for a value that would
        lose something."""
        import pyarrow as pa

        wanted = arrow_schema(self._codec, self.after.schema)
        columns = [
            self._column(rows, each, of)
            for each, of in zip(self._relation.columns, self.after.schema, strict=True)
        ]
        return pa.Table.from_arrays([*columns, rows.column("w")], schema=wanted)

    def _column(self, rows: pa.Table, declared: Column, of: RowColumn) -> pa.Array | pa.ChunkedArray:
        import pyarrow as pa

        name = declared.name
        if name in self._kept:
            return rows.column(self._places[name])
        table, codes = rows.slice(0, rows.num_rows).select([]), None
        if name in self._places:
            table, codes = self._plain(rows, name)
        values, places = self._migration.column(self.old, self._relation, declared, table)
        try:
            made = self._codec.encode(of, values)
        except ValueError as error:
            old = dict(self.old.columns).get(name, "")
            raise self._refused(
                f"{self._relation.name}.{name}", old, str(declared.type), str(error)
            ) from None
        found = made.take(pa.array(places))
        return found if codes is None else found.take(codes)

    def _plain(self, rows: pa.Table, name: str) -> tuple[pa.Table, pa.Array | None]:
        """The different values of a column in the form of a state in a file, and the number of each row's;
        or the values of all rows."""
        import pyarrow as pa

        place = self._places[name]
        column, codes = rows.column(place).combine_chunks(), None
        if _is_plain(self._type(name)) and not pa.types.is_nested(column.type):
            coded = column.dictionary_encode()
            column, codes = coded.dictionary, coded.indices
        values = self._coded.decode(self.before.schema[place], column)
        columns = RecordColumns([(name, self._type(name))], Layouts(self._typedefs)).apart([values])
        form = RelationForm([Column(name, self._type(name))], self._typedefs)
        return pa.Table.from_batches([form.batch(Rows(columns, None, None, len(values)))]), codes

    def _refused(self, column: str, old: str, new: str, reason: str) -> DDlogError:
        return DDlogError([CannotMigrate(self._root, column, old, new, reason)])


def _is_plain(of: Type) -> bool:
    """Whether different values of a type stay different in whatever form they get."""
    return isinstance(of.args[0] if is_option(of) else of, Bit | Signed | BigInt | Bool | String)


class Migrating:
    """Writes the rows of relations in their new form to a folder of files that nothing names yet."""

    def __init__(
        self, folder: StateFolder, draft: str, scratch: str, spark: SparkSession, depth: int
    ) -> None:
        """`scratch` is a folder of files that are over when all is written, `depth` the number of epochs
        before the last that have to be told apart."""
        self._files, self._manifest = folder.files, folder.manifest
        self._draft, self._scratch, self._spark, self._depth = draft, scratch, spark, depth
        self._names = 0

    def spans(
        self, conversions: Sequence[Conversion], keys: Mapping[int, Callable[..., Any]]
    ) -> list[FolderSpan]:
        """The spans with the rows of relations: what they held before the last epochs, and the changes of
        these, which may be read with a delay. `keys` are the primary keys by the relations' new ids. Raises
        DDlogError, OSError and what Spark raises."""
        found: dict[int, list[RowFiles]] = {}
        for each in conversions:
            if (each.old.kind == "stream") != (each.new.kind == "stream"):
                continue
            parts = self._parts(each)
            if each.new.id in keys:
                self._check_key(each, [part for _, part in parts], keys[each.new.id])
            for epoch, part in parts:
                found.setdefault(epoch, []).append(part)
        found.setdefault(self._manifest.epoch, [])
        return [FolderSpan(epoch, epoch, "migrated", tuple(found[epoch])) for epoch in sorted(found)]

    def _parts(self, of: Conversion) -> list[tuple[int, RowFiles]]:
        """The rows of a relation by the epochs whose changes they are."""
        now, old = self._manifest.epoch, of.old
        reading = RowReader({old.id: of.before}, self._files, self._spark)
        contents: FolderHistory = History(self._manifest.spans, self._manifest.spans, now, reading)
        first = max(0, now - self._depth)
        if old.kind == "multiset" and of.new.kind == "relation":
            self._check_once(of, contents, range(first, now + 1))
        taken: list[tuple[int, RowFiles]] = []
        for epoch in range(first, now + 1):
            before = epoch == first and old.kind != "stream"
            some = cuts(self._manifest.spans, 1 if before else epoch, epoch)
            parts = [each.part for each in parts_of(some, old)]
            if len(parts) == 1:
                tables = self._pieces(of.before, parts)
            else:
                tables = self._summed(of.before, (contents.held if before else contents.of_epoch)(old, epoch))
            part = self._written(of.after, map(of.converted, tables))
            if part.rows:
                taken.append((epoch, part))
        return self._joined(of, taken) if of.may_join else taken

    def _check_once(self, of: Conversion, contents: FolderHistory, epochs: Iterable[int]) -> None:
        """Raises DDlogError if a row of a multiset was there more than once after an epoch."""
        import pyarrow.compute as pc

        for epoch in epochs:
            for rows in self._summed(of.before, contents.held(of.old, epoch)):
                if (pc.max(rows.column("w")).as_py() or 0) > 1:
                    raise of.twice()

    def _joined(self, of: Conversion, parts: Sequence[tuple[int, RowFiles]]) -> list[tuple[int, RowFiles]]:
        """The parts with equal rows as one; a set has each once."""
        found: list[tuple[int, RowFiles]] = []
        reading = RowReader({of.after.id: of.after}, self._files, self._spark)
        is_set, before = of.new.kind == "relation", None
        for number, (epoch, part) in enumerate(parts):
            taken = [each for _, each in parts[: number + 1]] if is_set else [part]
            held = reading.sum_of(list(map(SignedPart, taken)), apart=False)
            changed = held = _once(held) if is_set else held
            if is_set and before is not None:
                changed = of.after.sum(self._spark, [held, negated(before)])
            before = held
            written = self._stored(of.after, changed)
            if written.rows:
                found.append((epoch, written))
        return found

    def _check_key(self, of: Conversion, parts: Sequence[RowFiles], key_of: Callable[..., Any]) -> None:
        """Raises DDlogError if two rows have the same primary key."""
        known, count = set[Any](), 0
        reading = RowReader({of.after.id: of.after}, self._files, self._spark)
        single = len(parts) == 1
        tables = self._pieces(of.after, parts) if single else self._summed(
            of.after, [reading.sum_of(list(map(SignedPart, parts)))] if parts else []
        )  # fmt: skip
        for rows in tables:
            known.update(map(key_of, zip(*of.after.decoded(rows), strict=True)))
            count += rows.num_rows
        if len(known) < count:
            raise DDlogError([KeyOfSeveral(of.new.name)])

    # ------------------------------------------------------------- reading and writing

    def _pieces(self, rows: RelationRows, parts: Iterable[RowFiles]) -> Iterator[pa.Table]:
        """The rows of parts, some at a time."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for each in (each for part in parts for each in part.files):
            file = pq.ParquetFile(io.BytesIO(self._files.read(each.name)))
            for batch in file.iter_batches(batch_size=PIECE):
                yield rows.taken(checked(partial(pa.Table.from_batches, [batch])))

    def _summed(self, rows: RelationRows, sums: Iterable[FolderTable]) -> Iterator[pa.Table]:
        """Sums of rows, some at a time."""
        import pyarrow as pa

        for held in sums:
            if isinstance(held, pa.Table):
                yield from (held.slice(start, PIECE) for start in range(0, held.num_rows, PIECE))
            else:
                yield from self._pieces(rows, [self._stored(rows, held, self._scratch)])

    def _written(self, rows: RelationRows, tables: Iterable[pa.Table]) -> RowFiles:
        """Rows of the driver as a part of several files."""
        parts = [rows.write(self._files, self._place(self._draft), table) for table in _gathered(tables)]
        files = tuple(each for part in parts for each in part.files)
        least = min((part.least for part in parts), default=0)
        return RowFiles(rows.id, sum(part.rows for part in parts), least, files)

    def _stored(self, rows: RelationRows, held: FolderTable, folder: str = "") -> RowFiles:
        """A sum of rows as a part."""
        import pyarrow as pa

        if isinstance(held, pa.Table):
            return self._written(rows, [held] if held.num_rows else [])
        return rows.keep(self._files, self._place(folder or self._draft), held, self._spark)

    def _place(self, folder: str) -> str:
        """A new folder."""
        self._names += 1
        return f"{folder}/{self._names}"


def _gathered(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The rows in larger tables."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(each.num_rows for each in waiting) >= PIECE:
            yield pa.concat_tables(waiting).combine_chunks()
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting).combine_chunks()


def _once(held: FolderTable) -> FolderTable:
    """The rows, each once."""
    import pyarrow as pa

    if isinstance(held, pa.Table):
        at = held.num_columns - 1
        return held.set_column(at, held.field(at), pa.array([1] * held.num_rows, pa.int64()))
    return held.selectExpr(*held.columns[:-1], "1L AS w")
