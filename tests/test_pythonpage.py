"""docs/python.md says what the docstrings say, and its example prints what it shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ddlog

from .pythonpage import EXAMPLE, NAMES, OUTPUT, PAGE, page


def test_the_page_is_current() -> None:
    assert set(NAMES) == set(ddlog.__all__)
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.pythonpage writes it"


def test_the_example(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "example.py").write_text(EXAMPLE)
    monkeypatch.syspath_prepend(str(tmp_path))
    __import__("example")
    del sys.modules["example"]
    assert capsys.readouterr().out == OUTPUT
