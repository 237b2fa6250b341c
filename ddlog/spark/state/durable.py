"""The state of a session on Spark, in a folder: each epoch is written before it is final, and a session
begins with what the folder holds. See `ddlog.sessions.transactions.durable_state`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from ...durability.background import Background
from ...durability.history import History, cuts
from ...durability.inputs import PAST
from ...durability.log import Durability, Log
from ...durability.migration import check_fill
from ...durability.positions import PositionRow
from ...durability.program import Differences, compared, texts
from ...durability.records import Stored
from ...engine.interrupt import deferred
from ...engine.runtime import Batch
from ...engine.spark.tables import LocalTable
from ...engine.weakly import weakly
from ...errors.diagnostics import DDlogError, system_errors
from ...errors.state import CannotUseState, StateNeedsClassicSpark
from ...sessions.options import SessionOptions
from ...sessions.persistence.durable import check_keepable
from ...sessions.persistence.initialchanges import window_contents
from ...sessions.persistence.kept_schema import KeptSchema, kept_schema
from ...sessions.persistence.resumption import check_keys
from ...sessions.persistence.stored_changes import StoredChanges
from ...sessions.persistence.windowcontents import KeptWindows, kept_windows
from ...sessions.program import Program
from ...sessions.results.views import Changes
from ...sessions.transactions.durable_state import DurableState, StoredSpan
from ...sessions.transactions.state import SessionState
from ..sessions.failures import spark_failures
from ..sessions.host import SparkHost
from .contents import FolderHistory, RowReader, files_of, history_of, latest, parts_of
from .files import local_folder
from .folder import StateFolder
from .folding import Folding
from .locations import open_folder
from .log import FolderChanges, FolderWriter
from .manifest import FolderSpan, RowFiles
from .migration import Conversion, Migrating
from .relations import stored_rows
from .rows import FolderTable, RelationRows, check_files


def open_durable(
    program: Program,
    computed: frozenset[str],
    host: SparkHost,
    place: str,
    durability: Durability,
    read_only: bool,
    fill: Mapping[str, Any] | None,
) -> FolderDurable:
    """The state in a folder, for a session that computes these relations; `fill` not None: with rows that are
    migrated. Raises DDlogError."""
    if host.is_connect and local_folder(place) is None:
        raise DDlogError([StateNeedsClassicSpark(place)])
    windows = kept_windows(program, computed, host.runtime.circuit)
    check_keepable(program, computed, windows.relations.values())
    host.runtime.remember(windows.nodes)
    with spark_failures():
        folder = open_folder(place, host.spark, read_only)
        try:
            return FolderDurable(program, computed, host, folder, durability, windows, fill)
        except BaseException:
            folder.close()
            raise


class FolderDurable(DurableState):
    """The state that a session on Spark keeps in a folder."""

    def __init__(
        self,
        program: Program,
        computed: frozenset[str],
        host: SparkHost,
        folder: StateFolder,
        durability: Durability,
        windows: KeptWindows,
        fill: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder, self._host, self._runtime, self._windows = folder, host, host.runtime, windows
        needed = kept_schema(program, computed, windows)
        self._relations = needed.relations
        known = folder.manifest
        self._program = texts(program.source.name, program.source.text, needed.depth)
        changed = bool(known.program) and (known.program or {}).get("digest") != self._program["digest"]
        differences = compared(known.relations, needed.stored)
        if fill is None or folder.read_only:
            differences.check(folder.root)
        over = {each.id for each in differences.gone} | {old.id for old, _ in differences.changed}
        self._stored = [replace(each, dropped=each.dropped or each.id in over) for each in known.relations]
        self._fresh = set[str]()  # derived relations and windows that the state does not know yet
        converted = {new.name for _, new in differences.changed}
        kept = dict[str, Stored]()
        for name, each in needed.stored.items():
            found = differences.same.get(name)
            if found is None:
                found = self._add_relation(each)
                if found.role in ("past", "window") and name not in converted:
                    self._fresh.add(name)
            kept[name] = found
        super().__init__(kept, windows.changes, needed.depth, durability, known.epoch, changed)
        self._names = replace(needed, stored=kept)
        codec = host.codec
        self._rows = {
            each.id: RelationRows(each.id, self._relations[name], codec) for name, each in self.stored.items()
        }
        self._reading = RowReader(self._rows, folder.files, host.spark)
        if fill is not None and not folder.read_only:
            self._migrate(program, differences, fill)
        passing = {each.id for each in self._stored if each.kind == "stream"}
        self._folding = Folding(folder, host.spark, self._rows, passing, self.depth)
        self._writer = FolderWriter(folder, self._program, self._stored, passing, self.depth)
        self._log = Log(self._writer, durability, weakly(self.tell_on_disk))
        flush = self._log.flush_quietly if durability == "interval" else None
        self._background = Background(None, flush, [self._folding.fold_if_due])
        self._checked = set[str]()  # the files of the history that were compared with what was written
        self.positions = self._read_positions()
        self.close_with_process()

    @property
    def place(self) -> str:
        return self.folder.root

    @property
    def read_only(self) -> bool:
        return self.folder.read_only

    def _close(self) -> None:
        try:
            self._background.stop()
            self._log.finish()
        finally:
            self.folder.close()

    def holds_rows(self) -> bool:
        inputs = [each for each in self.stored.values() if each.role == "input" and each.kind != "stream"]
        with self._using():
            return any(map(self._holds_some, inputs))

    @contextmanager
    def _using(self) -> Iterator[None]:
        """Turns what goes wrong with the folder, and failures of Spark, inside into DDlogErrors."""
        with spark_failures(), system_errors(CannotUseState, self.folder.root):
            yield

    def _holds_some(self, stored: Stored) -> bool:
        """Whether a relation has rows."""
        import pyarrow as pa

        parts = [each.part for each in parts_of(cuts(self.folder.manifest.spans, 1, self.epoch), stored)]
        plain = [part.rows for part in parts if part.least > 0]
        if stored.kind == "relation" and 2 * sum(plain) > sum(part.rows for part in parts):
            return True  # more rows came than can have gone
        held = self._held(stored)
        if held is None or isinstance(held, pa.Table):
            return held is not None and held.num_rows > 0
        return not held.isEmpty()

    def known_ids(self) -> set[str]:
        return self._folding.ids()

    # ------------------------------------------------------------- epochs

    def _packed(
        self, changed: Iterable[tuple[Stored, LocalTable]], moved: Sequence[tuple[PositionRow, int]]
    ) -> FolderChanges:
        changes = [(self._rows[stored.id], table) for stored, table in changed]
        if moved and self.positions.stored is not None:
            rows = self._rows[self.positions.stored.id]
            changes.append((rows, self._runtime.tables.local(rows.encoded(moved))))
        return changes

    def _append(self, epoch: int, changes: FolderChanges, ids: Sequence[str]) -> None:
        self._log.append(epoch, changes, list(ids))
        self._background.wake()

    def _relations_there(self) -> Iterable[Stored]:
        return self._stored

    def _add_relation(self, stored: Stored) -> Stored:
        found = replace(stored, id=max((each.id for each in self._stored), default=0) + 1)
        self._stored.append(found)  # the next manifest names it
        return found

    def _position_rows(self, stored: Stored) -> Iterator[tuple[Any, int]]:
        import pyarrow as pa

        self._rows[stored.id] = rows = stored_rows(self.folder.root, stored, {})
        with self._using():
            held = self._held(stored)
        if held is not None:
            table = held if isinstance(held, pa.Table) else held.toArrow()
            yield from zip(zip(*rows.decoded(table), strict=True), table.column("w").to_pylist(), strict=True)

    def _seed(self, state: SessionState, spans: Sequence[StoredSpan], held: Mapping[str, Stored]) -> None:
        inputs, draft, found = self._runtime.inputs_held(), self.folder.draft(), list[FolderSpan]()
        with self._using():
            for number, (first, last, changes) in enumerate(spans):
                folder, parts = f"{draft.folder}/{number}", list[RowFiles]()
                for stored, changed in changes:
                    rows = self._rows[stored.id]
                    parts.append(rows.write(self.folder.files, folder, rows.encoded(changed)))
                for name, stored in held.items() if number == 0 else ():
                    parts += self._written(stored, inputs.get(name, ()), folder)
                at = int(time.time())
                found.append(FolderSpan(first, last, "epochs", tuple(parts), folded=first < last, time=at))
            self.folder.extend(found, self._program, self._stored)
        self.changed = True

    def _written(
        self, stored: Stored, held: Sequence[tuple[LocalTable, int]], folder: str
    ) -> Iterator[RowFiles]:
        """The rows of an input in files of a folder."""
        rows, files = self._rows[stored.id], self.folder.files
        for number, (table, _) in enumerate(held):
            yield rows.write(files, f"{folder}/{number}", table.local.select([*rows.columns, "w"]))

    # ------------------------------------------------------------- beginning

    def begin(self, state: SessionState, static: bool) -> Changes:
        with deferred(), state.diagnosing(), self._using():
            deltas = self.stored_changes(state, self._contents()).begin(
                state, self.epoch, self.changed, static
            )
            if self.changed:
                check_keys(state, state.program, state.program.names("input"))
            if (self.changed or self._fresh) and not static:
                self._settle(state)
            state.started, state.static = True, static
        return state.told(deltas)

    def _contents(self) -> FolderHistory:
        spans = self.folder.manifest.spans
        return History(spans, spans, self.epoch, self._reading)

    def _held(self, stored: Stored) -> FolderTable | None:
        """The rows of a relation after the last epoch; None: none."""
        return next(iter(self._contents().held(stored, self.epoch)), None)

    def stored_changes(self, state: SessionState, told: FolderHistory) -> FolderRows:
        nodes = {name: at for name, at in self._windows.nodes.items() if name not in self._fresh}
        windows = replace(self._windows, nodes=nodes)
        return FolderRows(self._names, told, windows, self._reading, state.host.runtime)

    def _settle(self, state: SessionState) -> None:
        """Brings what the state knows of derived relations and of windows, and of inputs that forget, up to
        what they hold: the rules are others than before. The differences count as changes of the last
        epoch."""
        draft, parts, windows = self.folder.draft(), [], self._windows
        for key, stored in self.stored.items():
            if stored.kind != "stream" and (stored.role != "input" or key in windows.forgetful):
                name = key.removesuffix(PAST)
                rows, known = self._rows[stored.id], self._held(stored)
                held = self._runtime.held if key in windows.relations else self._runtime.frame
                difference = rows.difference(self._host.spark, held(name), known)
                if difference.num_rows and stored.role != "past":
                    parts.append((rows, difference))
                elif difference.num_rows:
                    make: Callable[[str], Sequence[tuple[Batch, int]]]
                    make = partial(self._runtime.batches_of_weights, rows=difference)
                    state.delays.correct(name, make)
                    parts.append((rows, difference))
        if parts and not self.read_only:
            try:
                written = [rows.write(self.folder.files, draft.folder, table) for rows, table in parts]
                added = FolderSpan(self.epoch, self.epoch, "added", tuple(written))
                self.folder.extend([added], self._program, self._stored)
            except OSError:
                self.folder.discard(draft)
                raise

    # ------------------------------------------------------------- the past

    def _told(self) -> FolderHistory:
        """The history of earlier epochs; the files are not looked into. Raises DDlogError and OSError."""
        manifest, pieces = latest(self.folder)
        return history_of(self._writer.shown(manifest), pieces, self.epoch, self._reading)

    def _history(self, first: int) -> FolderHistory:
        """The history of the epochs from one on. Raises DDlogError and OSError if the files of them are not
        what was written."""
        found = self._told()
        known = {each.name for each in self.folder.manifest.files()} | self._checked
        unchecked = {name: each for name, each in files_of(found, first).items() if name not in known}
        check_files(self._host.spark, self.folder.files, list(unchecked.values()))
        self._checked.update(unchecked)
        return found

    @contextmanager
    def past(self, first: int | None = None) -> Iterator[FolderHistory]:
        with self._using():
            self._log.flush()
        with self._using(), self.folder.lock:
            yield self._told() if first is None else self._history(first)

    def size(self) -> int:
        return sum(each.bytes for each in self.folder.all_files().values())

    def beside(self, state: SessionState) -> SessionOptions:
        return SessionOptions(
            relations=tuple(state.kept), spark=self._host.spark, spark_options=self._host.runtime.options
        )

    # ------------------------------------------------------------- migration

    def _migrate(self, program: Program, differences: Differences, fill: Mapping[str, Any]) -> None:
        """Takes over relations whose columns changed, and those that are gone. Raises DDlogError; then the
        state is as it was."""
        inputs = map(self._relations.__getitem__, program.names("input"))
        check_fill(fill, inputs, differences.changed)
        if not (differences.changed or differences.gone) or not self.folder.manifest.relations:
            return
        conversions = [
            Conversion(
                self.folder.root,
                old,
                self.stored[new.name],
                self._relations[new.name],
                self._host.codec,
                fill,
            )
            for old, new in differences.changed
        ]
        keys = {
            each.new.id: program.key_function(self._relations[each.new.name])
            for each in conversions
            if self._relations[each.new.name].key is not None
        }
        draft, scratch = self.folder.draft(), self.folder.draft()
        try:
            with self._using():
                migrating = Migrating(self.folder, draft.folder, scratch.folder, self._host.spark, self.depth)
                spans = migrating.spans(conversions, keys) if conversions else []
                self._write_migrated(spans)
        except BaseException:
            self.folder.discard(draft)
            raise
        finally:
            self.folder.discard(scratch)

    def _write_migrated(self, spans: Sequence[FolderSpan]) -> None:
        """Lets migrated rows be part of the state. The program is noted when the session has begun."""
        known = self.folder.manifest
        depth = str(max(self.depth, int((known.program or {}).get("depth", "0"))))
        self.folder.publish(
            replace(
                known,
                program={**known.program, "depth": depth} if known.program else None,
                relations=tuple(self._stored),
                spans=tuple(sorted((*known.spans, *spans), key=lambda span: span.last)),
                past=None if spans else known.past,
                migrated=known.epoch if spans else known.migrated,
            )
        )


class FolderRows(StoredChanges[FolderTable]):
    """The contents of a folder, for a runtime on Spark."""

    def __init__(
        self,
        names: KeptSchema,
        told: FolderHistory,
        windows: KeptWindows,
        reading: RowReader,
        runtime: Any,
    ) -> None:
        super().__init__(names, told, runtime)
        self._windows, self._reading = windows, reading

    def batches(self, name: str, stored: Stored, rows: FolderTable) -> Iterable[tuple[Batch, int]]:
        found: list[tuple[Batch, int]] = self.runtime.batches_of_weights(name, rows)
        return found

    def given(self, epoch: int) -> dict[str, FolderTable | None]:
        found: dict[str, FolderTable | None] = {}
        for name, stored, epochs in window_contents(self._windows, self.names, epoch):
            parts = [rows for each in epochs for rows in self.told.held(stored, each)]
            several, rows = len(parts) > 1, self._reading.rows[stored.id]
            found[name] = rows.sum(self._reading.spark, parts) if several else next(iter(parts), None)
        return found
