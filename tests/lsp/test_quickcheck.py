"""What is told at once after an edit is what a check of the whole program finds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import pytest

from ddlog.check.program import check_program
from ddlog.errors.codes import code_of
from ddlog.errors.diagnostics import Diagnostic
from ddlog.errors.source import Source
from ddlog.lsp import quickcheck as subject
from ddlog.lsp.analysis import Analysis
from ddlog.lsp.quickcheck import differing

from ..bench.generated import generate
from ..trying import longer

PROGRAM = """\
typedef Kind = Small{size: u32} | Large

input relation Item(name: string, kind: Kind)

function doubled(n: u32): u32 = n * 2

relation Sized(name: string, size: u32)

// A comment.
Sized(name, doubled(size)) :- Item(name, Small{size}).

output relation Result(name: string, size: u32)

Result(name, size) :- Sized(name, size), size > 3.
"""


def shown(found: Iterable[Diagnostic]) -> set[tuple[str, int, int, str]]:
    return {
        (code_of(type(each)), each.span.line, each.span.column, each.message)
        for each in found
        if each.span is not None and each.is_error
    }


def after(text: str, old: str, new: str) -> tuple[list[Diagnostic] | None, list[Diagnostic]]:
    """What is told at once after an edit, and what a check finds."""
    before = Analysis(Source("p.dl", text))
    now = Analysis(Source("p.dl", text.replace(old, new, 1)), before=before)
    return differing(before, check_program(before.source)[1], now), check_program(now.source)[1]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ddlog.lsp.pieces._ONE_IN", 2)
    monkeypatch.setattr(subject, "MOST", 300)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("size > 3", "siz > 3"),  # a rule
        ("name: string, size: u32)\n\n//", "name: string, size: string)\n\n//"),  # a relation that rules use
        ("doubled(n: u32): u32 = n", "doubled(n: u32): string = n"),  # a function
        ("Small{size: u32}", "Small{size: u32, other: bool}"),  # a constructor in a pattern
        ("relation Sized(", "relation Other("),  # a name that went
        ("output relation Result", "input relation Item(x: u32)\n\noutput relation Result"),  # a name twice
        ("// A comment.", "// A comment,\n// of two lines."),  # only places
        ("Sized(name, size), size", "Sized(name, size) size"),  # syntax
        ("size > 3.", "size > 3"),  # no end
    ],
)
def test_an_edit_is_told_as_a_check_tells_it(old: str, new: str) -> None:
    soon, whole = after(PROGRAM, old, new)
    assert soon is not None and shown(soon) == shown(whole)


def test_errors_of_other_declarations_stay_and_move() -> None:
    wrong = PROGRAM.replace("size > 3", "sizes > 3").replace("n * 2", "m * 2")
    soon, whole = after(wrong, "// A comment.", "// One,\n\n// two.")
    assert soon is not None and shown(soon) == shown(whole) and len(shown(whole)) == 2


def test_warnings_of_the_whole_program_stay_where_nothing_changed() -> None:
    unused = PROGRAM.replace("size > 3", "size > 3, var twice = size")
    soon, _ = after(unused + "\nrelation Never(x: u32)\n", "// A comment.", "// One,\n// two.")
    assert soon is not None and {code_of(type(each)) for each in soon} == {"DL0210", "DL0211"}


def test_imports_and_implicit_functions_wait_for_the_check() -> None:
    assert after(PROGRAM, "typedef", "import intern\n\ntypedef")[0] is None
    assert after(PROGRAM, "doubled", "to_string")[0] is None


def test_random_edits() -> None:
    chance = random.Random(7)
    text = generate(250)
    before = Analysis(Source("p.dl", text))
    told: list[Diagnostic] = check_program(before.source)[1]
    compared = 0
    for _ in range(longer(24, 400)):
        kind = chance.choice(
            (r"\b[A-Z]\w*", r"\b[a-z]+\d+", r"\b(?:u32|string|bool|s64)\b", r"\b\d+", r"[(),.]")
        )
        words = list(re.finditer(kind, text))
        one, other = chance.choice(words), chance.choice(words)
        changed = text[: one.start()] + other[0] + text[one.end() :]
        now = Analysis(Source("p.dl", changed), before=before)
        soon, whole = differing(before, told, now), check_program(now.source)[1]
        if soon is not None and not any(code_of(type(each)).startswith("DL01") for each in whole):
            assert shown(soon) == shown(whole), (one[0], other[0])
            compared += 1
        if len(shown(whole)) < 4:
            text, before, told = changed, now, whole if soon is None else soon
    assert compared > 8
