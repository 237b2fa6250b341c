"""What needs a session on Spark says so in another one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import ddlog
from ddlog import DDlogError, Session


@pytest.fixture
def session() -> Session:
    text = "input relation R(x: u8)\nindex ByX(x: u8) on R(x)\noutput relation O(x: u8)\nO(x) :- R(x)."
    return ddlog.compile(text).session()


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda session: session.write("R", "out"), "write"),
        (lambda session: session.load_frames({}), "load_frames"),
        (lambda session: session["R"].to_spark(), "to_spark"),
        (lambda session: session.commit().to_spark("O"), "to_spark"),
        (lambda session: session.index("ByX")[1].to_spark(), "to_spark"),
    ],
)
def test_in_process_says_what_needs_spark(
    session: Session, use: Callable[[Session], object], name: str
) -> None:
    with pytest.raises(DDlogError, match=f"{name} needs a session on Spark"):
        use(session)
