"""The programs that a command file runs, which use most of the language: what they print, on each way to run
them, and that plain Python comes to the same contents of their most intricate relations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ddlog
from ddlog.commands.commands import Commit
from ddlog.commands.interpreter import Interpreter
from ddlog.commands.updatefiles import update_commands
from ddlog.console.cli import main
from ddlog.engine.inprocess import runtime
from ddlog.sessions.session import Session

from ..engine.reference_runtime import ReferenceRuntime
from ..trying import longer
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
        program.indexes,
    )
    interpreter = Interpreter(session, lambda _: None, lambda *_: None, program.names("output"))
    for command in commands:
        interpreter.run([command])
        if isinstance(command.action, Commit):
            yield


def agree(oracle: vnet_oracle.Oracle, session: Session) -> None:
    """Compares the outputs after a commit with those of plain Python."""
    wanted = oracle.after(vnet_oracle.contents(session, vnet_oracle.INPUTS))
    found = vnet_oracle.contents(session, vnet_oracle.OUTPUTS)
    assert {name: set(map(vnet_oracle.plain, rows)) for name, rows in found.items()} == wanted


def test_plain_python_agrees_on_the_virtual_network() -> None:
    """After each commit of the command file, and after random changes of the largest network in it."""
    oracle = vnet_oracle.Oracle()
    with ddlog.compile(PROGRAMS / "vnet" / "vnet.dl").session() as session:
        for number, _ in enumerate(commits("vnet", session)):
            agree(oracle, session)
            if number == 46:
                rows_come_and_go(oracle, session)


def rows_come_and_go(oracle: vnet_oracle.Oracle, session: Session) -> None:
    """Random rows go, and come back later, all of them at the end."""
    choose = random.Random(4)
    relations = [
        f"{module}::{name}" for module, names in vnet_oracle.INPUTS.items() for name in names.split()
    ]
    gone: list[tuple[str, Any]] = []
    last = longer(5, 23)
    for step in range(last + 1):
        for _ in range(2):
            relation = choose.choice(relations)
            rows = list(session[relation].stored)
            if rows and relation != "southbound::Probe" and step < last - 3:
                gone.append((relation, choose.choice(rows)))
                session.delete_rows(relation, [gone[-1][1]])
                session.commit()
                agree(oracle, session)
        for _ in range(len(gone) if step == last else choose.randrange(3)):
            if gone:
                relation, row = gone.pop(choose.randrange(len(gone)))
                session.insert_rows(relation, [row])
        session.commit()
        agree(oracle, session)
