"""Printed syntax trees: what is parsed from the print of a program is equal to it, and prints the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddlog.errors.source import Source
from ddlog.syntax.parser import parse_program
from ddlog.syntax.printing import module_text

ROOT = Path(__file__).parents[2]
FOLDERS = ("programs", "stdlib", "tests")
HOSTILE = ROOT / "tests" / "fuzz" / "found"  # nested more deeply than programs are
FILES = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.dl") if file.parent != HOSTILE)


def check(text: str) -> None:
    module, wrong = parse_program(Source("program", text))
    if wrong:  # of another language, or with errors for a test
        return
    printed = module_text(module)
    again, wrong = parse_program(Source("printed", printed))
    assert not wrong, (printed, wrong)
    assert again.declarations == module.declarations, printed
    assert module_text(again) == printed


@pytest.mark.parametrize(
    "folder", sorted({file.parent for file in FILES}), ids=lambda f: str(f.relative_to(ROOT))
)
def test_programs_are_what_they_print(folder: Path) -> None:
    for file in FILES:
        if file.parent == folder:
            check(file.read_text("utf-8", errors="replace"))


def test_literals_beyond_the_largest_double_are_what_they_print() -> None:
    check("output relation R(x: double, y: float)\nR(1e999, 32'f1e60).\nR(-1e400, -2.0e38).\n")
