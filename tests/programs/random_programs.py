"""Random programs in the language, and random transactions for them.

Typed columns (a small number, a string, an option, a tuple), functions, patterns, every kind of
clause, and three strata: plain relations, mutually recursive ones, and negation and groups on top.
Beside them stand rules from `PIECES`: other types of columns, relations of values, multisets, several
heads, and groups inside expressions.
Recursive rules only use functions into finite sets, so that every program ends. The recursions of
`grouping_programs` may not settle.
"""

from __future__ import annotations

import math
import re
from typing import Any

from hypothesis import strategies as st

from ddlog.values import NAN, Map, Set, Vec

HEADER = """
typedef Mark = Plain | Dot{n: bit<2>}

function next(n: bit<2>): bit<2> { n + 1 }
function turn(s: string): string { match (s) { "a" -> "b", "b" -> "c", _ -> "a" } }
function below(n: bit<2>): Vec<bit<2>> {
    var out = vec_empty();
    var at: bit<2> = 0;
    if (n > 0) { out.push(at) };
    for (k in [0, 1, 1]) { if (k < n) { out.push(k) } };
    out
}
function peel(o: Option<string>): string { match (o) { None -> "c", Some{s} -> s } }

input relation Num(a: bit<2>, b: bit<2>)
input relation Tag(a: bit<2>, s: string)
input relation May(o: Option<string>, m: Mark)
input multiset Bag(s: string)

typedef Point = Point{x: bit<2>, tag: (bit<2>, string)}
typedef Figure = Circle{r: bit<2>} | Box{side: bit<2>, name: string} | Blank
function shift(p: Point): Point { var q = p; q.x = q.x + 1; q.tag.1 = turn(q.tag.1); q }
function name(f: Figure): string { match (f) { Box{.name = n} -> n, Circle{1} -> "b", _ -> "c" } }

input relation Fig[Figure]
input relation Pair[(bit<2>, string)]
input relation Spot(p: Point, s: string)
input relation Many(a: bit<2>, v: Vec<bit<2>>, s: Set<string>, m: Map<string, bit<2>>)
input relation Mass(a: bit<2>, d: double, f: float, b: bigint, w: signed<70>)
input multiset Heap(a: bit<2>, b: bit<2>)
"""

