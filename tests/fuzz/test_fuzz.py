"""Mutated inputs of every kind, and those that were found before."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..trying import is_long, longer
from .kinds import FOUND, KINDS, Kind
from .mutating import mutated
from .serving import Server

FOUND_FILES = sorted(FOUND.iterdir())


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server(seconds=longer(60, 120))
    yield server
    server.close()


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
    end = time.monotonic() + longer(1.5, 120)
    while time.monotonic() < end:
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
