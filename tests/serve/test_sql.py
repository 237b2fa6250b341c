"""A server of a program of SQL: tables and views have the names and the values that their text has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ddlog
from tests.serve.conftest import Serving

VIEWS = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT NOT NULL, amount DECIMAL(10, 2), placed DATE);
CREATE TABLE notes (n INTEGER);
CREATE VIEW totals AS SELECT customer, SUM(amount) AS total FROM orders GROUP BY customer;
CREATE VIEW twice AS SELECT id FROM orders
    WHERE customer IN (SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 1);
"""


@pytest.fixture
def program(tmp_path: Path) -> ddlog.Program:
    """The program of the views."""
    (tmp_path / "views.sql").write_text(VIEWS)
    return ddlog.compile(tmp_path / "views.sql")


def test_tables_and_views_have_their_own_names(serving: Serving, program: ddlog.Program) -> None:
    with serving(program).client() as client:
        rows = [[1, "ann", "10.50", "2024-01-02"], {"id": 2, "customer": "ann", "amount": 2}]
        changes = client.post("/transactions?changes=true", json={"insert": {"orders": rows}}).json()
        assert changes["changes"] == {
            "totals": [{"row": {"customer": "ann", "total": "12.50"}, "weight": 1}],
            "twice": [{"row": {"id": 1}, "weight": 1}, {"row": {"id": 2}, "weight": 1}],
        }
        assert [each["name"] for each in client.get("/schema").json()["relations"]] == [
            "orders", "notes", "totals", "twice",
        ]  # fmt: skip
        last = client.get("/epochs").json()["epochs"][-1]
        assert last["sizes"] == {"orders": 2, "notes": 0, "totals": 1, "twice": 2}
        assert last["changes"] == {"totals": [1, 0], "twice": [2, 0]}
        assert 'relation_rows{relation="orders"} 2' in client.get("/metrics").text
        asked = client.post("/query", json={"sql": "SELECT total FROM totals WHERE customer = 'ann'"}).json()
        assert asked["rows"] == [{"total": "12.50"}]
        set_null = {"modify": {"orders": {"key": 2, "set": {"amount": None}}}}
        assert "errors" not in client.post("/transactions", json=set_null).json()
        wrong = client.post("/transactions", json={"insert": {"orders": [[1, "zoe", 1, None]]}})
        assert (wrong.status_code, wrong.json()["errors"][0]["kind"]) == (422, "KeyExists")
        with client.stream("GET", "/changes?relations=totals,twice") as stream:
            data = next(line for line in stream.iter_lines() if line.startswith("data:"))
        assert json.loads(data[5:])["relations"]["totals"][0]["row"] == {"customer": "ann", "total": "10.50"}
        wrong = client.post("/query", json={"sql": "SELECT"})
        assert wrong.status_code == 422 and "has no columns" in wrong.text
        refused = client.get("/changes?relations=orders").json()["errors"][0]
        assert refused["hint"] == "the output relations are totals, twice"


def test_columns_have_the_names_of_files(serving: Serving, tmp_path: Path) -> None:
    """In rows, in questions, and where the client looks a row up."""
    (tmp_path / "names.sql").write_text(
        'CREATE TABLE t ("Order ID" INTEGER PRIMARY KEY, key TEXT); CREATE VIEW v AS SELECT * FROM t;'
    )
    served = serving(ddlog.compile(tmp_path / "names.sql"))
    row = {"Order ID": 1, "key": "x"}
    with served.client() as client:
        assert client.post("/transactions", json={"insert": {"t": [row]}}).status_code == 200
        assert client.get("/relations/v/rows").json()["rows"] == [row]
        assert client.post("/why", json={"relation": "v", "row": row}).status_code == 200
        call = {"method": "find", "arguments": {"relation": "T", "values": {"Order ID": 1}}}
        assert client.post("/call", json=call).status_code == 200
        call["arguments"] = {"relation": "T", "values": {"order_id": 1}}
        assert "has no column order_id" in client.post("/call", json=call).text
    with ddlog.connect(served.address) as session:
        session.modify("t", 1, {"key_": "y"})
        session.commit()
        assert session["v"].to_arrow().to_pylist() == [{"Order ID": 1, "key": "y"}]


def test_a_parameter_that_there_is_not_is_refused(serving: Serving, program: ddlog.Program) -> None:
    with serving(program).client() as client:
        wrong = client.post("/transactions?change=true", json=[])
        assert wrong.status_code == 400
        assert "no parameter 'change'; there may be changes, relation, kind" in wrong.text
        assert "no parameter 'x'; it has none" in client.get("/schema?x=1").text


