"""Mutated inputs of every kind, and those that were found before."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from ..trying import is_long, longer
from . import lies
from .kinds import FOUND, KINDS, Kind
from .mutating import mutated
from .serving import Server

FOUND_FILES = sorted(FOUND.iterdir())
INPUTS = 15  # of each kind


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server(seconds=longer(60, 120))
    yield server
    server.close()


@pytest.mark.parametrize("count", [longer(8, 3000)])
def test_a_state_in_a_file_that_lies_is_used_or_refused(count: int, server: Server, tmp_path: Path) -> None:
    """Each is described, checked, exported, opened by sessions, which go on with it, and compacted."""
    lies.begun(tmp_path / "whole")
    program = tmp_path / "p.dl"
    program.write_text(lies.PROGRAM)
    run = ["run", str(program), "--quiet", "--engine", "in-process"]
    commands = [*run, "--updates", "-", "--delta"], [*run, "--read-only"], run
    for seed in range(count):
        state = tmp_path / "state"
        for each in tmp_path.glob("state*"):
            each.unlink()
        shutil.copy(tmp_path / "whole", state)
        told = lies.lie(state, random.Random(seed))
        for words in [*_reports(state), *([*each, "--state", str(state)] for each in commands)]:
            wrong = server.run(words, lies.UPDATES).wrong
            assert not wrong, f"seed {seed}: {told}: {words}: {wrong}"


@pytest.mark.parametrize("count", [longer(12, 3000)])
def test_a_state_in_a_folder_that_lies_is_described_or_refused(
    count: int, server: Server, tmp_path: Path
) -> None:
    lies.begun_folder(tmp_path / "whole")
    for seed in range(count):
        state = tmp_path / f"state{seed}"
        shutil.copytree(tmp_path / "whole", state)
        told = lies.lie_in_folder(state, random.Random(seed))
        for words in _reports(state):
            wrong = server.run(words).wrong
            assert not wrong, f"seed {seed}: {told}: {words}: {wrong}"
        shutil.rmtree(state)


def _reports(state: Path) -> list[list[str]]:
    """Command lines about a state."""
    export = ["--export", str(state.parent / "exported")]
    return [["state", str(state), *words] for words in (["--check"], [], export, ["--compact"], [])]


def kind_of(path: Path) -> str:
    """The kind of a file in `found`: the part of its name before the hyphen."""
    return path.name.partition("-")[0]


@pytest.mark.parametrize("path", FOUND_FILES, ids=lambda path: path.name)
def test_what_was_handled_wrongly_once_is_handled(path: Path, server: Server, tmp_path: Path) -> None:
    kind = KINDS[kind_of(path)]
    arguments, given = kind.command(written(kind, path.read_bytes(), tmp_path))
    assert not server.run(arguments, given).wrong


@pytest.mark.parametrize("name", KINDS)
def test_a_mutated_input_is_read_or_refused(name: str, server: Server, tmp_path: Path) -> None:
    kind = KINDS[name]
    examples = [*kind.examples(), *(each.read_bytes() for each in FOUND_FILES if kind_of(each) == name)]
    seed = random.randrange(1 << 32) if is_long else 7
    chance = random.Random(f"{name} {seed}")
    end = time.monotonic() + 120
    for _ in count() if is_long else range(INPUTS):
        if is_long and time.monotonic() > end:
            break
        data = mutated(chance.choice(examples), examples, chance)
        arguments, given = kind.command(written(kind, data, tmp_path))
        wrong = server.run(arguments, given).wrong
        assert not wrong, f"seed {seed}: {wrong}\n{keep(kind, name, data)}"


def written(kind: Kind, data: bytes, folder: Path) -> Path:
    """A file of a kind with these contents."""
    path = folder / f"input.{kind.ending}"
    path.write_bytes(data)
    return path


def keep(kind: Kind, name: str, data: bytes) -> str:
    """Keeps an input that is handled wrongly, and says where."""
    path = Path("/tmp", f"{name}-{random.randrange(1 << 32):08x}.{kind.ending}")
    path.write_bytes(data)
    return f"the input is in {path}: once the fault is mended, it belongs into {FOUND}"
