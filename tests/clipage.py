"""Writes docs/cli.md, all commands and options, of the parser of arguments: `python -m tests.clipage`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from ddlog.console.arguments import parser
from ddlog.console.manpage import options_of
from ddlog.console.usage import UsageParser

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
HEAD = """\
# The command line

All commands of `ddlog` with their options, as `ddlog COMMAND --help` prints them.
[commands.md](commands.md) has the commands of update files and of the REPL, and says more about some options
and about exit codes. `python -m tests.clipage` writes this page.
"""


def page() -> str:
    """The text of the page."""
    whole = parser()
    (commands,) = (each for each in whole._actions if isinstance(each, argparse._SubParsersAction))
    sections = (_section(name, command) for name, command in commands.choices.items())
    return "\n".join([HEAD, *sections, f"## Examples\n\n{_verbatim(whole.epilog)}"])


def _section(name: str, command: UsageParser) -> str:
    words = [f"## ddlog {name}", command.description or "", "\n".join(_options(command))]
    return "\n\n".join([*words, *([_verbatim(command.epilog)] if command.epilog else [])]).rstrip() + "\n"


def _options(command: UsageParser) -> Iterator[str]:
    for written, help in options_of(command):
        if not written.startswith("-h"):
            yield f"- `{written}`: {_sign(help)}"


def _sign(help: str) -> str:
    """A text with signs that Markdown would read otherwise."""
    parts = help.split("`")
    return "`".join(part if at % 2 else re.sub(r"([*<])", r"\\\1", part) for at, part in enumerate(parts))


def _verbatim(text: str | None) -> str:
    return f"```text\n{(text or '').strip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
