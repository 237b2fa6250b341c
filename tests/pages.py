"""The blocks of a page, run as a reader runs them; `python -m tests.pages PAGE` writes what they print.

A block with a file name is that file. A console block has commands after `$ ` and what they print. A block of
Python prints what the output block after it shows. Blocks of sh are not run: they install things, or wait.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ddlog.console.cli import main

ROOT = Path(__file__).parent.parent
WHOLE = ("tutorial",)
_BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.M | re.S)
_NOTES = re.compile(r"^(?:note: engine: in-process \(|note: compiling kernels |\d+ s: ).*\n", re.M)
_MEASURED = re.compile(r"most for \w+| *\d[\d.,]*(?: ?(?:ms|us|s|B|kB|KiB|MB|MiB|%))(?!\w)")


@dataclass(frozen=True)
class Shown:
    """What a page shows of a block, and where in its text, and what the block printed now."""

    start: int
    end: int
    shown: str
    printed: str


def parts(page: Path) -> list[tuple[str, str]]:
    """The parts of a page that are run in a folder each, by their titles: its sections of level 2, but of the
    tutorial the whole."""
    text = page.read_text(encoding="utf-8")
    if page.stem in WHOLE:
        return [(page.stem, text)]
    _, *found = re.split(r"^## ", text, flags=re.M)
    return [(part.partition("\n")[0], part) for part in found]


def outputs(text: str, place: Path) -> Iterator[Shown]:
    """Runs the blocks of a text in a folder, in their order. The folder has the project's `programs`, and in
    `facts` the files that the text offers for download."""
    (place / "programs").symlink_to(ROOT / "programs")
    for offered in re.findall(r"\]\(\.\./(programs/\S+\.csv)\)", text):
        (place / "facts").mkdir(exist_ok=True)
        shutil.copy(ROOT / offered, place / "facts")
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    with contextlib.chdir(place):
        for block in _BLOCK.finditer(text):
            language, file, content = block.groups()
            if file:
                Path(file).parent.mkdir(parents=True, exist_ok=True)
                Path(file).write_text(content)
            elif language == "console":
                yield Shown(*block.span(3), content, console(content))
            elif language == "python":
                printed = python(content, names)
            elif language == "output":
                yield Shown(*block.span(3), content, printed)


def console(content: str) -> str:
    """The commands of a console block, each with what it prints, both streams."""
    commands = re.findall(r"^\$ ((?:.*\\\n)*.*)\n", content, re.M)
    return "".join(f"$ {command}\n{output_of(command)}" for command in commands)


def output_of(command: str) -> str:
    """What a command prints, both streams, without what depends on the machine: the notes on its memory and
    on kernels that it compiles, and progress every ten seconds. `ddlog` runs in this process, unless that is
    measured, or gets a JVM."""
    line = command.replace("\\\n", "")
    marks = {*shlex.shlex(line, posix=True, punctuation_chars=True)} & {";", "|", "<", ">", ">>", "&&"}
    if line.startswith("ddlog ") and not marks and "--profile" not in line and "--engine spark" not in line:
        found: list[str] = []
        with _taken(found):
            main(shlex.split(line)[1:])
        return _NOTES.sub("", *found)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, text=True, env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return _NOTES.sub("", done.stdout)


def python(content: str, names: dict[str, object]) -> str:
    """What code prints."""
    printed: list[str] = []
    with _taken(printed):
        exec(compile(content, "example.py", "exec"), names)
    return "".join(printed)


@contextlib.contextmanager
def _taken(into: list[str]) -> Iterator[None]:
    """Takes both streams, and puts what was printed into a list."""
    taken = io.BytesIO()
    stream = io.TextIOWrapper(taken, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        yield
    into.append(taken.getvalue().decode())


def measured(text: str) -> list[str]:
    """The lines of a text without the times and sizes in them, which differ from run to run."""
    return [_MEASURED.sub(" N", line).rstrip() for line in text.splitlines()]


def write(page: Path) -> None:
    """Writes a page with what its blocks print now."""
    text = page.read_text(encoding="utf-8")
    for _, part in parts(page):
        new = part
        with tempfile.TemporaryDirectory() as place:
            for each in reversed(list(outputs(part, Path(place)))):
                new = new[: each.start] + each.printed + new[each.end :]
        text = text.replace(part, new)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(Path(name))
