"""Profiles as files: `ddlog run --profile` writes them, and `ddlog profile` reads them again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue, NoProfile
from ..io.write import replacing
from ..sessions.session import Session
from .phases import Phases

if TYPE_CHECKING:
    from ..profiling.profile import Profile


def check_profile(name: str | None, option: str = "--profile") -> None:
    """Checks the name of the file for a profile. Raises DDlogError."""
    if name is not None and Path(name).suffix not in (".json", ".html"):
        raise DDlogError([BadOptionValue(option, name, "a name that ends in .json or .html")])


@contextmanager
def profiled(session: Session, name: str | None, phases: Phases) -> Iterator[None]:
    """Measures the commits inside, and writes the profile, with the phases of the run, to a file at the end,
    or when something inside fails. Does nothing without a name. Raises DDlogError."""
    if name is None:
        yield
        return
    session.measure()
    try:
        yield
    finally:
        if not session.state.closed and session.state.started:
            found = session.profile()
            write_profile(replace(found, phases=phases.times(found.seconds)), Path(name))


def write_profile(profile: Profile, path: Path) -> None:
    """Writes a profile as JSON or as a page, as the file's name ends. Raises DDlogError."""
    text = f"{profile.json()}\n" if path.suffix == ".json" else profile.html()
    with replacing(path) as out:
        out.write(text.encode("utf-8"))


def read_profile_file(name: str) -> Profile:
    """The profile in a file of JSON. Raises DDlogError."""
    from ..profiling.profile import read_profile

    try:
        return read_profile(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DDlogError([NoProfile(name, reason)]) from None


def compare_profiles(first: str, second: str) -> None:
    """`ddlog profile A.json B.json`: prints where two runs differ. Raises DDlogError."""
    from ..profiling.compare import comparison

    before, after = read_profile_file(first), read_profile_file(second)
    sys.stdout.write("".join(f"{line}\n" for line in comparison(before, after)))


def show_profile(name: str, output: str | None) -> None:
    """`ddlog profile A.json`: prints a profile, or writes it as a page. Raises DDlogError."""
    profile = read_profile_file(name)
    if output is not None:
        check_profile(output, "--output")
        write_profile(profile, Path(output))
        return
    sys.stdout.write(f"{profile}\n")
