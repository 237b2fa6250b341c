"""docs/notebooks.md: its cells show what it says."""

from __future__ import annotations

import re
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

from .shell import Notebook

TEXT = (Path(__file__).parents[2] / "docs" / "notebooks.md").read_text("utf-8")


def test_cells_show_what_is_said() -> None:
    notebook, shown = Notebook(), ""
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.M | re.S):
        if language == "output":
            assert shown.rstrip() == text.rstrip()
        else:
            shown = notebook.texts(text)
    InteractiveShell.clear_instance()
