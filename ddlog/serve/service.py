"""One session as the server offers it: transactions, questions, subscriptions, and its program."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any, TypeVar

from ..engine.runtime import Batch, Sealed
from ..errors.diagnostics import DDlogError
from ..errors.lookups import NotAnOutput
from ..errors.server import BadRequest, NewPython, OnlyReading, RowsWithoutPlace
from ..errors.state import NeedsState
from ..io.read import too_large
from ..sessions.migration import InputChanges, input_changes, same_columns
from ..sessions.program import Program
from ..sessions.results import Changes, RelationView, Result
from ..sessions.session import Session
from .answers import RowTexts, Weighted
from .copies import CopyRequest, Parent, Send
from .feed import (
    EpochFeed,
    Event,
    PublishedEpoch,
    Subscriber,
    Watcher,
    added_up,
    change_event,
    snapshot_events,
)
from .groupcommit import Answer, Committer, Waiting
from .limits import Limits
from .metrics import Metrics
from .owner import Owner
from .questions import MANY, prepare, told_of
from .transactions import Keys, PlacedUpdates, Updates

T = TypeVar("T")
_FEW = 1 << 16  # bytes of a body that are read at once
_PASTS = 2  # sessions as of past epochs that are kept open


class _Tried(Exception):
    """Ends an epoch that is on trial."""


class Service:
    """A session behind a server. Coroutines are for the event loop, and raise DDlogError; methods that begin
    with `_` and the functions that they give the owner run in the thread of the session."""

    def __init__(self, session: Session, limits: Limits, read_only: bool = False) -> None:
        session.start()
        prepare(session)
        self.session, self.limits, self.read_only = session, limits, read_only
        self._reading = asyncio.Semaphore(1)
        self.metrics, self.began = Metrics(), time.time()
        self.feed = EpochFeed(limits.kept)
        durable = session.epoch is not None
        self._incarnation = "s" if durable else secrets.token_hex(4)
        self._own = 0
        self._bytes: Mapping[str, int] = {}
        self._pasts: OrderedDict[int, Session] = OrderedDict()
        self._take_up()
        self._python = _python_files(self.program)
        self.number = self._number()
        self.feed.floor = self.number
        self.owner = Owner(session, Committer(session, self._committed, self._number), limits)
        self.owner.answers["subscription"] = self._start_in_a_copy
        if session.state.host.offer.is_measured:
            session.measure()

    def _take_up(self) -> None:
        self.program = self.session.program
        text = sha256(self.program.source.text.encode()).hexdigest()
        self.log = f"{self._incarnation}{text[:8]}"
        relations = self.program.relations
        self.texts = RowTexts(relations, self.program.checked.typedefs)
        self._keys = Keys(self.program)
        self.shown = [name for name in told_of(self.program) if self.session.keeps(name)]
        self.sizes = {name: self.session.size(name) for name in self.shown}

    def _number(self) -> int:
        epoch = self.session.epoch
        return self._own if epoch is None else epoch

    # ------------------------------------------------------------- transactions

    async def read(self, read: Callable[[], T], size: int) -> T:
        """The changes that `read` finds in a body of so many bytes. Large ones are read one at a time, in a
        thread beside the other requests. Raises what `read` raises."""
        if size <= _FEW:
            return read()
        async with self._reading:
            return await asyncio.to_thread(self._bounded, read)

    def _bounded(self, work: Callable[[], T]) -> T:
        """What `work` returns, within the memory limit. Raises DDlogError if it is reached."""
        here = self.session.state.host.offer.here
        try:
            with nullcontext() if here is None else here.bounded():
                return work()
        except MemoryError as error:
            raise DDlogError([BadRequest(too_large(error))]) from None

    async def transact(
        self,
        updates: Updates,
        key: str | None,
        tell: Callable[[Changes], Any] | None,
        size: int = 0,
    ) -> Answer:
        """Commits a transaction that came in so many bytes; the answer has what `tell` makes of its changes.
        One with a key is committed once."""
        if self.read_only:
            raise DDlogError([OnlyReading()])
        began = time.perf_counter()

        def apply(session: Session) -> None:
            self._bounded(lambda: updates.apply(session))

        waiting = Waiting(updates.apply if size <= _FEW else apply, updates.touches(self._keys), key, tell)
        try:
            answer = await self.owner.transact(waiting)
        except DDlogError:
            self.metrics.refused += 1
            raise
        self.metrics.transactions += 1
        self.metrics.latency.add(time.perf_counter() - began)
        return answer

    def _committed(self, changes: Changes, transactions: int) -> int:
        self._own += 1
        self._publish(changes, transactions)
        return self.number

    def _publish(self, changes: Changes, transactions: int) -> None:
        self.number = self._number()
        self.metrics.epochs += 1
        counts = {name: changes.counts(name) for name in changes}
        self.sizes = {name: self.session.size(name) for name in self.shown}
        with self.feed.lock:
            told = None if sum(map(sum, counts.values())) <= self.limits.kept else self.feed.followed()
            changed = {name: changes.stored(name) for name in changes if told is None or name in told}
            epoch = PublishedEpoch(self.number, changed, self.texts, self.sizes, transactions, counts)
            if told is None:
                self.feed.publish(epoch)
            else:
                self.feed.forget(self.number)
        if self.owner.loop is not None:
            self.owner.loop.call_soon_threadsafe(self.feed.deliver, epoch)

    # ------------------------------------------------------------- questions

    async def ask(
        self, question: Callable[[Session], Any], epoch: int | None = None, limited: bool = True
    ) -> Any:
        """The answer to a question about the session, or about it as of an epoch. What the answer has of the
        session is to be read by the question itself. Its time is `limited`."""
        self.metrics.questions += 1

        def call() -> Any:
            return question(self.session if epoch is None else self._at(epoch))

        return await self.owner.ask(call, limited=limited)

    async def aside(
        self, asked: CopyRequest, send: Send, here: Callable[[], Awaitable[T]], long: bool = False
    ) -> T | None:
        """Lets a copy of the session send the answer to a request, if a commit runs or the answer takes
        `long`; otherwise returns what `here` returns, which asks the session itself."""
        answer = await self.owner.aside(asked, send, here, long)
        if answer is None:
            self.metrics.questions += 1
        return answer

    def _at(self, epoch: int) -> Session:
        if epoch == self.number:
            return self.session
        if self.session.epoch is None:
            raise DDlogError([NeedsState("the past of a session")])
        if epoch not in self._pasts:
            self._pasts[epoch] = self.session.at(epoch)
            while len(self._pasts) > _PASTS:
                self._pasts.popitem(last=False)[1].close()
        self._pasts.move_to_end(epoch)
        return self._pasts[epoch]

    async def bytes_of(self) -> Mapping[str, int]:
        """The bytes of each relation; while a commit runs, those of the last time."""
        if not self.owner.is_changing:
            self._bytes = await self.ask(_held)
        return self._bytes

    def close_pasts(self) -> None:
        """Closes the sessions as of past epochs."""
        while self._pasts:
            self._pasts.popitem()[1].close()

    async def try_out(self, updates: PlacedUpdates, tell: Callable[[Changes], T]) -> T:
        """What `tell` makes of the changes that a transaction would make. The owner rolls it
        back."""

        def call() -> T:
            found: list[T] = []
            state = self.session.state

            def refuse(sealed: Sealed) -> None:
                found.append(tell(state.told(state.host.offer.shown(sealed.deltas))))
                raise _Tried

            changes = self._changes_of(updates)
            with suppress(_Tried), state.diagnosing():
                state.host.runtime.commit(changes, max_iterations=state.max_iterations, seal=refuse)
            return found[0]

        return await self.owner.ask(call)

    async def after(self, updates: PlacedUpdates, question: Callable[[Session], T]) -> T:
        """The answer to a question about the session as it would be after a transaction."""

        def call() -> T:
            session, state = self.session, self.session.state
            changes = self._changes_of(updates)
            with state.diagnosing(), state.questions.on_trial():
                return state.host.runtime.attempt(changes, lambda: question(session), state.max_iterations)

        return await self.owner.ask(call)

    def _changes_of(self, updates: PlacedUpdates) -> Mapping[str, Sequence[tuple[Batch, int]]]:
        """The changes of an epoch, which are in the transaction now."""
        self._bounded(lambda: updates.apply(self.session))
        return {**self.session.transaction.batches(), **self.session.state.delays.changes()}

    # ------------------------------------------------------------- subscriptions

    async def subscribe(
        self, relations: Sequence[str], last: str | None, snapshot: bool = True
    ) -> Subscriber:
        """A subscription to output relations: what came after the event `last`, or first a snapshot, or
        without one an event `begin`."""
        given = tuple(relations), last, snapshot
        begun: list[Subscriber | Exception | None] = []
        events: list[Event] = []

        async def take(message: Any) -> None:
            if not begun:
                begun.append(message["error"] if "error" in message else self._joined(**message))
            else:
                events.append(message["event"])

        async def here() -> Subscriber:
            return await self.owner.ask(lambda: self._subscribed(*given))

        rows = sum(self.sizes.get(name, 0) for name in relations) if last is None and snapshot else 0
        try:
            found = await self.aside(CopyRequest("subscription", given), take, here, rows > MANY)
        except BaseException:
            if begun and isinstance(begun[0], Subscriber):
                self.feed.remove(begun[0])
            raise
        if found is not None:
            return found
        if isinstance(begun[0], Exception):
            raise begun[0]
        if begun[0] is None:
            return await here()
        begun[0].begin_with(events)
        return begun[0]

    def watch(self) -> Watcher:
        """A subscription to summaries of all epochs."""
        watcher = Watcher(self.log, self.limits.buffered)
        self.feed.add(watcher)
        return watcher

    def _subscribed(self, relations: Sequence[str], last: str | None, snapshot: bool) -> Subscriber:
        names, events = self._started(relations, last, snapshot)
        subscriber = self._joined(names, self.number, self.log)
        assert subscriber is not None
        subscriber.begin_with(events)
        return subscriber

    def _started(
        self, relations: Sequence[str], last: str | None, snapshot: bool
    ) -> tuple[tuple[str, ...], list[Event]]:
        """The relations of a subscription, and the events as far as the last epoch."""
        names = tuple(dict.fromkeys(self._output(each) for each in relations))
        return names, self._begin(names, last, snapshot)

    def _joined(self, names: tuple[str, ...], number: int, log: str) -> Subscriber | None:
        """A subscriber of what comes after an epoch; None if that is not known any more."""
        if len(self.feed.subscribers) >= self.limits.subscribers:
            raise DDlogError([BadRequest(f"there are {self.limits.subscribers:,} subscribers already")])
        subscriber = Subscriber(log, names, number, self.limits.buffered)
        return subscriber if log == self.log and self.feed.join(subscriber) else None

    async def _start_in_a_copy(
        self, relations: Sequence[str], last: str | None, snapshot: bool, parent: Parent
    ) -> None:
        try:
            names, events = await self.owner.ask(lambda: self._started(relations, last, snapshot))
        except DDlogError as error:
            await parent.send({"error": error})
            return
        await parent.send({"names": names, "number": self.number, "log": self.log})
        for event in events:
            await parent.send({"event": event})

    def _output(self, name: str) -> str:
        declared = self.session.state.declared(name)
        if declared.role != "output":
            raise DDlogError([NotAnOutput(name, tuple(map(self.texts.name, self.program.names("output"))))])
        if declared.kind == "stream":
            raise DDlogError([BadRequest(f"{name} is a stream, which has no rows between epochs")])
        return declared.name

    def _begin(self, names: tuple[str, ...], last: str | None, snapshot: bool) -> list[Event]:
        if last is None and not snapshot:
            return [Event("begin", f"{self.log}-{self.number}", f'{{"epoch":{self.number}}}')]
        log, _, text = (last or "").rpartition("-")
        if log == self.log and text.isascii() and text.isdecimal() and int(text) <= self.number:
            since = int(text)
            if since == self.number:
                return []
            epochs = self.feed.since(since)
            if epochs is not None:
                found = (each.event(self.log, names) for each in epochs)
                return [each for each in found if each is not None]
            past = self._past_of(since)
            if past is not None:
                changed = self._difference(past, names)
                return [change_event("merged", self.log, self.number, changed, self.texts, since)]
        held = {name: weighted(self.session[name]) for name in names}
        return snapshot_events(self.log, self.number, held, self.texts)

    def _past_of(self, epoch: int) -> Session | None:
        try:
            return self._at(epoch)
        except DDlogError:
            return None  # no history so far back: the subscriber begins anew

    def _difference(self, past: Session, names: Sequence[str]) -> dict[str, Weighted]:
        before = {name: [(row, -weight) for row, weight in weighted(past[name])] for name in names}
        after = {name: weighted(self.session[name]) for name in names}
        parts = [PublishedEpoch(0, each, self.texts, {}, 0) for each in (before, after)]
        return added_up(parts, names)

    # ------------------------------------------------------------- the program

    async def change_program(
        self, text: str, fill: Mapping[str, str] | None = None, *, own: bool = False
    ) -> dict[str, Any]:
        """Goes on with the program of a text. `fill` gives the values of new columns of inputs with rows, by
        `Relation.column`. `own`: the text is that of the server's file."""
        return await self.owner.ask(lambda: self._changed(text, fill, own), limited=False)

    def _changed(self, text: str, fill: Mapping[str, str] | None, own: bool) -> dict[str, Any]:
        before = self.program
        if before.again is None:
            raise DDlogError([BadRequest("this program cannot be changed: it was not made from a text")])
        made: Program = before.again(replace(before.source, text=text))
        found = input_changes(self.session.state, made)
        gone = {before.relations[name].source_name: self.session.size(name) for name in found.gone}
        if self.session.epoch is None:
            self._check_kept(found, gone)
        changes = self.texts.changes(self.go_on_with(made, fill, own=own))
        migrated = [self.program.relations[name].source_name for name in found.changed]
        return {
            "epoch": self.number, "changes": changes, "warnings": made.warnings,
            "migrated": migrated, "gone": gone,
        }  # fmt: skip

    def _check_kept(self, found: InputChanges, gone: Mapping[str, int]) -> None:
        """Raises DDlogError if rows or values have no place in another program, and no state keeps them."""
        lost = [RowsWithoutPlace(name, count) for name, count in gone.items()]
        for name, columns in found.changed.items():
            shown = self.program.relations[name].source_name
            lost += [RowsWithoutPlace(f"{shown}.{each}", self.session.size(name)) for each in columns]
        if lost:
            raise DDlogError(lost)

    def go_on_with(
        self, made: Program, fill: Mapping[str, str] | None = None, *, own: bool = False
    ) -> Changes:
        """Goes on with another program, and tells subscribers. In the thread of the session. `own`: it is
        that of the server's file, which may bring Python files with it; one that a request brings can only
        use those that run already."""
        self.owner.check_own()
        if self.read_only:
            raise DDlogError([OnlyReading()])
        strange = [] if own else sorted(_python_files(made) - self._python)
        if strange:
            raise DDlogError([NewPython(strange[0])])
        before, changes = self.program, self.session.go_on_with(made, fill)
        self._python |= _python_files(made)
        self.close_pasts()
        self._own += 1
        self._take_up()
        self.number = self._number()
        self.feed.forget(self.number)
        epoch = PublishedEpoch(
            self.number, {name: changes.stored(name) for name in changes}, self.texts, self.sizes, 0
        )
        written = self.texts.changes(changes)
        told = Event("program", "", f'{{"epoch":{self.number},"changes":{written}}}')
        others = {
            name
            for name, each in before.relations.items()
            if name not in made.relations
            or made.relations[name].role != each.role
            or not same_columns(each, before, made.relations[name], made)
        }
        if self.owner.loop is not None:
            self.owner.loop.call_soon_threadsafe(self._tell_program, told, epoch, others)
        return changes

    def _tell_program(self, event: Event, epoch: PublishedEpoch, others: set[str]) -> None:
        for each in self.feed.subscribers:
            each.tell(event)
            if others & set(each.relations):
                each.tell(Event("end", "", '{"reason":"a relation is not what it was"}'))
            else:
                each.go_on(self.log, epoch)


def _held(session: Session) -> Mapping[str, int]:
    """The bytes of each relation."""
    parts = session.state.host.runtime.footprint() or ()
    return {each.name: each.bytes for each in parts if each.kind == "relation"}


def _python_files(program: Program) -> set[str]:
    """The Python files that a program executes."""
    return {str(each.path) for each in program.checked.externs.values()}


def weighted(view: RelationView | Result) -> Weighted:
    """The rows of a table with their weights."""
    stored = view.stored
    rows = list(stored)
    return list(zip(rows, stored.weights or [1] * len(rows), strict=True))
