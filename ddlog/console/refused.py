"""Options that DDlog's programs and its compiler have and that can mean nothing here: refused by name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

_TIMELY = "nothing here runs on timely or differential dataflow; the command `profile cpu on;` measures"
_RUST = "programs are interpreted, and no Rust is generated"
_D3LOG = "D3log is left out of this dialect; --engine spark runs a program on several machines"

REASONS: dict[str, str] = {
    "--print": "it has no effect in DDlog either; what is printed is chosen with --relation",
    "--no-print": "it has no effect in DDlog either; --no-delta and --no-init-snapshot let less be printed",
    "--idle-merge-effort": "state is merged within a commit, and nothing is done between commits",
    "--self-profiler": "the command `profile cpu on;` measures",
    "--self-profiler-dir": "the command `profile;` prints what was measured, and writes no file",
    "--profile-timely": _TIMELY,
    "--profile-differential": _TIMELY,
    "--timely-profiler-socket": _TIMELY,
    "--timely-trace-dir": _TIMELY,
    "--differential-profiler-socket": _TIMELY,
    "--differential-trace-dir": _TIMELY,
    "--ddshow": _TIMELY,
    "-i": "the program is an argument: ddlog run PROG.dl",
    "-o": "nothing is compiled; --output DIR is where output relations go",
    "--action": "`ddlog check` validates a program, and `ddlog run` runs it",
    "--output-input-relations": "--relation R gives out an input relation too",
    "-g": "there are no debug hooks; an `output relation` shows what a rule derives",
    "--nested-ts-32": "iterations are not limited, unless --max-iterations says so",
    "-j": "there are no bindings for Java",
    "--java": "there are no bindings for Java",
    "--pp-flattened": "`ddlog circuit` prints what becomes of a program",
    "--pp-validated": "`ddlog circuit` prints what becomes of a program",
    "--pp-debug": "`ddlog circuit` prints what becomes of a program",
    "--pp-optimized": "`ddlog circuit` prints what becomes of a program",
    "--re-validate": _RUST,
    "--dynlib": _RUST,
    "--no-dynlib": _RUST,
    "--staticlib": _RUST,
    "--no-staticlib": _RUST,
    "--omit-profile": _RUST,
    "--omit-workspace": _RUST,
    "--run-rustfmt": _RUST,
    "--rust-flatbuffers": _RUST,
    "--d3log": _D3LOG,
    "--d3log-dev": _D3LOG,
}


class _Refuse(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option: str | None = None,
    ) -> None:
        parser.error(f"{option} is an option of DDlog that is not supported: {REASONS[str(option)]}")


def refuse(parser: argparse.ArgumentParser) -> None:
    """Makes the parser refuse these options, each with the reason, and says nothing of them in its help."""
    for option in REASONS:
        parser.add_argument(option, action=_Refuse, nargs="?", dest=argparse.SUPPRESS, help=argparse.SUPPRESS)
