"""The contents of a state, of now or as of an epoch, as changes for the runtime of a session that begins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...durability.contents import Contents, Untold
from ...durability.forms import Rows
from ...durability.history import History
from ...durability.records import Stored
from ...engine.runtime import Batch, Runtime
from ..transactions.delays import Kept
from .kept_schema import StoredNames
from .keptrelations import KeptRelations
from .windowed import PASSED, KeptWindows

if TYPE_CHECKING:
    import pyarrow as pa

SignedBatches: TypeAlias = list[tuple[Batch, int]]
Reading: TypeAlias = Contents | History


@dataclass(frozen=True, slots=True)
class Resumption:
    """The changes with which a session begins, all from `contents`: `changes` of inputs, for one epoch;
    `past`, the changes of the last epochs of each relation that is read with a delay, the latest last;
    `given`, the contents of windows, by the names of `KeptWindows`."""

    changes: Mapping[str, Sequence[tuple[Batch, int]]]
    past: Mapping[str, Sequence[Kept]]
    contents: Reading
    given: Mapping[str, Sequence[tuple[Batch, int]]]


class StoredChanges(ABC):
    """The relations of a state, in a file or a folder, as changes of relations of a runtime. All methods
    raise DDlogError, and OSError of a folder."""

    names: StoredNames

    @abstractmethod
    def held(self, name: str, stored: Stored, epoch: int) -> SignedBatches:
        """What a stored relation held after an epoch, as changes of the relation `name`; of a stream, its
        elements in it."""

    @abstractmethod
    def of_epoch(self, name: str, stored: Stored, epoch: int) -> SignedBatches:
        """How an epoch changed a stored relation, as changes of the relation `name`."""

    def changes(self, now: int, without: Collection[str] = ()) -> dict[str, SignedBatches]:
        """What the inputs, and the relations that rules read with a delay, held after an epoch, but for the
        relations `without`."""
        names, found = self.names, dict[str, SignedBatches]()
        for name, stored in names.stored.items():
            if stored.role == "input" and name not in without:
                found[name] = self.held(name, stored, now)
        for name, (source, delay) in names.delays.items():
            if name not in without:
                found[name] = self.held(name, names.source(source), now - delay) if now > delay else []
        return found

    def past(self, now: int) -> dict[str, Sequence[Kept]]:
        """The changes of the epochs up to one of each relation that is read with a delay, the latest last."""
        readers: dict[str, list[str]] = {}
        for name, (source, _) in self.names.delays.items():
            readers.setdefault(source, []).append(name)
        return {
            source: [
                {name: self.of_epoch(name, self.names.source(source), epoch) for name in names}
                for epoch in range(max(1, now - self.names.depth + 1), now + 1)
            ]
            for source, names in readers.items()
        }

    def changes_of(self, epoch: int) -> dict[str, SignedBatches]:
        """The changes of the inputs in an epoch, with the rows that came in it and were forgotten."""
        found: dict[str, SignedBatches] = {}
        for name, stored in self.names.stored.items():
            if stored.role in ("input", "passed"):
                of = name.removesuffix(PASSED)
                found.setdefault(of, []).extend(self.of_epoch(of, stored, epoch))
        return found


def window_contents(
    windows: KeptWindows, names: StoredNames, now: int
) -> Iterator[tuple[str, Stored, range]]:
    """Where the contents of windows as of an epoch are: the name of each, a stored relation, and the epochs
    after which what it held is in the window."""
    for name in windows.nodes:
        if name in windows.last:
            source, length = windows.last[name]
            yield name, names.source(source), range(max(1, now - length + 1), now + 1)
        elif name in names.stored:
            yield name, names.stored[name], range(now, now + 1)


class Beginning(StoredChanges):
    """What a file keeps, read from `contents`, for a runtime over fields."""

    def __init__(self, kept: KeptRelations, contents: Reading, runtime: Runtime) -> None:
        self.names = self._kept = kept
        self._contents, self._runtime = contents, runtime

    def resumption(self, now: int) -> Resumption:
        """The contents of the state after the epoch `now`."""
        return Resumption(self.changes(now), self.past(now), self._contents, self.given(now))

    def given(self, now: int) -> dict[str, SignedBatches]:
        """The contents of windows as of an epoch."""
        return {
            name: [pair for epoch in epochs for pair in self.held(name, stored, epoch)]
            for name, stored, epochs in window_contents(self._kept.windows, self._kept, now)
        }

    def since(self, epoch: int, now: int) -> dict[str, SignedBatches] | None:
        """The changes of inputs from the state after an epoch to the one after `now`; None if they cannot be
        told apart from others."""
        contents, kept = self._contents, self._kept
        assert isinstance(contents, Contents)
        changes: dict[str, SignedBatches] = {}
        readers = [(name, stored, 0) for name, stored in kept.stored.items() if stored.role == "input"]
        readers += [(name, kept.source(source), delay) for name, (source, delay) in kept.delays.items()]
        try:
            for name, stored, delay in readers:
                if stored.kind == "stream":
                    changes[name] = self.of_epoch(name, stored, now - delay)
                    continue
                tables = contents.between(stored.id, epoch - delay, now - delay)
                changes[name] = [pair for table in tables for pair in self._signed(name, stored, table)]
        except Untold:
            return None
        return changes

    def held(self, name: str, stored: Stored, epoch: int) -> SignedBatches:
        at = self._contents.of_epoch if stored.kind == "stream" else self._contents.until
        return [pair for table in at(stored.id, epoch) for pair in self._signed(name, stored, table)]

    def of_epoch(self, name: str, stored: Stored, epoch: int) -> SignedBatches:
        tables = self._contents.of_epoch(stored.id, epoch)
        return [pair for table in tables for pair in self._signed(name, stored, table)]

    def _signed(self, name: str, stored: Stored, table: pa.Table) -> Iterator[tuple[Batch, int]]:
        return signed(self._runtime, self._kept.forms[stored.id].rows(table), name)


def signed(runtime: Runtime, rows: Rows, name: str) -> Iterator[tuple[Batch, int]]:
    """Rows as changes of an input of a runtime over fields: deletions first."""
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
