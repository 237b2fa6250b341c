"""Looks up the rows of a large state that a small change meets, by one job; the driver does the rest.

Only the large tables of a spine are read by the job. Its small ones are on the driver already.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ..schema import Schema
from .change import Fetch
from .numbered import Numbered, firsts, weighted
from .pruning import exactly, within
from .spine import Spine
from .sqltext import As, Joined, Query, Select, UnionAll, broadcast, equal, names, of_side
from .tables import Table, Tables


def asked(
    spine: Spine, wanted: Table, columns: Sequence[str], items: Sequence[str | As] = ()
) -> Select | None:
    """The rows of the large tables of a spine, as of before the epoch, that agree with a row of `wanted` on
    some columns; None if there are no such tables. `items`: what is asked of them."""
    large = [table for table in spine.parts if not table.small]
    return agreeing(spine, large, wanted, columns, items) if large else None


def agreeing(
    spine: Spine,
    tables: Sequence[Table],
    wanted: Table,
    columns: Sequence[str],
    items: Sequence[str | As] = (),
) -> Select:
    """The rows of some tables of a spine that agree with a row of `wanted`, a few rows of the driver, on some
    columns."""
    asked_for = items or of_side("s", [*spine.columns, "w", *spine.time])
    assert wanted.local is not None
    given = spine.tables.codec, spine.schema, columns, wanted.local, "s"
    parts, exact = within(*given), exactly(*given)
    if exact:  # sending the rows to the tasks would be a job of its own
        where = f"{parts} AND {exact}" if parts else exact
        return Select(asked_for, spine.of(tables), "s", where=where)
    joined = Joined("LEFT SEMI JOIN", wanted.view, "d", equal("s", "d", columns))
    return Select(asked_for, spine.of(tables), "s", [joined], parts, hints=[broadcast("d")])


def together(queries: Sequence[Query | None]) -> Query | None:
    """The rows of some queries; None: no query."""
    some = [query for query in queries if query is not None]
    return UnionAll(some) if some else None


def known(spine: Spine) -> list[pa.Table]:
    """The rows of a spine's small tables, as of before the epoch."""
    return [table.local for table in spine.parts if table.small and table.local is not None]


def is_given(tables: Sequence[Table]) -> bool:
    """Whether rows are few, and on the driver."""
    return all(table.small for table in tables)


def legal(tables: Tables, state: Spine, parts: Sequence[tuple[Table, int]]) -> Fetch:
    """The legal change of a set, for few rows with signs, applied in order: of each row the last one decides,
    and counts where it changes what is there."""
    numbered = Numbered(tables.codec, state.schema)
    rows = pa.concat_tables([part.local for part, _ in parts]).combine_chunks()
    numbers = numbered.insert(rows)
    signs = np.repeat([sign for _, sign in parts], [part.rows for part, _ in parts])
    last = np.zeros(len(numbered), np.int64)
    last[numbers] = signs
    first = firsts(numbers, len(numbered))

    def finish(found: pa.Table) -> pa.Table:
        there = sum(map(numbered.weights, [found, *known(state)])) > 0
        change = np.where((last > 0) & ~there, 1, np.where((last < 0) & there, -1, 0))
        return weighted(rows, first, change)

    once = tables.local(rows.take(pa.array(first)))
    guess = weighted(rows, first, last)
    return Fetch(asked(state, once, state.columns), state.schema, (), finish, guess)


def as_given(tables: Tables, parts: Sequence[tuple[Table, int]]) -> Table:
    """The change of a set by few rows that are known to change it."""
    rows = pa.concat_tables([part.local for part, _ in parts]).combine_chunks()
    signs = np.repeat([sign for _, sign in parts], [part.rows for part, _ in parts])
    return tables.local(weighted(rows, np.arange(rows.num_rows), signs))


def signs(tables: Tables, counts: Spine, change: Table) -> Fetch:
    """The change of presence for few rows: the sign changes H of the integral, `counts` without the change
    (Proposition 4.7)."""
    numbered = Numbered(tables.codec, counts.schema)
    assert change.local is not None
    rows = change.local
    first = firsts(numbered.insert(rows), len(numbered))
    added = numbered.weights(rows)

    def finish(found: pa.Table) -> pa.Table:
        before = sum(map(numbered.weights, [found, *known(counts)]))
        after = before + added
        return weighted(rows, first, (after > 0).astype(np.int64) - (before > 0))

    once = tables.local(rows.take(pa.array(first)))
    return Fetch(asked(counts, once, counts.columns), counts.schema, (), finish)


def keys_of(tables: Tables, rows: pa.Table, keys: Schema) -> Table:
    """The different keys of few rows, each once."""
    numbered = Numbered(tables.codec, keys)
    first = firsts(numbered.insert(rows), len(numbered))
    return tables.local(rows.select([*names(keys), "w"]).take(pa.array(first)))
