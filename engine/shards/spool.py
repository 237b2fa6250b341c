"""The rows of the inputs at the last commit, and what nodes remember beside them: workers that end are
started again with these.

Of most commits the change of each input is on the first worker's disk. Of one whose rows came from elsewhere
(`arriving`) it is known where they came from, and what the commit was given beside them. A state in a folder
has such rows, too, but not every session has one."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import NamedTuple, TypeAlias

import numpy as np

from ..inprocess.storage.batch import Batch, concat, consolidate
from ..inprocess.storage.interner import Values
from ..schema import Schema
from .arrivals import Elsewhere
from .wire import Parcel, packed, unpacked

_IN_MEMORY = 1 << 20  # bytes of changes of an input that lie in no file
_FEW = 1 << 24  # bytes of changes that are not added up

Signed: TypeAlias = tuple[Batch, int]


class CannotSpool(Exception):
    """The disk does not take the rows of a commit."""


class Change(NamedTuple):
    """The change of an input by an epoch, or the elements of a stream: the number of its rows, and how to
    read it before the epoch ends. `is_away`: it is in the workers."""

    length: int
    read: Callable[[], Batch]
    is_away: bool = False


class GivenRows(NamedTuple):
    """Rows that a commit was given, to insert (1) or to delete (-1), in the order of the commit."""

    rows: Elsewhere | _Changes
    length: int
    sign: int


class Spool:
    """The rows of the inputs of a circuit after `epochs` epochs, and under other names the contents of nodes.
    `streams` are those of which each epoch ends the elements of the one before."""

    def __init__(self, values: Values, schemas: Mapping[str, Schema], streams: Collection[str]) -> None:
        self._values, self._schemas, self._streams = values, schemas, streams
        self._parts: dict[str, list[_Changes | GivenRows]] = {name: [] for name in schemas}
        self.epochs = 0

    @contextmanager
    def adding(
        self, epochs: int, changes: Mapping[str, Change], given: Mapping[str, Sequence[Signed]]
    ) -> Iterator[None]:
        """Adds the changes of a commit, and the elements of streams, which stay if nothing is raised inside;
        `given` are the rows that it was given. Raises CannotSpool."""
        before = {name: (list(parts), _end(parts)) for name, parts in self._parts.items()}
        try:
            for name in self._streams:
                self._parts[name] = []
            for name, change in changes.items():
                if change.is_away:
                    self._parts[name] += [self._given(name, *each) for each in given[name]]
                else:
                    self._add(name, packed(self._values, self._schemas[name], change.read()))
            yield
        except BaseException:
            for name, (parts, end) in before.items():
                self._parts[name] = parts
                if end is not None:
                    self._last(name).forget_from(end)
            raise
        self.epochs = epochs

    def _given(self, name: str, batch: Batch, sign: int) -> GivenRows:
        if isinstance(batch.columns, Elsewhere):
            return GivenRows(batch.columns.again(), batch.length, sign)
        rows = _Changes()
        rows.add(packed(self._values, self._schemas[name], batch))
        return GivenRows(rows, batch.length, sign)

    def _add(self, name: str, change: Parcel) -> None:
        parts = self._parts[name]
        if not parts or isinstance(parts[-1], GivenRows):
            parts.append(_Changes())
        self._last(name).add(change)

    def _last(self, name: str) -> _Changes:
        last = self._parts[name][-1]
        assert isinstance(last, _Changes)
        return last

    def rows(self, names: Iterable[str]) -> dict[str, list[Signed]]:
        """What makes the rows under each name of nothing, and the elements of streams in the last epoch:
        batches to insert (1) and to delete (-1), in order."""
        return {
            name: [each for part in self._parts[name] for each in self._read(name, part)] for name in names
        }

    def _read(self, name: str, part: _Changes | GivenRows) -> Iterator[Signed]:
        if isinstance(part, _Changes):
            whole = self._summed(name, part)
            if whole.positive():
                yield whole, 1
                return
            weights = whole.weight_array()
            yield whole.take(np.flatnonzero(weights < 0)).negated(), -1
            yield whole.take(np.flatnonzero(weights > 0)), 1
        elif isinstance(part.rows, Elsewhere):
            yield Batch(part.rows, part.length), part.sign
        else:
            (rows,) = part.rows.all()
            yield unpacked(self._values, self._schemas[name], rows), part.sign

    def add_up(self) -> None:
        """Puts the sum of the last changes of an input in place of them where they have become many."""
        for name, parts in self._parts.items():
            last = parts[-1] if parts else None
            if isinstance(last, _Changes) and last.are_many:
                last.become(packed(self._values, self._schemas[name], self._summed(name, last)))

    def clear(self) -> None:
        """Forgets all: workers are not started again."""
        self._parts = {name: [] for name in self._parts}

    def _summed(self, name: str, changes: _Changes) -> Batch:
        schema = self._schemas[name]
        parts = [unpacked(self._values, schema, each) for each in changes.all()]
        return consolidate(concat(parts, len(schema)))


def _end(parts: Sequence[_Changes | GivenRows]) -> int | None:
    """The bytes of the changes after which others would be added."""
    return parts[-1].end if parts and isinstance(parts[-1], _Changes) else None


class _Changes:
    """Changes of one input, in a file."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  it lives as long as this
        self.end, self._many = 0, _FEW

    def add(self, change: Parcel) -> None:
        """Adds a change. Raises CannotSpool, after which the others are there."""
        try:
            self._file.seek(self.end)
            pickle.dump(change, self._file, pickle.HIGHEST_PROTOCOL)
            self._file.flush()
        except OSError as error:
            raise CannotSpool(f"cannot write rows of inputs to a temporary file: {error}") from None
        self.end = self._file.tell()

    def forget_from(self, end: int) -> None:
        """Forgets the changes after so many bytes."""
        self.end = end

    @property
    def are_many(self) -> bool:
        """Whether the changes have become many more than when they were last added up."""
        return self.end > self._many

    def all(self) -> list[Parcel]:
        """The changes."""
        self._file.seek(0)
        found = []
        while self._file.tell() < self.end:
            found.append(pickle.load(self._file))
        return found

    def become(self, rows: Parcel) -> None:
        """Takes rows in place of all changes, if the disk has room for both."""
        other = _Changes()
        try:
            other.add(rows)
        except CannotSpool:
            return
        self._file.close()
        self._file, self.end, self._many = other._file, other.end, _FEW + 2 * other.end
