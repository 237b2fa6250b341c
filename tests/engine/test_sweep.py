"""Interned values that no row uses are given back. Random programs and the corpus do so after each commit."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import numpy as np
import pytest

import ddlog
from ddlog.engine.inprocess.runtime import InProcess
from ddlog.engine.inprocess.storage import sweep
from ddlog.engine.inprocess.storage.interner import Interner
from ddlog.sessions.hosts.inprocess import InProcessHost
from ddlog.sessions.results.records import RecordRuntime
from ddlog.sessions.session import Session

STREAMING = """
typedef Kind = Word{text: string} | Line{words: Vec<string>}
input relation Seen(id: bigint, text: string)
input multiset Bag(text: string)
input stream Now(text: string)
output relation Long(text: string)
Long(text ++ "!") :- Seen(_, text), string_len(text) > 2.
output relation Count(text: string, n: bigint)
Count(text, n) :- Seen(id, text), var n = id.group_by(text).count_distinct() as bigint.
output relation Both(a: string, b: string)
Both(a, b) :- Seen(k, a), Seen(k, b), a != b.
output relation Reach(a: string, b: string)
Reach(a, b) :- Both(a, b).
Reach(a, c) :- Reach(a, b), Both(b, c).
output relation Words(k: Kind, t: string)
Words(k, t) :- Fig[k], Word{t} = k.
relation Fig[Kind]
Fig[Word{text}] :- Seen(_, text).
Fig[Line{[text]}] :- Seen(_, text).
output relation Big(id: bigint)
Big(id * 4611686018427387904) :- Seen(id, _).
output stream Twice(text: string)
Twice(t) :- Bag(t), Now(t).
"""


def inside(session: Session) -> InProcess:
    """The runtime of a session."""
    host = session.state.host
    assert isinstance(host, InProcessHost)
    runtime = host.runtime.inner if isinstance(host.runtime, RecordRuntime) else host.runtime
    assert isinstance(runtime, InProcess)
    return runtime


def ids(session: Session) -> int:
    """The ids that the session's domains have given out, free or not."""
    return sum(len(each.values) for _, each in inside(session).values.domains())


def rows(session: Session) -> int:
    """The rows of all tables and indexes, present or not."""
    state = inside(session)._state
    stores = state.relations()
    indexed = sum(index.keys.size + len(index._slab) for s in stores for index in s.indexes.values())
    return indexed + sum(s.table.size for s in stores) + sum(g.keys.size for g in state.groups.values())


