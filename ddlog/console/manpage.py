"""The manual page, ddlog(1), made from the parser of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping

from .usage import UsageParser


def man_page(whole: UsageParser, commands: Mapping[str, UsageParser]) -> str:
    """The page in the language of man(7): each command with its options, then what stands below its help."""
    lines = [
        ".TH DDLOG 1", ".SH NAME", "ddlog \\- Differential Datalog in Python",
        ".SH SYNOPSIS", ".B ddlog", ".I COMMAND", "[options]", ".SH COMMANDS",
    ]  # fmt: skip
    for name, command in commands.items():
        lines += [f".SS ddlog {_plain(name)}", _plain(command.description or "")]
        lines += _options(command)
        lines += _verbatim(command.epilog)
    return "\n".join([*lines, ".SH EXAMPLES", *_verbatim(whole.epilog), ""])


def options_of(command: UsageParser) -> Iterator[tuple[str, str]]:
    """The arguments and options of a command as they are written, and their help."""
    formatter = argparse.HelpFormatter("ddlog")
    for action in command._actions:
        if action.help is not argparse.SUPPRESS:
            help = formatter._expand_help(action) if action.help else ""
            yield formatter._format_action_invocation(action), help


def _options(command: UsageParser) -> Iterator[str]:
    for written, help in options_of(command):
        yield from (".TP", f".B {_plain(written)}", _plain(help))


def _verbatim(text: str | None) -> Iterable[str]:
    return (".PP", ".nf", _plain(text.strip()), ".fi") if text else ()


def _plain(text: str) -> str:
    """The text with what the language would take for a request or an escape made harmless."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in escaped.split("\n"))
