"""JSON: a text whose type says what it is. Values become JSON, and JSON values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Expr, VectorLit
from ..syntax.templates import NOWHERE, tree
from . import conversions as c
from .calls import of_arguments
from .lists import function
from .scalars import Scalars, Translate
from .types import BOOLEAN, INTEGER, JSON, VARCHAR, SqlType, SqlValue, list_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .places import SqlPlaces

# --------------------------------------------------------------------------- paths


def at_path(s: Scalars, node: Expression) -> SqlValue:
    """`->` and `->>`, with a path that is a constant."""
    is_text = isinstance(node, sql.JSONExtractScalar)
    return _part(s, s.text(node.this), node.expression, is_text, node)


def steps_of(s: Scalars, path: Expression | None, node: Expression) -> SqlValue:
    """A path that is a constant, as the library takes it. Raises SqlError."""
    return c.string(json.dumps(_steps(s, path, node)))


def _part(s: Scalars, text: SqlValue, path: Expression | None, is_text: bool, node: Expression) -> SqlValue:
    """The part of a text of JSON at a path that is a constant, as JSON or as a text. Raises SqlError."""
    values = [text, steps_of(s, path, node)]
    template = f"sql::json_at($, $, {'true' if is_text else 'false'})"
    return c.strict(values, template, VARCHAR if is_text else JSON, optional=True)


def _steps(s: Scalars, path: Expression | None, node: Expression) -> list[str | int]:
    """The keys and places of a path."""
    if isinstance(path, sql.Literal):
        path = sql.maybe_parse(f"x -> {path.sql()}", dialect="duckdb").expression
    if not isinstance(path, sql.JSONPath):
        s.places.refuse("a path of JSON that is not a constant", node)
    steps = []
    for each in path.expressions[1:]:
        known = isinstance(each, sql.JSONPathKey | sql.JSONPathSubscript)
        if not known or not isinstance(each.this, str | int):
            s.places.refuse("a path of JSON with more than keys and places", node)
        steps.append(each.this)
    return steps


def _asked(template: str, type: SqlType) -> Translate:
    """A function of JSON and, maybe, a path in it."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        args = node.expressions if isinstance(node, sql.Anonymous) else [node.this, node.expression]
        given = [each for each in args if each is not None]
        if len(given) not in (1, 2):
            s.places.wrong(f"{s.places.called(node)} takes 1 or 2 arguments", node)
        value = s.text(given[0])
        if len(given) == 2:
            value = _part(s, value, given[1], False, node)
        return c.strict([value], template, type, optional=True)

    return translate


def _exists(s: Scalars, node: Expression) -> SqlValue:
    if len(node.expressions) != 2:
        s.places.wrong(f"{s.places.called(node)} takes 2 arguments", node)
    values = [s.text(node.expressions[0]), steps_of(s, node.expressions[1], node)]
    return c.strict(values, "is_some(sql::json_at($, $, false))", BOOLEAN)


# ---------------------------------------------------------------------- to and from


@of_arguments
def _converted(s: Scalars, node: Expression, given: Expression) -> SqlValue:
    return _as_json(s, s.value(given), given)


def _as_json(s: Scalars, value: SqlValue, node: Expression, *, cell: bool = False) -> SqlValue:
    made = c.json_cell(value) if cell else c.to_json(value)
    if made is None:
        s.places.mistyped("JSON", str(value.type), node)
    return made


def _parsed(s: Scalars, node: Expression) -> SqlValue:
    """JSON(text): without blanks."""
    return c.strict([s.text(node.this)], 'sql::json_at($, "[]", false)', JSON, optional=True)


def _texts(parts: Sequence[Expr]) -> Expr:
    return (
        VectorLit(tuple(tree("Some{$}", each) for each in parts), NOWHERE) if parts else tree("vec_empty()")
    )


def _array(s: Scalars, node: Expression) -> SqlValue:
    parts = [_as_json(s, s.value(each), each, cell=True).tree for each in node.expressions]
    return SqlValue(tree("sql::json_list($)", _texts(parts)), JSON)


