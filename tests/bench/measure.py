"""Time and peak memory of a whole process, and a yardstick for the machine."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Measured:
    """One run of a process: seconds on the clock, peak memory, what it printed."""

    seconds: float
    mib: float
    output: str


class Failed(Exception):
    """A process that did not end well."""


def run_process(command: Sequence[str]) -> Measured:
    """Run a command to its end."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    with process.stdout, process.stderr:
        output, complaint = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with {process.returncode}:\n{complaint}")
    return Measured(seconds, usage.ru_maxrss / 1024, output)


def ddlog_command() -> list[str]:
    """The `ddlog` of the running Python's environment."""
    script = Path(sys.executable).parent / "ddlog"
    return (
        [str(script)]
        if script.exists()
        else [sys.executable, "-c", "from ddlog.cli import main; exit(main())"]
    )


def median(runs: Sequence[Measured]) -> Measured:
    """Median seconds, greatest memory, and the output of the last run."""
    seconds = statistics.median(run.seconds for run in runs)
    return Measured(seconds, max(run.mib for run in runs), runs[-1].output)


def yardstick() -> float:
    """Seconds that NumPy takes to sort 10 million random integers here and now; the best of three."""
    numbers = np.random.default_rng(0).integers(0, 2**62, 10_000_000)
    best = float("inf")
    for _ in range(3):
        copy = numbers.copy()
        started = time.perf_counter()
        copy.sort()
        best = min(best, time.perf_counter() - started)
    return best
