"""Wrong lines, each with its place and the reason: the first one ends the reading, or they are skipped."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TextIO, TypeAlias

from ..errors import facts as errors
from ..errors.diagnostics import DDlogError, counted, system_errors

Refuse: TypeAlias = Callable[[DDlogError], None]
"""Takes the error of a line that is wrong. If it returns, the line is skipped."""


def stop(error: DDlogError) -> None:
    """Lets the first wrong line end the reading. Raises the error."""
    raise error from None


class Skipped:
    """Counts the wrong lines that are skipped, and writes each to a file of JSON lines, if there is one."""

    def __init__(self, path: str | None) -> None:
        """Raises DDlogError if the file cannot be written."""
        self._path, self._count = path, 0
        self._file = None if path is None else _open(path)

    def __call__(self, error: DDlogError) -> None:
        for each in error.diagnostics:
            self._count += 1
            if self._file is not None:
                place, text = each.span, ""
                if place is not None:
                    text = place.source.line(place.line)
                line = {"place": str(place or ""), "reason": each.message, "text": text}
                self._file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def close(self, note: Callable[[str], None]) -> None:
        """Closes the file, and notes the number of lines."""
        if self._file is not None:
            self._file.close()
        if self._count:
            where = "" if self._path is None else f": {self._path} has them with the reasons"
            note(f"{counted(self._count, 'wrong line')} skipped{where}")


def _open(path: str) -> TextIO:
    with system_errors(errors.CannotWrite, path):
        return open(path, "w", encoding="utf-8")


def skipping(on_error: str) -> Skipped | None:
    """The taker of wrong lines for `--on-error`; None for stop. Raises DDlogError."""
    return None if on_error == "stop" else Skipped(None if on_error == "skip" else on_error)
