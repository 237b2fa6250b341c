"""The past in the log of a checkpoint: what relations that rules read with a delay held, epoch by epoch.

A relation R that is read with a delay can follow from its own past, which no sum of the inputs tells. So an
epoch of the log has the change of R beside those of the inputs, under the name R$past. The last epochs, as
many as the longest delay, stay apart when the log is summed up. A session that begins with a log gives each
R-n what R held n epochs before the last one, and has the changes of the last epochs at hand, as if it had run
them. Of an input stream only the elements of the last epoch count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...durability.inputs import PAST
from ...engine.runtime import Batch, Delta
from ...sessions.session import Session
from ...sessions.transactions.delays import Kept
from ...values.rows import Row
from ..types.codec import SparkCodec
from .changelog import ChangeColumns, part, read_frame, read_rows, signs, write_change, write_rows
from .durable import folder_size
from .folding import folded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .checkpoint import Checkpoint
    from .log import Entry

PARTS = 1 << 20
"""More parts than an epoch has."""

_SMALL = 1 << 20  # bytes of Parquet that are read on the driver
_FEW = 10_000  # rows that are written from the driver


def is_past(name: str) -> bool:
    """Whether a name in a log is that of the past of a relation."""
    return name.endswith(PAST)


class LoggedPast:
    """The past of one session's relations in the log of a checkpoint. `depth` is the number of epochs that
    stay apart in the log."""

    def __init__(self, session: Session, spark: SparkSession, codec: SparkCodec) -> None:
        self._session, self._spark, self._codec = session, spark, codec
        self._relations = session.program.relations
        self._delayed = session.state.delays.delayed
        streams = [name for name in session.program.names("input") if self.is_stream(name)]
        self.depth = max((delay for _, delay in self._delayed.values()), default=1 if streams else 0)
        self.names = ", ".join(sorted({source for source, _ in self._delayed.values()} or set(streams)))

    def columns(self, name: str) -> ChangeColumns:
        """The columns of a relation, or of its past, in tables of changes."""
        return ChangeColumns(self._relations[name.removesuffix(PAST)], self._codec, is_past(name))

    def is_stream(self, name: str) -> bool:
        """Whether only the elements of an epoch count."""
        relation = self._relations.get(name.removesuffix(PAST))  # of another program, perhaps
        return relation is not None and relation.kind == "stream"

    def last(self) -> dict[str, Delta]:
        """The changes of the relations that rules read with a delay, in the last epoch."""
        past = self._session.state.delays.past
        return {name: changes[-1] for name, changes in past.items() if not isinstance(changes[-1], dict)}

    # ------------------------------------------------------------- writing

    def written(self, checkpoint: Checkpoint, entry: Entry, deltas: Mapping[str, Delta]) -> Entry:
        """The entry with the changes of the relations that are read with a delay, as data beside those of
        the inputs."""
        some = {source: delta for source, delta in deltas.items() if len(delta)}
        found = replace(entry, changed=(*entry.changed, *(f"{source}{PAST}" for source in some)))
        for position, (source, delta) in enumerate(some.items(), len(entry.changed)):
            self._write(source, delta, entry, position, checkpoint.data_folder(found, position))
        return found

    def begun(self, checkpoint: Checkpoint, first: Entry) -> Iterator[Entry]:
        """The entries for the state before all batches: one for each of the last commits, since each is seen
        with a delay."""
        past, commits = self._session.state.delays.past, self._session.state.epochs
        count = max(1, min(commits, self.depth))
        for number in range(count):
            deltas: dict[str, Delta] = {}
            earlier = list[tuple[str, Sequence[tuple[Row, int]]]]()
            for source, changes in past.items():
                place = number - (count - len(changes))
                if place == 0 and commits > len(changes) and not self.is_stream(source):
                    earlier.append((source, self._until(source, changes[1:])))
                elif place >= 0 and not isinstance(changes[place], dict):
                    deltas[source] = changes[place]  # type: ignore[assignment]  # no earlier session
            entry = self.written(checkpoint, replace(first, epoch=number), deltas)
            yield self._with_rows(checkpoint, entry, earlier)

    def _until(self, source: str, later: Iterable[Any]) -> list[tuple[Row, int]]:
        """What a relation held before some of the last changes."""
        held = dict(self._contents(source))
        for delta in later:
            for row, weight in zip(delta.rows, delta.weights, strict=True):
                held[row] = held.get(row, 0) - weight
        return [(row, weight) for row, weight in held.items() if weight]

    def _contents(self, relation: str) -> list[tuple[Row, int]]:
        rows = self._session.state.host.runtime.rows(relation)
        return list(zip(rows, rows.weights or [1] * len(rows), strict=True))

    def _with_rows(
        self, checkpoint: Checkpoint, entry: Entry, rows: Sequence[tuple[str, Sequence[tuple[Row, int]]]]
    ) -> Entry:
        found = replace(entry, changed=(*entry.changed, *(f"{source}{PAST}" for source, _ in rows)))
        for position, (source, signed) in enumerate(rows, len(entry.changed)):
            folder = checkpoint.data_folder(found, position)
            write_rows(signed, self.columns(f"{source}{PAST}"), entry.epoch * PARTS + position, folder)
        return found

    def _write(self, source: str, delta: Delta, entry: Entry, position: int, folder: Path) -> None:
        columns, sequence = self.columns(f"{source}{PAST}"), entry.epoch * PARTS + position
        if self._session.on_spark and len(delta) > _FEW:
            frame: DataFrame = self._session.state.host.delta_frame(delta)
            write_change(frame.toDF(*columns.names, "_op"), sequence, folder)
        else:
            write_rows(list(zip(delta.rows, delta.weights, strict=True)), columns, sequence, folder)

    # ------------------------------------------------------------- resuming

    @contextmanager
    def resumed(self, checkpoint: Checkpoint) -> Iterator[None]:
        """The epoch that runs inside gives the delayed relations what they held after the last epoch of the
        log. Later epochs go on from there."""
        if not self._delayed or checkpoint.last is None:
            yield
            return
        last = checkpoint.last.epoch
        readers: dict[str, list[str]] = {}
        changes: Kept = {}
        for name, (source, delay) in self._delayed.items():
            readers.setdefault(source, []).append(name)
            first = last - delay if self.is_stream(source) else 0
            gone = [(batch, -sign) for batch, sign in self._given(name, source, delay)]
            changes[name] = [*gone, *self._held(checkpoint, name, source, first, last - delay)]
        past: dict[str, list[Kept]] = {
            source: [
                {name: self._held(checkpoint, name, source, epoch, epoch) for name in names}
                for epoch in range(max(0, last - self.depth + 1), last + 1)
            ]
            for source, names in readers.items()
        }
        with self._session.state.delays.resuming(changes, past):
            yield

    def _given(self, name: str, source: str, delay: int) -> list[tuple[Batch, int]]:
        """What this session gave a delayed relation before the log came in."""
        if self.is_stream(source) or self._session.state.epochs <= delay:
            return []
        later = self._session.state.delays.past[source][-delay:]
        return self._batches(name, self._until(source, later))

    def _held(
        self, checkpoint: Checkpoint, name: str, source: str, first: int, last: int
    ) -> list[tuple[Batch, int]]:
        """What the epochs of a log, from one to another, make of a relation, for its delayed relation."""
        folders = checkpoint.data(f"{source}{PAST}", first, last) if last >= 0 else []
        columns = self.columns(f"{source}{PAST}")
        if not self._session.on_spark or sum(map(folder_size, folders)) <= _SMALL:
            return self._batches(name, _summed(read_rows(columns, folders)))
        frame = folded(self._spark, columns, read_frame(self._spark, columns, folders)).persist()
        try:
            runtime: Any = self._session.state.host.runtime
            parts = ((sign, part(self._spark, columns, frame, sign)) for sign in (-1, 1))
            present = signs(self._spark, frame)
            return [(runtime.batch_from_frame(name, rows), sign) for sign, rows in parts if sign in present]
        finally:
            frame.unpersist()

    def _batches(self, name: str, rows: Sequence[tuple[Row, int]]) -> list[tuple[Batch, int]]:
        make = partial(self._session.state.host.runtime.batch, name)
        few = ((sign, [row for row, w in rows for _ in range(w * sign)]) for sign in (-1, 1))
        return [(make(some), sign) for sign, some in few if some]

    def settle(self, checkpoint: Checkpoint) -> None:
        """Brings what the log knows of the relations up to what they hold now: the rules may be others than
        before. The difference counts as a change of the last epoch."""
        assert checkpoint.last is not None
        rows = []
        for source in sorted({source for source, _ in self._delayed.values()}):
            if not self.is_stream(source):
                name = f"{source}{PAST}"
                logged = _summed(read_rows(self.columns(name), checkpoint.data(name)))
                differences = _summed([*self._contents(source), *((row, -w) for row, w in logged)])
                if differences:
                    rows.append((source, differences))
                    self._session.state.delays.correct(source, partial(self._batches, rows=differences))
        if rows:
            checkpoint.amend(self._with_rows(checkpoint, checkpoint.last, rows))


def _summed(rows: Iterable[tuple[Row, int]]) -> list[tuple[Row, int]]:
    sums: dict[Row, int] = {}
    for row, weight in rows:
        sums[row] = sums.get(row, 0) + weight
    return [(row, weight) for row, weight in sums.items() if weight]
