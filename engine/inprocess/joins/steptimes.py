"""The time of the steps of a join, while something measures it."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from ...epochcosts import clock

T = TypeVar("T")
R = TypeVar("R")

EVERY = 8
"""Of the runs from few rows, each eighth is timed, and counts eight times."""


def timed(rows: Generator[T, None, R], spent: list[float]) -> Generator[T, None, R]:
    """The items of a generator. The seconds that it takes, without its caller's, are added to `spent`."""
    while True:
        since = clock()
        try:
            found = next(rows)
        except StopIteration as stop:
            spent[0] += clock() - since
            result: R = stop.value
            return result
        spent[0] += clock() - since
        yield found