# Rules over the inputs and the relations P: (bit<2>, string), R: (bit<2>, bit<2>), S: (string, bit<2>).
# In each, ~n and ~s stand for literals, ~v for P or Tag, ~w for R, Num or Heap, ~c for a column of Mass,
# and ~o for an operator that compares.
PIECES = [
    """output relation X[Figure]
    X[Circle{r + ~n}] :- Fig[Circle{r}].
    X[f] :- f in Fig[Box{.side = ~n}].
    X[Box{a, s}] :- ~v(a, s), not Fig[Box{a, s}].
    X[Blank] :- Fig[f], f != Blank.""",
    """output relation X(s: string, a: bit<2>)
    X(name(f), a) :- Fig[f], ~v(a, name(f)).
    X(s, ~n) :- Fig[Box{_, s}], not Fig[Circle{~n}].
    X(n, side) :- Fig[f], Box{side, n} = f, side ~o ~n.""",
    """output relation X[(bit<2>, string)]
    X[(a, turn(s))] :- Pair[(a, s)].
    X[t] :- Pair[t], t.0 ~o ~n, not ~v(t.0, t.1).
    X[t] :- Spot(p, _), var t = p.tag.""",
    """output relation X(p: Point)
    X(shift(p)) :- Spot(p, s), p.tag.1 == s.
    X(q) :- Spot(p, _), var q = shift(p), not Spot(q, ~s).""",
    """output relation X(a: bit<2>, s: string)
    X(x, t) :- Spot(Point{x, (y, t)}, _), ~w(x, y).
    X(y, t) :- Spot(Point{.tag = (y, t)}, t).
    X(p.x, s) :- Spot(p, s), Pair[p.tag].""",
    """output relation X(v: Vec<bit<2>>, s: Set<string>, m: Map<string, bit<2>>)
    X(v.push_imm(a), s.insert_imm(~s), m) :- Many(a, v, s, m).
    X(v, s, m) :- Many(a, v, s, m), Some{a} = m.get(~s).
    X(sort_imm(v), s.union(t), m.union(n)) :- Many(_, v, s, m), Many(~n, v, t, n).""",
    """output relation X(a: bit<2>, s: string)
    X(x, s) :- Many(_, v, t, _), var x = FlatMap(v), var s = FlatMap(t).
    X(x, k) :- Many(a, _, _, m), (var k, var x) = FlatMap(m), x ~o a.
    X(x, "g") :- ~w(x, y), var g = y.group_by(x), (var z, var n) = FlatMap(g), z ~o ~n, n == 1.
    X(x, s) :- Many(.a = x, .s = t), not ~v(x, _), var s = FlatMap(t).""",
    """output relation X(a: bit<2>, v: Vec<Set<string>>, u: Set<string>)
    X(a, g.to_vec(), g.union()) :- Many(a, _, s, _), var g = s.group_by(a).""",
    """output relation X(a: bit<2>, low: double, high: double, n: bigint)
    X(a, g.min(), g.max(), g.count() as bigint) :- Mass(a, d, _, _, _), var g = d.group_by(a).""",
    """output relation X(a: bit<2>, sum: double, mean: double)
    X(a, g.sum(), g.avg()) :- Mass(a, d, _, _, _), var g = d.group_by(a).""",
    """output relation X(sum: float, mean: double, high: float)
    X(g.sum(), g.avg(), g.max()) :- Mass(_, _, f, _, _), var g = f.group_by(()).""",
    """output relation X(a: bit<2>, sum: bigint, mean: double, low: bigint)
    X(a, sum, mean, low) :- Mass(a, _, _, b, _), var g = b.group_by(a),
        var sum = g.sum(), var mean = g.avg(), var low = g.min().""",
    """output relation X(sum: signed<70>, high: signed<70>, last: bit<2>)
    X(g.sum_second(), g.max_second(), g.max().0) :- Mass(a, _, _, _, w), var g = (a, w).group_by(()).""",
    """output relation X(d: double, b: bigint, w: signed<70>)
    X(d + 1.0, b * b, w * w - 1) :- Mass(_, d, _, b, w), b ~o 0, w ~o 1.
    X(d, b % 7, w >> 2) :- Mass(a, d, _, b, w), Mass(~n, d, _, _, _), a < 3.""",
    """output relation X(a: bit<2>, b: bit<2>)
    X(a, c) :- Mass(a, ~c), Mass(c, ~c), a != c.""",
    """output multiset X(a: bit<2>)
    X(a) :- Heap(a, b), ~w(b, _).
    X(b) :- Heap(_, b), not ~v(b, _).
    X(~n).
    X(a) :- ~v(a, s), Bag(s).""",
    """output multiset X(a: bit<2>, n: bit<64>)
    X(a, g.count_distinct()) :- Heap(a, b), var g = (b, ~n: bit<2>).group_by(a).
    X(b, 1) :- Heap(a, b), a ~o b.""",
    """multiset Inner(a: bit<2>)
    Inner(a) :- Heap(a, _).
    Inner(a) :- ~v(a, _).
    output multiset X(a: bit<2>, s: string)
    X(a, s) :- Inner(a), Bag(s).
    output relation Flat(a: bit<2>)
    Flat(a) :- Inner(a), not Heap(a, ~n).""",
    """output relation X(a: bit<2>)
    output relation Other(s: string, a: bit<2>)
    X(a), Other(turn(s), b), X(b) :- ~v(a, s), ~w(a, b), a ~o ~n.
    Other(~s, ~n), X(3).""",
    """output relation X(t: (bit<2>, string), n: bit<64>, s: string)
    X((k, s), 1 + z.group_by((k, s)).count() * 2, "n") :- ~v(k, s), ~w(k, z).
    X((k, ~s), n, "${g.max()}") :- ~v(k, s), var g = (turn(s)).group_by(k), var n = g.count().
    X((0, ""), x.group_by(()).count_distinct(), "all") :- ~w(x, _).""",
    """output relation X(n: bit<64>, best: (string, bit<2>), least: string)
    X(n, best, least) :- ~v(a, s), var g = (s, a).group_by(()),
        var best = g.max(), var n = g.count_distinct(),
        not Pair[(best.1, best.0)], (var least, _) = g.min().""",
    """output relation X(k: bit<2>, n: bit<64>)
    X(k, n) :- ~w(k, x), var n = Aggregate((k), group_count_distinct(x)).""",
    """relation Size(k: bit<2>, n: bit<64>)
    Size(k, n) :- ~w(k, x), var n = x.group_by(k).count().
    output relation X(n: bit<64>, ks: Vec<bit<2>>)
    X(n, g.to_vec()) :- Size(k, n), not Pair[(k, ~s)], var g = k.group_by(n).""",
    """output relation X(s: string, a: bit<2>)
    X(~s, a) :- ~n ~o 1: bit<2>, var a = FlatMap([0, 1]).
    X(s, 0) :- not Num(~n, ~n), var s = FlatMap(["a", "b"]), not Bag(s).
    X(s, 1) :- var t = ~s, Tag(_, s), s ~o t.""",
    """relation Step(p: Point)
    Step(p) :- Spot(p, ~s).
    Step(shift(p)) :- Step(p), Pair[p.tag].
    Step(Point{y, p.tag}) :- Step(p), ~w(p.x, y), not Many(y, _, _, _).
    output relation X(p: Point)
    X(p) :- Step(p), not Spot(p, _).
    output relation Far(x: bit<2>, n: bit<64>)
    Far(x, n) :- Step(Point{x, t}), var n = t.group_by(x).count().""",
    """relation Up(f: Figure, s: Set<string>)
    Up(f, set_singleton(name(f))) :- Fig[f].
    Up(Circle{a}, s.insert_imm(t)) :- Up(f, s), ~v(a, t), not s.contains(~s).
    output relation X(f: Figure, n: bit<64>)
    X(f, s.group_by(f).count()) :- Up(f, s).""",
    """relation Span(a: bit<2>, s: Set<string>)
    Span(a, set_singleton(s)) :- ~v(a, s).
    Span(a, s) :- ~w(a, b), Span(b, t), var s = t.group_by(a).union().
    output relation X(a: bit<2>, s: Set<string>)
    X(a, s) :- Span(a, t), var s = t.group_by(a).union().""",
    """relation Offer(a: bit<2>, cost: bit<64>, m: Mark)
    Offer(a, 0, Plain) :- ~v(a, ~s).
    Offer(b, cost + b as bit<64> + ~n, Dot{a}) :- X(a, (cost, _)), ~w(a, b).
    output relation X(a: bit<2>, best: (bit<64>, Mark))
    X(a, best) :- Offer(a, cost, m), var best = (cost, m).group_by(a).min().""",
    """relation Share(a: bit<2>, via: bit<2>, b: bit<2>, n: bit<64>)
    Share(a, a, b, b as bit<64> + 1) :- ~w(a, b).
    Share(a, c, b, b as bit<64> + 1) :- X(a, c), ~w(c, b), not ~v(a, ~s).
    output relation X(a: bit<2>, b: bit<2>)
    X(a, b) :- Share(a, c, b, n), var all = (c, n).group_by((a, b)).sum_second(), all > ~n + 1.""",
    """output relation X(a: bit<2>, s: string)
    X(r, s) :- Fig[Circle{r}], Fig[Box{r, s}].
    X(a, s) :- ~v(a, s), May(Some{s}, Dot{b}), Fig[Box{.side = b}], b ~o ~n.
    X(b, t) :- May(Some{s}, m), May(Some{t}, m), Dot{var a} = m, Dot{var b} = m, turn(s) == t, a ~o ~n.
    X(0, s) :- May(o, _), ~v(a, s), peel(o) == turn(s), not Fig[Circle{a}].""",
    """output relation X(a: bit<2>, b: bit<2>)
    X(a, b) :- ~v(a, s), ~v(b, t), turn(s) == turn(t), next(a) ~o b.
    X(a, b) :- ~w(a, x), var k = next(x), ~w(b, y), var l = y ^ 1, k == l.
    X(a, b) :- ~w(a, x), Tag(b, s), (next(b), turn(s)) == (x, ~s).
    X(a, b) :- ~w(a, x), ~w(y, b), x + y == next(b), not Num(x, y).
    X(a, b) :- Num(a, _), Num(b, _), Num(c, _), a + 1 == b and next(b) == (c ^ ~n).""",
    """output relation X(a: bit<2>, c: bit<2>)
    X(a, c) :- Mass(a, d, _, b, _), Mass(c, e, _, f, _), d * 2.0 == e + e, b % 7 == f % 7.
    X(a, c) :- Mass(a, d, _, _, w), Mass(c, d, _, _, v), w >> 1 == v - 1.
    X(a, c) :- Mass(a, _, f, b, _), Mass(c, _, g, e, _), f + 1.0 == g, b * b == e * e.""",
    """relation Hop(f: Figure)
    Hop(f) :- Fig[f].
    Hop(Box{next(b), turn(s)}) :- Hop(Circle{b}), Hop(Box{b, s}), not ~v(b, s).
    Hop(Circle{b}) :- Hop(f), Hop(Box{b, t}), turn(name(f)) == t, ~w(a, b), Circle{a} = f.
    Hop(Blank) :- Hop(f), ~v(_, s), name(f) == turn(s).
    output relation X(f: Figure, n: bit<64>)
    X(f, n) :- Hop(f), Hop(g), name(f) == name(g), var n = g.group_by(f).count().""",
    """output relation X(r: Ref<Figure>, a: bit<2>, i: istring)
    X(ref_new(f), a, intern(s)) :- Fig[f], ~v(a, s).
    output relation Seen(a: bit<2>, s: string)
    Seen(a, b) :- X(&Circle{a}, _, j), X(_, a, i), var b = ival(i), turn(ival(j)) == ival(i).
    Seen(b, ~s) :- X(&Box{a, s}, _, i), X(g, b, i), Circle{a} = deref(g), ival(i) == turn(s).""",
    """output relation X(a: bit<2>, n: bit<2>)
    X(a, ~n) :- ~v(a, _).
    X(b, most) :- ~w(a, b), X(a, n), var most = n.group_by(b).max().
    output relation Few(s: string, n: bit<64>)
    Few(s, n) :- Few(t, m), ~v(_, s), var g = (t, m).group_by(s), var n = min(g.count_distinct(), 2).
    Few(~s, 1).""",
]

