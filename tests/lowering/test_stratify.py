"""Strata: their order, and the errors for cycles through negation."""

from __future__ import annotations

import random

import networkx
import pytest

from ddlog.check.program import check_program
from ddlog.core import CheckedProgram
from ddlog.errors.diagnostics import render
from ddlog.errors.source import Source
from ddlog.errors.strata import Unstratifiable
from ddlog.lowering.stratify import strongly_connected


def program(rules: str, names: str = "ABCDE") -> tuple[CheckedProgram | None, list[str]]:
    text = "input relation I(x: u32)\n" + "".join(f"output relation {name}(x: u32)\n" for name in names)
    checked, found = check_program(Source("test.dl", text + rules))
    assert all(isinstance(each, Unstratifiable) for each in found if each.is_error), render(found)
    return checked, [each.message for each in found if each.is_error]


def test_order() -> None:
    """A stratum comes after all that it depends on; mutual recursion is one stratum."""
    checked, _ = program(
        "C(x) :- B(x), not A(x). B(x) :- A(x). A(x) :- B(x). A(x) :- I(x). D(x) :- C(x), not B(x)."
    )
    assert checked is not None
    strata = [(stratum.relations, stratum.recursive) for stratum in checked.strata]
    assert strata.index((("A", "B"), True)) < strata.index((("C",), False)) < strata.index((("D",), False))


def test_every_rule_once() -> None:
    """A rule with heads in different strata is split between them."""
    checked, _ = program("A(x), B(x) :- I(x). A(x) :- A(x), B(x). C(x) :- A(x).")
    assert checked is not None
    heads = [
        (head.relation, rule.span.column) for s in checked.strata for rule in s.rules for head in rule.heads
    ]
    assert len(heads) == len(set(heads)) == 4


@pytest.mark.parametrize(
    ("rules", "count"),
    [
        ("A(x) :- I(x), not A(x).", 1),
        ("A(x) :- I(x), not B(x). B(x) :- A(x).", 1),
        ("A(x) :- I(x), not B(x). B(x) :- I(x), not A(x).", 0),
        ("A(x) :- I(x), not B(x). B(x) :- I(x), not A(x). B(x) :- A(x).", 1),
        ("A(x) :- I(x), not B(x). B(x) :- I(x), not C(x). C(x) :- I(x), not A(x).", 3),
        ("A(x) :- I(x), not B(x). B(x) :- I(x), not C(x). C(x) :- A(x).", 0),
        ("A(x) :- B(x), not C(x). B(x) :- A(x). B(x) :- I(x). C(x) :- I(x).", 0),
        ("A(c as u32) :- A(x), var c = x.group_by(()).count().", 0),
        ("A(c as u32) :- I(y), not A(y), A(x), var c = x.group_by(()).count().", 1),
        ("A(x) :- I(x), var g = x.group_by(x), A(x).", 0),
    ],
)
def test_unstratifiable(rules: str, count: int) -> None:
    """An error for each negated atom on a cycle with an odd number of negations."""
    checked, messages = program(rules)
    assert len(messages) == count
    assert (checked is None) == (count > 0)


def test_components_agree_with_networkx() -> None:
    """On random graphs the components are those of networkx, in an order that respects the edges."""
    rng = random.Random(1)
    for _ in range(200):
        size = rng.randint(1, 12)
        edges = [(str(rng.randrange(size)), str(rng.randrange(size))) for _ in range(rng.randint(0, 25))]
        successors: dict[str, dict[str, None]] = {str(i): {} for i in range(size)}
        for a, b in edges:
            successors[a][b] = None
        found = strongly_connected(successors)
        graph = networkx.DiGraph(edges)
        graph.add_nodes_from(successors)
        expected = {frozenset(each) for each in networkx.strongly_connected_components(graph)}
        assert {frozenset(each) for each in found} == expected
        number = {name: i for i, component in enumerate(found) for name in component}
        assert all(number[a] <= number[b] for a, b in edges)


def test_long_chains() -> None:
    """The depth of the graph is not limited by that of Python's stack."""
    chain = {str(i): {str(i + 1): None} for i in range(5000)}
    assert len(strongly_connected({**chain, "5000": {}})) == 5001
