"""Functions that print, and those that pass messages on: modules print, log, log4j."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ddlog.stdlib import log

from .calls import given, untried

PRINTING = """
import print
typedef Color = Red | Green{shade: u8}
"""
LOGGING = """
import log
import log4j
"""
LEVELS = """(
    log4j::fatal(1, "fatal"), log4j::error(2, "error"), log4j::warn(3, "warn"),
    log4j::info(4, "info"), log4j::debug(5, "debug"), log4j::trace(6, "trace")
)"""


@pytest.fixture(autouse=True)
def unset() -> Iterator[None]:
    """Each test begins and leaves without a level and a sink of its own."""
    log.set_level(None)
    log.set_sink(None)
    yield
    log.set_level(None)
    log.set_sink(None)


def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    calls = ['print("a \\"b\\"")', 'debug((Green{3}, ["x"]))', 'printTrue("yes")']
    assert list(given(PRINTING, calls).values()) == ["()", "()", "true"]
    assert capsys.readouterr().out == 'a "b"\n(Green{3}, ["x"])\nyes\n'
    assert untried("print", *calls) == []


def test_nothing_is_logged_at_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert given(LOGGING, ['log(1, 0, "off")', LEVELS])['log(1, 0, "off")'] == "()"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("level", "names"), [
    (0, ""),
    (99, ""),
    (100, "fatal"),
    (300, "fatal error warn"),
    (600, "fatal error warn info debug trace"),
])  # fmt: skip
def test_messages_up_to_the_level_are_printed(
    level: int, names: str, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = {"fatal": 100, "error": 200, "warn": 300, "info": 400, "debug": 500, "trace": 600}
    log.set_level(level)
    given(LOGGING, [LEVELS])
    printed = "".join(f"LOG ({numbers[name]}): {name}\n" for name in names.split())
    assert capsys.readouterr().out == printed
    assert untried("log4j", LEVELS) == []


def test_messages_go_to_a_sink_with_the_module_that_speaks(capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[int, int, str]] = []
    log.set_level(200)
    log.set_sink(lambda module, level, msg: heard.append((module, level, msg)))
    given(LOGGING, [LEVELS, 'log(-7, -1, "below")'])
    assert heard == [(1, 100, "fatal"), (2, 200, "error"), (-7, -1, "below")]
    assert capsys.readouterr().out == ""
