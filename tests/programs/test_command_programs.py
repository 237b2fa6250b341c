"""The programs that a command file runs, which use most of the language: what they print, on each way to run
them, and that plain Python comes to the same contents of their most intricate relations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import ddlog
from ddlog.commands.commands import Commit
from ddlog.commands.interpreter import Interpreter
from ddlog.commands.updatefiles import update_commands
from ddlog.console.cli import main
from ddlog.engine.inprocess import runtime
from ddlog.sessions.session import Session

from ..engine.reference_runtime import ReferenceRuntime
from . import vnet_oracle

PROGRAMS = Path(__file__).parents[2] / "programs"
NAMES = ("controller", "vnet")


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a program prints for its command file."""
    folder = PROGRAMS / name
    code = main(["run", str(folder / f"{name}.dl"), "--updates", str(folder / "updates.dat")])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    return shown.out


def expected(name: str) -> str:
    return (PROGRAMS / name / "expected" / "updates.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_prints_what_is_expected(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(name, capsys) == expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_evaluation_from_scratch_agrees(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "InProcess", lambda circuit, *_, **__: ReferenceRuntime(circuit))
    assert printed(name, capsys) == expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_there_is_nothing_to_warn_of(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(PROGRAMS / name / f"{name}.dl")]) == 0
    assert capsys.readouterr().err == ""


def commits(name: str, session: Session) -> Iterator[None]:
    """Runs the command file of a program, and yields after each commit."""
    program = session.program
    commands = update_commands(
        str(PROGRAMS / name / "updates.dat"),
        program.relations,
        session.typedefs,
        lambda _: None,
        program.indexes,
    )
    interpreter = Interpreter(session, lambda _: None, lambda *_: None, program.names("output"))
    for command in commands:
        interpreter.run([command])
        if isinstance(command.action, Commit):
            yield


def test_plain_python_agrees_on_the_virtual_network() -> None:
    oracle = vnet_oracle.Oracle()
    with ddlog.compile(PROGRAMS / "vnet" / "vnet.dl").session() as session:
        for _ in commits("vnet", session):
            wanted = oracle.after(vnet_oracle.contents(session, vnet_oracle.INPUTS))
            found = vnet_oracle.contents(session, vnet_oracle.OUTPUTS)
            assert {name: set(map(vnet_oracle.plain, rows)) for name, rows in found.items()} == wanted
