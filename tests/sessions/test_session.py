"""Sessions: transactions, keys, multisets, views, errors. On the runtime, on the oracle and over the wire."""

from __future__ import annotations

import io
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import Changes, DDlogError, Session
from ddlog.commands.interpreter import Interpreter
from ddlog.commands.reader import CommandReader

from ..engine.smallprogram import TEXT
from ..engine.smallprogram import session as open_session
from ..state.kills import forked, wait_for
from ..trying import trying

PATHS = """
input relation Edge(a: u32, b: u32)
output relation Path(a: u32, b: u32)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
"""


@pytest.fixture(params=["inprocess", "reference", "remote"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    if request.param == "remote":
        pytest.importorskip("uvicorn")
        from ..serve.conftest import connected

        with connected(TEXT) as opened:
            yield opened
        return
    with open_session(request.param) as opened:
        yield opened


def edges(session: Session) -> list[tuple[int, int]]:
    return [tuple(edge) for edge in session["Edge"]]


def test_a_commit_gives_the_exact_changes(session: Session) -> None:
    session.insert("Edge", (1, 2), (2, 3))
    changes = session.commit()
    assert changes == {"Two": [((1, 3), 1)]}
    assert str(changes) == "Two:\nTwo{.a = 1, .c = 3}: +1"
    session.insert("Edge", (2, 4))
    session.delete("Edge", (2, 3))
    assert session.commit()["Two"] == [((1, 3), -1), ((1, 4), 1)]
    assert not session.commit()


def test_duplicates_and_absent_rows_mean_nothing(session: Session) -> None:
    session.insert("Edge", (1, 2), (1, 2))
    session.commit()
    session.insert("Edge", (1, 2))
    session.delete("Edge", (9, 9))
    session.commit()
    session.delete("Edge", (1, 2))
    session.insert("Edge", (5, 5))
    session.delete("Edge", (5, 5))
    session.insert("Edge", (6, 6))
    session.commit()
    assert edges(session) == [(6, 6)]


def test_rollback_forgets(session: Session) -> None:
    session.insert("Edge", (1, 2))
    assert session.in_transaction
    session.rollback()
    assert not session.in_transaction
    assert not session.commit() and edges(session) == []


def test_reading_shows_the_last_commit(session: Session) -> None:
    session.insert("Edge", (1, 2))
    assert (1, 2) not in session["Edge"] and len(session["Edge"]) == 0
    session.commit()
    assert (1, 2) in session["Edge"] and session.size("Edge") == 1
    assert "x" not in session["Edge"]


def test_clear_removes_all_with_what_came_before(session: Session) -> None:
    session.insert("Edge", (1, 2), (3, 4))
    session.commit()
    session.insert("Edge", (5, 6))
    session.clear("Edge")
    session.insert("Edge", (3, 4), (7, 8))
    session.commit()
    assert edges(session) == [(3, 4), (7, 8)]


def test_clear_of_a_relation_without_columns() -> None:
    with ddlog.compile("input relation Flag()\noutput relation Up()\nUp() :- Flag().").session() as session:
        session.insert("Flag", ())
        session.commit()
        session.clear("Flag")
        assert session.commit().rows("Up") == [((), -1)] and not len(session["Flag"])


def test_rows_may_have_many_forms(session: Session) -> None:
    @dataclass
    class Link:
        b: int
        a: int

    session.insert("Edge", (1, 2), {"b": 3, "a": 2}, Link(b=4, a=3), [4, 5])
    session.insert("Bag", "plain", ("tuple",), {"word": "mapping"})
    session.insert("Pairs", (1, 2))
    session.commit()
    session.insert("Edge", *[(edge.a + 10, edge.b + 10) for edge in session["Edge"]])
    session.commit()
    assert edges(session)[:4] == [(1, 2), (2, 3), (3, 4), (4, 5)] and len(edges(session)) == 8
    assert list(session["Pairs"]) == [(1, 2)]
    assert [each.word for each in session["Bag"]] == ["mapping", "plain", "tuple"]


@pytest.mark.parametrize(
    ("relation", "row", "message"),
    [
        ("Edge", (1,), "a row of Edge has 2 values (a, b), found 1"),
        ("Edge", (1, "x"), "Edge.b: expected signed<32>, found 'x'"),
        ("Edge", (1, 2**40), "Edge.b: 1099511627776 is out of the range of signed<32>"),
        ("Edge", {"a": 1}, "a row of Edge lacks the column 'b'"),
        ("Edge", {"a": 1, "b": 2, "c": 3}, "a row of Edge has no column 'c'"),
        ("Edge", 7, "7 is not a row of Edge"),
        ("Edge", [(1, 2), (2, 3)], "a list of rows is not a row of Edge"),
        ("Edge", pa.table({"a": [1], "b": [2]}), "a table (Table) is not a row of Edge"),
        ("Egde", (1, 2), "there is no relation Egde\n  help: did you mean `Edge`?"),
        ("Two", (1, 2), "Two is not an input relation"),
    ],
)
def test_bad_rows_are_refused_and_nothing_is_applied(
    session: Session, relation: str, row: Any, message: str
) -> None:
    with pytest.raises(DDlogError) as caught:
        session.insert(relation, *([(8, 8)] if relation == "Edge" else []), row)
    assert message in str(caught.value)
    session.commit()
    assert edges(session) == []


def test_primary_keys(session: Session) -> None:
    session.insert("Host", (1, "a"), (2, "b"))
    session.commit()
    for act, message in (
        (lambda: session.insert("Host", (3, "c"), (1, "z")), "Host already has a row with the key 1"),
        (
            lambda: session.delete("Host", (1, "z")),
            "the row of Host with the key 1 differs from the row to delete",
        ),
        (lambda: session.delete("Host", (9, "z")), "Host has no row with the key 9"),
        (lambda: session.delete_key("Host", 2, 9), "Host has no row with the key 9"),
        (lambda: session.modify("Host", 9, {"name": "q"}), "Host has no row with the key 9"),
        (lambda: session.modify("Host", 1, {"id": 2}), "Host already has a row with the key 2"),
        (lambda: session.upsert("Edge", (1, 2)), "Edge has no primary key"),
        (lambda: session.delete_key("Host", "x"), "the primary key of Host: expected signed<32>"),
    ):
        with pytest.raises(DDlogError) as caught:
            act()
        assert message in str(caught.value)
    session.commit()
    assert [tuple(host) for host in session["Host"]] == [(1, "a"), (2, "b")]
    session.upsert("Host", (1, "A"), (3, "c"))
    session.delete_key("Host", 2)
    session.modify("Host", 3, {"name": "C"})
    session.insert("Host", (2, "new"))
    session.commit()
    assert [tuple(host) for host in session["Host"]] == [(1, "A"), (2, "new"), (3, "C")]
    session.delete("Host", (1, "A"))
    session.rollback()
    session.delete("Host", (1, "A"))
    session.commit()
    session.clear("Host")
    session.insert("Host", (3, "again"))
    session.commit()
    assert [tuple(host) for host in session["Host"]] == [(3, "again")]


def test_multisets_count(session: Session) -> None:
    session.insert("Bag", "a", "a", "b")
    assert session.commit()["Words"] == [(("a",), 2), (("b",), 1)]
    assert list(session["Words"].records()) == ['Words{.word = "a"} +2', 'Words{.word = "b"}']
    session.delete("Bag", "a", "b", "b", "c")
    assert session.commit()["Words"] == [(("a",), -1), (("b",), -1)]
    assert list(session["Bag"].weighted()) == [(("a",), 1)]
    session.insert("Bag", "a")
    session.clear("Bag")
    assert session.commit()["Words"] == [(("a",), -1)]


def test_tables_of_multisets_count_with_rows(session: Session) -> None:
    session.insert_table("Bag", {"word": ["a", "a", "b"]})
    session.commit()
    session.insert_table("Bag", {"word": ["a", "c"]})
    session.delete("Bag", "a", "a", "c", "c", "d")
    with pytest.raises(DDlogError):
        session.delete("Bag", "b", 5)
    session.insert_table("Bag", {"word": ["e"]})
    assert session.commit()["Words"] == [(("a",), -1), (("e",), 1)]
    session.delete_table("Bag", {"word": ["a", "a", "e"]})
    session.insert_table("Bag", {"word": ["f", "f"]})
    assert session.commit()["Words"] == [(("a",), -1), (("e",), -1), (("f",), 2)]
    session.insert_table("Bag", {"word": ["g"]})
    session.rollback()
    session.insert_table("Bag", {"word": ["g"]})
    session.clear("Bag")
    session.insert_table("Bag", {"word": ["h"]})
    assert session.commit()["Words"] == [(("b",), -1), (("f",), -2), (("h",), 1)]


def test_subscribers_hear_changes(session: Session) -> None:
    heard: list[Any] = []
    stop = session.subscribe("Two", heard.append)
    session.insert("Edge", (1, 2), (2, 3))
    session.commit()
    session.insert("Host", (1, "a"))
    session.commit()
    stop()
    session.delete("Edge", (1, 2))
    session.commit()
    assert heard == [[((1, 3), 1)]]
    with pytest.raises(DDlogError, match="Edge is not an output relation"):
        session.subscribe("Edge", print)


def test_tables(session: Session) -> None:
    session.insert("Host", (1, "a"), (2, "b"))
    session.commit()
    view = session["Host"]
    assert view.to_arrow().to_pydict() == {"id": [1, 2], "name": ["a", "b"]}
    assert view.to_pandas()["name"].tolist() == ["a", "b"]
    assert view.to_polars()["id"].to_list() == [1, 2]
    assert repr(view) == "<Host: 2 rows>"


def test_program_facts_are_there_from_the_start(session: Session) -> None:
    assert [tuple(row) for row in session["Fixed"]] == [(7,)]


def test_a_closed_session_refuses(session: Session) -> None:
    session.close()
    with pytest.raises(DDlogError, match="closed"):
        session.insert("Edge", (1, 2))


def test_loading_a_directory(session: Session, tmp_path: Path) -> None:
    (tmp_path / "Edge.facts").write_text("1\t2\n2\t3\n1\t2\n")
    (tmp_path / "Host.csv").write_text('id,name\n3,"x, y"\n3,"x, y"\n')
    (tmp_path / "Bag.jsonl").write_text('"a"\n"a"\n')
    notes: list[str] = []
    changes = session.load(tmp_path, note=notes.append)
    assert changes["Two"] == [((1, 3), 1)] and changes["Words"] == [(("a",), 2)]
    assert changes["Named"] == [((3, "x, y"), 1)]
    assert notes == ["no file for the input relation Pairs: it is empty"]
    assert session.size("Fixed") == 1


def test_a_faulty_directory_changes_nothing(session: Session, tmp_path: Path) -> None:
    (tmp_path / "Edge.facts").write_text("1\t2\n")
    (tmp_path / "Host.csv").write_text("1,a\n1,b\n")
    with pytest.raises(DDlogError, match="already has a row with the key 1"):
        session.load(tmp_path)
    session.commit()
    assert edges(session) == [] and not session.in_transaction


def test_a_static_session_takes_no_changes(session: Session, tmp_path: Path) -> None:
    session.load(tmp_path, static=True)
    with pytest.raises(DDlogError, match="static"):
        session.insert("Edge", (1, 2))


# ------------------------------------------------------------ commands on sessions


def interpret(session: Session, text: str) -> str:
    out = io.StringIO()
    show = lambda line: print(line, file=out)  # noqa: E731

    def changed(changes: Changes, asked: bool) -> None:
        for line in changes.lines() if asked else ():
            show(line)

    interpreter = Interpreter(session, show, changed, ["Named", "Two"])
    reader = CommandReader(session.program.relations, session.typedefs, "t.dat")
    reader.feed(text)
    interpreter.run(reader.commands(final=True))
    return out.getvalue()


def test_commands_drive_a_session(session: Session) -> None:
    text = """
    start; insert Edge(1, 2), insert Edge(2, 3); insert Host(3, "x"), commit dump_changes;
    echo dumps; dump; dump Host;
    start; delete Edge(2, 3); rollback;
    start; modify Host 3 <- Host{.name = "y"}; commit dump_changes; exit; echo never;
    """
    assert interpret(session, text) == (
        'Named:\nNamed{.b = 3, .name = "x"}: +1\nTwo:\nTwo{.a = 1, .c = 3}: +1\ndumps\n'
        'Named:\nNamed{.b = 3, .name = "x"}\n\nTwo:\nTwo{.a = 1, .c = 3}\n\nHost{.id = 3, .name = "x"}\n'
        'Named:\nNamed{.b = 3, .name = "x"}: -1\nNamed{.b = 3, .name = "y"}: +1\n'
    )


@pytest.mark.filterwarnings("ignore::ddlog.DDlogWarning")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("commit;", "t.dat:1:1: `commit` outside a transaction"),
        ("insert Edge(1, 2);", "t.dat:1:1: `insert` outside a transaction"),
        ("start; start;", "t.dat:1:8: `start` inside a transaction"),
        ("start; clear Two;", "t.dat:1:8: Two is not an input relation"),
        (
            'start;\ninsert Host(1, "a"),\n insert Host(1, "b");',
            "t.dat:3:2: Host already has a row with the key 1",
        ),
    ],
)
def test_commands_in_the_wrong_place(session: Session, text: str, message: str) -> None:
    with pytest.raises(DDlogError) as caught:
        interpret(session, text)
    assert message in str(caught.value)


