"""The durable state of a session in a file: each epoch goes to the log before it is final, and a session
begins with what the file holds.

A state holds changes of inputs. All else follows from them, but for the past: the elements that streams had
in the last epochs, and the relations that rules read with a delay.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...durability.background import Background
from ...durability.contents import FileHistory, contents_of, count_of, history_apart, history_of
from ...durability.corruption import is_fault, misfit, trusting
from ...durability.filelog import FileWriter
from ...durability.folding import FileFolding
from ...durability.forms import Rows
from ...durability.log import Durability, Log
from ...durability.positions import POSITIONS, PositionRow
from ...durability.records import Stored
from ...durability.store import FileStore
from ...durability.sums import weights_of
from ...engine.interrupt import deferred
from ...engine.weakly import weakly
from ...errors.diagnostics import DDlogError
from ...errors.state import CannotUseState, ValueNotKept
from ...values import holds_function, holds_object
from ..hosts.host import Host, here_of
from ..options import SessionOptions
from ..transactions.durable_state import DurableState, StoredSpan
from .checkpoint_policy import WRITING_ERRORS, CheckpointPolicy
from .checkpoints import Checkpointing
from .derivedrows import rows_of, settle, settle_windows
from .initialchanges import Beginning
from .keptrelations import KeptRelations
from .windowcontents import KeptWindows, kept_windows

if TYPE_CHECKING:
    from ...core import Relation
    from ...engine.inprocess.runtime import InProcess
    from ..program import Program
    from ..results.views import Changes
    from ..transactions.state import SessionState
    from .checkpoints import FoundUnits


def check_keepable(program: Program, computed: Collection[str], windows: Iterable[Relation] = ()) -> None:
    """Raises DDlogError if no state can hold the inputs of a program, what computed relations read with a
    delay, or what windows hold."""
    relations, typedefs = program.relations, program.checked.typedefs
    pasts = [relations[name].past for name in sorted(computed)]
    held = [(relations[name], "") for name in program.names("input")]
    held += [(relations[past[0]], ", and it is read with a delay") for past in pasts if past]
    held += [(each, ", and a window keeps them") for each in windows]
    for relation, why in held:
        types = [column.type for column in relation.columns]
        function = any(holds_function(each, typedefs) for each in types)
        if function or any(holds_object(each, typedefs) for each in types):
            reason = f"its rows hold {'functions' if function else 'values of extern types'}{why}"
            raise DDlogError([ValueNotKept(relation.name.partition("$")[0], reason)])


class Durable(DurableState):
    """The state that a session keeps in a file. `kept` are the relations in it."""

    def __init__(
        self,
        program: Program,
        computed: frozenset[str],
        store: FileStore,
        durability: Durability,
        windows: KeptWindows,
        live: Callable[[str], int],
        fill: Mapping[str, Any] | None = None,
    ) -> None:
        """`live` gives the number of rows that the session holds of a relation."""
        self.store, self._live = store, live
        self.kept = KeptRelations(program, computed, store, windows, fill)
        super().__init__(
            self.kept.stored,
            windows.changes,
            self.kept.depth,
            durability,
            store.head.epoch,
            self.kept.changed,
        )
        self._log = Log(FileWriter(store, self.kept.forms), durability, weakly(self.tell_on_disk))
        if durability == "exit":
            store.hold_back()
        self._folder = FileFolding(
            store,
            self.kept.depth,
            weakly(self._live_rows),
            weakly(self._checkpoint_epoch),
            weakly(self._pause),
        )
        self._background = self._new_background()
        self.upkeep: CheckpointPolicy | None = None
        """Makes checkpoints; None: there are none."""
        self.elsewhere: Callable[[], FileHistory] | None = None
        """Gives the history in a process that was forked, which cannot use the file; None: in this one."""
        self._changed_rows = 0  # of the epoch that was sealed last
        self.positions = self._read_positions()

    @staticmethod
    def open(
        program: Program,
        computed: frozenset[str],
        path: str | Path,
        durability: Durability,
        windows: KeptWindows,
        live: Callable[[str], int],
        read_only: bool = False,
        fill: Mapping[str, Any] | None = None,
    ) -> Durable:
        """The state in a file, for a session that computes these relations, of which it holds so many rows.
        Raises DDlogError."""
        check_keepable(program, computed, windows.relations.values())
        store = FileStore.open(path, read_only=read_only)
        try:
            found = Durable(program, computed, store, durability, windows, live, fill)
        except BaseException:
            store.close()
            raise
        found.close_with_process()
        return found

    def _new_background(self) -> Background:
        return Background(
            self.store,
            self._log.flush_quietly if self.durability == "interval" else None,
            [weakly(self._write_image), self._folder.fold_if_due, weakly(self._read_ahead)]
            if self.durability != "exit"
            else [],
        )

    def _live_rows(self) -> int:
        return sum(map(self._live, self.kept.with_rows))

    def _checkpoint_epoch(self) -> int:
        return 0 if self.upkeep is None else self.upkeep.epoch

    def _pause(self) -> bool:
        return self._background.pause()

    def with_program(
        self,
        program: Program,
        computed: frozenset[str],
        host: Host,
        live: Callable[[str], int],
        fill: Mapping[str, Any] | None = None,
        begin: Callable[[Durable], None] | None = None,
    ) -> Durable:
        """The state of a session that goes on with a program. What inputs that are gone held stays in the
        file; `fill` gives the values of new columns of others. `begin` lets the session begin with the state;
        without it, the session holds all already. Raises DDlogError; then the state is as it was."""
        fields = here_of(host)
        windows = kept_windows(program, computed, fields.circuit)
        check_keepable(program, computed, windows.relations.values())
        self._log.flush()
        self._background.stop()
        mark = self.store.mark()
        try:
            is_whole = self.read_only or self.durability == "exit"
            with nullcontext() if is_whole else self.store.at_once():
                fields.remember(windows.nodes)
                made = Durable(program, computed, self.store, self.durability, windows, live, fill or {})
                (begin or partial(Durable._settle, fields=fields))(made)
        except BaseException as error:
            self.store.undo(mark)
            self._background = self._new_background()
            if isinstance(error, OSError | sqlite3.Error):
                raise DDlogError([CannotUseState(self.place, str(error))]) from None
            raise
        if self.upkeep is not None:
            made.keep_checkpoints(Checkpointing(program, self.store, fields))
            assert made.upkeep is not None
            made.upkeep.begun_with = self.begun_with
        atexit.unregister(self.close_at_exit)
        made.close_with_process()
        made._listeners, made.resumed = self._listeners, self.resumed
        return made

    def _settle(self, fields: InProcess) -> None:
        """Takes in what the session holds of derived relations and of windows that the state keeps."""
        contents = self.contents()
        settle(self.kept, contents, {name: fields.held(name) for name in self.kept.derived})
        if self.kept.windows.nodes:
            settle_windows(self.kept, contents, fields, self.epoch)

    @property
    def place(self) -> str:
        return str(self.store.path)

    @property
    def read_only(self) -> bool:
        return self.store.read_only

    def _close(self) -> None:
        try:
            with deferred():  # a Ctrl-C in between, as one raised again after a while, would lose what waits
                self._background.stop()
                if not self.read_only:
                    self._log.finish()
            if not self.read_only:  # a checkpoint can take long, and who does not wait for it loses nothing
                self._write_checkpoint()
        finally:
            self.store.close()

    def begin(self, state: SessionState, static: bool) -> Changes:
        from .resumption import resume

        self.check_process()
        with trusting(self.place):
            return resume(state, self, static)

    def holds_rows(self) -> bool:
        kept = self.kept.stored.values()
        inputs = [each for each in kept if each.role == "input" and each.kind != "stream"]
        contents = contents_of(self.store, {each.id for each in inputs})
        return any(count_of(contents, each, self.epoch) for each in inputs)

    def known_ids(self) -> list[str]:
        return self.store.applied()

    def _write_checkpoint(self) -> None:
        """Writes what was derived, if the runtime is at the last epoch of the file. If that fails, the state
        is whole without it."""
        if self.upkeep is None or not self.is_begun:
            return
        try:
            with self._doubting():
                if not self._is_doubted and self.epoch == self.store.head.epoch:
                    self.upkeep.close(self.epoch)
            if self._is_doubted:
                self.upkeep.checkpointing.forget()
        except WRITING_ERRORS as error:
            self.note(f"no checkpoint was written, so the next session derives all anew: {error}")

    @property
    def _is_doubted(self) -> bool:
        """Whether the session goes on from a checkpoint that was found to be damaged."""
        return bool(self.store.doubt) and self.begun_with is not None

    @contextmanager
    def _doubting(self) -> Iterator[None]:
        """Notes faults inside that the checkpoint causes with which the session began, and lets them pass."""
        try:
            yield
        except Exception as error:
            if self.diagnosed(error) is None and not self._is_doubted:
                raise

    def diagnosed(self, error: BaseException) -> DDlogError | None:
        if self.begun_with is None or not is_fault(error):
            return None
        return self.store.doubted(misfit(error))

    def _write_image(self) -> None:
        if self.upkeep is not None and not self._is_doubted:
            self.upkeep.write_waiting()

    def _read_ahead(self) -> None:
        if self.upkeep is not None:
            self.upkeep.read_ahead()

    def keep_checkpoints(self, checkpointing: Checkpointing) -> None:
        """Lets checkpoints be made, and read."""
        lives = not self.read_only and self.durability != "exit"
        self.upkeep = CheckpointPolicy(
            checkpointing, self.store, self._folder, self._background.wake, self._background.pause, lives
        )

    @property
    def begun_with(self) -> FoundUnits | None:
        """The checkpoint that the session began with; None: it derived all."""
        return None if self.upkeep is None else self.upkeep.begun_with

    # ------------------------------------------------------------- epochs

    def _packed(
        self, changed: Iterable[tuple[Stored, Any]], moved: Sequence[tuple[PositionRow, int]]
    ) -> dict[int, Rows]:
        if self._is_doubted:
            raise self.store.doubted("")
        changes = {stored.id: rows_of(coded()) for stored, coded in changed}
        if moved and self.positions.stored is not None:
            changes[self.positions.stored.id] = self.kept.rows(POSITIONS.name, moved)
        return changes

    def _append(self, epoch: int, changes: dict[int, Rows], ids: Sequence[str]) -> None:
        self._changed_rows = sum([rows.length for rows in changes.values()])
        self._log.append(epoch, changes, list(ids))
        self._background.wake()

    def committed(self) -> None:
        super().committed()
        if self.upkeep is not None:
            with self._doubting():
                self.upkeep.committed(self.epoch, self._changed_rows)

    def _relations_there(self) -> Iterable[Stored]:
        return self.store.relations

    def _add_relation(self, stored: Stored) -> Stored:
        with self.store.writing():
            return self.store.add_relation(stored)

    def _position_rows(self, stored: Stored) -> Iterator[tuple[PositionRow, int]]:
        self.kept.take_in(stored)
        for table in contents_of(self.store, {stored.id}).held(stored, self.epoch):
            columns = [table.column(name).to_pylist() for name, _ in POSITIONS.columns]
            yield from zip(zip(*columns, strict=True), weights_of(table).tolist(), strict=True)

    def _seed(self, state: SessionState, spans: Sequence[StoredSpan], held: Mapping[str, Stored]) -> None:
        here = here_of(state.host)
        with self.store.at_once():
            for first, last, changes in spans:
                found = {stored.id: self.kept.rows(stored.name, rows) for stored, rows in changes}
                if first == spans[0][0]:
                    found |= {stored.id: rows_of(here.input_held(name)) for name, stored in held.items()}
                batches = {id: self.kept.forms[id].batch(rows) for id, rows in found.items() if rows.length}
                self.store.append(first, last, batches)

    # ------------------------------------------------------------- what there is

    def contents(self, after: int = 0, relations: set[int] | None = None) -> FileHistory:
        """The changes that the state holds, of all relations or of these, by their ids: at least those after
        an epoch, with as many before it as delays need. Raises DDlogError if they, or those before them, are
        not what was written."""
        return contents_of(self.store, self.kept.ids if relations is None else relations, after - self.depth)

    def history(self, relations: set[int] | None = None) -> FileHistory:
        """The epochs that the state has by themselves, as long as nothing is folded. Raises DDlogError as
        `contents` does."""
        return history_of(self.store, self.kept.ids if relations is None else relations, self.epoch)

    @contextmanager
    def past(self, first: int | None = None) -> Iterator[FileHistory]:
        """The history as of this moment, whatever is folded and removed meanwhile, or written by others."""
        if self.elsewhere is not None:
            yield self.elsewhere()
            return
        self.check_process()
        self._log.flush()
        if self.durability == "exit" and not self.read_only:
            yield self.history()  # nothing is folded, and others do not see what is held back
            return
        with closing(FileStore.open(self.store.path, read_only=True)) as reading:
            yield history_of(reading, self.kept.ids, self.epoch)

    def history_for(self, stored: Sequence[Stored]) -> FileHistory | None:
        """The history of relations for a process that was forked. None: it cannot be told beside a commit, or
        the state has them in another form by now. For any thread."""
        if self.durability == "exit":
            return None
        if self.durability == "interval":
            self._log.flush()
        with closing(FileStore.open(self.store.path, read_only=True)) as reading:
            if any(each not in reading.relations for each in stored):
                return None
            return history_apart(reading, {each.id for each in stored}, reading.head.epoch)

    # ------------------------------------------------------------- the past

    def size(self) -> int:
        return os.path.getsize(self.place)

    def beside(self, state: SessionState) -> SessionOptions:
        return SessionOptions(relations=tuple(state.kept), engine="in-process")

    def stored_changes(self, state: SessionState, told: FileHistory) -> Beginning:
        return Beginning(self.kept, told, here_of(state.host))