def _object(s: Scalars, node: Expression) -> SqlValue:
    pairs = node.expressions if isinstance(node.expressions, list) else [node.expressions]
    if not all(isinstance(each, sql.JSONKeyValue) for each in pairs):
        s.places.wrong("JSON_OBJECT takes keys and values", node)
    parts = [_member(s, each.this, each.expression) for each in pairs]
    return c.strict(parts, lambda *x: tree("sql::json_object($)", _texts(x)), JSON)


def _member(s: Scalars, key: Expression, value: Expression) -> SqlValue:
    name = c.cast(s.value(key), VARCHAR, may_fail=False)
    if name is None:
        s.places.mistyped("a key of JSON", str(s.value(key).type), key)
    return c.strict([name, _as_json(s, s.value(value), value, cell=True)], "sql::json_member($, $)", JSON)


# ------------------------------------------------------------------------ aggregates

_MEMBER, _OBJECT = "json_member", "json_of_members"
_LISTS = ("json_group_array", "json_arrayagg", "json_agg")


def as_lists(node: Expression) -> None:
    """Writes JSON_GROUP_ARRAY and JSON_GROUP_OBJECT as functions of LIST."""
    for each in list(node.find_all(sql.Anonymous)):
        name, args, above = each.name.lower(), each.expressions, each.parent
        if name in _LISTS and len(args) == 1:
            inner, outer = args[0], "to_json"
        elif name == "json_group_object" and len(args) == 2:
            inner, outer = sql.Anonymous(this=_MEMBER, expressions=list(args)), _OBJECT
        else:
            continue
        made: Expression = sql.ArrayAgg(this=inner)
        replaced = above if isinstance(above, sql.Filter) else each
        if replaced is above:
            made = sql.Filter(this=made, expression=above.expression)
        replaced.replace(sql.Anonymous(this=outer, expressions=[made]))


@of_arguments
def _pair(s: Scalars, node: Expression, key: Expression, value: Expression) -> SqlValue:
    return _member(s, key, value)


def members_of(node: Expression, places: SqlPlaces, names: Sequence[str] = ()) -> list[Expression]:
    """The calls of GET_JSON_OBJECT that a JSON_TUPLE stands for, under these names or c0, c1, …"""
    text, *keys = node.expressions
    made: list[Expression] = []
    for at, key in enumerate(keys):
        if not (isinstance(key, sql.Literal) and key.is_string):
            places.refuse("a key of JSON that is not a constant", key)
        path = sql.Literal.string(f'$["{key.name}"]')
        cell = sql.Anonymous(this="get_json_object", expressions=[text.copy(), path])
        made.append(sql.alias_(cell, names[at] if names else f"c{at}", quoted=True, copy=False))
    return made


_CLASSES = [sql.JSONExtract, sql.JSONExtractScalar]
JSONS: dict[type[Expression], Translate] = {
    **dict.fromkeys(_CLASSES, at_path),
    sql.JSONType: _asked("sql::json_type($)", VARCHAR),
    sql.JSONKeys: _asked("sql::json_keys($)", list_of(VARCHAR)),
    sql.JSONObject: _object,
    sql.JSONArray: _array,
    sql.ParseJSON: _parsed,
}
"""The translation of each kind of node that makes JSON or reads it."""

NAMED_JSONS: dict[str, Translate] = {
    "json_array_length": _asked("sql::json_length($)", INTEGER),
    "json_exists": _exists,
    "json_quote": _converted,
    "to_json": _converted,
    "json_valid": function("sql::json_valid($)", BOOLEAN, "0 text"),
    _MEMBER: _pair,
    _OBJECT: function("sql::json_object($)", JSON, "0 list"),
}
"""The translation of each function of JSON that the parser knows by its name alone."""


def member(value: SqlValue, step: str | int) -> SqlValue:
    """The member `j.name` or `j['name']` of JSON, or the element `j[0]`."""
    path = c.string(json.dumps([step], ensure_ascii=False))
    return c.strict([value, path], "sql::json_at($, $, false)", JSON, optional=True)
