"""Loops: the in-process runtime in product time against naive nested iteration, on random loops in loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle, product
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.engine import divergence, naiveloop, zset
from ddlog.engine.circuit import (
    Admit,
    Circuit,
    Constant,
    Distinct,
    Earlier,
    Fixpoint,
    FixpointResult,
    Import,
    Input,
    Join,
    Let,
    Loop,
    Output,
    Sum,
    Term,
    Variable,
)
from ddlog.engine.divergence import LoopLimit, LoopRepetition
from ddlog.engine.incremental import incrementalize
from ddlog.engine.inprocess.recursion import loopdivergence
from ddlog.engine.inprocess.recursion.freshrounds import FreshRoundsEpoch
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.maintenance import Coin, Mode
from ddlog.engine.passes import optimize
from ddlog.engine.reference import evaluate
from ddlog.engine.runtime import Runtime
from ddlog.engine.wellformed import check_circuit
from ddlog.engine.zset import Zset

from ..taking import small, taking
from ..trying import trying
from .differential import Lattice, differential, upto
from .random_circuits import (
    INPUTS,
    Builder,
    Changes,
    apply,
    constant,
    grouped,
    modes,
    rule,
    schema,
    streams,
)
from .test_oracle import difference, legal, undo

LIMIT = 6

Known = dict[str, tuple[int, int]]


@st.composite
def bodies(
    draw: Any, outside: Known, level: int, deepest: int, clocks: int, fresh: bool = False
) -> tuple[Circuit, Any, Any]:
    """The body of a loop, or of a fixpoint if `clocks` is less than the level: its nodes and results.
    `fresh`: its rounds can begin from nothing."""
    body = Builder()
    known: Known = {
        name: (body.add(Import(at, schema(arity))), arity) for name, (at, arity) in outside.items()
    }
    sets = {name: each for name, each in known.items() if name != "M"}
    r, s = f"R{level}", f"S{level}"
    for name, arity in ((r, 2), (s, 1)):
        for rounds in (1, 2) if not fresh and draw(st.integers(0, 3)) == 0 else (1,):
            known[f"{name}-{rounds}"] = body.add(Earlier(name, rounds, schema(arity))), arity
    before = {name: each for name, each in known.items() if "-" in name}
    sets |= before
    if level < deepest and draw(st.integers(0, 4)):
        known |= draw(nested(body, known, level + 1, deepest, clocks + 1))
        sets |= {name: each for name, each in known.items() if name != "M"}
    if draw(st.booleans()):
        known["X"] = sets["X"] = draw(admitted(body, known, draw(st.integers(0, clocks)))), 2

    passing = fresh and draw(st.booleans())  # rows rest on the round before alone: most rounds lose some

    def relation(name: str, arity: int) -> None:
        if passing:
            joins = [draw(passed_on(known[f"{name}-1"][0], known["A"][0], sets, arity))]
        else:
            joins = [draw(rule(known, {} if fresh else sets, arity))]
        looking_back = before if fresh else {**before, "A": known["A"]}
        least = int(fresh and not passing)
        joins += [draw(rule(looking_back, sets, arity)) for _ in range(draw(st.integers(least, 2)))]
        parts = [body.add(each) for each in joins]
        if passing:
            parts.append(initial(body, known["A"][0], arity))
        if draw(st.integers(0, 2)) == 0:
            possible = before if passing else known
            near = {each: at for each, at in possible.items() if at[1] == 2 and each != "M"}
            parts.append(body.add(draw(grouped(body, near, arity))))
        if draw(st.integers(0, 4)) == 0:
            parts.append(body.add(Constant((tuple([1] * arity),), schema(arity))))
        if not fresh and draw(st.integers(0, 3)) == 0:
            parts.append(body.add(draw(without(sets, arity))))
        total = body.add(Sum(tuple(parts), schema(arity)))
        known[name] = sets[name] = body.add(Distinct(total, schema(arity))), arity

    relation(s, 1)
    relation(r, 2)
    results = ((r, known[r][0]), (s, known[s][0]))
    return Circuit(tuple(body.nodes)), results, None


@st.composite
def passed_on(draw: Any, before: int, edges: int, sets: Known, arity: int) -> Join:
    """A rule by which rows of the round before go on along edges."""
    kept = ("k",)[: arity - 1]
    terms = [Term(before, (*kept, "x")), Term(edges, ("x", "y"))]
    if draw(st.booleans()):
        at, width = sets[draw(st.sampled_from(sorted(sets)))]
        some = st.sampled_from([*kept, "x", "y"])
        terms.append(Term(at, tuple(draw(some) for _ in range(width)), negated=True))
    return Join(tuple(terms), (), (*kept, "y"), schema(arity), "rule of rows that go on")


def initial(body: Builder, edges: int, arity: int) -> int:
    """Rows that are there in round 0 alone."""
    columns, until = ("x", "y")[:arity], (Let("until", constant(1)),)
    join = Join((Term(edges, ("x", "y")),), until, (*columns, "until"), schema(arity + 1))
    return body.add(Admit(body.add(join), schema(arity), 0, 1, 0))


@st.composite
def without(draw: Any, sets: Known, arity: int) -> Join:
    """A rule of negated terms alone."""
    terms = [sets[draw(st.sampled_from(sorted(sets)))] for _ in range(draw(st.integers(1, 2)))]
    negated = tuple(Term(at, ("x",) * width, negated=True) for at, width in terms)
    value = Let("x", constant(draw(st.integers(0, 2))))
    return Join(negated, (value,), ("x",) * arity, schema(arity), "rule without rows")


@st.composite
def admitted(draw: Any, body: Builder, known: Known, scope: int) -> int:
    """Rows with two columns, from a round on or up to one."""
    name = draw(st.sampled_from(sorted(each for each, (_, arity) in known.items() if arity == 2)))
    since, until = draw(st.sampled_from([(1, 0), (0, 1), (1, 1), (2, 0)]))
    columns = tuple(draw(st.sampled_from(["x", "y"])) for _ in range(since + until))
    join = body.add(
        Join((Term(known[name][0], ("x", "y")),), (), ("x", "y", *columns), schema(2 + len(columns)))
    )
    made = body.add(Admit(join, schema(2), since, until, scope))
    return body.add(Distinct(made, schema(2)))


@st.composite
def fixpoints(draw: Any, outside: Known, level: int) -> Fixpoint:
    """A fixpoint for the body of a loop."""
    body = Builder()
    known: Known = {
        name: (body.add(Import(at, schema(arity))), arity) for name, (at, arity) in outside.items()
    }
    sets = {name: each for name, each in known.items() if name != "M"}
    name = f"R{level}"
    own = {name: (body.add(Variable(name, schema(2))), 2)}
    joins = [draw(rule(known, sets, 2)), draw(rule({**own, "A": known["A"]}, sets, 2))]
    total = body.add(Sum(tuple(body.add(each) for each in joins), schema(2)))
    result = body.add(Distinct(total, schema(2)))
    return Fixpoint(Circuit(tuple(body.nodes)), ((name, result),))


@st.composite
def nested(
    draw: Any, build: Builder, known: Known, level: int, deepest: int, clocks: int, fresh: bool = False
) -> Known:
    """Adds a loop or a fixpoint to a circuit; gives its relations."""
    if level > 1 and draw(st.integers(0, 3)) == 0:
        fixpoint = draw(fixpoints(known, level))
        at = build.add(fixpoint)
        name = fixpoint.results[0][0]
        return {name: (build.add(FixpointResult(at, name, schema(2))), 2)}
    body, results, _ = draw(bodies(known, level, deepest, clocks, fresh))
    end = draw(st.sampled_from(["rounds", "rounds", "unchanged" if fresh else "empty", "unchanged"]))
    rounds = draw(st.integers(0, 5 if fresh else 3)) if end == "rounds" else None
    empty = draw(st.sampled_from([name for name, _ in results])) if end == "empty" else None
    at = build.add(Loop(body, results, name=f"L{level}", rounds=rounds, empty=empty))
    arities = {f"R{level}": 2, f"S{level}": 1}
    return {
        name: (build.add(FixpointResult(at, name, schema(arities[name]))), arities[name])
        for name, _ in results
    }


@st.composite
def loops(draw: Any, deepest: int = 3, fresh: bool = False) -> Circuit:
    """A circuit with a loop, in which other loops and fixpoints may stand. `fresh`: its rounds can begin from
    nothing."""
    top = Builder()
    known: Known = {}
    for name, arity in INPUTS.items():
        known[name] = top.add(Input(name, schema(arity), multiset=name == "M")), arity
    made = draw(nested(top, known, 1, deepest, 0, fresh))
    for name, (at, arity) in made.items():
        top.add(Output(name, at, schema(arity)))
    return Circuit(tuple(top.nodes), tuple((name, at) for name, (at, _) in (known | made).items()))


def follow(
    circuit: Circuit,
    runtime: Runtime,
    epochs: list[Changes],
    limit: int = LIMIT,
    run: Circuit | None = None,
) -> None:
    """Commits epochs and compares each with the definition. `run` is what the runtime has of the circuit, if
    not all: a loop in a loop that nothing reads is left out, and does not have to settle."""
    contents: dict[str, dict[tuple[int, ...], int]] = {name: {} for name in INPUTS}
    before: dict[str, dict[tuple[int, ...], int]] = {}
    for each in epochs:
        epoch = {**each, "M": legal(contents["M"], each["M"])} if "M" in each else each
        after = {name: dict(rows) for name, rows in contents.items()}
        apply(after, epoch)
        batches = {
            name: [(runtime.batch(name, [row]), sign) for row, sign in signed]
            for name, signed in epoch.items()
        }
        try:
            try:
                expected = evaluate(circuit, after, limit)
            except (LoopLimit, LoopRepetition):
                expected = evaluate(run or circuit, after, limit)
        except (LoopLimit, LoopRepetition) as error:
            with pytest.raises((LoopLimit, LoopRepetition)) as raised:
                runtime.commit(batches, max_iterations=limit)
            if isinstance(error, LoopRepetition) and isinstance(raised.value, LoopRepetition):
                assert (raised.value.name, raised.value.period) == (error.name, error.period)
            continue
        deltas = runtime.commit(batches, max_iterations=limit)
        found = {name: dict(zip(d.rows, d.weights, strict=True)) for name, d in deltas.items()}
        assert found == {name: difference(expected[name], before.get(name, {})) for name in expected}
        before, contents = expected, after


@trying(20)
@given(loops(), streams(), st.booleans(), modes(), st.integers(0, 99))
def test_loops_in_loops(
    circuit: Circuit, epochs: list[Changes], optimized: bool, maintain: Mode | Coin, seed: int
) -> None:
    """Epochs that are taken back come between the others, and a few rows are many."""
    check_circuit(circuit)
    run = optimize(circuit) if optimized else circuit
    with taking(seed), small(seed):
        runtime = InProcess(incrementalize(run), maintain=maintain)
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs))], run=run)


@pytest.mark.parametrize("optimized", [False, True])
def test_a_loop_that_nothing_reads_is_left_out_by_the_optimizer(optimized: bool) -> None:
    """It would never end: its row is there whenever it was not there in the round before."""
    inner = Builder()
    one, before = inner.add(Constant(((1,),), schema(1))), inner.add(Earlier("R", 1, schema(1)))
    terms = Term(one, ("x",)), Term(before, ("x",), negated=True)
    row = inner.add(Join(terms, (), ("x",), schema(1)))
    top = Builder()
    read = top.add(Input("C", schema(1)))
    top.add(Loop(Circuit(tuple(inner.nodes)), (("R", row),), name="L"))
    top.add(Output("C", read, schema(1)))
    circuit = Circuit(tuple(top.nodes), (("C", read),))
    runtime = InProcess(incrementalize(optimize(circuit) if optimized else circuit))
    changes = {"C": [(runtime.batch("C", [(7,)]), 1)]}
    if optimized:
        assert runtime.commit(changes, max_iterations=LIMIT)["C"].rows == [(7,)]
    else:
        with pytest.raises((LoopLimit, LoopRepetition)):
            runtime.commit(changes, max_iterations=LIMIT)


@trying(40)
@given(
    loops(1, fresh=True), streams(), st.booleans(), modes(), st.lists(st.booleans(), min_size=1, max_size=5)
)
def test_rounds_that_begin_from_nothing(
    circuit: Circuit, epochs: list[Changes], optimized: bool, maintain: Mode | Coin, falls: list[bool]
) -> None:
    """Each round that may begin from nothing does so by a coin, so that rounds by changes follow on it."""
    run = optimize(circuit) if optimized else circuit
    coin = cycle(falls)
    with mock.patch.object(FreshRoundsEpoch, "_pays", lambda *_: next(coin)):
        runtime = InProcess(incrementalize(run), maintain=maintain)
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs))], run=run)


@contextmanager
def early_checkpoints() -> Iterator[None]:
    """Loops note a state with which to compare later ones after two rounds."""
    with ExitStack() as patched:
        for module in (divergence, naiveloop, loopdivergence):
            patched.enter_context(mock.patch.object(module, "FIRST", 2))
        yield


@trying(20)
@given(loops(2), streams(), modes())
def test_loops_that_repeat_themselves(circuit: Circuit, epochs: list[Changes], maintain: Mode | Coin) -> None:
    with early_checkpoints():
        follow(circuit, InProcess(incrementalize(circuit), maintain=maintain), epochs, 40)


changes = st.dictionaries(
    st.tuples(*[st.integers(0, 2)] * 2),
    st.dictionaries(st.tuples(st.integers(0, 2)), st.sampled_from([-1, 1, 2]), max_size=2),
    max_size=4,
)


def mobius(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """The coefficient of a product of chains: the product of those of the chains."""
    steps = [y - x for x, y in zip(a, b, strict=True)]
    return (-1) ** sum(steps) if set(steps) <= {0, 1} else 0


@trying(40)
@given(changes, changes, st.booleans())
def test_differentials_are_mobius_inversions(left: Any, right: Any, grouped_by: bool) -> None:
    """The law emits what inverting the values of the operator gives, on a product of two chains."""
    lattice = Lattice(2)
    sources = [{lattice.pack(t): rows for t, rows in each.items()} for each in (left, right)]

    def least(values: Any) -> Zset:
        both = zset.distinct(zset.add(*values))
        return {min(both): 1} if both else {}

    def presence(values: Any) -> Zset:
        return zset.distinct(zset.add(*values))

    operator: Callable[[Any], Zset] = least if grouped_by else presence
    found = differential(lattice, operator, sources)
    times = list(product(range(3), repeat=2))
    for time in times:
        inverted: Zset = {}
        for earlier in times:
            value = operator([upto(lattice, each, lattice.pack(earlier)) for each in sources])
            factor = mobius(earlier, time)
            inverted = zset.add(inverted, {row: factor * weight for row, weight in value.items() if factor})
        assert found.get(lattice.pack(time), {}) == inverted


@given(st.integers(1, 7), st.data())
def test_packed_vectors(depth: int, data: Any) -> None:
    lattice = Lattice(depth)
    vectors = st.lists(st.integers(0, min(lattice.most, 9)), min_size=depth, max_size=depth)
    a, b = data.draw(vectors), data.draw(vectors)
    both = [max(x, y) for x, y in zip(a, b, strict=True)]
    assert lattice.join(lattice.pack(a), lattice.pack(b)) == lattice.pack(both)
    assert lattice.before(lattice.pack(a), lattice.pack(b)) == (both == b)
    assert (lattice.pack(a) < lattice.pack(b)) == (a < b)
    assert [lattice.round(lattice.pack(a), k) for k in range(depth)] == a
