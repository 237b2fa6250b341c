"""Pending changes of a relation whose primary key is some of its columns: batches stay batches while the
runtime finds them legal as they are, and become rows when single rows are asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from ...core import Block, Declare, Expr, GetField, MakeStruct, MakeTuple, Relation, Var, VarPattern
from ...engine.runtime import Batch, ComparingRuntime
from ...values.rows import Row
from .keyed import KeyedChanges, StoredByKey
from .protocol import SignedBatch


@dataclass(slots=True, eq=False)
class _Loaded:
    """A batch to insert (1) or delete (-1), and its changes once they are made row by row."""

    batch: Batch
    rows: Callable[[], Iterable[Row]]
    sign: int
    changes: list[Any] | None = None


class KeyedBatches(KeyedChanges):
    """Batches, or the new row of each touched key. `places` are those of the columns that are the key."""

    _stored: StoredByKey

    def __init__(
        self,
        relation: Relation,
        runtime: ComparingRuntime,
        key_of: Callable[[Row], Hashable],
        show_key: Callable[[Any], str],
        places: Sequence[int],
    ) -> None:
        stored = StoredByKey(relation.name, runtime, key_of, places)
        super().__init__(relation, runtime, key_of, show_key, stored)
        self._comparing, self._places = runtime, places
        self._loaded: list[_Loaded] = []

    def load(self, batch: Batch, rows: Callable[[], Iterable[Row]]) -> None:
        if not self._take(batch, rows, 1):
            super().load(batch, rows)

    def change(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> None:
        if not self._take(batch, rows, sign):
            super().change(batch, rows, sign)

    def clear(self) -> None:
        self._unpack()
        super().clear()

    def get(self, key: Hashable) -> Row | None:
        self._unpack()
        return super().get(key)

    def batches(self) -> list[SignedBatch]:
        return [(each.batch, each.sign) for each in self._loaded] or super().batches()

    def settle(self, committed: bool) -> None:
        if committed and self._stored.is_read:
            self._unpack()
        self._loaded = []
        super().settle(committed)

    def _take(self, batch: Batch, rows: Callable[[], Iterable[Row]], sign: int) -> bool:
        """Takes a batch in as it is, if all of its changes are legal."""
        if self._now:
            return False
        come = [each.batch for each in self._loaded if each.sign > 0]
        gone = [each.batch for each in self._loaded if each.sign < 0]
        name, comparing = self._relation.name, self._comparing
        if sign > 0:
            legal = comparing.has_room(name, self._places, [*come, batch], gone)
        else:
            legal = comparing.covers(name, [*gone, batch])
        if legal:
            self._loaded.append(_Loaded(batch, rows, sign))
            self._log.append(self._loaded[-1])
        return legal

    def _unpack(self) -> None:
        """Makes the changes of the batches row by row."""
        loaded, self._loaded = self._loaded, []
        log = self._log
        for each in loaded:
            self._log = each.changes = []
            (self.insert if each.sign > 0 else self.delete)(list(each.rows()))
        self._log = log

    def _set(self, key: Hashable, row: Row | None) -> None:
        self._unpack()
        super()._set(key, row)

    def _take_back(self, change: Any) -> None:
        if not isinstance(change, _Loaded):
            super()._take_back(change)
        elif change.changes is None:
            self._loaded.remove(change)
        else:
            for each in reversed(change.changes):
                super()._take_back(each)


def key_places(declared: Relation) -> tuple[int, ...]:
    """The places of the columns that are a relation's primary key, in the order of the key; none where it is
    another function of the row."""
    body = None if declared.key is None else declared.key.body
    if not isinstance(body, Block):
        return ()
    match body.items:
        case (Declare(VarPattern(row), MakeStruct()), key):
            names = [column.name for column in declared.columns]
            parts = key.items if isinstance(key, MakeTuple) else (key,)
            fields = [each.name for each in parts if _is_field(each, row)]
            if len(fields) == len(parts) == len(set(fields)) and set(fields) <= set(names):
                return tuple(names.index(name) for name in fields)
    return ()


def _is_field(part: Expr, row: str) -> TypeGuard[GetField]:
    return isinstance(part, GetField) and isinstance(part.arg, Var) and part.arg.name == row
