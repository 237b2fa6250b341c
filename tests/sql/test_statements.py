"""Statements: random ones against DuckDB after each, what they return, and their errors."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.errors.diagnostics import DDlogError, render
from ddlog.errors.source import Source
from ddlog.sessions.hosts.host import here_of
from ddlog.sessions.persistence.fingerprints import Definitions
from ddlog.sessions.program import Program, compile_source
from ddlog.sessions.session import Session
from ddlog.sql import changerules

from ..trying import trying
from .duck import Both, bag, program_of

TABLES = """
CREATE TABLE k (id INTEGER PRIMARY KEY, a INTEGER DEFAULT 1 + 1, s VARCHAR NOT NULL DEFAULT 'z');
CREATE TABLE b (a INTEGER, d DECIMAL(8, 2) DEFAULT 1.5);
"""
VIEWS = {"v": "SELECT k.s, sum(b.d) AS t, count(*) AS n FROM k JOIN b ON k.a = b.a GROUP BY k.s"}
CONDITIONS = (
    "a IS NULL", "a < 3", "a IN (SELECT a FROM b)", "a NOT IN (SELECT id FROM k)",
    "EXISTS (SELECT 1 FROM v WHERE v.n > 1)", "a > (SELECT avg(id) FROM k)",
)  # fmt: skip
STATEMENTS = (
    "INSERT INTO b VALUES (?, ?), (NULL, 1.5)",
    "INSERT INTO b (d) SELECT a FROM k WHERE {}",
    "INSERT INTO k SELECT coalesce(max(id), 0) + 1, ?, 'p' FROM k",
    "INSERT INTO k (s, id) SELECT 'q', coalesce(max(id), 0) + ? FROM k",
    "INSERT INTO b SELECT n, t FROM v",
    "INSERT INTO b VALUES (?, DEFAULT), (DEFAULT, ?)",
    "INSERT INTO b (a) VALUES (?)",
    "INSERT INTO k (id) VALUES (?) ON CONFLICT DO NOTHING",
    "INSERT INTO b BY NAME SELECT ? AS a",
    "UPDATE k SET a = DEFAULT, s = DEFAULT WHERE {}",
    "UPDATE k SET a = a + 1, s = s || 'x' WHERE {}",
    "UPDATE k SET id = id + 100",
    "UPDATE k SET (a, s) = (a + 1, s || 'y') WHERE {}",
    "UPDATE b SET d = d * 2, a = (SELECT max(id) FROM k) WHERE {}",
    "UPDATE k SET a = v.n FROM v WHERE v.s = k.s AND {}",
    "DELETE FROM b WHERE {}",
    "DELETE FROM k WHERE {}",
    "DELETE FROM b USING k WHERE b.a = k.a AND k.id > ?",
    "WITH w AS (SELECT a FROM k) DELETE FROM b WHERE a IN (SELECT a FROM w)",
    "TRUNCATE b",
    "INSERT INTO k VALUES (?, ?, 'c') ON CONFLICT DO NOTHING",
    "INSERT INTO k SELECT DISTINCT a, 1, 'd' FROM b WHERE a IS NOT NULL ON CONFLICT (id) DO UPDATE "
    "SET a = excluded.a + k.a, s = DEFAULT WHERE k.a < 4",
    "INSERT OR REPLACE INTO k VALUES (?, ?, 'r')",
    "INSERT OR REPLACE INTO k (s, id) VALUES ('o', ?), (DEFAULT, ? + 5)",
    "MERGE INTO k USING (SELECT DISTINCT n AS x, 7 AS y FROM v) AS s ON k.id = s.x WHEN MATCHED "
    "AND k.a < ? THEN UPDATE SET a = s.y + k.a, s = DEFAULT WHEN MATCHED THEN DELETE "
    "WHEN NOT MATCHED THEN INSERT VALUES (s.x, DEFAULT, 'm')",
    "MERGE INTO k USING (SELECT DISTINCT a FROM b) AS s ON k.a = s.a WHEN MATCHED AND k.id > 2 "
    "THEN DO NOTHING WHEN MATCHED THEN UPDATE SET s = k.s || '!' "
    "WHEN NOT MATCHED BY SOURCE AND k.id > 3 THEN DELETE",
    "MERGE INTO k USING b ON k.id = b.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN DO NOTHING",
    "MERGE INTO b USING k ON b.a = k.id WHEN NOT MATCHED THEN INSERT (a) VALUES (k.a)",
    "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT p", "ROLLBACK TO p",
)  # fmt: skip
steps = st.tuples(
    st.sampled_from(STATEMENTS), st.sampled_from(CONDITIONS), st.tuples(*[st.integers(1, 5)] * 2)
)


@trying(8)
@given(st.lists(steps, min_size=3, max_size=12))
def test_statements_do_what_they_do_in_duckdb(script: Sequence[tuple[str, str, tuple[int, ...]]]) -> None:
    """Statements read the transaction so far, also by a view; the views are compared after each commit."""
    both = Both(TABLES, VIEWS)
    both.duck.execute(f"CREATE VIEW v AS {VIEWS['v']}")
    done: list[tuple[str, tuple[int, ...]]] = []  # in the transaction that is open, its BEGIN first
    kept = 0  # of these, those before the savepoint
    for form, condition, values in script:
        where = condition.replace("a ", f"{form.split()[1]}.a ", 1) if " FROM v " in form else condition
        step = form.format(where), values[: form.count("?")]
        if form in ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT p", "ROLLBACK TO p"):
            if (form == "BEGIN") == bool(done) or (form == "ROLLBACK TO p" and not kept):
                continue
            both.session.execute(form)
            if form == "ROLLBACK TO p":  # which DuckDB does not have
                done = done[:kept]
                for again in [("ROLLBACK", ()), *done]:
                    both.duck.execute(*again)
            elif form == "SAVEPOINT p":
                kept = len(done)
            else:
                both.duck.execute(form)
                done, kept = ([step] if form == "BEGIN" else []), 0
        else:
            both.duck.execute(*step)
            both.session.execute(*step)
            done += [step] if done else []
        for table in ("k", "b"):
            here = both.session.execute(f"SELECT * FROM {table}").rows
            assert bag(here or ()) == bag(both.duck.execute(f"SELECT * FROM {table}").fetchall()), step
        if not done:
            assert both.differences() == []
    both.session.rollback()
    both.session.close()


ITEM = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, price DECIMAL(8, 2), "key" DATE);
CREATE VIEW dear AS SELECT name FROM item WHERE price > 2;
"""


