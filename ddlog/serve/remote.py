"""The relations of a server as the host of a session, so that a session checks changes, reads rows and makes
errors as it does over relations in memory.

A transaction gathers here: rows that its checks need are looked up. A commit sends it whole. If another
client has changed a row that it depends on, it is made again on the rows as they are now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..core import Relation
from ..engine.runtime import Batch, Delta, RowSet
from ..engine.schema import Schema
from ..errors.changes import DifferentValue, KeyExists, KeyMissing
from ..errors.diagnostics import DDlogError, InternalError, warn
from ..errors.installation import version
from ..errors.server import (
    ChangedMeanwhile,
    ChangesNotTold,
    ProgramIsAnother,
    UnknownServer,
    changed_meanwhile,
)
from ..errors.source import Source
from ..io.columns import Columns
from ..io.files import FactFile
from ..io.jsonfiles import json_writer
from ..io.refusals import Refuse
from ..lowering.builder import column
from ..sessions.hosts.host import Offer
from ..sessions.hosts.inprocess import InProcessHost
from ..sessions.hosts.inputrows import IncomingRows, file_rows
from ..sessions.program import Program
from ..sessions.results.listedrows import ListedRows
from ..sessions.transactions.transaction import Transaction
from ..values.rows import Row
from ..values.tojson import to_json
from .answers import ARROW, JSON
from .rowbytes import arrow_change, unpacked
from .wire import Connection, Unpack

_FEW = 1_000
"""The most rows of a transaction that is sent as JSON, which lets it be one epoch with others."""

_CONFLICTS = (DifferentValue, KeyExists, KeyMissing, ChangedMeanwhile)
ATTEMPTS = 10  # to commit a block beside other writers, or to carry out a statement in one


def is_conflict(error: DDlogError) -> bool:
    """True if changes of another client can be why changes are refused that were right before."""
    return all(isinstance(each, _CONFLICTS) for each in error.diagnostics)


@dataclass(frozen=True, slots=True)
class ServedSession:
    """The program of a server, and what it says of its session."""

    program: Program
    kept: frozenset[str]
    log: str
    epoch: int
    durable: bool
    resumed: bool


@dataclass(frozen=True, slots=True)
class ReceivedDelta:
    """The change of a relation. See `Delta`."""

    rows: list[Row]
    weights: list[int]

    def __len__(self) -> int:
        return len(self.rows)


class ReceivedRows:
    """The rows of a relation, fetched when they are first read. See `RowSet`."""

    def __init__(self, relation: Relation, fetch: Callable[[], ListedRows], size: Callable[[], int]) -> None:
        self._relation, self._fetch, self._size = relation, fetch, size
        self._listed: ListedRows | None = None

    @property
    def listed(self) -> ListedRows:
        """The rows. Fetched in a turn of the session, so not while anything else is locked."""
        if self._listed is None:
            self._listed = self._fetch()
        return self._listed

    @property
    def schema(self) -> Schema:
        """The columns."""
        return tuple(column(each.name, each.type) for each in self._relation.columns)

    @property
    def weights(self) -> list[int] | None:
        """The weight of each row; None: all 1."""
        return self.listed.weights

    def columns(self) -> list[list[Any]]:
        """The values column by column."""
        return self.listed.columns()

    def __len__(self) -> int:
        return self._size() if self._listed is None else len(self._listed)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.listed)


class RemoteRuntime:
    """The state of a server, as of now or of a past epoch. See `Runtime`."""

    def __init__(self, wire: Connection, at: int | None = None) -> None:
        self.wire, self.at = wire, at
        self.facts = self.fetched()
        self.changed: Callable[[], None] = lambda: None
        """Called when the server has another program."""
        self.turn: Callable[[], AbstractContextManager[object]] = nullcontext
        """Gives the lock that a call holds: no other thread changes the program during the call."""
        self.in_transaction: Callable[[], bool] = lambda: False
        """Tells if a transaction is open: its changes are made for the program in `facts`."""
        self.read: Callable[[], Sequence[RowsRead]] = tuple
        """Gives the rows that the statements of the open transaction have read."""

    def fetched(self) -> ServedSession:
        """The facts of the server. Raises DDlogError."""
        found, _ = self.wire.call("program", {}, self.at)
        if found["version"] != version():
            reason = f"it is ddlog {found['version']}, and this is {version()}"
            raise DDlogError([UnknownServer(self.wire.url, reason)])
        program = Program(Source(found["name"], found["text"]), found["checked"])
        return ServedSession(
            program, frozenset(found["kept"]), found["log"], found["epoch"], found["durable"],
            found["resumed"],
        )  # fmt: skip

    def call(
        self, method: str, declared: Relation | None = None, *, again: bool = True, **arguments: Any
    ) -> tuple[Any, Unpack]:
        """The answer to a call, after another program was fetched if there is one. Raises DDlogError, also
        within a transaction if there is one, or if the relation of the call is not as declared there."""
        with self.turn():
            try:
                return self.wire.call(method, arguments, self.at, self.facts.log, again)
            except DDlogError as error:
                if not is_about_program(error) or self.in_transaction():
                    raise
                self.refresh()
                if declared is not None and not self._has(declared):
                    raise
            return self.wire.call(method, arguments, self.at, self.facts.log, again)

    def _has(self, declared: Relation) -> bool:
        """True if the program of the server has a relation of that name with the same columns."""
        found = self.facts.program.relations.get(declared.name)
        return found is not None and found.titled_types == declared.titled_types

    def refresh(self) -> None:
        """Goes on with the program that the server has. Raises DDlogError."""
        with self.turn():
            self.facts = self.fetched()
            self.changed()

    def _declared(self, relation: str) -> Relation:
        return self.facts.program.relations[relation]

    def unpacked(self, part: bytes, relation: Relation, more: Mapping[str, Any] | None = None) -> ListedRows:
        """Rows with the columns of a relation, whose types may be `more` than those of the program."""
        return unpacked(part, relation, {**self.facts.program.checked.typedefs, **(more or {})})

    def deltas(self, parts: Mapping[str, bytes]) -> dict[str, Delta]:
        """The changes of output relations."""
        made: dict[str, Delta] = {}
        for name, part in parts.items():
            listed = self.unpacked(part, self._declared(name))
            made[name] = ReceivedDelta(list(listed), listed.weights or [1] * len(listed))
        return made

    # ------------------------------------------------------------- reading

    def rows(self, relation: str) -> RowSet:
        declared = self._declared(relation)

        def fetch() -> ListedRows:
            with self.turn():
                if not self._has(declared):
                    raise DDlogError([ProgramIsAnother()])
                return self.unpacked(self.call("rows", declared, relation=relation)[0], declared)

        return ReceivedRows(declared, fetch, lambda: self.size(relation))

    def size(self, relation: str) -> int:
        size: int = self.call("size", relation=relation)[0]
        return size

    def contains(self, relation: str, rows: Sequence[Row]) -> list[bool]:
        return [weight != 0 for weight in self.lookup(relation, rows)]

    def lookup(self, relation: str, rows: Sequence[Row]) -> list[int]:
        declared, typedefs = self._declared(relation), self.facts.program.checked.typedefs
        given = [_json_row(row, declared, typedefs) for row in rows]
        return list(self.call("lookup", declared, relation=relation, rows=given)[0])

    def find(self, relation: str, values: Mapping[int, Any]) -> list[Row]:
        declared, typedefs = self._declared(relation), self.facts.program.checked.typedefs
        columns = declared.titled_types
        given = {columns[at][0]: to_json(v, columns[at][1], typedefs) for at, v in values.items()}
        found, _ = self.call("find", declared, relation=relation, values=given)
        return list(self.unpacked(found, declared))

    def covers(self, relation: str, batches: Sequence[Batch]) -> bool:
        return False  # rows are looked up one by one

    def has_room(self, relation: str, key: Sequence[int], come: Any, gone: Any) -> bool:
        return False

    def footprint(self) -> Any:
        return self._told("footprint")

    def plans(self) -> Any:
        return self._told("plans")

    def expectations(self) -> Any:
        return self._told("expectations")

    def decisions(self) -> Any:
        return self._told("decisions")

    def _told(self, word: str) -> Any:
        return self.call(word)[0]

    # ------------------------------------------------------------- changes

    def batch(self, relation: str, rows: Sequence[Row]) -> Batch:
        return rows

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> Batch:
        return list(Columns(tuple(columns), 0).rows(self._declared(relation)))

    def commit(
        self, changes: Mapping[str, Sequence[tuple[Batch, int]]], *, static: bool = False, **how: Any
    ) -> dict[str, Delta]:
        return self.transacted(*self.body(changes))[0]

    def transacted(self, content: bytes, media: str) -> tuple[dict[str, Delta], Any]:
        """The changes of output relations by a transaction with this body, and all that the server tells.
        Raises DDlogError."""
        found, _ = self.wire.transact(content, media, self.facts.log)
        self.facts = replace(self.facts, epoch=found["epoch"])
        if found["repeated"]:
            warn([ChangesNotTold()])
        return self.deltas(found["changes"] or {}), found

    def body(
        self, changes: Mapping[str, Sequence[tuple[Batch, int]]], as_json: bool = False
    ) -> tuple[bytes, str]:
        """The body of the transaction, and its type: JSON for few rows or if it has read rows, and otherwise
        Arrow."""
        steps = [
            ("insert" if sign > 0 else "delete", self._declared(name), rows)
            for name, batches in changes.items()
            for rows, sign in batches
            if rows
        ]
        typedefs = self.facts.program.checked.typedefs
        read = [each for each in self.read() if any(each[2])]
        if not as_json and not read and sum(len(rows) for _, _, rows in steps) > _FEW:
            streams = [arrow_change(kind, declared, rows, typedefs) for kind, declared, rows in steps]
            whole = [each for each in streams if each is not None]
            if len(whole) == len(streams):
                return b"".join(whole), ARROW
        texts = []
        for name, rows, weights in read:
            write = json_writer(self._declared(name), typedefs)
            pairs = [f"[{write(row)},{weight}]" for row, weight in zip(rows, weights, strict=True)]
            texts.append(f'{{"read":{{"{name}":[{",".join(pairs)}]}}}}')
        for kind, declared, rows in steps:
            write = json_writer(declared, typedefs)
            texts.append(f'{{"{kind}":{{"{declared.name}":[{",".join(map(write, rows))}]}}}}')
        return f"[{','.join(texts)}]".encode(), JSON

    def tidy(self) -> None:
        pass

    def close(self) -> None:
        if self.at is None:
            self.wire.close()

    def batches(self, relation: str, delta: Delta) -> Any:
        raise InternalError("a session over the wire makes no batches of deltas")

    def query(self, circuit: Any, given: Any = None, most: int | None = None) -> RowSet:
        raise InternalError("a session over the wire has no circuit")

    def attempt(self, changes: Any, look: Callable[[], Any], limit: int | None) -> Any:
        raise InternalError("a session over the wire tries nothing out")

    def before(self, look: Callable[[], Any], limit: int | None) -> Any:
        raise InternalError("a session over the wire knows no state before")

    def births(self, relation: str, rows: Sequence[Row], together: Any) -> None:
        return None


def is_about_program(error: DDlogError) -> bool:
    """True for the error of a server whose program is not the one that the request was made for."""
    return isinstance(error.diagnostics[0], ProgramIsAnother)


def _json_row(row: Row, declared: Relation, typedefs: Any) -> Any:
    from ..values.fromjson import decode_json

    return decode_json(json_writer(declared, typedefs)(row))


class RemoteHost(InProcessHost):
    """A server as a host. See `Host`. It is asked no query, and no host is beside it: the server answers."""

    def __init__(self, program: Program, runtime: RemoteRuntime) -> None:
        self.runtime = runtime
        self.offer = Offer()
        self._program, self._typedefs = program, program.checked.typedefs

    def _read(self, file: FactFile, note: Callable[[str], None], refuse: Refuse | None) -> IncomingRows:
        declared = self._program.relations[file.relation]
        return file_rows(self.runtime, declared, file, self._typedefs, note, refuse)


RowsRead: TypeAlias = tuple[str, tuple[Row, ...], tuple[int, ...]]
"""Rows of a relation, and their weights."""


@dataclass(frozen=True, slots=True)
class StatementStep:
    """The changes of a statement, and the rows that it took from relations without a key, with their weights
    before the transaction."""

    read: tuple[RowsRead, ...]


class RemoteTransaction(Transaction):
    """A transaction whose steps are known, so that it can be made again after a conflict with that of another
    client. What it looked up counts for it alone. One with statements of SQL is not made again: they told the
    client rows and counts, or kept a point."""

    steps: list[Callable[[], None] | StatementStep]
    is_known = True

    @property
    def is_repeatable(self) -> bool:
        """True if no step is a statement or a savepoint: the client can then take all of them again."""
        return not self._points and all(map(callable, self.steps))

    def read(self) -> list[RowsRead]:
        """The rows that statements took."""
        return [rows for step in self.steps if isinstance(step, StatementStep) for rows in step.read]

    def run(self, name: str, rows: Sequence[Any], sign: int, are_taken: bool = False) -> bool:
        return are_taken and super().run(name, rows, sign, are_taken)  # the others are taken in a step

    def took(self, step: Callable[[], None] | StatementStep) -> None:
        """Notes a step that was taken."""
        self.steps.append(step)

    def mark(self) -> Mapping[str, int]:
        return {**super().mark(), _STEPS: len(self.steps)}

    def undo(self, mark: Mapping[str, int]) -> None:
        super().undo(mark)
        del self.steps[mark.get(_STEPS, 0) :]

    def commit(self, static: bool) -> Any:
        steps, is_repeatable = self.steps, self.is_repeatable
        for attempt in range(ATTEMPTS):
            try:
                return super().commit(static)
            except DDlogError as error:
                if is_conflict(error) and not is_repeatable:
                    raise changed_meanwhile(error) from None
                if not is_conflict(error) or not steps or attempt == ATTEMPTS - 1:
                    raise
            self.again(steps)
        raise AssertionError

    def again(self, steps: list[Callable[[], None] | StatementStep]) -> None:
        """Takes the steps of a transaction that is rolled back again, of which none is a statement. Raises
        DDlogError."""
        self.begin()
        try:
            for step in steps:
                assert not isinstance(step, StatementStep)
                step()
        except BaseException:
            self.rollback()
            raise
        self.steps = steps

    def _settle(self, committed: bool) -> None:
        super()._settle(committed)
        self.forget()
        self.steps = []


_STEPS = ""
"""The name, among those of relations in a mark, of the number of steps."""
