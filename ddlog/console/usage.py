"""Wrong arguments: one line that says what was meant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..errors.visible import visible

_ENDINGS = (".dl", ".sql")


class UsageParser(argparse.ArgumentParser):
    """A parser of arguments whose errors are one line each. What it parses names it as `parser`."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.set_defaults(parser=self)

    def error(self, message: str) -> NoReturn:
        """Ends the process with a message and where to find more."""
        self.exit(2, f"{self.prog}: error: {visible(message)} (see `{self.prog} --help`)\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Ends the command with a message on standard error."""
        if message:
            sys.stderr.write(message)
        raise SystemExit(status)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The arguments; those that no option takes are an error of the command's parser."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            found.parser.error_of(rest)
        return found

    def error_of(self, rest: Sequence[str]) -> NoReturn:
        """The error for arguments that nothing takes."""
        options = [option for action in self._actions for option in shown(action)]
        wrong = next((each for each in rest if each.startswith("-") and each != "-"), None)
        if wrong is None:
            meant = (
                f": did you mean --input {rest[0]}?"
                if "--input" in options and Path(rest[0]).exists()
                else ""
            )
            self.error(f"nothing takes the argument {rest[0]!r}{meant}")
        name = wrong.partition("=")[0]
        self.error(f"there is no option {name}{did_you_mean(name, options)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            if str(value).endswith(_ENDINGS):
                self.error(f"a command stands before the program: `ddlog run {value}`")
            self.error(f"there is no command {value!r}{did_you_mean(str(value), action.choices)}")
        super()._check_value(action, value)


def shown(action: argparse.Action) -> Sequence[str]:
    """The long options of an action that the help lists."""
    return () if action.help == argparse.SUPPRESS else [o for o in action.option_strings if o[:2] == "--"]


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """The end of a message about a name: the nearest of the candidates, or nothing."""
    from ..errors.nearest import nearest

    close = nearest(name, candidates)
    return f": did you mean {close}?" if close else ""