def items() -> Session:
    """A session with two items."""
    session = program_of(ITEM).session()
    session.execute("INSERT INTO item VALUES (1, 'tea', 2.5, '2024-01-31'), (2, 'pot', NULL, NULL)")
    return session


@pytest.mark.parametrize(
    ("text", "parameters", "count", "rows"),
    [
        ("INSERT INTO item (name, id) VALUES (?, ?) RETURNING id + 1, name", ("it's", 3), 1, [(4, "it's")]),
        ("INSERT INTO item (name, id) VALUES (:n, :i) RETURNING id", {"n": "a", "i": 9}, 1, [(9,)]),
        ("INSERT INTO item BY NAME SELECT 3 AS id, 'a' AS name RETURNING *", (), 1, [(3, "a", None, None)]),
        ("UPDATE item SET price = 3, key = DEFAULT RETURNING id, price, key", (), 2,
         [(1, Decimal("3.00"), None), (2, Decimal("3.00"), None)]),
        ("DELETE FROM item WHERE key = ? RETURNING name", (datetime.date(2024, 1, 31),), 1, [("tea",)]),
        ("DELETE FROM item AS i WHERE i.price = $1 RETURNING i.id", (Decimal("2.50"),), 1, [(1,)]),
        ("TRUNCATE item", (), 2, None),
        ("INSERT INTO item (id, name) VALUES (2, 'a'), (3, 'c'), (3, 'b') "
         "ON CONFLICT DO NOTHING RETURNING name", (), 1, [("b",)]),
        ("INSERT INTO item (id, name) VALUES (2, 'a'), (3, 'c') ON CONFLICT (id) DO UPDATE "
         "SET name = excluded.name || name WHERE item.id < ? RETURNING name", (9,), 2, [("apot",), ("c",)]),
        ("MERGE INTO item AS i USING (SELECT 2 AS x UNION SELECT 5) AS s ON i.id = s.x "
         "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, name) VALUES (x, 'm') RETURNING id",
         (), 2, [(2,), (5,)]),
        ("MERGE INTO item USING (SELECT * FROM item WHERE id = 1) AS s USING (id) "
         "WHEN MATCHED THEN UPDATE "
         "WHEN NOT MATCHED THEN INSERT", (), 1, None),
        ("SELECT id FROM item ORDER BY id DESC", (), 0, [(2,), (1,)]),
        ('SELECT id FROM item ORDER BY "key"', (), 0, [(1,), (2,)]),
        ('SELECT id, "key" IS NULL FROM item ORDER BY "key" DESC NULLS FIRST', (), 0,
         [(2, True), (1, False)]),
        ("SELECT name FROM item ORDER BY id", (), 0, [("tea",), ("pot",)]),
        ("SELECT name FROM item ORDER BY -item.id LIMIT 1", (), 0, [("pot",)]),
        ("SELECT DISTINCT item.name FROM item ORDER BY item.name DESC", (), 0, [("tea",), ("pot",)]),
        ("SELECT DISTINCT item.name AS n FROM item ORDER BY name DESC", (), 0, [("tea",), ("pot",)]),
        ("SELECT DISTINCT * FROM (SELECT id, name FROM item) AS q ORDER BY q.name", (), 0,
         [(2, "pot"), (1, "tea")]),
        ("SELECT DISTINCT ON (name) name FROM item ORDER BY name DESC, id", (), 0, [("tea",), ("pot",)]),
        ("SELECT * FROM (SELECT id AS type FROM item) AS q ORDER BY type DESC", (), 0, [(2,), (1,)]),
        ("SELECT name FROM dear WHERE name <> ?", (None,), 0, []),
        ("VALUES (?, 'b'), (1, NULL) ORDER BY 1", (2,), 0, [(1, None), (2, "b")]),
        ("((SELECT id FROM item ORDER BY name));", (), 0, [(2,), (1,)]),
        ("FROM item SELECT id, name ORDER BY ALL DESC", (), 0, [(2, "pot"), (1, "tea")]),
        ("SELECT day(i) AS d FROM (VALUES (INTERVAL 40 DAY), (INTERVAL 1 MONTH)) AS q(i) ORDER BY i DESC, 1",
         (), 0, [(40,), (0,)]),
        ("SELECT 'inf'::DOUBLE, -'inf'::DOUBLE, 'nan'::DOUBLE > 1e308, CAST('-Infinity' AS DOUBLE)", (), 0,
         [(math.inf, -math.inf, True, -math.inf)]),
    ],
)  # fmt: skip
def test_what_a_statement_returns(text: str, parameters: Any, count: int, rows: Any) -> None:
    with items() as session:
        outcome = session.execute(text, parameters)
        assert (outcome.count, None if outcome.rows is None else outcome.rows.rows) == (count, rows)


