"""Every program in `programs/` gives its expected output, and its updates exactly the expected changes; after
random changes it holds what a session has that begins with the rows which are left."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.engine.inprocess import runtime

from ..engine.reference_runtime import ReferenceRuntime

PROGRAMS = Path(__file__).parents[2] / "programs"
WITH_FACTS = sorted(path.parent.name for path in PROGRAMS.glob("*/facts"))
WITH_COMMANDS = ("controller", "vnet")
"""Programs that a command file runs, which use most of the language."""

EPOCHS = 8
BATCH = 6


def run(name: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """What `ddlog run` prints for a program, of which it warns not."""
    code = main(["run", str(PROGRAMS / name / f"{name}.dl"), *options])
    printed = capsys.readouterr()
    assert code == 0 and "warning" not in printed.err, printed.err
    return printed.out


def table(path: Path) -> list[list[str]]:
    """The cells of a CSV file."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("name", WITH_FACTS)
@pytest.mark.parametrize("updates", [True, False])
def test_outputs_and_changes(
    name: str, updates: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The outputs are those of the facts, with and without updates after them."""
    folder = PROGRAMS / name
    options = ["--input", str(folder / "facts"), "--output", str(tmp_path)]
    printed = run(name, capsys, *options, *["--updates", str(folder / "updates.dat")] * updates)
    wanted = sorted((folder / "expected").glob("*.csv"))
    for path in wanted:
        assert table(tmp_path / path.name) == table(path), path.name
    found = {path.name for path in tmp_path.glob("*.csv") if "changes" not in path.name}
    assert {path.name for path in wanted} == found
    if updates:
        assert printed == (folder / "expected" / "updates.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", WITH_COMMANDS)
@pytest.mark.parametrize("anew", [False, True])
def test_commands_print_what_is_expected(
    name: str, anew: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where every commit evaluates the program from scratch."""
    if anew:
        monkeypatch.setattr(runtime, "InProcess", lambda circuit, *_, **__: ReferenceRuntime(circuit))
    folder = PROGRAMS / name
    expected = (folder / "expected" / "updates.txt").read_text(encoding="utf-8")
    assert run(name, capsys, "--updates", str(folder / "updates.dat")) == expected


def changed(
    rng: random.Random, everything: dict[str, list[Any]], present: dict[str, set[Any]]
) -> Iterator[tuple[str, str, Any]]:
    """Rows to delete and rows to insert, of those that were there once, as calls of a session."""
    for _ in range(rng.randint(1, BATCH)):
        relation = rng.choice(sorted(present))
        comes = rng.random() < 0.5
        if some := [row for row in everything[relation] if (row not in present[relation]) == comes]:
            row = rng.choice(some)
            present[relation].symmetric_difference_update({row})
            yield "insert_rows" if comes else "delete_rows", relation, row


@pytest.mark.parametrize("name", WITH_FACTS)
def test_random_changes(name: str) -> None:
    rng, program = random.Random(name), ddlog.compile(PROGRAMS / name / f"{name}.dl")
    with program.session() as session:
        session.load(PROGRAMS / name / "facts")
        everything = {relation: list(session[relation].stored) for relation in program.names("input")}
        present = {relation: set(rows) for relation, rows in everything.items()}
        for _ in range(EPOCHS):
            for method, relation, row in changed(rng, everything, present):
                getattr(session, method)(relation, [row])
            session.commit()
            with program.session() as fresh:
                for relation, rows in present.items():
                    fresh.insert_rows(relation, list(rows))
                fresh.commit()
                for relation in program.names("output"):
                    assert list(session[relation].stored) == list(fresh[relation].stored), relation
