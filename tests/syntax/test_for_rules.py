"""`for` statements as rules: against the rules that one would write, and against loops in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.check.program import check_program
from ddlog.engine.circuit import Guard, Join
from ddlog.errors.diagnostics import DDlogError, render
from ddlog.errors.source import Source

from ..trying import trying

DECLARATIONS = """
typedef U = U1{n: bit<2>} | U2{b: bool, n: bit<2>} | U3
function u(k: bit<2>, n: bit<2>): U {
    match (k) { 0 -> U1{n}, 1 -> U2{true, n}, 2 -> U2{false, n}, _ -> U3 }
}
input relation N[bit<2>]
input relation T(k: bit<2>, n: bit<2>)
output relation O(x: bit<2>, y: bit<2>)
"""

Facts: TypeAlias = Mapping[str, set[tuple[int, ...]]]
Values: TypeAlias = dict[str, int]
Rows: TypeAlias = Iterator[tuple[int, int]]
Meaning: TypeAlias = Callable[[Facts, Values], Rows]

RULES = [
    ("for (x in N) O(x, x)", "O(x, x) :- N[x]."),
    ("for (T{k, n} in T) O(k, n)", "O(k, n) :- T(k, n)."),
    ("for (t in T(_, 1)) O(t.k, 0)", "O(k, 0) :- T(k, 1)."),
    ("for (t in T if t.k > t.n) O(t.k, t.n)", "O(k, n) :- T(k, n), k > n."),
    ("for (T{k, n} in T(1, _)) O(k, n)", "O(1, n) :- T(1, n)."),
    ("for (_ in N) O(0, 0)", "O(0, 0) :- N[_]."),
    ("for (x in N) for (T{x, n} in T) O(x, n)", "O(x, n) :- N[x], T(x, n)."),
    ("for (x in N) { O(x, 0); skip; O[O{0, x}] }", "O(x, 0), O(0, x) :- N[x]."),
    (
        "for (x in N) if (x == 1) O(x, 1) else if (x == 2) O(x, 2) else O(x, 3)",
        "O(1, 1) :- N[1]. O(2, 2) :- N[2]. O(x, 3) :- N[x], x != 1, x != 2.",
    ),
    (
        "for (T{k, n} in T) match (u(k, n)) { U1{1} -> O(0, 0), U1{m} -> O(1, m), U3 -> skip, _ -> O(2, n) }",
        "O(0, 0) :- T(0, 1). O(1, m) :- T(0, m), m != 1. O(2, n) :- T(k, n), k == 1 or k == 2.",
    ),
    ("for (x in N) var v = [x, x + 1] in var y = FlatMap(v) in O(x, y)", "O(x, x), O(x, x + 1) :- N[x]."),
    (
        "for (T{k, n} in T) var c = n.group_by(k).count() in O(k, c as bit<2>)",
        "O(k, c as bit<2>) :- T(k, n), var c = n.group_by(k).count().",
    ),
    ("for (x in N) (var a, _) = (x + 1, x) in O(a, x)", "O(x + 1, x) :- N[x]."),
    ("for (x in N) var y = x, z: bit<2> = y + 1, (var w, _) = (z, x) in O(y, w)", "O(x, x + 1) :- N[x]."),
    ("for (x in O(_, 0)) for (T{x.x, n} in T) O(n, 0) for (x in N) O(x, 0)",
     "O(n, 0) :- O(x, 0), T(x, n). O(x, 0) :- N[x]."),
]  # fmt: skip

numbers = st.integers(0, 3)
facts = st.one_of(
    st.tuples(st.just("N"), st.tuples(numbers)), st.tuples(st.just("T"), st.tuples(numbers, numbers))
)
EVERY = [*(("N", (n,)) for n in range(4)), *(("T", (k, n)) for k in range(4) for n in range(4))]
many = st.lists(st.booleans(), min_size=len(EVERY), max_size=len(EVERY)).map(
    lambda absent: [(fact, True) for fact, skipped in zip(EVERY, absent, strict=True) if not skipped]
)
streams = st.tuples(many, st.lists(st.lists(st.tuples(facts, st.booleans()), max_size=8), max_size=3)).map(
    lambda made: [made[0], *made[1]]
)
thorough = trying(8)


def states(text: str, stream: Any) -> Iterator[tuple[Facts, set[tuple[int, int]]]]:
    """The facts and the rows of O after each transaction; the changes are summed, not read again."""
    held: dict[str, set[tuple[int, ...]]] = {"N": set(), "T": set()}
    rows: set[tuple[int, int]] = set()
    with ddlog.compile(DECLARATIONS + text).session() as session:
        for transaction in stream:
            for (relation, row), added in transaction:
                (session.insert_rows if added else session.delete_rows)(relation, [row])
                (held[relation].add if added else held[relation].discard)(row)
            changes = session.commit()
            for row, weight in changes.rows("O") if "O" in changes else ():
                assert weight == (-1 if row in rows else 1)
                rows ^= {row}
            yield held, set(rows)


@pytest.mark.parametrize(("statement", "rules"), RULES)
@thorough
@given(streams)
def test_statements_are_rules(statement: str, rules: str, stream: Any) -> None:
    for (_, rows), (_, wanted) in zip(states(statement, stream), states(rules, stream), strict=True):
        assert rows == wanted


@dataclass
class Statements:
    """Draws statements as text, each with its meaning: loops over the facts."""

    draw: st.DrawFn
    count: int = 0
    names: list[str] = field(default_factory=list)

    def pick(self, choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def operand(self) -> tuple[str, Callable[[Values], int]]:
        choice = self.pick([*self.names[-3:], self.draw(st.integers(0, 2))])
        if isinstance(choice, int):
            return f"(({choice}: bit<2>))", lambda _: choice
        return choice, lambda values: values[choice]

    def under(self, names: list[str], depth: int) -> tuple[str, Meaning]:
        """A statement within one that binds the names."""
        self.names += names
        made = self.statement(depth - 1)
        del self.names[len(self.names) - len(names) :]
        return made

    def statement(self, depth: int) -> tuple[str, Meaning]:
        ends = [self.insertion, self.insertion, self.insertion, self.skip]
        inner = [self.condition, self.block, self.let, self.match_number, self.match_pair, self.match_union]
        if depth == 0:
            return self.pick(ends)(depth)  # type: ignore[no-any-return]
        return self.pick([*inner, self.loop_n, self.loop_t])(depth)  # type: ignore[no-any-return]

    def insertion(self, _: int) -> tuple[str, Meaning]:
        (x, get_x), (y, get_y) = self.operand(), self.operand()
        return f"O({x}, {y})", lambda _, values: iter([(get_x(values), get_y(values))])

    def skip(self, _: int) -> tuple[str, Meaning]:
        return self.pick(["skip", "{}"]), lambda _, __: iter(())

    def test(self) -> tuple[str, Callable[[Values], bool]]:
        (x, get_x), (y, get_y) = self.operand(), self.operand()
        if self.draw(st.booleans()):
            return f"{x} < {y}", lambda values: get_x(values) < get_y(values)
        return f"{x} == {y} or {x} > 2", lambda values: get_x(values) in (get_y(values), 3)

    def condition(self, depth: int) -> tuple[str, Meaning]:
        (text, holds), (yes, then) = self.test(), self.under([], depth)
        if self.draw(st.booleans()):
            return f"if ({text}) {{ {yes} }}", lambda f, v: then(f, v) if holds(v) else iter(())
        no, otherwise = self.under([], depth)
        return f"if ({text}) {{ {yes} }} else {no}", lambda f, v: then(f, v) if holds(v) else otherwise(f, v)

    def block(self, depth: int) -> tuple[str, Meaning]:
        parts = [self.under([], depth) for _ in range(2)]
        text = "; ".join(each for each, _ in parts)
        return f"{{ {text} }}", lambda f, v: (row for _, each in parts for row in each(f, v))

    def let(self, depth: int) -> tuple[str, Meaning]:
        name, (x, get) = self.fresh(), self.operand()
        body, meaning = self.under([name], depth)
        return f"var {name} = {x} + 1 in {body}", lambda f, v: meaning(f, {**v, name: (get(v) + 1) % 4})

    def loop_n(self, depth: int) -> tuple[str, Meaning]:
        name = self.fresh()
        self.names.append(name)
        text, holds = self.test()
        self.names.pop()
        body, meaning = self.under([name], depth)

        def rows(facts: Facts, values: Values) -> Rows:
            for (n,) in facts["N"]:
                if holds(inner := {**values, name: n}):
                    yield from meaning(facts, inner)

        return f"for ({name} in N if {text}) {body}", rows

    def loop_t(self, depth: int) -> tuple[str, Meaning]:
        k, n, whole = self.fresh(), self.fresh(), self.fresh()
        body, meaning = self.under([k, n], depth)
        heading = self.pick([f"T{{{k}, {n}}} in T", f"{whole} in T({k}, {n})", f"T{{.n = {n}}} in T({k}, _)"])

        def rows(facts: Facts, values: Values) -> Rows:
            for row in facts["T"]:
                yield from meaning(facts, {**values, k: row[0], n: row[1]})

        return f"for ({heading}) {body}", rows

    def arms(
        self, depth: int, value: str, shapes: list[tuple[str, Callable[[Any], Values | None]]],
        get: Callable[[Values], Any]
    ) -> tuple[str, Meaning]:  # fmt: skip
        """A match with some of the shapes, in their order: what each takes from a value, if it matches."""
        arms = []
        for pattern, take in shapes:
            if self.pick([True, True, False]):
                name = self.fresh()
                names = [name] if "NAME" in pattern else []
                arms.append((pattern.replace("NAME", name), take, name, *self.under(names, depth)))

        def rows(facts: Facts, values: Values) -> Rows:
            for _, take, name, _, meaning in arms:
                taken = take(get(values))
                if taken is not None:
                    yield from meaning(facts, {**values, name: taken.get("", 0)})
                    return

        return f"match ({value}) {{ {', '.join(f'{arm[0]} -> {arm[3]}' for arm in arms)} }}", rows

    def match_number(self, depth: int) -> tuple[str, Meaning]:
        x, get = self.operand()
        shapes: list[tuple[str, Callable[[Any], Values | None]]] = [
            ("0", lambda x: {} if x == 0 else None),
            ("2", lambda x: {} if x == 2 else None),
            (self.pick(["NAME", "var NAME", "NAME: bit<2>"]), lambda x: {"": x}),
        ]
        return self.arms(depth, x, shapes, get)

    def match_pair(self, depth: int) -> tuple[str, Meaning]:
        (x, get_x), (y, get_y) = self.operand(), self.operand()
        shapes: list[tuple[str, Callable[[Any], Values | None]]] = [
            ("(0, NAME)", lambda pair: {"": pair[1]} if pair[0] == 0 else None),
            ("(NAME, 1)", lambda pair: {"": pair[0]} if pair[1] == 1 else None),
            ("(_, NAME)", lambda pair: {"": pair[1]}),
        ]
        return self.arms(depth, f"({x}, {y})", shapes, lambda values: (get_x(values), get_y(values)))

    def match_union(self, depth: int) -> tuple[str, Meaning]:
        (x, get_x), (y, get_y) = self.operand(), self.operand()
        shapes: list[tuple[str, Callable[[Any], Values | None]]] = [
            ("U1{1}", lambda pair: {} if pair == (0, 1) else None),
            ("U1{NAME}", lambda pair: {"": pair[1]} if pair[0] == 0 else None),
            ("U2{.n = NAME, .b = true}", lambda pair: {"": pair[1]} if pair[0] == 1 else None),
            ("U2", lambda pair: {} if pair[0] in (1, 2) else None),
            ("U3", lambda pair: {} if pair[0] == 3 else None),
        ]
        return self.arms(depth, f"u({x}, {y})", shapes, lambda values: (get_x(values), get_y(values)))


@st.composite
def statements(draw: st.DrawFn) -> tuple[str, Meaning]:
    made = Statements(draw)
    return made.pick([made.loop_n, made.loop_t])(4)  # type: ignore[no-any-return]


@trying(25)
@given(statements(), streams)
def test_statements_are_loops(statement: tuple[str, Meaning], stream: Any) -> None:
    """A statement inserts what its loops would find on the facts, after every transaction."""
    text, meaning = statement
    for held, rows in states(text, stream):
        assert rows == set(meaning(held, {}))


@pytest.mark.parametrize(
    ("statement", "unused"),
    [
        ("for (T{k, n} in T) { O(k, k); O(n, n) }", []),
        ("for (T{k, n} in T) { O(k, k); O(0, 0) }", ["n"]),
        ("for (t in T) if (t.k > 0) O(0, 0)", []),
        ("for (t in T(_, 1)) O(0, 0)", ["t"]),
        ("for (x in N) match (u(x, x)) { U1{n} -> O(n, n), U2{_, n} -> O(0, 0), U3 -> skip }", ["n"]),
        ("for (x in N) match (u(x, x)) { U1{a} -> { O(a, 0); O(0, 0) }, U2{_, _a} -> skip }", []),
        ("for (x in N) var y = x in skip", ["y"]),
    ],
)
def test_unused_variables(statement: str, unused: list[str]) -> None:
    """A variable is used if one of the insertions behind it needs it; each is warned of once."""
    program, found = check_program(Source("test.dl", DECLARATIONS + "O(0, 0).\n" + statement))
    assert program is not None, render(found)
    assert [each.name for each in found if "unused variable" in each.message] == unused  # type: ignore[attr-defined]


def test_faults_and_circuits_show_the_statement() -> None:
    """A rule is shown as the statement up to its insertion, on one line; an `else` negated."""
    text = DECLARATIONS + "for (x in N)\n    if (x > 2) O(x, x)\n    else var y = 3 / x in O(y, y)\n"
    program = ddlog.compile(text)
    assert "not (x > 2)" in {
        step.condition.text
        for node in program.circuit("relational").nodes
        if isinstance(node, Join)
        for step in node.steps
        if isinstance(step, Guard)
    }
    with program.session() as session:
        session.insert_rows("N", [(0,)])
        with pytest.raises(DDlogError) as caught:
            session.commit()
    message = "in the rule `for (x in N) if (x > 2) O(x, x) else var y = 3 / x in O(y, y)`, for x = 0"
    assert f"<program>:11:18: division by zero, {message}" in str(caught.value)
