"""Questions about tables and views of SQL."""

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
    assert shop.why_change("chief", (3, 1)).change.came
    with pytest.raises(DDlogError, match="does not hold"):
        shop.why('person(1, "a", 1)')
    with pytest.raises(DDlogError, match="float value"):
        shop.why("person(1, 2.5, NULL)")
