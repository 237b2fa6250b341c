"""FROM: tables, subqueries, and joins of all kinds.

An inner join is terms of one rule. An outer join is a relation: the pairs that match, and the rows of a side
without a match, whose other columns are NULL. Which rows have a match is known by the columns that the
condition of the join reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..errors.unknown import UnknownName
from .conjuncts import conjuncts
from .conversions import convert
from .foreign import function_instead
from .lateral import as_lateral, asof, is_members, lateral, members, reading, series, unnest
from .moments import reads_clock
from .pivots import unfolded
from .places import SqlError
from .queries import SqlQuery
from .rules import Item, NamedRows, SqlBody, SqlGuard, SqlLet, SqlTerm
from .scalars import is_true
from .scopes import VisibleColumn
from .timewindows import call_of, windowed
from .types import SqlType, SqlValue, null, variables_in

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

    from .selects import SelectBlock


@dataclass(frozen=True, slots=True)
class JoinedTables:
    """Tables of FROM: clauses, and the columns that they give."""

    items: list[Item]
    entries: list[VisibleColumn]


def from_clause(block: SelectBlock) -> tuple[JoinedTables, list[Expression]]:
    """The tables of a SELECT, and conditions of inner joins that are for its WHERE, as they have
    subqueries. Raises SqlError."""
    node = block.node.args.get("from_")
    if node is None:
        return JoinedTables([], []), []
    later: list[Expression] = []
    views = [sql.Join(this=each) for each in block.node.args.get("laterals") or ()]
    joins = [*(block.node.args.get("joins") or ()), *views]
    part = _joined(block, _table(block, node.this), joins, later)
    return part, later


def _joined(
    block: SelectBlock, part: JoinedTables, joins: Sequence[sql.Join], later: list[Expression]
) -> JoinedTables:
    inner: Sequence[sql.Join] = ()
    for at, join in enumerate(joins):
        if any(join is each for each in inner):
            continue
        if join.args.get("method") == "ASOF":
            asof(block, join)
        node, own = as_lateral(join.this), _own_joins(join, joins[at + 1 :])
        table = None if isinstance(node, sql.Lateral) else _alone(block, node)
        if table is not None:
            right, inner = _whole(block, table, own), own
        elif any(each.args.get("side") in ("RIGHT", "FULL") for each in (join, *own)):
            block.places.refuse("a RIGHT or FULL join with LATERAL", node)
        else:
            node = node if isinstance(node, sql.Lateral) else sql.Lateral(this=node, alias=node.args["alias"])
            if join.args.get("side") == "LEFT" and not isinstance(node.this.unnest(), sql.Query | sql.Values):
                join, node = _kept(block, join)
            with reading(block, part.items, part.entries):
                right = JoinedTables(*lateral(block, node))
                part = JoinedTables(block.body.items, block.scope.entries)
        part = _join(block, part, right, join, joins, later)
    return part


def _alone(block: SelectBlock, node: Expression) -> JoinedTables | None:
    """One table; None for a subquery or VALUES with a name that cannot be read without the tables before it,
    which is LATERAL in DuckDB."""
    mark, rows = block.output.mark(), node if isinstance(node, sql.Values) else node.this
    plain = isinstance(rows, sql.Select | sql.SetOperation | sql.Values) and node.alias
    try:
        return _table(block, node)
    except SqlError as error:
        more = any(value for key, value in node.args.items() if key not in ("this", "alias", "expressions"))
        if not plain or more or block.places.dialect.is_ansi or not isinstance(error.diagnostic, UnknownName):
            raise
    block.output.back(mark)
    return None


def _own_joins(join: sql.Join, behind: Sequence[sql.Join]) -> Sequence[sql.Join]:
    """The joins behind a table after a comma, which are of that table and not of those before the comma, up
    to the last for which that makes a difference: a condition of the others may read all tables."""
    own = list(takewhile(lambda each: not _is_comma(each), behind)) if _is_comma(join) else []
    while own and not (
        own[-1].args.get("side") in ("RIGHT", "FULL")
        or own[-1].args.get("using")
        or own[-1].args.get("method") == "NATURAL"
    ):
        own.pop()
    return own


def _is_comma(join: sql.Join) -> bool:
    return not any(join.args.get(key) for key in ("side", "kind", "method", "on", "using"))


def _whole(block: SelectBlock, part: JoinedTables, joins: Sequence[sql.Join]) -> JoinedTables:
    """A table with joins of its own, as in parentheses: what their conditions leave."""
    later: list[Expression] = []
    return _where(block, _joined(block, part, joins, later), later)


def _where(block: SelectBlock, part: JoinedTables, conditions: Sequence[Expression]) -> JoinedTables:
    """The rows of tables for which conditions are true."""
    if not conditions:
        return part
    with reading(block, part.items, part.entries):
        for each in conditions:
            block.condition(each)
        return JoinedTables(block.body.items, block.scope.entries)


def _kept(block: SelectBlock, join: sql.Join) -> tuple[sql.Join, sql.Lateral]:
    """LEFT JOIN LATERAL of a function that makes rows as one that makes NULL where it makes none."""
    on = join.args.get("on")
    if not (isinstance(on, sql.Boolean) and on.this):
        block.places.refuse("a LEFT join with LATERAL on another condition than TRUE", join)
    node = join.this.copy()
    node.set("outer", True)
    return sql.Join(this=node), node


def _table(block: SelectBlock, node: Expression) -> JoinedTables:
    """One table, or a subquery, or joins in parentheses."""
    if node.args.get("pivots"):
        return _table(block, unfolded(node, lambda of: list(_types(block, of)), block.places))
    alias = node.alias.lower() if node.alias else ""
    names = [each.name.lower() for each in node.args["alias"].args.get("columns") or ()] if alias else []
    translator = block.translator
    match node:
        case sql.Table() if isinstance(node.this, sql.Identifier):
            found = translator.source(node, block.names)
            alias = alias or node.name.lower()
            part = _read(block, found, alias, names, node)
            return _whole(block, part, node.args.get("joins") or [])
        case sql.Table(this=sql.GenerateSeries()):
            with reading(block, [], []):
                return JoinedTables(*series(block, node))
        case sql.Table() if is_members(node):
            with reading(block, [], []):
                return JoinedTables(*members(block, node))
        case sql.Table() if call_of(node) is not None:
            rows = windowed(node, lambda of: _types(block, of), block.scalars.value, block.places)
            rows.set("joins", node.args.get("joins"))
            return _table(block, rows)
        case sql.Table():
            call = block.places.written(node.this)
            block.places.refuse(f"the table function {call}", node, function_instead(call.partition("(")[0]))
        case sql.Paren() | sql.Subquery() if isinstance(node.this, sql.Table):
            used, translator.used = translator.used, None if names else translator.used
            part = _whole(block, _table(block, node.this), node.args.get("joins") or [])
            translator.used = used
            if not alias:
                return part
            block.places.check_named(names, sum(not e.hidden for e in part.entries), node)
            given = iter(names)
            return JoinedTables(
                part.items,
                [
                    replace(e, table=alias, name=e.name if e.hidden else next(given, e.name))
                    for e in part.entries
                ],
            )
        case sql.Subquery() | sql.Values():
            query = translator.query(
                node if isinstance(node, sql.Values) else node.this, block.names, block.capture
            )
            part = _read(block, query, alias, names, node)
            return _whole(block, part, node.args.get("joins") or [])
        case sql.Lateral():
            with reading(block, [], []):
                items, entries = lateral(block, node)
                return JoinedTables([*block.body.items, *items], entries)
        case sql.Unnest():
            with reading(block, [], []):
                return JoinedTables(*unnest(block, node))
    block.places.refuse(f"{type(node).__name__.upper()} in FROM", node)


def _types(block: SelectBlock, node: Expression) -> dict[str, SqlType]:
    """The names of the columns of a table, and their types."""
    mark = block.output.mark()
    try:
        return {each.name: each.value.type for each in _table(block, node).entries if not each.hidden}
    finally:
        block.output.back(mark)


def _read(
    block: SelectBlock, found: NamedRows | SqlQuery, alias: str, names: Sequence[str], node: Expression
) -> JoinedTables:
    """The columns of a table or a query, under the name of a table."""
    translator = block.translator
    block.places.check_named(names, len(found.names), node)
    if isinstance(found, SqlQuery):
        if names:
            found = translator.renamed(found, names, node)
        query = translator.unified(found)
        if query.is_set or len(query.branches) != 1 or not query.branches[0].body.is_plain:
            found = translator.stored(query, alias or "query", alias or "a subquery")
        else:
            branch = query.branches[0]
            items, entries = list(branch.body.items), []
            for name, value in zip(query.names, branch.values, strict=True):
                if not value.name:
                    made = block.output.variable(value.type, value.nullable)
                    items.append(SqlLet(made.name, value.tree))
                    value = made
                entries.append(VisibleColumn(alias, name, block.output.say(value, name, alias)))
            return JoinedTables(items, entries)
    if block.capture is not None:
        found = replace(found, domain=tuple(block.capture.here(each) or each for each in found.domain))
    body = SqlBody()
    values = translator.opened(found, body)
    shown = [*names, *found.names[len(names) :]]
    for name, value in zip(shown, values, strict=True):
        block.output.say(value, name, alias)
    return JoinedTables(body.items, [VisibleColumn(alias, n, v) for n, v in zip(shown, values, strict=True)])


def _join(
    block: SelectBlock,
    left: JoinedTables,
    right: JoinedTables,
    join: sql.Join,
    joins: Sequence[sql.Join],
    later: list[Expression],
) -> JoinedTables:
    side, kind, method = (str(join.args.get(key) or "").upper() for key in ("side", "kind", "method"))
    if method not in ("", "NATURAL") or kind not in ("", "INNER", "CROSS", "OUTER", "SEMI", "ANTI"):
        why = "rows have no order, so none is beside another" if method == "POSITIONAL" else ""
        block.places.refuse(f"a join of the kind {method or kind}", join, why)
    shared = [each.name.lower() for each in join.args.get("using") or ()]
    twice = {e.table for e in left.entries if e.table} & {e.table for e in right.entries}
    if twice:
        name = min(twice)
        block.places.wrong(f"there are two tables `{name}` in FROM: give one another name", join.this)
    if method == "NATURAL":
        if shared or join.args.get("on") is not None:
            block.places.wrong("a NATURAL join with a condition", join)
        there = [e.name for e in right.entries]
        shared = [e.name for e in left.entries if not e.hidden and e.name in there]
    on = join.args.get("on")
    is_inner = not side and kind not in ("SEMI", "ANTI")
    queries: list[Expression] = []
    is_last = is_inner and not any(j.args.get("side") in ("RIGHT", "FULL") for j in joins)
    entries = [*left.entries, *right.entries]
    before, block.scope.entries = block.scope.entries, entries
    try:
        guards = _shared_equal(block, left, right, shared, join)
        for each in [] if on is None else conjuncts(on):
            if is_inner and reads_clock(each):
                later.append(each)
            elif each.find(sql.Query, sql.Any) is not None:
                (later if is_last else queries).append(each)
            else:
                guards += _condition(block, each)
    finally:
        block.scope.entries = before
    if queries:
        left, right = _stored(block, left), _stored(block, right)
    pairs = JoinedTables([*left.items, *right.items, *guards], [*left.entries, *right.entries])
    items = _where(block, pairs, queries).items
    if kind in ("SEMI", "ANTI"):
        term = _matched(block, left, right, guards, items, queries)
        return JoinedTables([*left.items, replace(term, negated=kind == "ANTI")], left.entries)
    if not side:
        hidden = [replace(e, hidden=True) if e.name in shared else e for e in right.entries]
        return JoinedTables(items, [*left.entries, *hidden])
    return _outer(block, left, right, guards, items, queries, side, shared)


def _condition(block: SelectBlock, node: Expression) -> list[Item]:
    """The clauses of a condition without subqueries."""
    body, block.body = block.body, SqlBody()
    try:
        block.condition(node)
        return block.body.items
    finally:
        block.body = body


def _shared_equal(
    block: SelectBlock, left: JoinedTables, right: JoinedTables, shared: Sequence[str], join: Expression
) -> list[Item]:
    """The clauses of USING."""
    guards: list[Item] = []
    for name in shared:
        a = [e for e in left.entries if e.name == name and not e.hidden]
        b = [e for e in right.entries if e.name == name and not e.hidden]
        if len(a) != 1 or len(b) != 1:
            block.places.wrong(f"`{name}` is not one column of each side of the join", join)
        equal = block.scalars.compared("==", a[0].value, b[0].value, join)
        if a[0].value.nullable or b[0].value.nullable:
            guards.append(SqlGuard(is_true(equal), f"USING ({name})"))
        else:
            guards.append(SqlGuard(equal.tree, f"USING ({name})"))
    return guards


def _used(block: SelectBlock, entries: Sequence[VisibleColumn]) -> list[VisibleColumn]:
    used = block.translator.used
    return [e for e in entries if used is None or e.name in used]


def _matched(
    block: SelectBlock,
    part: JoinedTables,
    other: JoinedTables,
    guards: Sequence[Item],
    pairs: Sequence[Item],
    queries: Sequence[Expression],
) -> SqlTerm:
    """The term that leaves out the rows of a side with a match, by what the guards read, and by all columns
    if the condition has subqueries. `pairs`: the clauses of the pairs that match."""
    read = {name for each in guards for name in _variables(each)}
    read |= {e.value.name for e in _used(block, part.entries) if queries}
    bound = SqlBody(list(part.items)).bound
    read |= bound & SqlBody(list(other.items)).read  # by LATERAL
    about = [block.output.types[name] for name in sorted(read & bound)]
    body = block.translator.start(block.capture)
    domain = body.domain
    about = [v for v in about if v not in domain]
    body.add(*pairs)
    found = block.output.made("Matched", [*domain, *about], body, is_set=True, words="a match of the join")
    conditions = [*(each.said for each in guards if each.said), *map(block.places.written, queries)]
    said = " AND ".join(dict.fromkeys(conditions))
    no_match = f"no row matches {said}" if said else "no row matches"
    return block.output.term(found, [*domain, *about], negated=True, said=no_match)


def _variables(item: Item) -> list[str]:
    match item:
        case SqlGuard(tree) | SqlLet(_, tree):
            return variables_in(tree)
    return []


def _stored(block: SelectBlock, part: JoinedTables) -> JoinedTables:
    """The part as one term, so that rules that read it do not repeat it."""
    if len(part.items) <= 1:
        return part
    body = block.translator.start(block.capture)
    body.add(*part.items)
    entries = _used(block, part.entries)
    values = list(dict.fromkeys([*body.domain, *(e.value for e in entries)]))
    relation = block.output.made("Side", values, body, is_set=False)
    return JoinedTables([block.output.term(relation, values)], entries)


def _outer(
    block: SelectBlock,
    left: JoinedTables,
    right: JoinedTables,
    guards: Sequence[Item],
    pairs: Sequence[Item],
    queries: Sequence[Expression],
    side: str,
    shared: Sequence[str],
) -> JoinedTables:
    """LEFT, RIGHT and FULL JOIN. A column of USING is that of the side that is kept, or of either; where the
    left side may lack, each side has its own beside it."""
    left, right = _stored(block, left), _stored(block, right)
    left_entries, right_entries = _used(block, left.entries), _used(block, right.entries)
    left_null, right_null = side in ("RIGHT", "FULL"), side in ("LEFT", "FULL")
    merged = [e for e in left_entries if left_null and e.name in shared and not e.hidden]
    domain = () if block.capture is None else block.capture.domain

    def row(with_left: bool, with_right: bool) -> list[SqlValue]:
        made = []
        for e in left_entries:
            here = e.value if with_left else null(e.value.type)
            made.append(here.optional() if left_null else here)
        for e in right_entries:
            here = e.value if with_right else null(e.value.type)
            made.append(here.optional() if right_null else here)
        for e in merged:
            other = next(each for each in right_entries if each.name == e.name and not each.hidden)
            is_other = side == "RIGHT" or not with_left
            made.append((_as(other.value, e.value) if is_other else e.value).optional())
        return made

    first = row(True, True)
    relation = block.output.relation("Joined", [*domain, *first], is_set=False)

    def rule(values: Sequence[SqlValue], *items: Item) -> None:
        body = block.translator.start(block.capture)
        body.add(*items)
        block.output.rule(relation, (*domain, *values), body)

    rule(first, *pairs)
    if right_null:
        rule(row(True, False), *left.items, _matched(block, left, right, guards, pairs, queries))
    if left_null:
        rule(row(False, True), *right.items, _matched(block, right, left, guards, pairs, queries))
    values = [block.output.variable(v.type, v.nullable) for v in first]
    for e, v in zip([*left_entries, *right_entries, *merged], values, strict=True):
        block.output.say(v, e.name, e.table)
    of_either = dict(zip((e.name for e in merged), values[len(values) - len(merged) :], strict=True))
    entries = list[VisibleColumn]()
    for i, (e, v) in enumerate(zip([*left_entries, *right_entries], values, strict=False)):
        is_merged = e in merged
        if is_merged:
            entries.append(VisibleColumn("", e.name, of_either[e.name]))
        is_second = i >= len(left_entries) and e.name in shared
        entries.append(replace(e, value=v, hidden=e.hidden or is_merged or is_second))
    return JoinedTables([block.output.term(relation, [*domain, *values])], entries)


def _as(value: SqlValue, like: SqlValue) -> SqlValue:
    """The value with the type of another, to which it was found comparable."""
    return convert(value, like.type) or value
