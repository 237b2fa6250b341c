"""What outputs marked `#[demand]` ask of random programs, against the same programs without marks."""

from __future__ import annotations

import re
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.demand import adornment
from ddlog.engine.reference import evaluate
from ddlog.sessions.asking import demandbudget

from ..programs.random_programs import MULTISETS, TYPES, programs, transactions
from ..trying import trying

thorough = trying(8)
Transactions = list[list[tuple[str, tuple[Any, ...], int]]]
budgets = st.sampled_from([1, 20, 1 << 60])
parts = st.sampled_from([1, 2, adornment.MOST_PARTS])
"""Rows of work that demand may take at first."""

LIBRARY = """
relation Way(a: bit<2>, b: bit<2>)
Way(x, y) :- R(x, y).
Way(x, z) :- Num(x, y), Way(y, z).
Way(x, z) :- Way(x, y), Num(y, z), not P(z, "a").
relation Closed(a: bit<2>, b: bit<2>)
Closed(x, y) :- R(x, y).
Closed(x, z) :- Closed(x, y), Closed(y, z).
Closed(1, 2).
relation Alike(a: bit<2>, b: bit<2>)
Alike(x, x) :- P(x, _).
Alike(x, y) :- Num(p, x), Num(q, y), Alike(p, q).
relation Links(m: Figure, n: bit<2>)
Links(Blank, 0).
Links(Circle{n}, n) :- Links(_, m), R(m, n).
Links(Box{n, s}, next(n)) :- Links(Circle{m}, n), S(s, m).
relation Tally(s: string, n: bit<64>)
Tally(s, n) :- S(s, i), Way(i, j), var n = j.group_by(s).count().
relation Lonely(a: bit<2>, s: string)
Lonely(a, s) :- P(a, s), not Way(a, _), not Closed(_, a).
relation Oddity(a: bit<2>, n: bit<64>)
Oddity(a, n) :- Num(a, b), Way(b, c), not Lonely(c, _), var n = (b, c).group_by(a).count_distinct().
relation Walk(a: bit<2>, p: Point)
Walk(a, Point{a, (b, s)}) :- Num(a, b), S(s, b).
Walk(b, q) :- Walk(a, p), R(a, b), var q = shift(p), not Lonely(p.x, _).
relation Bags(a: bit<2>, n: bit<64>)
Bags(a, n) :- Num(a, b), Way(b, _), var n = b.group_all_by(a).count().
relation Most(a: bit<2>, n: bit<2>)
Most(a, a) :- P(a, _).
Most(b, m) :- R(a, b), Most(a, n), var m = n.group_by(b).max().
multiset Crowd(a: bit<2>, s: string)
Crowd(a, s) :- Way(a, b), Bag(s).
Crowd(a, s) :- Heap(a, b), S(s, b).
"""
COLUMNS = {
    "P": "ns", "R": "nn", "S": "sn", "Q": "ns", "Way": "nn", "Closed": "nn", "Alike": "nn", "Lonely": "ns",
}  # fmt: skip
FORMS = [
    "Tally(~s, n), var k = n as bit<2>, var t = ~s",
    "Links(Circle{~n}, k), var t = ~s",
    "Links(f, ~n), var t = name(f), var k = 1: bit<2>",
    "Bags(~n, m), var k = m as bit<2>, var t = ~s",
    "Bags(~n, 2), Bags(k, 3), var t = ~s",
    "Most(~n, k), not Most(k, ~n), var t = ~s",
    "Oddity(~n, m), var k = m as bit<2>, var t = ~s",
    "Walk(~n, Point{k, (_, t)})",
    "Walk(_, Point{~n, (k, t)})",
    "Crowd(~n, t), var k = 0: bit<2>",
    "G(~n, _, _), var k = 2: bit<2>, var t = ~s",
]


@st.composite
def questions(draw: Any) -> str:
    """A rule body over the relations of a random program that binds k and t, mostly asking by constants."""
    if draw(st.integers(0, 2)) == 0:
        body = draw(st.sampled_from(FORMS))
    else:
        terms = []
        for _ in range(draw(st.integers(1, 2))):
            name = draw(st.sampled_from(sorted(COLUMNS)))
            args = [
                draw(st.sampled_from(["~" + kind, kind + "1", kind + "2", "_"])) for kind in COLUMNS[name]
            ]
            terms.append(f"{name}({', '.join(args)})")
        if draw(st.booleans()):
            name = draw(st.sampled_from(sorted(COLUMNS)))
            terms.append(f"not {name}({', '.join('~' + kind for kind in COLUMNS[name])})")
        text = ", ".join(terms)
        bound = [v for kind in "ns" for v in (f"{kind}1", f"{kind}2") if v in text.split(", not")[0]]
        k = next((v for v in bound if v[0] == "n"), "3: bit<2>")
        t = next((v for v in bound if v[0] == "s"), '"t"')
        body = f"{text}, var k = {k}, var t = {t}"
    asked = draw(st.booleans())
    literal = {"n": ["0", "1", "2"], "s": ['"a"', '"b"']}
    for kind in "ns":
        while f"~{kind}" in body:
            value = f"{kind}0" if asked else draw(st.sampled_from(literal[kind]))
            body = body.replace(f"~{kind}", value, 1)
    return f"Ask(n0, s0), {body}" if asked else body


