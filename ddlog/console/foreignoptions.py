"""Options of DDlog's programs, of its compiler and of Soufflé that have no meaning here, each with the reason
for which it is refused."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

REASONS = {
    "--print": "it has no effect in DDlog either; --relation chooses the printed relations",
    "--no-print": "it has no effect in DDlog either; --no-delta and --no-init-snapshot print less",
    "--idle-merge-effort": "state is merged within commits, not between them",
    "--self-profiler": "the command `profile cpu on;` measures",
    "--self-profiler-dir": "the command `profile;` prints the measurements, and writes no file",
    "--profile-timely --profile-differential --timely-profiler-socket --timely-trace-dir "
    "--differential-profiler-socket --differential-trace-dir --ddshow":
    "programs do not run on timely or differential dataflow; the command `profile cpu on;` measures",
    "-i": "the program is an argument: ddlog run PROG.dl",
    "-o": "nothing is compiled; --output DIR writes the output relations",
    "--action": "`ddlog check` validates a program, and `ddlog run` runs it",
    "--output-input-relations": "--relation R also prints an input relation",
    "-g": "there are no debug hooks; an `output relation` shows what a rule derives",
    "--nested-ts-32": "only --max-iterations limits iterations",
    "-j --java": "there are no bindings for Java",
    "--pp-flattened --pp-validated --pp-debug --pp-optimized":
    "`ddlog circuit` prints the circuit of a program",
    "--re-validate --dynlib --no-dynlib --staticlib --no-staticlib --omit-profile --omit-workspace "
    "--run-rustfmt --rust-flatbuffers": "programs are interpreted, and no Rust is generated",
    "--d3log --d3log-dev":
    "D3log is left out of this dialect; --engine spark runs a program on several machines",
}  # fmt: skip
"""Options of DDlog, in groups that have one reason."""

SOUFFLE_REASONS = {
    "-c --compile -g --generate -G --generate-many --dl-program -s --swig":
    "nothing is compiled; --run runs the program",
    "-l --libraries -L --library-dir": "functors are functions of the Python module beside the program",
    "-p --profile --live-profile --emit-statistics":
    "`ddlog run` on the translation, with the command `profile cpu on;`, measures",
    "-a --auto-schedule -m --magic-transform -z --disable-transformers":
    "joins are ordered and rules transformed while the program runs",
    "-t --provenance": "there is no provenance",
    "-r --debug-report": "`ddlog circuit` draws the circuit of the translation",
    "--show": "`ddlog circuit` shows the circuit of the translation",
}  # fmt: skip
"""Options of Soufflé, in groups that have one reason."""


class _Refuse(argparse.Action):
    """An option whose `const` is the system that has it, and the reason."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option: str | None = None,
    ) -> None:
        system, reason = self.const
        parser.error(f"{option} is an option of {system} that is not supported: {reason}")


def refuse(parser: argparse.ArgumentParser, system: str, reasons: Mapping[str, str]) -> None:
    """Makes the parser refuse options of a system, which come in groups that have one reason each. Its help
    does not list them."""
    for options, reason in reasons.items():
        parser.add_argument(*options.split(), action=_Refuse, nargs="?", const=(system, reason),
                            dest=argparse.SUPPRESS, help=argparse.SUPPRESS)  # fmt: skip
