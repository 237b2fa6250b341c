"""The limit of recursion, which all threads have together."""

from __future__ import annotations

import sys

from ddlog.syntax.stackroom import deep_recursion


def test_a_room_lasts_until_the_last_has_left() -> None:
    """Two threads take turns: the first leaves while the second is inside."""
    before = sys.getrecursionlimit()
    first, second = deep_recursion(before + 2000), deep_recursion(before + 1000)
    first.__enter__()
    second.__enter__()
    first.__exit__()
    assert sys.getrecursionlimit() >= before + 1000
    second.__exit__()
    assert sys.getrecursionlimit() == before
