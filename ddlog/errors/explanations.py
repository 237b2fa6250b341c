"""The meaning of each kind of error, with a wrong and a right example, or the reason that there is none.

The files in `explained/` are named as those that declare the kinds. A section has the name of a kind, a
remark where the words of the declaration are not enough, and an example as a difference: the wrong one is
without the lines that begin with `+`, the right one without those that begin with `-`. It is a program, or
what a word after `diff` says: see console/examples.py.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .codes import codes
from .diagnostics import Diagnostic

_HOME = Path(__file__).parent / "explained"
_SECTION = re.compile(
    r"^## (\w+)\n(.*?)(?:^```diff ?(\w*)\n(.*?)^```\n)?\n*(?=^## |\Z)", re.DOTALL | re.MULTILINE
)

_TAKES = {
    "checkpoints": "a stream on Spark",
    "editor": "an editor",
    "follow": "a stream on Spark",
    "memory": "a process that is short of memory",
    "server": "a server",
    "shell": "the REPL",
    "spark": "Spark",
}
_KIND_TAKES = {
    "CheckpointDamaged": "a damaged file",
    "EarlierNotKept": "a full disk",
    "NoParser": "a Python without the package",
    "NotInFolders": "a state on Spark",
    "NotInstalled": "a Python without the package",
    "NotKeptOnDisk": "a full disk",
    "NotTabSeparable": "Spark",
    "RowsGone": "a notebook",
    "SqlTooDeep": "a text with hundreds of brackets",
    "StateDamaged": "a damaged file",
    "StateLost": "two machines with one disk",
    "StateNeedsClassicSpark": "Spark Connect",
    "StateOfOtherVersion": "a state of another version",
    "StateOfParent": "a process that forks",
    "WorkersAreSettled": "Spark",
    "WouldChange": "a fault of the formatter",
}
"""The things that an example needs beside a text: for all kinds of a file, and for single kinds."""


@dataclass(frozen=True, slots=True)
class Example:
    """A program with an error, the same one without, and how they differ. `language` is empty for that of
    this project."""

    language: str
    difference: str

    @property
    def wrong(self) -> str:
        """The program with the error."""
        return self._without("+")

    @property
    def right(self) -> str:
        """The program without it."""
        return self._without("-")

    def _without(self, sign: str) -> str:
        lines = self.difference.splitlines()
        return "".join(f"{each[2:]}\n" for each in lines if not each.startswith(sign))


@dataclass(frozen=True, slots=True)
class CodeMeaning:
    """The meaning of a code: the title of its errors, when they arise, and how to mend them."""

    code: str
    kind: type[Diagnostic]
    remark: str
    example: Example | None

    @property
    def title(self) -> str:
        """The title, with `…` for what an error fills in."""
        return _plain(self.kind.title)

    @property
    def meaning(self) -> str:
        """When such an error arises, and what is to be done then."""
        advice = _plain(self.kind.suggestion)
        helps = f"help: {advice}" if advice.strip("…") else ""
        absent = f"There is no example: it would take {self.takes}." if self.takes else ""
        about = " ".join((self.kind.__doc__ or "").split())
        return "\n\n".join(filter(None, [about, self.remark, helps, absent]))

    @property
    def takes(self) -> str:
        """The thing that an example needs beside a text; empty if there is an example, or a text suffices."""
        if self.example is not None:
            return ""
        return _KIND_TAKES.get(self.kind.__name__) or _TAKES.get(codes()[self.code][0], "")


def explanations() -> Mapping[str, CodeMeaning]:
    """All explanations by code, in order."""
    return {code: explanation(code) for code in codes()}


def explanation(code: str) -> CodeMeaning:
    """The explanation of a code. Raises KeyError."""
    file, name = codes()[code]
    kind: type[Diagnostic] = getattr(importlib.import_module(f"{__package__}.{file}"), name)
    remark, example = _sections(file).get(name, ("", None))
    return CodeMeaning(code, kind, remark, example)


@cache
def _sections(file: str) -> dict[str, tuple[str, Example | None]]:
    path = _HOME / f"{file}.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return {
        name: (remark.strip(), Example(language, difference) if difference else None)
        for name, remark, language, difference in _SECTION.findall(text)
    }


def _plain(words: str) -> str:
    return re.sub(r"\{\w+(?:!\w)?(?::[^}]*)?\}", "…", words).replace("{{", "{").replace("}}", "}")
