"""GROUP BY and aggregates.

The rows of a group are a bag, whose sums, counts and extremes the engine keeps up. NULL is left out: a sum of
values that may be NULL is one of values with 0 in place of NULL, beside a count of those that are not NULL.
An aggregate of DISTINCT values is a group of its own, which is joined to the others by the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import expressions as sql

from ..syntax import VarDecl
from ..syntax.templates import NOWHERE, items, let, tree
from . import conversions as c
from .aggregatecalls import aggregates_of
from .foreign import function_instead
from .formulas import MOMENTS, PAIRED, Parts, argument_value, formula, function_of, of_nothing, zero
from .groupingkeys import grouping, keys_of
from .orderedaggregates import EXTREMES, GATHERED, Order, is_none_of, is_unordered_list, ordered_by
from .rules import SqlBody, SqlClause, SqlLet
from .rules import grouped as grouped_by
from .scopes import VisibleColumn
from .types import BOOLEAN, INTEGER, NULL, SqlType, SqlValue, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock

FUNCTIONS: tuple[type[Expression], ...] = (
    sql.Count, sql.CountIf, sql.Sum, sql.Avg, sql.Min, sql.Max, sql.LogicalAnd, sql.LogicalOr, sql.AnyValue,
    *MOMENTS, *PAIRED, *GATHERED,
)  # fmt: skip


def grouped(block: SelectBlock, aggregates: Sequence[Expression]) -> bool:
    """Makes the groups the rows of a SELECT; returns whether there is always one. Raises SqlError."""
    keys, sets, names = keys_of(block)
    places = {node: i for i, node in enumerate(keys)}
    scalars = block.scalars
    values = [block.variable(_typed(c.key(scalars.value(e))), e) for e in keys]
    plain = [each for each in aggregates if not is_distinct(each) and not isinstance(each, sql.Grouping)]
    distinct = [each for each in aggregates if is_distinct(each)]
    for each in aggregates:
        _check(block, each)
    block.extra += values
    arguments = Arguments(block, aggregates)
    if len(sets) > 1 or distinct:
        block.store()
    rows = block.body
    many = len(sets) > 1
    shown = [replace(v, nullable=v.nullable or many) for v in values]
    rules: list[tuple[SqlBody, list[SqlValue]]] = []
    for chosen in sets:
        bodies = _one_set(block, rows, [values[i] for i in chosen], plain, distinct, arguments)
        cells: list[SqlValue] = []
        for i, v in enumerate(values):
            cell = v if i in chosen else null(v.type)
            cells.append(cell.optional() if shown[i].nullable else cell)
        groupings: _Given = {
            e: grouping(e, places, chosen, block) for e in aggregates if isinstance(e, sql.Grouping)
        }
        for body, given in bodies:
            of: _Given = {**given, **groupings}
            rules.append((body, [*cells, *(of[e] for e in aggregates)]))
    made_values = _union(block, rules, rows)
    _show(block, keys, names, aggregates, made_values)
    return not keys and sets == [()]


def _union(
    block: SelectBlock, rules: Sequence[tuple[SqlBody, list[SqlValue]]], rows: SqlBody
) -> list[SqlValue]:
    """Makes the union of some bodies the body; returns the values of its columns."""
    if len(rules) == 1:
        block.body = rules[0][0]
        return rules[0][1]
    columns = list(zip(*(row for _, row in rules), strict=True))
    like = [next((v for v in column if v.nullable), column[0]) for column in columns]
    out = block.output.relation("Groups", [*rows.domain, *like], is_set=False)
    for body, row in rules:
        cells = [v.optional() if one.nullable else v for v, one in zip(row, like, strict=True)]
        block.output.rule(out, (*body.domain, *cells), body)
    fresh = [block.output.variable(v.type, v.nullable) for v in like]
    for i, column in enumerate(columns):
        for v in column:
            block.output.like(fresh[i], v)
    block.body = SqlBody([block.output.term(out, [*rows.domain, *fresh])], rows.domain)
    return fresh


def _show(
    block: SelectBlock,
    keys: Sequence[Expression],
    names: Sequence[str],
    aggregates: Sequence[Expression],
    values: Sequence[SqlValue],
) -> None:
    """Makes keys and aggregates what the expressions of the SELECT see."""
    scope, before = block.scope, block.scope.entries
    scope.known = dict(zip([*keys, *aggregates], values, strict=True))
    scope.entries, scope.grouped = [], True
    block.extra = []
    for node, name, value in zip(keys, names, values, strict=False):
        inner = node.unnest()
        for other in _respelled(node, before):
            scope.known.setdefault(other, value)
        if isinstance(inner, sql.Column):
            column = inner.name.lower()
            tables = {e.table for e in before if e.name == column and inner.table.lower() in ("", e.table)}
            for table in sorted(tables) or [""]:
                scope.entries.append(
                    VisibleColumn(table, column, value, len(scope.entries) > 0 and table != min(tables))
                )
        elif name:
            scope.entries.append(VisibleColumn("", name, value))


def _respelled(key: Expression, entries: Sequence[VisibleColumn]) -> list[Expression]:
    """An expression with the tables of its columns, and without them; none where a name may be another's."""
    bare, full = key.copy(), key.copy()
    for one, other in zip(bare.find_all(sql.Column), full.find_all(sql.Column), strict=True):
        tables = {each.table for each in entries if each.name == one.name.lower()}
        if len(tables) != 1 or key.find(sql.Query, sql.Lambda):
            return []
        one.set("table", None)
        other.set("table", other.args.get("table") or sql.to_identifier(min(tables)))
    return [bare, full]


