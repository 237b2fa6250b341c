"""A session that goes on with other inputs is as one that opens its state with `--migrate`."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import DDlogError
from tests.trying import trying

COLUMNS = {"a": "u32", "b": "string", "c": "Color"}
FORMS = {
    "a": [None, "u32", "u64", "u8", "Option<u32>", "string"],
    "b": [None, "string", "Option<string>", "u32"],
    "c": [None, "Color"],
    "d": [None, None, "bool", "string"],
}
PAST = "output relation Before(y: u32)\nBefore(y) :- E-1(_, y).\n"
WINDOW = """output multiset Recent[E]
apply window::range(E, |e| e.y, Now, 2) -> (Recent)
"""
COLORS = ["Red{} | Blue{}", "Red{} | Blue{} | Green{}", "Blue{} | Red{}", "Red{} | Blue{n: u8}"]


def _text(columns: dict[str, str], colors: str, kind: str, key: str, more: str) -> str:
    """A program that copies an input, joins it with another one, and derives a recursion from that."""
    listed = ", ".join(f"{name}: {of}" for name, of in columns.items())
    names = ", ".join(columns)
    a = next((n for n, of in columns.items() if of == "u32"), None)
    joined = (
        "" if a is None else f"Near(y) :- R({', '.join('x' if n == a else '_' for n in columns)}), E(x, y).\n"
    )
    return (
        f"import window\ntypedef Color = {colors}\n"
        f"input {kind} R({listed}){f' primary key (r) r.{key}' if key else ''}\n"
        "input relation E(x: u32, y: u32)\ninput relation Now(y: u32)\n"
        f"output relation Copy({listed})\noutput relation Near(y: u32)\noutput relation Tint(c: Color)\n"
        f"Copy({names}) :- R({names}).\n{joined}Near(z) :- Near(y), E(y, z).\nTint(Red{{}}) :- E(1, 1).\n"
        + more
    )


BEFORE = {more: _text(COLUMNS, COLORS[0], "relation", "", more) for more in ("", PAST, WINDOW)}
row = st.tuples(
    st.integers(0, 3) | st.just(300), st.sampled_from(["", "7", "x"]), st.sampled_from(["Red", "Blue"])
)


@st.composite
def others(draw: st.DrawFn) -> str:
    chosen = {name: draw(st.sampled_from(forms)) for name, forms in FORMS.items()}
    columns = {name: of for name, of in chosen.items() if of} or {"a": "u32"}
    order = draw(st.permutations(list(columns)))
    kind = draw(st.sampled_from(["relation", "relation", "multiset"]))
    key = draw(st.sampled_from(["", "", *columns])) if kind == "relation" else ""
    more = draw(st.sampled_from(["", PAST, WINDOW]))
    return _text({name: columns[name] for name in order}, draw(st.sampled_from(COLORS)), kind, key, more)


def _held(session: ddlog.Session) -> dict[str, Counter[str]]:
    found = {}
    for name in {"R", "E", "Copy", "Near", "Tint", "Before", "Recent"} & session.program.relations.keys():
        view = session[name]
        weights = view.stored.weights or [1] * len(view)
        found[name] = Counter({str(row): weight for row, weight in zip(view, weights, strict=True)})
    return found


def _begin(session: ddlog.Session, rows: list[Any], edges: list[Any]) -> None:
    for a, b, c in rows:
        session.insert("R", {"a": a, "b": b, "c": {c: {}}})
    session.insert("E", *edges)
    session.insert("Now", (2,))
    session.commit()
    session.insert("E", (3, 0), (3, 1), (3, 3))
    session.insert("Now", (4,))
    session.commit()


def _other(session: ddlog.Session, text: str) -> ddlog.Program:
    assert session.program.again is not None
    return session.program.again(replace(session.program.source, text=text))


@trying(12)
@given(
    st.sampled_from([*BEFORE.values()]),
    st.lists(row, max_size=6),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4),
    others(),
)
def test_as_a_state_that_is_migrated(first: str, rows: list[Any], edges: list[Any], text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        state, other = Path(folder, "state"), Path(folder, "other")
        with ddlog.compile(first).session(state=state) as session:
            _begin(session, rows, edges)
        shutil.copy(state, other)
        expected: Any
        try:
            with ddlog.compile(text).session(state=other, migrate=True) as migrated:
                expected = _held(migrated)
        except DDlogError as error:
            expected = str(error).replace(str(other), "")
        with ddlog.compile(first).session(state=state) as session:
            before = _held(session)
            try:
                changes = session.go_on_with(_other(session, text))
            except DDlogError as error:
                assert str(error).replace(str(state), "") == expected
                assert _held(session) == before
                text = first
            else:
                after = _held(session)
                assert after == expected
                sums = Counter(before["Near"])
                for near, weight in changes.stored("Near") if "Near" in changes else ():
                    sums[f"Near(y={near[0]})"] += weight
                assert {each: n for each, n in sums.items() if n} == after["Near"]
            session.insert("E", (1, 1), (1, 7))
            session.commit()
            last = _held(session)
        with ddlog.compile(text).session(state=state) as again:
            assert _held(again) == last
