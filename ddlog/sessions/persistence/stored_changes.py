"""The relations of a state, of now or as of an epoch, as changes of relations of a session's runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from ...durability.history import History
from ...durability.records import Stored
from ...engine.runtime import Batch, Delta
from ..transactions.delays import Kept
from .kept_schema import KeptSchema

if TYPE_CHECKING:
    from ..transactions.state import SessionState

SignedBatches: TypeAlias = list[tuple[Batch, int]]
R = TypeVar("R")
PASSED = "$passed"
"""The end of the name under which the rows of an input are held that came and were forgotten at once."""


class StoredChanges(ABC, Generic[R]):
    """The contents of a state's relations, read as changes. All methods raise DDlogError, and OSError of a
    folder."""

    def __init__(self, names: KeptSchema, told: History[Any, R], runtime: Any) -> None:
        """`runtime` is that of the session: in process, the one over fields."""
        self.names, self.told, self.runtime = names, told, runtime

    @abstractmethod
    def batches(self, name: str, stored: Stored, rows: R) -> Iterable[tuple[Batch, int]]:
        """Rows of a stored relation as changes of the relation `name`."""

    @abstractmethod
    def given(self, epoch: int) -> Mapping[str, Any]:
        """The contents of windows as of an epoch, as the runtime takes them."""

    def held(self, name: str, stored: Stored, epoch: int) -> SignedBatches:
        """The contents of a stored relation after an epoch, as changes of the relation `name`; of a stream,
        its elements in it."""
        return self.signed(name, stored, self.told.held(stored, epoch))

    def of_epoch(self, name: str, stored: Stored, epoch: int) -> SignedBatches:
        """The changes of a stored relation in an epoch, as changes of the relation `name`."""
        return self.signed(name, stored, self.told.of_epoch(stored, epoch))

    def signed(self, name: str, stored: Stored, several: Iterable[R]) -> SignedBatches:
        """Rows, to be applied one after another, as changes of the relation `name`."""
        return [pair for rows in several for pair in self.batches(name, stored, rows)]

    def changes(self, now: int, without: Collection[str] = ()) -> dict[str, SignedBatches]:
        """The contents of the inputs, and of the relations that rules read with a delay, after an epoch, but
        for the relations `without`."""
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

    def begin(self, state: SessionState, epoch: int, changed: bool, static: bool = False) -> dict[str, Delta]:
        """Brings a session that is empty to what held after an epoch. Returns the changes. A limit of
        iterations is one of a commit, and many commits may have taken more together: it holds only if the
        program is another one, `changed`, than that of the last commit."""
        self.runtime.earlier = epoch - 1
        changes, past = self.changes(epoch), self.past(epoch)
        self.runtime.give(self.given(epoch))
        deltas: dict[str, Delta] = state.epoch(changes, static, None, changed)
        state.delays.resume(past)
        return deltas