def _typed(value: SqlValue) -> SqlValue:
    return null(INTEGER) if value.type == NULL else value


def is_distinct(node: Expression) -> bool:
    """Whether an aggregate counts equal values once. MIN and MAX are as without DISTINCT."""
    inner = node.this if isinstance(node, sql.Filter) else node
    argument = inner.this.this if isinstance(inner.this, sql.Order) else inner.this
    return isinstance(argument, sql.Distinct) and not isinstance(inner, sql.Min | sql.Max)


def _check(block: SelectBlock, node: Expression) -> None:
    inner = function_of(node)
    if not isinstance(inner, (*FUNCTIONS, sql.Grouping)):
        name = block.places.called(inner).removeprefix("the function ")
        block.places.refuse(f"the aggregate {name}", node, function_instead(name))
    for each in inner.iter_expressions():
        if aggregates_of([each]):
            block.places.wrong("an aggregate has another inside", node)


class Arguments:
    """The arguments of aggregates, as variables of the rows; NULL where FILTER leaves a row out. `said`: the
    aggregate in SQL, if it is not the one that is computed."""

    said = ""

    def __init__(self, block: SelectBlock, aggregates: Sequence[Expression]) -> None:
        self.of: dict[Expression, SqlValue | None] = {}
        self.order: dict[Expression, Order] = {}
        aliases = block.scope.aliases
        block.scope.aliases = {name: e for name, e in aliases.items() if not aggregates_of([e])}
        for node in aggregates:
            if not isinstance(node, sql.Grouping):
                found = self.of[node] = self._argument(block, node)
                block.extra += [] if found is None or found.when is not None else [found]
                inner = function_of(node)
                if found is not None and isinstance(inner, GATHERED):
                    self.order[node] = ordered_by(block, inner, found)
        block.scope.aliases = aliases
        self._take_the_same_rows(block)

    def _take_the_same_rows(self, block: SelectBlock) -> None:
        """Lets lists without an order have that of the rows, where there are several, and ARG_MAX and ARG_MIN
        prefer rows that have the arguments of all of them."""
        plain = {node: function_of(node) for node in self.order if not is_distinct(node)}
        lists = [node for node, e in plain.items() if is_unordered_list(e)]
        if len(lists) > 1:
            self.order.update(dict.fromkeys(lists, ()))
        best = [node for node, e in plain.items() if isinstance(e, EXTREMES)]
        given = list(dict.fromkeys(v for node in best if (v := self.of[node]) is not None))
        if len(given) > 1 and any(v.nullable for v in given):
            lacking = block.lasting(SqlValue(is_none_of(given), BOOLEAN))
            self.order.update({node: [*self.order[node], (lacking, "N")] for node in best})

    def _argument(self, block: SelectBlock, node: Expression) -> SqlValue | None:
        condition = node.expression.this if isinstance(node, sql.Filter) else None
        inner = function_of(node)
        argument = inner.this
        scalars = block.scalars
        if argument is None and not isinstance(inner, sql.Count):
            block.places.wrong(f"{block.places.called(inner)} takes an argument", node)
        if isinstance(argument, sql.Order):
            argument = argument.this
        several: Sequence[Expression] = ()
        if isinstance(argument, sql.Distinct):
            several = argument.expressions
            if len(several) != 1 and not isinstance(inner, sql.Count):
                block.places.refuse("DISTINCT of several values", node)
            argument = several[0]
            if isinstance(argument, sql.Star):
                block.places.refuse("COUNT(DISTINCT *)", node)
        if isinstance(argument, sql.Tuple) and several == [argument]:
            cells = [c.key(_typed(scalars.value(each))).optional() for each in argument.expressions]
            parts = (SqlType("other", name=f"Option<{each.type.plain}>") for each in cells)
            row = SqlType("row", parts=tuple(parts))
            value = SqlValue(items(*(each.tree for each in cells)), row)
        elif len(several) > 1:
            cells = [c.key(_typed(scalars.value(each))) for each in several]
            row = SqlType("row", parts=tuple(each.type for each in cells))
            value = c.strict(cells, lambda *plain: items(*plain), row)
        elif isinstance(inner, sql.Count) and (argument is None or isinstance(argument, sql.Star)):
            if condition is None:
                return None
            value = c.boolean(True)
        else:
            value = argument_value(block, inner, argument)
        if is_distinct(node):
            value = c.key(value)
        if condition is not None:
            test, when = scalars.true(condition), None
            adds = isinstance(inner, sql.Sum | sql.CountIf | sql.Avg)
            counts = isinstance(inner, sql.Count) and bool(value.name or value.constant)
            if not (value.nullable or is_distinct(node)) and (adds or counts):
                test = block.lasting(SqlValue(test, BOOLEAN)).tree
                if adds:
                    value = block.lasting(
                        replace(value, tree=tree("if ($) $ else $", test, value.tree, zero(value.type)))
                    )
                when = test, value.tree
            left = tree("if ($) $ else $", test, value.optional().tree, null(value.type).tree)
            value = SqlValue(left, value.type, True, when=when)
        return value if value.when is not None else block.variable(value, argument)


