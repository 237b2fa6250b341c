"""Options of DDlog's programs, of its compiler and of Soufflé that have no meaning here, each with the reason
for which it is refused."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

_TIMELY = "programs do not run on timely or differential dataflow; the command `profile cpu on;` measures"
_RUST = "programs are interpreted, and no Rust is generated"
_D3LOG = "D3log is left out of this dialect; --engine spark runs a program on several machines"

REASONS: dict[str, str] = {
    "--print": "it has no effect in DDlog either; --relation chooses the printed relations",
    "--no-print": "it has no effect in DDlog either; --no-delta and --no-init-snapshot print less",
    "--idle-merge-effort": "state is merged within commits, not between them",
    "--self-profiler": "the command `profile cpu on;` measures",
    "--self-profiler-dir": "the command `profile;` prints the measurements, and writes no file",
    "--profile-timely": _TIMELY,
    "--profile-differential": _TIMELY,
    "--timely-profiler-socket": _TIMELY,
    "--timely-trace-dir": _TIMELY,
    "--differential-profiler-socket": _TIMELY,
    "--differential-trace-dir": _TIMELY,
    "--ddshow": _TIMELY,
    "-i": "the program is an argument: ddlog run PROG.dl",
    "-o": "nothing is compiled; --output DIR writes the output relations",
    "--action": "`ddlog check` validates a program, and `ddlog run` runs it",
    "--output-input-relations": "--relation R also prints an input relation",
    "-g": "there are no debug hooks; an `output relation` shows what a rule derives",
    "--nested-ts-32": "only --max-iterations limits iterations",
    "-j": "there are no bindings for Java",
    "--java": "there are no bindings for Java",
    "--pp-flattened": "`ddlog circuit` prints the circuit of a program",
    "--pp-validated": "`ddlog circuit` prints the circuit of a program",
    "--pp-debug": "`ddlog circuit` prints the circuit of a program",
    "--pp-optimized": "`ddlog circuit` prints the circuit of a program",
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


_COMPILED = "nothing is compiled; --run runs the program"
_FUNCTORS = "functors are functions of the Python module beside the program"
_MEASURED = "`ddlog run` on the translation, with the command `profile cpu on;`, measures"
_PLANNED = "joins are ordered and rules transformed while the program runs"

SOUFFLE_REASONS: dict[str, str] = {
    "-c": _COMPILED,
    "--compile": _COMPILED,
    "-g": _COMPILED,
    "--generate": _COMPILED,
    "-G": _COMPILED,
    "--generate-many": _COMPILED,
    "--dl-program": _COMPILED,
    "-s": _COMPILED,
    "--swig": _COMPILED,
    "-l": _FUNCTORS,
    "--libraries": _FUNCTORS,
    "-L": _FUNCTORS,
    "--library-dir": _FUNCTORS,
    "-p": _MEASURED,
    "--profile": _MEASURED,
    "--live-profile": _MEASURED,
    "--emit-statistics": _MEASURED,
    "-a": _PLANNED,
    "--auto-schedule": _PLANNED,
    "-m": _PLANNED,
    "--magic-transform": _PLANNED,
    "-z": _PLANNED,
    "--disable-transformers": _PLANNED,
    "-t": "there is no provenance",
    "--provenance": "there is no provenance",
    "-r": "`ddlog circuit` draws the circuit of the translation",
    "--debug-report": "`ddlog circuit` draws the circuit of the translation",
    "--show": "`ddlog circuit` shows the circuit of the translation",
}


class _Refuse(argparse.Action):
    """An option whose `const` is the system that has it, and the reasons by option."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option: str | None = None,
    ) -> None:
        system, reasons = self.const
        parser.error(f"{option} is an option of {system} that is not supported: {reasons[str(option)]}")


def refuse(parser: argparse.ArgumentParser, system: str, reasons: Mapping[str, str]) -> None:
    """Makes the parser refuse options of a system, each with the reason. Its help does not list them."""
    for option in reasons:
        parser.add_argument(option, action=_Refuse, nargs="?", const=(system, reasons),
                            dest=argparse.SUPPRESS, help=argparse.SUPPRESS)  # fmt: skip
