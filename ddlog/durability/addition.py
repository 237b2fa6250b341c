"""Changes of a relation as one sum, whichever forms their values have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .records import Stored
from .sums import alike, in_one_form, summed
from .typetexts import form_of_rows

if TYPE_CHECKING:
    import pyarrow as pa


def added_up(stored: Stored, tables: Sequence[pa.Table]) -> list[pa.Table]:
    """The sum of changes of a relation, as one table; the changes, if only the program can tell whether a
    value and a text are the same."""
    if len(tables) < 2:
        return list(tables)
    some = in_one_form(tables)
    if not alike(some):
        form = form_of_rows(stored)
        if form is None:
            return some
        some = [form.table([form.rows(table) for table in tables])]
    return [summed(some)]
