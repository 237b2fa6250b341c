"""The Java that Spark's driver needs, checked before a JVM is started."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...errors.diagnostics import DDlogError
from ...errors.spark import NoJava

NEEDED = 17
_VERSION = re.compile(r'version "(?:1\.)?([0-9]+)[^"]*"')


def check_java(environ: Mapping[str, str] | None = None) -> str:
    """The path of the `java` that Spark will run. Raises DDlogError if there is none or it is too old."""
    environ = os.environ if environ is None else environ
    home = environ.get("JAVA_HOME")
    if home:
        java = os.path.join(home, "bin", "java")
        if not os.access(java, os.X_OK):
            raise DDlogError([NoJava(NEEDED, f"JAVA_HOME is {home}, and there is no bin/java in it")])
    else:
        found = shutil.which("java", path=environ.get("PATH", os.defpath))
        if found is None:
            raise DDlogError([NoJava(NEEDED, "JAVA_HOME is not set and there is no `java` in PATH")])
        java = found
    version = _major(java)
    if version < NEEDED:
        raise DDlogError([NoJava(NEEDED, f"{java} is Java {version}")])
    return java


def _major(java: str) -> int:
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DDlogError([NoJava(NEEDED, f"{java} does not run: {error}")]) from None
    found = _VERSION.search(done.stderr + done.stdout)
    if found is None:
        lines = (done.stderr + done.stdout).strip().splitlines()
        said = lines[0] if lines else f"exit code {done.returncode}"
        raise DDlogError([NoJava(NEEDED, f"{java} does not say its version: {said}")])
    return int(found.group(1))


@contextmanager
def ended_on_failure() -> Iterator[None]:
    """Ends the Java that starts inside if its start fails or is interrupted: one that is not ready yet would
    not hear that this process has ended, and stay for ever. One that is ready stays, for the next session."""
    from pyspark import SparkContext, java_gateway

    starting: Any = java_gateway
    begun: list[subprocess.Popen[Any]] = []

    class Begun(subprocess.Popen[Any]):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            begun.append(self)

    plain, starting.Popen = starting.Popen, Begun
    try:
        yield
    except BaseException:
        for process in begun if SparkContext._gateway is None else ():
            process.kill()
        raise
    finally:
        starting.Popen = plain
