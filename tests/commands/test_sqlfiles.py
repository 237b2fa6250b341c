"""Files and streams of statements of SQL: what they print, their errors, and how they are read."""

from __future__ import annotations

import io
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ddlog.commands.interpreter import Interpreter
from ddlog.commands.sqlreader import SqlReader, begins_sql
from ddlog.commands.update import UpdateRun
from ddlog.commands.updatefiles import update_commands
from ddlog.console.cli import main
from ddlog.errors.diagnostics import DDlogError, render
from ddlog.errors.source import Source
from ddlog.sessions.program import compile_source
from ddlog.sql.splitter import without_script

PROGRAM = compile_source(
    Source(
        "shop.sql",
        """CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, price DECIMAL(8, 2));
        CREATE TABLE sale (item INTEGER, day DATE);
        CREATE VIEW dear AS SELECT name FROM item WHERE price > 2;""",
    )
)
SCRIPT = """-- two rows; with a semicolon
INSERT INTO item VALUES (1, 'tea; pot', 2.5), (2, 'it''s', 1);
BEGIN;
INSERT INTO sale VALUES (1, '2024-01-31');
INSERT INTO sale VALUES (2, NULL); /* ; */ INSERT INTO sale (item) VALUES (3);
  UPDATE item SET price = price * 2
  WHERE id IN (SELECT item FROM sale);
SELECT name FROM dear;
COMMIT;
DELETE FROM "sale" WHERE item = 3"""


