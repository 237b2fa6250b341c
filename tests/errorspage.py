"""Writes docs/errors.md, the page about errors by code: `python -m tests.errorspage`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ddlog.console.explainerror import message
from ddlog.errors.codes import codes
from ddlog.errors.explanations import CodeMeaning, explanations

PAGE = Path(__file__).parent.parent / "docs" / "errors.md"
HEAD = """\
# Errors by code

Each kind of error and warning has a code, which never changes its meaning. `ddlog check --format json` and
editors ([editors.md](editors.md)) show it, and `ddlog explain-error DL0206` prints what this page says about
it. `…` stands for what a message fills in.

In an example the lines with `-` are wrong and those with `+` are right. The message about the wrong ones
follows. An example is a program, a program with commands, lines of a shell with the files that they read, or
Python.

`python -m tests.errorspage` writes this page, of the declarations in `ddlog/errors/` and of the remarks and
examples in `ddlog/errors/explained/`.
"""


def page() -> str:
    """The text of the page."""
    parts = [HEAD]
    for file, of_file in groupby(explanations().values(), lambda each: codes()[each.code][0]):
        about = importlib.import_module(f"ddlog.errors.{file}").__doc__ or ""
        parts.append(f"## {file.capitalize()}\n\n{about.splitlines()[0]}\n")
        parts += (part for each in of_file for part in _section(each))
    return "\n".join(parts)


def _section(found: CodeMeaning) -> Iterator[str]:
    title = f"{found.kind.severity.capitalize()}: {found.title}\n\n" if found.title.strip("…") else ""
    yield f"### {found.code}\n\n{title}{found.meaning}\n"
    if found.example is not None:
        yield f"```diff\n{found.example.difference}```\n\n```text\n{message(found)}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
