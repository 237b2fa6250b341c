"""The long forms of the tests of durable states: `python -m tests.state.whole crashes 20`.

Each prints the counts of what it checked, and ends with an error at the first failure.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import get_args
from unittest import mock

from ddlog.durability.log import Durability
from ddlog.sessions.persistence import checkpoints

from .crashes import Crashes, reference
from .damage import OPENINGS, Damage
from .kills import kills
from .script import PLAIN, PROGRAM, script
from .soak import soak


def crashes(count: int) -> Counter[str]:
    """Crashes at every write and sync of so many scripts, and crashes of runs that go on."""
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as home, mock.patch.object(checkpoints, "WORTH", 0.0):
        for seed in range(count):
            place = Path(home) / f"{seed}"
            place.mkdir()
            program = PLAIN if seed % 2 else PROGRAM
            known = reference(script(seed, 10 + seed % 20), place / "known", program)
            for durability in get_args(Durability):
                found = Crashes(known, place / durability, random.Random(seed), durability)
                found.all(1.0, 0.02)
                counts += found.counts
    return counts


def damage(step: int) -> Counter[str]:
    """One of so many bytes changed, or the file cut there, in a state and in its log of SQLite, to be read; a
    tenth of these also to go on with. And all changes of the first bytes of pages."""
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as home, mock.patch.object(checkpoints, "WORTH", 0.0):
        for logged in (False, True):
            found = Damage(script(3, 14), Path(home) / f"{logged}", logged)
            for end in found.ends:
                places = range(1, found.size(end), step)
                for opening, some in zip(OPENINGS, (places, places[::10]), strict=True):
                    found.flipped(end, some, opening)
                    found.cut(end, some[::20], opening)
            if not logged:
                found.heads(24)
            counts += found.counts
    return counts


def killed(count: int) -> Counter[str]:
    """Kills of one process, or of two that fight for a state."""
    with tempfile.TemporaryDirectory() as home:
        return kills(count, Path(home))


def soaked(count: int) -> Counter[str]:
    """A session of so many transactions."""
    with tempfile.TemporaryDirectory() as home:
        return soak(count, Path(home))


KINDS: dict[str, Callable[[int], Counter[str]]] = {
    "crashes": crashes,
    "damage": damage,
    "kills": killed,
    "soak": soaked,
}


def main() -> None:
    """The kind and how many."""
    kind, count = sys.argv[1], int(sys.argv[2])
    for what, number in sorted(KINDS[kind](count).items()):
        print(f"{number:>12,} {what}")


if __name__ == "__main__":
    main()
