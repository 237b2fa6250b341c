"""The pages that tell by examples: what their blocks print is what the pages show; and the site builds."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from ddlog.console import explain

from . import clipage, librarypage
from .pages import ROOT, measured, outputs, parts

PAGES = ("tutorial", "howto", "coming", "constructs", "programs")
PARTS = [
    pytest.param(text, id=f"{page}: {title}")
    for page in PAGES
    for title, text in parts(ROOT / "docs" / f"{page}.md")
]


@pytest.mark.parametrize("text", PARTS)
def test_a_page_shows_what_its_blocks_print(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explain, "WITHIN", 600.0)  # however slow the machine is
    for block in outputs(text, tmp_path):
        if (
            " profile" in block.shown
        ):  # of which the times decide which rule is the last that is told, in two lines
            lines = measured(block.printed)
            assert len([line for line in measured(block.shown) if line not in lines]) <= 2, block.printed
        else:
            assert block.printed == block.shown


def test_the_index_has_each_page_once() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    pages = sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    assert [index.count(f"]({name})") for name in pages if name != "index.md"] == [1] * (len(pages) - 1)


@pytest.mark.parametrize("made", [clipage, librarypage])
def test_a_page_of_the_sources_is_current(made: ModuleType) -> None:
    assert made.PAGE.read_text("utf-8") == made.page(), f"python -m {made.__name__} writes it"
