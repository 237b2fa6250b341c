"""What each kind of error means, with a wrong and a right program for most that a text can have.

The files in `explained/` are named as those that declare the kinds. A section has the name of a kind, a
remark where the words of the declaration are not enough, and a program as a difference: the wrong one without
the lines that begin with `+`, the right one without those that begin with `-`.
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
        return "\n\n".join(filter(None, [" ".join((self.kind.__doc__ or "").split()), self.remark, helps]))


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