@st.composite
def asked_programs(draw: Any, of: Any) -> tuple[str, str]:
    """A program of which nothing is wanted but the answers to some questions: marked, and not."""
    text = re.sub(r"\boutput (relation|multiset|stream)", r"\1", draw(of)) + LIBRARY
    text += "input relation Ask(n: bit<2>, s: string)\n"
    rules = []
    for number in range(draw(st.integers(1, 3))):
        rules.append(f"output relation Answer{number}(k: {TYPES['n']}, t: {TYPES['s']})")
        rules.append(f"Answer{number}(k, t) :- {draw(questions())}.")
    if draw(st.integers(0, 4)) == 0:
        text = text.replace("\nrelation Way", "\noutput relation Way")
    plain = "\n".join([text, *rules])
    return plain, plain.replace("output relation Answer", "#[demand]\noutput relation Answer")


@st.composite
def asks(draw: Any) -> Transactions:
    """Transactions of inputs and of the values that are asked for."""
    row = st.tuples(st.integers(0, 3), st.sampled_from("ab"))
    ask = st.lists(st.tuples(st.just("Ask"), row, st.sampled_from([1, 1, -1])), max_size=3)
    return [one + draw(ask) for one in draw(transactions())]


@thorough
@given(asked_programs(programs()), asks(), budgets, parts)
def test_answers_are_those_of_the_whole_program(
    texts: tuple[str, str], stream: Transactions, budget: int, parts: int
) -> None:
    with (
        mock.patch.multiple(demandbudget, LEAST=budget, EACH=0),
        mock.patch.object(adornment, "MOST_PARTS", parts),
    ):
        compare(*texts, stream)


def compare(plain: str, marked: str, stream: Transactions) -> None:
    """Compares the answers after each transaction, and their changes."""
    whole, program = ddlog.compile(plain), ddlog.compile(marked)
    circuit = whole.circuit("relational", records="values")
    contents: dict[str, dict[Any, int]] = {name: {} for name in whole.names("input")}
    before = evaluate(circuit, contents)
    with program.session(relations="outputs") as session:
        for name in program.names("output"):
            assert set(session[name].tuples()) == set(before[name])
        for transaction in stream:
            for relation, row, sign in transaction:
                rows = contents[relation]
                weight = rows.get(row, 0) + sign if relation in MULTISETS else int(sign > 0)
                rows[row] = weight
                if not weight:
                    del rows[row]
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            after = evaluate(circuit, contents)
            changes = session.commit()
            for name in program.names("output"):
                assert set(session[name].tuples()) == set(after[name]), name
                wanted = {
                    row: after[name].get(row, 0) - before[name].get(row, 0)
                    for row in {**after[name], **before[name]}
                }
                got = dict(changes.rows(name)) if name in changes else {}
                assert got == {row: weight for row, weight in wanted.items() if weight}, name
            before = after


@thorough
@given(programs(), st.lists(questions(), min_size=2, max_size=4), transactions(), st.data(), budgets, parts)
def test_queries_of_a_session_on_demand(
    text: str, bodies: list[str], stream: Transactions, data: st.DataObject, budget: int, parts: int
) -> None:
    """Queries of a session that keeps its inputs alone, asked again and again as these change."""
    program = ddlog.compile(text + LIBRARY + "input relation Ask(n: bit<2>, s: string)\n")
    with (
        mock.patch.multiple(demandbudget, LEAST=budget, EACH=0),
        mock.patch.object(adornment, "MOST_PARTS", parts),
        program.session(engine="in-process") as whole,
        program.session(relations="inputs", engine="in-process") as session,
    ):
        for transaction in stream:
            for each in (whole, session):
                for relation, row, sign in transaction:
                    (each.insert_rows if sign > 0 else each.delete_rows)(relation, [row])
                each.commit()
            for body in data.draw(st.lists(st.sampled_from(bodies), max_size=3)):
                other = re.sub(r"(?<!<)\b[012]\b", lambda found: str(2 - int(found[0])), body).replace(
                    '"a"', '"b"'
                )
                for query in (body, other):
                    assert session.query(query).rows == whole.query(query).rows, query