TYPES = {"n": "bit<2>", "s": "string"}
INPUTS = {"Num": "nn", "Tag": "ns", "Bag": "s"}
POOL = {"n": ["i", "j", "k"], "s": ["p", "q"]}
WHOLE = ["g.min()", "g.max()", "g.sum()", "g.count_distinct() as bit<2>", "g.fold(|m, n| (m ^ n) + 1, 2)"]
LITERALS = {"n": ["0", "1", "2"], "s": ['"a"', '"b"']}


@st.composite
def bodies(draw: Any, positive: dict[str, str], negative: dict[str, str], want: str) -> tuple[str, list[str]]:
    """A rule body over relations given by their column types, and head arguments of the types `want`."""
    clauses: list[str] = []
    bound: dict[str, list[str]] = {"n": [], "s": []}

    def bind(kind: str, name: str) -> None:
        if name not in bound[kind]:
            bound[kind].append(name)

    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(positive)))
        arguments = []
        fresh = []
        for kind in positive[name]:
            form = draw(st.sampled_from(["var", "var", "var", "any", "literal", "call"]))
            if form == "any":
                arguments.append("_")
            elif form == "literal":
                arguments.append(draw(st.sampled_from(LITERALS[kind])))
            elif form == "call" and bound[kind]:
                arguments.append(value(draw, kind, bound))
            else:
                variable = draw(st.sampled_from(POOL[kind]))
                arguments.append(variable)
                fresh.append((kind, variable))
        for kind, variable in fresh:
            bind(kind, variable)
        clauses.append(f"{name}({', '.join(arguments)})")
    extra = draw(st.sampled_from(["", "guard", "let", "flatmap", "option", "mark", "equal"]))
    if extra == "guard" and bound["n"]:
        clauses.append(f"{value(draw, 'n', bound)} <= {value(draw, 'n', bound)} or not true")
    elif extra == "equal" and bound["s"]:
        clauses.append(f"{value(draw, 's', bound)} != {value(draw, 's', bound)}")
    elif extra == "let" and bound["n"]:
        clauses.append(f"var v = {value(draw, 'n', bound)}")
        bound["n"].append("v")
    elif extra == "flatmap" and bound["n"]:
        clauses.append(f"var v = FlatMap(below({value(draw, 'n', bound)}))")
        bound["n"].append("v")
    elif extra == "option":
        clauses.append("May(Some{var t}, _)" if draw(st.booleans()) else "May(o, _), var t = peel(o)")
        bound["s"].append("t")
    elif extra == "mark":
        clauses.append("May(_, Dot{var d})" if draw(st.booleans()) else "May(_, m), Dot{var d} = m")
        bound["n"].append("d")
    if negative and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(negative)))
        arguments = [
            value(draw, kind, bound) if bound[kind] and draw(st.booleans()) else "_"
            for kind in negative[name]
        ]
        clauses.append(f"not {name}({', '.join(arguments)})")
    head = [value(draw, kind, bound) for kind in want]
    return ", ".join(clauses), head


