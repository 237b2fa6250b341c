"""Batches of followed files that Spark finds, as changes. The files of a batch apply in the order of their
times and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import Relation
from ..io.files import split_name
from ..io.refusals import Refuse
from ..sessions.session import Session
from ..values.rows import Row
from .folderchanges import FolderChanges
from .followedfiles import OP, is_columnar, spark_reads
from .notes import Note

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..spark.streaming.epochs import StreamEpochs
    from ..spark.streaming.inputchange import InputChange

_LARGE = 16 << 20  # bytes from which on Spark reads a file of facts


class Batches:
    """Turns the files that Spark finds into changes, a batch at a time."""

    def __init__(
        self, session: Session, epochs: StreamEpochs, home: Path, note: Note, refuse: Refuse | None = None
    ) -> None:
        self._session, self._epochs = session, epochs
        self._folder = FolderChanges(session, home, note, refuse)

    @contextmanager
    def changes(self, frame: DataFrame) -> Iterator[list[InputChange]]:
        """The changes of one batch. Raises DDlogError."""
        from ..spark.streaming.inputchange import RowsChange

        found = sorted((row.modificationTime, _local(row.path), row.length) for row in frame.collect())
        changes: list[InputChange] = []
        rows: dict[str, list[tuple[Row, int]]] = {}

        def gathered() -> Iterator[InputChange]:
            yield from (RowsChange(relation, each) for relation, each in rows.items() if each)
            rows.clear()

        for _, name, length in found:
            large = self._read_by_spark(Path(name)) if length >= _LARGE else None
            if large is not None:
                changes += [*gathered(), large]
                continue
            for changed, row, op in self._folder.rows(Path(name)):
                rows.setdefault(changed, []).append((row, op))
        yield [*changes, *gathered()]

    def _read_by_spark(self, path: Path) -> InputChange | None:
        """A change of a large file, if Spark can read it itself."""
        relation = self._folder.relation(path)
        if relation is None:
            return None
        if is_columnar(path):
            return self._columnar(relation, path)
        if spark_reads(path) and self._folder.refuse is None and not self._folder.changes(path, relation):
            return self._large(relation, path)
        return None

    def _large(self, relation: Relation, path: Path) -> InputChange:
        """A change of a file of facts that Spark reads itself."""
        from ..spark.files.listing import SparkFile
        from ..spark.files.read import FactReader
        from ..spark.streaming.changelog import as_change, file_url
        from ..spark.streaming.inputchange import FrameChange

        named = split_name(path)
        assert named is not None
        columns = self._epochs.columns(relation.name)
        reader = FactReader(self._epochs.spark, columns.codec, self._session.typedefs)
        rows = reader.files(relation, [SparkFile(file_url(path, glob=True), named[1], path)])
        return FrameChange(relation.name, as_change(rows, columns, 1), (1,))

    def _columnar(self, relation: Relation, path: Path) -> InputChange:
        """A change of a Parquet file that Spark reads itself, which may say of each row whether it goes."""
        from ..spark.streaming.changelog import file_url
        from ..spark.streaming.inputchange import typed_change

        rows = self._epochs.spark.read.parquet(file_url(path, glob=True))
        columns = self._epochs.columns(relation.name)
        return typed_change(self._epochs.spark, rows, columns, self._session.typedefs, OP, str(path))


def _local(url: str) -> str:
    """The path of a file that Spark lists: as it is, without escapes."""
    return re.sub(r"\Afile:/+", "/", url)
