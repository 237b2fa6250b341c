"""The network controller, a program that uses most of the language: what it prints, on each way to run it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddlog.console.cli import main
from ddlog.engine.inprocess import runtime

from ..engine.reference_runtime import ReferenceRuntime

FOLDER = Path(__file__).parents[2] / "programs" / "controller"


def printed(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What the controller prints for its command file."""
    updates = str(FOLDER / "updates.dat")
    code = main(["run", str(FOLDER / "controller.dl"), "--updates", updates, *options])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    return shown.out


def expected() -> str:
    return (FOLDER / "expected" / "updates.txt").read_text(encoding="utf-8")


def test_prints_what_is_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys) == expected()


def test_evaluation_from_scratch_agrees(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "InProcess", lambda circuit, *_, **__: ReferenceRuntime(circuit))
    assert printed(capsys) == expected()


def test_there_is_nothing_to_warn_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(FOLDER / "controller.dl")]) == 0
    assert capsys.readouterr().err == ""
