"""The reports of `ddlog state` about a state in a folder, and its actions on one, without its program.

Spark is started only for a folder that is not on this machine, and for many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...durability.history import cuts
from ...durability.records import Stored
from ...durability.reports import exported_relations, report, write_export
from ...durability.typetexts import relation_of, types_of
from ...engine.spark.sqltext import quoted
from ...errors.diagnostics import DDlogError, counted, system_errors
from ...errors.state import CannotUseState, NoState, NotInFolders, StateDamaged
from ...io.arrow import to_table
from ...io.filenames import file_name
from ..files.write import write_frame
from ..sessions.connect import open_session
from ..sessions.failures import spark_failures
from ..types.codec import SparkCodec
from .contents import RowReader, history_of, parts_of
from .files import Files, local_folder
from .folder import StateFolder, newest, past_of
from .folding import Folding, applied
from .locations import files_at, open_folder
from .manifest import Manifest, RowFiles, StoredFile, check_chain
from .relations import stored_rows, unclear
from .rows import FEW, WEIGHT, RelationRows, check_files, table_in

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def described(place: str) -> Iterator[str]:
    """Lines that say what a state holds. Raises DDlogError."""
    with _opened(place) as folder:
        known = folder.manifest
        history = history_of(known, folder.past(), known.epoch, RowReader({}, folder.files, spark=None))
        size = sum(each.bytes for each in folder.all_files().values())
        rows = [(each, _count(folder, _parts(known, each), place)) for each in known.relations]
        ids = len(set(applied(folder, known.spans)))
        spans, program = len(known.spans), known.program or {}
        yield from report(known.epoch, history.first, spans, size, program, rows, ids)


def checked(place: str) -> Iterator[str]:
    """Reads all of a state, and says that it is whole. Raises DDlogError that says what is lost, and what can
    be had."""
    try:
        with _opened(place) as folder:
            epoch = folder.manifest.epoch
            check_files(_spark(place), folder.files, list(folder.all_files().values()))
    except DDlogError as error:
        if any(isinstance(each, StateDamaged) for each in error.diagnostics):
            _check_each(place)
        raise
    yield f"epoch {epoch:,}: all of it is as it was written"


def exported(place: str, directory: str) -> Iterator[str]:
    """Writes each input relation of a state to a Parquet file of a directory; Spark writes many rows to a
    folder of Parquet files. Raises DDlogError."""
    with _opened(place) as folder:
        for stored in exported_relations(folder.manifest.relations):
            yield _exported(folder, stored, directory)


def compacted(place: str) -> Iterator[str]:
    """Folds all spans into one, but for those that have to be told apart, and removes history and dropped
    relations. Raises DDlogError."""
    with _opened(place, read_only=False) as folder:
        known = folder.manifest
        gone = {each.id for each in known.relations if each.dropped}
        kept = [each for each in known.relations if not each.dropped]
        before = sum(each.bytes for each in folder.all_files().values())
        if gone or known.past is not None:
            spans = tuple(
                replace(span, parts=tuple(part for part in span.parts if part.relation not in gone))
                for span in known.spans
            )
            folder.publish(replace(known, relations=tuple(kept), spans=spans, past=None))
        passing = {each.id for each in kept if each.kind == "stream"}
        rows = {each.id: _rows(folder, each) for each in kept if each.id not in passing}
        many = any(sum(part.rows for part in _parts(known, each)) > FEW for each in kept)
        depth = int((known.program or {}).get("depth", "0"))
        Folding(folder, open_session() if many else None, rows, passing, depth).fold(whole=True)
        folder.sweep(whole=True)
        yield f"{before:,} bytes before, {sum(each.bytes for each in folder.manifest.files()):,} now"


@contextmanager
def _opened(place: str, read_only: bool = True) -> Iterator[StateFolder]:
    """The state, checked. Raises DDlogError."""
    spark = _spark(place)
    if newest(files_at(place, spark)) is None:
        raise DDlogError([NoState(place)])
    with spark_failures():
        folder = open_folder(place, spark, read_only, create=False)
        try:
            with system_errors(CannotUseState, place):
                yield folder
        finally:
            folder.close()


def _spark(place: str) -> SparkSession | None:
    """The Spark session that the folder needs."""
    found: SparkSession | None = open_session() if local_folder(place) is None else None
    return found


def _parts(known: Manifest, stored: Stored) -> list[RowFiles]:
    """The rows of a relation as of the last epoch."""
    first = known.epoch if stored.kind == "stream" else 1
    return [each.part for each in parts_of(cuts(known.spans, first, known.epoch), stored)]


def _count(folder: StateFolder, parts: Iterable[RowFiles], place: str) -> int:
    """The sum of the weights of rows. Raises DDlogError and OSError."""
    import pyarrow.compute as pc

    found, spark = 0, _spark(place)
    for part in parts:
        if spark is not None and part.rows > FEW:
            urls = [folder.files.url(each.name) for each in part.files]
            found += int(spark.read.parquet(*urls).selectExpr(f"sum(`{WEIGHT}`)").collect()[0][0])
            continue
        for each in part.files:
            found += pc.sum(table_in(folder.files, each).column(WEIGHT)).as_py() or 0
    return found


def _check_each(place: str) -> None:
    """Raises DDlogError that says which files of a state are lost, and how many rows can be read; returns if
    that cannot be told."""
    spark = _spark(place)
    files = files_at(place, spark)
    known = newest(files)
    if known is None:
        return
    named = [*known.files(), *_history_files(spark, files, known)]
    lost = {each.name: wrong for each in named if (wrong := _problem(spark, files, [each]))}
    if not lost:
        check_chain(files.root, known)
        return
    readable, names = dict[int, int](), {each.id: each.name for each in known.relations}
    for part in (part for span in known.spans for part in span.parts):
        whole = all(each.name not in lost for each in part.files)
        readable[part.relation] = readable.get(part.relation, 0) + whole * part.rows
    more = f"; {len(lost) - 5} more" if len(lost) > 5 else ""
    left = ", ".join(
        f"{counted(rows, 'row')} of {names.get(id, id)}" for id, rows in readable.items() if rows
    )
    told = f"other files can be read, with changes of {left}" if left else ""
    raise DDlogError([StateDamaged(files.root, "; ".join([*lost.values()][:5]) + more, told)])


def _history_files(spark: SparkSession | None, files: Files, known: Manifest) -> list[StoredFile]:
    """The files of the history, if what names them can be read."""
    if known.past is None or _problem(spark, files, [known.past]):
        return []
    return [each for piece in past_of(files, known) for each in piece.files()]


def _problem(spark: SparkSession | None, files: Files, some: Sequence[StoredFile]) -> str:
    """The first fault of some files; empty: none."""
    try:
        check_files(spark, files, some)
    except DDlogError as error:
        return "; ".join(each.problem for each in error.diagnostics if isinstance(each, StateDamaged))
    except OSError as error:
        return f"{some[0].name}: {error.strerror or error}"
    return ""


def _rows(folder: StateFolder, stored: Stored) -> RelationRows:
    """The rows of a relation in files. Raises DDlogError if they cannot be read without the program."""
    _, typedefs = types_of(stored)
    wrong = unclear(typedefs)
    if wrong:
        what = f"rows of {stored.name} without the program, as the type {wrong} has several parameters"
        raise DDlogError([NotInFolders(folder.root, what, "let the program write them with --output")])
    return stored_rows(folder.root, stored, typedefs)


def _exported(folder: StateFolder, stored: Stored, directory: str) -> str:
    parts = _parts(folder.manifest, stored)
    rows, local = _rows(folder, stored), local_folder(directory)
    if local is None or sum(part.rows for part in parts) > FEW:
        name = _written(folder, stored, rows, parts, directory if local is None else f"file://{local}")
        return name if local is None else f"{Path(directory) / file_name(stored.name)}"
    found = rows.read(folder.files, parts)
    if len(parts) > 1:
        found = rows.sum(None, [found])
    return write_export(_table(rows, stored, found), directory, stored.name)


def _table(rows: RelationRows, stored: Stored, found: pa.Table) -> pa.Table:
    """Rows in the form in which the in-process engine gives them to others, each as often as it is there."""
    columns, typedefs = types_of(stored)
    data = rows.decoded(found)
    times = found.column("w").to_pylist()
    if not columns:
        return found.take([at for at, often in enumerate(times) for _ in range(often)]).select([])
    return to_table(columns, data, typedefs, times)


def _written(
    folder: StateFolder, stored: Stored, rows: RelationRows, parts: Sequence[RowFiles], directory: str
) -> str:
    """Lets Spark write a relation."""
    spark = open_session().newSession()
    spark.conf.set("spark.sql.caseSensitive", "true")
    relation, codec = relation_of(stored, folder.root), SparkCodec(types_of(stored)[1])
    frame = rows.read_frame(spark, folder.files, parts)
    if len(parts) > 1:
        frame = rows.sum(spark, [frame])
    named = ", ".join(
        f"{column} AS {quoted(each.name)}"
        for column, each in zip(rows.columns, relation.columns, strict=True)
    )
    repeated = frame.selectExpr(f"inline(array_repeat(struct({named}), CAST(w AS INT)))")
    once = replace(relation, kind="relation")
    return write_frame(repeated, None, codec, once, codec.typedefs, directory, "parquet")
