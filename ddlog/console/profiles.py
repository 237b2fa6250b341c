"""Profiles as files: those that `ddlog run --profile` writes, and those that are read again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.options import BadOptionValue
from ..io.write import replacing
from ..profiling.profile import Profile
from ..sessions.session import Session


def check_profile(name: str | None) -> None:
    """Checks the name of the file for a profile. Raises DDlogError."""
    if name is not None and Path(name).suffix not in (".json", ".html"):
        raise DDlogError([BadOptionValue("--profile", name, "a name that ends in .json or .html")])


@contextmanager
def profiled(session: Session, name: str | None) -> Iterator[None]:
    """Measures the commits inside, and writes the profile to a file at the end, or when something inside
    fails. Does nothing without a name. Raises DDlogError."""
    if name is None:
        yield
        return
    session.measure()
    try:
        yield
    finally:
        if not session.state.closed and session.state.started:
            write_profile(session.profile(), Path(name))


def write_profile(profile: Profile, path: Path) -> None:
    """Writes a profile as JSON or as a page, as the file's name ends. Raises DDlogError."""
    if path.suffix == ".json":
        text = f"{profile.json()}\n"
    else:
        from ..profiling.page import page

        text = page(profile)
    with replacing(path) as out:
        out.write(text.encode("utf-8"))
