"""Programs of SQL as their users meet them: names as written, NULL in every form of facts, errors."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ddlog
from ddlog.console.cli import main
from tests.sql.duck import program_of

SHOP = """
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, since DATE);
CREATE TABLE orders (customer INTEGER NOT NULL, placed TIMESTAMP, amount DECIMAL(10, 2));
CREATE VIEW totals AS SELECT c.name, city, SUM(amount) AS total, MAX(placed) AS last
  FROM customer c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.name, city;
"""
ANN = 'Totals{.name = "Ann", .city = NULL, .total = "12.50", .last = "2024-01-31 10:00:00"}'
BOB = 'Totals{.name = "Bob", .city = "", .total = NULL, .last = NULL}'
CUSTOMERS = [
    {"id": 1, "name": "Ann", "city": None, "since": datetime.date(2020, 1, 2)},
    {"id": 2, "name": "Bob", "city": "", "since": None},
]
FACTS = {
    "customer.csv": '1,Ann,\\N,2020-01-02\n2,Bob,"",\n',
    "customer.tsv": "1\tAnn\t\t2020-01-02\n2\tBob\t\\N\t\n",
    "Customer.json": '[[1, "Ann", null, "2020-01-02"], {"id": 2, "name": "Bob", "city": "", "since": null}]',
    "CUSTOMER.parquet": "",
}


def shop(folder: Path) -> str:
    path = folder / "shop.sql"
    path.write_text(SHOP, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("file", FACTS)
def test_facts_have_nulls_as_their_form_writes_them(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "facts"
    facts.mkdir()
    if file.endswith("parquet"):
        pq.write_table(pa.Table.from_pylist(CUSTOMERS), facts / file)
    else:
        (facts / file).write_text(FACTS[file], encoding="utf-8")
    (facts / "orders.csv").write_text("1,2024-01-31 10:00:00,12.50\n1,,\n", encoding="utf-8")
    assert main(["run", shop(tmp_path), "--input", str(facts), "--relation", "totals", "--quiet"]) == 0
    bob = BOB if file.endswith(("csv", "json", "parquet")) else BOB.replace('""', "NULL")
    assert capsys.readouterr().out == f"Totals:\n{ANN}\n{bob}\n\n"


def test_commands_and_results_have_names_and_nulls_of_sql(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "updates.dat"
    script.write_text(
        'start; insert customer(1, "Ann", NULL, "2020-01-02"), insert Customer(2, "Bob", "", null);\n'
        'insert ORDERS(1, "2024-01-31 10:00:00", "12.50"); commit dump_changes; dump totals;\n',
        encoding="utf-8",
    )
    assert main(["run", shop(tmp_path), "--updates", str(script), "--quiet"]) == 0
    assert capsys.readouterr().out == f"Totals:\n{ANN}: +1\n{BOB}: +1\n{ANN}\n{BOB}\n"
    assert main(["run", shop(tmp_path), "--updates", str(script), "--format", "csv", "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert "Ann,,12.50,2024-01-31 10:00:00" in printed and 'Bob,"",,' in printed


def test_python_gives_and_takes_dates_and_decimals(tmp_path: Path) -> None:
    program = ddlog.compile(shop(tmp_path))
    with program.session(relations=["totals", "orders"]) as session:
        session.insert("customer", (1, "Ann", None, datetime.date(2020, 1, 2)))
        session.insert("orders", (1, datetime.datetime(2024, 1, 31, 10), Decimal("12.5")), (1, None, None))
        changes = session.commit()
        assert [weight for _, weight in changes["totals"]] == [1]
        assert session["orders"].to_arrow().to_pylist() == [
            {"customer": 1, "placed": None, "amount": None},
            {"customer": 1, "placed": datetime.datetime(2024, 1, 31, 10), "amount": Decimal("12.50")},
        ]


def test_equal_rows_of_a_view_are_given_as_often_as_they_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "facts"
    facts.mkdir()
    (facts / "t.csv").write_text("a,1\nb,1\nc,\n", encoding="utf-8")
    path = tmp_path / "bag.sql"
    path.write_text(
        "CREATE TABLE t (k TEXT NOT NULL, w INT); CREATE VIEW v AS SELECT w FROM t;", encoding="utf-8"
    )
    for form, lines in (
        ("csv", ["w", '""', "1", "1"]),
        ("tsv", ["", "1", "1"]),
        ("jsonl", ['{"w": null}', '{"w": 1}', '{"w": 1}']),
    ):
        assert main(["run", str(path), "--input", str(facts), "--format", form, "--quiet"]) == 0
        assert capsys.readouterr().out.splitlines() == lines
    with ddlog.compile(str(path)).session() as session:
        session.insert("t", ("a", 1), ("b", 1), ("c", None))
        session.commit()
        assert session["v"].to_arrow().to_pydict() == {"w": [None, 1, 1]}
        assert session["v"].to_pandas()["w"].sum() == 2
        assert len(list(session["v"])) == 2


VISITS = """
import time
import uuid
input relation Visit(who: u32, day: Date, at: Option<DateTime>, hour: time::Time)
input relation Badge(who: u32, given: Date, id: Uuid)
"""


def test_dates_and_times_of_the_library_are_those_of_sql() -> None:
    day, at = datetime.date(2026, 1, 2), datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)
    with ddlog.compile(VISITS).session() as session:
        session.insert("Visit", (1, day, at, datetime.time(3, 4, 5, 6)), (2, day, None, datetime.time()))
        session.insert("Badge", (1, day, "67e55044-10b1-426f-9247-bb680e5fe0c8"))
        session.commit()
        found = session.select("SELECT * FROM visit WHERE hour > TIME '03:00:00'")
        assert found.rows == [(1, day, at, datetime.time(3, 4, 5, 6))]
        days = "SELECT day + 1, count(*), max(at) FROM visit WHERE day = DATE '2026-01-02' GROUP BY day"
        assert session.select(days).rows == [(datetime.date(2026, 1, 3), 2, at)]
        badge = uuid.UUID("67e55044-10b1-426f-9247-bb680e5fe0c8")
        assert session.select("SELECT * FROM badge").rows == [(1, day, badge)]
        with pytest.raises(
            ddlog.DDlogError, match="its column `day` has the type time::Date, which SQL does not"
        ):
            session.execute("DELETE FROM visit WHERE who = 1")


def test_an_error_takes_back_its_own_change_only(tmp_path: Path) -> None:
    with ddlog.compile(shop(tmp_path)).session(relations=["orders"]) as session:
        session.insert("orders", (1, None, "123456789012345678901234567890.12"))
        with pytest.raises(ddlog.DDlogError, match="not a number"):
            session.insert("orders", (2, None, "x"))
        session.commit()
        amounts = session["orders"].to_arrow().column("amount").to_pylist()
    assert amounts == [Decimal("123456789012345678901234567890.12")]


def test_a_table_with_an_error_is_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "v.sql"
    path.write_text(
        "CREATE TABLE t (a BLOB);\nCREATE VIEW v AS SELECT a FROM t;\nCREATE VIEW w AS SELECT a FROM v;\n"
        "CREATE TABLE u (a INTEGER REFERENCES nowhere(a));\nINSERT INTO u VALUES ('x');\n",
        encoding="utf-8",
    )
    assert main(["check", str(path)]) == 1
    printed = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert [line.partition("v.sql:")[2] for line in printed] == [
        "1:17: the type BLOB is not supported",
        "4:38: unknown table `nowhere`",
        "5:13: `x` is no INTEGER, the type of column `a`",
    ]


def test_names_of_sql_are_known_to_commands_and_queries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, script = tmp_path / "v.sql", tmp_path / "updates.dat"
    path.write_text(
        'CREATE TABLE "my table" (a INTEGER NOT NULL, b TEXT);\n'
        'CREATE VIEW "my view" AS SELECT avg(x) AS m FROM (SELECT a / 2 AS x FROM "my table");\n',
        encoding="utf-8",
    )
    script.write_text('start; insert "my table"(3, NULL); commit; dump "MY view"; dump;\n', encoding="utf-8")
    assert main(["run", str(path), "--updates", str(script), "--quiet", "--no-init-snapshot"]) == 0
    assert capsys.readouterr().out.count("My_view{.m = 1.5}") == 3
    facts = tmp_path / "facts"
    facts.mkdir()
    (facts / "my table.jsonl").write_text('{"a": 1}\n{"a": 2, "b": "x"}\n', encoding="utf-8")
    for query in ('"my view"(m)', '"my view"', "My_view(m), is_some(m)"):
        assert main(["run", str(path), "--input", str(facts), "--query", query, "--quiet"]) == 0
        assert "query{.m = 0.75}" in capsys.readouterr().out


ERRORS = {
    "SELECT a, c FROM t": "unknown column `c`\n",
    "SELECT a FROM t GROUP BY b": "column `a` is neither a key of GROUP BY nor inside an aggregate",
    "SELECT a FROM t WHERE b > 3": "a comparison is not defined for VARCHAR and INTEGER",
    "SELECT foo(a) FROM t": "the function FOO is not supported",
    "SELECT a FROM nowhere": "unknown table `nowhere`",
    "SELECT t.a FROM t, t AS s WHERE a = 3": "column `a` is ambiguous",
    "SELECT a FROM t x FULL JOIN t y USING (a), t z": "column `a` is ambiguous: x and y and z have it",
    "SELECT SUM(COUNT(a)) FROM t": "an aggregate has another inside",
    "SELECT a FROM t UNION SELECT b FROM t": "of a union is not defined for INTEGER and VARCHAR",
    "SELECT TOP 3 a FROM t": "this is not SQL: `3` is not expected here",
    "SELECT 'x FROM t": "this is not SQL: ' does not end",
    "SELECT from, a FROM t": "this is not SQL: expected table name but got `,`",
    "SELECT a FROM t JOIN": "this is not SQL: expected table name but got nothing",
    "SELECT a FROM t WHERE": "this is not SQL: `WHERE` is not complete",
    "SELECT a FROM t WHERE sum(a) > 1": "the aggregate SUM stands outside of SELECT",
    "SELECT a FROM t ORDER BY c": "unknown column `c`",
    "SELECT a FROM t LIMIT 50%": "LIMIT of this form is not supported",
    "SELECT a FROM t x, t x": "there are two tables `x` in FROM",
    "SELECT a FROM t WHERE a = 'x'": "`x` is no INTEGER",
    "SELECT concat_ws(b, [a]) FROM t": "CONCAT_WS of a list is not supported",
    "SELECT date_trunc(b, DATE '2024-02-01') FROM t": "DATE_TRUNC in a unit that is not a constant",
    "SELECT a FROM t GROUP BY 7": "GROUP BY 7: there is 1 column",
}


@pytest.mark.parametrize("query", ERRORS)
def test_errors_say_what_and_where(query: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "v.sql"
    path.write_text(f"CREATE TABLE t (a INTEGER, b TEXT);\nCREATE VIEW v AS {query};\n", encoding="utf-8")
    assert main(["run", str(path)]) == 1
    printed = capsys.readouterr().err
    first, _, rest = ERRORS[query].partition("\n")
    assert printed.startswith(f"error: {path}:2:") and first in printed.splitlines()[0] and rest in printed


def test_faults_name_the_view(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, script = tmp_path / "v.sql", tmp_path / "u.dat"
    views = "CREATE VIEW fine AS SELECT v FROM t;\nCREATE VIEW q AS\n  SELECT v // (v - 1) AS q FROM t;\n"
    path.write_text(f"CREATE TABLE t (v INTEGER);\n{views}", encoding="utf-8")
    script.write_text("start; insert t(1); commit;", encoding="utf-8")
    assert main(["run", str(path), "--updates", str(script)]) == 1
    assert (
        f"error: {path}:4:3: division by zero, in this view\n      SELECT v // (v - 1) AS q FROM t;\n      ^"
        in capsys.readouterr().err
    )


def test_all_statements_with_errors_are_told_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "v.sql"
    path.write_text(
        "UPDATE t SET a = 1;\nCREATE VIEW v AS SELEC 1;\nDROP TABLE t;\nCREATE TABLE (;\n", encoding="utf-8"
    )
    assert main(["run", str(path)]) == 1
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert [line.split(":")[2] for line in told] == ["1", "2", "3", "4"]


def test_a_view_has_the_names_that_its_own_query_gives() -> None:
    text = """CREATE TABLE t ("Id" INTEGER PRIMARY KEY, "Name" TEXT);
    CREATE VIEW v AS SELECT "Id" AS "ID", name AS "Key" FROM t UNION ALL SELECT "Id", 'x' FROM t;
    CREATE VIEW w("iD", "NAME") AS SELECT * FROM t;
    CREATE VIEW x AS SELECT * FROM t;"""
    with program_of(text).session() as session:
        titles = {each: session.program.relations[each].titles for each in ("V", "W", "X")}
        assert titles == {"V": ("ID", "Key"), "W": ("iD", "NAME"), "X": ("Id", "Name")}
        assert session.select('SELECT "Id" AS "ID" FROM t').to_arrow().column_names == ["ID"]
        outcome = session.execute("INSERT INTO t VALUES (1, 'a') RETURNING id AS \"ID\", name")
        assert outcome.rows.to_arrow().to_pylist() == [{"ID": 1, "Name": "a"}]