def test_an_error_takes_back_its_batch_only(session: Session) -> None:
    interpreter = Interpreter(session, print, lambda changes, asked: None, [])
    reader = CommandReader(session.program.relations, session.typedefs, "t.dat")
    reader.feed('start; insert Host(1, "a"); insert Host(2, "b"), insert Host(1, "c"); commit;')
    commands = reader.commands(final=True)
    with pytest.raises(DDlogError):
        interpreter.run(commands)
    interpreter.run(reader.commands(final=True))
    assert [tuple(host) for host in session["Host"]] == [(1, "a")]


def test_a_session_that_ends_with_changes_warns() -> None:
    program = ddlog.compile("input relation R(x: u32)")
    with pytest.warns(ddlog.DDlogWarning, match="changes that were not committed") as told:
        session = program.session()
        session.insert("R", (1,))
        session.close()
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with program.session() as session:
            session.insert("R", (1,))
            session.rollback()
        with pytest.raises(KeyError), program.session() as session:
            session.insert("R", (1,))
            raise KeyError


@pytest.mark.parametrize(
    ("query", "better"),
    [
        ("Sale(i, p), var s = p.group_by(()).sum()", "Sale(i, p), var s = (i, p).group_by(()).sum_second()"),
        (
            "Sale(_, p), var s = p.group_by(()).sum()",
            "Sale(id, p), var s = (id, p).group_by(()).sum_second()",
        ),
        (
            "Sale(.price = p), var s = p.group_by(()).sum()",
            "Sale(.price = p, .id = id), var s = (id, p).group_by(()).sum_second()",
        ),
    ],
)
def test_a_query_that_merges_equal_values_warns(query: str, better: str) -> None:
    with ddlog.compile("input relation Sale(id: u32, price: double)").session() as session:
        session.insert("Sale", (1, 1.5), (2, 1.5))
        session.commit()
        with pytest.warns(ddlog.DDlogWarning, match="`sum` adds equal values once") as told:
            assert session.query(query).rows[0][-1] == 1.5
        assert better in str(told[0].message)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert session.query(better).rows[0][-1] == 3.0
            assert session.query(f"#[distinct] {query}").rows[0][-1] == 1.5


