"""Expressions of circuits, checked against declarations that stay as they are."""

from __future__ import annotations

from typing import Any

import pytest

from ddlog import core
from ddlog.circuits import Circuit, language, python
from ddlog.circuits.language import ArgumentText, Language
from ddlog.errors.source import Source, Span


def test_checking_an_expression_leaves_the_declarations_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    declared, place = Language("typedef Pair = Pair{a: bigint, b: bigint}"), Span(Source("", ""), 1, 1, 1, 1)
    shared, check = declared._environment(), language.check_query
    columns = declared.columns("input", {"x": int})
    before = dict(shared.made), dict(shared.typedefs)
    during = []

    def checked(program: core.CheckedProgram, source: Source) -> core.CheckedQuery:
        during.append((dict(shared.made), dict(shared.typedefs)))
        return check(program, source)

    monkeypatch.setattr(language, "check_query", checked)
    body = declared.body("map", place, columns, [ArgumentText("y", "Pair{x, x + 1}", "var out__0 = (")])
    assert str(body.types["out__0"]) == "Pair" and "Pair" in declared.typedefs
    other = declared.columns("input", {"z": "string", "y": "Pair"})
    assert declared.body("map", place, other, [ArgumentText("y", "y.a", "var out__0 = (")])
    assert during and all(each == before for each in during)
    assert (shared.made, shared.typedefs, shared.diagnostics) == (*before, [])


def test_an_aggregate_has_a_value_for_each_row_of_a_set() -> None:
    circuit = Circuit()
    sales = circuit.input("sales", shop=str, id=int, amount=int)
    listed = python(str, lambda amount: " ".join(map(str, amount)))
    several = {"total": "sum(amount)", "n": "count_distinct(amount)", "half": "to_vec(amount / 2)"}
    circuit.output("of", sales.group("shop", listed=listed, **several))
    epochs: list[dict[str, Any]] = [
        {"sales": [("a", 1, 5), ("a", 2, 5), ("b", 1, 7)]},
        {"sales": {("a", 2, 5): -1, ("a", 3, 6): 1, ("a", 4, 6): 1}},
        {"sales": {("a", 1, 5): -1}},
    ]
    first, second, last = (
        ("a", "5 5", 10, 1, (2, 2)),
        ("a", "5 6 6", 17, 2, (2, 3, 3)),
        ("a", "6 6", 12, 1, (3, 3)),
    )
    changes = [{first: 1, ("b", "7", 7, 1, (3,)): 1}, {first: -1, second: 1}, {second: -1, last: 1}]
    incremental = circuit.incremental()
    assert [each["of"] for each in incremental.run(epochs)] == changes
    with incremental.session(workers=1) as session:
        assert [session.step(each)["of"] for each in epochs] == changes
