"""The steps of a recursion over paths, listed by the key that they lead from, or into."""

from __future__ import annotations

from ...memory import reserve
from ...schema import Array
from ..arrangements.bulkindex import Rows, Stretches, stretches
from ..arrangements.stretches import Stretched


class StepLists(Stretched):
    """For each key a list of ids of steps."""

    def __init__(self, keys: Array, steps: Rows, size: int) -> None:
        """`keys` are the keys of some steps; `size` is the number of keys that there are."""
        reserve(16 * size)
        super().__init__(stretches(keys, steps, size))

    def stretches(self, size: int) -> Stretches:
        """The stretches of so many keys."""
        self._reach(size)
        return Stretches(self._first, self._count, self._slab)

    def insert(self, keys: Array, steps: Array, size: int) -> None:
        """Adds steps, which have new ids."""
        self._reach(size)
        self._track(int(steps.max()) + 1)
        self._enter(keys, steps)

    def remove(self, keys: Array, steps: Array, most: int) -> None:
        """Takes steps out. `most`: more than any id."""
        self._leave(keys, steps, most)
