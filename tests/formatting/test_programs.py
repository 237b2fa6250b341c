"""The layout of programs: what it looks like, and that it changes nothing but spaces."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.source import Source
from ddlog.formatting.program import formatted
from ddlog.syntax.lexer import Places, tokenize
from ddlog.syntax.parser import parse_program
from ddlog.syntax.stackroom import deep_recursion

from ..trying import trying

HOME = Path(__file__).parents[2]
STDLIB = Path(ddlog.__file__).parent.parent / "stdlib"

EXAMPLES = {
    "a shift is one sign, and so are no two ends of types": (
        "function f(x: Vec<Vec<u32 > >): u32 { x.len()>>3 > 1<<2 }",
        "function f(x: Vec<Vec<u32>>): u32 { x.len() >> 3 > 1 << 2 }\n",
    ),
    "a rule on one line": ("R( x,y ):-A(x , y),x<y .", "R(x, y) :- A(x, y), x < y.\n"),
    "a body that begins on a new line stays there": (
        "R(x) :-\n  A(x), B(x).",
        "R(x) :-\n    A(x),\n    B(x).\n",
    ),
    "a comment behind a declaration does not break its brackets": (
        "input relation A(x: u32, y:u32)  // why\nA(1, 2).// one",
        "input relation A(x: u32, y: u32) // why\nA(1, 2). // one\n",
    ),
    "a comment before an operation does not break it": (
        "R(x) :- A(x),\n// why\nx>3.",
        "R(x) :-\n    A(x),\n    // why\n    x > 3.\n",
    ),
    "a long rule": (
        f"Reaches(from, to) :- {'A' * 40}(from, middle), {'B' * 40}(middle, to).",
        f"Reaches(from, to) :-\n    {'A' * 40}(from, middle),\n    {'B' * 40}(middle, to).\n",
    ),
    "long arguments": (
        f"R({'a' * 50}, {'b' * 50}).",
        f"R(\n    {'a' * 50},\n    {'b' * 50}\n).\n",
    ),
    "constructors below each other": (
        "typedef T = A{x: u32}\n | B\n | C{y: string}",
        "typedef T = A{x: u32}\n          | B\n          | C{y: string}\n",
    ),
    "a block": (
        "function f(x: u32): u32 {\nvar y = x+1;\n\n\n   y*2}",
        "function f(x: u32): u32 {\n    var y = x + 1;\n\n    y * 2\n}\n",
    ),
    "a short block": ("function f(x: u32): u32 {x}", "function f(x: u32): u32 { x }\n"),
    "branches break together": (
        f"function f(x: u32): string {{ if (x > 1) {{ {'a' * 50}(x) }} else {{ {'b' * 50}(x) }} }}",
        "function f(x: u32): string {\n    if (x > 1) {\n"
        f"        {'a' * 50}(x)\n    }} else {{\n        {'b' * 50}(x)\n    }}\n}}\n",
    ),
    "a closure at the end": (
        "function f(xs: Vec<u32>): Vec<u32> {\n    xs.map(|x| {\n var y = x; y })\n}",
        "function f(xs: Vec<u32>): Vec<u32> {\n    xs.map(|x| {\n        var y = x;\n        y\n    })\n}\n",
    ),
    "a key": (
        f"input relation R({', '.join(f'field{k}: string' for k in range(5))}) primary key (r) r.field0",
        f"input relation R({', '.join(f'field{k}: string' for k in range(5))})\n"
        "    primary key (r) r.field0\n",
    ),
    "types and prefixes": (
        "relation &R [ Map < string , Vec< bit<32>>> ]  index I(x: 'A) on R[ & S{ - x, ~ y, not z } ]",
        "relation &R[Map<string, Vec<bit<32>>>]\nindex I(x: 'A) on R[&S{-x, ~y, not z}]\n",
    ),
    "delays and bindings": (
        "R (x):-S - 1(x), y in & U( . a = b @ V { _ } ) .",
        "R(x) :- S-1(x), y in &U(.a = b@V{_}).\n",
    ),
    "a for rule": (
        "for(x in A(y)if y>1)\nfor (z in B)  {C(x);D(z)}",
        "for (x in A(y) if y > 1)\n    for (z in B) { C(x); D(z) }\n",
    ),
    "strings stay": ('R("a  b ${f( x )}" ).', 'R("a  b ${f( x )}").\n'),
    "comments": (
        "\n// first\n\n\n/* of R */\nR(1). // one\nR(2) :-  // why\n  A(2), // a\n  // b\n  B(2).\n\n\n// z",
        "// first\n\n/* of R */\nR(1). // one\nR(2) :- // why\n    A(2), // a\n    // b\n    B(2).\n\n// z\n",
    ),
    "a comment in a line": ("R(/* x */1,2 /* y */).", "R(/* x */ 1, 2 /* y */).\n"),
    "stars stay below each other": ("  /* a\n     * b\n     */\nR(1).", "/* a\n * b\n */\nR(1).\n"),
    "an attribute": ('#[rust="a"]\ninput relation R(x: u32)', '#[rust = "a"]\ninput relation R(x: u32)\n'),
    "a loop": (
        "loop L rounds 3 { relation R(x: u32) R(x) :- S(x).\n\n\n // c\n}",
        "loop L rounds 3 {\n    relation R(x: u32)\n    R(x) :- S(x).\n\n    // c\n}\n",
    ),
    "nothing": ("\n\n", ""),
    "comments alone": ("// a\n\n\n/* b */\n", "// a\n\n/* b */\n"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_layout(name: str) -> None:
    given, expected = EXAMPLES[name]
    assert formatted(Source(name, given)) == expected
    assert formatted(Source(name, expected)) == expected


def test_width_and_lines() -> None:
    text = "R(x) :- A(x), B(x).\nS( x ) :- A( x ).\nT( x ) :- A( x ).\n"
    assert formatted(Source("", text), width=15).startswith("R(x) :-\n    A(x),\n    B(x).\n")
    assert formatted(Source("", text), lines=(2, 2)) == text.replace("S( x ) :- A( x )", "S(x) :- A(x)")


def test_lists_in_lists_are_indented_no_further_than_to_the_middle() -> None:
    deep = f"R({'L{1, ' * 60}N{'}' * 60}).\n"
    lines = formatted(Source("", deep)).splitlines()
    assert max(len(each) - len(each.lstrip()) for each in lines) == 60


def test_errors_of_syntax_are_told() -> None:
    with pytest.raises(DDlogError, match="expected"):
        formatted(Source("p.dl", "R(x) :- A(x)"))
    with pytest.raises(DDlogError, match="`>>` is written without a space"):
        formatted(Source("p.dl", "R(x) :- A(x), x > > 1 == 2."))


@pytest.mark.parametrize("folder", [HOME / "programs", STDLIB], ids=["programs", "stdlib"])
def test_the_programs_here_are_formatted(folder: Path) -> None:
    for file in sorted(folder.rglob("*.dl")):
        text = file.read_text()
        assert formatted(Source(str(file), text)) == text, f"run `ddlog fmt {file}`"


@cache
def programs() -> list[str]:
    """The texts of programs without errors of syntax."""
    files = [*sorted((HOME / "tests").rglob("*.dl")), *sorted((HOME / "programs").rglob("*.dl"))]
    texts = [text for file in files if (text := file.read_bytes().decode(errors="replace"))]
    return [text for text in texts if len(text) < 20_000 and not parse_program(Source("", text))[1]]


SPACES = (
    " ", "\n", "\n\n", "  // c\n", "\n// d\n", " /* e */ ", "\n/* f */\n", " /* g\n * h\n */ ",
    "\n\n  // i\n\n", "/* j */", "\n\n\n", " // k\n // l\n", "\n/* m\n  n */\n",
)  # fmt: skip


def with_more_spaces(text: str, choices: random.Random) -> str:
    """The text with spaces and comments in places where they mean nothing, outside of strings."""
    found, end, strings, often = list[str](), 0, 0, choices.choice([0.02, 0.1, 0.4])
    for token in tokenize(Places(Source("", text))).tokens:
        more = choices.choice(SPACES) if not strings and choices.random() < often else ""
        found.append(f"{text[end : token.start]}{more}{text[token.start : token.end]}")
        strings += {"_OPEN_STRING": 1, "_CLOSE_STRING": -1}.get(token.kind, 0)
        end = token.end
    return "".join([*found, text[end:]])


@trying(4, long=420)
@given(seed=st.integers(0, 1 << 32))
def test_the_program_and_its_comments_stay_and_once_is_enough(seed: int) -> None:
    choices = random.Random(seed)
    with deep_recursion():
        text = with_more_spaces(choices.choice(programs()), choices)
        tree, wrong = parse_program(Source("", text))
        if wrong:  # a name on a new line after a period is no member of what is before it
            return
        width = choices.choice([60, 100])
        once = formatted(Source("", text), width)
        assert parse_program(Source("", once))[0] == tree
        assert formatted(Source("", once), width) == once
