"""Requests and their answers."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

import ddlog
from ddlog.durability.store import FileStore
from ddlog.errors.diagnostics import DDlogError
from ddlog.serve import connections, questions
from ddlog.serve.answers import ARROW, LINES
from ddlog.serve.limits import Limits
from ddlog.serve.routes import ROUTES
from tests.serve.conftest import PROGRAM, Served, Serving


def post(client: httpx.Client, data: Any, **more: Any) -> Any:
    """The answer to a transaction."""
    return client.post("/transactions", json=data, **more)


def events(client: httpx.Client, count: int, relations: str, last: str | None = None) -> list[dict[str, Any]]:
    """So many server-sent events."""
    found: list[dict[str, Any]] = []
    headers = {} if last is None else {"last-event-id": last}
    with client.stream("GET", "/changes", params={"relations": relations}, headers=headers) as answer:
        event: dict[str, Any] = {}
        for line in answer.iter_lines():
            name, _, value = line.partition(": ")
            if name:
                event[name] = json.loads(value) if name == "data" else value
            elif event:
                found.append(event)
                event = {}
                if len(found) == count:
                    break
    return found


def held(found: list[dict[str, Any]], rows: Counter[str]) -> Counter[str]:
    """The rows of Reach after events."""
    for event in found:
        for each in event["data"]["relations"].get("Reach", ()):
            rows[json.dumps(each["row"])] += each["weight"]
    return +rows


def test_transactions_and_their_errors(serving: Serving) -> None:
    with serving().client() as client:
        done = post(
            client, {"insert": {"Link": [["a", "b"], {"from": "b", "to": "c"}]}}, params={"changes": "true"}
        )
        assert done.json()["changes"]["Degree"] == [
            {"row": {"node": "a", "links": 1}, "weight": 1}, {"row": {"node": "b", "links": 1}, "weight": 1}
        ]  # fmt: skip
        lines = '{"insert": {"Node": [1, "x"]}}\n{"insert": {"Nod": [2, "y"]}}\n'
        wrong = client.post("/transactions", content=lines, headers={"content-type": LINES})
        assert wrong.status_code == 422
        assert wrong.json()["errors"][0]["place"]["line"] == 2
        assert client.get("/relations/Node/rows").json()["count"] == 0
        fault = post(client, {"insert": {"Seen": [""]}})
        assert (fault.status_code, fault.json()["errors"][0]["kind"]) == (422, "FaultInRule")
        table = pa.table({"id": pa.array([1, 2], pa.uint32()), "name": ["x", "y"]})
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        sent = client.post(
            "/transactions?relation=Node&kind=upsert",
            content=sink.getvalue(),
            headers={"content-type": ARROW},
        )
        assert sent.status_code == 200
        post(client, {"modify": {"Node": {"key": 2, "set": {"name": "<b>z</b>"}}}})
        rows = client.get("/relations/Node/rows", params={"order": "-id"}).json()["rows"]
        assert rows == [{"id": 2, "name": "<b>z</b>"}, {"id": 1, "name": "x"}]


def test_answers_in_each_form(serving: Serving) -> None:
    with serving().client() as client:
        post(client, {"insert": {"Link": [["a", "b"], ["b", "c"], ["c", "d"]]}})
        asked = {"query": 'Reach("a", x)', "limit": 2, "offset": 1}
        answer = client.post("/query", json=asked).json()
        assert (answer["count"], answer["rows"]) == (3, [{"x": "c"}, {"x": "d"}])
        lines = client.post("/query", json=asked, headers={"accept": LINES}).text.splitlines()
        assert [json.loads(each)["x"] for each in lines] == ["b", "c", "d"]
        arrow = client.post("/query", json=asked, headers={"accept": ARROW}).content
        assert pa.ipc.open_stream(arrow).read_all().to_pydict() == {"x": ["b", "c", "d"]}
        shown = client.post("/query", json={"sql": "SELECT count(*) AS n FROM Reach"}).json()
        assert shown["rows"] == [{"n": 6}]
        wrong = client.post("/query", json={"query": 'Reach("a", '}).json()["errors"][0]
        assert (wrong["place"]["line"], wrong["place"]["column"]) == (1, 6)
        found = client.get("/relations/Reach/rows", params={"contains": "D", "limit": 1}).json()
        assert (found["count"], found["rows_in_all"], found["rows"]) == (3, 6, [{"from": "a", "to": "d"}])


def test_pages_of_a_large_relation(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MANY", 2)
    text = "typedef P = P{x: u32, y: u32}\ninput relation At(p: P)\ninput multiset Seen(what: string)\n"
    with serving(text).client() as client:
        post(client, {"insert": {"At": [[{"x": n, "y": 0}] for n in range(5)]}})
        post(client, {"insert": {"Seen": [["a"], ["b"], ["c"], ["a"]]}})
        pages = [
            client.get("/relations/At/rows", params={"limit": 2, "offset": at}).json() for at in (0, 2, 4, 6)
        ]
        assert [len(each["rows"]) for each in pages] == [2, 2, 1, 0] and pages[1]["offset"] == 2
        found = sorted(row["p"]["x"] for each in pages for row in each["rows"])
        assert found == list(range(5)) and {each["count"] for each in pages} == {5}
        rest = [client.get("/relations/Seen/rows", params={"limit": 2, "offset": at}).json() for at in (0, 2)]
        assert sorted(row["what"] for each in rest for row in each["rows"]) == ["a", "b", "c"]
        assert [2] in [[w for w in each.get("weights", ()) if w > 1] for each in rest]


def test_a_large_relation_as_arrow(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = "a: u8, b: signed<64>, c: bit<64>, d: bool, e: double, f: string, g: float"
    text = f"input relation All({columns})\ninput relation Big(n: bigint)\ninput multiset Bag(n: u8)\n"
    rows = [
        [0, -(1 << 63), (1 << 64) - 1, True, 0.5, "ä", 0.5],
        [255, (1 << 63) - 1, 0, False, -1e300, "", -1.5],
        [7, 0, 1 << 63, True, 0.1, "x", 0.25],
    ]
    with serving(text).client() as client:
        post(client, {"insert": {"All": rows, "Big": [[1], [1 << 70]], "Bag": [[1], [1], [2]]}})
        for name in ("All", "Big", "Bag"):
            found = []
            for most in (10, 1):
                monkeypatch.setattr(questions, "MANY", most)
                monkeypatch.setattr(questions, "_PART", most)
                answer = client.get(f"/relations/{name}/rows", headers={"accept": ARROW})
                found.append(pa.ipc.open_stream(answer.content).read_all())
            assert found[0].schema == found[1].schema
            assert sorted(map(str, found[0].to_pylist())) == sorted(map(str, found[1].to_pylist()))


def test_a_head_that_is_too_long_is_refused(serving: Serving) -> None:
    served = serving()
    host, _, port = served.url.partition("//")[2].partition(":")
    begin = f"GET /health HTTP/1.1\r\nhost: {host}:{port}\r\n".encode()
    chunked = (
        f"POST /query HTTP/1.1\r\nhost: {host}:{port}\r\nauthorization: Bearer {served.token}\r\n".encode()
    )
    for sent, answers in (
        (begin + b"x: " + b"a" * 50_000 + b"\r\n\r\n", b"HTTP/1.1 200"),
        (begin + b"x: " + b"a" * 100_000 + b"\r\n\r\n", b"HTTP/1.1 400"),
        (begin + b"x: " + b"a" * 5_000_000, b""),
        (begin + b"x: y\r\n" * 500_000, b""),
        (chunked + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nx: " + b"a" * 5_000_000, b""),
    ):
        found = b""
        with socket.create_connection((host, int(port)), timeout=20) as connection, suppress(ConnectionError):
            connection.sendall(sent)
            found = connection.recv(100)
        assert found.startswith(answers) and (found or not answers)
    with served.client() as client:
        assert post(client, {"insert": {"Link": ["a", "b"]}}).status_code == 200


def test_explanations_and_trials(serving: Serving) -> None:
    with serving().client() as client:
        post(client, {"insert": {"Link": [["a", "b"], ["b", "c"]]}})
        row = {"relation": "Reach", "row": {"from": "a", "to": "c"}}
        assert client.post("/why", json=row).json()["kind"] == "rule"
        assert "height 2" in client.post("/why", json={**row, "format": "text"}).text
        ends = client.post("/why", json={**row, "ask": "why_ends", "format": "text"}).text
        assert 'Link("a", "b")' in ends and 'Link("b", "c")' in ends
        absent = client.post("/why", json={"ask": "why_not", "question": 'Reach("c", "a")', "format": "text"})
        assert absent.status_code == 200
        change = client.post("/why", json={**row, "ask": "why_change", "format": "html"})
        assert change.headers["content-type"].startswith("text/html")
        trial = client.post("/trials", json={"delete": {"Link": ["b", "c"]}}).json()["changes"]
        assert {each["weight"] for each in trial["Reach"]} == {-1}
        assert client.get("/relations/Reach/rows").json()["count"] == 3
        for path in (
            "/schema",
            "/program",
            "/profile",
            "/circuit",
            "/epochs",
            "/metrics",
            "/health",
            "/ready",
        ):
            assert client.get(path).status_code == 200, path


def test_a_key_is_applied_once_also_after_a_restart(serving: Serving, tmp_path: Path) -> None:
    state, key = tmp_path / "state", {"idempotency-key": "one"}
    served = serving(state=state)
    with served.client() as client:
        first = post(client, {"insert": {"Node": [1, "x"]}}, headers=key).json()
        assert post(client, {"insert": {"Node": [1, "x"]}}, headers=key).json() == {**first, "repeated": True}
        served.end()
    with serving(state=state).client() as client:
        assert post(client, {"insert": {"Node": [1, "x"]}}, headers=key).json()["repeated"]
        post(client, {"delete_key": {"Node": 1}})
        past = client.get("/relations/Node/rows", params={"epoch": first["epoch"]}).json()
        assert past["rows"] == [{"id": 1, "name": "x"}]
        assert client.get(f"/epochs/{first['epoch']}").json()["changes"]["Name"][0]["weight"] == 1


def test_a_subscriber_misses_nothing_and_gets_nothing_twice(serving: Serving, tmp_path: Path) -> None:
    state = tmp_path / "state"
    served, rows = serving(state=state), Counter[str]()
    with served.client() as client:
        post(client, {"insert": {"Link": ["a", "b"]}})
        begin = events(client, 1, "Reach")
        assert begin[0]["event"] == "snapshot"
        held(begin, rows)
        post(client, {"insert": {"Link": ["b", "c"]}})
        post(client, {"insert": {"Node": [1, "no change of Reach"]}})
        post(client, {"delete": {"Link": ["a", "b"]}})
        later = events(client, 2, "Reach", begin[-1]["id"])
        assert [each["event"] for each in later] == ["change", "change"]
        held(later, rows)
        post(client, {"insert": {"Link": ["c", "d"]}})
        served.end()
    with serving(state=state).client() as client:
        post(client, {"insert": {"Link": ["d", "e"]}})
        rest = events(client, 1, "Reach", later[-1]["id"])
        assert rest[0]["event"] == "merged"
        held(rest, rows)
        now = client.get("/relations/Reach/rows").json()["rows"]
        assert rows == Counter(map(json.dumps, now))
        other = events(client, 1, "Reach", "another-7")
        assert other[0]["event"] == "snapshot"


def test_many_writers_each_get_their_own_answer(serving: Serving) -> None:
    served = serving()
    ends: dict[int, int] = {}

    def write(number: int) -> None:
        with served.client() as client:
            data: Any = {"insert": {"Node": [number, "x"] if number % 3 else [number, 7]}}
            ends[number] = post(client, data).status_code

    threads = [threading.Thread(target=write, args=[number]) for number in range(24)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert ends == {number: 200 if number % 3 else 422 for number in range(24)}
    assert len(served.service.session["Node"]) == 16


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"host": "elsewhere.example"}, 421),
        ({"origin": "https://elsewhere.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://["}, 403),
    ],
)
def test_strangers_are_refused(serving: Serving, headers: dict[str, str], status: int) -> None:
    served = serving()
    given = {"authorization": f"Bearer {served.token}"} if "host" in headers or "origin" in headers else {}
    answer = httpx.get(f"{served.url}/schema", headers=given | headers)
    assert answer.status_code == status
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    begin = httpx.get(served.address)
    assert begin.status_code == 303 and "HttpOnly; SameSite=Strict" in begin.headers["set-cookie"]


def test_limits(serving: Serving) -> None:
    served = serving(limits=Limits(body=1000, rows=2, subscribers=0))
    with served.client() as client:
        assert post(client, {"insert": {"Link": [["a", "b"]] * 200}}).status_code == 413
        chunks = iter([b"x" * 600, b"y" * 600])
        assert client.post("/transactions", content=chunks).status_code == 413
        post(client, {"insert": {"Link": [["a", "b"], ["b", "c"]]}})
        assert len(client.get("/relations/Reach/rows", params={"limit": 9}).json()["rows"]) == 2
        assert client.get("/changes", params={"relations": "Reach"}).status_code == 400
        assert client.get("/console/../app.py").status_code == 404
        assert client.get("/circuit", params={"format": "gif"}).status_code == 400
        assert client.put("/program", content=b"").status_code == 400
        assert "it has from, to" in client.get("/relations/Link/rows?order=nope").text
        missing = client.get("/console/%2e%2e%2fapp.py")
        assert missing.status_code == 404 and missing.json()["errors"][0]["message"].startswith("there is no")
        wrong = client.delete("/schema")
        assert wrong.status_code == 405 and "GET" in wrong.headers["allow"] and wrong.json()["errors"]


TORN, LONG = r"\ud800", "9" * 100_000


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/transactions", f'{{"insert": {{"{TORN}": [["a", "b"]]}}}}', 422),
        ("/transactions", f'{{"insert": {{"Link": [["{TORN}", "b"]]}}}}', 422),
        ("/transactions", f'{{"{TORN}": {{}}}}', 422),
        ("/transactions", f'{{"insert": {{"Node": [{LONG}, "a"]}}}}', 422),
        ("/transactions", f'{{"insert": {{"Link": ["a", {LONG}]}}}}', 422),
        ("/query", f'{{"query": "Link(a, b), var c = \\"{TORN}\\""}}', 400),
        ("/query", f'{{"sql": "SELECT * FROM \\"{TORN}\\""}}', 400),
        ("/why", f'{{"relation": "{TORN}", "row": [1]}}', 400),
        ("/call", '{"method": "why", "arguments": {"relation": "Reach", "within": 1}}', 400),
    ],
)
def test_a_body_that_cannot_be_meant_is_refused_in_few_words(
    serving: Serving, path: str, body: str, status: int
) -> None:
    with serving().client() as client:
        answer = client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == status and answer.json()["errors"]
        assert len(answer.content) < 2_000


def test_a_value_that_is_nested_too_deeply_is_refused(serving: Serving) -> None:
    program = """
