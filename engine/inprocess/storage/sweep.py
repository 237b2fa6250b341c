"""Giving back the ids of interned values that nothing uses: mark and sweep, between epochs.

**The law.** Between epochs, an id of a domain is *used* if a row that is present has it: a row of a store,
of a relation of a recursion, or of a group (its key and its result); or a row of a change that a store is
to take in later. An id is also used while a batch that the runtime gave out has it, alive in somebody's
hands: rows and changes that were read and are decoded when they are looked at, the changes that a delayed
relation waits for, and the batches of an open transaction. A sweep forgets the values of all other ids, and
later values take over these ids.

Rows that are absent may keep such an id. An absent row is only a word that was seen before: a look-up that
finds it answers as if it had found nothing, and if the row of the new value comes, it takes that place. The
same holds for the keys of an index that have no rows and for groups without members. So whoever keeps ids
from one epoch to the next marks those of what is present, and need not look for the others.

A value is first interned at an epoch or between two, and a sweep comes after an epoch; not while one that
will be taken back is looked at, whose absent rows come back. A domain is due when it has doubled since the
last sweep and the new values are many, compared with the rows that a sweep reads; thus a sweep costs a
fraction of the work of interning.
"""

from __future__ import annotations

from collections.abc import Callable

from ... import thresholds
from .interner import Interner, Values
from .marks import Bools, Marks


def is_due(interner: Interner) -> bool:
    """Whether a domain has grown so much that a sweep pays."""
    new = interner.new()
    return (
        new > thresholds.SWEPT_VALUES
        and new >= interner.kept
        and new >= interner.read // thresholds.SWEPT_CODES
    )


def everything(interner: Interner) -> bool:
    """Every domain."""
    return True


def sweep(values: Values, mark: Callable[[Marks], None], due: Callable[[Interner], bool]) -> dict[str, int]:
    """Forgets the values that nothing uses, of the domains that are `due`; `mark` marks what the state uses.
    Returns the number of values forgotten, by domain."""
    domains = [(name, each) for name, each in values.domains() if due(each)]
    if not domains:
        return {}
    marks = Marks((name, len(each.values)) for name, each in domains)
    mark(marks)
    values.mark_held(marks)
    values.swept += 1
    return {name: _forget(each, marks.used(name), marks.read[name]) for name, each in domains}


def _forget(interner: Interner, used: Bools, read: int) -> int:
    held = len(interner.ids)
    interner.keep(used)
    interner.kept, interner.read = len(interner.ids), read
    return held - interner.kept
