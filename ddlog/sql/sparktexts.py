"""Functions of texts of Spark's SQL, a translation each."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from . import conversions as c
from .calls import call, either, of_arguments
from .lists import function
from .regexps import check_pattern
from .scalars import Scalars, Translate
from .textfunctions import escape_of, hexed, strings_joined
from .types import BOOLEAN, INTEGER, VARCHAR, SqlType, SqlValue, list_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


@of_arguments
def concat(s: Scalars, node: Expression, first: Expression, *others: Expression) -> SqlValue:
    """CONCAT of texts or of lists, NULL if one of them is."""
    values = [s.value(each) for each in (first, *others)]
    if any(each.type.is_list for each in values):
        brought = s.alike(values, node, "CONCAT")
        return reduce(lambda a, b: c.strict([a, b], "sql::joined($, $)", a.type), brought)
    return strings_joined(s, node.expressions)


def like(s: Scalars, node: Expression) -> SqlValue:
    """LIKE, with a backslash before a sign that stands for itself, and LIKE ANY and ALL of several."""
    escape, inner = ("\\", node) if not isinstance(node, sql.Escape) else (escape_of(s, node), node.this)
    if isinstance(inner.expression, sql.Any | sql.All):
        several = inner.expression.this.unnest()
        patterns = several.expressions if isinstance(several, sql.Tuple) else [several]
        each = [type(inner)(this=inner.this.copy(), expression=pattern.copy()) for pattern in patterns]
        joined = sql.or_(*each) if isinstance(inner.expression, sql.Any) else sql.and_(*each)
        return s.value(joined)
    name = "ilike" if isinstance(inner, sql.ILike) else "like"
    args = [s.text(inner.this), s.text(inner.expression), c.string(escape)]
    return c.strict(args, f"sql::{name}($, $, $)", BOOLEAN)


def _regexp(template: str, type: SqlType, *more: str, optional: bool = False) -> Translate:
    """A function of a text and a regular expression, which is looked at now if it is a constant."""
    made = call(template, type, "0 text", "1 text", *more, optional=optional)

    def translate(s: Scalars, node: Expression) -> SqlValue:
        pattern = node.expressions[1] if len(node.expressions) > 1 else None
        if isinstance(pattern, sql.Literal) and pattern.is_string:
            check_pattern(s, pattern)
        return made(s, node)

    return translate


def rlike(s: Scalars, node: Expression) -> SqlValue:
    """RLIKE."""
    return _matches(s, node, node.this, node.expression)


def _matches(s: Scalars, node: Expression, text: Expression, pattern: Expression) -> SqlValue:
    if isinstance(pattern, sql.Literal):
        check_pattern(s, pattern)
    return c.strict([s.text(text), s.text(pattern)], "sql::regexp_matches($, $)", BOOLEAN)


def _reversed(s: Scalars, node: Expression) -> SqlValue:
    if len(node.expressions) == 1 and s.value(node.expressions[0]).type.is_list:
        return function("sql::list_reversed($)", "list", "0 list")(s, node)
    return call("sql::reversed($)", VARCHAR, "0 text")(s, node)


@of_arguments
def _elt(s: Scalars, node: Expression, first: Expression, *others: Expression) -> SqlValue:
    cases = [
        sql.If(this=sql.EQ(this=first.copy(), expression=sql.Literal.number(at)), true=each.copy())
        for at, each in enumerate(others, 1)
    ]
    return s.value(sql.Case(ifs=cases))


TEXTS: dict[str, Translate] = {
    "ascii": call("sql::ascii($)", INTEGER, "0 text"),
    "base64": call("sparksql::base64($)", VARCHAR, "0 text"),
    "btrim": either(
        1,
        call('sql::trim_both($, " ")', VARCHAR, "0 text"),
        call("sql::trim_both($, $)", VARCHAR, "0 text", "1 text"),
    ),
    "char": call("sql::chr($)", VARCHAR, "0 integer"),
    "chr": call("sql::chr($)", VARCHAR, "0 integer"),
    "concat": concat,
    "crc32": call("sparksql::crc32($)", INTEGER, "0 text"),
    "elt": _elt,
    "find_in_set": call("sparksql::find_in_set($, $)", INTEGER, "0 text", "1 text"),
    "hex": of_arguments(hexed),
    "initcap": call("sparksql::initcap($)", VARCHAR, "0 text"),
    "instr": call("sql::position($, $)", INTEGER, "0 text", "1 text"),
    "left": call("sql::left($, max($, 0))", VARCHAR, "0 text", "1 integer"),
    "locate": either(
        2, call("sql::position($1, $0)", INTEGER, "0 text", "1 text"),
        call("sparksql::locate($, $, $)", INTEGER, "0 text", "1 text", "2 integer"),
    ),
    "octet_length": call("sparksql::octets($)", INTEGER, "0 text"),
    "regexp": of_arguments(_matches),
    "regexp_count": _regexp("sparksql::regexp_count($, $)", INTEGER),
    "regexp_extract": either(
        2, _regexp("sparksql::regexp_extract($, $, 1)", VARCHAR),
        _regexp("sparksql::regexp_extract($, $, $)", VARCHAR, "2 integer"),
    ),
    "regexp_extract_all": either(
        2, _regexp("sql::regexp_extract_all($, $, 1)", list_of(VARCHAR)),
        _regexp("sql::regexp_extract_all($, $, $)", list_of(VARCHAR), "2 integer"),
    ),
    "regexp_instr": _regexp("sparksql::regexp_instr($, $)", INTEGER),
    "regexp_like": of_arguments(_matches),
    "regexp_replace": _regexp("sparksql::regexp_replace($, $, $)", VARCHAR, "2 text"),
    "regexp_substr": _regexp("sparksql::regexp_substr($, $)", VARCHAR, optional=True),
    "replace": either(
        2, call('sql::replaced($, $, "")', VARCHAR, "0 text", "1 text"),
        call("sql::replaced($, $, $)", VARCHAR, "0 text", "1 text", "2 text"),
    ),
    "reverse": _reversed,
    "right": call("sql::right($, max($, 0))", VARCHAR, "0 text", "1 integer"),
    "rlike": of_arguments(_matches),
    "sha": call("sparksql::sha($, 1)", VARCHAR, "0 text", optional=True),
    "sha1": call("sparksql::sha($, 1)", VARCHAR, "0 text", optional=True),
    "sha2": call("sparksql::sha($, $)", VARCHAR, "0 text", "1 integer", optional=True),
    "soundex": call("sparksql::soundex($)", VARCHAR, "0 text"),
    "space": call('sql::repeated(" ", $)', VARCHAR, "0 integer"),
    "split": either(
        2, _regexp("sql::regexp_split($, $, -1)", list_of(VARCHAR)),
        _regexp("sql::regexp_split($, $, $)", list_of(VARCHAR), "2 integer"),
    ),
    "substring_index": call("sparksql::substring_index($, $, $)", VARCHAR, "0 text", "1 text", "2 integer"),
}  # fmt: skip
"""The translation of each function of texts."""