typedef Chain = End{} | Link{rest: Intern<Chain>}
input relation Has(chain: Chain)
output relation Got(chain: Chain)
Got(x) :- Has(x).
"""
    deep = '{"Link": {"rest": ' * 250 + '{"End": {}}' + "}}" * 250
    asked = f'{{"method": "why", "arguments": {{"relation": "Got", "row": [{deep}]}}}}'
    with serving(program).client() as client:
        for path, body in (("/why", f'{{"relation": "Got", "row": [{deep}]}}'), ("/call", asked)):
            answer = client.post(path, content=body, headers={"content-type": "application/json"})
            assert answer.status_code == 400 and "nested too deeply" in answer.text, (path, answer.text)


def stream(table: pa.Table) -> bytes:
    """A table as a stream of Arrow."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def test_hostile_arrow_is_refused(serving: Serving) -> None:
    good = stream(pa.table({"from": ["a" * 20], "to": ["b" * 20]}))
    ends = good.index(pa.array([0, 20], pa.int32()).buffers()[1].to_pybytes())  # of the first text
    beyond = good[: ends + 4] + b"\xff\xff\xff\x7f" + good[ends + 8 :]
    nulls = pa.Array.from_buffers(pa.null(), 1 << 30, [None])
    many = stream(pa.concat_tables([pa.Table.from_arrays([nulls] * 2, ["from", "to"])] * 1_000))
    with serving().client() as client:
        for body in (beyond, many, good[:200], b""):
            answer = client.post("/transactions?relation=Link", content=body, headers={"content-type": ARROW})
            assert answer.status_code == 400, answer.text


