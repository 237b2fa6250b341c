"""The relations that grew in an epoch that ran out of memory, and by how much."""

from __future__ import annotations

from collections.abc import Mapping

from ..memory import Exhausted, Growth, OverLimit, phase_of, problem_of
from .epoch import RunningEpoch
from .footprint import store_size, stores_by_name
from .state import State

Sizes = Mapping[str, tuple[int, int]]
"""The rows and bytes of each store, by name."""

_MOST = 3  # relations that an error names
_GATHERED = "intermediate rows"


def sizes(state: State) -> Sizes:
    """The sizes between epochs."""
    return {name: (store.present, store_size(store)) for name, store in stores_by_name(state)}


def sizes_within(running: RunningEpoch) -> Sizes:
    """The sizes in the midst of an epoch, with the rows of the join that is being computed."""
    found = dict(sizes(running.state))
    for inner in running.inner_states():
        for name, store in stores_by_name(inner):
            found[name] = max(found.get(name, (0, 0)), (store.present, store_size(store)))
    for name, store in running.evaluated_anew():
        found[name] = max(found.get(name, (0, 0)), (store.present, store_size(store)))
    waiting = [batch for joiner in running.state.joiners.values() for batch in joiner.waiting]
    rows = sum(batch.length for batch in waiting)
    size = sum(8 * batch.length * len(batch.columns) for batch in waiting)
    if running.gathering is not None:
        rows, size = rows + running.gathering.rows, size + running.gathering.bytes
    if rows:
        found[_GATHERED] = rows, size
    return found


def described(
    error: MemoryError, limit: int | None, held: int | None, within: Sizes, before: Sizes
) -> Exhausted:
    """The error of an epoch: its sizes `within` it, and since it was rolled back. `held` is the size that the
    process had."""
    grown = []
    for name, (rows, size) in within.items():
        old_rows, _ = before.get(name, (0, 0))
        if rows > old_rows:
            grown.append((size * (rows - old_rows) // rows, Growth(name, rows, size, old_rows)))
    grown.sort(key=lambda each: (-each[0], each[1].name))
    shown = limit if isinstance(error, OverLimit) else None
    most = [each for _, each in grown[:_MOST]]
    return Exhausted(phase_of(error), shown, held, most, problem_of(error))
