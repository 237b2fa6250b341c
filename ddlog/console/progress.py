"""A line on the terminal with the progress of work that takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten
from types import TracebackType
from typing import TYPE_CHECKING

from ..engine import clock

if TYPE_CHECKING:
    from rich.live import Live

_PATIENCE = 1.0  # seconds before progress is shown
_INTERVAL = 10.0  # seconds between the lines where there is no terminal
_WIDTH = 70  # of a rule's text
_MANY = 10_000  # iterations of a recursion that may have no end


class ProgressLine:
    """Takes a phase, an iteration and a number of rows; inside a `with` block it shows the latest, with the
    rows that came a second in this phase.

    If standard error is not a terminal, it prints a line every ten seconds. It shows nothing with `quiet`.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet, self._enabled = quiet, not quiet and sys.stderr.isatty()
        self._inside, self._born = False, time.monotonic()
        self._lines: threading.Thread | None = None
        self._lock = threading.Lock()
        self._latest = ("working", 0, 0)
        self._began = time.monotonic(), 0  # the phase, with so many rows
        self._timer: threading.Timer | None = None
        self._shown: Live | None = None

    def __call__(self, phase: str, iteration: int, rows: int) -> None:
        if phase != self._latest[0] or rows < self._latest[2]:
            self._began = time.monotonic(), rows
        self._latest = phase, iteration, rows

    def _text(self) -> str:
        phase, iteration, rows = self._latest
        parts = [shorten(phase, _WIDTH, placeholder=" …")]
        if iteration:
            parts.append(f"iteration {iteration:,}")
        if rows:
            since, before = self._began
            seconds = time.monotonic() - since
            rate = f", {(rows - before) / seconds:,.0f} a second" if rows > before and seconds >= 0.1 else ""
            parts.append(f"{rows:,} rows{rate}")
        if iteration >= _MANY:
            parts.append("`--max-iterations N` ends a recursion without an end")
        return ", ".join(parts)

    def __enter__(self) -> ProgressLine:
        self._inside = True
        clock.told = None if self._quiet else _tell
        if self._lines is None and not self._quiet and not self._enabled:
            self._lines = threading.Thread(target=self._print_lines, daemon=True)
            self._lines.start()
        if self._enabled:
            self._timer = threading.Timer(_PATIENCE, self._begin)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._inside, clock.told = False, None
        if self._timer is None:
            return  # nothing is shown, and no other thread will begin to
        with self._lock:
            self._timer.cancel()
            self._timer = None
            if self._shown is not None:
                self._shown.stop()
                self._shown = None

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Shows nothing while another program has the terminal."""
        self.__exit__(None, None, None)
        try:
            yield
        finally:
            self.__enter__()

    def _print_lines(self) -> None:
        """A line every ten seconds, until one of these moments has no work."""
        while True:
            time.sleep(_INTERVAL)
            if not self._inside:
                self._lines = None
                return
            print(f"{time.monotonic() - self._born:.0f} s: {self._text()}", file=sys.stderr, flush=True)

    def _begin(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        spinner = Spinner("line", style="status.spinner")

        def line() -> Spinner:
            spinner.update(text=Text(self._text()))
            return spinner

        shown = Live(
            console=Console(stderr=True),
            refresh_per_second=12.5,
            transient=True,
            redirect_stdout=sys.stdout.isatty(),  # or what is printed would miss its file or pipe
            get_renderable=line,
        )
        with self._lock:
            if self._timer is not None:
                shown.start()
                self._shown = shown


def _tell(why: str) -> None:
    print(f"note: {why}", file=sys.stderr, flush=True)