def test_a_program_in_a_request_runs_no_other_python(serving: Serving, tmp_path: Path) -> None:
    (tmp_path / "other.dl").write_text("extern function f(x: u32): u32")
    (tmp_path / "other.py").write_text("def f(x): ...\nraise SystemExit('this runs')")
    (tmp_path / "p.dl").write_text(PROGRAM)
    with serving(ddlog.compile(tmp_path / "p.dl")).client() as client:
        answer = client.put(
            "/program", content=f'import other\n{PROGRAM}Name(other::f(x), "") :- Node(x, _).'
        )
        assert answer.status_code == 422 and answer.json()["errors"][0]["kind"] == "NewPython"


def test_a_trial_that_takes_too_long_leaves_nothing(serving: Serving) -> None:
    served = serving()

    def call() -> None:
        served.service.session.insert("Link", ("a", "b"))
        raise KeyboardInterrupt  # as the end of its time does

    loop = served.service.owner.loop
    assert loop is not None
    with pytest.raises(DDlogError, match="the limit of this server"):
        asyncio.run_coroutine_threadsafe(served.service.owner.ask(call), loop).result(20)
    with served.client() as client:
        post(client, {"insert": {"Node": [1, "x"]}})
        assert client.get("/relations/Link/rows").json()["rows"] == []


