"""Trees by templates: holes are filled in order or by number, and stand where they are placed."""

from __future__ import annotations

from ddlog.errors.source import Source
from ddlog.syntax import IntLit
from ddlog.syntax.parser import parse_query
from ddlog.syntax.templates import NOWHERE, let, name, names_in, placed, tree


def test_a_filled_template_is_the_tree_of_its_text() -> None:
    made = tree("match ($) {Some{var y} -> f($1, $0), None -> $}", name("x"), tree("a.0 + $", 12))
    query, wrong = parse_query(Source("", "match (x) {Some{var y} -> f(a.0 + 12, x), None -> a.0 + 12}"))
    assert not wrong
    assert made == getattr(query.body[0], "expr", None)


def test_a_tree_stands_where_it_is_placed() -> None:
    place = parse_query(Source("q", "x"))[0].span
    made = placed(let("y", tree("x + 1")), place)
    assert getattr(made, "span", None) is place
    assert placed(IntLit(1, None, None, place), NOWHERE).span is place
    assert list(names_in(made)) == ["y", "x"]
