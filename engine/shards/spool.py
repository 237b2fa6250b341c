"""The rows of the inputs at the last commit, on the first worker's disk: others that end are started again
with them. A state in a folder has such rows, too, but not every session has one."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile

from ..inprocess.storage.batch import Batch, concat, consolidate
from ..inprocess.storage.interner import Values
from ..schema import Schema
from .wire import Parcel, packed, unpacked

_IN_MEMORY = 1 << 20  # bytes of changes of an input that lie in no file
_FEW = 1 << 24  # bytes of changes that are not added up


class CannotSpool(Exception):
    """The disk does not take the rows of a commit."""


class Spool:
    """The rows of the inputs of a circuit after `epochs` epochs."""

    def __init__(self, values: Values, schemas: Mapping[str, Schema], streams: Collection[str]) -> None:
        self._values, self._schemas, self._streams = values, schemas, streams
        self._changes = {name: _Changes() for name in schemas if name not in streams}
        self._elements: dict[str, Parcel] = {}
        self.epochs = 0

    @contextmanager
    def adding(self, epochs: int, changes: Mapping[str, Batch]) -> Iterator[None]:
        """Adds the changes of a commit, and the elements of streams, which stay if nothing is raised inside.
        Raises CannotSpool."""
        parcels = {name: packed(self._values, self._schemas[name], each) for name, each in changes.items()}
        ends = {name: self._changes[name].end for name in parcels if name not in self._streams}
        try:
            try:
                for name in ends:
                    self._changes[name].add(parcels[name])
            except OSError as error:
                raise CannotSpool(f"cannot write rows of inputs to a temporary file: {error}") from None
            yield
        except BaseException:
            for name, end in ends.items():
                self._changes[name].forget_from(end)
            raise
        self._elements |= {name: parcels[name] for name in parcels.keys() - ends.keys()}
        self.epochs = epochs

    def inputs(self) -> dict[str, Batch]:
        """The rows of each input, and the elements of streams in the last epoch."""
        streams = {name: self._unpacked(name, [each]) for name, each in self._elements.items()}
        return streams | {name: self._summed(name) for name in self._changes}

    def add_up(self) -> None:
        """Puts the rows of an input in place of its changes where these have become many."""
        for name, changes in self._changes.items():
            if changes.are_many:
                changes.become(packed(self._values, self._schemas[name], self._summed(name)))

    def _summed(self, name: str) -> Batch:
        return self._unpacked(name, self._changes[name].all())

    def _unpacked(self, name: str, parcels: Collection[Parcel]) -> Batch:
        schema = self._schemas[name]
        return consolidate(concat([unpacked(self._values, schema, each) for each in parcels], len(schema)))


class _Changes:
    """Changes of one input, in a file."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  it lives as long as this
        self.end, self._many = 0, _FEW

    def add(self, change: Parcel) -> None:
        """Adds a change. Raises OSError, after which the others are there."""
        self._file.seek(self.end)
        pickle.dump(change, self._file, pickle.HIGHEST_PROTOCOL)
        self._file.flush()
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
        except OSError:
            return
        self._file.close()
        self._file, self.end, self._many = other._file, other.end, _FEW + 2 * other.end
