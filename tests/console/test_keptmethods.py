"""The code of methods of dataclasses is compiled once, and is what Python compiles."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddlog.console import keptmethods


def made() -> list[str]:
    """What the methods of a new class do."""

    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Place:
        x: int
        y: list[int] = dataclasses.field(default_factory=list)

    with pytest.raises(dataclasses.FrozenInstanceError) as refused:
        Place(1).x = 2  # type: ignore[misc]
    return [
        repr(Place(1)),
        str(Place(1, [2]) < Place(2)),
        str(refused.value),
        str(Place.__init__.__annotations__),
    ]


def test_kept_methods_are_those_that_python_compiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    plain = made()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("DDLOG_CACHE", raising=False)
    monkeypatch.setitem(vars(dataclasses), "exec", exec)
    monkeypatch.setattr(keptmethods, "_kept", {})
    monkeypatch.setattr(keptmethods, "_compiled", {})
    keptmethods.use_kept_methods()
    assert made() == plain and keptmethods._compiled
    keptmethods.keep_methods()
    keptmethods._compiled.clear()
    keptmethods.use_kept_methods()
    assert made() == plain and not keptmethods._compiled


def test_a_second_process_compiles_none(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DDLOG_CACHE"}

    def version(**more: str) -> list[bytes]:
        subprocess.run(
            [sys.executable, "-m", "ddlog", "--version"],
            check=True,
            stdout=subprocess.DEVNULL,
            env=environment | {"XDG_CACHE_HOME": str(tmp_path)} | more,
        )
        return [each.read_bytes() for each in tmp_path.glob("ddlog/methods/*")]

    assert version(DDLOG_CACHE="off") == []
    (kept,) = version()
    assert version() == [kept]
    (path,) = tmp_path.glob("ddlog/methods/*")
    path.write_bytes(b"something else")
    assert version() == [kept]
