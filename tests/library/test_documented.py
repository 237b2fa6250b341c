"""docs/library.md names every module of the library."""

from __future__ import annotations

import re
from pathlib import Path

from ddlog import stdlib

from .test_modules import MODULES

DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "library.md"


def rows(title: str) -> set[str]:
    """The modules in the first column of the table with the title."""
    table = DOCUMENT.read_text().split(f"| {title} |")[1].split("\n\n")[0]
    return {name for row in table.splitlines()[2:] for name in re.findall(r"`([\w:]+)`", row.split("|")[1])}


def test_every_module_is_documented() -> None:
    everywhere, imported = rows("seen by every program"), rows("imported")
    assert set(stdlib.AUTO_IMPORTED) <= everywhere
    assert not everywhere & imported
    assert set(MODULES) <= everywhere | imported
