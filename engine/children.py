"""Processes of Python that this one starts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any


def start(module: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Starts a process with a module as its program, to which standard input leads. It finds the modules that
    this process finds, and gets no signals of the terminal. `options` are those of Popen."""
    found = os.pathsep.join(each or os.getcwd() for each in sys.path if os.path.exists(each or "."))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": found},
        start_new_session=True,
        **options,
    )
    threading.Thread(target=process.wait, daemon=True).start()  # so that it does not stay as a zombie
    return process
