"""Spark's dialect of SQL without Spark: what is refused, options, statements, modules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.source import Source
from ddlog.sessions.program import compile_source
from ddlog.sql.translate import translate

from ..sqlpage import SPARK
from .sparkcases import EXPRESSIONS, QUERIES, TABLES

JOB = """
CREATE TABLE `sale` (id INT NOT NULL, tags ARRAY<STRING>, `unit price` DECIMAL(8, 2), PRIMARY KEY (id));
CREATE OR REPLACE TEMPORARY VIEW tags AS
SELECT tag, sum(`unit price`) / count(*) AS mean FROM `sale` LATERAL VIEW explode(tags) v AS tag GROUP BY tag;
"""

REFUSED = r"""
kurtosis(a) | the function KURTOSIS is not supported
xxhash64(a) | the function XXHASH64 is not supported
from_json(j, 'a INT') | the function FROM_JSON is not supported
rand() | the function RAND is not supported
first(a) | FIRST without an order is not supported
date_format(w, s) | a pattern of moments that is not a constant
date_format(w, 'yyyy-QQQ') | `QQQ` is not known in a pattern of moments
to_date(s, 'D') | reading moments by `D` is not supported
regexp_extract(s, '(?=a)') | there is no look-around
pmod(a) | the function PMOD takes 2 arguments
round(a, b) | a number of places that is not a constant
contains(xs, 1) | the function CONTAINS is not defined for INTEGER[]
explode(a) | the function EXPLODE is not defined for INTEGER
posexplode(xs) | the function POSEXPLODE in a select list is not supported
explode(xs) + explode(xs) + explode(ss) | a select list has one function that makes rows
d + make_interval(1) | the function MAKE_INTERVAL is not supported
percentile(a, 0.5, 2) | the function PERCENTILE is not supported
CAST('x' AS INT) | `x` is no INTEGER
trunc(d, 'century') | the unit century is not supported
get_json_object(j, s) | a path of JSON that is not a constant
aggregate(xs, 0, (u, e) -> ok) | the function AGGREGATE is not defined for INTEGER and BOOLEAN
""".strip().split("\n")


def test_all_else_is_refused_by_name_and_place() -> None:
    wanted = [each.split(" | ") for each in REFUSED]
    text = "".join(
        f"\nCREATE VIEW v{at} AS SELECT {each} AS r FROM t;" for at, (each, _) in enumerate(wanted)
    )
    with pytest.raises(DDlogError) as found:
        translate(Source("job.sql", TABLES.strip() + text, dialect="spark"))
    lines = len(TABLES.strip().split("\n"))
    for (expression, message), error in zip(wanted, found.value.diagnostics, strict=True):
        assert message in error.message, expression
        assert error.span is not None
        lines += 1
        assert error.span.line == lines


def test_a_job_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job.sql").write_text(JOB)
    (tmp_path / "sale.jsonl").write_text('{"id": 1, "tags": ["a", "b"], "unit_price": "0.10"}\n')
    (tmp_path / "more.sql").write_text("INSERT INTO `sale` VALUES (2, array('it\\'s; b', 'b'), 0.25);")
    facts = f"sale={tmp_path}/sale.jsonl"
    more = ("--updates", str(tmp_path / "more.sql"), "--no-init-snapshot")
    assert main(["run", str(tmp_path / "job.sql"), "--dialect", "spark", "--input", facts, *more]) == 0
    assert capsys.readouterr().out == (
        "Tags:\n"
        'Tags{.tag = "b", .mean = "0.1000000000000000000000"}: -1\n'
        'Tags{.tag = "b", .mean = "0.1750000000000000000000"}: +1\n'
        'Tags{.tag = "it\'s; b", .mean = "0.2500000000000000000000"}: +1\n'
    )


def test_statements_and_modules_are_of_the_dialect(tmp_path: Path) -> None:
    (tmp_path / "job.sql").write_text(JOB)
    (tmp_path / "main.dl").write_text(
        "import job\noutput relation Known(tag: string)\nKnown(t) :- job::Tags(.tag = Some{t}).\n"
    )
    with ddlog.compile(tmp_path / "main.dl", dialect="spark").session() as session:
        session.insert("job::Sale", (1, ["a", None], "1.00"))
        session.commit()
        assert [tuple(row) for row in session["Known"].stored] == [("a",)]
    with compile_source(Source("job.sql", JOB, dialect="spark")).session() as session:
        session.execute('INSERT INTO `sale` VALUES (?, array("x"), ?)', (1, "2.00"))
        session.execute('UPDATE `sale` SET tags = array("y") WHERE id = 1')
        assert [tuple(row) for row in session.select("SELECT tag FROM tags WHERE tag RLIKE 'y'").rows] == [
            ("y",)
        ]
        session.execute("CREATE VIEW first AS SELECT element_at(tags, 1) AS tag FROM `sale`")
        assert [tuple(row) for row in session["first"]] == [("y",)]
    with pytest.raises(DDlogError, match="dialect"):
        ddlog.compile(tmp_path / "job.sql", dialect="hive")  # type: ignore[arg-type]


def test_every_function_is_compared_with_spark() -> None:
    called = {each.upper() for each in re.findall(r"(\w+)\(", f"{EXPRESSIONS}{QUERIES}")}
    assert {name.upper() for names in SPARK.values() for name in names} - called == set()
