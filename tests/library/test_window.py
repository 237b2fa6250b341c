"""Windows as groups: tumbling and sliding windows, sessions."""

from __future__ import annotations

from .calls import given, given_of_group, untried

CALLS = {
    "window::tumbling(64'd125, 60)": "120",
    "window::tumbling(-64'sd125, 60)": "-180",
    "window::tumbling(64'sd120, 60)": "120",
    "window::sliding(64'd125, 120, 60)": "[60, 120]",
    "window::sliding(64'd30, 120, 60)": "[0]",
    "window::sliding(64'd120, 120, 60)": "[60, 120]",
    "window::sliding(64'd130, 10, 60)": "[]",
    "window::sliding(-64'sd30, 120, 60)": "[-120, -60]",
}
ROWS = [(1, "a"), (1, "b"), (4, "c"), (8, "d"), (11, "e")]
GROUPED = {
    "window::sessions(g, 3)": '[(1, 4, ["a", "b", "c"]), (8, 11, ["d", "e"])]',
    "window::sessions(g, 100).len()": "1",
    "window::sessions(g, 0)": '[(1, 1, ["a", "b"]), (4, 4, ["c"]), (8, 8, ["d"]), (11, 11, ["e"])]',
}


def test_what_functions_give() -> None:
    assert given("import window", CALLS) == CALLS
    assert given_of_group("import window", "(u64, string)", ROWS, GROUPED) == GROUPED
    assert untried("window", CALLS, GROUPED) == []