def test_a_connection_without_a_request_is_closed(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.2)
    host, _, port = serving().url.removeprefix("http://").partition(":")
    for sent in (b"", b"GET /health HTTP/1.1\r\nHost: ", b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000):
        with socket.create_connection((host, int(port)), timeout=20) as silent:
            silent.sendall(sent)
            with suppress(ConnectionResetError):
                while silent.recv(4096):
                    pass


def test_read_only(serving: Serving) -> None:
    with serving(read_only=True).client() as client:
        assert post(client, {"insert": {"Link": ["a", "b"]}}).status_code == 403
        assert client.put("/program", content=PROGRAM).status_code == 403
        assert client.post("/query", json={"query": "Reach(x, y)"}).status_code == 200


def test_the_program_changes_with_the_state_kept(serving: Serving, tmp_path: Path) -> None:
    served = serving(state=tmp_path / "state")
    with served.client() as client:
        post(client, {"insert": {"Link": [["a", "b"], ["b", "c"]]}})
        last = events(client, 1, "Reach")[-1]["id"]
        less = PROGRAM.replace("Reach(x, z) :- Reach(x, y), Link(y, z).\n", "")
        changed = client.put("/program", content=less).json()
        assert changed["changes"] == {"Reach": [{"row": {"from": "a", "to": "c"}, "weight": -1}]}
        assert events(client, 1, "Reach", last)[0]["event"] == "snapshot"
        wrong = client.put("/program", content=less + "Reach(x) :- Link(x, x).")
        assert wrong.status_code == 422 and wrong.json()["errors"][0]["place"]["line"] > 10
        assert client.get("/program").json()["text"] == less
        post(client, {"insert": {"Link": ["c", "d"]}})
        assert client.get("/relations/Reach/rows").json()["count"] == 3


