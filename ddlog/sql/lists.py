"""Lists: literals, elements, lambdas, and functions of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import VectorLit
from ..syntax.templates import NOWHERE, name, tree
from . import conversions as c
from .calls import argument, check_arguments, of_arguments, renamed
from .scalars import Scalars, Translate, is_true
from .types import BOOLEAN, DOUBLE, INTEGER, NULL, VARCHAR, SqlType, SqlValue, common, list_of, map_of, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def array(s: Scalars, node: Expression) -> SqlValue:
    """`[1, 2]`, and `[x + 1 FOR x IN xs IF x > 1]`."""
    match node.expressions:
        case [sql.Comprehension() as inner]:
            values, test = a_list(s, inner.args["iterator"], node), inner.args.get("condition")
            kept = values if test is None else _filtered(s, values, inner.expression, test)
            return _mapped(s, kept, inner.expression, inner.this)
    return literal(s.alike([s.value(each) for each in node.expressions], node, "a list"))


def literal(values: Sequence[SqlValue]) -> SqlValue:
    """The list of some values of one type."""
    type = list_of(values[0].type if values else NULL)
    items = tuple(c.outside(v.optional()).tree for v in values)
    made = VectorLit(items, NOWHERE) if items else tree("vec_empty()")
    return SqlValue(tree(f"($: {type.plain})", made), type)


def a_list(s: Scalars, node: Expression, whole: Expression) -> SqlValue:
    """A list. Raises SqlError."""
    value = s.value(node)
    if value.type == NULL:
        return null(list_of(NULL))
    if not value.type.is_list:
        s.places.mistyped(s.places.called(whole), str(value.type), node)
    return value


# ------------------------------------------------------------------------ lambdas


def _lambda(translate: Callable[[Scalars, SqlValue, Expression, Expression], SqlValue]) -> Translate:
    def translated(s: Scalars, node: Expression) -> SqlValue:
        (parameter,), body = _parts(s, node, node.expression, 1)
        return translate(s, a_list(s, node.this, node), parameter, body)

    return translated


def _parts(
    s: Scalars, node: Expression, function: Expression, count: int
) -> tuple[list[Expression], Expression]:
    """The parameters and the body of a lambda. Raises SqlError."""
    if not isinstance(function, sql.Lambda) or len(function.expressions) != count:
        number = "one parameter" if count == 1 else f"{count} parameters"
        s.places.refuse(f"{s.places.called(node)} without a lambda of {number}", node)
    return function.expressions, function.this


def _applied(
    s: Scalars, parameters: Sequence[Expression], body: Expression, values: Sequence[SqlValue]
) -> SqlValue:
    """The body of a lambda for values of its parameters."""
    if body.find(sql.Query, sql.Any, sql.AggFunc, sql.Window) is not None:
        s.places.refuse("a subquery or an aggregate in a lambda", body)
    hidden = {
        each.name.lower(): sql.column(each.name, f"lambda {id(each)} {len(s.queries.scope.known)}")
        for each in parameters
    }

    def named(node: Expression) -> Expression:
        if isinstance(node, sql.Column) and node.table.lower() in hidden and not node.db:
            return sql.Dot(this=hidden[node.table.lower()].copy(), expression=node.this)
        inner = node.this if isinstance(node, sql.Column) and not node.table else node
        found = hidden.get(inner.name.lower()) if isinstance(inner, sql.Identifier) else None
        return (
            node
            if found is None
            or isinstance(node.parent, sql.Column)
            or (isinstance(node.parent, sql.Dot) and node.arg_key == "expression")
            else found.copy()
        )

    known = s.queries.scope.known
    known.update(zip(hidden.values(), values, strict=True))
    try:
        return s.value(body.transform(named))
    finally:
        for each in hidden.values():
            del known[each]


def mapped(s: Scalars, node: Expression, of: Expression, function: Expression) -> SqlValue:
    """The list of what a lambda gives for the elements of a list. Raises SqlError."""
    (parameter,), body = _parts(s, node, function, 1)
    return _mapped(s, a_list(s, of, node), parameter, body)


def folded(s: Scalars, node: Expression) -> SqlValue:
    """AGGREGATE(list, start, (sum, x) -> …, sum -> …). Raises SqlError."""
    if len(node.expressions) not in (3, 4):
        s.places.wrong(f"{s.places.called(node)} takes 3 or 4 arguments", node)
    values, start = a_list(s, node.expressions[0], node), s.value(node.expressions[1])
    total = _fold(s, node, values, start, node.expressions[2])
    if len(node.expressions) == 3:
        return total
    (last,), finish = _parts(s, node, node.expressions[3], 1)
    return _applied(s, [last], finish, [total])


def _fold(s: Scalars, node: Expression, values: SqlValue, start: SqlValue, function: Expression) -> SqlValue:
    """What a lambda of two parameters makes of a value and the elements of a list, one after another."""
    start = start.optional()
    parameters, body = _parts(s, node, function, 2)
    item, variable = c.item_of(values.type)
    sofar = SqlValue(c.inside(name(f"{variable}s"), start.type), start.type, True)
    found = _applied(s, parameters, body, [sofar, item])
    made = c.convert(found, start.type)
    if made is None:
        s.places.mistyped(s.places.called(node), f"{start.type} and {found.type}", node)
    part, of = values.type.parts[0].outside, start.type.outside
    step = tree(
        f"|{variable}s: Option<{of}>, {variable}: Option<{part}>| ($: Option<{of}>)",
        c.outside(made.optional()).tree,
    )
    first = c.outside(start).tree
    return c.strict(
        [values], lambda plain: c.inside(tree("$.fold($, $)", plain, step, first), start.type), start.type,
        optional=True,
    )  # fmt: skip


def _mapped(s: Scalars, values: SqlValue, parameter: Expression, body: Expression) -> SqlValue:
    return c.each(values, lambda item: _applied(s, [parameter], body, [item]))


def _filtered(s: Scalars, values: SqlValue, parameter: Expression, body: Expression) -> SqlValue:
    def test(item: SqlValue) -> SqlValue:
        value = _applied(s, [parameter], body, [item])
        if value.type not in (BOOLEAN, NULL):
            s.places.mistyped("a condition", str(value.type), body)
        return value

    function = c.function_of(values.type, lambda item: is_true(test(item)))
    return c.strict([values], lambda plain: tree("$.filter($)", plain, function), values.type)


transformed, filtered = _lambda(_mapped), _lambda(_filtered)

# ----------------------------------------------------------------------- functions

_KINDS = {"integer": INTEGER, "text": VARCHAR, "boolean": BOOLEAN}


def function(template: str, result: SqlType | str, *arguments: str, optional: bool = False) -> Translate:
    """A function of lists of one type, by a template, its type (`list` or `element`: that of the lists) and
    the names and kinds of its arguments: `list`, `value` of a list, `cell`, which may be NULL, or those of
    `_KINDS`."""
    named = [each.split() for each in arguments]

    def translate(s: Scalars, node: Expression) -> SqlValue:
        given = [each for name, _ in named if (each := argument(node, name)) is not None]
        if len(given) < len(named) or (named[0][0] == "0" and len(node.expressions) != len(named)):
            s.places.wrong(f"{s.places.called(node)} takes {len(named)} arguments", node)
        kinds = [kind for _, kind in named]
        return applied(s, node, list(zip(kinds, given, strict=True)), template, result, optional)

    return translate


def flattened(template: str, optional: bool = False) -> Translate:
    """FLATTEN of a list of lists, by a template."""

    def translate(s: Scalars, node: Expression) -> SqlValue:
        given = list(node.iter_expressions())
        check_arguments(s, node, len(given), 1, 1)
        value = a_list(s, given[0], node)
        part = value.type.parts[0]
        if not part.is_list:
            s.places.mistyped("FLATTEN", str(value.type), node)
        return c.strict([value], template, part, optional=optional)

    return translate


def applied(
    s: Scalars,
    node: Expression,
    given: Sequence[tuple[str, Expression]],
    template: str,
    result: SqlType | str,
    optional: bool = False,
) -> SqlValue:
    """A template for arguments of these kinds. Raises SqlError."""
    values = [a_list(s, each, node) if kind == "list" else s.value(each) for kind, each in given]
    parts = [v.type.parts[0] for v in values if v.type.is_list] if given[0][0] == "list" else []
    parts += [v.type for (kind, _), v in zip(given, values, strict=True) if kind in ("cell", "value")]
    part = common(parts)
    if part is None:
        s.places.mistyped(s.places.called(node), " and ".join(str(v.type) for v in values), node)
    type, args = list_of(part), list[SqlValue]()
    for (kind, each), value in zip(given, values, strict=True):
        made = c.convert(value, type if kind == "list" else _KINDS.get(kind, part))
        if made is None:
            s.places.mistyped(s.places.called(node), str(value.type), each)
        if kind == "cell":
            made = SqlValue(c.outside(made.optional()).tree, part)
        args.append(c.outside(made) if kind == "value" else made)
    if result == "element":
        return c.strict(args, lambda *x: c.inside(tree(template, *x), part), part, optional=True)
    made_type = result if isinstance(result, SqlType) else type
    return c.strict(args, template, made_type, optional=optional)


def bracket(s: Scalars, node: Expression) -> SqlValue:
    """`xs[1]` and `xs[2:3]`, also of the letters of a text."""
    (at,) = node.expressions
    is_text = s.value(node.this).type == VARCHAR
    if isinstance(at, sql.Slice):
        ends = [at.this or sql.Literal.number(1), at.expression or sql.Literal.number(-1)]
        if is_text:
            values = [s.text(node.this), *(s.brought(each, INTEGER, node) for each in ends)]
            return c.strict(values, "sql::text_slice($, $, $)", VARCHAR)
        given = [("list", node.this), *(("integer", each) for each in ends)]
        return applied(s, node, given, "sql::slice($, $, $)", "list")
    if is_text:
        place = s.brought(at, INTEGER, node)
        return c.strict([s.text(node.this), place], "sql::substring($, $, 1)", VARCHAR)
    return bracket_of(s, node, node.this, at, "sql::element($, $)")


def bracket_of(s: Scalars, node: Expression, of: Expression, at: Expression, template: str) -> SqlValue:
    """The element of a list at a place, by a template."""
    return applied(s, node, [("list", of), ("integer", at)], template, "element")


@of_arguments
def extracted(s: Scalars, node: Expression, of: Expression, at: Expression) -> SqlValue:
    """LIST_EXTRACT and ARRAY_EXTRACT: `xs[1]`, also of a text, a struct or a map."""
    return s.value(sql.Bracket(this=of, expressions=[at]))


def concatenated(s: Scalars, values: Sequence[SqlValue], node: Expression) -> SqlValue:
    """`||` of lists."""
    brought = s.alike(values, node, "||")
    return c.strict(brought, "sql::joined($, $)", brought[0].type)


def joined(s: Scalars, node: Expression) -> SqlValue:
    """LIST_CONCAT, or CONCAT of lists, in which NULL is an empty list, unless nothing else is there."""
    of = node.expressions if isinstance(node, sql.Concat) else (node.this, *node.expressions)
    given = [a_list(s, each, node) for each in of]
    is_null = all(each.type.parts[0] == NULL and each.nullable for each in given)
    return given[0] if is_null else _all_of(s, node, given)


def appended(s: Scalars, node: Expression) -> SqlValue:
    """LIST_APPEND and LIST_PREPEND, in which NULL is an empty list."""
    values, one = a_list(s, node.this, node), literal([s.value(node.expression)])
    return _all_of(s, node, [one, values] if isinstance(node, sql.ArrayPrepend) else [values, one])


def _all_of(s: Scalars, node: Expression, values: Sequence[SqlValue]) -> SqlValue:
    brought = s.alike(values, node, "a list")
    made = VectorLit(tuple(v.optional().tree for v in brought), NOWHERE)
    return SqlValue(tree("sql::concatenated($)", made), brought[0].type)


def total(s: Scalars, node: Expression) -> SqlValue:
    """LIST_SUM."""
    values, type = _numbers(s, node)
    kind = "doubles" if type == DOUBLE else "units"
    return c.strict([values], f"sql::sum_of_{kind}($)", type, optional=True)


def mean(s: Scalars, node: Expression) -> SqlValue:
    """LIST_AVG."""
    values, type = _numbers(s, node)
    if type == DOUBLE:
        return c.strict([values], "sql::mean_of_doubles($)", DOUBLE, optional=True)
    return c.strict([values], f"sql::mean_of_units($, {10**type.scale})", DOUBLE, optional=True)


def _doubles(s: Scalars, node: Expression) -> SqlValue:
    """A list of numbers as one of doubles. Raises SqlError."""
    values = a_list(s, _one(s, node), node)
    doubles = c.each(values, lambda item: c.convert(item, DOUBLE) or item)
    if doubles.type.parts[0] != DOUBLE:
        s.places.mistyped(s.places.called(node), str(values.type), node)
    return doubles


def sliced(s: Scalars, node: Expression) -> SqlValue:
    """LIST_SLICE, of a list or of the letters of a text."""
    given = list(node.iter_expressions())
    check_arguments(s, node, len(given), 3, 3)
    of, first, last = given
    return bracket(s, sql.Bracket(this=of, expressions=[sql.Slice(this=first, expression=last)]))


def of_doubles(template: str) -> Translate:
    """LIST_PRODUCT, LIST_KURTOSIS and the like, doubles, by a template."""
    return lambda s, node: c.strict([_doubles(s, node)], template, DOUBLE, optional=True)


def histogram(s: Scalars, node: Expression) -> SqlValue:
    """LIST_HISTOGRAM: how often each value is there."""
    values = a_list(s, _one(s, node), node)
    if values.type.parts[0] == NULL:
        return null(map_of(INTEGER, INTEGER))
    return c.strict([values], "sql::histogram($)", map_of(values.type.parts[0], INTEGER), optional=True)


def of_aggregate(s: Scalars, node: Expression) -> SqlValue:
    """LIST_AGGREGATE: the function of lists of this name."""
    check_arguments(s, node, len(node.expressions), 2, 2)
    of, name = node.expressions
    if not isinstance(name, sql.Literal) or name.name.lower() not in _AGGREGATES:
        known = ", ".join(sorted(_AGGREGATES))
        s.places.refuse(f"{s.places.called(node)} of something else than {known}", node)
    return s.value(_AGGREGATES[name.name.lower()](of))


def reduced(s: Scalars, node: Expression) -> SqlValue:
    """LIST_REDUCE(list, (a, b) -> …), perhaps with a value to begin with."""
    check_arguments(s, node, len(node.expressions), 2, 3)
    values, function = a_list(s, node.expressions[0], node), node.expressions[1]
    if len(node.expressions) == 3:
        return _fold(s, node, values, s.value(node.expressions[2]), function)
    part = values.type.parts[0]
    some = c.strict([values], "sql::not_empty($)", values.type)
    first = c.strict([some], lambda x: c.inside(tree("sql::element($, 1)", x), part), part, optional=True)
    rest = c.strict([some], "sql::slice($, 2, -1)", values.type)
    return _fold(s, node, rest, first, function)


def _one(s: Scalars, node: Expression) -> Expression:
    """The only argument of a function. Raises SqlError."""
    check_arguments(s, node, len(node.expressions), 1, 1)
    found: Expression = node.expressions[0]
    return found


def _named(name: str) -> Callable[[Expression], Expression]:
    return lambda of: sql.Anonymous(this=name, expressions=[of])


_AGGREGATES: dict[str, Callable[[Expression], Expression]] = {
    **{each: _named(f"list_{each}") for each in ("sum", "avg", "count", "product", "histogram")},
    **{each: _named(f"list_{each}") for each in ("kurtosis", "kurtosis_pop", "skewness", "mad", "entropy")},
    "mean": _named("list_avg"),
    "min": lambda of: sql.ArrayMin(this=of),
    "max": lambda of: sql.ArrayMax(this=of),
}
"""The functions of lists that aggregates are."""


def _numbers(s: Scalars, node: Expression) -> tuple[SqlValue, SqlType]:
    """The list of the plain values of a list of numbers, and their type."""
    values = a_list(s, _one(s, node), node)
    type = INTEGER if values.type.parts[0] == NULL else values.type.parts[0]
    if not type.is_number:
        s.places.mistyped(s.places.called(node), str(values.type), node)
    plain = c.function_of(values.type, lambda item: (c.convert(item, type) or item).tree)
    of = DOUBLE if type == DOUBLE else INTEGER
    return c.strict([values], lambda x: tree("$.map($)", x, plain), list_of(of)), type


def contains(s: Scalars, node: Expression) -> SqlValue:
    """CONTAINS of a text, in DuckDB also of a list."""
    if not s.places.dialect.is_ansi and s.value(node.this).type.is_list:
        return LISTS[sql.ArrayContains](s, node)
    return c.strict([s.text(node.this), s.text(node.expression)], "string_contains($, $)", BOOLEAN)


def as_text(s: Scalars, node: Expression) -> SqlValue:
    """ARRAY_TO_STRING, which leaves NULL out."""
    texts = c.each(a_list(s, node.this, node), lambda item: c.cast(item, VARCHAR, may_fail=False) or item)
    separator = s.text(node.expression)
    return c.strict([texts, separator], "sql::list_join($, $)", VARCHAR, optional=True)


def split(s: Scalars, node: Expression) -> SqlValue:
    """STRING_SPLIT."""
    texts = [s.text(node.this), s.text(node.expression)]
    return parted(texts, "sql::split($0, $1).map(|x| Some{x})", list_of(VARCHAR))


def parted(texts: Sequence[SqlValue], template: str, type: SqlType) -> SqlValue:
    """The parts of a text, by a template of it and of the text between them, where NULL parts nothing."""
    text, by = texts
    if not by.nullable:
        return c.strict(texts, template, type)
    form = f"match ($1) {{ Some{{var by}} -> {template.replace('$1', 'by')}, None -> [Some{{$0}}] }}"
    return c.strict([text], lambda plain: tree(form, plain, by.tree), type)


def length(s: Scalars, node: Expression) -> SqlValue:
    """LENGTH of a text or a list."""
    if s.value(node.this).type.is_list:
        return applied(s, node, [("list", node.this)], "vec_len($) as bigint", INTEGER)
    return c.strict([s.text(node.this)], "sql::length($)", INTEGER)


def values_of(s: Scalars, node: Expression) -> SqlValue:
    """LIST_VALUE and other calls that list their arguments."""
    return literal(s.alike([s.value(each) for each in node.expressions], node, "a list"))


LISTS: dict[type[Expression], Translate] = {
    sql.Array: array,
    sql.Bracket: bracket,
    sql.Transform: transformed,
    sql.ArrayFilter: filtered,
    sql.Length: length,
    sql.ArraySize: function("vec_len($) as bigint", INTEGER, "this list"),
    sql.ArrayPosition: function(
        "sql::list_position($, $)", INTEGER, "this list", "expression cell", optional=True
    ),
    sql.ArrayContains: function("vec_contains($, Some{$})", BOOLEAN, "this list", "expression value"),
    sql.Contains: contains,
    sql.ArrayAppend: appended,
    sql.ArrayPrepend: appended,
    sql.ArrayConcat: joined,
    sql.ArrayDistinct: function("sql::list_distinct($)", "list", "this list"),
    sql.ArrayMin: function("sql::list_min($)", "element", "this list"),
    sql.ArrayMax: function("sql::list_max($)", "element", "this list"),
    sql.ArrayOverlaps: function("sql::list_has_any($, $)", BOOLEAN, "this list", "expression list"),
    sql.ArrayContainsAll: function("sql::list_has_all($, $)", BOOLEAN, "this list", "expression list"),
    sql.Flatten: flattened("sql::concatenated($)"),
    sql.ArrayContainedBy: function("sql::list_has_all($, $)", BOOLEAN, "expression list", "this list"),
    sql.ArraySlice: sliced,
    sql.ArrayToString: as_text,
    sql.Split: split,
}
"""The translation of each kind of node that makes a list or reads one."""


def sorted_list(s: Scalars, node: Expression) -> SqlValue:
    """LIST_SORT, LIST_REVERSE_SORT."""
    down, first = (
        "true" if isinstance(made := node.args.get(key), sql.Boolean) and made.this == on else "false"
        for key, on in (("asc", False), ("nulls_first", True))
    )
    return applied(s, node, [("list", node.this)], f"sql::list_sorted($, {down}, {first})", "list")


LISTS[sql.ArraySort] = sorted_list
NAMED_LISTS: dict[str, Translate] = {
    "list_value": values_of,
    "list_sum": total,
    "list_avg": mean,
    "list_product": of_doubles("sql::product_of($)"),
    "list_histogram": histogram,
    **{f"{kind}_{each}": of_aggregate for kind in ("list", "array") for each in ("aggregate", "aggr")},
    **dict.fromkeys(("list_reduce", "array_reduce"), reduced),
    "list_count": function("vec_len($.filter(|x| is_some(x))) as bigint", INTEGER, "0 list"),
    "list_unique": function("vec_len(sql::list_distinct($)) as bigint", INTEGER, "0 list"),
    **dict.fromkeys(("list_position", "list_indexof", "array_indexof"), renamed(sql.ArrayPosition, 2)),
    **dict.fromkeys(("list_extract", "list_element", "array_extract"), extracted),
    "list_slice": sliced,
    **{
        f"list_{each}": of_doubles(f'sql::shape($, "{each}")')
        for each in ("kurtosis", "kurtosis_pop", "skewness", "mad")
    },
    "list_entropy": function("sql::entropy($)", DOUBLE, "0 list"),
    "list_reverse": function("sql::list_reversed($)", "list", "0 list"),
    "list_has_all": renamed(sql.ArrayContainsAll, 2),
    "array_has_any": renamed(sql.ArrayOverlaps, 2),
    "array_push_back": renamed(sql.ArrayAppend, 2),
    "array_push_front": renamed(sql.ArrayPrepend, 2),
    "list_first": function("sql::element($, 1)", "element", "0 list"),
    "list_last": function("sql::element($, -1)", "element", "0 list"),
    "list_intersect": function("sql::list_intersect($, $)", "list", "0 list", "1 list"),
}
"""The translation of each function of lists that the parser knows by its name alone."""