@pytest.mark.parametrize(
    ("text", "parameters", "message"),
    [
        ("UPDATE item SET nam = 1", (), "1:17: unknown column `nam`"),
        ("DELETE FROM itm", (), "1:13: unknown table `itm`"),
        ("DELETE FROM dear", (), "1:13: dear is not an input relation"),
        ("INSERT INTO item VALUES (1, 'a')", (), "(id, name, price, key), and a row has 2"),
        ("INSERT INTO item VALUES (1, 'a', NULL, NULL)", (), "item already has a row with the key id = 1"),
        ("UPDATE item SET name = NULL WHERE id = 2", (), "must not be NULL, in the row (2, NULL"),
        ("INSERT INTO item (id, name) VALUES ('x', 'a')", (), "`x` is no INTEGER, the type of column `id`"),
        ("INSERT INTO item (id, name) VALUES (3, ?)", (), "the parameter $1 has no value"),
        ("SELECT ?", ({1},), "the parameter $1 cannot be a value of Python's type set"),
        ("SELECT 1; SELECT 2", (), "there are 2 statements here"),
        ("SELECT [1, 2][1:2:1]", (), "a slice with a step is not supported"),
        ("INSERT OVERWRITE item VALUES (9, 'a', 1, 'b')", (), "INSERT OVERWRITE is not supported"),
        ("INSERT INTO item (id, name) VALUES (1, 'a') ON DUPLICATE KEY UPDATE name = 'b'", (),
         "ON DUPLICATE KEY UPDATE is not supported: write ON CONFLICT DO UPDATE SET"),
        ("DELETE FROM item WHERE id > 0 LIMIT 1", (), "1:31: LIMIT of a change is not supported"),
        ("UPDATE item SET price = 1 ORDER BY id LIMIT 1", (), "ORDER BY of a change is not supported"),
        ("MERGE INTO item USING dear AS d ON true WHEN MATCHED THEN UPDATE SET price = 1 WHERE id = 2", (),
         "WHERE in a MERGE is not supported: write WHEN … AND condition THEN"),
        ("SELECT * FROM item FOR SYSTEM_TIME AS OF NOW()", (), "a table AS OF a time is not supported"),
        ("SELECT * FROM item LIMIT 1 BY name", (), "LIMIT … BY is not supported"),
        ("TRUNCATE TABLE item CASCADE", (), "CASCADE here is not supported"),
        ("DELETE dear FROM item JOIN dear ON true", (), "a DELETE is written DELETE FROM table"),
        ("ROLLBACK AND CHAIN", (), "AND CHAIN is not supported"),
        ("WITH RECURSIVE r(a, b) USING KEY (a) AS (SELECT 1, 2 UNION SELECT a, b + 1 FROM r WHERE b < 5)"
         " FROM r", (), "USING KEY is not supported"),
        ("SELECT i.id FROM item i OUTER APPLY (SELECT 1 AS x WHERE i.id = 7) q", (), "OUTER APPLY"),
        ("SELECT list_slice()", (), "LIST_SLICE takes 3 arguments"),
        ("SELECT epoch_us()", (), "EPOCH_US takes 1 argument"),
        ("SELECT date_sub(name, NULL, NULL) FROM item", (), "in a unit that is not a constant"),
        ("SELECT id FROM item ORDER BY 1.5", (), "1:30: ORDER BY 1.5: a place is a whole number"),
        ("SELECT id FROM item ORDER BY name, 2", (), "ORDER BY 2: there is 1 column"),
        ("SELECT DISTINCT id FROM item ORDER BY name", (), "ordered only by columns of the answer"),
        ("SELECT id // 0 FROM item", (), "division by zero, in this statement"),
        ("DELETE FROM item WHERE", (), "this is not SQL"),
        ("SELEC * FROM item", (), "this is not SQL: a part is missing"),
        ("SELECT lenght(name) FROM item", (), "LENGHT is not supported: did you mean `LENGTH`?"),
        ("SELECT id FROM item ORDR BY 1", (), "did you mean `ORDER`?"),
        ("SELECT CAST(id AS INTEGR) FROM item", (), "INTEGR is not supported: did you mean `INTEGER`?"),
        ("UPDATE item SET name", (), "1:17: SET of an UPDATE is written column = value"),
        ("DELETE item", (), "a DELETE is written DELETE FROM table"),
        ("VALUES ()", (), "a row of VALUES has no values"),
        ("INSERT INTO item (id, id) VALUES (3, 4)", (), "the column `id` is named twice"),
        ("INSERT INTO item (id, name) VALUES (3, 'a'), ('x', 'b')", (), "1:47: `x` is no INTEGER"),
        ("SELECT * EXCLUDE (nme) FROM item", (), "`*` has no column `nme`"),
        ("SELECT * FROM item AS q(a, b, c, d, e)", (), "5 columns are named, and there are 4 columns"),
        ("SELECT * FROM range(3) AS q(a, b)", (), "2 columns are named, and there is 1 column"),
        ("INSERT INTO item (id, name) VALUES (1, 'a') ON CONFLICT (name) DO NOTHING", (),
         "1:58: a conflict is one of the primary key, which is (id)"),
        ("MERGE INTO item USING (VALUES (1), (1)) AS s(x) ON id = x WHEN MATCHED THEN UPDATE SET id = 1", (),
         "MERGE changes each row of `item` at most once, and "
         "several rows match the row (1, \"tea\", "),
        ("MERGE INTO item USING item ON true WHEN MATCHED THEN DELETE", (), "1:23: `item` is the name of"),
        ("MERGE INTO item USING dear AS d ON true WHEN MATCHED THEN INSERT VALUES (1, 'a', NULL, NULL)", (),
         "a row that matches is not inserted"),
        ("COMMIT; ROLLBACK", (), "there are 2 statements here"),
        ("ROLLBACK TO there", (), "this transaction has no savepoint `there`"),
        ("BEGIN; ", (), "there are changes that are neither committed nor rolled back"),
    ],
)  # fmt: skip
def test_a_wrong_statement_changes_nothing(text: str, parameters: Any, message: str) -> None:
    with items() as session:
        session.execute("BEGIN")
        session.execute("UPDATE item SET price = 7 WHERE id = 1")
        with pytest.raises(DDlogError) as found:
            session.execute(text, parameters)
        assert message in render(found.value.diagnostics)
        session.execute("COMMIT")
        assert session.select("SELECT id, price FROM item").rows == [(1, Decimal("7.00")), (2, None)]


