"""The conversion of many updates of one form at once, and the number of updates for which it is tried."""

from __future__ import annotations

from ..syntax.cursor import TextFault
from ..values.plainforms import PatternForm
from ..values.rows import Row

MOST = 1 << 14
"""Updates of one run."""


class Ahead:
    """Converts the texts of a run. `most` is the number of updates to try: half as many after a wrong value,
    and twice as many after a run without one. So each update is tried a few times, whichever are wrong."""

    def __init__(self) -> None:
        self.most = MOST

    def rows(self, form: PatternForm, texts: list[tuple[str, ...]]) -> list[Row]:
        """The rows that the first texts stand for, as many as can be converted at once; none if the first
        cannot. A text is that of each group of a pattern, the first of which are the groups of the form."""
        count = len(texts)
        while count:
            try:
                rows = list(form.convert(list(zip(*texts[:count], strict=True))))
            except (ValueError, TextFault):
                count //= 2
                self.most = max(1, count)
                continue
            self.most = min(MOST, 2 * self.most)
            return rows
        return []
