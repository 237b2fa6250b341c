"""Modules of SQL: what is refused, programs that import them and are attached to them, the documents'
examples."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import ddlog
from ddlog.commands.changefiles import JsonReader
from ddlog.commands.update import Update
from ddlog.console.cli import main
from ddlog.errors.diagnostics import DDlogError, render
from ddlog.errors.source import Source
from ddlog.sessions.program import compile_source
from ddlog.sql.translate import translate

HERE = Path(__file__).parent
DOCUMENT = HERE.parent.parent / "docs" / "sql.md"


def test_all_that_is_refused_is_told_at_once() -> None:
    with pytest.raises(DDlogError) as found:
        translate(Source("errors.sql", (HERE / "errors.sql").read_text()))
    assert render(found.value.diagnostics) + "\n" == (HERE / "errors.err").read_text()


def test_a_syntax_error_has_its_place() -> None:
    with pytest.raises(DDlogError) as found:
        translate(Source("errors.sql", "CREATE VIEW v AS\nSELECT FROM WHERE"))
    assert render(found.value.diagnostics).startswith("error: errors.sql:2:")


def blocks() -> list[tuple[str, str]]:
    """The blocks of the document: the name of a file or of what prints it, and the text."""
    found = re.findall(r"```(?:\w+) ?([^\n]*)\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    return [(name, text) for name, text in found if name]


def test_the_examples_of_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Blocks with the name of a file are files; one that begins with `ddlog` is a command, and its text is
    what it prints."""
    monkeypatch.chdir(tmp_path)
    commands = 0
    for name, text in blocks():
        if not name.startswith("ddlog "):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
            continue
        commands += 1
        assert main(shlex.split(name)[1:]) == 0
        assert capsys.readouterr().out.strip() == text.strip()
    assert commands == 7
    with ddlog.compile(tmp_path / "dear.dl").session() as session:
        session.insert("shop::Item", (1, "pot", "19.99"), (2, "tea", "2.50"))
        session.commit()
        assert [tuple(row) for row in session["Dear"].stored] == [("pot",)]


def test_facts_have_the_defaults_of_columns() -> None:
    text = "CREATE TABLE t (a INTEGER, b INTEGER DEFAULT 3); INSERT INTO t (a) VALUES (1), (DEFAULT);"
    view = "CREATE VIEW v AS SELECT sum(b) + max(a) AS n FROM t;"
    with compile_source(Source("t.sql", text + view)).session() as session:
        assert [repr(tuple(row)) for row in session["V"].stored] == ["(Some(x=7),)"]
        session.execute("INSERT INTO t (a) VALUES (0)")  # which is read without the parser
        assert [repr(tuple(row)) for row in session["V"].stored] == ["(Some(x=10),)"]


def test_a_column_in_quotation_marks_is_no_word_of_sql() -> None:
    with compile_source(
        Source("t.sql", 'CREATE TABLE t (a INTEGER, "default" INTEGER);')
    ).session() as session:
        session.execute("INSERT INTO t VALUES (1, 2)")
        session.execute('UPDATE t SET a = "default"')
        assert session.select("SELECT a FROM t").rows == [(2,)]


def test_files_of_json_have_any_json_in_columns_of_json(tmp_path: Path) -> None:
    rows = [
        '{"id": 1, "J": {"a": [1.5, "é", null]}}',
        '{"id": 2, "J": "[1]"}',
        '{"id": 3, "J": true}',
        '{"id": 4}',
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(rows))
    text = 'CREATE TABLE t (id INTEGER, "J" JSON); CREATE VIEW v AS SELECT coalesce("J", \'0\') AS j FROM t;'
    with compile_source(Source("t.sql", text)).session() as session:
        session.load(tmp_path)
        session.commit()
        found = sorted(row[0] for row in session["V"].stored)
    assert found == ["0", "[1]", "true", '{"a":[1.5,"é",null]}']


def test_updates_have_any_json_in_columns_of_json() -> None:
    """Also where each column is one, so that two rows could be a row, and where a row is modified."""
    program = compile_source(Source("t.sql", "CREATE TABLE p (j JSON PRIMARY KEY, k JSON);"))
    reader = JsonReader(program.relations, program.checked.typedefs, "updates")
    reader.feed('{"insert": {"p": [[[1], 2], {"j": [3], "k": {"a": 4}}]}}\n')
    reader.feed('{"modify": {"p": {"key": "[3]", "set": {"k": [5]}}}}\n')
    with program.session() as session:
        for command in reader.commands(final=True):
            if isinstance(command.action, Update):
                command.action.apply(session)
        session.commit()
        assert sorted(session.select("SELECT j, k FROM p").rows) == [("[1]", "2"), ("[3]", "[5]")]


def test_a_program_is_attached(tmp_path: Path) -> None:
    edges = "typedef Tint = Red | Blue\ninput relation Edge(x: u32, y: Option<u8>, v: Tint)"
    (tmp_path / "graph.dl").write_text(f"{edges}\nrelation Reach(x: u32)\nReach(x) :- Edge(.x = x).\n")
    query = "SELECT e.x, e.y + 1 AS z, v FROM g.edge e JOIN g.reach r ON e.x = r.x"
    (tmp_path / "v.sql").write_text(f"ATTACH 'graph.dl' AS g; CREATE VIEW n AS {query};")
    with ddlog.compile(tmp_path / "v.sql").session() as session:
        session.insert("graph::Edge", (300, 7, "Red"), (1, None, "Blue"))
        session.commit()
        assert [repr(tuple(row)) for row in session["N"].stored] == [
            "(1, None(), Blue())", "(300, Some(x=8), Red())",
        ]  # fmt: skip


def test_null_in_a_comma_separated_file(tmp_path: Path) -> None:
    (tmp_path / "T.csv").write_text("a,b\n1,x\n,\n")
    table = "CREATE TABLE t (a INTEGER, b VARCHAR);"
    view = "CREATE VIEW n AS SELECT count(a) AS a, count(b) AS b, count(*) AS c FROM t;"
    (tmp_path / "v.sql").write_text(table + view)
    with ddlog.compile(tmp_path / "v.sql").session() as session:
        session.load(tmp_path)
        session.commit()
        assert [tuple(row) for row in session["N"].stored] == [(1, 1, 2)]


@pytest.mark.parametrize("name", ["some", "none"])
def test_a_view_may_be_named_like_a_constructor(name: str) -> None:
    text = f"CREATE TABLE r (a INTEGER);\nCREATE VIEW {name} AS SELECT max(a) AS x FROM r;"
    relations = compile_source(Source("views.sql", text)).relations.values()
    assert [each.original for each in relations if each.role == "output"] == [name]