def value(draw: Any, kind: str, bound: dict[str, list[str]]) -> str:
    """An expression of a type over bound variables."""
    if not bound[kind]:
        return str(draw(st.sampled_from(LITERALS[kind])))
    name = draw(st.sampled_from(bound[kind]))
    plain = [name, name, name]
    if kind == "n":
        return str(
            draw(
                st.sampled_from([*plain, f"next({name})", f"({name} ^ 1)", f"if ({name} > 1) 0 else {name}"])
            )
        )
    return str(draw(st.sampled_from([*plain, f"turn({name})"])))


# Bodies with the strings p, q and the numbers i, j, k, of which at least i and j are in each.
NEAR = [
    "R(i, j), Num(j, k)", "Num(i, k), R(k, j)", "R(i, k), R(k, j)", "S(p, i), R(i, j)", "S(p, j), Num(i, j)",
    "R(i, j), Tag(j, p), S(p, k)", "Tag(i, p), S(p, j)", "R(i, j)", "Num(i, j), not Tag(j, \"a\"), R(j, k)",
    "R(i, k), R(l, j), next(k) == (l ^ 1)", "S(p, i), S(q, j), turn(p) == q",
    "S(p, i), S(p, j), i <= j", "Num(i, j), S(\"b\", i)",
]  # fmt: skip


