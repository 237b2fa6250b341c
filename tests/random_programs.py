"""Random programs in the language, and random transactions for them.

Typed columns (a small number, a string, an option, a tuple), functions, patterns, every kind of
clause, and three strata: plain relations, mutually recursive ones, and negation and groups on top.
Recursive rules only use functions into finite sets, so that every program ends.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

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
"""

TYPES = {"n": "bit<2>", "s": "string"}
INPUTS = {"Num": "nn", "Tag": "ns", "Bag": "s"}
POOL = {"n": ["i", "j", "k"], "s": ["p", "q"]}
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
    return "\n".join(lines)


small = st.integers(0, 3)
letters = st.sampled_from(["a", "b", "c"])
ROWS = {
    "Num": st.tuples(small, small),
    "Tag": st.tuples(small, letters),
    "May": st.tuples(st.one_of(st.none(), letters), st.one_of(st.none(), small)),
    "Bag": st.tuples(letters),
}


@st.composite
def transactions(draw: Any) -> list[list[tuple[str, tuple[Any, ...], int]]]:
    """A few transactions of (relation, row, +1 or -1) that keep multisets legal."""
    counts: dict[Any, int] = {}
    out = []
    for _ in range(draw(st.integers(1, 5))):
        one = []
        for _ in range(draw(st.integers(0, 8))):
            relation = draw(st.sampled_from(sorted(ROWS)))
            row = draw(ROWS[relation])
            sign = draw(st.sampled_from([1, 1, -1]))
            if relation == "Bag":
                if counts.get(row, 0) + sign < 0:
                    continue
                counts[row] = counts.get(row, 0) + sign
            one.append((relation, row, sign))
        out.append(one)
    return out
