"""`ddlog fmt`: programs and command files in one layout."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors.diagnostics import DDlogError, Diagnostic, counted, system_errors
from ..errors.facts import CannotRead
from ..errors.formatting import NotFormatted
from ..errors.source import Source, program_bytes, program_text
from ..formatting.commandfiles import formatted_commands
from ..formatting.program import formatted
from ..io.write import replacing

STDIN = "-"


@dataclass(frozen=True, slots=True)
class FormatOptions:
    """The arguments of `ddlog fmt`. `lines` are the first and the last line of what is formatted."""

    paths: Sequence[str]
    check: bool
    diff: bool
    width: int
    lines: tuple[int, int] | None
    quiet: bool


def fmt(options: FormatOptions) -> int:
    """Formats files in place, or only tells what would change. Returns the exit code: with `check` or `diff`
    1 if one would change. Raises DDlogError with the errors of all files, and OSError."""
    changed, same, found = 0, 0, list[Diagnostic]()
    for path in _files(options.paths or ["."]):
        try:
            before = _read(path)
            after = _formatted(path, before, options)
            if before == after and path != STDIN:
                same += 1
            else:
                changed += before != after
                _give(path, before, after, options)
        except DDlogError as error:
            found += error.diagnostics
    if not options.quiet and list(options.paths) != [STDIN]:
        told = "would be formatted" if options.check or options.diff else "formatted"
        left = f"{counted(same, 'file')} left as they are" if same != 1 else "1 file left as it is"
        print(f"{counted(changed, 'file')} {told}, {left}", file=sys.stderr)
    if found:
        raise DDlogError(found)
    return 1 if changed and (options.check or options.diff) else 0


def _files(paths: Iterable[str]) -> Iterator[str]:
    """The files of paths: of a folder the programs in it, but for those in hidden folders."""
    for path in paths:
        if path == STDIN or not os.path.isdir(path):
            yield path
            continue
        for folder, below, names in os.walk(path):
            below[:] = sorted(each for each in below if not each.startswith("."))
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".dl"))


def _read(path: str) -> str:
    with system_errors(CannotRead, path):
        return program_text(sys.stdin.buffer.read() if path == STDIN else program_bytes(path))


def _formatted(path: str, text: str, options: FormatOptions) -> str:
    ends = text.count("\n")
    if ends and text.count("\r\n") == ends:
        return _formatted(path, text.replace("\r\n", "\n"), options).replace("\n", "\r\n")
    name = "<stdin>" if path == STDIN else path
    if path.endswith(".dat"):
        if options.lines is not None:
            raise DDlogError([NotFormatted(name, "--lines is for programs: command files are short lines")])
        return formatted_commands(text)
    if path.endswith(".sql"):
        raise DDlogError([NotFormatted(name, "it is SQL")])
    return formatted(Source(name, text), options.width, options.lines)


def _give(path: str, before: str, after: str, options: FormatOptions) -> None:
    if options.diff:
        names = (path, f"{path} (formatted)")
        sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), *names))
    elif options.check:
        print(path)
    elif path == STDIN:
        sys.stdout.write(after)
    else:
        with replacing(Path(path)) as out:
            out.write(after.encode())
