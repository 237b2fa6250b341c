"""Functions of lists and of JSON of Spark's SQL, a translation each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..syntax.templates import tree
from . import conversions as c
from . import nested
from .calls import call, of_arguments
from .jsons import steps_of
from .lists import a_list, bracket_of, flattened, folded, function, mapped
from .nested import of_maps
from .scalars import Scalars, Translate
from .types import BOOLEAN, INTEGER, VARCHAR, SqlValue, list_of

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def at(s: Scalars, node: Expression) -> SqlValue:
    """`xs[0]`, a fault where there is no such element."""
    return bracket_of(s, node, node.this, node.expressions[0], "sparksql::at($, $)")


def _tested(call: str) -> Translate:
    """EXISTS and FORALL."""

    @of_arguments
    def translate(s: Scalars, node: Expression, values: Expression, test: Expression) -> SqlValue:
        tests = mapped(s, node, values, test)
        if tests.type != list_of(BOOLEAN):
            s.places.mistyped("a condition", str(tests.type.parts[0]), node)
        return c.strict([tests], f"sparksql::{call}($)", BOOLEAN, optional=True)

    return translate


def _sequence(s: Scalars, node: Expression) -> SqlValue:
    values = [s.value(each) for each in node.expressions]
    if len(values) not in (2, 3) or any(each.type != INTEGER for each in values):
        s.places.refuse("SEQUENCE of other than whole numbers", node)
    form = "$0, $1, if ($0 <= $1) (1: bigint) else (-(1: bigint))" if len(values) == 2 else "$, $, $"
    return c.strict(values, f"sparksql::sequence({form})", list_of(INTEGER))


@of_arguments
def _as_text(
    s: Scalars, node: Expression, of: Expression, by: Expression, null: Expression | None = None
) -> SqlValue:
    """ARRAY_JOIN, which leaves NULL out, or writes a text for it."""
    values, separator = a_list(s, of, node), s.text(by)
    texts = c.each(values, lambda item: s.places.dialect.cast(item, VARCHAR, may_fail=False) or item)
    if null is not None:
        other = s.text(null)
        form = "string_join($.map(|x| unwrap_or(x, $)), $)"
        return c.strict([texts, other, separator], form, VARCHAR)
    return c.strict([texts, separator], 'unwrap_or(sql::list_join($, $), "")', VARCHAR)


@of_arguments
def _repeated(s: Scalars, node: Expression, of: Expression, times: Expression) -> SqlValue:
    value, count = s.value(of), s.brought(times, INTEGER, node)
    cell = c.outside(value.optional()).tree
    return c.strict([count], lambda n: tree("sparksql::repeated($, $)", cell, n), list_of(value.type))


@of_arguments
def _json_object(s: Scalars, node: Expression, text: Expression, path: Expression) -> SqlValue:
    """GET_JSON_OBJECT(text, path)."""
    values = [s.text(text), steps_of(s, path, node)]
    return c.strict(values, "sparksql::json_part($, $)", VARCHAR, optional=True)


_LIST1, _LIST2 = ("0 list",), ("0 list", "1 list")

LISTS: dict[str, Translate] = {
    "aggregate": folded,
    "array_append": function("sql::joined($, [$])", "list", "0 list", "1 cell"),
    "array_compact": function("$.filter(|x| is_some(x))", "list", *_LIST1),
    "array_contains": function("sparksql::contains($, Some{$})", BOOLEAN, "0 list", "1 value", optional=True),
    "array_distinct": function("sparksql::distinct($)", "list", *_LIST1),
    "array_except": function("sparksql::minus($, $)", "list", *_LIST2),
    "array_insert": function("sparksql::inserted($, $, $)", "list", "0 list", "1 integer", "2 cell"),
    "array_intersect": function("sparksql::intersect($, $)", "list", *_LIST2),
    "array_join": _as_text,
    "array_position": function("sparksql::position($, Some{$})", INTEGER, "0 list", "1 value"),
    "array_prepend": function("sql::joined([$1], $0)", "list", "0 list", "1 cell"),
    "array_remove": function("sparksql::without($, Some{$})", "list", "0 list", "1 value"),
    "array_repeat": _repeated,
    "array_size": function("vec_len($) as bigint", INTEGER, *_LIST1),
    "array_union": function("sparksql::distinct(sql::joined($, $))", "list", *_LIST2),
    "arrays_overlap": function("sparksql::overlap($, $)", BOOLEAN, *_LIST2, optional=True),
    "cardinality": of_maps(nested.size, function("vec_len($) as bigint", INTEGER, *_LIST1)),
    "element_at": of_maps(
        nested.value_at, function("sparksql::element_at($, $)", "element", "0 list", "1 integer")
    ),
    "exists": _tested("any_of"),
    "flatten": flattened("sparksql::flattened($)", optional=True),
    "forall": _tested("all_of"),
    "get": function("sparksql::get($, $)", "element", "0 list", "1 integer"),
    "reduce": folded,
    "sequence": _sequence,
    "map_concat": nested.concatenated,
    "map_contains_key": nested.has_key,
    "map_entries": nested.entries,
    "map_values": nested.values,
    "size": of_maps(nested.size, function("vec_len($) as bigint", INTEGER, *_LIST1)),
    "slice": function("sparksql::slice($, $, $)", "list", "0 list", "1 integer", "2 integer"),
    "try_element_at": of_maps(
        nested.value_at, function("sql::element($, $)", "element", "0 list", "1 integer")
    ),
    "get_json_object": _json_object,
    "json_array_length": call("sql::json_length($)", INTEGER, "0 text", optional=True),
    "json_object_keys": call("sparksql::json_keys($)", list_of(VARCHAR), "0 text", optional=True),
}  # fmt: skip
"""The translation of each function of lists and of JSON."""
