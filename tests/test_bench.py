"""The benchmarks run from end to end with tiny inputs, and compute what they should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .trying import longer

BENCH = Path(__file__).parent / "bench"


def printed(name: str, *options: str) -> str:
    """What a benchmark prints."""
    command = [sys.executable, str(BENCH / f"{name}.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("loops --edges 400 --updates 1", ["\nways ", "  121 ", "costs 1 to 100, in order"]),
        (
            "shards reach --edges 400 --workers 0 2 --updates 1",
            ["164 rows, 20 rounds", "164 rows, 21 rounds"],
        ),
        ("memoryspeed triangles --scale tiny", ["words a second: ", "triangles: "]),
        ("sweep sparse --scale tiny", ["sparse closure, 120 out"]),
    ],
)
def test_measures_at_tiny_scale(command: str, shown: list[str]) -> None:
    found = printed(*command.split())
    for each in shown:
        assert each in found


def test_benchmarks_at_tiny_scale(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--scale", "tiny", "--runs", "1", "--verify", "--cache", str(tmp_path), "--json", str(figures)]
    printed("run", *options, *longer(["tc_chain", "triangles", "updates"], []))
    found = json.loads(figures.read_text(encoding="utf-8"))
    parts = ("batch", "frontend", "updates", "incremental", "deletions", "curves")
    assert [len(found[part]) for part in parts] == longer([2, 0, 3, 0, 0, 0], [30, 2, 3, 23, 15, 3])
