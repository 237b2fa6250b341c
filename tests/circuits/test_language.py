"""Expressions of circuits, checked against declarations that stay as they are."""

from __future__ import annotations

import pytest

from ddlog import core
from ddlog.circuits import language
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