def test_statements_over_a_program_of_rules() -> None:
    """Sets, relations that are not kept, columns of machine integers, and types that SQL does not have."""
    program = ddlog.compile("""
    input relation Edge(a: u8, b: u8)
    input relation Other(a: u8, v: Vec<u8>)
    relation Reach(a: u8, b: u8)
    Reach(a, b) :- Edge(a, b).
    Reach(a, c) :- Reach(a, b), Edge(b, c).
    output relation Far(n: usize)
    Far(n) :- Reach(a, b), var n = b.group_by(a).count().
    """)
    with program.session(relations="outputs") as session:
        session.execute("INSERT INTO Edge VALUES (1, 2), (2, 3), (2, 3)")
        session.execute("BEGIN")
        session.execute("INSERT INTO Edge SELECT b, b + 1 FROM Reach WHERE b = 3")
        assert list(session.execute("SELECT * FROM reach WHERE a = 1").rows or ()) == [(1, 2), (1, 3), (1, 4)]
        session.execute("UPDATE Edge SET b = 9 WHERE b = 4")
        session.execute("COMMIT")
        assert list(session.execute("SELECT * FROM edge").rows or ()) == [(1, 2), (2, 3), (3, 9)]
        for text, message in (
            ("INSERT INTO Edge VALUES (1, 300)", "Edge.b"),
            ("INSERT INTO Other VALUES (1, 2)", "column `v` is not defined for INTEGER"),
            ("INSERT INTO Other (a) VALUES (1)", "column `v` of `Other` must not be NULL"),
            ("SELECT v || '' FROM Other", "|| is not defined for ddlog_std::Vec<bit<8>>"),
            (
                "SELECT CAST(v AS VARCHAR) FROM Other",
                "CAST to VARCHAR is not defined for ddlog_std::Vec<bit<8>>",
            ),
        ):
            with pytest.raises(DDlogError) as found:
                session.execute(text)
            assert message in render(found.value.diagnostics)
        session.insert("Other", (1, [1]), (2, [1]), (3, [2]))
        session.commit()
        counts = session.select("SELECT v, count(*) AS n FROM other GROUP BY v").rows
        assert [(list(v), n) for v, n in counts] == [([1], 2), ([2], 1)]
        pairs = session.select("SELECT * FROM other o JOIN other p USING (v) WHERE o.a < p.a").rows
        assert [(a, list(v), b) for a, v, b in pairs] == [(1, [1], 2)]
        session.execute("UPDATE other SET a = a + 1 WHERE v <> (SELECT v FROM other WHERE a = 3)")
        session.execute("INSERT INTO other SELECT 9, v FROM other WHERE a = 3")
        session.execute("DELETE FROM other WHERE a = 2")
        rows = session.select("SELECT * FROM other").rows
        assert [(a, list(v)) for a, v in rows] == [(3, [1]), (3, [2]), (9, [1]), (9, [2])]
        assert not session.in_transaction


def test_keys_after_an_update() -> None:
    """An UPDATE that moves all keys is legal; one that makes two rows of a key is not."""
    both = Both(TABLES, {})
    both.session.execute("INSERT INTO k VALUES (1, 1, 'a'), (2, 2, 'b')")
    both.session.execute("UPDATE k SET id = 3 - id")
    assert list(both.session.execute("SELECT id, a FROM k").rows or ()) == [(1, 2), (2, 1)]
    with pytest.raises(DDlogError, match="already has a row with the key id = 1"):
        both.session.execute("UPDATE k SET id = 1")
    assert list(both.session.execute("SELECT id, a FROM k").rows or ()) == [(1, 2), (2, 1)]


