"""Views in Spark's dialect of SQL are those of Spark, in ANSI mode and in UTC.

A file holds Spark's answers, and Spark is asked the queries that it lacks; in the long form, all of them.
`python -m tests.spark.test_dialect` writes the file anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ddlog.errors.source import Source
from ddlog.sessions.program import compile_source

from ..sql.duck import bag, contents
from ..sql.sparkcases import EXPRESSIONS, QUERIES, ROWS, SCHEMAS, TABLES
from ..trying import longer

AT_ONCE = 60  # expressions of one view
ANSWERS = Path(__file__).with_name("dialect.json")


def views() -> Mapping[str, str]:
    """The queries by the names of views."""
    expressions, queries = EXPRESSIONS.strip().split("\n"), QUERIES.strip().split("\n")
    for begin in range(0, len(expressions), AT_ONCE):
        chosen = enumerate(expressions[begin : begin + AT_ONCE])
        queries.append(f"SELECT pk, {', '.join(f'{each} AS e{at}' for at, each in chosen)} FROM t")
    return {f"v{at}": each for at, each in enumerate(queries)}


def texts(rows: Iterable[Sequence[Any]]) -> list[str]:
    """Rows of canonical values as texts, in order."""
    return sorted(map(str, rows))


def answers(spark: SparkSession, queries: Iterable[str]) -> dict[str, list[str]]:
    """The rows that queries have on Spark. The session is one for this alone."""
    ansi = spark.newSession()
    ansi.conf.set("spark.sql.ansi.enabled", "true")
    ansi.conf.set("spark.sql.session.timeZone", "UTC")
    for name, rows in ROWS.items():
        ansi.createDataFrame(rows, SCHEMAS[name]).coalesce(1).createOrReplaceTempView(name)
    return {each: texts(bag(ansi.sql(each).collect()).elements()) for each in queries}


def test_views_are_those_of_spark(request: pytest.FixtureRequest) -> None:
    named = views()
    known = longer(json.loads(ANSWERS.read_text("utf-8")), {})
    asked = [query for query in named.values() if query not in known]
    if asked:
        known |= answers(request.getfixturevalue("spark"), asked)
    text = TABLES + "".join(f"CREATE VIEW {name} AS {query};\n" for name, query in named.items())
    with compile_source(Source("views.sql", text, dialect="spark")).session() as session:
        for name, rows in ROWS.items():
            session.insert(name, *rows)
        session.commit()
        for name, query in named.items():
            assert texts(contents(session, name.capitalize()).elements()) == known[query], query


if __name__ == "__main__":
    spark = SparkSession.builder.master("local[2]").getOrCreate()
    ANSWERS.write_text(json.dumps(answers(spark, views().values()), indent=0, ensure_ascii=False), "utf-8")
