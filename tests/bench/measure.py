"""Time and peak memory of a whole process, and a measure of the machine's speed."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Measured:
    """One run of a process: seconds on the clock and of processors, peak memory, output."""

    seconds: float
    processors: float
    mib: float
    output: str


class Failed(Exception):
    """A process ended with an error."""


# A process inherits the peak memory of the one that forked it, so a bare interpreter starts the command.
LAUNCHER = """
import os, sys, time
started = time.perf_counter()
child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
spent = usage.ru_utime + usage.ru_stime
report = f"{time.perf_counter() - started} {spent} {usage.ru_maxrss} {os.waitstatus_to_exitcode(status)}"
os.write(int(sys.argv[1]), report.encode())
"""


def run_process(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Measured:
    """Run a command to its end, in this environment or that of this process. Raises Failed if its exit code
    is not 0."""
    reading, writing = os.pipe()
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(writing), *command]
    done = subprocess.run(
        launcher, pass_fds=[writing], capture_output=True, text=True, check=False, env=environment
    )
    os.close(writing)
    with open(reading, encoding="ascii") as report:
        seconds, spent, kib, code = report.read().split() or ("0", "0", "0", str(done.returncode))
    if code != "0":
        raise Failed(f"{' '.join(command)} ended with {code}:\n{done.stderr}")
    return Measured(float(seconds), float(spent), int(kib) / 1024, done.stdout)


def ddlog_command() -> list[str]:
    """The `ddlog` of the running Python's environment."""
    script = Path(sys.executable).parent / "ddlog"
    return (
        [str(script)]
        if script.exists()
        else [sys.executable, "-c", "from ddlog.console.cli import main; exit(main())"]
    )


def median(runs: Sequence[Measured]) -> Measured:
    """Median seconds, greatest memory, and the output of the last run."""
    seconds, processors = (
        statistics.median(getattr(run, name) for run in runs) for name in ("seconds", "processors")
    )
    return Measured(seconds, processors, max(run.mib for run in runs), runs[-1].output)


def yardstick() -> float:
    """The seconds that NumPy takes to sort 10 million random integers now: the best of three."""
    numbers = np.random.default_rng(0).integers(0, 2**62, 10_000_000)
    best = float("inf")
    for _ in range(3):
        copy = numbers.copy()
        started = time.perf_counter()
        copy.sort()
        best = min(best, time.perf_counter() - started)
    return best
