"""Windows against plain Python, what they keep, and what docs/windows.md shows."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import DDlogError
from ddlog.console.cli import main
from ddlog.engine import thresholds
from ddlog.sessions.profile import SessionProfile

from ..trying import trying

DOCUMENT = Path(__file__).parents[2] / "docs" / "windows.md"
TEXT = """
import window
input {kind} Event(id: u8, time: s64)
input relation Now(time: s64)
output multiset Plain[Event]
apply window::range(Event, |e| e.time * 2 - e.time, Now, 3) -> (Plain)
output multiset Recent[Event]
output stream Late[Event]
apply window::range_late(Event, |e| e.time, Now, 4, 1) -> (Recent, Late)
relation Driven[s64]
apply window::clock(Event, |e| e.time - 2) -> (Driven)
output multiset Own[Event]
apply window::range(Event, |e| e.time, Driven, 2) -> (Own)
"""
ROWS = st.tuples(st.integers(0, 2), st.integers(0, 12))
EPOCHS = st.lists(
    st.tuples(st.lists(st.tuples(ROWS, st.booleans()), max_size=6), st.none() | st.integers(0, 14)),
    max_size=7,
)
Row = tuple[int, int]


class Model:
    """Everything that was ever there, and the windows from scratch."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.all, self.on_time = Counter[Row](), Counter[Row]()
        self.clock, self.driven = -1000, -1000
        self.held = set[Row]()

    def anew(self, changes: list[tuple[Row, bool]]) -> dict[Row, int]:
        """The rows that the input knows nothing of: a deletion changes nothing before an insertion."""
        here = Counter[Row]()
        for row, come in changes:
            if row not in self.held:
                here[row] = max(0, here[row] + (1 if come else -1))
        return dict(here)

    def step(self, changes: list[tuple[Row, bool]], clock: int | None) -> dict[str, Counter[Row]]:
        before = self.all.copy()
        here = Counter[Row]()
        for row, come in changes:
            here[row] = int(come) if self.kind == "relation" else here[row] + (1 if come else -1)
        if self.kind == "relation":
            net = {row: come - before[row] for row, come in here.items()}
        else:
            net = dict(here)
        self.all.update(net)
        forgotten = {row: 1 for row, come in here.items() if come and row not in self.held}
        new = forgotten if self.kind == "relation" else net | self.anew(changes)
        late = {row: n for row, n in new.items() if n > 0 and row[1] < self.clock - 1}
        for row, n in net.items():
            if row not in late:
                self.on_time[row] = max(0, self.on_time[row] + n)
        self.clock = max(self.clock, self.clock if clock is None else clock)
        self.driven = max([self.driven, *(time - 2 for (_, time), n in net.items() if n > 0)])
        found = {
            "Plain": Counter({r: n for r, n in self.all.items() if n and r[1] >= self.clock - 3}),
            "Recent": Counter({r: n for r, n in self.on_time.items() if n and r[1] >= self.clock - 4}),
            "Own": Counter({r: n for r, n in self.all.items() if n and r[1] >= self.driven - 2}),
        }
        self.held = {row for rows in found.values() for row in rows}
        return found | {"Late": Counter(late)}


@pytest.mark.parametrize("kind", ["relation", "multiset", "stream"])
@trying(13)
@given(EPOCHS, st.booleans())
def test_windows_are_those_from_scratch(kind: str, epochs: list, few: bool) -> None:
    program, model = PROGRAMS[kind], Model(kind)
    least = 0 if few else 4096
    with (
        mock.patch.object(thresholds, "GHOSTS", least),
        program.session() as session,
    ):
        for changes, clock in epochs:
            legal = list[tuple[Row, bool]]()
            left = Counter[Row]() if kind == "stream" else model.all.copy()
            for row, come in changes:
                if come or (left[row] > 0 and kind != "stream"):
                    left[row] += 1 if come else -1
                    legal.append((row, come))
            for row, come in legal:
                (session.insert if come else session.delete)("Event", row)
            if clock is not None:
                session.clear("Now")
                session.insert("Now", (clock,))
            expected = model.step(legal, clock)
            changed = session.commit()
            late = Counter(dict(changed.rows("Late") if "Late" in list(changed) else []))
            assert late == expected.pop("Late")
            for name, rows in expected.items():
                assert contents(session, name) == rows, name


def contents(session: ddlog.Session, name: str) -> Counter[Row]:
    """The rows of a multiset as often as they are there."""
    return Counter({(row.id, row.time): n for row, n in session[name].weighted()})


PROGRAMS = {kind: ddlog.compile(TEXT.format(kind=kind)) for kind in ("relation", "multiset", "stream")}