# ------------------------------------------------------------ any transaction at all

OPERATION = st.tuples(
    st.sampled_from(["insert", "delete", "clear", "commit", "rollback"]),
    st.sampled_from(["Edge", "Bag", "Host"]),
    st.integers(0, 2),
    st.integers(0, 2),
)


@trying(20)
@given(st.lists(OPERATION, max_size=25))
def test_any_transactions_give_what_a_model_says(operations: list[tuple[str, str, int, int]]) -> None:
    with open_session("inprocess") as one, open_session("reference") as other:
        model: dict[str, Counter[Any]] = {"Edge": Counter(), "Bag": Counter(), "Host": Counter()}
        pending = {name: Counter(rows) for name, rows in model.items()}
        for action, name, a, b in [*operations, ("commit", "Edge", 0, 0)]:
            row: Any = {"Edge": (a, b), "Bag": (f"w{a}",), "Host": (a, f"n{b}")}[name]
            if action == "commit":
                assert one.commit() == other.commit()
                model = {each: +Counter(rows) for each, rows in pending.items()}
                for each, rows in model.items():
                    got = Counter({tuple(record): weight for record, weight in one[each].weighted()})
                    assert got == rows
                continue
            if action == "rollback":
                pending = {each: Counter(rows) for each, rows in model.items()}
                one.rollback()
                other.rollback()
                continue
            refused = _apply_to_model(pending[name], name, action, row)
            for session in (one, other):
                arguments = (name,) if action == "clear" else (name, row)
                if refused:
                    with pytest.raises(DDlogError):
                        getattr(session, action)(*arguments)
                else:
                    getattr(session, action)(*arguments)


