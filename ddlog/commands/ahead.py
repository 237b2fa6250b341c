"""How many updates are read at once: runs of them, as long as they are plain and right."""

from __future__ import annotations

from ..syntax.cursor import TextFault
from ..values.plainforms import PatternForm
from ..values.rows import Row

MOST = 1 << 14
"""Updates of one run."""


class Ahead:
    """Converts the texts of a run. `most` are the updates that are worth trying: half as many after a wrong
    value, and twice as many after a run without one. So the time of all is that of a few tries for each
    update, whichever are wrong."""

    def __init__(self) -> None:
        self.most = MOST

    def rows(self, form: PatternForm, texts: list[tuple[str, ...]]) -> list[Row]:
        """The rows of the texts of a pattern's groups, the first of which are those of the form: of as many
        rows from the first on as can be converted at once, or none."""
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
