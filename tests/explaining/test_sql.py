"""Questions about tables and views of SQL. `views.txt` has the answers to those about `views.sql`, by their
questions; `DDLOG_UPDATE_GOLDEN=1` writes it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ddlog
from ddlog import DDlogError, Session

SHOP = """
CREATE TABLE item (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, price DECIMAL(8, 2) NOT NULL);
CREATE TABLE sale (item INTEGER NOT NULL, day DATE NOT NULL, count INTEGER NOT NULL);
CREATE TABLE person (id INTEGER PRIMARY KEY, name VARCHAR, boss INTEGER);
CREATE VIEW turnover AS
SELECT name, sum(price * count) AS total FROM item JOIN sale ON item = id GROUP BY name;
CREATE VIEW best AS
SELECT name FROM item WHERE id IN (SELECT item FROM sale GROUP BY item HAVING sum(count) > 5);
CREATE VIEW chief AS WITH RECURSIVE up(id, top) AS (
    SELECT id, boss FROM person WHERE boss IS NOT NULL
    UNION SELECT up.id, p.boss FROM up JOIN person p ON up.top = p.id WHERE p.boss IS NOT NULL)
SELECT id, top FROM up;
CREATE VIEW named AS SELECT p.name, b.name AS boss FROM person p LEFT JOIN person b ON p.boss = b.id;
"""
FACTS: dict[str, list[tuple[Any, ...]]] = {
    "item": [(1, "tea", "2.50"), (2, "pot", "19.99")],
    "sale": [(1, "2024-01-30", 4), (1, "2024-02-03", 4), (2, "2024-02-03", 1)],
    "person": [(1, "a", None), (2, "b", 1), (3, None, 2)],
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    file: Path = tmp_path_factory.mktemp("shop") / "shop.sql"
    file.write_text(SHOP)
    with ddlog.compile(file).session() as session:
        for name, rows in FACTS.items():
            for row in rows:
                session.insert(name, row)
        session.commit()
        yield session


@pytest.mark.parametrize(
    "question",
    [
        'person(1, "a", NULL)',
        'person(1, "a", null)',
        'person(_, "b", 1)',
        "Person{.id = 3, .name = NULL, .boss = 2}",
        "Person(3, None, Some{2})",
        'sale(1, "2024-01-30", 4)',
        'turnover("tea", "20.00")',
        "chief(3, 1)",
        'named("a", NULL)',
        'named(x, "a")',
    ],
)
def test_values_are_written_as_in_commands(shop: Session, question: str) -> None:
    assert shop.why(question).tree.kind != "cut"


def test_queries_take_values_as_in_commands(shop: Session) -> None:
    assert list(shop.query('person(x, n, 1), not sale(x, "2024-02-03", 1), not person(x, NULL, 1)')) == []
    assert list(shop.query("person(x, NULL, 2)")) == [(3,)]
    assert list(shop.query("person(x, _, _), not person(x, _, NULL), not chief(x, 2)")) == [(2,)]


def test_values_in_python(shop: Session) -> None:
    assert shop.why("named", ("a", None)).tree.row == shop.why('named("a", NULL)').tree.row
    assert shop.why("chief", (3, 1)).tree.row == shop.why("chief(3, 1)").tree.row
    assert not shop.why_not("chief", (1, None), within=60).insert
    assert shop.why_change("chief", (3, 1)).came
    with pytest.raises(DDlogError, match="does not hold"):
        shop.why('person(1, "a", 1)')
    with pytest.raises(DDlogError, match="float value"):
        shop.why("person(1, 2.5, NULL)")


HERE = Path(__file__).parent


def asked(session: Session, question: str) -> str:
    """The answer to one of the questions of a golden file."""
    kind, _, row = question.partition(" ")
    if kind == "not":
        return "\n".join(session.why_not(row, within=60).lines()[:40])
    return str(session.why_change(row) if kind == "change" else session.why(row))


def test_trees_are_told_in_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    golden = HERE / "views.txt"
    expected = golden.read_text()
    questions = [line[2:] for line in expected.splitlines() if line.startswith("> ")]
    found = list[str]()
    with ddlog.compile("views.sql").session() as session:
        for question in questions:
            if question.startswith(("insert ", "delete ")):
                act, name, *cells = question.split(" ")
                row = tuple(
                    None if each == "NULL" else int(each) if each.isdigit() else each for each in cells
                )
                getattr(session, act)(name, row)
                answer = ""
            elif question == "commit":
                session.commit()
                answer = ""
            else:
                answer = asked(session, question)
            found += [f"> {question}", *answer.splitlines()]
            inner = [line for line in answer.splitlines() if " = v" in line or "__" in line]
            assert not inner
    text = "\n".join(found) + "\n"
    if os.environ.get("DDLOG_UPDATE_GOLDEN"):
        golden.write_text(text)
    assert text == expected


def test_all_forms_tell_trees_in_sql(shop: Session) -> None:
    tree = shop.why('turnover("tea", "20.00")')
    for text in (tree.json(), tree.dot(), tree.html()):
        assert "price * count" in text and "__" not in text
        assert not any(f"v{number} " in text for number in range(60))
    assert '"v1"' not in tree.json()
