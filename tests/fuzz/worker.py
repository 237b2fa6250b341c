"""A process that carries out command lines: one a line of its input as JSON, and its outcome likewise."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys

from ddlog.console.cli import main

MEMORY = 6 << 30
_LONGEST = 2000  # characters of an outcome's text that are kept


def outcome(arguments: list[str], given: str) -> dict[str, object]:
    """The exit code of a command line, and the end of what it writes."""
    written = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given.encode("utf-8", "surrogateescape")))
    try:
        with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
            code = main(arguments)
    finally:
        sys.stdin = before
    written.flush()
    text = written.buffer.getvalue().decode()  # type: ignore[attr-defined]
    return {"code": code, "text": text[-_LONGEST:]}


def serve() -> None:
    """Carries out command lines until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.set_int_max_str_digits(0)
    os.environ.pop("DDLOG_DEBUG", None)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(outcome(asked["arguments"], asked["given"])), file=answers, flush=True)


if __name__ == "__main__":
    serve()
