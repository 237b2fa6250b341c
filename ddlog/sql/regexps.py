"""Regular expressions in DuckDB's dialect, with options that are constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..stdlib.regex import try_regex
from . import conversions as c
from .calls import KINDS, check_arguments
from .lists import parted
from .scalars import Scalars, Translate
from .types import BOOLEAN, VARCHAR, SqlType, SqlValue, list_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_OPTIONS = {"c": "", "i": "(?i)", "s": "(?s)", "g": ""}


def regexp(
    template: str,
    type: SqlType,
    *more: str,
    options: str = "",
    of: Callable[[Sequence[SqlValue], str, SqlType], SqlValue] = c.strict,
) -> Translate:
    """A function of a text and a regular expression, by a template, more arguments by their names and kinds,
    the name of its options, and `of`, which makes its value."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        named = isinstance(node, sql.Anonymous)
        check_arguments(s, node, len(node.expressions) if named else 2, 2, 2)
        text, pattern = node.expressions if named else (node.this, node.expression)
        given = node.args.get(options) if options else None
        flags = _flags(s, given)
        values = [s.text(text), _pattern(s, pattern, "".join(_OPTIONS[each] for each in flags))]
        for each in more:
            name, kind = each.split()
            values.append(s.brought(node.args[name], KINDS[kind], node))
        return of(values, template.replace("ALL", str("g" in flags).lower()), type)

    return translate


def _flags(s: Scalars, node: Expression | None) -> str:
    """The letters of options. Raises SqlError."""
    if node is None:
        return ""
    if not (isinstance(node, sql.Literal) and node.is_string and set(node.name) <= _OPTIONS.keys()):
        s.places.refuse("options of a regular expression other than c, i, s, g", node)
    return node.name


def _pattern(s: Scalars, node: Expression, flags: str) -> SqlValue:
    if isinstance(node, sql.Literal) and node.is_string:
        check_pattern(s, node)
    value = s.text(node)
    return value if not flags else c.strict([c.string(flags), value], "$ ++ $", VARCHAR)


def check_pattern(s: Scalars, pattern: Expression) -> None:
    """Raises SqlError for a literal that is no regular expression."""
    found = try_regex(pattern.name)
    if found[0] != 0:
        s.places.wrong(str(found[1]), pattern)


REGEXPS: dict[type[Expression], Translate] = {
    sql.RegexpLike: regexp("sql::regexp_matches($, $)", BOOLEAN, options="flag"),
    sql.RegexpILike: regexp('sql::regexp_matches($0, "(?i)" ++ $1)', BOOLEAN),
    sql.RegexpFullMatch: regexp("sql::regexp_full_match($, $)", BOOLEAN, options="options"),
    sql.SimilarTo: regexp("sql::regexp_full_match($, $)", BOOLEAN),
    sql.RegexpExtract: regexp("sql::regexp_extract($, $, $)", VARCHAR, "group integer", options="parameters"),
    sql.RegexpExtractAll: regexp(
        "sql::regexp_extract_all($, $, $)", list_of(VARCHAR), "group integer", options="parameters"
    ),
    sql.RegexpReplace: regexp(
        "sql::regexp_replace($, $, $, ALL)", VARCHAR, "replacement text", options="modifiers"
    ),
    sql.RegexpSplit: regexp("sql::regexp_split($0, $1, -1)", list_of(VARCHAR), of=parted),
}
"""The translation of each kind of node of regular expressions."""

NAMED_REGEXPS: dict[str, Translate] = {
    "regexp_split_to_array": regexp("sql::regexp_split($0, $1, -1)", list_of(VARCHAR), of=parted),
}
"""The translation of each function of them that the parser knows by its name alone."""
