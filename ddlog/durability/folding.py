"""Folding: spans that follow each other become one, with the sum of their changes.

    8 epochs, then 4, then 2, then 1:   ████████|████|██|█|█    →    ████████|████████

Newer spans are folded together until they hold about as much as the one before them, so that a row is written
again a number of times that is the logarithm of the state's size. Deletions are only gone for good when all
spans are folded, which is due when half of what the spans hold is not in their sum.

The rows are read, summed up and written aside in small transactions, and a last one puts the new span in the
place of the old ones. These stay for questions about the past, as many as a share of the state's size allows.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

from .parts import packed, sliced
from .records import EpochSpan, Stored
from .store import FileStore
from .sums import form_of, in_one_form, merged, summed

MANY = 1024
"""The number of loose spans that are worth a fold."""

_LOOSE_BYTES = 4 << 20  # of the newest spans, from which on they are folded
_SLICE_ROWS = 1 << 16  # rows of a part: what one transaction of SQLite writes while commits wait
_SPANS_AT_ONCE = 200  # that one transaction of SQLite deletes
_HISTORY_BYTES = 4 << 20  # of the past that are kept, or half of those of the state, if that is more
_PAGES_AT_ONCE = 256  # that one transaction gives back to the system
_FEW_ROWS = 1 << 16  # that spans may have beyond twice those that are there, until all are folded
_MOST_SPANS = 4096  # that are folded at once
_SPAN_BYTES = 512  # of the records of a span beside its data


class FileFolding:
    """Folds the spans of a store. `depth` is the number of epochs before the last that have to be told apart,
    `live` counts the rows that the state holds, `apart` gives the epoch of the checkpoint: what came after it
    is kept apart. `pause` is called between transactions, and says whether to give up."""

    def __init__(
        self,
        store: FileStore,
        depth: int,
        live: Callable[[], int],
        apart: Callable[[], int],
        pause: Callable[[], bool],
    ) -> None:
        self._store, self._depth, self.live, self._apart = store, depth, live, apart
        self._pause = pause
        self.joined = 0
        """The epoch before which no epoch can be told from the one after it."""
        self._one_at_a_time = threading.Lock()
        self._seen = 0, 0  # the spans and the bytes written when there was last nothing to do

    def fold_if_due(self) -> None:
        """Folds spans, if there are many. Raises DDlogError, OSError and sqlite3.Error; then they stand."""
        with self._one_at_a_time, short_turns():
            self._fold_if_due()

    def _fold_if_due(self) -> None:
        now = self._store.head.spans, self._store.written
        if now[0] - self._seen[0] < MANY // 4 and now[1] - self._seen[1] < _LOOSE_BYTES:
            return
        reading = FileStore.open(self._store.path, read_only=True)
        try:
            chosen = self._chosen(reading, reading.current())
            if sum(span.kind == "epochs" for span in chosen) > 1:
                fold(self._store, reading, chosen, self._pause)
                self._note(chosen)
                self._prune()
        finally:
            reading.close()
        self._seen = self._store.head.spans, self._store.written

    def _note(self, chosen: Sequence[EpochSpan]) -> None:
        apart = self._apart()
        if chosen[0].first <= apart < chosen[-1].last:
            self.joined = chosen[-1].last

    def _chosen(self, reading: FileStore, current: Sequence[EpochSpan]) -> Sequence[EpochSpan]:
        """The spans to be folded together: the newest that may be, and those before them that are not much
        larger; or all, if there are many deletions."""
        last = reading.head.epoch - self._depth - 1
        able = [span for span in current if span.last <= last]
        if not able:
            return ()
        if reading.rows_of(able) > 2 * self.live() + _FEW_ROWS:
            return able
        apart = self._apart()
        after = [span for span in able if span.first > apart]
        return self._newest(after) or self._newest([span for span in able if span.last <= apart])

    def _newest(self, able: Sequence[EpochSpan]) -> Sequence[EpochSpan]:
        """The newest of some spans, and those before them that are not much larger, if they are many."""
        if not able:
            return ()
        start, size = len(able) - 1, able[-1].bytes
        while start and able[start - 1].bytes <= 2 * size:
            start -= 1
            size += able[start].bytes
        chosen = able[start:]
        return chosen[:_MOST_SPANS] if len(chosen) >= MANY or size >= _LOOSE_BYTES else ()

    def _prune(self) -> None:
        """Removes the oldest spans that are kept only for questions about the past, if they are large."""
        reading = FileStore.open(self._store.path, read_only=True)  # the lock of the other is for commits
        try:
            spans = reading.spans()
        finally:
            reading.close()
        kept = max(_HISTORY_BYTES, sum(span.bytes for span in spans if not span.folded) // 2)
        gone, size = list[EpochSpan](), 0
        for span in sorted((span for span in spans if span.folded), key=lambda each: -each.last):
            size += span.bytes + _SPAN_BYTES
            if size > kept:
                gone.append(span)
        for at in range(0, len(gone), _SPANS_AT_ONCE):
            if self._pause():
                return
            some = gone[at : at + _SPANS_AT_ONCE]
            with self._store.writing(aside=True):
                self._store.remove_spans(some)
            for _ in self._store.remove_parts(some):
                if self._pause():
                    return
        while not self._pause() and self._store.give_back(_PAGES_AT_ONCE):
            pass


def fold(
    store: FileStore,
    reading: FileStore,
    spans: Sequence[EpochSpan],
    ended: Callable[[], bool],
    drop: bool = False,
) -> None:
    """Puts one span in the place of several that follow each other. `reading` is the same state, open for
    reading; `drop` leaves out the relations that are dropped. Raises DDlogError, OSError and sqlite3.Error;
    then the old spans stand."""
    parts, there = [], reading.relations_in(spans)
    for stored in reading.relations:
        if stored.id not in there:
            continue
        if stored.kind == "stream" or (drop and stored.dropped):  # no epoch of a stream is still needed
            reading.check(spans, stored.id)
            continue
        for part in _parts(reading, stored, spans):
            if ended():
                return
            parts.append(part)
    reading.let_go()  # or SQLite's log grows until the end
    start, size, sums = store.reserve(len(parts)), 0, []
    for number, part in enumerate(parts):
        if ended():
            return
        sums.append(store.put_part(start + number, *part))
        size += len(part[2])
    store.replace_spans(spans, (start, len(parts), size, tuple(sums)))


def _parts(
    reading: FileStore, stored: Stored, spans: Sequence[EpochSpan]
) -> Iterator[tuple[int, int, bytes]]:
    tables = merged(table for table in reading.rows(spans, stored.id) if table.num_rows)
    if not tables:
        return
    for _, group in groupby(
        in_one_form(tables), key=form_of
    ):  # values that only a text gives back have another form
        total = summed(list(group), stored.kind == "relation")
        for start in range(0, total.num_rows, _SLICE_ROWS):
            part = total.slice(start, _SLICE_ROWS).unify_dictionaries().combine_chunks()
            for batch in part.to_batches():
                for each in sliced(batch, _SLICE_ROWS, total.num_rows > _SLICE_ROWS):
                    yield stored.id, each.num_rows, packed(each)


_TURN = 0.0005  # seconds that a thread may go on while others wait


@contextmanager
def short_turns() -> Iterator[None]:
    """A context in which the threads of Python change more often. A commit lets others run at each call of
    SQLite, and would then wait for the whole turn of a thread that folds. The garbage collector is off: the
    records of spans are many, but make no cycles, and it would look at all objects of the process."""
    before, collects = sys.getswitchinterval(), gc.isenabled()
    sys.setswitchinterval(min(before, _TURN))
    gc.disable()
    try:
        yield
    finally:
        sys.setswitchinterval(before)
        if collects:
            gc.enable()
