"""States of programs with windows: a session that goes on is the one that never ended, whatever windows have
let go of."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import DDlogError
from ddlog.durability import folding, reports
from ddlog.engine import thresholds
from ddlog.sessions.persistence import checkpoints
from ddlog.sessions.persistence.durable import Durable
from ddlog.sessions.session import Session

from ..trying import trying
from .test_checkpoint import crashed, image

TEXT = """
import window
input {kind} Event(id: u8, time: s64)
input stream Flow(id: u8, time: s64)
input relation Other(time: s64, id: u8)
input relation Now(time: s64)
output multiset Plain[Event]
apply window::range(Event, |e| e.time * 2 - e.time, Now, 3) -> (Plain)
output multiset Recent[Event]
output stream Late[Event]
apply window::range_late(Event, |e| e.time, Now, 4, 1) -> (Recent, Late)
relation Driven[s64]
apply window::clock(Flow, |e| e.time - 2) -> (Driven)
output multiset Own[Flow]
apply window::range(Flow, |e| e.time, Driven, 2) -> (Own)
output relation All(id: u8, time: s64)
apply window::all(Flow) -> (All)
output multiset Last(id: u8, time: s64)
apply window::last(Flow, 2) -> (Last)
relation Both(id: u8, time: s64)
Both(i, t) :- Other(t, i).
Both(0, 3).
output relation Wide(id: u8, time: s64)
apply window::range(Both, |e| e.time, Now, 4) -> (Wide)
output relation InWide(id: u8, time: s64)
apply window::range(Wide, |e| e.time, Driven, 1) -> (InWide)
output relation OnTime(id: u8, time: s64)
stream NotOnTime(id: u8, time: s64)
apply window::range_late(Both, |e| e.time, Driven, 3, 1) -> (OnTime, NotOnTime)
output relation Count(n: usize)
Count(n) :- Recent(i, _), var n = i.group_by(()).count().
output relation Before(id: u8)
Before(i) :- Recent-1(i, _), not Own(i, _).
output relation Reach(x: u8, y: s64)
Reach(x, y) :- Recent(x, y).
Reach(x, z) :- Reach(x, y), Wide(_, z), y < z.
stream LateHere(n: usize)
LateHere(n) :- Late(id, time), var n = (id, time).group_by(()).count().
output relation Dropped(n: usize)
Dropped(before + n) :- Dropped-1(before), LateHere'(n).
Dropped(before) :- Dropped-1(before), not LateHere'(_).
Dropped(n) :- LateHere'(n), not Dropped-1(_).
"""
EPOCHS = st.lists(
    st.tuples(
        st.lists(
            st.tuples(
                st.sampled_from(("Event", "Event", "Flow", "Other", "Now")),
                st.integers(0, 2),
                st.integers(-3, 5),
                st.sampled_from((True, True, False)),
            ),
            max_size=6,
        ),
        st.sampled_from(("", "", "closed", "crashed")),
    ),
    max_size=12,
)


@cache
def program(kind: str) -> ddlog.Program:
    return ddlog.compile(TEXT.format(kind=kind))


def commit(session: Session, step: int, changes: list) -> dict[str, list]:
    """Commits changes whose times grow from epoch to epoch. Returns the changes of the outputs."""
    for name, id, time, comes in changes:
        row = {"Other": (time + step, id), "Now": (time + step,)}.get(name, (id, time + step))
        with suppress(DDlogError):  # a deletion of what is not there
            if name == "Now" and comes:
                session.clear("Now")
            (session.insert if comes else session.delete)(name, row)
    told = session.commit()
    return {name: sorted(map(repr, told.rows(name))) for name in told}


def killed(session: Session, path: Path, target: Path) -> Path:
    """A copy of the state of a session as a kill after its last commit leaves it."""
    durable_of(session)._log.flush()
    return crashed(path, target)


def durable_of(session: Session) -> Durable:
    assert isinstance(session.state.durable, Durable)
    return session.state.durable


def held(session: Session) -> dict[str, list]:
    relations = session.program.relations
    names = (*session.program.names("input"), *session.program.names("output"))
    return {n: sorted(map(repr, session[n].weighted())) for n in names if relations[n].kind != "stream"}


@trying(3, long=1000)
@given(st.sampled_from(("relation", "multiset", "stream")), EPOCHS, st.booleans())
def test_closing_and_opening_changes_nothing(kind: str, epochs: list, small: bool) -> None:
    """`small`: derived state is in a checkpoint, spans are folded, and rows that are gone leave tables."""
    with (
        tempfile.TemporaryDirectory() as home,
        mock.patch.object(checkpoints, "WORTH", -1 if small else 9e9),
        mock.patch.object(checkpoints, "MOST", 1000),
        mock.patch.object(folding, "MANY", 2 if small else folding.MANY),
        mock.patch.object(folding, "_LOOSE_BYTES", 2 if small else folding._LOOSE_BYTES),
        mock.patch.object(thresholds, "GHOSTS", 0 if small else 4096),
        program(kind).session() as plain,
    ):
        plain.start()
        path, known = Path(home) / "0", {}
        kept = program(kind).session(state=path, durability="interval" if small else "commit")
        for step, (changes, end) in enumerate(epochs):
            told = commit(plain, step, changes)
            assert commit(kept, step, changes) == told
            known[kept.epoch] = told, held(plain)
            if small:
                image(kept, step)
                if step % 3 == 1:
                    durable_of(kept)._folder.fold_if_due()
            if end:
                if end == "crashed":
                    path = killed(kept, path, Path(home) / f"{step + 1}")
                kept.close()
                kept = program(kind).session(state=path)
                if step % 2:
                    assert held(kept) == held(plain)
        for epoch, (told, then) in list(known.items())[-2:]:
            with kept.at(epoch) as past:
                assert held(past) == then
            changed = kept.changes_of(epoch)
            assert {name: sorted(map(repr, changed.rows(name))) for name in changed} == told
        kept.close()


SHORT = """
import window
input stream S({columns})
input relation R(x: u32, time: u64)
input relation Now(time: u64)
{more}
output multiset Recent[S]
output stream Late[S]
apply window::range_late(S, |s| s.time, Now, {range}, 1) -> (Recent, Late)
"""
COLUMNS = "x: u32, time: u64"
OF_R = "output relation OfR[R]\napply window::range(R, |r| r.time, Now, 5) -> (OfR)"


def short(range: int = 10, more: str = "", columns: str = COLUMNS) -> ddlog.Program:
    return ddlog.compile(SHORT.format(range=range, more=more, columns=columns))


def times(session: Session, name: str) -> list[int]:
    return sorted(row.time for row, _ in session[name].weighted())


def change_programs(opened: Callable[..., Session], described: Callable[[], Iterable[str]]) -> None:
    """Opens a state with other and other programs, whose windows go on. `described` lists its relations."""
    with opened(short()) as session:
        for time in (10, 13, 19):
            session.insert("S", (1, time))
            session.insert("R", (1, time))
            session.insert("Now", (time,))
            session.commit()
    with opened(short(more="\n// another place in the text\n" + OF_R)) as session:
        assert times(session, "Recent") == [10, 13, 19]
        assert times(session, "OfR") == times(session, "R") == [19]  # which nothing else reads
        session.insert("S", (2, 16), (2, 18))
        assert session.commit().rows("Late") == [((2, 16), 1)]
    with opened(short(6), read_only=True) as session:
        assert times(session, "Recent") == [13, 18, 19] and times(session, "R") == [19]
    with opened(short(6)) as session:
        session.clear("Now")
        session.commit()
    fails = "output relation F(x: u64)\nF(100 / ((x - 1) as u64)) :- Recent(x, _).\n"
    with opened(short(20, fails)) as session:
        for _ in range(2):
            with pytest.raises(DDlogError, match="division by zero"):
                session.start()
    with opened(short(20)) as session:
        assert times(session, "Recent") == [13, 18, 19]  # what has left does not come back
        session.insert("S", (3, 17))
        assert session.commit().rows("Late") == [((3, 17), 1)]  # the clock stays
    listed = "\n".join(described())
    assert "window multiset Recent$window(x: bit<32>, time: bit<64>, $time: bit<64>)  3 rows" in listed
    assert "window relation Now$clock($time: bit<64>)  1 row" in listed
    changed = short(20, columns="y: string, time: u64, x: u64")
    with pytest.raises(DDlogError, match=r"window multiset Recent\$window"):
        opened(changed)
    with opened(changed, migrate={"S.y": "new"}) as session:
        rows = [row for row, _ in session["Recent"].weighted()]
        assert sorted((row.time, row.x) for row in rows) == [(13, 1), (18, 2), (19, 1)]


def test_a_program_that_changes_goes_on_with_its_windows(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    change_programs(partial(ddlog.Program.session, state=path), partial(reports.described, path))


def test_a_killed_session_goes_on_from_a_checkpoint_with_what_its_windows_hold(tmp_path: Path) -> None:
    more = OF_R + "\noutput relation Pair(x: u32, y: u32)\nPair(x, y) :- OfR(x, _), OfR(y, _)."
    with mock.patch.object(checkpoints, "WORTH", -1), short(more=more).session() as plain:
        session = short(more=more).session(state=tmp_path / "0")
        for time in range(10, 40):
            for each in (plain, session):
                each.insert("S", (time, time), (time, time - 3))
                each.insert("R", (time, time - time % 4))
                each.insert("Now", (time,))
                each.commit()
            if time == 20:
                upkeep = durable_of(session).upkeep
                assert upkeep is not None
                upkeep.take(durable_of(session).epoch)
                upkeep.write_waiting()
        path = killed(session, tmp_path / "0", tmp_path / "1")
        session.close()
        with short(more=more).session(state=path) as session:
            assert held(session) == held(plain)
            begun = durable_of(session).begun_with
            assert begun is not None and begun.epoch == 12 < durable_of(session).epoch
            told = []
            for each in (plain, session):
                each.insert("S", (1, 30), (1, 37), (1, 39))
                each.insert("Now", (41,))
                each.clear("R")
                changes = each.commit()
                told.append({name: changes.rows(name) for name in changes})
            assert told[0] == told[1] and told[0]["Late"] == [((1, 30), 1), ((1, 37), 1)]
            assert held(session) == held(plain)


FORGETTING = """
import window
input relation R(x: u64, time: u64)
output relation Recent[R]
relation Now[u64]
apply window::clock(R, |r| r.time) -> (Now)
apply window::range(R, |r| r.time, Now, 9) -> (Recent)
"""


def test_the_file_does_not_grow_with_what_windows_let_go(tmp_path: Path) -> None:
    path, sizes = tmp_path / "s", []
    for rounds in range(3):
        with ddlog.compile(FORGETTING).session(state=path) as session:
            for time in range(40 * rounds, 40 * rounds + 40):
                session.insert("R", *((x, time) for x in range(200)))
                session.commit()
            assert session.size("R") == session.size("Recent") == 2000
        list(reports.compacted(str(path)))
        sizes.append(path.stat().st_size)
    assert sizes[2] < 1.2 * sizes[0]
