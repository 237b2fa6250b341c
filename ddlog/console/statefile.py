"""Durable states on the command line: `ddlog state`, and facts for a state that holds data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..durability.corruption import trusting
from ..errors.diagnostics import DDlogError
from ..errors.state import StateHoldsData
from ..errors.visible import visible
from ..sessions.session import Session
from .options import LaunchOptions
from .sinks import print_lines


def check_input(session: Session, options: LaunchOptions) -> None:
    """Raises DDlogError if a session goes on with data, and facts are to come without a word about it."""
    durable = session.state.durable
    if options.state is None or options.replace or options.merge or durable is None:
        return
    if session.resumed and durable.holds_rows():
        raise DDlogError([StateHoldsData(options.state, session.epoch or 0)])


def state_file(path: str, check: bool, export: str | None, compact: bool) -> None:
    """Checks, exports or compacts a state, or says what it holds. Raises DDlogError."""
    reports, outputs = _reports_of(path)
    with trusting(path):
        if check:
            _tell(reports.checked(path))
        if export is not None:
            _tell(reports.exported(path, export, *outputs))
        if compact:
            _tell(reports.compacted(path))
        if not (check or export is not None or compact):
            _tell(reports.described(path))


def _reports_of(path: str) -> tuple[Any, Sequence[Any]]:
    """The reports about a state in a folder or in a file, and what gives the outputs that a file has, too."""
    if "://" in path or path.startswith("file:") or Path(path).is_dir():
        from ..spark.state import reports as of_folder

        return of_folder, ()
    from ..durability import reports
    from ..sessions.persistence.exports import output_tables

    return reports, (output_tables,)


def _tell(lines: Iterable[str]) -> None:
    """Prints lines that hold names and texts of the state, which are not to be trusted."""
    print_lines(map(visible, lines))