def test_threads_that_share_a_session_wait_for_each_other() -> None:
    session, interval = ddlog.compile(PATHS).session(), sys.getswitchinterval()
    failed: list[Exception] = []

    def use(first: int) -> None:
        try:
            for at in range(first, first + 12):
                session.insert("Edge", (at, at + 1))
                session.commit()
                _ = session.query("Path(x, y), Path(y, z), x > 3").rows
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=use, args=(first,)) for first in (0, 100, 200, 300)]
    sys.setswitchinterval(1e-5)
    try:
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failed and len(session["Edge"]) == 48


def test_what_a_thread_asks_during_a_commit_waits_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    session = ddlog.compile(f"{PATHS}index ByX(x: u32) on Path(x, _)").session()
    by_x = session.index("ByX")
    wait_for(forked(lambda: session.close()))  # one that nobody uses is the other process's, too
    commit, is_inside, goes_on = session.state.host.runtime.commit, threading.Event(), threading.Event()

    def slow(*given: Any, **more: Any) -> Any:
        is_inside.set()
        assert goes_on.wait(10)
        return commit(*given, **more)

    session.insert("Edge", (1, 2), (2, 3))
    session.start()
    monkeypatch.setattr(session.state.host.runtime, "commit", slow)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(session.commit)
        assert is_inside.wait(10)
        asked = [
            pool.submit(session.size, "Path"),
            pool.submit(lambda: len(session.mark())),
            pool.submit(lambda: len(str(session.why("Path", (1, 3)))) > 9),
            pool.submit(
                lambda: len(session.extend("output relation Far(x: u32)\nFar(x) :- Path(1, x).")["Far"])
            ),
        ]
        assert not wait([first, *asked], 0.1).done
        wait_for(forked(lambda: _is_left_to_parent(session, by_x)))
        goes_on.set()
        assert [each.result(10) for each in asked] == [3, 0, True, 2]