OTHER = (
    PROGRAM.replace("Link(from: string, to: string)", "Link(from: string, to: Option<string>, up: bool)")
    .replace("Link(x, y)", "Link(x, Some{y}, _)")
    .replace("Link(y, z)", "Link(y, Some{z}, _)")
)


@pytest.mark.parametrize("lasting", [False, True])
def test_rows_of_inputs_are_migrated(serving: Serving, tmp_path: Path, lasting: bool) -> None:
    served = serving(state=tmp_path / "state" if lasting else None)
    nodes = "input relation Node(id: u32, name: string) primary key (n) n.id\n"
    less = OTHER.replace(nodes, "").replace("Name(i, n) :- Node(i, n).\n", "")
    lines: list[str] = []
    with served.client() as client, served.client() as other:
        post(client, {"insert": {"Link": [["a", "b"], ["b", "c"]], "Node": [1, "one"]}})
        with other.stream("GET", "/changes?relations=Reach,Degree&snapshot=false") as following:
            told = following.iter_lines()
            while not next(told).startswith("data"):
                pass
            changed = client.put("/program?fill=Link.up=true", content=OTHER).json()
            assert (changed["changes"], changed["migrated"], changed["gone"]) == ({}, ["Link"], {})
            post(client, {"insert": {"Link": [["c", "d", False]]}})
            while len(lines) < 2:
                lines += [line for line in [next(told)] if line.startswith("event")]
        assert lines == ["event: program", "event: change"]
        rows = client.get("/relations/Link/rows?order=from").json()["rows"]
        assert [tuple(each.values()) for each in rows] == [
            ("a", "b", True),
            ("b", "c", True),
            ("c", "d", False),
        ]
        assert client.get("/relations/Reach/rows").json()["count"] == 6
        for text, fill, expected in (
            (OTHER.replace("up: bool", "up: string"), "", "a value is not written as a text"),
            (OTHER, "?fill=Link.from=x", "it is no new column"),
            (OTHER, "?fill=Link", "fill is Relation.column=value"),
            (OTHER.replace("part: bigint)", "part: bigint, x: Nothing)"), "", "Nothing"),
            (OTHER.replace("up: bool)", "up: bool) primary key (l) l.up"), "", "the same primary key"),
            (OTHER.replace("up: bool", "up: bool, by: u8").replace(", _)", ", _, n), 1 / n > 0"), "", "zero"),
        ):
            wrong = client.put(f"/program{fill}", content=text)
            assert wrong.status_code in (400, 422) and expected in wrong.text, wrong.text
            assert client.get("/program").json()["text"] == OTHER
        gone = client.put("/program", content=less)
        if lasting:
            assert gone.json()["gone"] == {"Node": 1}
        else:
            assert gone.json()["errors"][0]["message"].startswith("Node has rows (1)")
            post(client, {"delete": {"Node": [1, "one"]}})
            assert client.put("/program", content=less).json()["gone"] == {}
        post(client, {"delete": {"Link": ["a", "b", True]}})
        assert client.get("/relations/Reach/rows").json()["count"] == 3
    served.end()
    with ddlog.compile(less).session(state=tmp_path / "state" if lasting else None) as session:
        assert len(session["Reach"]) == (3 if lasting else 0)


