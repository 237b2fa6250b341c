"""Inputs, distinct and grouping outside a recursion, as SQL over the change and the state."""

from __future__ import annotations

from collections.abc import Sequence

from .change import Change
from .spine import Spine
from .sqltext import consolidated, equal, grouping, listed, union


def touched(state: Spine, change: str, columns: Sequence[str], size: int, now: bool = False) -> str:
    """A SELECT of the state's rows that agree with a row of the change on some columns."""
    few = size <= state.tables.most_sent
    hint = "BROADCAST" if few else "SHUFFLE_HASH"
    seen = state.seen(now)
    source = state.of(seen) if few or len(columns) < len(state.columns) else state.aligned(seen)
    everything = listed((f"s.{c}" for c in state.columns), "s.w")
    return (
        f"SELECT /*+ {hint}(d) */ {everything} FROM {source} s LEFT SEMI JOIN {change} d "
        f"ON {equal('s', 'd', columns)}"
    )


def set_input(state: Spine, parts: Sequence[tuple[str, int, int]]) -> str:
    """The legal change of a set for parts (table expression, sign, size) applied in order: of each row the
    last one decides, and counts where it changes what is there."""
    columns = state.columns
    signed = [
        f"SELECT {listed(columns, f'{sign} AS s', f'{number} AS k')} FROM {sql}"
        for number, (sql, sign, _) in enumerate(parts)
    ]
    decides = "max(s) AS s" if len({sign for _, sign, _ in parts}) == 1 else "max_by(s, k) AS s"
    last = f"(SELECT {listed(columns, decides)} FROM ({union(signed)}) {grouping(columns)})"
    if not state.rows(False):
        return f"SELECT {listed(columns, '1L AS w')} FROM {last} WHERE s > 0"
    size = sum(size for _, _, size in parts)
    there = f"({touched(state, last, columns, size)})"
    both = union(
        [
            f"SELECT {listed(columns, 's', '0L AS w')} FROM {last}",
            f"SELECT {listed(columns, '0 AS s', 'w')} FROM {there}",
        ]
    )
    changes = (
        "CASE WHEN sum(s) > 0 AND sum(w) = 0 THEN 1L WHEN sum(s) < 0 AND sum(w) > 0 THEN -1L ELSE 0L END"
    )
    return (
        f"SELECT * FROM (SELECT {listed(columns, f'{changes} AS w')} FROM ({both}) {grouping(columns)}) "
        f"WHERE w <> 0"
    )


def multiset_input(columns: Sequence[str], parts: Sequence[tuple[str, int, int]]) -> str:
    """The change of a multiset: the parts' rows, counted."""
    signed = [f"SELECT {listed(columns, f'{sign}L * w AS w')} FROM {sql}" for sql, sign, _ in parts]
    return consolidated(columns, f"({union(signed)})")


def distinct(counts: Spine, change: Change) -> str:
    """The change of presence: the sign changes H of the integral, `counts` without the change
    (Proposition 4.7)."""
    columns = counts.columns
    if not counts.rows(False):
        present = consolidated(columns, change.sql, "> 0")
        return f"SELECT {listed(columns, '1L AS w')} FROM ({present})"
    before = touched(counts, change.sql, columns, change.rows or 0)
    both = union(
        [
            f"SELECT {listed(columns, 'w AS d', '0L AS o')} FROM {change.sql}",
            f"SELECT {listed(columns, '0L AS d', 'w AS o')} FROM ({before})",
        ]
    )
    sign = "CAST(IF(sum(o) + sum(d) > 0, 1, 0) - IF(sum(o) > 0, 1, 0) AS BIGINT)"
    signs = f"SELECT {listed(columns, f'{sign} AS w')} FROM ({both}) {grouping(columns)}"
    return f"SELECT * FROM ({signs}) WHERE w <> 0"


def difference(old: str, new: str, columns: Sequence[str]) -> str:
    """The change from one set of rows, a SELECT, to another."""
    both = union(
        [
            f"SELECT {listed(columns, '-1L AS w')} FROM ({old})",
            f"SELECT {listed(columns, '1L AS w')} FROM ({new})",
        ]
    )
    return consolidated(columns, f"({both})")
