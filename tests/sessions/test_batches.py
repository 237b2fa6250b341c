"""Tables of rows that come and go at once, among changes of single rows: a relation with a key, where errors
leaves the transaction as it was, and a multiset. Each step against plain Python."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog import DDlogError
from ddlog.errors.source import Source
from ddlog.sessions.program import compile_source

from ..trying import trying

PROGRAM = compile_source(
    Source(
        "batches.dl",
        """
typedef Id = Id{m: bigint, n: bigint}
input relation Kept(id: Id, a: bigint, text: string) primary key (x) (x.a, x.id)
input multiset Bag(a: bigint, text: string)
output relation Shown(a: bigint, text: string)
output multiset Counted(a: bigint, text: string)
Shown(a, text) :- Kept(.a = a, .text = text).
Counted(a, text) :- Bag(a, text).
""",
    )
)

Pair = tuple[int, str]
pairs = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["x", "y"])), max_size=3)
words = ["come", "come", "gone", "gone", "insert", "delete", "upsert", "commit", "rollback"]
steps = st.lists(st.tuples(st.sampled_from(words), pairs), max_size=14)


def columns(listed: list[Pair], keyed: bool) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {"a": [a for a, _ in listed], "text": [text for _, text in listed]}
    return found | ({"id": [{"m": 7, "n": a % 2} for a, _ in listed]} if keyed else {})


def keyed_change(held: dict[int, str], what: str, listed: list[Pair]) -> dict[int, str] | None:
    """What a relation with a key holds after a change; None: it is not legal."""
    now = dict(held)
    for key, text in listed:
        if what in ("come", "insert", "upsert"):
            if key in now and what != "upsert":
                return None
            now[key] = text
        elif now.get(key) == text:
            del now[key]
        else:
            return None
    return now


def bag_change(held: Counter[Pair], what: str, listed: list[Pair]) -> Counter[Pair]:
    now = held.copy()
    for row in listed:
        if what in ("come", "insert"):
            now[row] += 1
        elif now[row]:
            now[row] -= 1
    return +now


@pytest.mark.filterwarnings("ignore::ddlog.DDlogWarning")
@trying(20)
@given(steps)
def test_tables_and_rows_are_taken_together(taken: list[tuple[str, list[Pair]]]) -> None:
    with PROGRAM.session() as session:
        kept: dict[int, str] = {}
        bag: Counter[Pair] = Counter()
        committed = kept, bag
        for what, listed in taken:
            if what == "commit":
                session.commit()
                committed = kept, bag
                assert {row.a: row.text for row in session["Shown"]} == kept
                assert Counter({(r.a, r.text): w for r, w in session["Counted"].weighted()}) == bag
                continue
            if what == "rollback":
                session.rollback()
                kept, bag = committed
                continue
            new = keyed_change(kept, what, listed)
            try:
                if what in ("come", "gone"):
                    change = session.insert_table if what == "come" else session.delete_table
                    change("Kept", columns(listed, True))
                else:
                    getattr(session, what)("Kept", *(({"m": 7, "n": a % 2}, a, text) for a, text in listed))
                assert new is not None
                kept = new
            except DDlogError:
                assert new is None
            if what != "upsert":
                bag = bag_change(bag, what, listed)
                if what in ("come", "gone"):
                    change("Bag", columns(listed, False))
                else:
                    getattr(session, what)("Bag", *listed)
