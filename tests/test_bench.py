"""The benchmarks run from end to end with tiny inputs, and compute what they should."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from .trying import longer

RUN = Path(__file__).parent / "bench" / "run.py"
SWEEP = RUN.with_name("sweep.py")
LOOPS = RUN.with_name("loops.py")
MEMORY = RUN.with_name("memoryspeed.py")
ORDERS = RUN.with_name("bodyorders.py")
SHARDS = RUN.with_name("shards.py")


def test_the_loops_at_tiny_scale() -> None:
    options = ["--edges", "400", "--updates", "1"]
    done = subprocess.run([sys.executable, str(LOOPS), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = {line.split("  ")[0]: line.split() for line in done.stdout.splitlines()}
    assert figures["ways"][1] == figures["ways_in_order"][1] == "121"
    ordered, by_rounds = (figures[f"costs 1 to 100, {way}"] for way in ("in order", "by rounds"))
    assert ordered[-1] == ordered[-2] == by_rounds[-2]
    assert int(by_rounds[-1].replace(",", "")) > 440


def test_recursions_in_workers_at_tiny_scale() -> None:
    options = ["components", "reach", "--edges", "400", "--workers", "0", "2", "--updates", "1"]
    done = subprocess.run(
        [sys.executable, str(SHARDS), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    found = [(line.split(":")[0], line.split(" s, ")[1].split(" rounds")[0]) for line in lines[::3]]
    assert found == [
        ("components, 400 facts, 0 workers", "197 rows, 0"),
        ("components, 400 facts, 2 workers", "197 rows, 0"),
        ("reach, 400 facts, 0 workers", "164 rows, 20"),
        ("reach, 400 facts, 2 workers", "164 rows, 21"),
    ]
    assert [line.count(",") for line in lines[2::3]] == [0, 2, 0, 2]


def test_loads_beside_the_speed_of_memory_at_tiny_scale() -> None:
    options = ["triangles", "--scale", "tiny"]
    done = subprocess.run(
        [sys.executable, str(MEMORY), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    speeds, triangles = done.stdout.splitlines()
    assert speeds.startswith("words a second: ") and triangles.startswith("triangles: ")


def test_orders_of_terms_over_few_facts(tmp_path: Path) -> None:
    facts = {"p": "1\t2\n2\t3\n", "q": "2\t7\t1\n", "r": "7\t7\t8\n", "c": "2\t3\t9\n", "u": "3\t7\t4\n"}
    for letter, rows in (facts | {"s": "7\t6\n"}).items():
        (tmp_path / f"I{letter}.facts").write_text(rows, encoding="utf-8")
    options = ["2", "--beside", "2", "--facts", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, str(ORDERS), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" s of processors, ") == 3
    assert "slowest to fastest: " in done.stdout.splitlines()[-1]


def test_the_sweep_at_tiny_scale(tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    options = ["sparse", "--scale", "tiny", "--svg", str(plot)]
    done = subprocess.run([sys.executable, str(SWEEP), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "sparse closure, 120 out" in done.stdout
    assert plot.read_text(encoding="utf-8").count("sparse closure, rows") == 2


def test_benchmarks_at_tiny_scale(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--scale", "tiny", "--runs", "1", "--verify", "--cache", str(tmp_path), "--json", str(figures)]
    options += longer(["tc_chain", "triangles", "updates"], [])
    done = subprocess.run([sys.executable, str(RUN), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(figures.read_text(encoding="utf-8"))
    parts = ("batch", "frontend", "updates", "incremental", "deletions", "curves")
    assert [len(found[part]) for part in parts] == longer([2, 0, 3, 0, 0, 0], [29, 2, 3, 23, 15, 3])