def _is_left_to_parent(session: Session, index: Any) -> None:
    """A process that was forked while another thread was at work in a session cannot use it, or an index."""
    for use in (session.commit, session.mark, lambda: session.size("Path"), lambda: index[1]):
        with pytest.raises(DDlogError, match="the session is held by the process"):
            use()
    session.close()


def test_who_closes_what_another_thread_closes_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    session, is_inside, goes_on = ddlog.compile(PATHS).session(), threading.Event(), threading.Event()

    def slow() -> None:
        is_inside.set()
        assert goes_on.wait(10)

    monkeypatch.setattr(session.state.host.runtime, "close", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(session.close)
        assert is_inside.wait(10)
        assert not wait([first, pool.submit(session.close)], 0.1).done
        goes_on.set()


def test_subscribers_hear_of_epochs_in_their_order() -> None:
    session, heard, hears = ddlog.compile(PATHS).session(), list[int](), threading.Event()

    def receive(rows: list[tuple[Any, int]]) -> None:
        hears.set()
        time.sleep(0 if heard else 0.1)
        heard.append(len(rows))

    session.subscribe("Path", receive)
    session.insert("Edge", (1, 2))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(session.commit)
        assert hears.wait(10)
        session.insert("Edge", (2, 3))
        session.commit()
        first.result(10)
    assert heard == [1, 2]


def _apply_to_model(rows: Counter[Any], name: str, action: str, row: Any) -> bool:
    """Whether the change is refused; otherwise makes it."""
    if action == "clear":
        rows.clear()
        return False
    present = rows[row] > 0
    if name == "Host" and action == "insert" and any(other[0] == row[0] and n for other, n in rows.items()):
        return True
    if name == "Host" and action == "delete" and not present:
        return True
    if name == "Bag":
        rows[row] = max(0, rows[row] + (1 if action == "insert" else -1))
    else:
        rows[row] = 1 if action == "insert" else 0
    return False
