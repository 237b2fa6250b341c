"""The recursive examples of docs/language.md, on data with cycles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ddlog

TEXT = (Path(__file__).parents[2] / "docs" / "language.md").read_text("utf-8")
SECTION = TEXT.split("## Groups and negations inside a recursion")[1].split("\n## ")[0]
DISTANCE, GAME = re.findall(r"(?ms)^```\n(.*?)^```$", SECTION)


def test_distances_on_a_cycle() -> None:
    program = ddlog.compile(
        "input relation Start(n: u32)\ninput relation Edge(n: u32, to: u32, step: u64)\n"
        "relation Offer(n: u32, d: u64)\noutput relation Distance(n: u32, d: u64)\n" + DISTANCE
    )
    with program.session() as session:
        session.insert("Start", (0,))
        session.insert("Edge", (0, 1, 5), (1, 2, 1), (2, 0, 1), (0, 2, 9), (2, 1, 0))
        session.commit()
        assert list(session["Distance"].tuples()) == [(0, 0), (1, 5), (2, 6)]
        session.delete("Edge", (0, 1, 5))
        session.commit()
        assert list(session["Distance"].tuples()) == [(0, 0), (1, 9), (2, 9)]


def test_a_game_with_a_cycle_of_moves() -> None:
    program = ddlog.compile(
        "input relation Position(p: u32)\ninput relation Move(p: u32, q: u32)\n"
        "output relation Won(p: u32)\noutput relation Lost(p: u32)\nrelation Escape(p: u32)\n" + GAME
    )
    with program.session() as session:
        session.insert("Position", (0,), (1,), (2,), (3,))
        session.insert("Move", (0, 1), (1, 0), (1, 2), (0, 3), (3, 2))
        session.commit()
        assert [list(session[name].tuples()) for name in ("Won", "Lost")] == [[(1,), (3,)], [(0,), (2,)]]
        session.delete("Move", (1, 2), (0, 3))
        with pytest.raises(ddlog.DDlogError, match="never settles"):
            session.commit()
