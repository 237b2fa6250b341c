"""The account of one epoch of a recursion in process. See `engine.account`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from ... import memory
from ...account import Account
from ...maintenance import Costs, ImportSize, Maintaining, Situation
from ..arrangements.views import Readable
from .memories import Imported

_ROOM = 2  # times the tables of the old contents that an evaluation takes, with its arrangements


def new_account(
    maintaining: Maintaining,
    costs: Costs,
    relations: Mapping[str, Readable],
    imports: Mapping[int, Imported],
    epoch: int,
) -> Account:
    """The account of an epoch that begins."""

    def fits() -> bool:
        """Whether there is memory for the new contents beside the old ones."""
        limit = memory.limit_here()
        if limit is None:
            return True
        held = sum(relation.table.bytes for relation in relations.values())
        return (memory.resident() or 0) + _ROOM * held <= limit

    found = situation(relations.values(), imports)
    return Account(maintaining, costs, relations, found, epoch, fits)


def situation(relations: Collection[Readable], imports: Mapping[int, Imported]) -> Situation:
    """The sizes of a recursion's relations, and of its imports with their changes."""
    rows = sum(relation.present for relation in relations)
    return Situation(rows, [_import(each) for each in imports.values()])


def _import(imported: Imported) -> ImportSize:
    change = imported.change
    if change is None or not change.length:
        return ImportSize(imported.store.present)
    gone = 0 if change.weights is None else int(np.count_nonzero(change.weights < 0))
    return ImportSize(imported.store.present, change.length - gone, gone)
