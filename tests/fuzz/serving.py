"""Command lines that are carried out in another process, which may end by a signal or not at all."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command line ended: its exit code, negative for a signal, or None if it did not end in time; and
    what it wrote."""

    code: int | None
    text: str

    @property
    def wrong(self) -> str:
        """What is wrong with it, or nothing: errors of the input are told by the exit codes 1 and 2."""
        if self.code is None:
            return "it does not end"
        if self.code < 0:
            return f"it ended by {signal.Signals(-self.code).name}"
        if self.code not in (0, 1, 2) or "Traceback" in self.text or "internal error" in self.text:
            return f"exit code {self.code}: {self.text[-600:]}"
        return ""


class Server:
    """Carries out command lines in a process, which is started anew after one that ended it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    def run(self, arguments: Sequence[str], given: str = "") -> Outcome:
        """The outcome of a command line with an input."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        print(json.dumps({"arguments": list(arguments), "given": given}), file=process.stdin, flush=True)
        ready, _, _ = select.select([process.stdout], [], [], self._seconds)
        answer = process.stdout.readline() if ready else ""
        if answer:
            return Outcome(**json.loads(answer))
        self.close()
        return Outcome(process.returncode if ready else None, "")

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is not None:
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        return self._process