def test_an_input_forgets_what_is_in_no_window() -> None:
    with PROGRAMS["relation"].session() as session:
        for time in range(0, 30000, 100):
            session.insert("Event", *((k % 256, time + k % 100) for k in range(1000)))
            session.insert("Now", (time,))
            session.commit()
        held = session.state.host.runtime.footprint()
        assert len(session["Event"]) < 2000
    assert held is not None
    assert sum(each.bytes for each in held) < 4_000_000


DERIVED = """
import window
input {kind} A(id: u8, time: s64)
input relation B(time: s64, id: u8)
input relation Now(time: s64)
{kind} Both(id: u8, time: s64)
Both(i, t) :- A(i, t), i != 2.
Both(i, t) :- B(t, i).
Both(0, 3).
output multiset Wide[Both]
apply window::range(Both, |e| e.time, Now, 4) -> (Wide)
output multiset Narrow[Both]
apply window::range(Both, |e| e.time + 1, Now, 2) -> (Narrow)
"""
KEEPING = (
    "output relation Kept(id: u8)\nKept(i) :- A(i, _).\nKept(i) :- Both(i, _), i > 5.\nKept(i) :- B(_, i)."
)
DERIVED_PROGRAMS = {
    (kind, keeps): ddlog.compile(DERIVED.format(kind=kind) + (KEEPING if keeps else ""))
    for kind in ("relation", "multiset")
    for keeps in (False, True)
}


@pytest.mark.parametrize("kind", ["relation", "multiset"])
@trying(13)
@given(st.lists(st.tuples(EPOCHS.map(lambda each: each[:1]), st.booleans(), st.booleans()), max_size=8))
def test_derived_relations_forget_with_their_inputs(kind: str, epochs: list) -> None:
    """Windows are those of a program in which nothing is forgotten."""
    some, every = (DERIVED_PROGRAMS[kind, keeps].session() for keeps in (False, True))
    with some, every:
        clock = -99
        for changes, of_both, given_up in epochs:
            for rows, now in changes:
                for row, come in rows:
                    relation, row = ("B", row[::-1]) if of_both and row[0] else ("A", row)
                    for session in (some, every):
                        (session.insert if come else session.delete)(relation, row)
                if now is not None:
                    for session in (some, every):
                        session.clear("Now")
                        session.insert("Now", (now,))
            if given_up:
                some.rollback()
                every.rollback()
                continue
            some.commit()
            every.commit()
            clock = max([clock, *(row.time for row in some["Now"])])
            for name in ("Wide", "Narrow"):
                assert contents(some, name) == contents(every, name)
            for name in ("A", "B", "Both"):
                assert all(row.time >= clock - 4 for row in some[name]), name


def test_a_commit_that_fails_brings_no_forgotten_row_back() -> None:
    text = """
    import window
    input relation E(id: u32, time: u64)
    input relation Now(time: u64)
    output relation R(id: u32, time: u64)
    apply window::range(E, |e| e.time / (e.id as u64), Now, 5) -> (R)
    """
    with ddlog.compile(text).session() as session:
        session.insert("E", (1, 1), (1, 9))
        session.insert("Now", (3,))
        session.commit()
        session.insert("Now", (10,))
        session.commit()
        session.insert("E", (0, 20))
        with pytest.raises(DDlogError, match="division by zero"):
            session.commit()
        assert list(session["E"]) == [(1, 9)]


def test_a_profile_names_what_delays_and_streams_keep() -> None:
    text = """
    import window
    input stream S(x: string)
    output relation Recent(x: string)
    apply window::last(S, 2) -> (Recent)
    output multiset All(x: string)
    apply window::all(S) -> (All)
    """
    with ddlog.compile(text).session() as session:
        session.insert("S", ("a",))
        session.commit()
        assert "Recent" in "\n".join(SessionProfile(session).lines())


def test_a_time_out_of_range_takes_the_commit_back() -> None:
    text = "import window\ninput relation E(t: u64)\ninput relation Now(t: u64)\noutput relation R[E]\n"
    program = ddlog.compile(text + "apply window::range(E, |e| e.t, Now, 5) -> (R)")
    with program.session() as session:
        session.insert("E", (1,))
        session.commit()
        session.insert("E", (2,), (2**63,))
        with pytest.raises(DDlogError, match="a time is out of range"):
            session.commit()
        session.rollback()
        session.insert("Now", (6,))
        session.commit()
        session.insert("Now", (7,))
        assert session.commit().rows("R") == [((1,), -1)]


def test_the_document_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.M | re.S)
    for _, file, text in blocks:
        if file:
            (tmp_path / file).write_text(text)
    ((_, _, shown),) = (block for block in blocks if block[0] == "console")
    command, _, output = shown.partition("\n")
    monkeypatch.chdir(tmp_path)
    assert main(command.removeprefix("$ ddlog ").split()) == 0
    assert capsys.readouterr().out == output
