"""Tables of FROM that read the tables before them: LATERAL subqueries, and series of numbers and moments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from sqlglot import expressions as sql

from ..syntax import VarDecl, VectorLit, Wildcard
from ..syntax.templates import NOWHERE, items, let, tree
from . import conversions as c
from .conjuncts import conjuncts
from .jsons import members_of
from .lists import a_list
from .nested import entries_of, field
from .rules import Item, SqlBody, SqlClause
from .scopes import VisibleColumn
from .series import series_of
from .types import INTEGER, JSON, NULL, VARCHAR, SqlType, SqlValue, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock


@contextmanager
def reading(block: SelectBlock, items: Sequence[Item], entries: Sequence[VisibleColumn]) -> Iterator[SqlBody]:
    """Inside, the tables of these clauses and columns are those of the SELECT."""
    body, before, extra = block.body, block.scope.entries, list(block.extra)
    block.body, block.scope.entries = block.translator.start(block.capture), list(entries)
    block.body.add(*items)
    try:
        yield block.body
    finally:
        block.body, block.scope.entries, block.extra = body, before, extra


def as_lateral(node: Expression) -> Expression:
    """A series whose ends read columns as a LATERAL subquery; any other table as it is."""
    if isinstance(node, sql.Lateral) and isinstance(node.this, sql.Unnest):
        alias, node = node.args.get("alias"), node.this
        node.set("alias", alias or node.args.get("alias"))
    if isinstance(node, sql.Unnest):
        _name_ordinality(node)
    is_series = isinstance(node, sql.Unnest) or isinstance(node.this, sql.GenerateSeries) or is_members(node)
    if not (is_series and isinstance(node, sql.Table | sql.Unnest) and node.find(sql.Column)):
        return node
    table, alias = node.copy(), node.args.get("alias") or sql.TableAlias(this=sql.to_identifier(_name(node)))
    table.set("alias", None)
    return sql.Lateral(this=sql.Subquery(this=sql.select("*").from_(table, copy=False)), alias=alias.copy())


def _name_ordinality(node: Expression) -> None:
    """Gives the last name of UNNEST(xs) WITH ORDINALITY AS q(x, n) to a column of the table."""
    named = node.args.get("offset")
    if isinstance(named, sql.Identifier):
        node.args["alias"].append("columns", named)
        node.set("offset", True)


def asof(block: SelectBlock, join: sql.Join) -> None:
    """Writes an ASOF join as a LATERAL subquery: the nearest row of those for which the condition holds.
    Raises SqlError."""
    table, on = join.this, join.args.get("on")
    alias = table.alias or table.name
    tests = [] if on is None else [each for each in conjuncts(on) if type(each) in _NEAREST]
    if len(tests) != 1 or not isinstance(table, sql.Table | sql.Subquery):
        block.places.refuse("an ASOF join without one inequality, to a table or a subquery", join)
    side = tests[0].expression if isinstance(tests[0].expression, sql.Column) else tests[0].this
    right = [each for each in (tests[0].this, tests[0].expression) if _is_of(each, alias)]
    side, down = (right or [side])[0], type(tests[0]) in (sql.GT, sql.GTE)
    down = down == (side is tests[0].expression)
    inner = sql.select("*").from_(table.copy()).where(on, copy=True).limit(1, copy=False)
    order = sql.Ordered(this=side.copy(), desc=down, nulls_first=False)
    inner = inner.order_by(order, copy=False)
    named = sql.TableAlias(this=sql.to_identifier(alias))
    join.set("this", sql.Lateral(this=sql.Subquery(this=inner), alias=named))
    join.set("on", sql.true())
    join.set("method", None)


_NEAREST = (sql.GT, sql.GTE, sql.LT, sql.LTE)


def _is_of(node: Expression, table: str) -> bool:
    return any(each.table.lower() == table.lower() for each in node.find_all(sql.Column))


def _name(node: Expression) -> str:
    if isinstance(node, sql.Lateral):
        return ""
    if isinstance(node, sql.Unnest):
        return "unnest"
    if is_members(node):
        return "json_each"
    return "range" if node.this.args.get("is_end_exclusive") else "generate_series"


def lateral(block: SelectBlock, node: sql.Lateral) -> tuple[list[Item], list[VisibleColumn]]:
    """The clauses and columns of LATERAL, for the rows that the body has. Raises SqlError."""
    if not isinstance(node.this.unnest(), sql.Query | sql.Values):
        before = len(block.body.items)
        names, found = generated(block, node.this, bool(node.args.get("outer")))
        added, block.body.items[before:] = block.body.items[before:], []
        return added, _entries(block, node, found, names)
    query, _, outer = block._subquery(node.this)
    alias = node.alias.lower()
    names = [each.name.lower() for each in node.args["alias"].args.get("columns") or ()] if alias else []
    query = block.translator.renamed(query, names, node) if names else query
    source = block.translator.stored(query, "lateral", block._words(node.this))
    columns = source.relation.columns[len(source.domain) :] if source.names else ()
    fresh = [block.output.variable(each.type, each.nullable) for each in columns]
    term = block.output.term(source.relation, [*outer, *fresh])
    entries = [
        VisibleColumn(alias, name, block.output.say(value, name, alias))
        for name, value in zip(source.names, fresh, strict=True)
    ]
    return [term], entries


def generated(block: SelectBlock, node: Expression, outer: bool) -> tuple[Sequence[str], list[SqlValue]]:
    """Adds a function of Spark that makes rows to the body; returns the names and the values of its columns.
    `outer`: a row that it makes none of is there with NULL. Raises SqlError."""
    outer = outer or isinstance(node, sql.ExplodeOuter | sql.PosexplodeOuter)
    match node:
        case sql.Explode() | sql.Posexplode():
            return _exploded(block, node, outer)
        case sql.Stack():
            return _stacked(block, node)
        case sql.Anonymous() if node.name.lower() == "json_tuple" and len(node.expressions) > 1:
            cells = members_of(node, block.places)
            return [each.alias for each in cells], [
                block.variable(block.scalars.value(e.this)) for e in cells
            ]
    block.places.refuse(f"{block.places.called(node)} as a table", node)


def _exploded(block: SelectBlock, node: Expression, outer: bool) -> tuple[Sequence[str], list[SqlValue]]:
    """The elements of a list, and of POSEXPLODE their places, from 0, before them."""
    if block.scalars.value(node.this).type.kind == "map" and not isinstance(node, sql.Posexplode):
        return _entries_exploded(block, node, outer)
    values = a_list(block.scalars, node.this, node)
    type, places = values.type.parts[0], isinstance(node, sql.Posexplode)
    kept = values.optional() if outer else block.plain(values)
    if not places:
        list_ = tree("sparksql::outer($)", kept.tree) if outer else kept.tree
        return ["col"], [opened(block, list_, type, node)]
    place, cell = block.output.variable(INTEGER, True), block.output.variable(type, True)
    row = items(*(VarDecl(each.name, NOWHERE) for each in (place, cell)))
    call = f"sparksql::{'outer_' if outer else ''}numbered($)"
    rows = tree(f"$ = FlatMap({call})", row, kept.tree)
    block.body.items.append(SqlClause(rows, block.places.written(node)))
    shown = place if outer else SqlValue(tree("unwrap_or($, 0)", place.tree), INTEGER)
    return ["pos", "col"], [
        block.variable(shown),
        block.variable(replace(cell, tree=c.inside(cell.tree, type))),
    ]


def _entries_exploded(
    block: SelectBlock, node: Expression, outer: bool
) -> tuple[Sequence[str], list[SqlValue]]:
    """The keys and the values of a map."""
    entries = entries_of(block.scalars.value(node.this))
    kept = tree("sparksql::outer($)", entries.optional().tree) if outer else block.plain(entries).tree
    entry = opened(block, kept, entries.type.parts[0], node)
    return ["key", "value"], [
        block.variable(field(block.scalars, entry, each, node)) for each in entry.type.fields
    ]


def _stacked(block: SelectBlock, node: Expression) -> tuple[Sequence[str], list[SqlValue]]:
    """STACK(n, x, y, …): the values as n rows."""
    count = block.scalars.value(node.this).constant
    if not isinstance(count, int) or count < 1:
        block.places.refuse("STACK of a number of rows that is not a constant", node)
    values = [block.scalars.value(each) for each in node.expressions]
    width = -(-len(values) // count)
    values += [null(NULL)] * (width * count - len(values))
    columns = [block.scalars.alike(values[at::width], node, "STACK") for at in range(width)]
    rows = [items(*(each[at].optional().tree for each in columns), tree("true")) for at in range(count)]
    fresh = [block.output.variable(each[0].type, True) for each in columns]
    row = items(*(VarDecl(each.name, NOWHERE) for each in fresh), Wildcard(NOWHERE))
    made = tree("$ = FlatMap($)", row, VectorLit(tuple(rows), NOWHERE))
    block.body.items.append(SqlClause(made, block.places.written(node)))
    return [f"col{at}" for at in range(width)], fresh


def series(block: SelectBlock, node: Expression) -> tuple[list[Item], list[VisibleColumn]]:
    """The clauses and the column of `generate_series(…)` or `range(…)`. Raises SqlError."""
    before, call = len(block.body.items), node.this
    values, template, type = series_of(block.scalars, call)
    made = tree(template, *(block.plain(each).tree for each in values))
    found = _member(block, made, type, call)
    names = ["id"] if block.places.dialect.is_ansi else []
    return block.body.items[before:], _entries(block, node, [found], names)


def unnest(block: SelectBlock, node: Expression) -> tuple[list[Item], list[VisibleColumn]]:
    """The clauses and the columns of `UNNEST(list)`: the elements, and their places with ORDINALITY. Raises
    SqlError."""
    _name_ordinality(node)
    if len(node.expressions) != 1:
        block.places.refuse("UNNEST of several lists in FROM", node)
    before = len(block.body.items)
    values = a_list(block.scalars, node.expressions[0], node)
    kept, type = block.plain(values), values.type.parts[0]
    if node.args.get("offset"):
        series = tree("range_vec(1, (vec_len($) as bigint) + 1, 1)", kept.tree)
        place = _member(block, series, INTEGER, node)
        cell = c.inside(tree("sql::element($, $)", kept.tree, place.tree), type)
        found = [block.variable(SqlValue(cell, type, True)), place]
    else:
        found = [opened(block, kept.tree, type, node)]
    return block.body.items[before:], _entries(block, node, found, ("unnest", "ordinality")[: len(found)])


def is_members(node: Expression) -> bool:
    """Whether a table is `json_each(…)`."""
    return isinstance(node.this, sql.Anonymous) and node.this.name.lower() == "json_each"


def members(block: SelectBlock, node: Expression) -> tuple[list[Item], list[VisibleColumn]]:
    """The clauses and the columns of `json_each(text)`: keys, values and their types. Raises SqlError."""
    if len(node.this.expressions) != 1:
        block.places.refuse("json_each with a path", node)
    before = len(block.body.items)
    text = block.plain(block.scalars.text(node.this.expressions[0]))
    key, value, type = (
        block.output.variable(of, nullable)
        for of, nullable in ((VARCHAR, True), (JSON, False), (VARCHAR, False))
    )
    row = items(*(VarDecl(each.name, NOWHERE) for each in (key, value, type)))
    found = tree("$ = FlatMap(sql::json_members($))", row, text.tree)
    block.body.items.append(SqlClause(found, block.places.written(node)))
    return block.body.items[before:], _entries(block, node, [key, value, type], ("key", "value", "type"))


def opened(block: SelectBlock, list_: Any, type: SqlType, node: Expression) -> SqlValue:
    """A variable for the elements of a list."""
    cell = block.output.variable(type, True)
    block.body.items.append(SqlClause(let(cell.name, tree("FlatMap($)", list_)), block.places.written(node)))
    return block.variable(replace(cell, tree=c.inside(cell.tree, type)))


def unnested(block: SelectBlock, nodes: Sequence[Expression]) -> None:
    """Makes a row for each element of the lists that a select list has in UNNEST; of several lists the
    elements at one place, NULL where a list has ended."""
    found = list(dict.fromkeys(each for node in nodes for each in _unnests(node)))
    if not found:
        return
    if block.places.dialect.is_ansi:
        if len(found) > 1:
            block.places.wrong("a select list has one function that makes rows", found[1])
        _, values = generated(block, found[0], False)
        if len(values) > 1:
            block.places.refuse(
                f"{block.places.called(found[0])} in a select list", found[0], "LATERAL VIEW has it"
            )
        block.scope.known[found[0]] = values[0]
        return
    values = [a_list(block.scalars, each.this, each) for each in found]
    lists = [block.variable(v) for v in values]
    plain = [tree("unwrap_or($, vec_empty())", v.tree) if v.nullable else v.tree for v in lists]
    if len(found) == 1:
        block.scope.known[found[0]] = opened(block, plain[0], lists[0].type.parts[0], found[0])
        return
    places = block.output.variable(INTEGER, False)
    lengths = reduce(partial(tree, "max($, $)"), (tree("vec_len($)", each) for each in plain))
    series = tree("FlatMap(range_vec(0, $ as bigint, 1))", lengths)
    block.body.items.append(SqlClause(let(places.name, series), block.places.written(found[0])))
    for node, each, v in zip(found, plain, lists, strict=True):
        type = v.type.parts[0]
        at = c.inside(tree("sql::element($, $ + 1)", each, places.tree), type)
        block.scope.known[node] = block.variable(SqlValue(at, type, True))


def _unnests(node: Expression) -> Iterator[Expression]:
    """The UNNEST of an expression, without those of subqueries."""
    if isinstance(node, sql.Explode | sql.Posexplode | sql.Stack | sql.Inline):
        yield node
    elif not isinstance(node, sql.Query):
        for each in node.iter_expressions():
            yield from _unnests(each)


def _member(block: SelectBlock, made: Any, type: SqlType, node: Expression) -> SqlValue:
    """A variable for the values of a vector."""
    found = block.output.variable(type, False)
    block.body.items.append(SqlClause(let(found.name, tree("FlatMap($)", made)), block.places.written(node)))
    return found


def _entries(
    block: SelectBlock, node: Expression, found: Sequence[SqlValue], names: Sequence[str] = ()
) -> list[VisibleColumn]:
    """The columns of a table function, with these names, if the table does not give others."""
    named, usual = node.args.get("alias"), names or [_name(node)]
    given = [each.name.lower() for each in (named.args.get("columns") or () if named is not None else ())]
    alias = node.alias.lower() or _name(node)
    block.places.check_named(given, len(found), node)
    return [
        VisibleColumn(alias, name, block.output.say(each, name, alias))
        for name, each in zip([*given, *usual[len(given) :]], found, strict=True)
    ]
