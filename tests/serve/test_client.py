"""Sessions over the wire are sessions: each test on one in memory, too, as far as one client is concerned."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import ddlog
from ddlog import DDlogError, Session
from ddlog.console.cli import main
from ddlog.serve.calls import sent_program
from ddlog.serve.jsonforms import carried, received
from tests.serve.conftest import Serving, connected

PROGRAM = """
import sql
import time
typedef Kind = Server | Client{owner: string}
input relation Host(id: bit<16>, kind: Kind, tags: Set<string>, note: Option<string>) primary key (h) h.id
input relation Link(from: string, to: string)
input relation Flag()
input relation Due(day: time::Date, at: time::Time, price: sql::Decimal2)
output relation Days(day: time::Date)
Days(d) :- Due(.day = d).
input multiset Seen(what: string, weight: double)
output relation Owned(owner: string, ids: Vec<bit<16>>)
output relation Reach(from: string, to: string)
output relation Share(what: string, part: bigint)
output relation Up()
index ByFrom(from: string) on Reach(from, _)
Owned(o, g.to_vec()) :- Host(.id = i, .kind = Client{o}), var g = i.group_by(o).
Reach(x, y) :- Link(x, y).
Reach(x, z) :- Reach(x, y), Link(y, z).
Share(w, 100 / (w.len() as bigint)) :- Seen(w, _).
Up() :- Flag().
"""


@pytest.fixture(params=["local", "remote"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    """A session of the program with a state."""
    if request.param == "remote":
        with connected(PROGRAM, tmp_path / "state") as opened:
            yield opened
        return
    with ddlog.compile(PROGRAM).session(state=tmp_path / "state") as opened:
        yield opened


def told(act: Any) -> tuple[list[str], str]:
    """The classes of the errors that a call raises, and their text."""
    with pytest.raises(DDlogError) as caught:
        act()
    return [type(each).__name__ for each in caught.value.diagnostics], str(caught.value)


def test_rows_of_all_types(session: Session) -> None:
    session.insert("Host", (1, {"Client": {"owner": "o"}}, {"b", "a"}, "x"), (2, "Server", set(), None))
    session.insert("Seen", ("a", 1.5), ("a", 1.5), ("b", float("nan")))
    session.insert("Flag", ())
    changes = session.commit()
    assert changes.rows("Owned") == [(("o", (1,)), 1)] and changes.rows("Up") == [((), 1)]
    assert changes["Owned"][0][0].owner == "o" and changes["Owned"][0][0].ids == (1,)
    first, second = session["Host"]
    assert (first.kind.owner, list(first.tags), first.note) == ("o", ["a", "b"], "x")
    assert (repr(second.kind), second.note) == ("Server()", None)
    assert [(each.what, weight) for each, weight in session["Seen"].weighted()] == [("a", 2), ("b", 1)]
    assert session["Host"].to_arrow().column("note").to_pylist() == ["x", None]
    assert len(session["Up"]) == 1 and () in session["Flag"] and session.size("Host") == 2


def test_values_that_are_written_as_text(session: Session) -> None:
    day, at, price = date(2024, 2, 29), time(10, 11, 12), Decimal("1.50")
    session.insert("Due", (day, at, price))
    assert session.commit().rows("Days") == [((day,), 1)]
    assert list(session["Due"]) == [(day, at, price)]
    assert session.query("Due({day}, _, p)", day=day).rows == [(price,)]
    found = session.execute("SELECT price FROM Due WHERE day = ? AND price < ?", [day, Decimal(2)])
    assert found.rows is not None and found.rows.rows == [(price,)]
    sent = [day, at, price, datetime(2024, 2, 29, 1, 2, 3, 4), timedelta(days=-1, microseconds=5)]
    found = session.execute("SELECT ? AS a, ? AS b, ? + 1 AS c, ? AS d, ? AS e", sent)
    assert found.rows is not None and found.rows.rows == [(*sent[:2], price + 1, *sent[3:])]
    assert "cannot be a value of Python's type bytes" in told(lambda: session.execute("SELECT ?", [b""]))[1]


@pytest.mark.parametrize("name", ["expressions", "closures_in_values"])
def test_clients_get_the_program_that_the_server_has(name: str) -> None:
    """Also one with arrays that are maps, whose keys are computed."""
    path = Path(__file__).parents[1] / "programs" / "corpus" / f"{name}.dl"
    sent = carried(sent_program(ddlog.compile(path).checked))
    assert carried(received(sent)) == sent


def test_many_rows(session: Session) -> None:
    pairs = [("a", f"{number}") for number in range(3000)]
    session.insert_table("Link", {"from": [a for a, _ in pairs], "to": [b for _, b in pairs]})
    assert len(session.commit()["Reach"]) == 3000
    session.clear("Link")
    session.insert("Link", ("x", "y"))
    assert len(session.commit()["Reach"]) == 3001 and list(session["Link"]) == [("x", "y")]
    assert list(session.index("ByFrom")["x"]) == [("x", "y")] and not list(session.index("ByFrom")["a"])
    assert [tuple(each) for each in session.index("ByFrom").all()] == [("x", "y")]


def test_values_in_queries(session: Session) -> None:
    session.insert("Host", (1, {"Client": {"owner": "o"}}, {"b", "a"}, "x"), (2, "Server", set(), None))
    session.commit()
    assert session.query("Host({i}, _, _, n)", i=1).rows == [("x",)]
    assert session.query("Host(i, {k}, _, {note})", k={"Client": {"owner": "o"}}, note="x").rows == [(1,)]
    assert session.query("Host(i, _, {tags}, _)", tags={"a", "b"}).rows == [(1,)]
    assert session.query("Host(i, _, _, {text})", text=None).rows == [(2,)]


def test_questions(session: Session) -> None:
    session.insert("Link", ("a", "b"), ("b", "c"))
    session.commit()
    assert session.query('Reach("a", x)').rows == [("b",), ("c",)]
    assert session.query('Reach("a", "c")') and not session.query('Reach("c", "a")')
    assert "height 2" in str(session.why("Reach", ("a", "c"))) and len(session.why_all('Reach("a", x)')) == 1
    assert "height 2" in str(session.why("Reach({x}, {y})", values={"x": "a", "y": "c"}))
    ends = session.why_ends("Reach", ("a", "c"))
    assert ends.complete and [list(each) for each in ends] == [[("Link", ("a", "b"))], [("Link", ("b", "c"))]]
    missing = session.why_not('Reach("c", "a")')
    assert missing.insert == ((("Link", ("c", "a")),),) and "does not hold" in str(missing)
    change = session.why_change("Reach", ("a", "c"))
    assert change.came and change.facts and change.to_json()["kind"] == "change"
    session.delete("Link", ("b", "c"))
    session.commit()
    assert session.epoch == 3 and str(session.changes_of(3)).endswith('Reach{.from = "b", .to = "c"}: -1')
    with session.at(2) as past:
        assert past.query('Reach("a", x)').rows == [("b",), ("c",)]
    assert any("epoch" in each for each in session.described_state())


ERRORS = [
    "session.query('Rech(x, y)')",
    "session.query('Reach(x, ')",
    "session.query('Reach({a}, x)')",
    "session.query('Reach({a}, x)', a=1)",
    "session.query('Host({a}, _, _, _)', a=65536)",
    "session.insert('Seen', ('', 1.0)) or session.commit()",
    "session.insert('Seen', (7, 1.0))",
    "session.insert('Host', (1, 'Server', set(), None), (1, 'Server', set(), 'x'))",
    "session.delete_key('Host', 3)",
    "session.why('Reach', ('a', 'z'))",
    "session.why_not('Nowhere(1)')",
    "session.at(99)",
    "session.extend('output relation Bad(x: u32)\\nBad(x) :- Link(x, _).')",
    "session.drop('Link')",
    "session.execute('SELECT nothing FROM Link')",
    "session['Nothing']",
    "session['Link'].to_spark()",
    "session.insert_table('Link', {'from': ['a']})",
]


def test_errors_are_those_of_a_session_in_memory(tmp_path: Path) -> None:
    with (
        connected(PROGRAM, tmp_path / "remote") as remote,
        ddlog.compile(PROGRAM).session(state=tmp_path / "local") as local,
    ):
        for text in ERRORS:
            one = told(lambda text=text: eval(text, {"session": local}))
            other = told(lambda text=text: eval(text, {"session": remote}))
            assert other == one
            local.rollback()
            remote.rollback()


def test_statements_of_sql(session: Session) -> None:
    outcome = session.execute("INSERT INTO Link VALUES (?, 'b'), ('b', 'c') RETURNING *", ["a"])
    assert (outcome.count, outcome.rows and outcome.rows.rows) == (2, [("a", "b"), ("b", "c")])
    assert outcome.changes is not None and len(outcome.changes["Reach"]) == 3
    session.execute("BEGIN")
    session.execute("UPDATE Link SET \"to\" = 'd' WHERE \"from\" = 'b'")
    assert session.select("SELECT count(*) AS n FROM Reach WHERE \"to\" = 'd'").rows == [(2,)]
    session.execute("SAVEPOINT s")
    session.execute("DELETE FROM Link")
    session.execute("ROLLBACK TO s")
    ended = session.execute("COMMIT").changes
    assert ended is not None and sum(weight for _, weight in ended["Reach"]) == 0
    assert [tuple(each) for each in session["Link"]] == [("a", "b"), ("b", "d")]
    session.execute('CREATE VIEW Ends AS SELECT "to" FROM Link')
    assert [tuple(each) for each in session["ends"]] == [("b",), ("d",)]


def test_the_program_grows(session: Session) -> None:
    with ThreadPoolExecutor(2) as pool, session.state.lock:  # another thread changes the program
        asked = pool.submit(session.query, "Edge(a, b)"), pool.submit(session.changes_of, 1)
        assert not wait(asked, 0.1).done
    session.insert("Link", ("a", "a"))
    session.commit()
    changes = session.extend("output relation Loop(x: string)\nLoop(x) :- Reach(x, x).")
    assert changes.rows("Loop") == [(("a",), 1)] and "Loop(x) :-" in session.program.source.text
    assert [tuple(each) for each in session["Loop"]] == [("a",)]
    session.drop("Loop")
    assert "Loop" not in session.program.relations


def test_an_error_of_a_subscriber_is_raised_by_the_commit(session: Session) -> None:
    heard: list[Any] = []
    session.subscribe("Reach", heard.append)
    session.subscribe("Reach", lambda changes: changes[7])
    session.insert("Link", ("a", "b"))
    with pytest.raises(IndexError) as caught:
        session.commit()
    assert caught.value.committed and heard == [[(("a", "b"), 1)]]  # type: ignore[attr-defined]


# --------------------------------------------------------------------- several clients


def test_clients_that_change_the_same_rows(serving: Serving) -> None:
    served = serving(PROGRAM)
    row = (1, "Server", set(), "0")
    with ddlog.connect(served.address) as one, ddlog.connect(served.url, served.token) as other:
        one.insert("Host", row)
        one.commit()
        one.modify(
            "Host", 1, lambda row: (*row[:3], f"{row[3][1]}+")
        )  # an Option: its constructor, its value
        other.modify("Host", 1, {"tags": {"t"}})
        other.commit()
        one.commit()
        assert [(list(each.tags), each.note) for each in other["Host"]] == [(["t"], "0+")]
        one.insert("Host", (2, "Server", set(), None))
        other.insert("Host", (2, "Server", set(), "other"))
        other.insert_rows("Link", [("half", "of it")])
        one.commit()
        assert told(other.commit)[0] == ["KeyExists"] and not other.in_transaction
        other.insert("Seen", ("kept", 1.0))
        other.upsert("Host", (2, "Server", set(), "other"))
        one.modify("Host", 2, {"note": "one"})
        one.commit()
        other.commit()
        assert [each.what for each in one["Seen"]] == ["kept"] and one.size("Link") == 0
        view = other["Link"]
        other.insert("Link", ("a", "b"))
        one.extend("output relation Loop(x: string)\nLoop(x) :- Reach(x, x).")
        assert told(lambda: other.query("Loop(x)"))[0] == ["ProgramIsAnother"]
        assert told(other.commit)[0] == ["ProgramIsAnother"]
        assert other.size("Loop") == 0 and not list(view)
        one.extend("output relation Pair(x: string, y: string)\nPair(x, y) :- Link(x, y).")
        assert other.size("Link") == 0
        view = other["Pair"]
        one.drop("Pair")
        one.extend("output relation Pair(y: string, x: string)\nPair(y, x) :- Link(x, y).")
        assert told(lambda: list(view))[0] == ["ProgramIsAnother"]  # its columns have other meanings
        other.insert_rows("Link", [("c", "d")])
        other.rollback()
    assert told(lambda: other.epoch)[0] == ["SessionClosed"]


def test_a_subscriber_may_change_what_it_hears_of(session: Session) -> None:
    def receive(changes: Any) -> None:
        if session.size("Link") < 2:
            session.insert("Link", ("b", "c"))
            session.commit()

    session.subscribe("Reach", receive)
    session.insert("Link", ("a", "b"))
    began = monotonic()
    session.commit()
    assert session.size("Link") == 2 and monotonic() - began < 5  # it does not wait for itself


def test_a_client_outlives_its_server(serving: Serving, tmp_path: Path) -> None:
    from ddlog.serve.eventloop import ServerAddress

    served = serving(PROGRAM, tmp_path / "state")
    heard: list[Any] = []
    with ddlog.connect(served.address) as session:
        session.subscribe("Reach", heard.extend)
        session.insert("Link", ("a", "b"))
        session.commit()
        port = int(served.url.rpartition(":")[2])
        served.end()
        later = threading.Timer(
            0.3,
            serving,
            (PROGRAM, tmp_path / "state"),
            {"place": ServerAddress(port=port, token=served.token)},
        )
        later.start()
        session.insert("Link", ("b", "c"))
        session.commit()
        later.join()
        assert len(session["Reach"]) == 3 and [weight for _, weight in heard] == [1, 1, 1]


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://x", "begins with http"),
        ("http://127.0.0.1:1", "refused"),
        ("{url}", "the token is missing or wrong"),
    ],
)
def test_servers_that_cannot_be_used(serving: Serving, url: str, message: str) -> None:
    with pytest.raises(DDlogError, match=message):
        ddlog.connect(url.format(url=serving(PROGRAM).url), patience=0)


@pytest.mark.parametrize(
    "text",
    [
        '{"new": "core.pythonfile:PythonFile", "fields": {"path": "x.py", "content": "raise SystemExit"}}',
        '{"new": "types.types:Bit", "fields": {"width": "8 + f()"}}',
        '{"new": "core.expressions:Op", "fields": {"op": "+ f() +", "args": [], "type": null, "span": null}}',
        '{"new": "io.placed:Place", "fields": {}}',
    ],
)
def test_a_server_sends_nothing_that_its_client_would_execute(text: str) -> None:
    with pytest.raises(ValueError, match="this is no data of a session"):
        received(text)


def test_the_async_twin(serving: Serving) -> None:
    served = serving(PROGRAM)

    async def run() -> None:
        async with await ddlog.connect_async(served.address) as session:
            changes = await session.subscribe("Reach")
            await session.insert("Link", ("a", "b"), ("b", "c"))
            assert len((await session.commit())["Reach"]) == 3
            assert len(await anext(changes)) == 3
            assert (await session.query('Reach("a", x)')).rows == [("b",), ("c",)]
            assert [tuple(each) for each in await session.view("Link")] == [("a", "b"), ("b", "c")]
            with pytest.raises(DDlogError, match="there is no relation Lnk"):
                await session.insert("Lnk", ("a", "b"))
            assert session.in_transaction is False

    asyncio.run(run())


def test_the_repl_over_the_wire(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served = serving(PROGRAM)
    (tmp_path / "token").write_text(served.token)
    (tmp_path / "Link.csv").write_text("a,b\n")
    text = (
        'start; insert Link("b", "c"); commit dump_changes;\nselect count(*) as n from Reach;\n? Rech(x, y)\n'
    )
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    given = ["repl", served.url, "--token-file", str(tmp_path / "token"), "--quiet"]
    assert main([*given, "--input", f"Link={tmp_path / 'Link.csv'}"]) == 0
    out, err = capsys.readouterr()
    assert 'Reach{.from = "a", .to = "c"}: +1' in out and "3" in out
    assert "did you mean `Reach`?" in err
    assert main([*given, "--state", "x"]) == 1
    assert "--state cannot be combined with the address of a server" in capsys.readouterr().err