WITH_PARAMETERS = (
    ("SELECT id + ?, name || ? FROM item ORDER BY 1", (1, "x")),
    ("SELECT name FROM item ORDER BY id LIMIT ?", (1,)),
    ("SELECT i.id, j.name FROM item i LEFT JOIN item j ON i.id = j.id AND j.id > ?", (1,)),
    ("SELECT count(*) + ?, sum(id + ?), sum(id * ?) FILTER (WHERE id < ?) FROM item", (1, 2, 3, 2)),
    ("SELECT id % ? AS m, count(*) FROM item GROUP BY id % ? HAVING count(*) <= ?", (2, 2, 1)),
    ("SELECT name FROM item WHERE id IN (SELECT id - ? FROM item WHERE id > ?) OR price = ?", (1, 1, 2)),
    (
        "SELECT name FROM item WHERE id IN (?, ?) AND NOT EXISTS (SELECT 1 FROM dear WHERE name = ?)",
        (1, 2, "z"),
    ),
    ("SELECT id, sum(id + ?) OVER (ORDER BY id) FROM item", (5,)),
    ("SELECT name FROM item WHERE key > ? AND price BETWEEN ? AND ?", ("2024-01-01", 2, 3)),
    ("SELECT round(price, ?) FROM item UNION SELECT ? FROM item", (1, 7)),
    ("SELECT CASE WHEN id > ? THEN ? ELSE NULL END FROM item", (1, 3)),
    ("WITH w AS (SELECT id FROM item WHERE id > ?) SELECT * FROM w, item WHERE item.id < ?", (1, 2)),
)


@pytest.mark.parametrize(("text", "parameters"), WITH_PARAMETERS)
def test_parameters_mean_what_literals_in_their_places_mean(text: str, parameters: Sequence[Any]) -> None:
    with items() as session:
        for more in range(2):  # the second time by the plan of the first
            values = [each + more if isinstance(each, int) else each for each in parameters]
            literals = text.replace("?", "{!r}").format(*values)
            given, written = session.execute(text, values).rows, session.execute(literals).rows
            assert bag(given or ()) == bag(written or ())


def test_a_list_among_the_parameters_is_that_of_the_call() -> None:
    with items() as session:
        for wanted in ([], [1, 2], [2]):
            found = session.execute("SELECT id FROM item WHERE id = ANY(?) ORDER BY id", (wanted,))
            assert list(found.rows) == [(each,) for each in wanted]
        assert list(session.execute("VALUES (1), (2) LIMIT 1").rows) == [(1,)]


