"""Some of these tests once more in a process of its own, with another kind of Spark session."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SPARK_TESTS = Path(__file__).parent
LIMIT = 540  # seconds: a loaded machine takes five times as long


def run_inner(files: Sequence[str], chosen: str, setting: tuple[str, str], least: int) -> str:
    """Runs the tests that `-k chosen` selects, with a variable of the environment set; how many passed. Fails
    where one fails, or fewer than `least` pass."""
    command = [sys.executable, "-m", "pytest", "--tb=short", "--durations=8", "-p", "no:cacheprovider"]
    with tempfile.TemporaryFile("w+") as printed:  # no pipe: a server that lives on would keep it open
        inner = subprocess.Popen(
            [*command, *(str(SPARK_TESTS / name) for name in files), "-k", chosen],
            env=os.environ | dict([setting]),
            cwd=SPARK_TESTS.parents[1],
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that servers and machines that it has started end with it
        )
        try:
            inner.wait(LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(inner.pid, signal.SIGKILL)
            inner.wait()
        printed.seek(0)
        output = printed.read()
    assert inner.returncode == 0, output
    passed = re.search(r"(\d+) passed", output)
    assert passed is not None and int(passed.group(1)) >= least and "skipped" not in output, output
    return passed.group()