@st.composite
def grouping_rules(draw: Any, name: str, kind: str) -> str:
    """A rule that groups numbers; its first column is of the given kind."""
    body = draw(st.sampled_from([each for each in NEAR if kind == "n" or "(p" in each or " p)" in each]))
    item = draw(st.sampled_from(["i", "j", "j", "next(j)", "(i ^ j)", "k" if "k" in body else "j"]))
    key = "p" if kind == "s" else draw(st.sampled_from("ij"))
    whole = draw(st.sampled_from(WHOLE))
    return f"{name}(a, {whole}) :- {body}, var a = {key}, var b = {item}, var g = b.group_by(a)."


AWAY = [
    "Num(i, j), not R(j, i)", "Num(i, j), not R(i, _)", "Tag(i, p), Num(i, j), not S(p, j)",
    "Num(i, j), not S(\"a\", i), not R(i, j)",
]  # fmt: skip
BACK = {
    "R": ["Num(i, j), not T(i, j)", "Num(i, j), R(j, k), not T(k, _)"],
    "S": ["Tag(j, p), not T(j, _)", "S(p, i), Num(i, j), not T(j, i)"],
}


@st.composite
def negating_rules(draw: Any) -> list[str]:
    """Rules by which R and S are negated in T, and T in them: every cycle has an even number of negations."""
    lines = [f"relation T(c0: {TYPES['n']}, c1: {TYPES['n']})"]
    lines += [f"T(i, j) :- {draw(st.sampled_from(AWAY))}." for _ in range(draw(st.integers(1, 2)))]
    for name, head in (("R", "i, j"), ("S", "p, j")):
        if draw(st.booleans()):
            lines.append(f"{name}({head}) :- {draw(st.sampled_from(BACK[name]))}.")
    return lines