def test_a_statement_is_compiled_once_for_other_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of other literals, too, where no subquery can count by them."""
    made = list[str]()
    statement_of = changerules.statement_of

    def counted(source: Source, *more: Any) -> changerules.SqlStatement:
        made.append(source.text)
        return statement_of(source, *more)

    monkeypatch.setattr(changerules, "statement_of", counted)
    with items() as session:
        for n in range(3, 9):
            session.execute(
                f"INSERT INTO item (id, name, price) VALUES ({n}, 'a {n}', {n}.5), (-{n}, 'it''s', -0.5)"
            )
            session.execute("INSERT INTO item VALUES (?, ?, NULL, '2024-01-31')", (n + 100, str(n)))
            session.execute(f"UPDATE item SET price = {n}.25 WHERE name = 'a {n}' AND id = {n}")
            session.execute("DELETE FROM item WHERE id = :n RETURNING name", {"n": n - 1})
            session.execute(
                f"INSERT INTO item (id, name) VALUES ({n} - 1000, upper('q{n}')) ON CONFLICT DO NOTHING"
            )
        assert len(made) == 3
        rows = session.select("SELECT * FROM item WHERE id IN (7, 8, -8, 108) ORDER BY id").rows
        day = datetime.date(2024, 1, 31)
        assert rows == [
            (-8, "it's", Decimal("-0.50"), None), (8, "a 8", Decimal("8.25"), None), (108, "8", None, day),
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "parameters", "row"),
    [
        ("INSERT INTO t VALUES ('5', 1.456, 1, 3)", (), (5, Decimal("1.46"), 1.0, "3")),
        ("INSERT INTO t (x, d) VALUES (1e2, ?)", (2,), (None, Decimal("2.00"), 100.0, None)),
        ("insert into T(\"s\", i) values ('a;''--', -2);", (), (-2, None, None, "a;'--")),
        ("INSERT INTO t VALUES (2.0, -1, 0.1, NULL) -- 'x'", (), (2, Decimal("-1.00"), 0.1, None)),
        ("INSERT INTO t VALUES (?, ?, ?, ?)", (True, "2.5", Decimal("0.1"), 4),
         (1, Decimal("2.50"), 0.1, "4")),
        ("INSERT INTO t VALUES (1 + 1, -'2', 7 / 2, upper('a') || 3)", (), (2, Decimal("-2.00"), 3.5, "A3")),
        ("INSERT INTO t VALUES (round(2.567, 2), CAST('5.5' AS DECIMAL(8, 2)), 1e3, DATE '2024-01-05')", (),
         (3, Decimal("5.50"), 1000.0, "2024-01-05")),
        ("INSERT INTO t VALUES ($2, $1, $1, $2)", (2, 1), (1, Decimal("2.00"), 2.0, "1")),
    ],
)  # fmt: skip
def test_literals_are_brought_to_the_types_of_columns(
    text: str, parameters: Any, row: tuple[Any, ...]
) -> None:
    with program_of("CREATE TABLE t (i INTEGER, d DECIMAL(8, 2), x DOUBLE, s VARCHAR);").session() as session:
        session.execute(text, parameters)
        assert session.select("SELECT * FROM t").rows == [row]


def test_tables_of_schemas_are_told_apart() -> None:
    """One of a usual schema has its name alone."""
    tables = "CREATE TABLE t (a INT); CREATE TABLE raw.t (a INT);"
    with program_of(f"{tables} CREATE VIEW raw.v AS SELECT a + 1 AS b FROM raw.t").session() as session:
        session.execute("INSERT INTO t VALUES (1)")
        assert session.execute("INSERT INTO raw.t VALUES (5), (6)").count == 2
        changed = session.execute("UPDATE raw.t SET a = 7 WHERE a = 6 RETURNING *").rows
        assert changed is not None and changed.rows == [(7,)]
        session.execute("CREATE VIEW raw.w AS SELECT sum(b) AS s FROM raw.v")
        assert session.select("SELECT s, x.a FROM raw.w, public.t AS x").rows == [(14, 1)]
        assert session.execute("DELETE FROM raw.t RETURNING a").count == 2
        assert session.select("SELECT a FROM t").rows == [(1,)]


def test_what_a_statement_computes_between_is_not_what_a_view_does() -> None:
    """Their relations would have one name, were it not taken."""
    query = "SELECT *, 1 AS z FROM (SELECT id, unnest(range({0}, id + {0})) AS x FROM t)"
    program = program_of(f"CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE VIEW v AS {query.format(1)};")
    with program.session() as session:
        session.execute("INSERT INTO t VALUES (2)")
        assert session.select(query.format(7)).rows == [(2, 7, 1), (2, 8, 1)]


def test_views_come_and_go(tmp_path: Path) -> None:
    """Also in a program of rules, and in the state."""
    module, rules, state = tmp_path / "shop.sql", tmp_path / "edge.dl", tmp_path / "s.ddlog"
    module.write_text(ITEM)
    rules.write_text(
        "input relation Edge(a: bigint, b: bigint)\noutput relation Two(a: bigint)\nTwo(a) :- Edge(a, 2)."
    )
    for program, insert, views in (
        (module, "INSERT INTO item VALUES (1, 'tea', 2.5, NULL)", ("dear", "item")),
        (rules, "INSERT INTO Edge VALUES (1, 2)", ("two", "edge")),
    ):
        with ddlog.compile(program).session(state=state) as session:
            session.execute(insert)
            session.execute(f"CREATE VIEW more AS SELECT count(*) AS n FROM {views[0]}")
            for _ in range(2):
                session.execute(
                    "CREATE MATERIALIZED VIEW IF NOT EXISTS most AS SELECT max(n) AS m FROM more;"
                )
            assert session.select("SELECT m FROM most").rows == [(1,)]
            with pytest.raises(DDlogError, match=r"(?i)more cannot be dropped"):
                session.execute("DROP VIEW more")
            with pytest.raises(DDlogError, match=f"`{views[1]}` is no view, but an input relation"):
                session.execute(f"DROP VIEW {views[1]}")
            session.execute("DROP MATERIALIZED VIEW public.most")
            session.execute("DROP VIEW IF EXISTS most")
            changes = session.execute(
                f"CREATE OR REPLACE VIEW public.more AS SELECT count(*) + 1 AS n FROM {views[1]}"
            ).changes
            assert changes is not None and "More" in changes
            session.execute("BEGIN")
            with pytest.raises(DDlogError, match="neither committed nor rolled back"):
                session.execute("DROP VIEW more")
            session.execute("ROLLBACK")
            text = session.program.source
        with ddlog.compile(text).session(state=state) as session:
            assert session.select("SELECT n FROM more").rows == [(2,)]
        state.unlink()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("DESCRIBE item", [("id", "INTEGER", "NO", "YES"), ("name", "VARCHAR", "NO", "NO"),
                           ("price", "DECIMAL(38, 2)", "YES", "NO"), ("key", "DATE", "YES", "NO")]),
        ("DESC SELECT id + 1 AS n FROM item;", [("n", "INTEGER", "NO", "NO")]),
        ("SHOW TABLES", [("item", "table"), ("dear", "view")]),
        ("EXPLAIN SELECT count(*) FROM item WHERE id > 7", [("Answer: 1 row",)]),
        ("EXPLAIN WHY SELECT name || '!' AS n FROM dear",
         [('answer("tea!")',),
          ("│ SELECT name || '!' AS n FROM dear  at views.sql:6:13",),
          ('│ name = "tea"',),
          ('└─ dear("tea")',),
          ("   │ SELECT name FROM item WHERE price > 2  at views.sql:3:21",),
          ('   │ name = "tea", price = "2.50"',),
          ('   ├─ item(1, "tea", "2.50", "2024-01-31")  fact',),
          ("   └─ price > 2  true",)]),
    ],
)  # fmt: skip
def test_what_statements_tell(text: str, rows: list[tuple[str, ...]]) -> None:
    with items() as session:
        before = session.program.source
        assert session.select(text).rows == rows
        assert session.program.source == before


def test_the_plan_of_a_query_has_the_rows_of_its_joins() -> None:
    with items() as session:
        lines = [
            line for (line,) in session.select("EXPLAIN SELECT 1 FROM item i JOIN item j ON i.id = j.id").rows
        ]
        assert lines[-1] == "Answer: 2 rows"
        assert any("2 rows in" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DESCRIBE itm", "unknown table `itm`"),
        ("EXPLAIN SELECT z FROM item", "1:16: unknown column `z`"),
        ("EXPLAIN COMMIT", "this statement reads no rows"),
        ("EXPLAIN WHY SELECT * FROM item WHERE id = 9", "the query has no row to explain"),
        ("EXPLAIN WHY DELETE FROM item", "EXPLAIN WHY is about a row of a SELECT"),
        ("DELETE FROM item", "this asks for no rows: `execute` carries it out"),
    ],
)
def test_what_cannot_be_told_is_an_error(text: str, message: str) -> None:
    with items() as session, pytest.raises(DDlogError) as found:
        session.select(text)
    assert message in render(found.value.diagnostics)


def test_facts_of_the_program_stay() -> None:
    """Those of a table without a key, too, can be deleted: it is a bag."""
    text = "CREATE TABLE k (id INTEGER PRIMARY KEY); CREATE TABLE b (d DECIMAL(4, 1));"
    with program_of(f"{text} INSERT INTO k VALUES (1); INSERT INTO b VALUES (1.5);").session() as session:
        session.execute("INSERT INTO k VALUES (2)")
        for statement in ("DELETE FROM k", "UPDATE k SET id = 3", "INSERT OR REPLACE INTO k VALUES (1)"):
            with pytest.raises(DDlogError, match=r"the row \(1\) of `k` is a fact of the program"):
                session.execute(statement)
        session.execute("DELETE FROM k WHERE id > 1")
        session.execute("UPDATE b SET d = d * 2")
        assert session.select("SELECT id, d FROM k, b").rows == [(1, Decimal("3.0"))]


CONSTRAINED = """CREATE TABLE sale (item INTEGER REFERENCES item, code VARCHAR UNIQUE,
    n DECIMAL(4, 2) CHECK (n > 0), UNIQUE (item, n), CONSTRAINT few CHECK (n < 50 OR code = 'x'));