def carried_out(text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that a stream of statements prints, with its error."""
    lines = list[str]()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    with PROGRAM.session() as session:
        interpreter = Interpreter(
            session, lines.append, lambda changes, _: lines.extend(["commit", *changes.lines()]), ["Dear"]
        )
        try:
            interpreter.run(update_commands("-", PROGRAM.relations, session.typedefs, runs=True))
        except DDlogError as error:
            lines += render(error.diagnostics).split("\n")
        lines.append(f"{interpreter.in_transaction} {sorted(session['Sale'])}")
        interpreter.forget()
    return lines


def test_a_stream_of_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    assert carried_out(SCRIPT, monkeypatch) == [
        "commit", "Dear:", 'Dear{.name = "tea; pot"}: +1',
        '{.name = "tea; pot"}',
        "commit",
        "commit",
        "False [Sale(item=1, day=datetime.date(2024, 1, 31)), Sale(item=2, day=None)]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT INTO item VALUES (1, 'a', 1);\n  DELETE FROM item\n  WHERE z = 1;",
         "<stdin>:3:9: unknown column `z`"),
        ("BEGIN;\nINSERT INTO item VALUES (1, 'a', 1); INSERT INTO item VALUES (1, 'b', 2);\nCOMMIT;",
         "<stdin>:2:38: item already has a row with the key id = 1"),
        ("INSERT INTO item VALUES (1, 'a', 1);\nINSERT INTO item VALUES (2, NULL, 1);",
         "<stdin>:2:1: column `name` of `item` must not be NULL, in the row (2, NULL, "),
        ("SELECT 1;\n\n COMMIT;", "<stdin>:3:2: `commit` outside a transaction"),
        ("SELECT 1; DROP VIEW item", "<stdin>:1:11: `item` is no view, but an input relation"),
        ("SELECT 1;\nSELECT 'a", "<stdin>:2:8: this is not SQL: ' does not end"),
        ("SELECT 1;\ndump Dear;", "<stdin>:2:1: the statement dump is not supported"),
    ],
)  # fmt: skip
def test_an_error_has_its_place(text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert message in "\n".join(carried_out(text, monkeypatch))


def test_a_transaction_that_does_not_end_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    assert carried_out("BEGIN; INSERT INTO sale VALUES (1, NULL);", monkeypatch) == ["True []"]


def test_statements_are_read_alike_however_they_come() -> None:
    """Rows in a transaction come together; statements come whole, whatever the pieces of the text."""
    reader = SqlReader(PROGRAM.relations, PROGRAM.checked.typedefs, "a.sql")
    reader.feed(SCRIPT)
    whole = list(reader.commands(final=True, runs=True))
    assert [each.word for each in whole] == [
        "INSERT", "BEGIN", "INSERT", "UPDATE", "SELECT", "COMMIT", "DELETE"
    ]  # fmt: skip
    assert isinstance(whole[2].action, UpdateRun)
    assert [str(whole[2].action.place(at)) for at in range(3)] == ["a.sql:4:1", "a.sql:5:1", "a.sql:5:44"]
    texts = texts_of([SCRIPT])
    for size in (1, 7):
        assert texts_of(SCRIPT[at : at + size] for at in range(0, len(SCRIPT), size)) == texts


def texts_of(pieces: Any) -> list[str]:
    """The texts of the statements of a text that comes in pieces."""
    reader, found = SqlReader(PROGRAM.relations, PROGRAM.checked.typedefs, "a.sql"), list[Any]()
    for piece in pieces:
        reader.feed(piece)
        found += reader.commands()
    return [each.action.passage.text for each in [*found, *reader.commands(final=True)]]


OF_SQL = """SELECT 1|insert into x|INSERT OR REPLACE INTO x|update t set|begin;|COMMIT;|-- a|rollback to p
create or replace view v as|Drop View v|show tables|start transaction|with a as|merge into t"""
COMMANDS = """insert Edge(1)|delete Edge(1)|commit;|rollback;|start;|dump Select;|Select(1).|delete from(1)
drop Top;|end(1)|truncated|? x"""


def test_words_of_sql_and_of_commands() -> None:
    of_sql, commands = (re.split(r"[|\n]", each) for each in (OF_SQL, COMMANDS))
    assert [each for each in of_sql + commands if begins_sql(each)] == of_sql


def test_statements_behind_the_views_are_carried_out_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.sql"
    text = "CREATE TABLE t (a INTEGER);\nINSERT INTO t VALUES (1);\nCREATE VIEW v AS SELECT a FROM t;\n"
    program.write_text(f"{text}UPDATE t SET a = a + 1; INSERT INTO t VALUES (5);")
    for _ in range(2):
        assert main(["run", str(program), "--state", str(tmp_path / "s.ddlog"), "--quiet"]) == 0
        assert capsys.readouterr().out == "V:\nV{.a = 2}\nV{.a = 5}\n\n"
    program.write_text(f"{text}DELETE FROM t;\nUPDATE t SET z = 1;")
    assert main(["run", str(program), "--quiet"]) == 1
    error = capsys.readouterr().err
    assert "p.sql:5:14: unknown column `z`" in error
    assert "the 2 commits before this stand" in error


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("CREATE VIEW v AS SELECT 1; INSERT INTO t VALUES ('UPDATE');", ""),
        ("UPDATE t SET a = 1; CREATE VIEW v AS SELECT 1;", ""),
        ("CREATE TABLE t (a TEXT);\nINSERT INTO t SELECT 'a' -- 1", "\nINSERT INTO t SELECT 'a' -- 1"),
        ("DROP TABLE IF EXISTS t;CREATE TABLE t (a TEXT);INSERT INTO t VALUES ('a');\n"
         "CREATE VIEW v AS FROM t;\nTRUNCATE t;",
         "INSERT INTO t VALUES ('a');\n\nTRUNCATE t;"),
        ("CREATE TABLE t (a TEXT);INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING;",
         "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING;"),
        ("/* SELECT; */ ATTACH 'a.dl';\nSELECT 1", "\nSELECT 1"),
        ("CREATE TABLE t (a TEXT);\nDELETE FROM t WHERE a = E'\\'; CREATE '';';",
         "\nDELETE FROM t WHERE a = E'\\'; CREATE '';';"),
        ("CREATE TABLE t (a TEXT);\n((FROM t));", "\n((FROM t));"),
    ],
)  # fmt: skip
def test_where_a_module_ends(text: str, script: str) -> None:
    """All that is no declaration is carried out, at its place, if something behind the last view is."""
    _, rest = without_script(Source("a.sql", text))
    assert ("" if rest is None else re.sub(" +(?=\n|[A-Z]+ (INTO t VALUES|t;))|^ +", "", rest.text)) == script


def test_an_answer_in_an_order_that_it_does_not_show_is_written_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "shop.sql"
    program.write_text(
        "CREATE TABLE item (id INTEGER PRIMARY KEY, price DECIMAL(8, 2));\n"
        "INSERT INTO item VALUES (1, 2.5), (2, 9), (3, 1);\n"
        "SELECT id FROM item ORDER BY price * 2 DESC LIMIT 2;\n"
        "SELECT * FROM (SELECT id FROM item ORDER BY price) LIMIT 2;\n",
        encoding="utf-8",
    )
    assert main(["run", str(program), "--quiet", "--format", "jsonl"]) == 0
    assert capsys.readouterr().out == '{"id": 2}\n{"id": 1}\n{"id": 3}\n{"id": 1}\n'
