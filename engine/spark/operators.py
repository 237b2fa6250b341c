"""Inputs, distinct and differences outside a recursion, as SQL over the change and the state."""

from __future__ import annotations

from collections.abc import Sequence

from .change import Change
from .spine import Spine
from .sqltext import (
    As,
    Joined,
    Query,
    Select,
    Source,
    UnionAll,
    broadcast,
    consolidated,
    equal,
    everything,
    of_side,
    shuffle_hash,
)


def touched(
    state: Spine, change: Source, columns: Sequence[str], size: int, now: bool = False, where: str = ""
) -> Select:
    """The state's rows `s` that agree with a row of the change on some columns; `size`: of the change.
    `where` holds for them."""
    few = size <= state.tables.most_sent
    seen = state.seen(now)
    source = state.of(seen) if few or len(columns) < len(state.columns) else state.aligned(seen)
    joined = Joined("LEFT SEMI JOIN", change, "d", equal("s", "d", columns))
    hint = broadcast("d") if few else shuffle_hash("d")
    return Select(of_side("s", [*state.columns, "w"]), source, "s", [joined], where, hints=[hint])


def set_input(state: Spine, parts: Sequence[tuple[str, int, int]]) -> Select:
    """The legal change of a set for parts (table expression, sign, size) applied in order: of each row the
    last one decides, and counts where it changes what is there."""
    columns = state.columns
    signed = [
        Select([*columns, As(f"{sign}", "s"), As(f"{number}", "k")], sql)
        for number, (sql, sign, _) in enumerate(parts)
    ]
    decides = "max(s)" if len({sign for _, sign, _ in parts}) == 1 else "max_by(s, k)"
    last = Select([*columns, As(decides, "s")], UnionAll(signed), grouped=columns)
    if not state.rows(False):
        return Select([*columns, As("1L", "w")], last, where="s > 0")
    there = touched(state, last, columns, sum(size for _, _, size in parts))
    both = UnionAll(
        [Select([*columns, "s", As("0L", "w")], last), Select([*columns, As("0", "s"), "w"], there)]
    )
    legal = "CASE WHEN sum(s) > 0 AND sum(w) = 0 THEN 1L WHEN sum(s) < 0 AND sum(w) > 0 THEN -1L ELSE 0L END"
    changes = Select([*columns, As(legal, "w")], both, grouped=columns)
    return everything(changes, where="w <> 0")


def multiset_input(columns: Sequence[str], parts: Sequence[tuple[str, int, int]]) -> Select:
    """The change of a multiset: the parts' rows, counted."""
    signed = [Select([*columns, As(f"{sign}L * w", "w")], sql) for sql, sign, _ in parts]
    return consolidated(columns, UnionAll(signed))


def distinct(counts: Spine, change: Change) -> Select:
    """The change of presence: the sign changes H of the integral, `counts` without the change
    (Proposition 4.7)."""
    columns = counts.columns
    if not counts.rows(False):
        present = consolidated(columns, change.sql, "> 0")
        return Select([*columns, As("1L", "w")], present)
    before = touched(counts, change.sql, columns, change.rows or 0)
    both = UnionAll(
        [
            Select([*columns, As("w", "d"), As("0L", "o")], change.sql),
            Select([*columns, As("0L", "d"), As("w", "o")], before),
        ]
    )
    sign = "CAST(IF(sum(o) + sum(d) > 0, 1, 0) - IF(sum(o) > 0, 1, 0) AS BIGINT)"
    signs = Select([*columns, As(sign, "w")], both, grouped=columns)
    return everything(signs, where="w <> 0")


def difference(old: Query, new: Query, columns: Sequence[str]) -> Select:
    """The change from one set of rows to another."""
    gone = Select([*columns, As("-1L", "w")], old)
    both = UnionAll([gone, Select([*columns, As("1L", "w")], new)])
    return consolidated(columns, both)
