"""The notebooks of examples/ run, and show what they have in them. That on Spark is in tests/spark."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from .examples import NOTEBOOKS, ON_SPARK, executed, shown


@pytest.mark.parametrize("path", [each for each in NOTEBOOKS if each != ON_SPARK], ids=lambda each: each.stem)
def test_a_notebook_shows_what_it_has_in_it(path: Path) -> None:
    committed = nbformat.read(path, as_version=4)
    assert shown(executed(path)) == shown(committed), "python -m tests.notebook.examples writes the outputs"
