"""Columns of values that are whole numbers of a unit, such as dates and decimals, as these numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Units:
    """A column of such values: `make` makes the value of a number."""

    numbers: np.ndarray[Any, Any]
    make: Callable[[int], Any]

    def values(self) -> list[Any]:
        """The values themselves."""
        return list(map(self.make, self.numbers.tolist()))

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())
