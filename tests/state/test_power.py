"""Power that fails, and bytes that change. All: `python -m tests.state.whole crashes 20`, and `damage 1`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ddlog.durability.log import Durability

from ..trying import longer
from .crashes import Crashes, reference
from .damage import OPENINGS, Damage
from .script import script


@pytest.mark.parametrize(
    ("durability", "share", "again"),
    [("commit", longer(0.01, 0.02), 0.02), ("interval", 0.02, 0.0), ("exit", 0.05, 0.0)],
)
def test_what_a_crash_leaves(tmp_path: Path, durability: Durability, share: float, again: float) -> None:
    crashes = Crashes(
        reference(script(1, 12), tmp_path / "known"), tmp_path / "c", random.Random(7), durability
    )
    crashes.all(share, again)
    assert sum(crashes.counts.values()) > 20


@pytest.mark.parametrize("logged", [False, True])
def test_a_changed_byte_is_found_or_of_no_account(tmp_path: Path, logged: bool) -> None:
    damage = Damage(script(3, 14), tmp_path / "d", logged)
    for end in damage.ends:
        for opening in OPENINGS:
            damage.flipped(end, range(1, damage.size(end), longer(9001, 4001)), opening)
            damage.cut(end, range(1, damage.size(end), longer(90_001, 60_001)), opening)
    assert damage.counts["read: found"] > 2
