"""The examples of docs/circuits.md print what it shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

DOCUMENT = (Path(__file__).parents[2] / "docs" / "circuits.md").read_text()
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(python|output)\n(.*?)^```$", DOCUMENT, re.M | re.S)


def test_the_examples_print_what_is_shown() -> None:
    names: dict[str, object] = {}
    for (language, code), (following, shown) in zip(BLOCKS, [*BLOCKS[1:], ("", "")], strict=True):
        if language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, "docs/circuits.md", "exec"), names)
            assert printed.getvalue() == (shown if following == "output" else ""), code


def test_every_figure_is_there() -> None:
    for figure in (
        "Figure 1",
        "Figure 3",
        "Table 1",
        "transitive closure",
        "Foundations of Differential Dataflow",
    ):
        assert re.search(rf"(?m)^##.*{figure}", DOCUMENT), figure
