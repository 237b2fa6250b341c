"""What circuits rules become, and that these mean what the rules say."""

from __future__ import annotations

import pytest

from ddlog import core
from ddlog.check.program import check_program
from ddlog.check.query import check_query
from ddlog.engine import circuit as c
from ddlog.engine.circuit import Circuit
from ddlog.engine.passes import optimize
from ddlog.engine.reference import evaluate
from ddlog.engine.wellformed import check_circuit
from ddlog.engine.zset import Zset
from ddlog.errors.source import Source
from ddlog.lowering.lower import lower, lower_query

GRAPH = """
input relation Edge(a: bigint, b: bigint)
input relation Node(a: bigint)
input multiset Bag(a: bigint)
"""
EDGES: dict[str, Zset] = {
    "Edge": {(1, 2): 1, (2, 3): 1, (3, 1): 1, (3, 4): 1, (4, 4): 1},
    "Node": {(1,): 1, (5,): 1},
    "Bag": {(1,): 3, (4,): 2, (7,): 1},
}


def checked(text: str) -> core.CheckedProgram:
    """The program, which must be free of errors."""
    program, diagnostics = check_program(Source("t.dl", GRAPH + text))
    assert program is not None, diagnostics
    return program


def compiled(text: str) -> Circuit:
    """The circuit of a program."""
    circuit = lower(checked(text))
    check_circuit(circuit)
    check_circuit(optimize(circuit))
    return circuit


def kinds(circuit: Circuit) -> list[str]:
    """The kinds of the nodes but for inputs and outputs."""
    return [type(n).__name__ for n in circuit.nodes if not isinstance(n, c.Input | c.Output)]


def joins(circuit: Circuit) -> list[c.Join]:
    """The joins of the circuit."""
    return [node for node in circuit.nodes if isinstance(node, c.Join)]


ONE, TWO = "output relation O(a: bigint)\n", "output relation O(a: bigint, b: bigint)\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (ONE + "O(1). O(1). O(1 + 2).", {(1,), (3,)}),
        (ONE + "O(y) :- Edge(3, y).", {(1,), (4,)}),
        (ONE + "O(x) :- Edge(x, x).", {(4,)}),
        (ONE + "O(x) :- Edge(x, y), y == x + 1.", {(1,), (2,), (3,)}),
        (ONE + "O(z) :- Edge(x, _), var z = x * 10, z > 20.", {(30,), (40,)}),
        (TWO + "O(x, z) :- Edge(x, y), Edge(y, z), Node(x).", {(1, 3)}),
        (TWO + "O(x, y) :- Edge(x, _), Node(y), x < y, y - x < 3.", {(3, 5), (4, 5)}),
        (ONE + "O(x) :- Node(x), not Edge(x, _).", {(5,)}),
        (ONE + "O(x) :- Node(x), not Edge(x, 2).", {(5,)}),
        (ONE + "O(x) :- Node(x), not Edge(_, _).", set()),
        (ONE + "O(x) :- Edge(x, _), not Bag(x).", {(2,), (3,)}),
        (ONE + "O(9) :- not Edge(7, 7).", {(9,)}),
        (ONE + "O(x) :- Edge(_, x).\nO(x) :- Node(x).", {(1,), (2,), (3,), (4,), (5,)}),
        (TWO + "O(x, y), O(y, x) :- Edge(x, y), Node(x).", {(1, 2), (2, 1)}),
        (TWO + "O(x, c as bigint) :- Edge(x, y), var g = y.group_by(x), var c = g.count().",
         {(1, 1), (2, 1), (3, 2), (4, 1)}),
        (TWO + "O(x, m) :- Edge(x, y), var g = y.group_by(x), var m = g.max(), Node(x).", {(1, 2)}),
        (TWO + "O(s, l) :- Edge(x, y), var g = (x, y).group_by(()), "
         "var s = g.sum_second(), var l = g.min_second().", {(14, 1)}),
        (ONE + "O(k) :- Edge(x, y), var g = y.group_by(x), var k = g.key, g.count() > 1.", {(3,)}),
        (ONE + "O(z) :- Edge(x, y), var v = [x, y, x], var z = FlatMap(v), z < 3.", {(1,), (2,)}),
        (TWO + "O(x, y) :- Edge(x, y).\nO(x, z) :- O(x, y), Edge(y, z).",
         {(x, y) for x in (1, 2, 3) for y in (1, 2, 3, 4)} | {(4, 4)}),
        (ONE + "relation E(a: bigint)\nrelation D(a: bigint)\nE(1).\nD(y) :- E(x), Edge(x, y).\n"
         "E(y) :- D(x), Edge(x, y).\nO(x) :- E(x), D(x).", {(1,), (2,), (3,), (4,)}),
        (ONE + "relation R(a: bigint)\nR(x) :- Node(x).\n"
         "R(y) :- R(x), Edge(x, y), not Bag(y), y != 5.\nO(x) :- R(x).", {(1,), (2,), (3,), (5,)}),
    ],
)  # fmt: skip
def test_rules_mean_what_they_say(text: str, rows: set[tuple[int, ...]]) -> None:
    circuit = compiled(text)
    assert evaluate(circuit, EDGES) == {"O": dict.fromkeys(rows, 1)}
    assert evaluate(optimize(circuit), EDGES) == {"O": dict.fromkeys(rows, 1)}