_Given = dict["Expression", SqlValue]


def _one_set(
    block: SelectBlock,
    rows: SqlBody,
    keys: Sequence[SqlValue],
    plain: Sequence[Expression],
    distinct: Sequence[Expression],
    arguments: Arguments,
) -> list[tuple[SqlBody, _Given]]:
    """The groups by some keys: bodies, each with the values of the aggregates. Without keys there is one
    group also where there are no rows."""
    output = block.output
    body = rows.copy()
    keys = list(dict.fromkeys(keys))
    found = plain_group(block, body, keys, plain, arguments)
    own = [*body.domain, *keys]
    if not distinct and keys:
        return [(body, found)]
    for node in distinct:
        body, found = _with_distinct(block, rows, body, keys, node, arguments, found)
    if keys:
        return [(body, found)]
    values = list(dict.fromkeys(found.values()))
    variables = [block.output.like(block.output.variable(v.type, v.nullable), v) for v in values]
    relation = output.relation("Total", [*own, *values], is_set=False)
    output.rule(relation, (*own, *values), body)
    there = SqlBody([output.term(relation, [*own, *variables])], rows.domain)
    nothing = block.translator.start(block.capture)
    unused = [block.output.variable(v.type, v.nullable) for v in values]
    nothing.add(output.term(relation, [*own, *unused], negated=True, said="there are no rows"))
    whole = output.relation("Whole", [*own, *found.values()], is_set=False)
    given = {node: variables[values.index(value)] for node, value in found.items()}
    output.rule(whole, (*own, *given.values()), there)
    empty = [of_nothing(function_of(node), value) for node, value in found.items()]
    output.rule(whole, (*own, *empty), nothing)
    fresh = {node: output.like(output.variable(v.type, v.nullable), given[node]) for node, v in found.items()}
    final = SqlBody([output.term(whole, [*own, *fresh.values()])], rows.domain)
    return [(final, fresh)]


