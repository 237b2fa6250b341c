"""Operators and functions of strings of SQL, a translation each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import VectorLit
from ..syntax.templates import NOWHERE, tree
from . import conversions as c
from .lists import concatenated
from .lists import joined as lists_joined
from .scalars import Scalars, Translate
from .types import BOOLEAN, INTEGER, NULL, VARCHAR, SqlValue, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def _as_text(s: Scalars, node: Expression) -> SqlValue:
    value = s.value(node)
    made = null(VARCHAR) if value.type == NULL else s.places.dialect.cast(value, VARCHAR, may_fail=False)
    if made is None:
        s.places.mistyped("||", str(value.type), node)
    return made


def joined(s: Scalars, node: Expression) -> SqlValue:
    values = [s.value(node.this), s.value(node.expression)]
    if any(each.type.is_list for each in values):
        return concatenated(s, values, node)
    return strings_joined(s, (node.this, node.expression))


def strings_joined(s: Scalars, nodes: Sequence[Expression]) -> SqlValue:
    """Values one after another as a text; NULL if one of them is."""
    return c.strict([_as_text(s, each) for each in nodes], " ++ ".join("$" * len(nodes)), VARCHAR)


def concat(s: Scalars, node: Expression) -> SqlValue:
    """CONCAT of texts or lists leaves NULL out."""
    if any(s.value(each).type.is_list for each in node.expressions):
        return lists_joined(s, node)
    parts = [_as_text(s, each) for each in node.expressions]
    texts = [tree('unwrap_or($, "")', p.tree) if p.nullable else p.tree for p in parts]
    return SqlValue(reduce(partial(tree, "$ ++ $"), texts), VARCHAR)


def concat_ws(s: Scalars, node: Expression) -> SqlValue:
    """CONCAT_WS leaves NULL out, too, but for a separator that is NULL."""
    if any(s.value(each).type.is_list for each in node.expressions):
        s.places.refuse("CONCAT_WS of a list", node)
    separator, *parts = [_as_text(s, each) for each in node.expressions]
    made = VectorLit(tuple(p.optional().tree for p in parts), NOWHERE)
    return c.strict([separator], lambda x: tree("sql::concat_ws($, $)", x, made), VARCHAR)


def escape_of(s: Scalars, node: sql.Escape) -> str:
    """The letter behind ESCAPE of LIKE or ILIKE, or nothing. Raises SqlError."""
    if not isinstance(node.this, sql.Like | sql.ILike) or len(node.expression.name) > 1:
        s.places.refuse("ESCAPE of another operator than LIKE, or of several letters", node)
    return str(node.expression.name)


def like(s: Scalars, node: Expression) -> SqlValue:
    escape = ""
    if isinstance(node, sql.Escape):
        escape, node = escape_of(s, node), node.this
    text, pattern = s.text(node.this), s.text(node.expression)
    call = "sql::ilike" if isinstance(node, sql.ILike) else "sql::like"
    found = _simple_like(text, pattern.constant) if call == "sql::like" and not escape else None
    if found is None:
        found = c.strict([text, pattern, c.string(escape)], f"{call}($, $, $)", BOOLEAN)
    return c.strict([found], "not $", BOOLEAN) if node.args.get("negate") else found


def _simple_like(text: SqlValue, pattern: object) -> SqlValue | None:
    """A pattern with `%` at its ends alone, as a plain test."""
    if not isinstance(pattern, str) or "_" in pattern or "\\" in pattern:
        return None
    inner = pattern.strip("%")
    if "%" in inner or not inner:
        return None
    start, end = pattern[0] == "%", pattern[-1] == "%"
    test = {(False, True): "starts_with", (True, False): "ends_with", (True, True): "contains"}.get(
        (start, end)
    )
    if test is None:
        return c.strict([text, c.string(inner)], "$ == $", BOOLEAN)
    return c.strict([text, c.string(inner)], f"string_{test}($, $)", BOOLEAN)


def substring(start: str = "$1", length: str = "$2") -> Translate:
    """SUBSTRING, by templates of its start and length."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        if node.args.get("start") is None:
            s.places.wrong("SUBSTRING takes 2 to 3 arguments", node)
        given = [each for name in ("start", "length") if (each := node.args.get(name)) is not None]
        args = [s.text(node.this), *(s.brought(each, INTEGER, node) for each in given)]
        if len(given) == 1:
            return c.strict(args, f"sql::substring_from($0, {start})", VARCHAR)
        return c.strict(args, f"sql::substring($0, {start}, {length})", VARCHAR)

    return translate


def trim(s: Scalars, node: Expression) -> SqlValue:
    side = str(node.args.get("position") or "BOTH").lower()
    what = node.args.get("expression")
    letters = c.string(" ") if what is None else s.text(what)
    return c.strict([s.text(node.this), letters], f"sql::trim_{side}($, $)", VARCHAR)


def pad(s: Scalars, node: Expression) -> SqlValue:
    side = "left" if node.args.get("is_left") else "right"
    fill = node.args.get("fill_pattern")
    count = s.brought(node.expression, INTEGER, node)
    args = [s.text(node.this), count, c.string(" ") if fill is None else s.text(fill)]
    return c.strict(args, f"sql::pad_{side}($, $, $)", VARCHAR)


def hexed(s: Scalars, node: Expression, of: Expression) -> SqlValue:
    """HEX of a number, or of the bytes of a text."""
    value = s.value(of)
    if value.type == VARCHAR:
        return c.strict([value], "sql::hex_text($)", VARCHAR)
    return c.strict([s.brought(of, INTEGER, node)], "sql::hex($)", VARCHAR)


def overlaid(s: Scalars, node: Expression) -> SqlValue:
    """OVERLAY: a text with another in place of some of its letters: as many as it has, or a number that is
    not negative."""
    count = node.args.get("for_") or sql.Length(this=node.expression)
    places = (s.brought(each, INTEGER, node) for each in (node.args["from_"], count))
    values = [s.text(node.this), s.text(node.expression), *places]
    count_there = "if ($3 < 0) { sql::length($1) } else { $3 }"
    rest = f"sql::substring_from($0, max(1, $2 + ({count_there})))"
    form = f"sql::left($0, max(0, $2 - 1)) ++ $1 ++ {rest}"
    return c.strict(values, form, VARCHAR)


TEXTS: dict[type[Expression], Translate] = {
    sql.DPipe: joined,
    sql.Concat: concat,
    sql.ConcatWs: concat_ws,
    sql.Like: like,
    sql.ILike: like,
    sql.Escape: like,
    sql.Overlay: overlaid,
    sql.Hex: lambda s, node: hexed(s, node, node.this),
    sql.Substring: substring(),
    sql.Trim: trim,
    sql.Pad: pad,
}
"""The translation of each kind of node about texts."""