CREATE TABLE item (id INTEGER, day DATE, PRIMARY KEY (id));
CREATE TABLE twin (a INTEGER, b DATE, PRIMARY KEY (a, b), FOREIGN KEY (a) REFERENCES item (id));
CREATE VIEW v AS SELECT count(*) AS n FROM sale;"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT INTO sale VALUES (2, 'b', 1)",
         "1:44: the constraint (item) REFERENCES item of `sale` does not hold for item = 2"),
        ("DELETE FROM item", "REFERENCES item of"),
        ("UPDATE item SET id = 9", "REFERENCES item of"),
        ("INSERT INTO sale VALUES (1, 'a', 2)",
         "the constraint UNIQUE (code) of `sale` does not hold for the rows with code = a"),
        ("INSERT INTO sale VALUES (1, 'b', 1)",
         "UNIQUE (item, n) of `sale` does not hold for the rows with item = 1, n = 1.00"),
        ("UPDATE sale SET n = -n WHERE item = 1",
         "the constraint CHECK (n > 0) of `sale` does not hold for item = 1, code = a, n = -1.00"),
        ("INSERT INTO sale VALUES (NULL, 'b', 60)",
         "CHECK (n < 50 OR code = 'x') of `sale` does not hold for item = NULL, code = b, n = 60.00"),
        ("INSERT INTO item VALUES (1, NULL)", "item already has a row with the key id = 1"),
        ("INSERT INTO twin VALUES (1, '2024-01-31')",
         'twin already has a row with the key a = 1, b = "2024-01-31"'),
        ("INSERT INTO twin VALUES (1, NULL)", "column `b` of `twin` must not be NULL, in the row (1, NULL)"),
    ],
)  # fmt: skip
def test_a_constraint_that_is_broken_is_an_error(text: str, message: str) -> None:
    """At the commit: until then a transaction may break it."""
    with program_of(CONSTRAINED).session(relations="outputs") as session:
        session.execute("BEGIN")
        session.execute(
            "INSERT INTO sale VALUES (1, 'a', 1), (NULL, 'x', 60), (NULL, NULL, NULL), (NULL, NULL, NULL)"
        )
        session.execute("INSERT INTO item VALUES (1, NULL)")
        session.execute("INSERT INTO twin VALUES (1, '2024-01-31')")
        session.execute("COMMIT")
        with pytest.raises(DDlogError) as found:
            session.execute(text)
        assert message in render(found.value.diagnostics)
        assert "in this view" not in render(found.value.diagnostics)
        session.execute("BEGIN")
        session.execute("DELETE FROM item")
        session.execute("DELETE FROM twin")
        session.execute("DELETE FROM sale WHERE item IS NOT NULL")
        session.execute("COMMIT")
        assert session.select("SELECT n FROM v").rows == [(3,)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE t (a INTEGER REFERENCES u);", "1:38: unknown table `u`"),
        ("CREATE TABLE t (a INTEGER, UNIQUE (b));", "the constraint has no column `b`"),
        ("CREATE TABLE t (a INTEGER REFERENCES u); CREATE TABLE u (b INTEGER);",
         "1 column cannot refer to 0 columns of `u`"),
        ("CREATE TABLE t (a INTEGER CHECK (z > 1));", "unknown column `z`"),
        ("CREATE TABLE t (a VARCHAR CHECK (a || a));", "a condition is not defined for VARCHAR"),
    ],
)  # fmt: skip
def test_a_wrong_constraint_is_an_error(text: str, message: str) -> None:
    with pytest.raises(DDlogError) as found:
        program_of(text)
    assert message in render(found.value.diagnostics)