def change(session: Session, at: int, count: int, sign: int) -> None:
    """Inserts or deletes `count` texts that no other `at` has, in every input."""
    act = session.insert_rows if sign > 0 else session.delete_rows
    texts = [f"text {at} {k}" for k in range(count)]
    act("Seen", [(at * count + k // 2, text) for k, text in enumerate(texts)])
    act("Bag", [(text,) for text in texts])
    if sign > 0:
        session.insert_rows("Now", [(text,) for text in texts])


def test_a_session_that_texts_stream_through_stays_small() -> None:
    with ddlog.compile(STREAMING).session() as session:
        change(session, -1, 10, 1)
        session.commit()
        held: list[tuple[int, int]] = []
        for at in range(60):
            if at:
                change(session, at - 1, 500, -1)
            change(session, at, 500, 1)
            session.commit()
            held.append((ids(session), rows(session)))
        half = len(held) // 2
        for measure in (0, 1):
            assert max(each[measure] for each in held[half:]) <= 1.2 * max(
                each[measure] for each in held[:half]
            )
        change(session, 59, 500, -1)
        session.commit()
        session.commit()
        session.tidy()
        assert ids(session) < 150
        assert {text for (text,) in session["Bag"].tuples()} == {f"text -1 {k}" for k in range(10)}


@pytest.fixture
def always() -> Iterator[None]:
    """A sweep after every commit."""
    with mock.patch.object(sweep, "is_due", lambda _: True):
        yield


PASSING = """
input relation Text(t: string)
output relation Shown(t: string, b: bigint)
Shown(t, 1 << string_len(t) as bit<32>) :- Text(t).
output relation Before(t: string)
Before(t) :- Text-2(t).
"""


def replaced(session: Session, old: str, new: str) -> ddlog.Changes:
    """Commits the deletion of a text and the insertion of another."""
    if old:
        session.delete("Text", old)
    session.insert("Text", new)
    return session.commit()


@pytest.mark.usefixtures("always")
def test_what_somebody_holds_is_not_forgotten() -> None:
    wide = "x" * 70
    with ddlog.compile(PASSING).session() as session:
        replaced(session, "", f"{wide}0")
        view, changes, answer = session["Text"], replaced(session, f"{wide}0", f"{wide}1"), None
        answer = session.query("Shown(t, b)")
        mark = session["Shown"]
        for k in range(1, 6):
            shown = replaced(session, f"{wide}{k}", f"{wide}{k + 1}")
            assert dict(shown.rows("Before")) == ({(f"{wide}{k - 2}",): -1} if k > 1 else {}) | {
                (f"{wide}{k - 1}",): 1
            }
        assert list(view.tuples()) == [(f"{wide}0",)]
        assert changes.rows("Shown") == [((f"{wide}0", 1 << 71), -1), ((f"{wide}1", 1 << 71), 1)]
        assert answer.rows == [(f"{wide}1", 1 << 71)] == list(mark.tuples())
        session.insert_table("Text", {"t": ["pending 1", "pending 2"]})
        inside(session).commit({"Text": [(inside(session).batch("Text", [(f"{wide}9",)]), 1)]})
        session.commit()
        assert set(session["Text"].tuples()) == {
            ("pending 1",), ("pending 2",), (f"{wide}6",), (f"{wide}9",)
        }  # fmt: skip
        del view, changes, answer, mark, shown
        session.commit()
        session.commit()
        session.commit()
        assert ids(session) < 12


@pytest.mark.usefixtures("always")
def test_an_epoch_that_fails_forgets_nothing_that_is_there() -> None:
    text = PASSING + "output relation Fault(n: bigint)\nFault(10 / (string_len(t) as bigint)) :- Text(t).\n"
    with ddlog.compile(text).session() as session:
        for k in range(1, 5):
            session.insert("Text", "a" * k)
            session.commit()
            session.delete("Text", "a" * k)
            session.insert("Text", "")
            with pytest.raises(ddlog.DDlogError):
                session.commit()
            assert set(session["Text"].tuples()) == {("a" * i,) for i in range(1, k + 1)}
            assert {t for t, _ in session["Shown"].tuples()} == {"a" * i for i in range(1, k + 1)}


LATER = """
typedef Line = Line{words: Vec<string>}
input relation Text(text: string)
input relation Asked()
relation Lines(line: Line)
Lines(Line{[t, t ++ "!"]}) :- Text(t).
output relation Found(line: Line)
Found(line) :- Lines(line), Asked().
"""


def test_nothing_is_forgotten_while_an_epoch_that_will_be_taken_back_is_looked_at() -> None:
    with ddlog.compile(LATER).session() as session:
        session.insert_rows("Text", [("a",), ("b",)])
        session.commit()
        runtime = inside(session)
        other = runtime.beside(runtime.circuit)

        def look() -> None:
            for text in "cd":
                other.commit({"Text": [(other.batch("Text", [(text,)]), 1)]})
                other.tidy()

        runtime.attempt({"Text": [(runtime.batch("Text", [("a",), ("b",)]), -1)]}, look, None)
        session.insert("Asked", ())
        session.commit()
        assert {tuple(row.line.words) for row in session["Found"]} == {("a", "a!"), ("b", "b!")}


def test_ids_are_given_again_from_the_least() -> None:
    interner = Interner()
    assert [interner.id(text) for text in "abcde"] == [0, 1, 2, 3, 4]
    interner.keep(np.array([False, True, False, True, False]))
    assert len(interner.values) == 4
    assert [interner.id(text) for text in "bdxyz"] == [1, 3, 0, 2, 4]
    interner.keep(np.zeros(5, np.bool_))
    assert (interner.ids, interner.values, interner.free) == ({}, [], [])
