"""`ddlog test`: programs beside which stands what they give.

A test is a folder `expected` beside a program. The program runs on `facts` and the update files `updates.*`
beside it. A file of `expected` holds what `ddlog run --output` writes to a file of that name; `updates.txt`
holds what the run prints.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from ..errors.diagnostics import DDlogError, counted
from ..errors.tests import NoTests, NotOneProgram

EXPECTED, PRINTED = "expected", "updates.txt"
CommandLine: TypeAlias = Callable[[Sequence[str]], int]
_MOST = 60  # lines of the difference of one file that are printed


@dataclass(frozen=True, slots=True)
class Golden:
    """A test: a program and the folder of its expected files."""

    program: Path
    expected: Path

    def arguments(self, output: str) -> list[str]:
        """The arguments of the run that writes to a folder."""
        beside = self.program.parent
        facts = ["--input", str(beside / "facts")] if (beside / "facts").exists() else []
        updates = [word for each in sorted(beside.glob("updates.*")) for word in ("--updates", str(each))]
        return ["run", str(self.program), *facts, *updates, "--output", output]


def run_tests(paths: Sequence[str], update: bool, ddlog: CommandLine) -> int:
    """Runs the tests of folders and programs by the command line, and prints how files differ from those that
    are expected; with `update` they replace those. Returns the exit code: 1 if one differs. Raises DDlogError
    if there is no test."""
    tests = [test for path in paths or ["."] for test in _tests(Path(path), update)]
    if not tests:
        raise DDlogError([NoTests(", ".join(paths) or ".")])
    failed = sum(not _passes(test, update, ddlog) for test in tests)
    told = f"{counted(len(tests), 'test')} passed" if not failed else f"{failed} of {len(tests)} tests failed"
    print(told)
    return 1 if failed else 0


def _tests(path: Path, update: bool) -> Iterator[Golden]:
    """The tests below a folder, or that of a program."""
    if path.suffix == ".dl":
        if update or (path.parent / EXPECTED).is_dir():
            yield Golden(path, path.parent / EXPECTED)
        return
    for folder, below, _ in os.walk(path):
        below[:] = sorted(each for each in below if not each.startswith("."))
        if EXPECTED in below:
            below.remove(EXPECTED)
            yield Golden(_program(Path(folder)), Path(folder) / EXPECTED)


def _program(folder: Path) -> Path:
    """The program of a folder: the one named as the folder is, or the only one. Raises DDlogError."""
    named = folder / f"{folder.resolve().name}.dl"
    programs = [named] if named.exists() else sorted(folder.glob("*.dl"))
    if len(programs) != 1:
        raise DDlogError([NotOneProgram(str(folder), len(programs), named.name)])
    return programs[0]


def _passes(test: Golden, update: bool, ddlog: CommandLine) -> bool:
    """Runs a test, and prints its name and what differs."""
    with TemporaryDirectory() as output:
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = ddlog([*test.arguments(output), "--engine", "in-process", "--quiet"])
        Path(output, PRINTED).write_text(out.getvalue(), encoding="utf-8")
        if code == 0 and update:
            _replace(test, Path(output))
        differences = list(_differences(test, Path(output))) if code == 0 else [err.getvalue()]
    print(f"{'ok' if not differences else 'FAILED'}  {test.program}")
    sys.stdout.writelines(differences)
    return not differences


def _differences(test: Golden, output: Path) -> Iterator[str]:
    """The lines of the differences between the expected files and those of the run."""
    for expected in sorted(test.expected.iterdir()):
        came = output / expected.name
        if not came.exists():
            yield f"{expected}: the run writes no such file\n"
            continue
        pair = (_lines(expected), _lines(came))
        lines = list(difflib.unified_diff(*pair, str(expected), "what came"))
        yield from (line if line.endswith("\n") else f"{line}\n" for line in lines[:_MOST])
        if len(lines) > _MOST:
            yield f"… {counted(len(lines) - _MOST, 'line')} more\n"


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode(errors="backslashreplace").splitlines(keepends=True)


def _replace(test: Golden, output: Path) -> None:
    """Makes what came the expected files: those that are expected already, or all if there is none."""
    test.expected.mkdir(exist_ok=True)
    names = {path.name for path in test.expected.iterdir()}
    for came in sorted(output.iterdir()):
        wanted = came.name in names if names else ".changes." not in came.name
        if wanted and (came.name != PRINTED or came.read_bytes()):
            (test.expected / came.name).write_bytes(came.read_bytes())
