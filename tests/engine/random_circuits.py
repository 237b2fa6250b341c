"""Random circuits over small integers, and random streams of changes, for tests against the oracle.

Three strata over the inputs A(x, y), B(x, y), C(x) and the multiset M(x): a plain relation P, the
mutually recursive R and S, and outputs on top with negation and groups. Every construct that is not
linear occurs. On demand the recursion has groups and negations inside; it may then not settle.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from hypothesis import reject
from hypothesis import strategies as st

from ddlog.engine.circuit import (
    Aggregate,
    Circuit,
    Clock,
    Constant,
    Distinct,
    Fixpoint,
    FixpointResult,
    Group,
    Guard,
    Import,
    Input,
    Integrate,
    Join,
    Late,
    Let,
    Node,
    Ordered,
    Output,
    Step,
    Sum,
    Term,
    Unnest,
    Variable,
    Window,
)
from ddlog.engine.divergence import Unsettled
from ddlog.engine.maintenance import Coin, Mode
from ddlog.engine.reference import Evaluation
from ddlog.engine.schema import Column, Kind, RowExpr
from ddlog.engine.sortedrows import ArrangedColumns, ColumnOrder, Key, Row, SortedRows

INPUTS = {"A": 2, "B": 2, "C": 1, "M": 1}
VARIABLES = ["x", "y", "z", "w"]
SMALL = 4  # values are 0 .. SMALL - 1, so that rows meet


def int_column(name: str) -> Column:
    """A column of plain integers."""
    return Column(name, Kind.INT, "bigint")


def schema(arity: int) -> tuple[Column, ...]:
    """A schema of integer columns."""
    return tuple(int_column(f"c{k}") for k in range(arity))


def less(a: str, b: str) -> RowExpr:
    """a < b, with array code."""
    arrays = lambda _, u, v: (u < v).astype("int64")  # noqa: E731
    return RowExpr(
        (a, b),
        Column("", Kind.BOOL, "bool"),
        f"{a}<{b}",
        f"{a} < {b}",
        "t.dl:1:1",
        lambda u, v: u < v,
        arrays,
    )


def next_value(a: str) -> RowExpr:
    """(a + 1) mod SMALL, without array code."""
    return RowExpr((a,), int_column(""), f"{a}+1", f"{a} + 1", "t.dl:1:1", lambda u: (u + 1) % SMALL)


def below(a: str) -> RowExpr:
    """The collection 0 .. a-1, with 0 twice."""
    return RowExpr((a,), int_column(""), f"below {a}", f"below({a})", "t.dl:1:1", lambda u: (0, *range(u)))


def copy(a: str) -> RowExpr:
    """a."""
    return RowExpr((a,), int_column(""), a, a, "t.dl:1:1", lambda u: u, lambda _, u: u)


def constant(value: int) -> RowExpr:
    """A literal."""
    return RowExpr((), int_column(""), value, str(value), "t.dl:1:1", lambda: value)


class Numbers:
    """The sum of the value of a row and its number in the order of values."""

    settles, alike, orders = True, False, tuple[ColumnOrder, ...]()

    def arrays(self, rows: ArrangedColumns) -> None:
        return None

    @property
    def key(self) -> Callable[[Row], Key]:
        return lambda row: (row, row)

    def values(self, rows: SortedRows, start: int, end: int) -> list[int]:
        return list(range(start, end))

    def reach(self, rows: SortedRows, at: int) -> tuple[int, int]:
        return at, len(rows)

    def settled(self, rows: SortedRows, at: int, last: int) -> bool:
        return at > last

    def result(self, row: Row, value: int) -> Row:
        return (int(row[0]) + value,)


@dataclass
class Builder:
    """Nodes under construction."""

    nodes: list[Node] = field(default_factory=list)

    def add(self, node: Node) -> int:
        """Appends a node."""
        self.nodes.append(node)
        return len(self.nodes) - 1


@st.composite
def rule(
    draw: Any,
    positive: dict[str, tuple[int, int]],
    negative: dict[str, tuple[int, int]],
    arity: int,
    most: int = 3,
) -> Join:
    """A join over relations given as name: (node, arity), of at most so many positive terms."""
    terms = []
    bound: list[str] = []
    for _ in range(draw(st.integers(1 if most == 3 else 2, most))):
        node, width = positive[draw(st.sampled_from(sorted(positive)))]
        columns = tuple(draw(st.sampled_from([*VARIABLES, *VARIABLES, None])) for _ in range(width))
        terms.append(Term(node, columns))
        bound += [c for c in columns if c is not None and c not in bound]
    steps: list[Step] = []
    if not bound:
        steps.append(Let("x", constant(1)))
        bound.append("x")
    extra = draw(st.sampled_from(["", "", "guard", "let", "constant", "unnest", "check", "key"]))
    some = st.sampled_from(bound)
    if extra == "guard":
        steps.append(Guard(less(draw(some), draw(some))))
    elif extra == "let":
        steps.append(Let("n", next_value(draw(some))))
        bound.append("n")
    elif extra == "key":
        steps += [Guard(less(draw(some), draw(some)))] * draw(st.integers(0, 1))
        steps += [Let("k", next_value(draw(some))), Let("k", next_value(draw(some)))]
        bound.append("k")
    elif extra == "check":
        steps.append(Let(draw(some), next_value(draw(some))))
    elif extra == "constant":
        steps.append(Let(draw(some), constant(draw(st.integers(0, SMALL - 1)))))
    elif extra == "unnest":
        steps.append(Unnest("n", below(draw(some))))
        bound.append("n")
    if negative and draw(st.booleans()):
        node, width = negative[draw(st.sampled_from(sorted(negative)))]
        terms.append(Term(node, tuple(draw(st.sampled_from(bound)) for _ in range(width)), negated=True))
    output = tuple(draw(st.sampled_from(bound)) for _ in range(arity))
    return Join(tuple(terms), tuple(steps), output, schema(arity), "rule")


INNER = (
    Aggregate("min", (1,)),
    Aggregate("max", (1,)),
    Aggregate("count", ()),
    Aggregate("sum", (1,), wrap=lambda v: v % SMALL, key="mod"),
    Aggregate(
        "group", (1,), make=lambda key, values: (sum(v for (v,) in values) ^ len(values)) % SMALL, key="f"
    ),
)


@st.composite
def grouped(draw: Any, build: Builder, positive: dict[str, tuple[int, int]], arity: int) -> Join:
    """A rule that groups relations of its own recursion, perhaps with a column that no aggregate reads."""
    width = draw(st.sampled_from([2, 2, 3]))
    joined = build.add(draw(rule(positive, {}, width)))
    source = build.add(Distinct(joined, schema(width)))
    group = build.add(Group(source, 1, (draw(st.sampled_from(INNER)),), (*schema(1), int_column("v"))))
    steps: tuple[Step, ...] = ()
    if draw(st.booleans()):
        steps = (Let("n", next_value("v")),)
    column = "n" if steps else "v"
    some = draw(st.sampled_from([("k", column), (column, "k"), ("k", "k")]))
    return Join((Term(group, ("k", "v")),), steps, some[:arity], schema(arity), "grouping rule")


@st.composite
def groups_joined(draw: Any, build: Builder, source: int, others: dict[str, tuple[int, int]]) -> Join:
    """A rule that joins groups of one source, mostly by their key, and perhaps values computed of them."""
    keys = draw(st.sampled_from([1, 1, 1, 0, 2]))
    names = ("n0", "n1", "n2")[: keys + 1]
    nodes: list[tuple[int, tuple[str, ...]]] = []  # with one row for each group
    for _ in range(draw(st.integers(1, 2))):
        named = (*schema(keys), int_column("v"))
        nodes.append((build.add(Group(source, keys, (draw(st.sampled_from(INNER)),), named)), names))
        if draw(st.booleans()):
            own = draw(st.sampled_from(["m", "m", "m", "n0"]))
            lets = (Let(own, next_value(draw(st.sampled_from(names)))),)
            output = tuple(draw(st.permutations([*names, draw(st.sampled_from([own, own, "n0"]))])))
            computed = Join((Term(nodes[-1][0], names),), lets, output, schema(keys + 2), "of a group")
            nodes.append((build.add(computed), output))
    terms = []
    for _ in range(draw(st.integers(2, 3))):
        key = draw(st.sampled_from([*[("x", "y")] * 4, ("y", "x"), ("x", "x"), *[(None, "y")] * 2]))[:keys]
        free = st.sampled_from(["u", "v", "w", "z", "x", None])
        given = dict(zip(names, (*key, draw(free)), strict=True)) | {"m": draw(free)}
        at, output = draw(st.sampled_from(nodes))
        terms.append(Term(at, tuple(draw(st.sampled_from([given[name]] * 4 + ["w"])) for name in output)))
    more = draw(st.sampled_from(["", "", "term", "negated"]))
    node, width = others[draw(st.sampled_from(sorted(others)))]
    if more == "term":
        terms.append(Term(node, tuple(draw(st.sampled_from(VARIABLES)) for _ in range(width))))
    bound = [name for term in terms for name in term.columns if name is not None]
    steps = () if bound else (Let("x", constant(1)),)
    some = st.sampled_from(bound or ["x"])
    if more == "negated":
        terms.append(Term(node, tuple(draw(some) for _ in range(width)), negated=True))
    return Join(tuple(terms), steps, (draw(some), draw(some)), schema(2), "rule over groups")


@st.composite
def windowed(draw: Any, build: Builder, known: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """A window over some relation, perhaps with its late rows, by a clock that another one drives."""

    def joined(source: int, width: int, time: str, arity: int) -> int:
        columns = ("x", "y")[:width]
        steps: tuple[Step, ...] = (
            (Let("t", next_value(time)),) if draw(st.booleans()) else (Let("t", copy(time)),)
        )
        if draw(st.integers(0, 3)) == 0:
            steps += (Guard(less(columns[0], columns[-1])),)
        output = (*columns, "t")[-arity:]
        return build.add(Join((Term(source, columns),), steps, output, schema(arity), "timed rule"))

    source, width = known[draw(st.sampled_from(sorted(known)))]
    driver, drives = known[draw(st.sampled_from(["C", "C", "M", "A"]))]
    clock = build.add(Clock(joined(driver, drives, "x", 1), schema(1)))
    timed = joined(source, width, "y" if width == 2 else "x", width + 1)
    span, lateness = draw(st.integers(0, 2)), draw(st.sampled_from([None, 0, 1]))
    window = build.add(Window(timed, clock, schema(width), range=span, lateness=lateness))
    found = {"W": (window, width)}
    if lateness is not None:
        found["L"] = (build.add(Late(timed, clock, schema(width), lateness=lateness)), width)
        if draw(st.booleans()):
            found["L"] = (build.add(Integrate(found["L"][0], schema(width))), width)
    return found


@st.composite
def circuits(draw: Any, by_rounds: bool = False, most: int = 3, windows: bool | None = None) -> Circuit:
    """A circuit of three strata. `by_rounds`: its recursion has a group or a negation inside. `most`: the
    number of positive terms of a rule. `windows`: whether a window stands at the bottom; None: it may."""
    top = Builder()
    known: dict[str, tuple[int, int]] = {}
    for name, arity in INPUTS.items():
        # An input that forgets is another definition: what it has forgotten comes late when it comes again.
        known[name] = (top.add(Input(name, schema(arity), multiset=name == "M", lasting=True)), arity)
    outputs = {"P": 2, "R": 2, "S": 1}
    if draw(st.integers(0, 3)) == 0 if windows is None else windows:
        made = draw(windowed(top, known))
        known |= made
        outputs |= {name: width for name, (_, width) in made.items()}
    bags = "MWLJ"
    sets = {k: v for k, v in known.items() if k not in bags}

    def relation(build: Builder, joins: list[Join], arity: int) -> int:
        parts = [build.add(j) for j in joins]
        return build.add(Distinct(build.add(Sum(tuple(parts), schema(arity))), schema(arity)))

    if draw(st.integers(0, 2)) == 0:
        sets["K"] = known["K"] = (top.add(Constant(((0, 1), (1, 2)), schema(2))), 2)
        outputs["K"] = 2
    if draw(st.integers(0, 2)) == 0:
        known["J"] = (top.add(draw(rule(known, sets, 2, most))), 2)
        outputs["J"] = 2
    joins = [draw(rule(known, sets, 2, most)) for _ in range(draw(st.integers(1, 2)))]
    sets["P"] = known["P"] = (relation(top, joins, 2), 2)

    body = Builder()
    inner = {k: (body.add(Import(n, schema(a))), a) for k, (n, a) in known.items()}
    lower = {k: v for k, v in inner.items() if k not in bags}
    both = dict(inner)
    both["R"] = (body.add(Variable("R", schema(2))), 2)
    both["S"] = (body.add(Variable("S", schema(1))), 1)
    results = []
    for name, arity in (("R", 2), ("S", 1)):
        joins = [draw(rule(inner, lower, arity, most))]
        joins += [draw(rule(both, lower, arity, most)) for _ in range(draw(st.integers(1, 2)))]
        parts = [body.add(j) for j in joins]
        for _ in range(draw(st.integers(1, 2)) if by_rounds else 0):
            near = {each: both[each] for each in "ARSR"}
            if draw(st.integers(0, 2)):
                parts.append(body.add(draw(grouped(body, near, arity))))
            else:
                parts.append(body.add(draw(rule(near, {each: both[each] for each in "RS"}, arity))))
        if draw(st.integers(0, 3)) == 0:
            parts.append(body.add(Constant((tuple([1] * arity),), schema(arity))))
        total = body.add(Sum(tuple(parts), schema(arity)))
        results.append((name, body.add(Distinct(total, schema(arity)))))
    fix = top.add(Fixpoint(Circuit(tuple(body.nodes)), tuple(results)))
    for name, arity in (("R", 2), ("S", 1)):
        sets[name] = known[name] = (top.add(FixpointResult(fix, name, schema(arity))), arity)

    joins = [draw(rule(known, sets, 2, most)) for _ in range(draw(st.integers(1, 2)))]
    known["Q"] = (relation(top, joins, 2), 2)
    outputs["Q"] = 2
    source = known[draw(st.sampled_from(["Q", "P", "R"]))][0]
    aggregates = (
        Aggregate("count", ()),
        Aggregate("sum", (1,), wrap=lambda v: v % 5, key="mod 5"),
        Aggregate("min", (1,)),
        Aggregate("max", (1,)),
        Aggregate("group", (1,), make=lambda key, values: (key, tuple(values)), key="whole"),
        Aggregate("avg", (1,)),
    )
    columns = (
        *schema(1),
        int_column("n"),
        int_column("s"),
        int_column("lo"),
        int_column("hi"),
        Column("g", Kind.OBJECT, "group"),
        Column("avg", Kind.FLOAT, "double"),
    )
    name = draw(st.sampled_from(sorted({"J", "Q"} & known.keys())))
    group = top.add(Group(known["J"][0] if name == "J" else source, 1, aggregates, columns, bag=name == "J"))
    top.add(Output("G", group, columns))
    if draw(st.booleans()):  # sums over a join that nothing holds
        joined = top.add(draw(rule(known, sets, 2, most)))
        linear, shown = (*aggregates[:2], aggregates[5]), (*columns[:3], columns[6])
        top.add(Output("N", top.add(Group(joined, 1, linear, shown, bag=True)), shown))
    if draw(st.booleans()):
        outputs["T"] = 2
        known["T"] = top.add(draw(groups_joined(top, source, sets))), 2
    keys = draw(st.sampled_from([1, 1, 0]))
    numbered = (*schema(keys), int_column("o"))
    of_rows = Aggregate("group", (1,), key="numbers", ordered=Numbers())
    ordered = top.add(Ordered(source, keys, of_rows, numbered))
    top.add(Output("O", ordered, numbered))
    for name, arity in outputs.items():
        top.add(Output(name, known[name][0], schema(arity)))
    relations = tuple((n, v[0]) for n, v in known.items())
    return Circuit(tuple(top.nodes), relations)


Changes = dict[str, list[tuple[tuple[int, ...], int]]]


def toggled(
    held: Mapping[str, set[tuple[int, ...]]], edits: Iterable[tuple[str, tuple[int, ...]]]
) -> Changes:
    """Changes that insert each row where it is absent and delete it where it is there, one after another, as
    `held` then says."""
    changes: Changes = {}
    for name, row in edits:
        changes.setdefault(name, []).append((row, -1 if row in held[name] else 1))
        held[name].symmetric_difference_update({row})
    return changes


@st.composite
def streams(draw: Any) -> list[Changes]:
    """A few epochs of changes that are legal for multisets; sets take any."""
    counts: dict[tuple[int, ...], int] = {}
    epochs = []
    for _ in range(draw(st.integers(1, 6))):
        epoch: Changes = {}
        for name, arity in INPUTS.items():
            rows = st.tuples(*[st.integers(0, SMALL - 1)] * arity)
            signed = draw(st.lists(st.tuples(rows, st.sampled_from([1, 1, -1])), max_size=5))
            if name == "M":
                legal = []
                for row, sign in signed:
                    if counts.get(row, 0) + sign >= 0:
                        counts[row] = counts.get(row, 0) + sign
                        legal.append((row, sign))
                signed = legal
            epoch[name] = signed
        epochs.append(epoch)
    return epochs


def apply(contents: dict[str, dict[tuple[int, ...], int]], changes: Changes) -> None:
    """Applies changes to input contents as a session would."""
    for name, signed in changes.items():
        relation = contents[name]
        for row, sign in signed:
            weight = relation.get(row, 0) + sign if name == "M" else int(sign > 0)
            if weight:
                relation[row] = weight
            else:
                relation.pop(row, None)


LIMIT = 40
"""The rounds that a recursion of a random circuit may take: one that settles takes few."""


@st.composite
def modes(draw: Any) -> Mode | Coin:
    """How a runtime decides whether recursions are maintained: a mode, or by a coin for each epoch, which may
    also give up on the way."""
    mode: Mode | None = draw(st.sampled_from((*get_args(Mode), None, None, None)))
    if mode is not None:
        return mode
    falls = itertools.cycle(draw(st.lists(st.none() | st.integers(0, 12), min_size=1, max_size=8)))
    return lambda: next(falls)


class Definition:
    """The contents of the outputs after each epoch, from scratch but for the memories of windows."""

    def __init__(self, circuit: Circuit, limit: int | None = LIMIT) -> None:
        self._circuit, self._limit = circuit, limit
        self._memories: list[dict[int, Any]] = [{}]

    def step(self, contents: dict[str, dict[tuple[int, ...], int]]) -> dict[str, dict[tuple[Any, ...], int]]:
        """The outputs for the contents of the inputs. Raises Unsettled; then the epoch is none."""
        evaluation = Evaluation(self._circuit, limit=self._limit)
        evaluation._memories = self._memories
        found = evaluation.step(contents)
        self._memories = evaluation._memories
        return found


@st.composite
def products(draw: Any) -> Circuit:
    """A circuit with a recursion whose rules are products of relations of two columns (see
    `inprocess.recursion.products`), and readers of it: a look-up, a negation and a group."""
    top, body = Builder(), Builder()
    known = {name: top.add(Input(name, schema(n), multiset=name == "M")) for name, n in INPUTS.items()}
    inner = {name: body.add(Import(known[name], schema(2))) for name in "AB"}
    variables = {name: body.add(Variable(name, schema(2))) for name in "RS"}
    results = []
    for name in "RS":
        parts = [
            body.add(Join((Term(inner["A" if name == "R" else "B"], ("x", "y")),), (), ("x", "y"), schema(2)))
        ]
        for _ in range(draw(st.integers(1, 2))):
            way = [
                draw(st.sampled_from([*inner.values(), *variables.values()]))
                for _ in range(draw(st.integers(0, 2)))
            ]
            way.insert(draw(st.integers(0, len(way))), variables[draw(st.sampled_from("RS"))])
            terms = []
            for k, source in enumerate(way):
                ends = (f"v{k}", f"v{k + 1}")
                terms.append(Term(source, ends if draw(st.booleans()) else ends[::-1]))
            head = ("v0", f"v{len(way)}")
            steps = (Guard(less(*draw(st.permutations(head)))),) if draw(st.integers(0, 2)) == 0 else ()
            parts.append(
                body.add(Join(tuple(draw(st.permutations(terms))), steps, head, schema(2), "product"))
            )
        results.append((name, body.add(Distinct(body.add(Sum(tuple(parts), schema(2))), schema(2)))))
    fix = top.add(Fixpoint(Circuit(tuple(body.nodes)), tuple(results)))
    known |= {name: top.add(FixpointResult(fix, name, schema(2))) for name in "RS"}
    terms = [
        Term(known["R"], ("x", "y")),
        Term(known["S"], ("y", "z")),
        Term(known["S"], ("z", "x"), negated=True),
    ]
    found = top.add(Join(tuple(terms), (), ("x", "z"), schema(2), "reader"))
    known["Q"] = top.add(Distinct(found, schema(2)))
    counted = (*schema(1), int_column("n"))
    group = top.add(Group(known["R"], 1, (Aggregate("count", ()),), counted))
    top.add(Output("G", group, counted))
    shown = draw(st.sampled_from(["RSQ", "Q", "R", "S"]))
    for name in shown:
        top.add(Output(name, known[name], schema(2)))
    return Circuit(tuple(top.nodes), tuple(known.items()))


any_circuits = st.booleans().flatmap(circuits) | products()


def settling(test: Callable[..., None]) -> Callable[..., None]:
    """A test without the examples in which a recursion does not settle."""

    @functools.wraps(test)
    def settled(**arguments: Any) -> None:
        try:
            test(**arguments)
        except Unsettled:
            reject()

    return settled
