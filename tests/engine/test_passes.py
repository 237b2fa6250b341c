"""Each pass keeps the meaning of circuits, and does what it is for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.check.program import check_program
from ddlog.engine import circuit as c
from ddlog.engine.circuit import Circuit
from ddlog.engine.passes import PASSES, optimize
from ddlog.engine.passes.canonical import share_common_nodes
from ddlog.engine.passes.chains import join_chains
from ddlog.engine.passes.dead_code import remove_dead_code
from ddlog.engine.passes.distinct import consolidate_distinct, eliminate_distinct
from ddlog.engine.passes.fold import fold_constants
from ddlog.engine.passes.groups import share_groups
from ddlog.engine.passes.prefixes import share_prefixes
from ddlog.engine.passes.transitive import make_linear
from ddlog.engine.reference import evaluate
from ddlog.engine.text import to_text
from ddlog.engine.zset import Zset
from ddlog.errors.source import Source
from ddlog.lowering.lower import lower

from ..trying import trying
from .random_circuits import (
    INPUTS,
    LIMIT,
    Builder,
    Changes,
    any_circuits,
    apply,
    constant,
    groups_joined,
    less,
    next_value,
    schema,
    settling,
    streams,
)

thorough = trying(20)
TWO = schema(2)
EDGE = c.Input("Edge", TWO)
BAG = c.Input("Bag", TWO, multiset=True)


def contents(epochs: list[Changes]) -> dict[str, Zset]:
    """The inputs after all epochs."""
    total: dict[str, Zset] = {name: {} for name in INPUTS}
    for changes in epochs:
        apply(total, changes)
    return total


def with_relations_as_outputs(circuit: Circuit) -> Circuit:
    """The circuit with an output for each of its relations."""
    extra = (c.Output(f"value of {r}", n, circuit.nodes[n].schema) for r, n in circuit.relations)
    return Circuit((*circuit.nodes, *extra), circuit.relations)


@thorough
@given(any_circuits, streams())
@settling
def test_passes_keep_the_meaning(circuit: Circuit, epochs: list[Changes]) -> None:
    """Each by itself, and all of them."""
    inputs = contents(epochs)
    expected = evaluate(with_relations_as_outputs(circuit), inputs, LIMIT)
    for rewrite in (*dict.fromkeys(PASSES), optimize, join_chains):
        assert evaluate(with_relations_as_outputs(rewrite(circuit)), inputs, LIMIT) == expected, rewrite


@pytest.mark.parametrize(
    "before", sorted(Path(__file__).parent.glob("passes/*.dl")), ids=lambda path: path.stem
)
def test_golden_circuits(before: Path) -> None:
    """Each program beside the circuit that it is optimised to; ignores what stands beside the nodes."""
    program, _ = check_program(Source(before.name, before.read_text()))
    assert program is not None
    lines = [line.split("  //")[0].rstrip() for line in to_text(optimize(lower(program))).splitlines()]
    assert "\n".join(lines) + "\n" == before.with_suffix(".expected").read_text()


def names(circuit: Circuit) -> list[str]:
    """The kinds of the nodes."""
    return [type(node).__name__ for node in circuit.nodes]


def test_nodes_that_no_output_needs_go() -> None:
    swap = c.Join((c.Term(0, ("x", "y")),), (), ("y", "x"), TWO)
    circuit = Circuit((EDGE, swap, c.Output("Edge", 0, TWO)), (("Edge", 0),))
    assert names(remove_dead_code(circuit)) == ["Input", "Output"]


def test_joins_are_equal_whatever_their_variables_are_called() -> None:
    one = c.Join((c.Term(0, ("x", "y")),), (c.Guard(less("x", "y")),), ("y", "x"), TWO)
    other = c.Join((c.Term(0, ("a", "b")),), (c.Guard(less("x", "y")),), ("b", "a"), TWO)
    other = c.Join(other.terms, (c.Guard(_renamed(less("x", "y"), ("a", "b"))),), other.output, TWO)
    flipped = c.Join(other.terms, (c.Guard(_renamed(less("x", "y"), ("b", "a"))),), other.output, TWO)
    circuit = Circuit((EDGE, one, other, flipped, c.Sum((1, 2, 3), TWO), c.Output("P", 4, TWO)))
    shared = share_common_nodes(circuit)
    assert names(shared) == ["Input", "Join", "Join", "Sum", "Output"]
    assert shared.nodes[3] == c.Sum((1, 1, 2), TWO)


def _renamed(expression: c.RowExpr, inputs: tuple[str, ...]) -> c.RowExpr:
    return replace(expression, inputs=inputs)


def test_rules_with_the_same_terms_are_joined_once() -> None:
    terms = (c.Term(0, ("x", "y")), c.Term(0, ("y", "z")))
    ends = c.Join(terms, (c.Guard(less("x", "y")),), ("x", "z"), TWO)
    others = (c.Term(0, ("a", "b")), c.Term(0, ("b", None)))
    middle = c.Join(
        others, (c.Let("n", next_value("a")), c.Guard(_renamed(less("x", "y"), ("a", "b")))), ("n", "b"), TWO
    )
    circuit = Circuit((EDGE, ends, middle, c.Output("Ends", 1, TWO), c.Output("Middle", 2, TWO)))
    shared = share_prefixes(circuit)
    assert names(shared) == ["Input", "Join", "Join", "Join", "Output", "Output"]
    assert [len(node.terms) for node in shared.nodes if isinstance(node, c.Join)] == [2, 1, 1]
    rows = {"Edge": {(0, 1): 1, (1, 2): 1, (2, 0): 1, (1, 3): 1}}
    assert evaluate(shared, rows) == evaluate(circuit, rows)


@pytest.mark.parametrize(
    ("join", "is_set"),
    [
        (c.Join((c.Term(0, ("x", "y")),), (), ("y", "x"), TWO), True),
        (c.Join((c.Term(0, ("x", "y")),), (c.Guard(less("x", "y")),), ("x", "y"), TWO), True),
        (c.Join((c.Term(0, ("x", "y")),), (c.Let("y", next_value("x")),), ("x", "x"), TWO), True),
        (c.Join((c.Term(0, ("x", "y")),), (c.Let("x", constant(1)),), ("y", "y"), TWO), True),
        (c.Join((c.Term(0, ("x", "y")), c.Term(0, ("y", "x"))), (), ("x", "y"), TWO), True),
        (c.Join((c.Term(0, ("x", "y")), c.Term(0, ("x", "y"), True)), (), ("x", "y"), TWO), True),
        (c.Join((c.Term(0, ("x", "y")),), (), ("x", "x"), TWO), False),
        (c.Join((c.Term(0, ("x", None)),), (), ("x", "x"), TWO), False),
        (c.Join((c.Term(0, ("x", "y")), c.Term(0, ("y", "z"))), (), ("x", "z"), TWO), False),
        (c.Join((c.Term(1, ("x", "y")),), (), ("x", "y"), TWO), False),
    ],
)
def test_distinct_of_a_provable_set_goes(join: c.Join, is_set: bool) -> None:
    circuit = Circuit((EDGE, BAG, join, c.Distinct(2, TWO), c.Output("P", 3, TWO)))
    optimized = optimize(circuit)
    assert ("Distinct" not in names(optimized)) == is_set


def test_distinct_of_what_a_bracket_sums_up_stays() -> None:
    twice = Circuit((c.Import(0, TWO), c.Sum((0, 0), TWO)))
    sums = c.Bracket(twice, (("R", 1),)), c.FixpointResult(1, "R", TWO)
    circuit = Circuit((EDGE, *sums, c.Distinct(2, TWO), c.Output("O", 3, TWO)))
    edges: dict[str, Zset] = {"Edge": {(1, 2): 1}}
    assert evaluate(optimize(circuit), edges) == evaluate(circuit, edges) == {"O": {(1, 2): 1}}


def test_of_two_distincts_in_a_row_the_last_stays() -> None:
    project = c.Join((c.Term(0, ("x", None)),), (), ("x", "x"), TWO)
    again = c.Join((c.Term(2, ("x", "y")),), (), ("x", "x"), TWO)
    circuit = Circuit(
        (EDGE, project, c.Distinct(1, TWO), again, c.Distinct(3, TWO), c.Output("P", 4, TWO)), (("P", 4),)
    )
    consolidated = remove_dead_code(consolidate_distinct(eliminate_distinct(circuit)))
    assert names(consolidated) == ["Input", "Join", "Join", "Distinct", "Output"]


def test_false_guards_make_a_rule_empty_and_true_ones_go() -> None:
    yes, no = constant(1), constant(0)
    kept = c.Join((c.Term(0, ("x", "y")),), (c.Guard(yes),), ("x", "x"), TWO)
    gone = c.Join((c.Term(0, ("x", "y")),), (c.Guard(no),), ("y", "x"), TWO)
    circuit = Circuit((EDGE, kept, gone, c.Sum((1, 2), TWO), c.Output("P", 3, TWO)))
    folded = remove_dead_code(fold_constants(circuit))
    assert names(folded) == ["Input", "Join", "Output"]
    assert folded.nodes[1] == c.Join((c.Term(0, ("x", "y")),), (), ("x", "x"), TWO)


def test_joins_that_only_copy_go() -> None:
    copy = c.Join((c.Term(0, ("x", "y")),), (), ("x", "y"), TWO)
    circuit = Circuit((EDGE, copy, c.Distinct(1, TWO), c.Output("P", 2, TWO)), (("Edge", 0), ("P", 2)))
    assert names(optimize(circuit)) == ["Input", "Output"]
    assert optimize(circuit).relations == (("Edge", 0), ("P", 0))


@st.composite
def of_groups(draw: Any) -> Circuit:
    """A circuit with a rule over groups of one source, of which some groups have other readers."""
    build = Builder([EDGE, c.Input("Other", TWO)])
    build.add(draw(groups_joined(build, 0, {"Other": (1, 2), "Edge": (0, 2)})))
    for at in [len(build.nodes) - 1, *draw(st.sets(st.integers(2, len(build.nodes) - 1)))]:
        build.add(c.Output(f"O{at}", at, build.nodes[at].schema))
    return Circuit(tuple(build.nodes))


rows = st.dictionaries(st.tuples(*[st.integers(0, 3)] * 2), st.just(1), min_size=4, max_size=16)


@trying(200)
@given(of_groups(), rows, rows)
def test_a_common_group_has_what_the_groups_have(circuit: Circuit, edge: Zset, other: Zset) -> None:
    inputs = {"Edge": edge, "Other": other}
    assert evaluate(share_groups(circuit), inputs) == evaluate(circuit, inputs)


@thorough
@given(any_circuits, streams())
@settling
def test_what_two_rules_share_is_the_same_for_both(circuit: Circuit, epochs: list[Changes]) -> None:
    joins = [node for node in circuit.nodes if isinstance(node, c.Join)]
    twins = [replace(join, output=join.output[::-1], schema=join.schema[::-1]) for join in joins]
    start = len(circuit.nodes)
    outputs = [c.Output(f"twin {k}", start + k, twin.schema) for k, twin in enumerate(twins)]
    doubled = Circuit((*circuit.nodes, *twins, *outputs), circuit.relations)
    inputs = contents(epochs)
    assert evaluate(optimize(doubled), inputs) == evaluate(doubled, inputs)
    assert evaluate(share_prefixes(doubled), inputs) == evaluate(doubled, inputs)


@st.composite
def of_paths(draw: Any) -> tuple[Circuit, bool]:
    """A recursion with a transitive rule over its columns in some order, perhaps with a symmetric rule, and
    whether a column was changed, so that these may be none, or a rule gives rows of equal ends again."""
    ends = draw(st.integers(1, 2))
    width = 2 * ends + draw(st.integers(0, 1))
    order = draw(st.permutations(range(width)))

    def named(*blocks: str) -> list[str]:
        names = [f"{block}{at}" for block in blocks for at in range(ends)]
        return [([*names, "g"])[at] for at in order]

    terms = [named("x", "y"), named("y", "z")]
    rules = [[named("x", "z"), *draw(st.permutations(terms))]]
    if draw(st.booleans()):
        rules.append([named("x", "y"), named("y", "x")])
    changed = draw(st.integers(0, 2)) == 0
    if changed:
        some = draw(st.sampled_from(draw(st.sampled_from(rules))))
        some[draw(st.integers(0, width - 1))] = draw(st.sampled_from(["x0", "y0", "z0", "g"]))
    elif draw(st.booleans()):
        changed = True
        rules.insert(1, [named("x", "x"), named("x", "x")])
    return recursion(width, rules), changed


def recursion(width: int, rules: list[list[Any]]) -> Circuit:
    """A circuit with a recursion: each rule is the names of its output and of its terms."""
    columns = schema(width)
    body = Builder([c.Variable("R", columns), c.Import(0, columns), c.Import(1, columns)])
    for output, *factors in rules:
        named_by = {name for factor in factors for name in factor}
        kept = tuple(name if name in named_by else factors[0][0] for name in output)
        body.add(c.Join(tuple(c.Term(0, tuple(each)) for each in factors), (), kept, columns))
    total = body.add(c.Sum(tuple(range(1, len(body.nodes))), columns))
    fixpoint = c.Fixpoint(Circuit((*body.nodes, c.Distinct(total, columns))), (("R", total + 1),))
    inputs = c.Input("E", columns), c.Input("F", columns, multiset=True)
    return Circuit((*inputs, fixpoint, c.FixpointResult(2, "R", columns), c.Output("R", 3, columns)))


@pytest.mark.parametrize(
    "rules, linear",
    [
        ("xx xy yx", False),  # cycles of two steps
        ("xgyg xgag agyg", False),
        ("xuzw xuyv yvzw, xuzw xuyv vyzw", False),  # paths that meet in two ways
        ("xuzw xuyv vyzw, xuzw wzux", True),
        ("xuzw xuyv vyzw, xuzw zwxu", False),
        ("xzg xyg yzg, xzg yzg xyg", True),
    ],
)
def test_only_transitive_rules_become_linear(rules: str, linear: bool) -> None:
    """With a letter for a variable, the output of each rule stands before its terms."""
    listed = [[*map(list, rule.split())] for rule in rules.split(", ")]
    width = len(listed[0][0])
    circuit = recursion(width, listed)
    made = make_linear(circuit)
    assert (len(made.nodes) > len(circuit.nodes)) == linear
    chosen = Random(7)
    for _ in range(20):
        edges = {tuple(chosen.choices(range(2 if width > 2 else 4), k=width)): 1 for _ in range(5)}
        assert evaluate(made, {"E": edges, "F": {}}) == evaluate(circuit, {"E": edges, "F": {}})


@trying(100)
@given(of_paths(), st.data())
def test_a_linear_recursion_has_the_paths_of_a_transitive_one(made: tuple[Circuit, bool], data: Any) -> None:
    circuit, changed = made
    row = st.tuples(*[st.integers(0, 2)] * len(circuit.nodes[0].schema))
    inputs = {name: data.draw(st.dictionaries(row, st.just(1), max_size=6)) for name in "EF"}
    linear = make_linear(circuit)
    assert changed or len(linear.nodes) > len(circuit.nodes)
    assert evaluate(linear, inputs) == evaluate(circuit, inputs)