@st.composite
def grouping_programs(draw: Any) -> str:
    """The text of a program in which R and S group each other and themselves, and may be negated. It may not
    settle."""
    lines = [HEADER, "R(a, b) :- Num(a, b).", "S(s, a) :- Tag(a, s)."]
    for name, types in (("R", "nn"), ("S", "sn")):
        columns = ", ".join(f"c{k}: {TYPES[kind]}" for k, kind in enumerate(types))
        lines.append(f"output relation {name}({columns})")
        lines += [draw(grouping_rules(name, types[0])) for _ in range(draw(st.integers(1, 2)))]
    if draw(st.booleans()):
        lines += draw(negating_rules())
    return "\n".join(lines)


@st.composite
def programs(draw: Any) -> str:
    """The text of a program."""
    lines = [HEADER]
    known = dict(INPUTS)

    def rules(name: str, positive: dict[str, str], negative: dict[str, str], types: str, count: int) -> None:
        for _ in range(count):
            body, head = draw(bodies(positive, negative, types))
            lines.append(f"{name}({', '.join(head)}) :- {body}.")

    def declare(name: str, types: str, role: str = "output ") -> None:
        columns = ", ".join(f"c{k}: {TYPES[kind]}" for k, kind in enumerate(types))
        lines.append(f"{role}relation {name}({columns})")

    declare("P", "ns")
    rules("P", dict(known), dict(known), "ns", draw(st.integers(1, 2)))
    known["P"] = "ns"
    lower = dict(known)
    declare("R", "nn")
    declare("S", "sn")
    both = {**lower, "R": "nn", "S": "sn"}
    for name, types in (("R", "nn"), ("S", "sn")):
        rules(name, lower, lower, types, 1)
        rules(name, both, lower, types, draw(st.integers(1, 2)))
    if draw(st.booleans()):
        lines.append('S("a", 1).')
    known.update(R="nn", S="sn")
    declare("Q", "ns")
    rules("Q", known, known, "ns", draw(st.integers(1, 2)))
    source, arguments, item, key = draw(
        st.sampled_from(
            [
                ("Q", "x, y", "y", "x"),
                ("R", "x, y", "(x, y)", "y"),
                ("S", "y, x", "y", "x"),
                ("Num", "x, y", "y", "x"),
            ]
        )
    )
    whole = draw(
        st.sampled_from(["g.to_string()", "g.count() as bigint", "g.min()", "g.max()", "g.to_vec()"])
    )
    types = {"g.to_string()": "string", "g.count() as bigint": "bigint", "g.to_vec()": "Vec<ITEM>"}
    item_type = {
        "y": {"Q": "string", "S": "string", "Num": "bit<2>"}.get(source, ""),
        "(x, y)": "(bit<2>, bit<2>)",
    }[item]
    column = types.get(whole, "ITEM").replace("ITEM", item_type)
    lines.append(f"output relation G(k: bit<2>, n: bit<64>, v: {column})")
    lines.append(
        f"G({key}, g.count_distinct(), {whole}) :- {source}({arguments}), var g = {item}.group_by({key})."
    )
    for number, piece in enumerate(draw(st.lists(st.sampled_from(PIECES), max_size=4, unique=True))):
        lines.append(filled(draw, piece, number))
    return "\n".join(lines)


