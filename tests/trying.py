"""How much the tests try: a part of it by default, and all with `pytest --long`.

A property takes its settings from `trying(n)`: n examples, and in the long form 60 times as many, or
`long` of them. A test that only the long form runs has the mark `long`. Other tests of two sizes ask
`longer(short, long)` for theirs."""

from __future__ import annotations

from typing import Any, TypeVar

from hypothesis import HealthCheck, settings

_Size = TypeVar("_Size")

LONG_FACTOR = 60
is_long = False  # `tests/conftest.py` sets it before the first module of tests is imported


def longer(short: _Size, long: _Size) -> _Size:
    """The size of a test: `short` by default, `long` with `--long`."""
    return long if is_long else short


def trying(examples: int, *, long: int | None = None, **more: Any) -> settings:
    """The settings of a property with so many examples, which may take their time."""
    given = {"deadline": None, "suppress_health_check": list(HealthCheck)} | more
    return settings(max_examples=longer(examples, long or LONG_FACTOR * examples), **given)