def test_a_view_that_is_added_leaves_what_the_others_hold() -> None:
    """Also where they read decimals, dates and timestamps, and compare what may be NULL."""
    text = """CREATE TABLE sale (item INTEGER, price DECIMAL(8, 2), day DATE, at TIMESTAMP, n INTEGER);
CREATE VIEW dear AS SELECT item, sum(price) AS total FROM sale WHERE price > 2 AND n < 5 GROUP BY item;
CREATE VIEW days AS SELECT date_trunc('month', at) AS month, max(day) AS d FROM sale WHERE n > 0 GROUP BY 1;
CREATE VIEW numbered AS SELECT item, row_number() OVER (PARTITION BY day ORDER BY at, item) AS n FROM sale;"""
    with program_of(text).session() as session:
        session.execute("INSERT INTO sale VALUES (1, 2.5, '2024-01-01', '2024-01-01 10:00:00', 1)")
        for query in (
            "SELECT count(*) AS n FROM sale",
            "SELECT max(total) AS total FROM dear WHERE total < 9",
        ):
            here = here_of(session.state.host)
            before = {name: here._store(name) for name in ("Sale", "Dear", "Days", "Numbered")}
            session.execute(f"CREATE OR REPLACE VIEW more AS {query}")
            assert all(here._store(name) is store for name, store in before.items())
        assert session.select("SELECT total FROM more").rows == [(Decimal("2.50"),)]


def test_statements_know_names_and_types_of_columns_that_relations_do_not_have() -> None:
    text = """CREATE TABLE t ("a b" INTEGER, "Ä" JSON); CREATE VIEW v AS SELECT "a b", "ä" AS j FROM t"""
    with program_of(text).session() as session:
        session.execute("""INSERT INTO t VALUES (1, '{"x": 2}')""")
        assert session.select("""SELECT "a b", j->>'x' AS x FROM v""").rows == [(1, "2")]


def test_tables_and_views_may_have_names_like_those_that_a_translation_makes() -> None:
    text = """CREATE TABLE sales__2024 (n INTEGER); CREATE TABLE rows__1 (n INTEGER UNIQUE);
    CREATE VIEW constraint__1 AS SELECT DISTINCT n, rank() OVER (ORDER BY n) AS r FROM sales__2024;"""
    rules = "input relation Sales__2024(n: bigint)\noutput relation Constraint__1(n: bigint)\n"
    rules += "Constraint__1(n) :- Sales__2024(n)."
    for program in (program_of(text), compile_source(Source("sales.dl", rules))):
        with program.session() as session:
            session.execute("CREATE VIEW more__9 AS SELECT count(*) AS n, max(n) AS m FROM sales__2024")
            session.execute("INSERT INTO sales__2024 VALUES (7)")
            assert session.select("SELECT m FROM more__9 JOIN constraint__1 ON m = constraint__1.n").rows == [
                (7,)
            ]
            with pytest.raises(DDlogError, match="unknown table"):
                session.select("SELECT * FROM rows__2")
            session.execute("DROP VIEW more__9")
            assert list(session.program.relations) == list(program.relations)


ADDED = """CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR, price DECIMAL(8, 2));
CREATE TABLE sale (item INTEGER, n INTEGER, day DATE);
CREATE VIEW dear AS SELECT id, name FROM item WHERE price > 2;"""
VIEWS_ADDED = (
    "SELECT name, sum(n * price) AS total FROM item LEFT JOIN sale ON id = item GROUP BY name HAVING count(*) > 0",  # noqa: E501
    "SELECT DISTINCT day FROM sale WHERE item NOT IN (SELECT id FROM dear)",
    "SELECT id, rank() OVER (ORDER BY price) AS place FROM item UNION ALL SELECT item, n FROM sale",
)


def test_a_view_alone_is_translated_and_checked_and_is_what_it_is_in_the_whole_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def marks(program: Program) -> dict[str, str | None]:
        circuit = program.circuit()
        names = Definitions(program.checked).of_circuit(circuit).names
        return {name: names[at] for name, at in circuit.relations if program.relations[name].role == "output"}

    with program_of(ADDED).session() as session:
        with monkeypatch.context() as patch:
            patch.setattr("ddlog.check.program.check_program", None)
            for number, query in enumerate(VIEWS_ADDED):
                session.execute(f"CREATE VIEW added{number} AS {query}")
            session.execute("CREATE VIEW over AS SELECT count(*) AS n FROM added0")
            session.execute("DROP VIEW added1")
            with pytest.raises(DDlogError, match="added0 cannot be dropped: over uses it"):
                session.execute("DROP VIEW added0")
        assert marks(session.program) == marks(program_of(session.program.source.text))
        session.execute("INSERT INTO item VALUES (2, 'pot', 1)")
        with pytest.raises(DDlogError, match=r'<statement>:2:1: "pot" is no INTEGER'):
            session.execute("CREATE VIEW wrong AS\nSELECT cast(name AS INTEGER) AS n FROM item")
        session.execute("INSERT INTO item VALUES (1, 'tea', 2.5)")
        assert session.select("SELECT n FROM over").rows == [(2,)]


def test_a_literal_of_no_json_is_refused() -> None:
    session = program_of("CREATE TABLE t (j JSON); CREATE VIEW v AS SELECT 1 FROM t;").session()
    session.execute("INSERT INTO t VALUES ('[1]'), (NULL)")
    with pytest.raises(DDlogError, match="is no JSON, the type of column `j`"):
        session.execute("INSERT INTO t VALUES ('[1')")
