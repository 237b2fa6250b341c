"""Soufflé programs, translated and run: what they compute, how they read, and what is said of the rest.

A folder of `souffle/` holds a program, its facts, and for each output relation the rows that it must have, as Soufflé
writes them. What translated programs look like is in `souffle/golden/`, errors are in `souffle/fail/`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ddlog
from ddlog.cli import main
from ddlog.diagnostics import DDlogError
from ddlog.engine import runtime
from ddlog.program import Program
from ddlog.session import Session
from ddlog.source import Source
from ddlog.souffle.names import capital
from ddlog.souffle.translate import Translation, translate

from .reference_runtime import ReferenceRuntime

HERE = Path(__file__).parent / "souffle"
NEEDS_REF: set[str] = {"lists"}
PROGRAMS = sorted(path.parent.name for path in HERE.glob("*/program.dl") if path.parent.name not in NEEDS_REF)


def translation(folder: Path, word: int = 32) -> Translation:
    path = folder / "program.dl"
    return translate(Source(str(path), path.read_text(encoding="utf-8")), word)


def compiled(folder: Path, word: int = 32) -> tuple[Program, list[str]]:
    """The translated program, and the places of its facts: those that the notes name, and the files that have the
    names of relations."""
    done = translation(folder, word)
    program = ddlog.compile(done.text)
    named = dict(re.findall(r"`--input (\w+)=([\w./]+)`", "\n".join(done.remarks)))
    inputs = {name: named.get(name, f"{name}.facts") for name in program.names("input")}
    return program, [f"{name}={folder / file}" for name, file in inputs.items()]


def printed(value: object) -> str:
    """A value as Soufflé writes it."""
    return f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)


def rows(session: Session, relation: str) -> list[str]:
    names = [name for name in session.program.relations if name == capital(relation)]
    return sorted("\t".join(map(printed, row)) or "()" for row in session[names[0]])


def check_outputs(folder: Path, word: int = 32) -> None:
    program, places = compiled(folder, word)
    with program.session() as session:
        session.load(places)
        expected = {path.stem: sorted(path.read_text().splitlines()) for path in folder.glob("*.csv")}
        outputs = {name: rows(session, name) for name in expected if (folder / f"{name}.csv").name not in places_of(places)}
        assert outputs == {name: expected[name] for name in outputs}
        assert {capital(name) for name in outputs} >= set(program.names("output"))


def places_of(places: list[str]) -> set[str]:
    """The files that hold facts."""
    return {Path(place.partition("=")[2]).name for place in places}


@pytest.mark.parametrize("name", PROGRAMS)
def test_outputs(name: str) -> None:
    check_outputs(HERE / name)
