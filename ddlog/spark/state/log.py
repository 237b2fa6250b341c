"""The log of a state in a folder: the changes of each epoch on their way to the files.

`commit`: an epoch is in the folder before it becomes final. `interval`: epochs wait for at most a second, and
one manifest names them all. `exit`: one manifest names all epochs of the session, when it is closed.

    rows of the driver ──▶ wait ───────────────────────▶ files ──▶ manifest
    rows of the executors ──▶ files, which nothing names yet ─────────▶│

Rows that wait are Arrow tables, which nothing changes; rows of the executors would go with the tables of the
runtime. Many epochs that wait together become one span with the sum of their changes, but for the last ones,
which have to be told apart.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...durability.log import INTERVAL, Durability
from ...durability.records import Stored
from ...engine.spark.tables import Table
from ...errors.diagnostics import DDlogError
from ...errors.state import EarlierNotKept, NotKeptOnDisk, ValueNotKept
from .folder import Draft, StateFolder
from .manifest import Manifest, Part, Span
from .rows import RelationRows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_MANY = 50_000  # rows that do not wait, as they take memory
_ROWS_OF_EPOCH = 10
_APART = 8
"""So many epochs that wait go to the folder each by itself, so that the past tells them apart."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    """The changes of an epoch: rows of the driver, and files in `drafts`, which nothing names yet."""

    epoch: int
    rows: Sequence[tuple[RelationRows, pa.Table]]
    parts: Sequence[Part]
    ids: Sequence[str]
    drafts: Sequence[Draft]
    time: int

    @property
    def size(self) -> int:
        """The rows that take memory, and as many as an epoch without rows does."""
        return _ROWS_OF_EPOCH + sum([int(rows.num_rows) for _, rows in self.rows])


class Log:
    """Takes the changes of epochs, and writes them to a folder. `passing` are the relations of which no
    earlier rows are needed, `depth` is the number of epochs before the last that have to be told apart."""

    def __init__(
        self,
        folder: StateFolder,
        spark: SparkSession,
        durability: Durability,
        program: Mapping[str, str],
        relations: Sequence[Stored],
        passing: Collection[int],
        depth: int,
        written: Callable[[int], None],
    ) -> None:
        """`written` is called when the epochs up to one are in the folder; not with durability `commit`,
        where the last one is not final yet."""
        self._written = written
        self._folder, self._spark, self._durability = folder, spark, durability
        self._program, self._relations = program, relations
        self._passing, self._depth = passing, depth
        self._waiting: list[_Waiting] = []
        self._rows = 0  # their sizes
        self._staged: list[Span] = []  # epochs before those that wait, in files that nothing names yet
        self._drafts: list[Draft] = []  # where these are
        self._last = folder.manifest.epoch
        self._failed = False
        self._queue = threading.Lock()  # for what waits; held for a moment
        self._writing = threading.Lock()
        self._woken, self._ended = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def append(self, epoch: int, changes: Sequence[tuple[RelationRows, Table]], ids: Sequence[str]) -> None:
        """Takes the changes of an epoch, with the ids of its updates. Raises DDlogError and what Spark raises
        if they, or earlier ones, cannot be written; then the epoch is not part of the log."""
        if self._failed:
            self.finish()
        taken = self._taken(epoch, changes, ids)
        with self._queue:
            self._waiting.append(taken)
            self._last = epoch
            self._rows += taken.size
            many = self._rows > _MANY
        if many or self._durability == "commit":
            self._write_with(taken)
        elif self._durability == "interval":
            self._wake()

    def flush_quietly(self) -> None:
        """Writes the epochs that wait. Whatever fails is tried again, and raised, by the next `append`."""
        try:
            self.finish()
        except Exception:
            self._failed = True

    def flush(self) -> None:
        """Writes the epochs that wait: with durability `exit`, to files that nothing names. Raises DDlogError
        that counts the epochs."""
        if self._durability == "interval":
            self.finish()
        elif self._durability == "exit" and self._waiting:
            with self._writing:
                try:
                    self._stage()
                except BaseException as error:
                    raise self._told(error, self._late) from None

    def shown(self, manifest: Manifest) -> Manifest:
        """A manifest of the folder with the epochs that are written, and wait for the end."""
        staged = self._staged
        spans = (*manifest.spans, *staged)
        return replace(manifest, epoch=staged[-1].last, spans=spans) if staged else manifest

    def stop(self) -> None:
        """Writes nothing more of its own accord."""
        self._ended.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join()

    def finish(self) -> None:
        """Writes all that waits. Raises DDlogError that counts the epochs."""
        with self._writing:
            try:
                last = self._publish()
            except BaseException as error:
                raise self._told(error, self._late) from None
            self._failed = False
            if last is not None:
                self._written(last)

    # ------------------------------------------------------------- writing

    def _taken(
        self, epoch: int, changes: Sequence[tuple[RelationRows, Table]], ids: Sequence[str]
    ) -> _Waiting:
        """The changes of an epoch; those that cannot wait, in files."""
        waiting, parts, drafts = list[tuple[RelationRows, "pa.Table"]](), list[Part](), list[Draft]()
        try:
            for rows, table in changes:
                columns = [*rows.columns, "w"]
                if table.local is not None:
                    waiting.append((rows, table.local.select(columns)))
                    continue
                if not drafts:
                    drafts.append(self._folder.draft())
                with _Holding(rows):
                    parts.append(rows.write_frame(
                        self._folder.files, drafts[0].folder, table.frame.select(*columns), table.rows,
                        table.least, self._spark,
                    ))  # fmt: skip
        except BaseException as error:
            self._discard(drafts)
            raise self._told(error, 0) from None
        return _Waiting(epoch, waiting, parts, ids, drafts, int(time.time()))

    def _write_with(self, taken: _Waiting) -> None:
        """Writes what waits, or makes room for more. Without the epoch that came last, if that fails."""
        with self._writing:
            last = None
            try:
                if self._durability == "exit":
                    self._stage()
                else:
                    last = self._publish()
            except BaseException as error:
                told = self._told(error, 0 if self._durability == "commit" else self._late)
                with self._queue:
                    self._waiting.remove(taken)
                    self._rows -= taken.size
                    self._last = taken.epoch - 1
                self._discard(taken.drafts)
                raise told from None
            if self._durability == "interval" and last is not None:
                self._written(last)

    @property
    def _late(self) -> int:
        """The number of the epochs that the folder does not have."""
        return self._last - self._folder.manifest.epoch

    def _publish(self) -> int | None:
        """Lets a manifest name all that waits, and returns the last of these epochs; None: nothing waits.
        If it fails, they wait as before."""
        with self._written_down([]) as spans:
            if not spans:
                return None
            self._folder.extend(spans, self._program, self._relations)
            self._staged, self._drafts = [], []
        return spans[-1].last

    def _stage(self) -> None:
        """Writes what waits to files that nothing names. If it fails, it waits as before."""
        drafts = [each for one in self._waiting for each in one.drafts]
        with self._written_down(drafts) as spans:
            self._staged = spans
            self._drafts += drafts

    @contextmanager
    def _written_down(self, drafts: list[Draft]) -> Iterator[list[Span]]:
        """All epochs that no manifest names, as spans with files; adds to `drafts` where these are. Those
        that waited do so no longer, unless the block fails."""
        with self._queue:
            waiting = list(self._waiting)
        known = len(drafts)
        try:
            yield [*self._staged, *self._spans(waiting, drafts)]
        except BaseException:
            self._discard(drafts[known:])
            raise
        with self._queue:
            del self._waiting[: len(waiting)]
            self._rows -= sum(each.size for each in waiting)

    def _spans(self, waiting: Sequence[_Waiting], drafts: list[Draft]) -> Iterator[Span]:
        """Some epochs as spans with files. Adds to `drafts` where these are, also if it fails."""
        apart = len(waiting) if len(waiting) <= _APART else self._depth + 1
        together, others = waiting[: len(waiting) - apart], waiting[len(waiting) - apart :]
        for group in ([together] if together else []) + [[each] for each in others]:
            yield self._span(group, drafts)

    def _span(self, group: Sequence[_Waiting], drafts: list[Draft]) -> Span:
        """Some epochs as one span, with the sum of their changes."""
        passing = self._passing if len(group) > 1 else ()
        together: dict[int, list[tuple[RelationRows, pa.Table]]] = {}
        for each in group:
            for rows, table in each.rows:
                if rows.id not in passing:
                    together.setdefault(rows.id, []).append((rows, table))
        parts = [part for each in group for part in each.parts if part.relation not in passing]
        if together:
            draft = self._folder.draft()
            drafts.append(draft)
            for some in together.values():
                rows = some[0][0]
                with _Holding(rows):
                    whole = rows.added_up([table for _, table in some])
                    if whole.num_rows:
                        parts.append(rows.write(self._folder.files, draft.folder, whole))
        ids = [id for each in group for id in each.ids]
        return Span(
            group[0].epoch, group[-1].epoch, "epochs", tuple(parts), tuple(ids),
            folded=len(group) > 1, time=group[-1].time,
        )  # fmt: skip

    def _discard(self, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            self._folder.discard(draft)

    def _told(self, error: BaseException, waiting: int) -> BaseException:
        """The error of a write, with the number of the earlier epochs that it concerns, if there are any."""
        reason = ""
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
        elif waiting and isinstance(error, DDlogError) and isinstance(error.diagnostics[0], NotKeptOnDisk):
            reason = error.diagnostics[0].reason
        if not reason:
            return error
        root = self._folder.root
        return DDlogError([EarlierNotKept(root, waiting, reason) if waiting else NotKeptOnDisk(root, reason)])

    # ------------------------------------------------------------- the thread

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="ddlog state log", daemon=True)
            self._thread.start()
        self._woken.set()

    def _run(self) -> None:
        while True:
            self._woken.wait()
            if self._ended.wait(INTERVAL):
                return
            self._woken.clear()
            self.flush_quietly()


class _Holding:
    """Turns values that no file can hold into DDlogErrors."""

    def __init__(self, rows: RelationRows) -> None:
        self._rows = rows

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, ValueError):
            raise DDlogError([ValueNotKept(self._rows.name, str(error))]) from None