def test_a_subscriber_is_told_that_its_relation_is_another(serving: Serving) -> None:
    served = serving(
        "typedef T = A{} | B{}\ninput relation R(x: u8)\noutput relation O(t: T)\nO(A{}) :- R(_)."
    )
    with served.client() as client, served.client() as other:
        post(client, {"insert": {"R": 1}})
        with other.stream("GET", "/changes?relations=O") as following:
            told = following.iter_lines()
            assert "snapshot" in next(told)
            client.put(
                "/program", content=served.service.program.source.text.replace("A{} | B{}", "B{} | A{}")
            )
            assert [line for line in told if line.startswith("event")] == ["event: program", "event: end"]
        assert client.get("/relations/O/rows").json()["rows"] == [{"t": "A"}]


def test_the_document_has_all_routes(serving: Serving) -> None:
    with serving().client() as client:
        paths = client.get("/openapi.json").json()["paths"]
    assert {(m.upper(), p) for p, each in paths.items() for m in each} == {(r.method, r.path) for r in ROUTES}


def test_a_slow_subscriber_gets_the_sum(serving: Serving) -> None:
    served: Served = serving(limits=Limits(buffered=3))
    loop = served.service.owner.loop
    assert loop is not None
    subscribed = asyncio.run_coroutine_threadsafe(served.service.subscribe(["Name"], None), loop).result(20)
    with served.client() as client:
        for number in range(10):
            post(client, {"insert_or_update": {"Node": [1, str(number)]}})

    async def taken() -> list[Any]:
        found = []
        async for event in subscribed.events():
            found.append(event)
            if json.loads(event.data)["epoch"] == served.service.number:
                return found
        raise AssertionError

    found = asyncio.run_coroutine_threadsafe(taken(), loop).result(20)
    assert "merged" in {each.kind for each in found} and len(found) < 7
    rows = Counter[str]()
    for event in found:
        for each in json.loads(event.data)["relations"].get("Name", ()):
            rows[each["row"]["name"]] += each["weight"]
    assert +rows == Counter({"9": 1}) and not -rows


def test_a_commit_that_cannot_be_written_is_no_error_of_the_request(
    serving: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with serving(PROGRAM, state=tmp_path / "s").client() as client:
        body = {"insert": {"Link": [["a", "b"]]}}
        with monkeypatch.context() as patch:
            patch.setattr(FileStore, "append", full)
            answer = client.post("/transactions", json=body)
            assert (answer.status_code, answer.json()["errors"][0]["kind"]) == (507, "NotKeptOnDisk")
        assert client.post("/transactions", json=body).status_code == 200