def test_multisets_keep_weights_and_multiply_them() -> None:
    circuit = compiled("output multiset O(a: bigint)\nO(x) :- Bag(x), Edge(_, x).\nO(x) :- Edge(x, _).")
    assert evaluate(circuit, EDGES)["O"] == {(1,): 4, (2,): 1, (3,): 2, (4,): 5}


def test_a_body_is_one_join_and_what_nothing_reads_is_no_variable() -> None:
    circuit = compiled(TWO + "O(x, 7) :- Edge(x, y), x > 1, Edge(y, z), not Node(y).")
    (join,) = joins(circuit)
    assert [(term.columns, term.negated) for term in join.terms] == [
        (("x", "y"), False),
        (("y", None), False),
        (("y",), True),
    ]


def test_equations_of_columns_are_joins_and_lookups() -> None:
    circuit = compiled(TWO + "O(x, w) :- Edge(x, y), Edge(z, w), y == z and w == 4, x + 2 == w, x != w.")
    (join,) = joins(circuit)
    assert [term.columns for term in join.terms] == [("x", "z"), ("z", "w")]
    assert [type(step) for step in join.steps] == [c.Let, c.Let, c.Guard]
    assert evaluate(circuit, EDGES)["O"] == {(2, 4): 1}


def test_several_heads_share_one_body_and_its_effects() -> None:
    effect = "function effect(x: bigint): () { () }\noutput relation P(a: bigint)\n"
    text = effect + "O(x), P(x + 1) :- Node(x), Edge(x, y), Inspect effect(y)."
    circuit = compiled(ONE + text)
    for each in (circuit, optimize(circuit)):
        assert sum(isinstance(step, c.Inspect) for join in joins(each) for step in join.steps) == 1
        assert evaluate(each, EDGES) == {"O": {(1,): 1}, "P": {(2,): 1}}


def test_an_aggregated_group_is_never_built() -> None:
    circuit = compiled(
        TWO + "O(x, s) :- Edge(x, y), var g = (y, y + 1).group_by(x), var s = g.sum_second(), g.count() > 1."
    )
    (group,) = (node for node in circuit.nodes if isinstance(node, c.Group))
    assert [a.function for a in group.aggregates] == ["sum", "count"]
    assert [column.domain for column in group.schema] == ["bigint", "bigint", "bit<64>"]


def test_what_a_recursion_only_reads_is_computed_outside() -> None:
    circuit = compiled(
        TWO + "O(x, y) :- Edge(x, y), Node(x).\nO(x, z) :- O(x, y), Edge(y, z), not Edge(z, _)."
    )
    assert kinds(circuit) == ["Join", "Join", "Distinct", "Fixpoint", "FixpointResult"]


def test_relations_that_no_output_needs_are_not_computed() -> None:
    text = ONE + "relation Unused(a: bigint)\nUnused(x) :- Node(x).\nO(x) :- Node(x)."
    assert [name for name, _ in compiled(text).relations] == ["Edge", "Node", "Bag", "O"]
    kept = lower(checked(text), ("Unused",))
    assert [name for name, _ in kept.relations] == ["Edge", "Node", "Bag", "Unused"]
    assert not any(isinstance(node, c.Output) for node in kept.nodes)


def test_facts_of_an_input_relation_are_added_to_what_is_inserted() -> None:
    circuit = compiled("input relation I(a: bigint)\nI(1).\n" + ONE + "O(x) :- I(x).")
    assert evaluate(circuit, {"I": {(1,): 1, (2,): 1}}) == {"O": {(1,): 1, (2,): 1}}


def test_a_fact_that_fails_fails_when_it_is_evaluated() -> None:
    circuit = compiled(ONE + "O(1 / 0).")
    with pytest.raises(Exception, match=r"(?i)division|zero"):
        evaluate(circuit, EDGES)


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        ("Edge(3, y)", ("y",), {(1,), (4,)}),
        ("Edge(x, y), not Node(x), y != 4", ("x", "y"), {(2, 3), (3, 1)}),
        ("Edge(4, 4)", (), {()}),
        ("Edge(7, 7)", (), set()),
        ("Edge(x, y), var n = y.group_by(x).count(), n > 1", ("x", "n"), {(3, 2)}),
        ("Edge(x, y), var _g = y.group_by(x), _g.count() > 1, var n = _g.sum()", ("x", "n"), {(3, 5)}),
    ],
)
def test_a_query_is_a_rule_body(text: str, columns: tuple[str, ...], rows: set[tuple[int, ...]]) -> None:
    program = checked(ONE + "O(x) :- Node(x).")
    query = check_query(program, Source("query", text))
    assert query.variables == columns
    circuit = lower_query(query.within(program), query)
    check_circuit(circuit)
    assert evaluate(circuit, EDGES) == {"query": dict.fromkeys(rows, 1)}