def test_statements_from_python(serving: Serving, program: ddlog.Program) -> None:
    served = serving(program)
    with ddlog.connect(served.address) as session:
        told: list[object] = []
        session.subscribe("totals", told.append)
        session.execute(
            "INSERT INTO orders VALUES (1, 'ann', 1.5, DATE '2024-01-02'), (2, 'bob', NULL, NULL)"
        )
        session.execute("UPDATE orders SET amount = amount + 1 WHERE id = $1", [1])
        session.execute("BEGIN")
        session.execute("DELETE FROM orders WHERE customer = 'bob'")
        session.execute("COMMIT")
        assert len(told) == 3 and [str(row.total) for row in session["totals"]] == ["2.50"]
        session.execute("CREATE VIEW big AS SELECT id FROM orders WHERE amount > 2")
        with served.client() as client:
            assert client.get("/relations/big/rows").json()["rows"] == [{"id": 1}]
            changed = client.put("/program", content=VIEWS.replace("placed DATE", "placed DATE, note TEXT"))
            assert changed.json()["migrated"] == ["orders"]
            assert client.get("/relations/orders/rows").json()["rows"][0]["note"] is None


def test_statements_of_two_clients(
    serving: Serving, program: ddlog.Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement alone reads the rows that it changes; in a transaction it is told that they are others."""
    served, more = serving(program), "UPDATE orders SET amount = amount + 1 WHERE id = 1"
    with ddlog.connect(served.address) as one, ddlog.connect(served.address) as other:
        one.execute("INSERT INTO orders VALUES (1, 'ann', 0, NULL)")
        answered = one._statement  # type: ignore[attr-defined]

        def beside_another(*given: object) -> object:
            found = answered(*given)
            other.execute(more)
            return found

        with monkeypatch.context() as patch:
            patch.setattr(one, "_statement", beside_another)
            again = one.execute(f"{more} RETURNING amount").rows
            assert again is not None and [str(amount) for (amount,) in again] == ["2.00"]
            one.execute("INSERT OR REPLACE INTO orders VALUES (1, 'ann', 7, NULL)")
        assert [str(row.total) for row in one["totals"]] == ["7.00"]
        one.execute("INSERT INTO notes VALUES (1), (1)")
        for step in (more, "UPDATE notes SET n = n + 1"):  # of a table with a key, and one without
            for end in ("COMMIT", "ROLLBACK", "SELECT * FROM orders"):
                one.execute("BEGIN")
                one.execute(step)
                other.execute(step)
                if end == "ROLLBACK":
                    one.execute(end)
                else:
                    with pytest.raises(ddlog.DDlogError, match="another client has changed"):
                        one.execute(end)
                assert not one.in_transaction
        assert [str(row.total) for row in one["totals"]] == ["10.00"]
        assert one.select("SELECT n FROM notes").rows == [(4,), (4,)]
        one.upsert("orders", (1, "ann", 3, None))
        one.execute("SAVEPOINT p")
        other.execute(more)
        with pytest.raises(ddlog.DDlogError, match="another client has changed"):
            one.execute("SELECT * FROM orders")  # and not made again without the point
        assert not one.in_transaction


def test_a_row_that_was_looked_up_in_a_transaction_may_have_changed(
    serving: Serving, program: ddlog.Program
) -> None:
    served, more = serving(program), "UPDATE orders SET amount = amount + 1 WHERE id = 1"
    with ddlog.connect(served.address) as one, ddlog.connect(served.address) as other:
        one.execute("INSERT INTO orders VALUES (1, 'ann', 0, NULL)")
        for statement in ("BEGIN", "SAVEPOINT p", more, "ROLLBACK TO p"):
            one.execute(statement)
        other.execute(more)
        with pytest.raises(ddlog.DDlogError, match="another client has changed"):
            one.execute(more)
        assert not one.in_transaction


def test_a_transaction_that_lacks_a_part_is_refused(serving: Serving, program: ddlog.Program) -> None:
    statement = {"content-type": "application/vnd.ddlog.statement"}
    with serving(program).client() as client:
        found = client.post("/transactions", json={"text": "TRUNCATE notes"}, headers=statement)
        assert found.status_code == 400 and "execute has an argument" in found.text
        for wrong in ([], {"notes": [[1]]}, {"totals": []}):
            assert client.post("/transactions", json={"read": wrong}).status_code in (400, 422)
