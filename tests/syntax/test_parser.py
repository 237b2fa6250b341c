"""The parser: golden trees in syntax/good, golden errors in syntax/bad, and properties of both.

`UPDATE_GOLDEN=1 pytest tests/test_parser.py` writes the expected files anew.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from ddlog import syntax
from ddlog.errors.diagnostics import Diagnostic, Note, in_order, render
from ddlog.errors.nearest import nearest
from ddlog.errors.source import Source, Span
from ddlog.syntax.parser import parse_program, parse_query

from ..trying import longer

FILES = Path(__file__).parent
GOOD = sorted(FILES.glob("good/*.dl"))
BAD = sorted(FILES.glob("bad/*.dl"))


def dump(node: Any) -> str:
    """A node in one line: fields that hold their default are left out."""
    if isinstance(node, tuple):
        return f"[{', '.join(map(dump, node))}]"
    if not dataclasses.is_dataclass(node):
        return repr(node)
    fields = [f for f in dataclasses.fields(node) if f.repr and getattr(node, f.name) != f.default]
    shown = [dump(getattr(node, f.name)) for f in fields]
    named = [
        s if f.default is dataclasses.MISSING else f"{f.name}={s}" for f, s in zip(fields, shown, strict=True)
    ]
    return f"{type(node).__name__}({', '.join(named)})"


def parse(text: str, name: str = "p.dl") -> syntax.Module:
    module, found = parse_program(Source(name, text))
    assert not any(each.is_error for each in found), render(found)
    return module


def expression(text: str) -> syntax.Expr:
    query, found = parse_query(Source("q", text))
    assert not any(each.is_error for each in found), render(found)
    (clause,) = query.body
    assert isinstance(clause, syntax.Condition)
    return clause.expr


def nodes(node: Any) -> Iterator[Any]:
    """The node and all below it."""
    if isinstance(node, tuple):
        for item in node:
            yield from nodes(item)
    elif dataclasses.is_dataclass(node) and not isinstance(node, Span | Source):
        yield node
        for field in dataclasses.fields(node):
            yield from nodes(getattr(node, field.name))


def golden(path: Path, text: str) -> None:
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_trees(path: Path) -> None:
    module = parse(path.read_text(), path.name)
    golden(path.with_suffix(".ast"), "".join(dump(d) + "\n" for d in module.declarations))


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_errors(path: Path) -> None:
    _, found = parse_program(Source(path.name, path.read_text()))
    assert found
    golden(path.with_suffix(".err"), render(found) + "\n")


def test_every_construct_occurs() -> None:
    seen = {type(node) for path in GOOD for node in nodes(parse(path.read_text()))}
    assert seen | {syntax.Query, syntax.GivenValue} == {
        c for c in vars(syntax).values() if dataclasses.is_dataclass(c)
    }


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_the_span_of_an_expression_reads_as_that_expression(path: Path) -> None:
    module = parse(path.read_text())
    pieces = {id(p) for n in nodes(module) if isinstance(n, syntax.Interpolated) for p in n.parts}
    for node in nodes(module):
        implied = node == syntax.TupleExpr((), module.span) and node.span.text() == "}"
        if isinstance(node, get_args(syntax.Expr)) and id(node) not in pieces and not implied:
            assert expression(node.span.text()) == node


@pytest.mark.parametrize(
    ("flat", "grouped"),
    [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a ++ b + c", "a ++ (b + c)"),
        ("a << b ++ c >> d", "(a << b) ++ (c >> d)"),
        ("a == b & c", "(a == b) & c"),
        ("a | b ^ c & d", "a | (b ^ (c & d))"),
        ("a or b and c => d", "(a or (b and c)) => d"),
        ("not a == b", "(not a) == b"),
        ("-a as u8", "-(a as u8)"),
        ("a + b as u8", "a + (b as u8)"),
        ("a + b: u8", "a + (b: u8)"),
        ("~a.f()", "~(a.f())"),
        ("if (c) x else y + 1", "(if (c) x else y) + 1"),
        ("|x| x + 1", "|x| (x + 1)"),
        ("x >> 1", "x >> (1)"),
        ("a == b == c", "(a == b) == c"),
    ],
)
def test_precedence(flat: str, grouped: str) -> None:
    assert expression(flat) == expression(grouped)


def test_generic_brackets_close_together() -> None:
    assert dump(expression("x: Vec<Vec<u8>>")) == (
        "TypedExpr(Name('x'), NamedType('Vec', [NamedType('Vec', [NamedType('u8', [])])]))"
    )


def test_a_query_is_a_rule_body() -> None:
    query, found = parse_query(Source("q", 'Path("a", x), x != "b".'))
    assert not found
    assert (
        dump(query.body[0])
        == "Atom('Path', [Argument(None, StringLit('a')), Argument(None, Name('x'))], None)"
    )


@pytest.mark.parametrize("text", ["", "Path(", "Path(x) x", "x +", "Path(x), , y"])
def test_a_bad_query_is_reported(text: str) -> None:
    query, found = parse_query(Source("q", text))
    assert len(found) == 1 and query.body == ()


def test_what_is_right_survives_an_error() -> None:
    module, found = parse_program(Source("p.dl", "A(1).\nB(2 :- .\nC(3).\nrelation D(x: )\nE(4)."))
    heads = [d.heads[0].relation for d in module.declarations if isinstance(d, syntax.RuleDecl)]
    assert (heads, len(found)) == (["A", "C", "E"], 2)


def test_code_in_strings_has_its_place() -> None:
    text = expression('"a${"b${xyz}"}"')
    inner = [node for node in nodes(text) if isinstance(node, syntax.Name)]
    assert [(n.span.column, n.span.end_column) for n in inner] == [(9, 12)]


def test_any_text_gives_a_tree_or_an_error() -> None:
    for path in GOOD:
        text = path.read_text()
        for cut in range(0, len(text), longer(13, 7)):
            _, found = parse_program(Source("p.dl", text[:cut]))
            assert render(found) is not None


def test_a_warm_start_does_not_import_lark() -> None:
    program = "import sys, ddlog.syntax.parser as p; p.tables(); print('lark' in sys.modules)"
    run = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True) for _ in range(2)]
    assert run[1].stdout == "False\n", run[1].stderr


class TestRendering:
    source = Source("a.dl", "\tab 漢字 x\nnext\n")

    def test_carets_follow_tabs_and_wide_characters(self) -> None:
        error = _Wrong(span=Span(self.source, 1, 5, 1, 7))
        assert render([error]).splitlines()[1:] == ["        ab 漢字 x", "           ^^^^ here"]

    def test_a_long_span_is_marked_to_the_end_of_its_first_line(self) -> None:
        error = _Wrong(span=Span(self.source, 1, 8, 2, 3))
        assert render([error]).splitlines()[2] == "                ^ here"

    def test_notes_help_and_order(self) -> None:
        second = _Wrong(span=Span(self.source, 2, 1, 2, 2), help="do so")
        first = _Wrong(span=Span(self.source, 1, 2, 1, 4), notes=(Note("seen", second.span), Note("also")))
        assert in_order([second, first, second]) == [first, second]
        assert render([first]).splitlines()[3:] == [
            "  note: a.dl:2:1: seen", "      next", "      ^", "  note: also",
        ]  # fmt: skip
        assert render([second]).splitlines()[-1] == "  help: do so"

    def test_colours_only_when_asked(self) -> None:
        error = _Wrong(span=Span(self.source, 2, 1, 2, 2))
        assert "\x1b" not in render([error]) and "\x1b" in render([error], color=True)

    def test_control_characters_are_shown_as_escapes(self) -> None:
        """Neither a name, a hint nor a source line can command the terminal or turn its text around."""
        source = Source("\x1b[2J.dl", "é\x1b]0;title\x07 \u202eb")
        span = Span(source, 1, 14, 1, 15)
        error = _Wrong(span=span, notes=(Note("\x9bm", span),), help="\x7f")
        line, caret = "é\\u{1b}]0;title\\u{7} \\u{202e}b", " " * 29 + "^"
        assert render([error]).splitlines() == [
            "error: \\u{1b}[2J.dl:1:14: wrong", f"    {line}", f"    {caret} here",
            "  note: \\u{1b}[2J.dl:1:14: \\u{9b}m", f"      {line}", f"      {caret}", "  help: \\u{7f}",
        ]  # fmt: skip


class _Wrong(Diagnostic):
    title = "wrong"
    label = "here"


def test_nearest() -> None:
    names = ["Path", "Edge", "Paths", "Node"]
    assert nearest("Pth", names) == "Path"
    assert nearest("path", names) == "Path"
    assert nearest("Egde", names) == "Edge"
    assert nearest("Zebra", names) is None
    assert nearest("Port", ["Ports", "net::Port"]) == "net::Port"
