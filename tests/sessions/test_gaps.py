"""What each host does not offer: every gap is declared, and its error gives the reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import ddlog
from ddlog import DDlogError, Session
from ddlog.sessions.gaps import GAPS, Ability, HostKind, check_offered, refused

SPARK_KINDS = (HostKind.SPARK, HostKind.CONNECT)


@pytest.fixture
def session() -> Session:
    text = "input relation R(x: u8)\nindex ByX(x: u8) on R(x)\noutput relation O(x: u8)\nO(x) :- R(x)."
    return ddlog.compile(text).session()


@pytest.mark.parametrize(("kind", "ability"), [(kind, gap.ability) for gap in GAPS for kind in gap.hosts])
def test_every_gap_has_a_text(kind: HostKind, ability: Ability) -> None:
    with pytest.raises(DDlogError) as caught:
        check_offered(kind, ability, "asked")
    assert len(str(caught.value).split()) > 4


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


def test_what_is_offered_is_not_refused() -> None:
    for kind in SPARK_KINDS:
        for ability in (Ability.WRITE, Ability.FRAMES_IN, Ability.FRAMES_OUT, Ability.LOAD_FRAMES):
            check_offered(kind, ability)
    check_offered(HostKind.SPARK, Ability.STATE)
    with pytest.raises(KeyError):
        refused(HostKind.SPARK, Ability.STATE)
