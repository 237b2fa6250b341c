"""Structs and maps against DuckDB after inserts, changes and deletes, and their errors."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import ddlog
from ddlog.errors.diagnostics import DDlogError, render

from .duck import Both, program_of

TABLES = """
CREATE TABLE n (a INTEGER, s STRUCT(x INTEGER, y VARCHAR, "key" DATE), m MAP(VARCHAR, INTEGER),
    d STRUCT(p STRUCT(q DECIMAL(6, 2)), l INTEGER[]), k MAP(INTEGER, DATE[]));
"""
VIEWS = """
SELECT a, s, m, d, k FROM n
SELECT a, s.x, n.s.y AS yy, s['x'] + 1 AS z, struct_extract(s, 'key') AS w, d.p.q, d.l[1] AS f, (s).y AS g FROM n
SELECT a, m['a'] AS x, m['b'] + 1 AS y, k[2] AS z, k[a][1] AS w, element_at(m, 'a') AS e, map_extract_value(m, 'c') AS v FROM n
SELECT a, MAP {1: 'p', 2: 'q'}[2] AS x, (MAP {-1: a})[-1] AS y, k[2::BIGINT] AS z, MAP {'k': [a, 8]}['k'][2] AS w FROM n
SELECT a, list_sort(map_keys(m)) AS ks, list_sum(map_values(m)) AS vs, cardinality(m) AS c, map_contains(m, 'b') AS h FROM n
SELECT a, {'u': a, 'v': s} AS x, struct_pack(q := s.y, r := m) AS y, [{'z': s.x}, NULL] AS z FROM n
SELECT a, MAP {'p': a, 'q': NULL} AS x, map([a, 9], [s, NULL]) AS y, map([], []) AS z, MAP {} AS w FROM n WHERE a < 9
SELECT a, map_concat(m, MAP {'a': 7}) AS x, map_contains_value(m, 2) AS y, map_entries(MAP {'a': s}) AS z FROM n
SELECT CAST(s AS VARCHAR) AS x, CAST(d AS VARCHAR) AS y, CAST({'t': TIME '10:00:00', 'e': ''} AS VARCHAR) AS z FROM n
SELECT CAST(MAP {'a b': s.y} AS VARCHAR) AS x, CAST([s.y, 'NULL'] AS VARCHAR) AS y, to_json(s) AS z, to_json(d) AS w FROM n
SELECT CAST(s AS STRUCT(y VARCHAR, x DOUBLE, zz DATE)) AS x, CAST(m AS MAP(VARCHAR, DOUBLE)) AS y FROM n
SELECT s, count(*) AS c FROM n GROUP BY s
SELECT s.x, count(DISTINCT s) AS c, list(s.y ORDER BY s.y) AS l FROM n GROUP BY s.x
SELECT x.a, y.a AS b FROM n x JOIN n y ON x.s = y.s AND x.a < y.a
SELECT x.a FROM n x WHERE EXISTS (SELECT 1 FROM n y WHERE y.s.x = x.s.x AND y.a <> x.a)
SELECT DISTINCT d.p FROM n
SELECT s.* FROM n
SELECT a, [e.z + 1 FOR e IN l IF e.z > 1] AS l FROM (SELECT a, [{'z': s.x}, {'z': a}] AS l FROM n) q
SELECT q.a, e.z FROM (SELECT a, [{'z': s.x}, {'z': a}] AS l FROM n) q, UNNEST(q.l) u(e)
SELECT a, CASE WHEN a > 2 THEN s END AS c, coalesce(s, {'x': 0, 'y': '', 'key': NULL}) AS d FROM n
SELECT main.n.s.y AS x, array_extract(s, 'x') AS y, array_extract('abc', a) AS z, list_element(d.l, 1) AS w, a >= ALL([1, 2]) AS b, j['b'][0] AS e, j['c'].d AS f, j['b']['0'] AS g, j['z'] AS h FROM n, (SELECT '{"b": [10], "c": {"d": 1}}'::JSON AS j) q
SELECT s AS u FROM n UNION SELECT {'x': a, 'y': 'new', 'key': DATE '2024-01-01'} FROM n
"""  # noqa: E501


def literals(chosen: random.Random, a: int) -> str:
    """A row of random values, as SQL."""

    def one(*texts: str) -> str:
        return chosen.choice(("NULL", *texts, *texts))

    day = one("DATE '2024-01-31'", "DATE '1969-02-01'")
    text = one("'p q'", "'it''s, '", "''", "'ab'", "'NULL'")
    struct = one(f"{{'x': {one('1', '2')}, 'y': {text}, 'key': {day}}}")
    entries = ", ".join(
        f"'{key}': {one('1', '2', '-5')}" for key in chosen.sample("abc", chosen.randint(0, 3))
    )
    inner = one(f"{{'q': {one('2', '1.5')}}}")
    deep = one(f"{{'p': {inner}, 'l': {one('[1, NULL]', '[]')}}}")
    days = one(f"MAP {{2: [{day}], {a + 3}: NULL}}")
    return f"({a}, {struct}, {one(f'MAP {{{entries}}}')}, {deep}, {days})"


def test_views_are_those_of_duckdb() -> None:
    both = Both(TABLES, {f"v{at}": each for at, each in enumerate(VIEWS.strip().split("\n"))})
    chosen = random.Random(7)
    for step in range(5):
        rows = ", ".join(literals(chosen, chosen.randint(0, 4)) for _ in range(4))
        for statement in (
            f"INSERT INTO n VALUES {rows}",
            f"DELETE FROM n WHERE a = {step}",
            "UPDATE n SET s = {'x': s.x + 1, 'y': s.y, 'key': NULL}, m = MAP {'a': a} WHERE m['a'] = 2",
        ):
            both.duck.execute(statement)
            both.session.execute(statement)
        assert both.differences() == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT {'a': 1, 'A': 2}", "the struct has two fields `A`"),
        ("SELECT n.s.z FROM n", "STRUCT(x INTEGER, y VARCHAR, key DATE) has no field `z`"),
        ("SELECT s[a] FROM n", "the name of a field that is not a constant"),
        ("SELECT m[1] FROM n", "a key of MAP(VARCHAR, INTEGER) is not defined for INTEGER"),
        ("SELECT map_keys(s) FROM n", "the function MAP_KEYS is not defined for STRUCT"),
        ("SELECT CAST(s AS STRUCT(z INTEGER)) FROM n", "CAST to STRUCT(z INTEGER) is not defined for STRUCT"),
        ("SELECT row(1, 2)", "the expression (1, 2) is not supported"),
        ("SELECT a.x FROM n", "unknown table `a`"),
    ],
)
def test_errors(query: str, message: str) -> None:
    with pytest.raises(DDlogError) as error:
        program_of(f"{TABLES}CREATE VIEW v AS {query};")
    assert message in render(error.value.diagnostics)


def test_a_key_of_a_map_is_there_once() -> None:
    session = program_of(TABLES).session()
    for text, message in (
        ("SELECT MAP {'a': 1, 'a': 2}", "a key comes twice in a map"),
        ("SELECT map([NULL], [1])", "a key of a map is NULL"),
    ):
        with pytest.raises(DDlogError, match=message):
            session.select(text)


def test_they_come_from_files_and_python_and_go_to_arrow(tmp_path: Path) -> None:
    text = 'CREATE TABLE t (a INTEGER, s STRUCT(x INTEGER, "key" DATE), m MAP(VARCHAR, INTEGER));'
    (tmp_path / "v.sql").write_text(f"{text} CREATE VIEW v AS SELECT s, m FROM t;")
    row = {"a": 1, "s": {"x": 2, "key": "2024-01-31"}, "m": {"p": 1, "q": None}}
    (tmp_path / "t.jsonl").write_text(json.dumps(row))
    with ddlog.compile(tmp_path / "v.sql").session() as session:
        session.load(tmp_path)
        session.insert("t", (2, {"x": None, "key_": None}, {"r": 3}), (3, None, None))
        session.commit()
        made = session["v"].to_arrow().to_pylist()
        assert [each["m"] for each in made] == [None, [("r", 3)], [("p", 1), ("q", None)]]
        assert made[2]["s"]["x"] == 2 and made[0]["s"] is None
        session.execute("CREATE VIEW w AS SELECT s.x, {'z': s} AS z FROM t WHERE m['p'] = 1")
        assert [each.x for each in session["w"]] == [2]
        assert session.select("SELECT s.key FROM v WHERE s.x = 2").to_arrow().num_rows == 1
