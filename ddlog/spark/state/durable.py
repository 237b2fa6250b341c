"""The state of a session on Spark, in a folder: each epoch is written before it is final, and a session
begins with what the folder holds. See `ddlog.sessions.keeping`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ...engine.interrupt import deferred
from ...engine.runtime import Batch, Sealed
from ...engine.spark.sealing import SealedEpoch
from ...engine.spark.tables import Table
from ...errors.diagnostics import DDlogError
from ...errors.state import CannotUseState, NotInFolders, NotKeptOnDisk, ReadOnlyState, ValueNotKept
from ...sessions.delays import Kept
from ...sessions.durable import check_keepable
from ...sessions.gaps import Ability, check_offered
from ...sessions.program import Program
from ...sessions.results import Changes
from ...sessions.resuming import check_keys
from ...sessions.state import SessionState
from ...state.inputs import PAST, kept_relations
from ...state.program import compared, texts
from ...state.records import Stored
from ..sessions.failures import spark_failures
from ..sessions.host import SparkHost
from .folder import StateFolder
from .folding import Folding
from .manifest import Part
from .opening import open_folder
from .rows import FEW, RelationRows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_NEW_STATE = "write the facts with `ddlog state --export`, and begin a new state with them"

SignedTables = list[tuple[Table, int]]


def open_durable(
    program: Program, computed: frozenset[str], host: SparkHost, place: str, read_only: bool, migrate: bool
) -> FolderDurable:
    """The state in a folder, for a session that computes these relations. Raises DDlogError."""
    check_offered(host.kind, Ability.STATE, place)
    if migrate:
        raise DDlogError([NotInFolders(place, "migration", _NEW_STATE)])
    check_keepable(program)
    check_no_windows(program, computed, place)
    with spark_failures():
        folder = open_folder(place, host.spark, read_only)
        try:
            return FolderDurable(program, computed, host, folder)
        except BaseException:
            folder.close()
            raise


def check_no_windows(program: Program, computed: frozenset[str], place: str) -> None:
    """Raises DDlogError for a program with windows."""
    shown = {each.shown_by for name in computed if (each := program.relations[name].window) is not None}
    if shown:
        what = f"windows, such as {min(shown)}"
        raise DDlogError([NotInFolders(place, what, "run the program in-process, with a state in a file")])


class FolderDurable:
    """The state that a session on Spark keeps. See `ddlog.sessions.keeping.Keeping`."""

    def __init__(
        self, program: Program, computed: frozenset[str], host: SparkHost, folder: StateFolder
    ) -> None:
        self.folder, self._host, self._runtime = folder, host, host.runtime
        self._relations = program.relations
        derived = {head.relation for rule in program.checked.rules for head in rule.heads}
        wanted = kept_relations(self._relations, program.checked.typedefs, computed, derived)
        self._delays = {n: each.past for n, each in self._relations.items() if each.past and n in computed}
        depth = max((delay for _, delay in self._delays.values()), default=0)
        known = folder.manifest
        self._program = texts(program.source.name, program.source.text, depth)
        self.changed = bool(known.program) and (known.program or {}).get("digest") != self._program["digest"]
        differences = compared(known.relations, wanted)
        differences.check(folder.root, _NEW_STATE)
        gone = {each.id for each in differences.gone}
        self._stored = [replace(each, dropped=each.dropped or each.id in gone) for each in known.relations]
        self._fresh = False  # whether a relation is kept from now on that the state does not know
        self._kept = dict[str, Stored]()
        for name, each in wanted.items():
            found = differences.same.get(name)
            if found is None:
                found = replace(each, id=max((one.id for one in self._stored), default=0) + 1)
                self._stored.append(found)
                self._fresh = self._fresh or found.role == "past"
            self._kept[name] = found
        codec = host.codec
        self._rows = {
            each.id: RelationRows(each.id, self._relations[name.removesuffix(PAST)], codec)
            for name, each in self._kept.items()
        }
        passing = {each.id for each in self._stored if each.kind == "stream" or each.dropped}
        self._folding = Folding(folder, host.spark, self._rows, passing, depth)
        self.epoch = folder.manifest.epoch
        self.resumed = self.is_begun
        self.applied: Callable[[], Sequence[str]] = lambda: ()
        self.before: list[Callable[[Sealed, int], None]] = []
        self.after: list[Callable[[int], None]] = []
        self.told: Callable[[str], None] = lambda text: None

    @property
    def place(self) -> str:
        return self.folder.root

    @property
    def read_only(self) -> bool:
        return self.folder.read_only

    @property
    def is_begun(self) -> bool:
        return self.epoch > 0

    def close(self) -> None:
        self._folding.stop()
        self.folder.close()

    def holds_rows(self) -> bool:
        inputs = [each for each in self._kept.values() if each.role == "input" and each.kind != "stream"]
        with spark_failures():
            try:
                return any(map(self._holds_some, inputs))
            except OSError as error:
                raise DDlogError([CannotUseState(self.folder.root, error.strerror or str(error))]) from None

    def _holds_some(self, stored: Stored) -> bool:
        """Whether a relation has rows."""
        import pyarrow as pa

        parts = self._parts(stored, 1, self.epoch)
        plain = [part.rows for part in parts if part.least > 0]
        if stored.kind == "relation" and 2 * sum(plain) > sum(part.rows for part in parts):
            return True  # more rows came than can have gone
        held = self._sum(stored, 1, self.epoch)
        if held is None or isinstance(held, pa.Table):
            return held is not None and held.num_rows > 0
        return not held.isEmpty()

    def known_ids(self) -> set[str]:
        return self._folding.ids()

    def described(self) -> list[str]:
        size = sum(each.bytes for each in self.folder.manifest.files())
        return [f"{self.folder.root}: epoch {self.epoch:,}, {size:,} bytes of Parquet"]

    # ------------------------------------------------------------- epochs

    def seal(self, sealed: Sealed) -> None:
        if self.read_only:
            raise DDlogError([ReadOnlyState(self.folder.root)])
        assert isinstance(sealed, SealedEpoch)
        inputs = sealed.input_tables()
        changes: list[tuple[RelationRows, Table]] = []
        for name, stored in self._kept.items():
            table = inputs.get(name)
            if stored.role != "input":
                table = sealed.output_table(name.removesuffix(PAST))
            if table is not None:
                changes.append((self._rows[stored.id], table))
        for receive in self.before:
            receive(sealed, self.epoch + 1)
        draft = self.folder.draft()
        try:
            parts = [self._written(draft.folder, rows, table) for rows, table in changes]
            self.folder.append(self.epoch + 1, parts, list(self.applied()), self._program, self._stored)
        except BaseException as error:
            self.folder.discard(draft)
            if isinstance(error, OSError):
                reason = error.strerror or str(error)
                raise DDlogError([NotKeptOnDisk(self.folder.root, reason)]) from None
            raise
        self.epoch += 1

    def _written(self, folder: str, rows: RelationRows, table: Table) -> Part:
        files, columns = self.folder.files, [*rows.columns, "w"]
        try:
            if table.local is not None:
                return rows.write(files, folder, table.local.select(columns))
            frame = table.frame.select(*columns)
            return rows.write_frame(files, folder, frame, table.rows, table.least, self._host.spark)
        except ValueError as error:
            raise DDlogError([ValueNotKept(rows.name, str(error))]) from None

    def committed(self) -> None:
        for receive in self.after:
            receive(self.epoch)
        self._folding.wake()

    # ------------------------------------------------------------- beginning

    def begin(self, state: SessionState, static: bool) -> Changes:
        with deferred(), state.diagnosing(), spark_failures():
            try:
                changes, past = self._changes(), self._past()
            except OSError as error:
                raise DDlogError([CannotUseState(self.folder.root, error.strerror or str(error))]) from None
            self._host.runtime.earlier = self.epoch - 1
            deltas = state.epoch(changes, static, None)
            state.delays.resume(past)
            if self.changed:
                check_keys(state)
            if (self.changed or self._fresh) and not static:
                self._settle(state)
            state.started, state.static = True, static
        return state.told(deltas)

    def _changes(self) -> dict[str, SignedTables]:
        """What the inputs, and the relations that rules read with a delay, hold."""
        found = {}
        for name, stored in self._kept.items():
            if stored.role == "input":
                found[name] = self._held(name, stored, self.epoch)
        for name, (source, delay) in self._delays.items():
            found[name] = self._held(name, self._source(source), self.epoch - delay)
        return found

    def _past(self) -> dict[str, list[Kept]]:
        """The changes of the last epochs of each relation that is read with a delay, the latest last."""
        readers: dict[str, list[str]] = {}
        depth = int(self._program["depth"])
        for name, (source, _) in self._delays.items():
            readers.setdefault(source, []).append(name)
        return {
            source: [
                {name: self._batches(name, self._source(source), epoch, epoch) for name in names}
                for epoch in range(max(1, self.epoch - depth + 1), self.epoch + 1)
            ]
            for source, names in readers.items()
        }

    def _source(self, name: str) -> Stored:
        return self._kept.get(f"{name}{PAST}") or self._kept[name]

    def _held(self, name: str, stored: Stored, epoch: int) -> SignedTables:
        """What a stored relation held as of an epoch, as changes of a relation."""
        first = epoch if stored.kind == "stream" else 1
        return self._batches(name, stored, first, epoch) if epoch > 0 else []

    def _batches(self, name: str, stored: Stored, first: int, last: int) -> SignedTables:
        """The changes of a stored relation in some epochs, as changes of a relation."""
        summed = self._sum(stored, first, last)
        return [] if summed is None else self._runtime.batches_of_weights(name, summed)

    def _parts(self, stored: Stored, first: int, last: int) -> list[Part]:
        """The rows of a relation in the files of some epochs."""
        return [
            part
            for span in self.folder.manifest.spans
            if first <= span.last <= last
            for part in span.parts
            if part.relation == stored.id and part.rows
        ]

    def _sum(self, stored: Stored, first: int, last: int) -> pa.Table | DataFrame | None:
        parts = self._parts(stored, first, last)
        if not parts:
            return None
        rows, files = self._rows[stored.id], self.folder.files
        once = len(parts) == 1
        if sum(part.rows for part in parts) <= FEW:
            read = rows.read(files, parts)
            return read if once else rows.summed(read)
        spark = self._host.spark
        frame = rows.read_frame(spark, files, parts)
        return frame if once else rows.summed_frame(spark, frame)

    def _settle(self, state: SessionState) -> None:
        """Brings what the state knows of derived relations up to what they hold: the rules are others than
        before. The differences count as changes of the last epoch."""
        draft, parts = self.folder.draft(), []
        for stored in self._kept.values():
            if stored.role == "past" and stored.kind != "stream":
                name = stored.name.removesuffix(PAST)
                rows, known = self._rows[stored.id], self._sum(stored, 1, self.epoch)
                difference = rows.difference(self._host, name, known)
                if difference.num_rows:
                    make: Callable[[str], Sequence[tuple[Batch, int]]]
                    make = partial(self._runtime.batches_of_weights, rows=difference)
                    state.delays.correct(name, make)
                    parts.append((rows, difference))
        if parts and not self.read_only:
            try:
                written = [rows.write(self.folder.files, draft.folder, table) for rows, table in parts]
                self.folder.add(self.epoch, written, self._program, self._stored)
            except OSError as error:
                self.folder.discard(draft)
                raise DDlogError([CannotUseState(self.folder.root, error.strerror or str(error))]) from None
