"""What each kind of clause is made of: its expressions, and the variables that it names and binds."""

from __future__ import annotations

from dataclasses import replace

import ddlog
from ddlog.core import Clause, Const, Expr
from ddlog.core.clauses import binds, bound_by_terms, expressions, mapped, named

PROGRAM = """
input relation R(x: u32, y: u32)
input relation S(x: u32)
output relation Out(x: u32, n: usize)
Out(x, n) :- R(x, y), not S(y), var z = x + y, z > 2, var e = FlatMap([z]), Inspect (),
    var g = (z, e).group_by(x), var n = g.count().
"""


def body() -> tuple[Clause, ...]:
    (rule,) = ddlog.compile(PROGRAM).checked.rules
    return rule.body


def texts(exprs: tuple[Expr, ...]) -> list[str]:
    return [each.span.text() for each in exprs]


def test_parts_of_each_kind_of_clause() -> None:
    shown = [(texts(expressions(each)), named(each), binds(each)) for each in body()]
    assert shown == [
        ([], ("x", "y"), ("x", "y")),
        ([], ("y",), ()),
        (["x + y"], ("z",), ("z",)),
        (["z > 2"], (), ()),
        (["[z]"], ("e",), ("e",)),
        (["()"], (), ()),
        (["(z, e)"], ("x", "g"), ("x", "g")),
        (["g.count()"], ("n",), ("n",)),
    ]
    assert bound_by_terms(body()) == {"x", "y"}


def test_mapping_changes_every_expression_and_nothing_else() -> None:
    """A clause without a change is the same object."""
    for clause in body():
        assert mapped(clause, lambda expr: expr) is clause
        changed = mapped(clause, lambda expr: Const(1, expr.type, expr.span))
        assert all(isinstance(each, Const) for each in expressions(changed))
        assert named(changed) == named(clause)


def test_the_key_that_a_group_has_is_an_expression_too() -> None:
    group = replace(body()[6], key=expressions(body()[2])[0])  # type: ignore[call-arg]
    assert texts(expressions(group)) == ["(z, e)", "x + y"]
    keyed = mapped(group, lambda expr: Const(1, expr.type, expr.span))
    assert all(isinstance(each, Const) for each in expressions(keyed)) and len(expressions(keyed)) == 2
