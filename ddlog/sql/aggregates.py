"""GROUP BY and aggregates.

The rows of a group are a bag, whose sums, counts and extremes the engine keeps up. NULL is left out: a sum of
values that may be NULL is one of values with 0 in place of NULL, beside a count of those that are not NULL.
An aggregate of DISTINCT values is a group of its own, which is joined to the others by the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from . import conversions as c
from .places import are
from .rules import Body, Clause, Let
from .scalars import described
from .scopes import Entry
from .types import BOOLEAN, DOUBLE, INTEGER, NULL, VARCHAR, SqlType, Value, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import Block

_MOMENTS = (sql.Stddev, sql.StddevSamp, sql.StddevPop, sql.Variance, sql.VariancePop)
_FUNCTIONS = (
    sql.Count, sql.CountIf, sql.Sum, sql.Avg, sql.Min, sql.Max, sql.LogicalAnd, sql.LogicalOr, sql.GroupConcat,  # noqa: E501
    sql.AnyValue, *_MOMENTS,
)  # fmt: skip


def aggregates_of(nodes: Sequence[Expression]) -> list[Expression]:
    """The aggregates in expressions, each once, with their FILTER; not those of windows and subqueries."""
    found: dict[Expression, None] = {}
    for node in nodes:
        _collect(node, found)
    return list(found)


def _collect(node: Expression, found: dict[Expression, None]) -> None:
    if isinstance(node, sql.Query):
        return
    if isinstance(node, sql.Window):
        inner = node.this
        parts: list[Expression] = list(inner.iter_expressions()) if isinstance(inner, sql.AggFunc) else []
        parts += [each for key, each in _arguments(node) if key != "this"]
        for each in parts:
            _collect(each, found)
        return
    if isinstance(node, sql.Filter | sql.AggFunc | sql.Grouping | sql.IgnoreNulls):
        found[node] = None
        return
    for each in node.iter_expressions():
        _collect(each, found)


def _arguments(node: Expression) -> Iterator[tuple[str, Expression]]:
    for key, value in node.args.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, sql.Expression):
                yield key, each


@dataclass
class _Plain:
    """The aggregates of one grouping: the items of its tuple, and for each aggregate its value, over
    variables that `results` define."""

    items: list[str] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)  # a variable, and the call

    def item(self, text: str) -> int:
        """The place of an item in the tuple."""
        if text not in self.items:
            self.items.append(text)
        return self.items.index(text)


def grouped(block: Block, aggregates: Sequence[Expression]) -> bool:
    """Makes the groups the rows of a SELECT; returns whether there is always one. Raises SqlError."""
    keys, sets, names = _keys(block)
    places = {node: i for i, node in enumerate(keys)}
    scalars = block.scalars
    values = [block.variable(_typed(scalars.as_key(scalars.value(e), "GROUP BY", e))) for e in keys]
    plain = [each for each in aggregates if not _is_distinct(each) and not isinstance(each, sql.Grouping)]
    distinct = [each for each in aggregates if _is_distinct(each)]
    for each in aggregates:
        _check(block, each)
    if len(sets) > 1 or distinct:
        block.extra += values
        arguments = _Arguments(block, aggregates)
        block.extra += arguments.values
        block.store()
    else:
        arguments = _Arguments(block, aggregates)
    rows = block.body
    many = len(sets) > 1
    shown = [replace(v, nullable=v.nullable or many) for v in values]
    rules: list[tuple[Body, list[Value]]] = []
    for chosen in sets:
        bodies = _one_set(block, rows, [values[i] for i in chosen], plain, distinct, arguments)
        cells: list[Value] = []
        for i, v in enumerate(values):
            cell = v if i in chosen else null(v.type)
            cells.append(cell.optional() if shown[i].nullable else cell)
        groupings: _Given = {
            e: _grouping(e, places, chosen, block) for e in aggregates if isinstance(e, sql.Grouping)
        }
        for body, given in bodies:
            of: _Given = {**given, **groupings}
            rules.append((body, [*cells, *(of[e] for e in aggregates)]))
    made_values = _union(block, rules, rows)
    _show(block, keys, names, aggregates, made_values)
    return not keys and sets == [()]


def _union(block: Block, rules: Sequence[tuple[Body, list[Value]]], rows: Body) -> list[Value]:
    """Makes the union of some bodies the body; returns the values of its columns."""
    if len(rules) == 1:
        block.body = rules[0][0]
        return rules[0][1]
    columns = list(zip(*(row for _, row in rules), strict=True))
    like = [next((v for v in column if v.nullable), column[0]) for column in columns]
    out = block.output.relation("Groups", [*rows.domain, *like], is_set=False)
    for body, row in rules:
        cells = [v.optional() if one.nullable else v for v, one in zip(row, like, strict=True)]
        block.output.rule(out, [v.text for v in (*body.domain, *cells)] or ["true"], body)
    fresh = [block.output.variable(v.type, v.nullable) for v in like]
    block.body = Body([block.output.term(out, [*rows.domain, *fresh])], rows.domain)
    return fresh


def _show(
    block: Block,
    keys: Sequence[Expression],
    names: Sequence[str],
    aggregates: Sequence[Expression],
    values: Sequence[Value],
) -> None:
    """Makes keys and aggregates what the expressions of the SELECT see."""
    scope, before = block.scope, block.scope.entries
    scope.known = dict(zip([*keys, *aggregates], values, strict=True))
    scope.entries, scope.grouped = [], True
    block.extra = []
    for node, name, value in zip(keys, names, values, strict=False):
        inner = node.unnest()
        if isinstance(inner, sql.Column):
            column = inner.name.lower()
            tables = {e.table for e in before if e.name == column and inner.table.lower() in ("", e.table)}
            for table in sorted(tables) or [""]:
                scope.entries.append(
                    Entry(table, column, value, len(scope.entries) > 0 and table != min(tables))
                )
        elif name:
            scope.entries.append(Entry("", name, value))


def _typed(value: Value) -> Value:
    return null(INTEGER) if value.type == NULL else value


# ------------------------------------------------------------------------- keys


def _keys(block: Block) -> tuple[list[Expression], list[tuple[int, ...]], list[str]]:
    """The keys, the sets of keys by which rows are grouped, and the names that the select list has for
    keys."""
    group = block.node.args.get("group")
    keys: dict[Expression, str] = {}

    def key(node: Expression) -> int:
        inner, name = node.unnest(), ""
        if isinstance(inner, sql.Literal) and not inner.is_string:
            columns = block.node.expressions
            if not (inner.this.isdigit() and 0 < int(inner.this) <= len(columns)):
                block.places.wrong(f"GROUP BY {inner.this}: there {are(len(columns))}", node)
            inner = columns[int(inner.this) - 1]
        elif (
            isinstance(inner, sql.Column) and not inner.table and not block.scope.own("", inner.name.lower())
        ):
            name = inner.name.lower()
            inner = block.scope.aliases.get(name, inner)
        inner = inner.this if isinstance(inner, sql.Alias) else inner
        if inner.find(sql.AggFunc) is not None and inner.find(sql.Query) is None:
            block.places.wrong("a key of GROUP BY has an aggregate", node)
        keys.setdefault(inner, name)
        return list(keys).index(inner)

    if group is None:
        return [], [()], []
    if group.args.get("all"):
        plain = [e for e in block.node.expressions if not aggregates_of([e])]
        return _with_names([key(each) for each in plain], keys)
    if group.args.get("totals"):
        block.places.refuse("WITH TOTALS", group)
    each_part = [
        *group.expressions,
        *(each for name in ("rollup", "cube", "grouping_sets") for each in group.args.get(name) or ()),
    ]
    parts = [
        [s for one in each.expressions for s in _sets(one, key)]
        if isinstance(each, sql.GroupingSets)
        else _sets(each, key)
        for each in each_part
    ]
    sets = [tuple(dict.fromkeys(k for part in chosen for k in part)) for chosen in product(*parts)]
    return list(keys), sets, list(keys.values())


def _sets(node: Expression, key: Callable[[Expression], int]) -> list[tuple[int, ...]]:
    if isinstance(node, sql.Rollup):
        columns = [_several(each, key) for each in node.expressions]
        return [_flat(columns[:n]) for n in range(len(columns), -1, -1)]
    if isinstance(node, sql.Cube):
        columns = [_several(each, key) for each in node.expressions]
        choices = product((True, False), repeat=len(columns))
        return [_flat([k for k, on in zip(columns, chosen, strict=True) if on]) for chosen in choices]
    return [_several(node, key)]


def _several(node: Expression, key: Callable[[Expression], int]) -> tuple[int, ...]:
    if isinstance(node, sql.Tuple):
        return tuple(key(each) for each in node.expressions)
    return (key(node),)


def _flat(columns: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(place for each in columns for place in each)


def _with_names(
    places: Sequence[int], keys: dict[Expression, str]
) -> tuple[list[Expression], list[tuple[int, ...]], list[str]]:
    return list(keys), [tuple(dict.fromkeys(places))], list(keys.values())


def _grouping(node: Expression, places: dict[Expression, int], chosen: Sequence[int], block: Block) -> Value:
    """GROUPING: a bit for each argument, 1 where rows are not grouped by it."""
    number = 0
    for each in node.expressions or [node.this]:
        if each not in places:
            block.places.wrong("the argument of GROUPING is no key of GROUP BY", each)
        number = 2 * number + (places[each] not in chosen)
    return c.integer(number)


# ------------------------------------------------------------------- aggregates


def _is_distinct(node: Expression) -> bool:
    inner = node.this if isinstance(node, sql.Filter) else node
    return isinstance(inner.this, sql.Distinct) and not isinstance(inner, sql.Min | sql.Max)


def _check(block: Block, node: Expression) -> None:
    inner = node.this if isinstance(node, sql.Filter | sql.IgnoreNulls) else node
    if isinstance(inner, sql.IgnoreNulls):
        inner = inner.this
    if not isinstance(inner, (*_FUNCTIONS, sql.Grouping)):
        block.places.refuse(f"the aggregate {described(inner).removeprefix('the function ')}", node)
    for each in inner.iter_expressions():
        if aggregates_of([each]):
            block.places.wrong("an aggregate has another inside", node)


class _Arguments:
    """The arguments of aggregates, as variables of the rows; NULL where FILTER leaves a row out."""

    def __init__(self, block: Block, aggregates: Sequence[Expression]) -> None:
        self.of: dict[Expression, Value | None] = {}
        self.order: dict[Expression, Value] = {}
        for node in aggregates:
            if not isinstance(node, sql.Grouping):
                self.of[node] = self._argument(block, node)

    @property
    def values(self) -> list[Value]:
        """All of the variables."""
        return [v for v in (*self.of.values(), *self.order.values()) if v is not None]

    def _argument(self, block: Block, node: Expression) -> Value | None:
        condition = node.expression.this if isinstance(node, sql.Filter) else None
        inner = _function(node)
        argument = inner.this
        scalars = block.scalars
        if isinstance(argument, sql.Distinct):
            if len(argument.expressions) != 1:
                block.places.refuse("COUNT(DISTINCT …) of several columns", node)
            argument = argument.expressions[0]
        if isinstance(inner, sql.GroupConcat) and isinstance(argument, sql.Order):
            block.places.refuse("STRING_AGG with ORDER BY", node)
        if isinstance(argument, sql.Order):
            argument = argument.this
        if isinstance(inner, sql.Count) and (argument is None or isinstance(argument, sql.Star)):
            if condition is None:
                return None
            value = c.boolean(True)
        else:
            value = _typed(scalars.value(argument))
        if isinstance(inner, sql.CountIf | sql.LogicalAnd | sql.LogicalOr) and value.type != BOOLEAN:
            block.places.mistyped(described(inner), str(value.type), node)
        if isinstance(inner, sql.Sum | sql.Avg | sql.Stddev | sql.Variance) and value.type == BOOLEAN:
            value = c.cast(value, INTEGER, may_fail=False) or value
        if isinstance(inner, (sql.Sum, sql.Avg, *_MOMENTS)) and not value.type.is_number:
            block.places.mistyped(described(inner), str(value.type), node)
        if isinstance(inner, sql.Min | sql.Max | sql.AnyValue) or _is_distinct(node):
            scalars.as_key(value, described(inner), node)
        if isinstance(inner, sql.GroupConcat) and value.type != VARCHAR:
            value = c.cast(value, VARCHAR, may_fail=False) or value
        if condition is not None:
            test = scalars.true(condition)
            text = f"(if ({test}) {value.optional().text} else (None: Option<{value.type.plain}>))"
            value = Value(text, value.type, True)
        return block.variable(value)


def _function(node: Expression) -> Expression:
    """The aggregate itself, without FILTER and IGNORE NULLS."""
    while isinstance(node, sql.Filter | sql.IgnoreNulls):
        node = node.this
    return node


_Given = dict["Expression", Value]


def _one_set(
    block: Block,
    rows: Body,
    keys: Sequence[Value],
    plain: Sequence[Expression],
    distinct: Sequence[Expression],
    arguments: _Arguments,
) -> list[tuple[Body, _Given]]:
    """The groups by some keys: bodies, each with the values of the aggregates. Without keys there is one
    group also where there are no rows."""
    output = block.output
    body = rows.copy()
    keys = list(dict.fromkeys(keys))
    found = _plain_group(block, body, keys, plain, arguments)
    own = [*body.domain, *keys]
    if not distinct and keys:
        return [(body, found)]
    for node in distinct:
        body, found = _with_distinct(block, rows, body, keys, node, arguments, found)
    if keys:
        return [(body, found)]
    values = list(dict.fromkeys(found.values()))
    variables = [block.output.variable(v.type, v.nullable) for v in values]
    relation = output.relation("Total", [*own, *values], is_set=False)
    output.rule(relation, [v.text for v in (*own, *values)] or ["true"], body)
    there = Body([output.term(relation, [*own, *variables])], rows.domain)
    nothing = block.translator.start(block.capture)
    unused = [block.output.variable(v.type, v.nullable) for v in values]
    nothing.add(output.term(relation, [*own, *unused], negated=True))
    whole = output.relation("Whole", [*own, *found.values()], is_set=False)
    given = {node: variables[values.index(value)] for node, value in found.items()}
    output.rule(whole, [v.text for v in (*own, *given.values())] or ["true"], there)
    empty = [_of_nothing(_function(node), value) for node, value in found.items()]
    output.rule(whole, [v.text for v in (*own, *empty)] or ["true"], nothing)
    fresh = {node: block.output.variable(v.type, v.nullable) for node, v in found.items()}
    final = Body([output.term(whole, [*own, *fresh.values()])], rows.domain)
    return [(final, fresh)]


def _of_nothing(node: Expression, like: Value) -> Value:
    """The aggregate of no rows."""
    if isinstance(node, sql.Count | sql.CountIf):
        return c.integer(0)
    return null(like.type)


def _plain_group(
    block: Block, body: Body, keys: Sequence[Value], plain: Sequence[Expression], arguments: _Arguments
) -> _Given:
    """Ends the body in a group; returns the values of the aggregates. All but counts are Options where there
    are no keys."""
    made = _Plain()
    formulas = {node: _formula(block, node, arguments.of[node], made, bool(keys)) for node in plain}
    if not plain:
        made.item("true")
    while len(made.items) < 2:
        made.items.append("true")
    items = []
    for text in made.items:
        items.append(text)
    group = block.output.variable(INTEGER, False)
    names = ", ".join(dict.fromkeys(v.text for v in (*body.domain, *keys)))
    body.add(Clause(f"var {group.text} = ({', '.join(items)}).group_all_by(({names}))"))
    for variable, call in made.results:
        body.add(Let(variable, call.replace("$", group.text)))
    found = {}
    for node, value in formulas.items():
        result = block.output.variable(value.type, value.nullable)
        body.add(Let(result.text, value.text))
        found[node] = result
    if not made.results:
        count = block.output.variable(INTEGER, False)
        body.add(Clause(f"var {count.text} = {group.text}.count()"))
    return found


def _formula(block: Block, node: Expression, value: Value | None, made: _Plain, keyed: bool) -> Value:
    """An aggregate, over the variables of sums, counts and extremes that it adds to a group. Without keys it
    is an Option, as there may be no rows, but for a count."""
    inner = _function(node)

    def result(call: str, type: SqlType, nullable: bool = False) -> str:
        for variable, there in made.results:
            if there == call:
                return variable
        variable = block.output.variable(type, nullable).text
        made.results.append((variable, call))
        return variable

    def total(text: str, type: SqlType) -> str:
        return result(f"$.sum_of(|v| v.{made.item(text)})", type)

    def count(of: Value | None) -> str:
        if of is None or not of.nullable:
            return result("($.count() as bigint)", INTEGER)
        return total(f"(if (is_some({of.text})) (1: bigint) else (0: bigint))", INTEGER)

    def optional(of: Value | None, text: str, type: SqlType) -> Value:
        """The value, or NULL where no row has an argument."""
        if of is None or not of.nullable:
            return Value(text, type) if keyed else Value(f"Some{{{text}}}", type, True)
        empty = f"(None: Option<{type.plain}>)"
        return Value(f"(if ({count(of)} == 0) {empty} else Some{{{text}}})", type, True)

    if isinstance(inner, sql.Count):
        return Value(count(value), INTEGER)
    assert value is not None
    zero = "0.0" if value.type == DOUBLE else "0"
    filled = f"unwrap_or({value.text}, ({zero}: {value.type.plain}))" if value.nullable else value.text
    match inner:
        case sql.CountIf():
            true = f"({value.text} == Some{{true}})" if value.nullable else value.text
            return Value(total(f"(if ({true}) (1: bigint) else (0: bigint))", INTEGER), INTEGER)
        case sql.Sum():
            return optional(value, total(filled, value.type), value.type)
        case sql.Avg():
            whole = total(filled, value.type)
            if value.type == DOUBLE:
                text = f"({whole} / sql::as_double({count(value)}, 1))"
            else:
                text = f"sql::as_double({whole}, {count(value)} * {10**value.type.scale})"
            if value.nullable:  # not evaluated where the count is 0
                return optional(value, text, DOUBLE)
            return optional(value, text, DOUBLE)
        case sql.Min() | sql.Max() | sql.AnyValue():
            name = "max" if isinstance(inner, sql.Max) else "min"
            item = value.text
            if value.nullable and name == "min":
                item = f"sql::low({value.text})"
            found = result(f"$.{name}_of(|v| v.{made.item(item)})", value.type, value.nullable)
            if not value.nullable:
                return optional(None, found, value.type)
            return Value(f"sql::high({found})" if name == "min" else found, value.type, True)
        case sql.LogicalAnd() | sql.LogicalOr():
            wanted = "true" if isinstance(inner, sql.LogicalOr) else "false"
            hits = f"({value.optional().text} == Some{{{wanted}}})"
            number = total(f"(if ({hits}) (1: bigint) else (0: bigint))", INTEGER)
            return optional(value, f"({number} {'>' if wanted == 'true' else '=='} 0)", BOOLEAN)
        case sql.GroupConcat():
            separator = inner.args.get("separator")
            by = "," if separator is None else str(separator.name)
            found = result(
                f"sql::joined($.map(|v| v.{made.item(value.optional().text)}), {c.quoted(by)})", VARCHAR, True
            )
            return Value(found, VARCHAR, True)
    return _moments(block, inner, value, filled, total, count)


def _moments(
    block: Block,
    inner: Expression,
    value: Value,
    filled: str,
    total: Callable[[str, SqlType], str],
    count: Callable[[Value | None], str],
) -> Value:
    """Variances and standard deviations, of exact sums."""
    if value.type == DOUBLE:
        block.places.refuse(
            f"{described(inner)} of DOUBLE", inner, "cast it to a DECIMAL, whose sums are exact"
        )
    first, second = total(filled, value.type), total(f"({filled} * {filled})", INTEGER)
    pop = isinstance(inner, sql.StddevPop | sql.VariancePop)
    root = isinstance(inner, sql.Stddev | sql.StddevSamp | sql.StddevPop)
    call = "sql::deviation" if root else "sql::variance"
    text = f"{call}({count(value)}, {first}, {second}, {10**value.type.scale}, {'true' if pop else 'false'})"
    return Value(text, DOUBLE, True)


def _with_distinct(
    block: Block,
    rows: Body,
    body: Body,
    keys: Sequence[Value],
    node: Expression,
    arguments: _Arguments,
    found: _Given,
) -> tuple[Body, _Given]:
    """The groups with one more aggregate, of distinct values."""
    output, value = block.output, arguments.of[node]
    assert value is not None
    own = list(dict.fromkeys([*rows.domain, *keys]))
    plain = replace(value, nullable=False)
    inner = rows.copy()
    if value.nullable:
        plain = output.variable(value.type, False)
        inner.add(Clause(f"Some{{var {plain.text}}} = {value.text}"))
    single = output.made("Values", [*own, plain], inner, is_set=True)
    each = Body([output.term(single, [*own, plain])], rows.domain)
    bare = _function(node).copy()
    bare.set("this", sql.column("x"))
    results = _plain_group(block, each, keys, [bare], _Only(plain))
    result = results[bare]
    relation = output.made("Distinct", [*own, result], each, is_set=False)
    held = list(dict.fromkeys(found.values()))
    whole = output.made("Keyed", [*own, *held], body, is_set=False)
    base = Body([output.term(whole, [*own, *held])], rows.domain)
    empty = _of_nothing(bare, result)
    shown = result if isinstance(bare, sql.Count) else result.optional()
    empty = empty if isinstance(bare, sql.Count) else null(result.type)
    made = output.relation("Both", [*own, *held, shown], is_set=False)
    texts = [v.text for v in (*own, *held)]
    there = base.copy()
    there.add(output.term(relation, [*own, result]))
    output.rule(made, [*texts, shown.text], there)
    missing = base.copy()
    unused = output.variable(result.type, result.nullable)
    missing.add(output.term(relation, [*own, unused], negated=True))
    output.rule(made, [*texts, empty.text], missing)
    last = output.variable(shown.type, shown.nullable)
    return Body([output.term(made, [*own, *held, last])], rows.domain), {**found, node: last}


class _Only(_Arguments):
    """The argument of one aggregate, whatever the aggregate is."""

    def __init__(self, value: Value) -> None:
        self.of = _Always(value)
        self.order = {}


class _Always(dict["Expression", "Value | None"]):
    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value

    def __missing__(self, node: Expression) -> Value:
        return self.value
