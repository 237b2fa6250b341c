"""The changes of epochs on their way to subscribers.

The owner publishes an epoch, and the event loop gives it to each subscriber as one text for all. For a
subscriber that is too slow the epochs that wait are added up: the sum of the changes of several epochs is a
change, too, and never larger than the relation before and after together.

An event has an id, `LOG-EPOCH`. Epochs of a state are numbered for ever, so LOG is the same after a
restart; the epochs of a session without a state have another LOG in each process.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from time import time

from ..values.rows import Row
from ..values.tojson import json_text
from .answers import RowTexts, Weighted

PART = 5_000  # rows of a snapshot in one event


@dataclass(frozen=True, slots=True)
class Event:
    """One event for a subscriber: its kind, its id, and its data as JSON."""

    kind: str
    id: str
    data: str

    def sse(self) -> str:
        """The event as a server-sent event."""
        id = f"id: {self.id}\n" if self.id else ""
        return f"event: {self.kind}\n{id}data: {self.data}\n\n"

    def message(self) -> str:
        """The event as a message of a WebSocket."""
        return f'{{"event":"{self.kind}","id":"{self.id}","data":{self.data}}}'


class PublishedEpoch:
    """The changed rows of one epoch, and their text, which is made once for all subscribers of the same
    relations. `transactions` is the number of transactions in it."""

    def __init__(
        self,
        number: int,
        changed: Mapping[str, Weighted],
        texts: RowTexts,
        sizes: Mapping[str, int],
        transactions: int,
        counts: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """`counts` are the numbers of rows that came and went, if not all of them are given."""
        self._counts = counts
        self.number, self.changed, self.texts, self.sizes = number, changed, texts, sizes
        self.transactions, self.at = transactions, time()
        self._made: dict[tuple[str, ...], Event] = {}

    @property
    def rows(self) -> int:
        """The number of changed rows."""
        return sum(map(len, self.changed.values()))

    def event(self, log: str, relations: tuple[str, ...]) -> Event | None:
        """The event for subscribers of some relations; None if none of them changed."""
        if not any(name in self.changed for name in relations):
            return None
        made = self._made.get(relations)
        if made is None:
            part = {name: self.changed[name] for name in relations if name in self.changed}
            made = self._made[relations] = change_event("change", log, self.number, part, self.texts)
        return made

    def summary(self) -> dict[str, object]:
        """The number of rows that came and went, by relation."""
        return {
            "epoch": self.number, "at": self.at, "transactions": self.transactions,
            "sizes": {self.texts.name(each): count for each, count in self.sizes.items()},
            "changes": {self.texts.name(each): count for each, count in self._counted().items()},
        }  # fmt: skip

    def _counted(self) -> Mapping[str, Sequence[int]]:
        return self._counts or {
            name: (sum(w > 0 for _, w in rows), sum(w < 0 for _, w in rows))
            for name, rows in self.changed.items()
        }


def change_event(
    kind: str,
    log: str,
    number: int,
    changed: Mapping[str, Weighted],
    texts: RowTexts,
    since: int | None = None,
) -> Event:
    """An event with changed rows; `since`: they are the sum of the epochs after that one."""
    after = "" if since is None else f'"since":{since},'
    return Event(kind, f"{log}-{number}", f'{{"epoch":{number},{after}"relations":{texts.named(changed)}}}')


def snapshot_events(log: str, number: int, held: Mapping[str, Weighted], texts: RowTexts) -> list[Event]:
    """A snapshot of relations in parts, of which only the last has an id: what came of a snapshot that broke
    off counts for nothing."""
    parts: list[tuple[str, Weighted]] = []
    for name, rows in held.items():
        parts += [(name, rows[at : at + PART]) for at in range(0, max(1, len(rows)), PART)]
    events = []
    for at, (name, rows) in enumerate(parts, 1):
        last = at == len(parts)
        data = f'{{"epoch":{number},"more":{json_text(not last)},"relations":{texts.named({name: rows})}}}'
        events.append(Event("snapshot", f"{log}-{number}" if last else "", data))
    return events


def added_up(epochs: Sequence[PublishedEpoch], relations: Sequence[str]) -> dict[str, Weighted]:
    """The sum of the changes of epochs, in rows that changed altogether."""
    sums: dict[str, Counter[Row]] = {name: Counter() for name in relations}
    for epoch in epochs:
        for name in relations:
            for row, weight in epoch.changed.get(name, ()):
                sums[name][row] += weight
    return {
        name: rows
        for name, each in sums.items()
        if (rows := [(row, weight) for row, weight in each.items() if weight])
    }


class Subscriber:
    """One that is told of the changes of some relations, from an epoch on. Once it is in a feed, all methods
    but `begin_with` are for the event loop."""

    def __init__(self, log: str, relations: tuple[str, ...], since: int, most: int) -> None:
        self.relations, self.since = relations, since
        self._log, self._most = log, most
        self._begin: deque[Event] = deque()
        self._waiting: deque[PublishedEpoch | Event] = deque()
        self._arrived = asyncio.Event()
        self.merged = 0

    def begin_with(self, events: Iterable[Event]) -> None:
        """Lets events come before all others."""
        self._begin.extend(events)

    def give(self, epoch: PublishedEpoch) -> None:
        """Lets an epoch wait for the subscriber."""
        if epoch.number <= self.since:
            return
        if any(name in epoch.changed for name in self.relations):
            self._waiting.append(epoch)
            if len(self._waiting) > self._most:
                self._merge()
            self._arrived.set()
        self.since = epoch.number

    def tell(self, event: Event) -> None:
        """Lets an event wait that is about no epoch."""
        self._waiting.append(event)
        self._arrived.set()

    def go_on(self, log: str, epoch: PublishedEpoch) -> None:
        """Lets the change by another program wait, whose events belong to another log."""
        event = epoch.event(log, self.relations)
        if event is not None:
            self.tell(event)
        self._log, self.since = log, epoch.number

    def _merge(self) -> None:
        """Adds up what waits, as far as the last event about no epoch."""
        epochs: list[PublishedEpoch] = []
        while self._waiting and isinstance(self._waiting[-1], PublishedEpoch):
            last = self._waiting.pop()
            assert isinstance(last, PublishedEpoch)
            epochs.insert(0, last)
        sums = added_up(epochs, self.relations)
        self.merged += len(epochs)
        first = epochs[0].since if isinstance(epochs[0], Merged) else epochs[0].number - 1
        self._waiting.append(Merged(first, epochs[-1], sums))

    async def events(self) -> AsyncIterator[Event]:
        """The events, as they come; after an event `end` no other."""
        while True:
            while self._begin:
                yield self._begin.popleft()
            while self._waiting:
                next = self._waiting.popleft()
                event = next if isinstance(next, Event) else next.event(self._log, self.relations)
                if event is not None:
                    yield event
                    if event.kind == "end":
                        return
            self._arrived.clear()
            if not self._waiting:
                await self._arrived.wait()


class Watcher(Subscriber):
    """One that is told a summary of each epoch; a slow one misses the older of them."""

    def __init__(self, log: str, most: int) -> None:
        super().__init__(log, (), -1, most)

    def give(self, epoch: PublishedEpoch) -> None:
        if len(self._waiting) < self._most:
            self.tell(Event("epoch", "", json_text(epoch.summary())))

    def go_on(self, log: str, epoch: PublishedEpoch) -> None:
        self.give(epoch)


class Merged(PublishedEpoch):
    """The sum of several epochs, for one subscriber."""

    def __init__(self, since: int, last: PublishedEpoch, changed: Mapping[str, Weighted]) -> None:
        super().__init__(last.number, changed, last.texts, last.sizes, 0)
        self.since = since

    def event(self, log: str, relations: tuple[str, ...]) -> Event | None:
        if not self.changed:
            return None
        return change_event("merged", log, self.number, self.changed, self.texts, self.since)


class EpochFeed:
    """The subscribers, those that watch all epochs, and the last epochs."""

    def __init__(self, kept: int) -> None:
        self._kept, self._rows = kept, 0
        self.epochs: deque[PublishedEpoch] = deque()
        self.floor = 0
        """The last epoch whose changes are not kept."""
        self.subscribers: list[Subscriber] = []
        self.lock = RLock()
        """Held while an epoch is published, and while a subscription begins."""

    # ------------------------------------------------------------- in the thread of the session

    def publish(self, epoch: PublishedEpoch) -> None:
        """Keeps an epoch, within the limit of rows."""
        self.epochs.append(epoch)
        self._rows += epoch.rows + 1
        while self._rows > self._kept:
            gone = self.epochs.popleft()
            self._rows -= gone.rows + 1
            self.floor = gone.number

    def forget(self, number: int) -> None:
        """Forgets the epochs up to one: the program is another one, or that epoch is too large."""
        self.epochs.clear()
        self._rows, self.floor = 0, number

    def followed(self) -> set[str]:
        """The relations that someone is told of."""
        return {name for each in self.subscribers for name in each.relations}

    def since(self, number: int) -> list[PublishedEpoch] | None:
        """The epochs after one; None if not all of them are kept."""
        if number < self.floor:
            return None
        return [each for each in self.epochs if each.number > number]

    def add(self, subscriber: Subscriber) -> None:
        """Begins a subscription."""
        with self.lock:
            self.subscribers = [*self.subscribers, subscriber]

    def join(self, subscriber: Subscriber) -> bool:
        """Begins a subscription with all that came since its epoch; False if not all of it is kept."""
        with self.lock:
            epochs = self.since(subscriber.since)
            for each in epochs or ():
                subscriber.give(each)
            if epochs is not None:
                self.add(subscriber)
        return epochs is not None

    # ------------------------------------------------------------- in the event loop

    def deliver(self, epoch: PublishedEpoch) -> None:
        """Gives an epoch to the subscribers."""
        for each in self.subscribers:
            each.give(epoch)

    def tell(self, event: Event) -> None:
        """Gives an event to the subscribers."""
        for each in self.subscribers:
            each.tell(event)

    def remove(self, subscriber: Subscriber) -> None:
        """Ends a subscription."""
        with self.lock:
            self.subscribers = [each for each in self.subscribers if each is not subscriber]
