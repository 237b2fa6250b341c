"""The hooks that print, and groups split in two."""

from __future__ import annotations

import pytest

from .calls import given, given_of_group

PRELUDE = """
typedef Point = Point{x: s32, name: string}
function event(): () { debug_event((1, 2, 3), 1, 7: u64, "Map", Point{-1, "a"}, ("b", true)) }
function join(): () { debug_event_join((1, 2, 4), -1, DDNestedTS{7, 2}, "l", [1: u8], ()) }
"""


def test_events_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert given(PRELUDE, ["event()", "join()"]) == {"event()": "()", "join()": "()"}
    assert capsys.readouterr().out.splitlines() == [
        'OpId: (1, 2, 3), Weight: 1, Timestamp: 7, Operator: "Map", '
        'Input: Point{.x = -1, .name = "a"}, Output: ("b", true)',
        "OpId: (1, 2, 4), Weight: -1, Timestamp: ddlog_std::DDNestedTS{.epoch = 7, .iter = 2}, "
        'Input1: "l", Input2: [1], Output: ()',
    ]


def test_groups_are_split() -> None:
    values = [("a", 2), ("b", 1), ("c", 2)]
    shown = given_of_group("", "(string, u8)", values, ["debug_split_group(g)"])
    assert shown == {"debug_split_group(g)": '(["a", "b", "c"], [1, 2])'}
