"""Batches of followed files as changes.

A file of facts inserts rows. A file of changes inserts and deletes rows, in order. The files of a batch apply
in the order of their times and names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import Relation
from ..errors.diagnostics import DDlogError
from ..errors.following import NotOfThisFolder
from ..io.files import split_name
from ..io.refusals import Refuse, stop
from ..sessions.session import Session
from ..values.rows import Row
from .followedfiles import OP, changes_in, facts_in, is_columnar, spark_reads
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
        self._session, self._epochs, self._home, self._note = session, epochs, home, note
        self._refuse = refuse
        self._inputs = session.program.names("input")
        self._passed: set[tuple[str, str]] = set()

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
            path = Path(name)
            relation = self._relation(path)
            if relation is None:
                continue
            program = self._session.program
            if length >= _LARGE and is_columnar(path):
                changes += [*gathered(), self._columnar(relation, path)]
                continue
            signed = changes_in(
                path, relation, program.relations, self._session.typedefs, self._refuse or stop
            )
            if signed is not None:
                for changed, row, op in signed:
                    self._check_input(path, changed)
                    rows.setdefault(changed, []).append((row, op))
            elif length >= _LARGE and spark_reads(path) and self._refuse is None:
                changes += [*gathered(), self._large(relation, path)]
            else:
                come = facts_in(path, relation, self._session.typedefs, self._note, self._refuse)
                rows.setdefault(relation.name, []).extend((row, 1) for row in come)
        yield [*changes, *gathered()]

    def _relation(self, path: Path) -> Relation | None:
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

    def _check_input(self, path: Path, relation: str) -> None:
        if relation not in self._inputs:
            raise DDlogError([NotOfThisFolder(str(path), relation)])

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
