"""A document in pieces is read as a whole one, and after an edit only the pieces near it anew."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from ddlog.errors.source import Source
from ddlog.lsp.analysis import Analysis
from ddlog.lsp.occurrences import occurrences
from ddlog.lsp.pieces import _split
from ddlog.lsp.tokens import edit
from ddlog.syntax.parser import parse_program
from ddlog.syntax.stackroom import deep_recursion

from ..bench.generated import generate

ROOT = Path(__file__).parents[2]
PROGRAMS = [*sorted((ROOT / "programs").glob("*/*.dl")), *sorted((ROOT / "stdlib").glob("*.dl"))]
BLOCKS = """\
relation A(x: u32)

/* relation Hidden(x: u32)

input relation Other(x: u32)

*/
function f(): string = [| text

output relation B(x: u32)

|]

loop Walk rounds 3 {
    relation C(x: u32)

initial C(1).

C(x) :- C-1(x).
}

A(1).
"""


def names(analysis: Analysis) -> list[tuple[Any, ...]]:
    return [
        (each.kind, each.name, analysis.placed(each.span), each.declares) for each in analysis.occurrences
    ]


def assert_as_whole(analysis: Analysis) -> None:
    with deep_recursion():
        whole = parse_program(analysis.source)[0]
        assert analysis.tree.declarations == whole.declarations
        wanted = [(each.kind, each.name, each.span, each.declares) for each in occurrences(whole)]
    assert names(analysis) == wanted


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_pieces_make_the_whole(path: Path) -> None:
    assert_as_whole(Analysis(Source(path.name, path.read_text())))


def test_comments_strings_and_loops_may_go_over_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ddlog.lsp.pieces._ONE_IN", 1)
    assert len(_split(BLOCKS)) == 7
    assert_as_whole(Analysis(Source("p.dl", BLOCKS)))


def test_after_edits_the_document_is_still_the_whole_and_most_pieces_are_the_same() -> None:
    chance = random.Random(0)
    lines = generate(500).split("\n")
    before = Analysis(Source("p.dl", "\n".join(lines)))
    data = [each.parsed for each in before.pieces]
    for _ in range(12):
        at = chance.randrange(len(lines))
        match chance.randrange(3):
            case 0:
                lines[at:at] = ["", "// a comment", "relation New" + str(at) + "(x: u32)", ""]
            case 1:
                lines[at:at] = lines[max(0, at - 40) : at]
            case _:
                del lines[at : at + 3]
        after = Analysis(Source("p.dl", "\n".join(lines)), before=before)
        if not parse_program(after.source)[1]:
            assert_as_whole(after)
        now = [each.parsed for each in after.pieces]
        assert len({*map(id, now)} - {*map(id, data)}) <= 4
        before, data = after, now


def test_edits_of_tokens() -> None:
    chance = random.Random(0)
    for _ in range(200):
        old, new = ([chance.randrange(3) for _ in range(chance.randrange(8))] for _ in range(2))
        start, count, data = edit(old, new)
        assert [*old[:start], *data, *old[start + count :]] == new
