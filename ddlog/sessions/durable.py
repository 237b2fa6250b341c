"""The durable state of a session: each epoch goes to the log before it is final, and a session begins with
what a state holds.

A state holds changes of inputs. All else follows from them, but for the past: the elements that streams had
in the last epochs, and the relations that rules read with a delay.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.runtime import Batch, Coded, Runtime, Sealed
from ..errors.diagnostics import DDlogError
from ..errors.state import CannotFill, NoHistory, ReadOnlyState, ValueNotKept
from ..state.contents import Contents, Untold
from ..state.folding import Folder
from ..state.forms import RelationForm, Rows
from ..state.history import History
from ..state.inputs import PAST, described, kept_relations
from ..state.keeper import Keeper
from ..state.log import Durability, Log
from ..state.migration import Migration
from ..state.program import add_differences, take_over, texts
from ..state.records import Stored
from ..state.store import Store
from ..state.sums import weights_of
from ..values import holds_function
from ..values.layouts import Layouts
from .delays import Kept
from .records import RecordColumns
from .upkeep import BROKEN, Upkeep
from .windowed import PASSED, KeptWindows

if TYPE_CHECKING:
    import pyarrow as pa

    from ..engine.inprocess.runtime import InProcess
    from .checkpointing import Checkpointing, Found
    from .program import Program
    from .results import Changes
    from .session import Session
    from .state import SessionState

_SHOWN = 10  # epochs of the history

SignedBatches = list[tuple[Batch, int]]


@dataclass(frozen=True, slots=True)
class Resumption:
    """What a session begins with: changes of inputs for one epoch, the changes of the last epochs, the latest
    last, of each relation that is read with a delay, and what windows hold, by the names of `KeptWindows`.
    All of it is from `contents`."""

    changes: Mapping[str, Sequence[tuple[Batch, int]]]
    past: Mapping[str, Sequence[Kept]]
    contents: Contents | History
    given: Mapping[str, Sequence[tuple[Batch, int]]]


def check_keepable(program: Program) -> None:
    """Raises DDlogError if no state can hold the inputs of a program."""
    typedefs = program.checked.typedefs
    for relation in map(program.relations.__getitem__, program.names("input")):
        if any(holds_function(column.type, typedefs) for column in relation.columns):
            raise DDlogError([ValueNotKept(relation.name, "its rows hold functions")])


class Durable:
    """The state that a session keeps. `epoch` is the number of its last commit; `changed` says whether the
    program is another one than the state's last."""

    def __init__(
        self,
        program: Program,
        computed: frozenset[str],
        store: Store,
        durability: Durability,
        windows: KeptWindows,
        fill: Mapping[str, Any] | None = None,
    ) -> None:
        self.store, self.durability, self.windows = store, durability, windows
        typedefs = program.checked.typedefs
        derived = {head.relation for rule in program.checked.rules for head in rule.heads}
        wanted = kept_relations(program.relations, typedefs, computed, derived)
        self._relations = {name: program.relations[name.removesuffix(PAST)] for name in wanted}
        self._relations |= windows.relations
        wanted |= {n: described(each, windows.roles[n], typedefs) for n, each in windows.relations.items()}
        self._delays = {n: each.past for n, each in program.relations.items() if each.past and n in computed}
        self._depth = max((delay for _, delay in self._delays.values()), default=0)
        self._typedefs = typedefs
        self._fresh = self._new_windows(wanted)
        self._kept = self._taken_over(
            program, {n: s for n, s in wanted.items() if n not in self._fresh}, fill
        )
        self._forms = {each.id: self._form(name) for name, each in self._kept.items()}
        self._log = Log(store, self._forms, durability)
        self.live: Callable[[], int] = lambda: 0
        self._folder = Folder(
            store,
            self._depth,
            lambda: self.live(),
            lambda: 0 if self.upkeep is None else self.upkeep.epoch,
            lambda: self._keeper.pause(),
        )
        self._keeper = Keeper(
            store,
            self._log.flush_quietly if durability == "interval" else None,
            [self._write_image, self._folder.fold_if_due, self._read_ahead] if durability != "exit" else [],
        )
        self._log.woken = self._keeper.wake
        self.epoch = store.head.epoch
        self.resumed = self.is_begun
        if durability != "commit":
            atexit.register(self.close_at_exit)
        self.applied: Callable[[], Sequence[str]] = lambda: ()
        """Gives the ids of the updates of the epoch that is being sealed."""
        self.before: list[Callable[[Sealed, int], None]] = []
        """Called with the changes of an epoch and its number before they are written. May refuse them."""
        self.after: list[Callable[[int], None]] = []
        """Called with the number of an epoch when it, and all before it, are on disk."""
        self.upkeep: Upkeep | None = None
        """Makes checkpoints; None: there are none."""
        self._changed_rows = 0  # of the epoch that was sealed last
        self.told: Callable[[str], None] = lambda text: None
        """Called with what the user should know: why a checkpoint was left out, or not written."""
        self._log.written = self._tell

    @staticmethod
    def open(
        program: Program,
        computed: frozenset[str],
        path: str | Path,
        durability: Durability,
        windows: KeptWindows,
        read_only: bool = False,
        fill: Mapping[str, Any] | None = None,
    ) -> Durable:
        """The state in a file, for a session that computes these relations. Raises DDlogError."""
        check_keepable(program)
        store = Store.open(path, read_only=read_only)
        try:
            return Durable(program, computed, store, durability, windows, fill)
        except BaseException:
            store.close()
            raise

    def _form(self, name: str) -> RelationForm:
        return RelationForm(self._relations[name].columns, self._typedefs)

    def _new_windows(self, wanted: Mapping[str, Stored]) -> dict[str, Stored]:
        """The relations of windows that a state which is begun does not know yet: they are added when it is
        known what they hold."""
        known = {each.name: each.role for each in self.store.relations if not each.dropped}
        roles = {name: role for name, role in self.windows.roles.items() if role == "window"}
        if not self.store.head.epoch:
            return {}
        return {name: wanted[name] for name, role in roles.items() if known.get(name) != role}

    def _taken_over(
        self, program: Program, wanted: Mapping[str, Stored], fill: Mapping[str, Any] | None
    ) -> dict[str, Stored]:
        """The relations of the store for those that the program wants kept; `fill` not None: with rows that
        are migrated. Raises DDlogError."""
        known = self.store.program()
        now = texts(program.source.name, program.source.text, self._depth)
        self.changed = bool(known) and known.get("digest") != now["digest"]
        if fill is None:
            return take_over(self.store, wanted, now, None)
        typedefs = program.checked.typedefs
        inputs = program.names("input")
        columns = {f"{name}.{each.name}" for name in inputs for each in program.relations[name].columns}
        for name in fill:
            if name not in columns:
                raise DDlogError([CannotFill(name, "no input relation has this column")])
        migration = Migration(str(self.store.path), typedefs, fill)

        def convert(old: Stored, new: Stored, table: pa.Table) -> pa.RecordBatch:
            relation = self._relations[new.name]
            columns, weights = migration.migrated(old, relation, table)
            layouts = RecordColumns(((each.name, each.type) for each in relation.columns), Layouts(typedefs))
            parts = layouts.apart(columns.data)
            return RelationForm(relation.columns, typedefs).batch(Rows(parts, weights, None, columns.count))

        return take_over(self.store, wanted, now, convert)

    @property
    def place(self) -> str:
        """The file."""
        return str(self.store.path)

    @property
    def read_only(self) -> bool:
        """Whether the state takes no changes."""
        return self.store.read_only

    @property
    def is_begun(self) -> bool:
        """Whether the state has an epoch."""
        return self.epoch > 0

    def close(self) -> None:
        """Puts on disk what waits, and closes the file. Raises DDlogError for what cannot be written."""
        atexit.unregister(self.close_at_exit)
        try:
            self._keeper.stop()
            if not self.read_only:
                self._log.finish()
                self._write_checkpoint()
        finally:
            self.store.close()

    def close_at_exit(self) -> None:
        """Closes the state of a session that was left open when the process ends; says what is lost."""
        try:
            self.close()
        except DDlogError as error:
            print(error, file=sys.stderr)

    def begin(self, state: SessionState, static: bool) -> Changes:
        from .resuming import resume

        return resume(state, self, static)

    def holds_rows(self) -> bool:
        inputs = [each for each in self._kept.values() if each.role == "input" and each.kind != "stream"]
        contents = Contents(self.store, {each.id for each in inputs})
        return any(self._count(each, contents) for each in inputs)

    def known_ids(self) -> set[str]:
        return self.store.applied()

    def _write_checkpoint(self) -> None:
        """Writes what was derived, if the runtime is at the last epoch of the file. If that fails, the state
        is whole without it."""
        if self.upkeep is not None and self.epoch == self.store.head.epoch and self.is_begun:
            try:
                self.upkeep.close(self.epoch)
            except BROKEN as error:
                self.told(f"no checkpoint was written, so the next session derives all anew: {error}")

    def _write_image(self) -> None:
        if self.upkeep is not None:
            self.upkeep.write_waiting()

    def _read_ahead(self) -> None:
        if self.upkeep is not None:
            self.upkeep.read_ahead()

    def keep_checkpoints(self, checkpointing: Checkpointing) -> None:
        """Lets checkpoints be made, and read."""
        lives = not self.read_only and self.durability != "exit" and not self.windows.nodes
        self.upkeep = Upkeep(
            checkpointing, self.store, self._folder, self._keeper.wake, self._keeper.pause, lives
        )

    @property
    def begun_with(self) -> Found | None:
        """The checkpoint that the session began with; None: it derived all."""
        return None if self.upkeep is None else self.upkeep.begun_with

    # ------------------------------------------------------------- epochs

    def seal(self, sealed: Sealed) -> None:
        """Writes the changes of an epoch as the next one. Raises DDlogError if they cannot be written."""
        if self.read_only:
            raise DDlogError([ReadOnlyState(str(self.store.path))])
        changes: dict[int, Rows] = {}
        inputs, outputs = sealed.inputs(), None
        windows = self.windows.changes(sealed)
        for name, stored in self._kept.items():
            if stored.role == "input":
                found = inputs.get(name)
            elif name in self.windows.relations:
                found = windows.get(name)
            else:
                outputs = sealed.outputs() if outputs is None else outputs
                found = outputs.get(name.removesuffix(PAST))
            if found is not None:
                changes[stored.id] = _rows(found())
        self._changed_rows = sum([rows.length for rows in changes.values()])
        for receive in self.before:
            receive(sealed, self.epoch + 1)
        self._log.append(self.epoch + 1, changes, list(self.applied()))
        self.epoch += 1
        self._keeper.wake()

    def committed(self) -> None:
        """To be called when the epoch that was sealed is final."""
        if self.durability == "commit":
            self._tell(self.epoch)
        if self.upkeep is not None:
            self.upkeep.committed(self.epoch, self._changed_rows)

    def _tell(self, epoch: int) -> None:
        for receive in self.after:
            receive(epoch)

    # ------------------------------------------------------------- resuming

    def resumption(
        self,
        runtime: Runtime,
        epoch: int | None = None,
        without: Collection[str] = (),
        contents: Contents | History | None = None,
    ) -> Resumption:
        """What the state holds, or held after an epoch, as batches of a runtime over fields, but for the
        relations `without` which the runtime has. Raises DDlogError."""
        if contents is None:
            contents = self._contents() if epoch is None else self._history()
        now = self.epoch if epoch is None else epoch
        changes: dict[str, Sequence[tuple[Batch, int]]] = {}
        for name, stored in self._kept.items():
            if stored.role == "input" and name not in without:
                changes[name] = list(self._held(runtime, name, stored, contents, now))
        for name, (source, delay) in self._delays.items():
            if name in without:
                continue
            stored = self._source(source)
            changes[name] = list(self._held(runtime, name, stored, contents, now - delay))
        return Resumption(
            changes, self._past(runtime, contents, now), contents, self._given(runtime, contents, now)
        )

    def _given(self, runtime: Runtime, contents: Contents | History, now: int) -> dict[str, SignedBatches]:
        """What windows held as of an epoch."""
        found = {}
        for name in self.windows.nodes:
            if name in self.windows.last:
                source, length = self.windows.last[name]
                stored, epochs = self._source(source), range(max(1, now - length + 1), now + 1)
            elif name in self._kept:
                stored, epochs = self._kept[name], range(now, now + 1)
            else:
                continue
            parts = (self._held(runtime, name, stored, contents, epoch) for epoch in epochs)
            found[name] = [pair for part in parts for pair in part]
        return found

    @property
    def has_all_windows(self) -> bool:
        """Whether the state has the contents of all windows."""
        return not self._fresh

    def contents(self, after: int) -> Contents:
        """The changes that the state holds, at least those after an epoch, with as many before it as delays
        need. Raises DDlogError if they, or those before them, are not what was written."""
        return Contents(self.store, {each.id for each in self._kept.values()}, after - self._depth)

    @property
    def inputs(self) -> set[str]:
        """The relations whose changes the runtime gets."""
        return {name for name, each in self._kept.items() if each.role == "input"} | {*self._delays}

    def past_of(self, runtime: Runtime, contents: Contents) -> Mapping[str, Sequence[Kept]]:
        """The changes of the last epochs of what is read with a delay."""
        return self._past(runtime, contents, self.epoch)

    def since(self, runtime: Runtime, epoch: int, contents: Contents) -> dict[str, SignedBatches] | None:
        """The changes from the state after an epoch to the last one; None if they cannot be told apart from
        others."""
        now = self.epoch
        changes: dict[str, SignedBatches] = {}
        readers = [(name, stored, 0) for name, stored in self._kept.items() if stored.role == "input"]
        readers += [(name, self._source(source), delay) for name, (source, delay) in self._delays.items()]
        try:
            for name, stored, delay in readers:
                if stored.kind == "stream":
                    tables = contents.of_epoch(stored.id, now - delay)
                else:
                    tables = contents.between(stored.id, epoch - delay, now - delay)
                form = self._forms[stored.id]
                changes[name] = [
                    pair for table in tables for pair in _signed(runtime, name, form.rows(table))
                ]
        except Untold:
            return None
        return changes

    def _contents(self) -> Contents | History:
        return Contents(self.store, {each.id for each in self._kept.values()})

    def _history(self) -> History:
        self._log.flush()
        return History(self.store, {each.id for each in self._kept.values()})

    def check_past(self, epoch: int) -> None:
        """Raises DDlogError if the state as of an epoch cannot be told."""
        if epoch:
            history = self._history()
            history.check(epoch)
            history.check(max(0, epoch - self._depth))

    def check_change(self, epoch: int) -> None:
        """Raises DDlogError if what an epoch changed cannot be told."""
        history = self._history()
        history.check(epoch)
        if epoch < max(1, history.first):
            raise DDlogError([NoHistory(epoch, history.known)])

    def beside(self, session: Session) -> Session:
        return session.program.session(relations=tuple(session.state.kept), engine="in-process")

    def begin_at(self, state: SessionState, epoch: int) -> None:
        from .past import begin_at

        begin_at(self, state, epoch)

    def changes_in(self, state: SessionState, epoch: int) -> dict[str, SignedBatches]:
        from .inprocess import InProcessHost

        host = state.host
        assert isinstance(host, InProcessHost)
        history, runtime = self._history(), host.fields
        found: dict[str, SignedBatches] = {}
        for name, stored in self._kept.items():
            if stored.role not in ("input", "passed"):
                continue
            of = name.removesuffix(PASSED)
            for table in history.of_epoch(stored.id, epoch):
                found.setdefault(of, []).extend(_signed(runtime, of, self._forms[stored.id].rows(table)))
        return found

    def described(self) -> list[str]:
        """Lines about the state and its history. Raises DDlogError."""
        history, size = self._history(), os.path.getsize(self.store.path)
        names = {stored.id: name for name, stored in self._kept.items() if stored.role == "input"}
        lines = [
            f"{self.store.path}: epoch {self.epoch:,}, durability {self.durability}, {size:,} bytes",
            f"history of {history.known}" if history.first <= self.epoch else history.known,
        ]
        for epoch, written, counts in history.changed(_SHOWN):
            at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(written))
            rows = ", ".join(f"{names[each]} {counts[each]:,}" for each in sorted(names) if each in counts)
            lines.append(f"  epoch {epoch:,}  {at}  {rows or 'no changes'}")
        return lines

    def _held(
        self, runtime: Runtime, name: str, stored: Stored, contents: Contents | History, epoch: int
    ) -> Iterator[tuple[Batch, int]]:
        """What a stored relation held as of an epoch, as changes of a relation."""
        at = contents.of_epoch if stored.kind == "stream" else contents.until
        for table in at(stored.id, epoch):
            yield from _signed(runtime, name, self._forms[stored.id].rows(table))

    def _past(self, runtime: Runtime, contents: Contents | History, now: int) -> dict[str, Sequence[Kept]]:
        readers: dict[str, list[str]] = {}
        for name, (source, _) in self._delays.items():
            readers.setdefault(source, []).append(name)
        past: dict[str, Sequence[Kept]] = {}
        for source, names in readers.items():
            stored = self._source(source)
            epochs = range(max(1, now - self._depth + 1), now + 1)
            past[source] = [
                {
                    name: [
                        pair
                        for table in contents.of_epoch(stored.id, epoch)
                        for pair in _signed(runtime, name, self._forms[stored.id].rows(table))
                    ]
                    for name in names
                }
                for epoch in epochs
            ]
        return past

    def _source(self, name: str) -> Stored:
        """The stored changes of a relation that is read with a delay."""
        return self._kept.get(f"{name}{PAST}") or self._kept[name]

    def settle(self, contents: Contents | History, held: Mapping[str, Coded]) -> dict[str, Rows]:
        """Brings what the state knows of derived relations up to what they hold after the session has begun:
        the rules may be others than before. Returns the differences, by the relation's name."""
        kept = {}
        for name, rows in held.items():
            stored = self._source(name)
            kept[name] = stored, self._forms[stored.id], _rows(rows)
        return add_differences(self.store, contents, kept)

    def settle_windows(self, runtime: InProcess, contents: Contents | History) -> None:
        """The same for what windows hold, and for inputs that forget what is in no window: other rules may
        let rows go. Takes in the windows that are new."""
        kept = {}
        for name in (*self.windows.relations, *self.windows.forgetful):
            stored = self._fresh.get(name) or self._kept[name]
            if stored.kind == "stream":
                continue
            held = runtime.input_held if stored.role == "input" else runtime.held
            rows = _rows(held(name))
            if not stored.id or _count(rows) != self._count(stored, contents):
                kept[name] = stored, self._form(name), rows
        if kept:
            add_differences(self.store, contents, kept)
        if not self.read_only:
            for name in self._fresh:
                added = self.store.relation(name)
                assert added is not None
                self._kept[name] = added
                self._forms[added.id] = self._form(name)
            self._fresh = {}

    def _count(self, stored: Stored, contents: Contents | History) -> int | None:
        """The number of rows that the state knows of a relation; None for a clock, which has one."""
        if stored.name in self.windows.relations and stored.kind == "relation":
            return None
        return sum(int(weights_of(table).sum()) for table in contents.until(stored.id, self.epoch))

    @property
    def rows_of(self) -> list[str]:
        """The relations whose rows the state holds, but for streams and clocks."""
        others = [
            n for n, each in self._kept.items() if n not in self.windows.relations and each.kind != "stream"
        ]
        return [n.removesuffix(PAST) for n in others] + [*self.windows.sizes.values()]

    @property
    def derived(self) -> list[str]:
        """The derived relations whose contents the state holds, because they are read with a delay."""
        return [
            name.removesuffix(PAST)
            for name, each in self._kept.items()
            if each.role == "past" and each.kind != "stream"
        ]


def _rows(coded: Coded) -> Rows:
    return Rows(coded.columns, coded.weights, None, coded.length)


def _count(rows: Rows) -> int:
    return rows.length if rows.weights is None else int(rows.weights.sum())


def signed(runtime: Runtime, rows: Rows, name: str) -> SignedBatches:
    """Rows as changes of an input of a runtime over fields: deletions first."""
    return list(_signed(runtime, name, rows))


def _signed(runtime: Runtime, name: str, rows: Rows) -> Iterator[tuple[Batch, int]]:
    make = partial(_batch, runtime, name)
    if rows.weights is None:
        if rows.length:
            yield make(rows), 1
        return
    for weight in np.unique(rows.weights).tolist():
        yield make(rows.taken(np.flatnonzero(rows.weights == weight))), weight


def _batch(runtime: Runtime, name: str, rows: Rows) -> Batch:
    if rows.columns:
        return runtime.batch_from_columns(name, rows.columns)
    return runtime.batch(name, [()] * rows.length)
