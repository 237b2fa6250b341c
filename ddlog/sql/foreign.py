"""Statements, words and functions of other engines: what to write in their place."""

from __future__ import annotations

from collections.abc import Sequence

_TABLE = "write CREATE TABLE: its rows come from files, statements and streams"
_VIEW = "leave it out: each view is an output, with its changes at each commit"
_LATE = "leave out LATENESS and WATERMARK: tables keep their rows; views forget them by a condition on NOW()"
_NEEDLESS = "leave it out: it would have no effect"
_WINDOW = "write FROM TUMBLE(table, column, INTERVAL 1 HOUR)"

_STATEMENTS = {
    **dict.fromkeys(("CREATE SOURCE", "CREATE STREAM", "CREATE EXTERNAL"), _TABLE),
    **dict.fromkeys(("CREATE SINK", "SUBSCRIBE"), _VIEW),
    **dict.fromkeys(("CREATE INDEX", "CREATE DEFAULT", "CREATE SCHEMA", "DROP INDEX"), _NEEDLESS),
    **dict.fromkeys(("CREATE FUNCTION", "CREATE MACRO", "CREATE TYPE"), "write it where it is used"),
    **dict.fromkeys(("CREATE LOCAL", "CREATE RECURSIVE", "DECLARE"), "write CREATE VIEW, and WITH RECURSIVE"),
    **dict.fromkeys(("COMMENT", "GRANT", "USE", "PRAGMA", "ANALYZE", "VACUUM"), "leave it out"),
    "CREATE UNIQUE": "write UNIQUE in CREATE TABLE",
    "CREATE TABLE": "a program has its tables, with columns, types and constraints alone",
    "DROP": "leave out what is not to be there; a session drops views",
    "ALTER": "write it in CREATE TABLE or CREATE VIEW",
    "COPY": "tables are read by --input, and views are written by --output",
}
"""By their first words."""

_WORDS = {
    "EMIT": "leave out EMIT: a view has its rows after each commit, and the changes of each",
    **dict.fromkeys(("LATENESS", "WATERMARK"), _LATE),
    **dict.fromkeys(("TUMBLING", "HOPPING"), f"{_WINDOW} and GROUP BY window_start, window_end"),
    "MATCH_CONDITION": "write ASOF LEFT JOIN t ON a.key = t.key AND a.time >= t.time",
    "DESCRIPTOR": _WINDOW,
    "CUMULATE": "there are TUMBLE and HOP",
    "SESSION": "number sessions by a SUM over LAG of their times",
    "MUTUALLY": "write WITH RECURSIVE, a query for each relation",
    "MATCH_RECOGNIZE": "write LAG and LEAD, or a join of the table with itself",
    **dict.fromkeys(("CLUSTER", "REFRESH"), "leave out IN CLUSTER and REFRESH: each commit keeps views up"),
    "TOP": "write LIMIT at the end",
}
"""By a word anywhere in a statement that is not understood."""

_FUNCTIONS = {
    **dict.fromkeys(("DATE_FORMAT", "FORMAT_TIMESTAMP"), "write STRFTIME(x, '%Y-%m-%d')"),
    **dict.fromkeys(("TO_DATE", "PARSE_TIMESTAMP"), "write STRPTIME(text, '%Y-%m-%d')"),
    **dict.fromkeys(("MZ_NOW", "PROCTIME", "GETDATE", "UNIX_TIMESTAMP"), "write NOW()"),
    **dict.fromkeys(("JSONB_BUILD_OBJECT", "JSON_BUILD_OBJECT"), "write JSON_OBJECT"),
    **dict.fromkeys(("JSONB_AGG", "JSON_AGG", "JSON_ARRAYAGG"), "write JSON_GROUP_ARRAY"),
    **dict.fromkeys(("JSONB_ARRAY_ELEMENTS", "JSON_ARRAY_ELEMENTS"), "write FROM JSON_EACH(x) q: q.value"),
    "REGEXP_MATCH": "write REGEXP_EXTRACT(text, pattern, group)",
    **dict.fromkeys(("TUMBLE", "TUMBLE_START", "TUMBLE_END"), f"{_WINDOW}, or TIME_BUCKET(length, column)"),
    **dict.fromkeys(("LATEST_BY_OFFSET", "EARLIEST_BY_OFFSET"), "write ARG_MAX(x, time) or ARG_MIN(x, time)"),
    **dict.fromkeys(("FIRST_VALUE", "LAST_VALUE"), "write FIRST(x ORDER BY …) or LAST(x ORDER BY …)"),
    **dict.fromkeys(("COLLECT_LIST", "COLLECT_SET"), "write LIST(x) or LIST(DISTINCT x)"),
    **dict.fromkeys(("TYPEOF", "PG_TYPEOF"), "DESCRIBE tells the types of columns"),
    **dict.fromkeys(("READ_CSV", "READ_PARQUET", "READ_JSON"), _TABLE),
    "EXPLODE": "write UNNEST(list)",
}
"""By their names."""


_TYPES = dict.fromkeys(("SERIAL", "BIGSERIAL", "SMALLSERIAL"), "write INTEGER: rows come with their numbers")
"""By their names."""


def instead(words: Sequence[str]) -> str:
    """The help for a statement with these words, in capitals, that is not understood; empty if there is
    none."""
    begins = (_STATEMENTS.get(" ".join(words[:count])) for count in (2, 1))
    return next(filter(None, (*map(_WORDS.get, words), *begins)), "")


def function_instead(name: str) -> str:
    """The help for a function of another engine; empty for other names."""
    return _FUNCTIONS.get(name.upper(), "")


def type_instead(name: str) -> str:
    """The help for a type of another engine; empty for other names."""
    return _TYPES.get(name.upper(), "")