def plain_group(
    block: SelectBlock,
    body: SqlBody,
    keys: Sequence[SqlValue],
    plain: Sequence[Expression],
    arguments: Arguments,
) -> _Given:
    """Ends the body in a group; returns the values of the aggregates. All but counts are Options where there
    are no keys."""
    several = [arguments.of[node] for node in plain if isinstance(function_of(node), sql.AnyValue)]
    any_row = list(dict.fromkeys(v for v in several if v is not None))
    made = Parts(any_row if len(any_row) > 1 else ())
    formulas = {
        node: formula(block, node, arguments.of[node], made, bool(keys), arguments.order.get(node, ()))
        for node in plain
    }
    if not plain:
        made.item(tree("true"))
    while len(made.items) < 2:
        made.items.append(tree("true"))
    group = block.output.variable(INTEGER, False)
    shown = [v for node in plain if (v := arguments.of[node]) is not None]
    said = f"{block.output.said(shown) or 'rows'} {_grouped_by(block, [*body.domain, *keys])}"
    body.add(grouped_by(group, items(*made.items), (*body.domain, *keys), said, shown))
    for variable, call, more in made.results:
        body.add(SqlLet(variable, tree(call, group.tree, *more)))
    found = {}
    for node, value in formulas.items():
        said = arguments.said or block.places.written(node)
        result = block.output.say(block.output.variable(value.type, value.nullable), said)
        body.add(SqlLet(result.name, value.tree, said))
        found[node] = result
    if not made.results:
        count = block.output.variable(INTEGER, False)
        body.add(SqlClause(let(count.name, tree("$.count()", group.tree))))
    return found


def _grouped_by(block: SelectBlock, keys: Sequence[SqlValue]) -> str:
    return f"grouped by {block.output.said(keys)}" if keys else "of all rows"


def _with_distinct(
    block: SelectBlock,
    rows: SqlBody,
    body: SqlBody,
    keys: Sequence[SqlValue],
    node: Expression,
    arguments: Arguments,
    found: _Given,
) -> tuple[SqlBody, _Given]:
    """The groups with one more aggregate, of distinct values."""
    output, value = block.output, arguments.of[node]
    assert value is not None
    own = list(dict.fromkeys([*rows.domain, *keys]))
    plain = replace(value, nullable=False)
    inner = rows.copy()
    if value.nullable:
        plain = output.variable(value.type, False)
        some = tree("Some{$} = $", VarDecl(plain.name, NOWHERE), value.tree)
        inner.add(SqlClause(some))
    single = output.made("Values", [*own, plain], inner, is_set=True)
    each = SqlBody([output.term(single, [*own, plain])], rows.domain)
    bare = function_of(node).copy()
    bare.set("this", sql.column("x"))
    block.output.say(plain, f"DISTINCT {block.output.said([value])}")
    order = arguments.order.get(node, ())
    results = plain_group(block, each, keys, [bare], _Only(plain, order, block.places.written(node)))
    result = results[bare]
    relation = output.made("Distinct", [*own, result], each, is_set=False)
    held = list(dict.fromkeys(found.values()))
    whole = output.made("Keyed", [*own, *held], body, is_set=False)
    base = SqlBody([output.term(whole, [*own, *held])], rows.domain)
    empty = of_nothing(bare, result)
    shown = result if isinstance(bare, sql.Count) else result.optional()
    empty = empty if isinstance(bare, sql.Count) else null(result.type)
    made = output.relation("Both", [*own, *held, shown], is_set=False)
    there = base.copy()
    there.add(output.term(relation, [*own, result]))
    output.rule(made, [*own, *held, shown], there)
    missing = base.copy()
    unused = output.variable(result.type, result.nullable)
    missing.add(output.term(relation, [*own, unused], negated=True, said="all values are NULL"))
    output.rule(made, [*own, *held, empty], missing)
    last = output.say(output.variable(shown.type, shown.nullable), block.places.written(node))
    return SqlBody([output.term(made, [*own, *held, last])], rows.domain), {**found, node: last}


class _Only(Arguments):
    """The arguments of a query with one aggregate: any aggregate is given the same value and order."""

    def __init__(self, value: SqlValue, order: Order, said: str) -> None:
        self.of, self.said = _Always(value), said
        key, letter = value.optional(), order[0][1] if order else "a"
        if order and value.type.is_list and value.type != order[0][0].type:
            # The value is in a list of one, as it may be NULL.
            key = SqlValue(tree("sql::element($, 1)", value.tree), value.type.parts[0], True)
        self.order = _Always([(key, letter)])


class _Always(dict["Expression", Any]):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def __missing__(self, node: Expression) -> Any:
        return self.value

    def get(self, node: Expression, default: Any = None) -> Any:
        return self.value
