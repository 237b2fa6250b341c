"""Circuits that break a rule of construction are refused, with a reason."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from ddlog.engine import circuit as c
from ddlog.engine.circuit import Circuit
from ddlog.engine.incremental import incrementalize
from ddlog.engine.passes import optimize
from ddlog.engine.schema import Column, Kind
from ddlog.engine.wellformed import IllFormed, check_circuit

from ..trying import trying
from .random_circuits import circuits, less, schema

ONE, TWO = schema(1), schema(2)
TEXT = (Column("t", Kind.OBJECT, "string"),)
EDGE = c.Input("Edge", TWO)

TERMS = c.Term(0, ("x", "y")), c.Term(2, ("x", "y"), True)
COUNT = (c.Aggregate("count", ()),)


def fixpoint_over_bag(node: c.Node) -> c.Fixpoint:
    """A recursion with a node that may read the sum of its relation and of an import."""
    body = c.Import(0, TWO), c.Variable("R", TWO), c.Sum((0, 1), TWO), node, c.Distinct(3, TWO)
    return c.Fixpoint(Circuit(body), (("R", 4),))


@trying(10)
@given(circuits())
def test_what_the_rewritings_make_is_well_formed(circuit: Circuit) -> None:
    for each in (circuit, optimize(circuit)):
        check_circuit(each)
        check_circuit(incrementalize(each))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((c.Distinct(1, TWO), EDGE), "reads node 1, which does not come before it"),
        ((EDGE, c.Sum((0,), ONE)), "operand 0 has the columns"),
        ((EDGE, c.Input("Edge", ONE)), "two inputs are called Edge"),
        ((EDGE, c.Join((c.Term(0, ("x",)),), (), ("x",), ONE)), "a term has 1 columns, its source 2"),
        ((EDGE, c.Join((c.Term(0, ("x", "y")),), (), ("z",), ONE)), "the output z is bound by nothing"),
        (
            (EDGE, c.Join((c.Term(0, ("x", "y")),), (c.Guard(less("x", "q")),), ("x",), ONE)),
            "reads q, which nothing binds",
        ),
        (
            (EDGE, c.Join((c.Term(0, ("x", "y")), c.Term(0, ("x", "z"), True)), (), ("x",), ONE)),
            "the variable z of a negated term is bound by nothing",
        ),
        (
            (EDGE, c.Input("T", TEXT), c.Join((c.Term(0, ("x", "y")), c.Term(1, ("x",))), (), ("x",), ONE)),
            "the variable x is of bigint and of string",
        ),
        ((EDGE, c.Group(0, 1, (c.Aggregate("count", ()),), ONE)), "do not make 1 columns"),
        ((EDGE, c.Group(0, 1, (c.Aggregate("sum", (2,)),), TWO)), "reads a column beyond"),
        ((EDGE, c.Trace(0, TWO), c.DeltaDistinct(0, 0, TWO)), "node 0 is not the trace of node 0"),
        ((c.Variable("R", TWO),), "stands outside a fixpoint"),
        ((EDGE, c.Import(0, TWO)), "an import stands outside a fixpoint"),
        (
            (EDGE, c.Fixpoint(Circuit((c.Import(0, TWO), c.Sum((0,), TWO))), (("R", 1),))),
            "the result R is a Sum, not distinct",
        ),
        (
            (EDGE, c.Fixpoint(Circuit((c.Variable("S", TWO), c.Distinct(0, TWO))), (("R", 1),))),
            "the variable S is no result of its fixpoint",
        ),
        ((EDGE, c.FixpointResult(0, "R", TWO)), "node 0 is no fixpoint with the relation R"),
        (
            (EDGE, fixpoint_over_bag(c.Join(TERMS, (), ("x", "y"), TWO))),
            "(Join) of the body: reads node 2",
        ),
        ((EDGE, fixpoint_over_bag(c.Group(2, 1, COUNT, TWO))), "(Group) of the body: reads node 2"),
    ],
)
def test_a_broken_rule_is_named(nodes: tuple[c.Node, ...], message: str) -> None:
    with pytest.raises(IllFormed, match=re.escape(message)):
        check_circuit(Circuit(nodes))
