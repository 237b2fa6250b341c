"""UNION, INTERSECT and EXCEPT, with ALL and without."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import expressions as sql

from ..errors.diagnostics import counted as number_of
from ..syntax import Expr
from ..syntax.templates import let, tree
from . import conversions as c
from .queries import QueryBranch, QueryNames, SqlQuery, Translator
from .rules import NamedRows, SqlBody, SqlClause, SqlGuard, grouped
from .scopes import Capture
from .types import INTEGER, NULL, SqlValue, null


def combined(
    translator: Translator, node: sql.SetOperation, names: QueryNames, capture: Capture | None
) -> SqlQuery:
    """The branches of a set operation. Raises SqlError."""
    left = translator.query(node.this, names, capture)
    right = translator.query(node.expression, names, capture)
    if node.args.get("by_name"):
        if not isinstance(node, sql.Union):
            translator.places.refuse("BY NAME of another operation than UNION", node)
        all_names = tuple(dict.fromkeys((*left.names, *right.names)))
        left, right = _with_columns(left, all_names), _with_columns(right, all_names)
    if len(left.names) != len(right.names):
        translator.places.wrong(
            f"the two sides have {len(left.names)} and {number_of(len(right.names), 'column')}", node
        )
    distinct = bool(node.args.get("distinct"))
    if isinstance(node, sql.Union):
        if not distinct:
            left, right = translator.bag(left, capture), translator.bag(right, capture)
        both = SqlQuery(left.names, (*left.branches, *right.branches), distinct)
        both = translator.unified(both, node)
        return _of_keys(both) if distinct else both
    both = _of_keys(translator.unified(SqlQuery(left.names, (*left.branches, *right.branches)), node))
    count = len(left.branches)
    left = SqlQuery(left.names, both.branches[:count], distinct or left.is_set)
    right = SqlQuery(left.names, both.branches[count:], distinct or right.is_set)
    is_except = isinstance(node, sql.Except)
    first = translator.stored(left, "side")
    second = translator.stored(right, "side", "the rows after EXCEPT" if is_except else "")
    if distinct:
        said = f"not in {translator.places.written(node.expression)}"
        return _of_sets(translator, first, second, capture, is_except, said)
    return _of_bags(translator, first, second, capture, is_except)


def _with_columns(query: SqlQuery, names: tuple[str, ...]) -> SqlQuery:
    """The query with columns of these names, NULL where it has none."""
    branches = []
    for each in query.branches:
        values = dict(zip(query.names, each.values, strict=True))
        branches.append(replace(each, values=tuple(values.get(name, null(NULL)) for name in names)))
    return replace(query, names=names, branches=tuple(branches))


def _of_keys(query: SqlQuery) -> SqlQuery:
    """The query with values such that equal ones are one."""
    branches = (replace(each, values=tuple(map(c.key, each.values))) for each in query.branches)
    return replace(query, branches=tuple(branches))


def _of_sets(
    translator: Translator,
    first: NamedRows,
    second: NamedRows,
    capture: Capture | None,
    is_except: bool,
    said: str,
) -> SqlQuery:
    body, output = translator.start(capture), translator.output
    values = _named(translator, first, translator.opened(first, body))
    body.add(output.term(second.relation, [*second.domain, *values], is_except, said if is_except else ""))
    return SqlQuery(first.names, (QueryBranch(body, tuple(values), output.place),))


def _named(translator: Translator, source: NamedRows, values: list[SqlValue]) -> list[SqlValue]:
    return [translator.output.say(v, name, "") for name, v in zip(source.names, values, strict=True)]


def _of_bags(
    translator: Translator, first: NamedRows, second: NamedRows, capture: Capture | None, is_except: bool
) -> SqlQuery:
    """Rows as often as they are left: the smaller of two counts, or their difference."""
    output = translator.output
    some = counted(translator, first, capture)
    other = counted(translator, second, capture)
    body = translator.start(capture)
    *values, many = translator.opened(some, body)
    _named(translator, first, values)
    alone = body.copy()
    unused = output.variable(INTEGER, False)
    body.add(output.term(other.relation, [*other.domain, *values, unused]))
    times = tree("$ - $" if is_except else "min($, $)", many.tree, unused.tree)
    branches = [repeated(translator, body, values, times)]
    if is_except:
        free = output.variable(INTEGER, False)
        free_term = output.term(
            other.relation, [*other.domain, *values, free], True, "in no row after EXCEPT"
        )
        alone.add(free_term)
        branches.append(repeated(translator, alone, values, many.tree))
    return SqlQuery(first.names, tuple(branches))


def counted(translator: Translator, source: NamedRows, capture: Capture | None) -> NamedRows:
    """The rows of a bag, each once, and how often they are there."""
    body = translator.start(capture)
    values = _named(translator, source, translator.opened(source, body))
    group = translator.output.variable(INTEGER, False)
    count = translator.output.variable(INTEGER, False)
    body.add(grouped(group, tree("(true, true)"), (*body.domain, *values), "equal rows"))
    body.add(SqlClause(let(count.name, tree("$.count() as bigint", group.tree))))
    relation = translator.output.made("Counted", [*body.domain, *values, count], body, is_set=True)
    return NamedRows(relation, (*source.names, "count"), body.domain)


def repeated(translator: Translator, body: SqlBody, values: list[SqlValue], times: Expr) -> QueryBranch:
    number = translator.output.variable(INTEGER, False)
    body.add(SqlGuard(tree("$ > 0", times)))
    body.add(SqlClause(let(f"_{number.name}", tree("FlatMap(range_vec((0: bigint), $, 1))", times))))
    return QueryBranch(body, tuple(values), translator.output.place)