# The same, with the stream Flow: (bit<2>, string). ~d stands for a delay.
TIMED = """
input stream Flow(a: bit<2>, s: string)
"""
TIMED_PIECES = [
    """output stream X(a: bit<2>, s: string)
    X(a, turn(s)) :- Flow(a, s), ~v(a, _).
    X(a, s) :- ~w(a, b), Flow-~d(b, s).
    X(a, s) :- Flow(a, s), a ~o ~n.""",
    """output stream X(a: bit<2>, n: bit<64>)
    X(a, n) :- ~w(a, b), Flow(b, s), var n = s.group_by(a).count_distinct().
    X(b, 7) :- not ~v-~d(~n, ~s), Flow(b, ~s).""",
    """stream Part(a: bit<2>)
    Part(a) :- Flow(a, s), ~v(a, s).
    Part(next(a)) :- Flow(a, _).
    output relation X(a: bit<2>, n: bit<64>)
    X(a, n) :- Part'(b), ~w-~d(a, b), var n = b.group_by(a).count().
    output stream Doubled(a: bit<2>)
    Doubled(a) :- Part(a).
    Doubled(a) :- Part-~d(a), Bag(_).""",
    """output relation X(a: bit<2>, s: string)
    X(a, s) :- Flow'(a, s), not ~v-~d(a, s).
    X(a, s) :- ~v(a, s), Flow'-~d(a, s), not Flow'(~n, _).""",
    """output relation X(a: bit<2>, b: bit<2>)
    X(a, b) :- ~w-~d(a, b), not ~w(a, b), a ~o b.
    X(b, ~n) :- ~w(~n, b), not ~w-~d(_, b).""",
    """output multiset X(a: bit<2>, s: string)
    X(a, s) :- Heap-~d(a, _), Bag-~d(s).
    X(a, s) :- Flow'(a, s), Flow'-~d(a, _).""",
    """output relation X(a: bit<2>, s: string)
    X(next(a), s) :- X-~d(a, s), ~w(a, _).
    X(a, turn(s)) :- X-~d(a, s), not ~v(a, s), a ~o ~n.
    X(a, s) :- Flow'(a, s).""",
    """output relation X(s: string, a: bit<2>)
    X(s, a) :- ~v-~d(a, s).
    X(turn(s), a) :- X(s, a), Flow'(a, s).
    X(s, b) :- X(s, a), ~w(a, b), X(t, b), Flow'-~d(a, t).""",
]

HOLES = {
    "~d": ["1", "2", "3"],
    "~n": ["0", "1", "2"],
    "~s": ['"a"', '"b"'],
    "~v": ["P", "Tag"],
    "~w": ["R", "Num", "Heap"],
    "~c": ["d, _, _, _", "_, f, _, _", "_, _, b, _", "_, _, _, w", "d, _, b, _"],
    "~o": ["<", "<=", "==", "!="],
}


