"""Rows that do not go through the first worker: processes elsewhere have them, and send each worker its own.

    first worker      a batch with the columns `Elsewhere` ─► commit ─► the workers take up what has come
    processes         rows ─► divided by their owners ─► at the doors of the workers, piece by piece

Somebody who has the rows sends them (`RowHolder.send`) when a commit first needs them at the workers, and
again to workers that were started again: the rows of a commit are those of the first time, or the commit
fails."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..inprocess.storage.batch import Batch, concat
from ..inprocess.storage.interner import Values
from ..inprocess.storage.lazycolumns import LazyColumns
from ..schema import Array, Schema
from .transfers import Doors
from .wire import Parcel, mixed, unpacked


class RowsChanged(Exception):
    """Workers were started again, and the rows of a commit are not to be had for them."""

    def __init__(self, why: str) -> None:
        """`why` says what is the matter with the rows."""
        super().__init__(
            f"a worker ended, and rows of a DataFrame of an earlier commit, which another one needs, {why}: "
            "open the session again"
        )


class Way(NamedTuple):
    """Where the rows of a relation go: the doors of the workers, the name under which all of this time come,
    and the columns by which rows have owners, of the ranks `owning`."""

    doors: Doors
    name: str
    key: tuple[int, ...]
    owning: range


class SentRows(NamedTuple):
    """Rows that one process has sent: their name, their number and the sum of their hashes."""

    name: str
    rows: int
    digest: int


class RowHolder(Protocol):
    """A holder of rows in other processes."""

    @property
    def length(self) -> int:
        """The number of rows."""

    def send(self, way: Way) -> Sequence[SentRows]:
        """Sends all rows to their owners. Raises an error of its own if a worker has ended."""

    def read(self) -> Batch:
        """The rows, as a batch of this process."""

    def differ(self, places: Sequence[int]) -> bool:
        """Whether all rows differ from each other in these columns."""


class Load(NamedTuple):
    """Rows that came to each worker under a name. Of the pieces under it only these count: a task that was
    tried again sent others."""

    name: str
    pieces: tuple[str, ...]


class Elsewhere(LazyColumns):
    """The columns of rows that are elsewhere. This process reads them only if it looks at one."""

    def __init__(self, arity: int, source: RowHolder) -> None:
        super().__init__()
        self.source, self._arity = source, arity
        self._sums: tuple[int, int] | None = None
        self._came: tuple[Doors, Load] | None = None
        self._here: Batch | None = None

    def __len__(self) -> int:
        return self._arity

    def unpack(self, position: int) -> Array:
        if self._here is None:
            self._here = self.source.read()
        return self._here.columns[position]

    @property
    def load(self) -> Load:
        """The load by which the rows came to the workers."""
        assert self._came is not None
        return self._came[1]

    def is_at(self, doors: Doors | None) -> bool:
        """Whether workers have the rows."""
        return self._came is not None and self._came[0] is doors

    def leave(self) -> None:
        """Notes that the workers have no rows any more that came before."""
        self._came = None

    def go(self, doors: Doors, key: tuple[int, ...], owning: range) -> None:
        """Sends the rows to workers, unless these have them. Raises RowsChanged and what the source
        raises."""
        if not self.is_at(doors):
            name = secrets.token_hex(8)
            pieces = self.source.send(Way(doors, name, key, owning))
            sums = sum(each.rows for each in pieces), sum(each.digest for each in pieces) % (1 << 64)
            if sums != (self._sums or sums):
                raise RowsChanged("are others now")
            self._sums = sums
            self._came = doors, Load(name, tuple(each.name for each in pieces))

    def again(self) -> Elsewhere:
        """The same columns for workers that do not have them."""
        other = Elsewhere(self._arity, self.source)
        other._sums = self._sums
        return other


def digest(values: Values, schema: Schema, batch: Batch) -> int:
    """The sum of the hashes of rows, whatever their order."""
    return int(mixed(values, schema, batch.columns, batch.length).sum(dtype=np.uint64))


class Arrivals:
    """The rows that have come to a worker for epochs that have not begun."""

    def __init__(self) -> None:
        self._loads: dict[str, dict[str, list[Parcel]]] = {}
        self._lock = threading.Lock()

    def add(self, load: str, piece: str, parcels: list[Parcel]) -> None:
        """Takes a whole piece."""
        with self._lock:
            self._loads.setdefault(load, {})[piece] = parcels

    def batch(self, values: Values, schema: Schema, load: Load) -> Batch:
        """The rows of a load on this worker."""
        pieces = self._loads.get(load.name, {})
        came = [pieces[name] for name in load.pieces if name in pieces]  # the others had none for this worker
        return concat([unpacked(values, schema, each) for some in came for each in some], len(schema))

    def keep(self, loads: Collection[str]) -> None:
        """Forgets all loads but these."""
        with self._lock:
            self._loads = {name: pieces for name, pieces in self._loads.items() if name in loads}
