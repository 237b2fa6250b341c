"""When the tables of a spine are merged: the rule of a log-structured merge tree, and no more than one large
merge in a commit.

    rows   20,000,000 | 310,000 | 40,000  10,000  10,000  10,000  10,000
                                  └────────── merged: 80,000 ──────────┘

The smallest tables are merged, and with them each larger one that is no more than four times as large as
what is merged so far. So a table that is merged grows by a quarter at least, a row is merged a logarithmic
number of times, and the largest table is touched when the others have grown to a quarter of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import thresholds

MOST_PARTS = 6
"""Large tables of a spine, beyond which some are merged."""


def start_of_merge(sizes: Sequence[int]) -> int | None:
    """The first of the tables to be merged, given their sizes, the largest first; None: there are few."""
    if len(sizes) <= MOST_PARTS:
        return None
    start = MOST_PARTS // 2
    rows = sum(sizes[start:])
    while start and sizes[start - 1] <= thresholds.SPARK_LARGE_GROWTH * rows:
        start -= 1
        rows += sizes[start]
    return start


class Merging:
    """The merges of a runtime's spines in one commit."""

    def __init__(self) -> None:
        self._rows = 0

    def begin(self) -> None:
        """Another commit."""
        self._rows = 0

    def allows(self, sizes: Sequence[int], start: int) -> bool:
        """Whether the tables from `start` on are merged now. A spine that waits for long does not wait
        longer."""
        rows = sum(sizes[start:])
        if self._rows and self._rows + rows > thresholds.SPARK_MERGED and len(sizes) <= 2 * MOST_PARTS:
            return False
        self._rows += rows
        return True
