"""Errors about options of the command line and of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from .diagnostics import DDlogError, Diagnostic

T = TypeVar("T")


class CannotBeCombined(Diagnostic):
    """Two options that exclude each other."""

    title = "{option} cannot be combined with {other}{reason:: %}"
    option: str
    other: str
    reason: str = ""


class OptionNeeded(Diagnostic):
    """An option that has a meaning only with another one."""

    title = "{option} needs {needed}: {reason}"
    option: str
    needed: str
    reason: str


class BadOptionValue(Diagnostic):
    """An option with a value of the wrong form."""

    title = "{option} {value}: expected {expected}"
    option: str
    value: str
    expected: str


class NoProfile(Diagnostic):
    """A file that should hold a profile, and does not."""

    title = "{file} cannot be read as a profile: {reason}"
    suggestion = "`ddlog run --profile FILE.json` writes one"
    file: str
    reason: str


class EmptyInput(Diagnostic):
    """`--input` with an empty value."""

    title = "--input needs a place: a directory, a pattern, a URL or REL=PLACE"


class OutputIsProgram(Diagnostic):
    """A translation that would replace the program that is translated."""

    title = "{path} is the program itself"
    suggestion = "give the translation another name"
    path: str


class NoSuchEngine(Diagnostic):
    """The name of an engine that does not exist."""

    title = "there is no engine `{engine}`"
    suggestion = "the engines are auto, in-process and spark"
    engine: str


class WorkersAreSettled(Diagnostic):
    """A number of workers for a Spark whose place already settles the number."""

    title = "--workers {workers}: the place of Spark settles the number of workers ({place})"
    suggestion = "leave out --workers; on this machine, --master 'local[N]' has N of them"
    workers: int
    place: str


class Exclusion(NamedTuple):
    """Two options that cannot be combined."""

    option: str
    other: str
    reason: str


class Need(NamedTuple):
    """An option that has a meaning only with one of other options."""

    option: str
    others: tuple[str, ...]
    reason: str

    def on_command_line(self) -> Need:
        """The need in terms of a command's options, whose names are those of the parameters with `--`."""
        return Need(_flag(self.option), tuple(map(_flag, self.others)), self.reason)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


STATE_NEEDS = (
    Need("durability", ("state",), "without a state nothing lasts"),
    Need("read_only", ("state",), "without a state there is nothing to read"),
    Need("migrate", ("state",), "without a state there is nothing to take over"),
)
"""The needs of the options that sessions and commands share."""


def check_combinations(
    options: T,
    given: Mapping[str, Callable[[T], bool]],
    needs: Iterable[Need],
    exclusions: Iterable[Exclusion],
) -> None:
    """Raises DDlogError with all rows of the two tables that the options break. `given` says of the names in
    the tables whether they are given."""
    broken: list[Diagnostic] = [
        OptionNeeded(need.option, " or ".join(need.others), need.reason)
        for need in needs
        if given[need.option](options) and not any(given[other](options) for other in need.others)
    ]
    broken += [
        CannotBeCombined(row.option, row.other, row.reason)
        for row in exclusions
        if given[row.option](options) and given[row.other](options)
    ]
    if broken:
        raise DDlogError(broken)