def filled(draw: Any, piece: str, number: int) -> str:
    """A piece with its holes filled; the relation without a name gets one."""
    for hole, choices in HOLES.items():
        while hole in piece:
            piece = piece.replace(hole, draw(st.sampled_from(choices)), 1)
    return re.sub(r"\bX\b", f"X{number}", piece)


@st.composite
def timed_programs(draw: Any) -> str:
    """The text of a program with streams and delays."""
    lines = [draw(programs()), TIMED]
    pieces = draw(st.lists(st.sampled_from(TIMED_PIECES), min_size=1, max_size=3, unique=True))
    return "\n".join(lines + [filled(draw, piece, 10 + number) for number, piece in enumerate(pieces)])


small = st.integers(0, 3)
letters = st.sampled_from(["a", "b", "c"])
ROWS = {
    "Num": st.tuples(small, small),
    "Tag": st.tuples(small, letters),
    "May": st.tuples(
        st.one_of(st.just((0,)), st.tuples(st.just(1), letters)),
        st.one_of(st.just((0,)), st.tuples(st.just(1), small)),
    ),
    "Bag": st.tuples(letters),
    "Fig": st.tuples(
        st.one_of(st.tuples(st.just(0), small), st.tuples(st.just(1), small, letters), st.just((2,)))
    ),
    "Pair": st.tuples(st.tuples(small, letters)),
    "Spot": st.tuples(st.tuples(small, st.tuples(small, letters)), letters),
    "Many": st.tuples(
        small,
        st.lists(small, max_size=3).map(Vec),
        st.sets(letters).map(Set),
        st.dictionaries(letters, small).map(Map),
    ),
    "Mass": st.tuples(
        small,
        st.sampled_from([0.0, 1.5, -2.5, 1e300, math.inf, -math.inf, NAN]),
        st.sampled_from([0.0, 0.5, -3.0, 16777216.0, math.inf, NAN]),
        st.sampled_from([0, 1, -7, 2**63, -(2**63) - 1, 2**64, 10**30]),
        st.sampled_from([0, 1, -5, 2**62, 2**63, 2**69 - 1, -(2**69)]),
    ),
    "Heap": st.tuples(small, small),
}
MULTISETS = {"Bag", "Heap"}


@st.composite
def timed_transactions(draw: Any) -> list[list[tuple[str, tuple[Any, ...], int]]]:
    """Transactions with elements of the stream."""
    flow = st.lists(st.tuples(st.just("Flow"), st.tuples(small, letters), st.just(1)), max_size=4)
    return [one + draw(flow) for one in draw(transactions()) + draw(transactions())]


@st.composite
def edges(draw: Any) -> list[list[tuple[str, tuple[Any, ...], int]]]:
    """Transactions of Num and Tag alone."""
    signs = st.sampled_from([1, 1, 1, -1])
    one = st.one_of(
        st.tuples(st.just("Num"), ROWS["Num"], signs), st.tuples(st.just("Tag"), ROWS["Tag"], signs)
    )
    return draw(st.lists(st.lists(one, min_size=1, max_size=8), min_size=1, max_size=6))  # type: ignore[no-any-return]


@st.composite
def transactions(draw: Any) -> list[list[tuple[str, tuple[Any, ...], int]]]:
    """A few transactions of (relation, row as the engine holds it, +1 or -1) that keep multisets legal."""
    counts: dict[Any, int] = {}
    out = []
    for _ in range(draw(st.integers(1, 5))):
        one = []
        for _ in range(draw(st.integers(0, 8))):
            relation = draw(st.sampled_from(sorted(ROWS)))
            row = draw(ROWS[relation])
            sign = draw(st.sampled_from([1, 1, -1]))
            if relation in MULTISETS:
                key = relation, row
                if counts.get(key, 0) + sign < 0:
                    continue
                counts[key] = counts.get(key, 0) + sign
            one.append((relation, row, sign))
        out.append(one)
    return out
