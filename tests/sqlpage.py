"""The page of the functions of SQL, made from the tables by which they are translated; `python -m
tests.sqlpage` writes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import sqlglot
from sqlglot import expressions as sql

from ddlog.sql import aggregates, functions, others, spark, windows

PAGE = Path(__file__).parent.parent / "docs" / "sqlfunctions.md"
MOST = 4  # arguments that are tried
HEAD = """# Functions of SQL

The functions that views can call ([sql.md](sql.md)), by all names that a dialect has for them. All other
functions are refused by their name. `python -m tests.sqlpage` writes this page.
"""

SPARK: Mapping[str, list[str]] = {
    "Functions of values": [*spark.FUNCTIONS, *spark.ALIKE, *spark.WORDS],
    "Functions that make rows": list(spark.GENERATORS),
    "Aggregates": list(spark.AGGREGATES),
    "Functions of windows, beside aggregates": list(spark.WINDOWS),
}
"""The names of functions in Spark's dialect by kind."""


def names_of(classes: Iterable[type]) -> list[str]:
    """The names by which the parser of DuckDB's dialect makes nodes of some classes."""
    wanted, parser = {*classes} - {sql.Anonymous}, sqlglot.Dialect.get_or_raise("duckdb").parser_class
    names = {*parser.FUNCTIONS, *parser.FUNCTION_PARSERS} - parser.NO_PAREN_FUNCTION_PARSERS.keys()
    return sorted(name for name in names if wanted & made_by(name))


@cache
def made_by(name: str) -> set[type]:
    """The classes of the nodes that calls of a function with so many arguments, or fewer, are read as."""
    found: set[type] = set()
    for count in range(MOST + 1):
        for argument in ("x", "'x'"):
            with suppress(sqlglot.errors.SqlglotError, ValueError, AttributeError, TypeError, IndexError):
                call = f"SELECT {name}({', '.join([argument] * count)})"
                found.add(type(sqlglot.parse_one(call, dialect="duckdb").expressions[0]))
    return found


def dialects() -> Mapping[str, Mapping[str, list[str]]]:
    """The names of functions by dialect and kind."""
    written = [*others.OF_LISTS, *names_of([sql.RegrCount])]
    ducks = {
        "Functions of values": [*names_of(functions.FUNCTIONS), *functions.NAMED],
        "Aggregates": [*names_of(aggregates.FUNCTIONS), *written],
        "Functions of windows": [*names_of(windows.FUNCTIONS), *written],
    }
    return {"DuckDB": ducks, "Spark": SPARK}


def page() -> str:
    """The text of the page."""
    made = [HEAD]
    for dialect, kinds in dialects().items():
        made.append(f"\n## {dialect}\n")
        for title, names in kinds.items():
            made.append(f"\n### {title}\n\n{listed(sorted({each.upper() for each in names}))}\n")
    return "".join(made)


def listed(names: list[str]) -> str:
    """Names in lines of the width of the documents."""
    lines = [""]
    for name in names:
        word = f"`{name}`"
        if len(lines[-1]) + len(word) + 2 > 118:
            lines.append("")
        lines[-1] += f"{', ' if lines[-1] else ''}{word}"
    return ",\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
