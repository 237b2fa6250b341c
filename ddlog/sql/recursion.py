"""WITH RECURSIVE.

With UNION the query is a recursive relation. With UNION ALL equal rows count: the relation has for each row
the step at which it was derived, and how often. A step counts what it derives by the rows that it is derived
from, each of which is there once with its count, so that the recursion is one of sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import Assign, Expr, FlatMap, VarDecl
from ..syntax.templates import NOWHERE, let, tree
from ..syntax.templates import items as tuple_of
from . import conversions as c
from .aggregatecalls import aggregates_of
from .lateral import as_lateral
from .queries import QueryBranch, QueryNames, SqlQuery, Translator
from .rules import Item, NamedRows, SqlBody, SqlClause, SqlGuard, SqlLet, SqlRelation, SqlTerm, grouped
from .scopes import Capture
from .setoperations import counted, repeated
from .topk import padded
from .types import INTEGER, SqlValue, variables_in

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

_TRIES = 4  # how often the types of the columns may widen


def recursive(
    translator: Translator,
    node: Expression,
    name: str,
    columns: Sequence[str],
    names: QueryNames,
    capture: Capture | None,
) -> NamedRows:
    """A query of WITH RECURSIVE that reads itself. Raises SqlError."""
    union = node.this.unnest()
    places = translator.places
    if not isinstance(union, sql.Union):
        places.refuse("a recursive query that is no UNION", node)
    if any(union.args.get(each) is not None for each in ("limit", "offset")):
        places.refuse("LIMIT of a recursive query", node)
    if union.args.get("by_name"):
        places.refuse("BY NAME of a recursive query", node)
    if _reads(union.this, name):
        places.refuse("a recursive query that reads itself before UNION", union.this)
    _check(translator, union.expression, name)
    base = translator.query(union.this, names, capture)
    if columns:
        base = translator.renamed(base, columns, node)
    base = translator.unified(base)
    is_set = bool(union.args.get("distinct"))
    like = base.branches[0].values
    for _ in range(_TRIES):
        mark = translator.output.mark()
        make = _set if is_set else _bag
        source, widened = make(translator, union.expression, name, replace(base), like, names, capture)
        if [(v.type, v.nullable) for v in widened] == [(v.type, v.nullable) for v in like]:
            return source
        translator.output.back(mark)
        like = widened
    places.refuse("a recursive query whose columns have no type", node)


def _reads(node: Expression, name: str) -> int:
    return sum(t.name.lower() == name and not t.db for t in node.find_all(sql.Table))


def _check(translator: Translator, node: Expression, name: str) -> None:
    """Refuses what a recursive part cannot have."""
    refuse = translator.places.refuse
    for select in node.find_all(sql.Select):
        if not _reads(select, name):
            continue
        items = [each for key in ("expressions", "having", "order") for each in _listed(select.args.get(key))]
        if select.args.get("group") is not None or aggregates_of(items):
            refuse("an aggregate in the recursive part of a query", select)
        for key, what in (("limit", "LIMIT"), ("offset", "OFFSET"), ("distinct", "DISTINCT")):
            if select.args.get(key) is not None:
                refuse(f"{what} in the recursive part of a query", select.args[key])
        for window in select.find_all(sql.Window):
            refuse("a window function in the recursive part of a query", window)
        for join in select.args.get("joins") or ():
            if join.args.get("side") or str(join.args.get("kind") or "").upper() in ("SEMI", "ANTI"):
                refuse("an outer join in the recursive part of a query", join)
            if join.args.get("method") == "ASOF":
                refuse("ASOF in the recursive part of a query", join)
        for inner in select.find_all(sql.Query):
            if inner is not select:
                refuse("a subquery in the recursive part of a query", inner)
    for each in node.find_all(sql.SetOperation):
        refuse("a set operation in the recursive part of a query", each)


def _listed(value: object) -> list[Expression]:
    return value if isinstance(value, list) else [] if value is None else [value]  # type: ignore[list-item]


def _branches(
    translator: Translator,
    node: Expression,
    names: QueryNames,
    capture: Capture | None,
    like: Sequence[SqlValue],
) -> tuple[SqlQuery, tuple[SqlValue, ...]]:
    """The recursive part, and the types of the columns that are wide enough for it, too."""
    outer, translator.output.is_recursive = translator.output.is_recursive, True
    part = translator.query(node, names, capture)
    translator.output.is_recursive = outer
    if len(part.names) != len(like):
        translator.places.wrong(f"the recursive part has {len(part.names)} columns, not {len(like)}", node)
    both = translator.unified(
        SqlQuery(part.names, (QueryBranch(SqlBody(), tuple(like)), *part.branches)), node
    )
    first, *others = both.branches
    return SqlQuery(part.names, tuple(others)), first.values


def _widened(base: SqlQuery, like: Sequence[SqlValue]) -> list[QueryBranch]:
    found = []
    for branch in base.branches:
        values = []
        for value, wide in zip(branch.values, like, strict=True):
            made = c.convert(value, wide.type) or value
            values.append(c.key(made.optional() if wide.nullable else made))
        found.append(replace(branch, values=tuple(values)))
    return found


def _set(
    translator: Translator,
    node: Expression,
    name: str,
    base: SqlQuery,
    like: Sequence[SqlValue],
    names: QueryNames,
    capture: Capture | None,
) -> tuple[NamedRows, tuple[SqlValue, ...]]:
    output = translator.output
    domain = () if capture is None else capture.domain
    columns = [*domain, *like]
    relation = output.relation("Recursive", columns, is_set=True, words=name, names=base.names)
    source = NamedRows(relation, base.names, domain)
    part, wide = _branches(translator, node, names.plus(name, source), capture, like)
    for branch in (*_widened(base, like), *_widened(part, like)):
        output.rule(relation, (*domain, *branch.values), branch.body, branch.place)
    return source, wide


def _bag(
    translator: Translator,
    node: Expression,
    name: str,
    base: SqlQuery,
    like: Sequence[SqlValue],
    names: QueryNames,
    capture: Capture | None,
) -> tuple[NamedRows, tuple[SqlValue, ...]]:
    output = translator.output
    domain = () if capture is None else capture.domain
    if _reads(node, name) != 1:
        translator.places.refuse("a recursive query that reads itself twice, with UNION ALL", node)
    for each in node.find_all(sql.Unnest, sql.Table):
        if isinstance(as_lateral(each), sql.Lateral):
            translator.places.refuse(
                "rows made of columns in FROM, in the recursive part of a query with UNION ALL", each
            )
    step, count = output.variable(INTEGER, False), output.variable(INTEGER, False)
    output.say(step, "step")
    output.say(count, "times")
    columns = [*domain, step, count, *like]
    relation = output.relation("Recursive", columns, is_set=True, words=name, names=base.names)
    source = NamedRows(relation, base.names, (*domain, step, count))
    part, wide = _branches(translator, node, names.plus(name, source), capture, like)
    start = SqlQuery(base.names, tuple(_widened(base, like)))
    first = counted(translator, translator.stored(start, "first"), capture)
    body = translator.start(capture)
    *values, many = translator.opened(first, body)
    output.rule(relation, [*domain, c.integer(0), many, *values], body, base.branches[0].place)
    for branch in _widened(part, like):
        _step(translator, relation, branch, domain, step, count)
    body = translator.start(capture)
    values = translator.opened(source, body)
    made = repeated(translator, body, values, count.tree)
    return translator.stored(SqlQuery(base.names, (made,)), name), wide


def _step(
    translator: Translator,
    relation: SqlRelation,
    branch: QueryBranch,
    domain: Sequence[SqlValue],
    step: SqlValue,
    count: SqlValue,
) -> None:
    """The rule of one step: what it derives, counted by the rows that it derives this from."""
    output = translator.output
    lets = _lets_of_terms(branch.body.items, relation)
    moved = {id(let) for own in lets.values() for let in own}
    used = _read(branch, moved)
    items, from_rows, times = list[Item](), list[SqlValue](), count.tree
    for item in branch.body.items:
        place = output.variable(INTEGER, False)
        if isinstance(item, SqlClause) and (made := _numbered(item.expr, place)):
            items.append(replace(item, expr=made))  # equal elements count by their places
            from_rows.append(place)
            continue
        if not isinstance(item, SqlTerm) or item.relation.name == relation.name:
            items += [] if id(item) in moved else [item]
            if isinstance(item, SqlTerm):  # rows that differ in what is not read count apart
                from_rows += [output.types[v] for v in item.variables]
            continue
        own = lets[id(item)]
        given = dict.fromkeys([*item.variables, *(let.variable for let in own)])
        kept = [output.types[v] for v in given if v in used]
        group, many = output.variable(INTEGER, False), output.variable(INTEGER, False)
        inner = SqlBody([item, *own])
        inner.add(grouped(group, tree("(true, true)"), kept, "equal rows"))
        inner.add(SqlClause(let(many.name, tree("$.count() as bigint", group.tree))))
        held = output.made("Counted", [*kept, many], inner, is_set=True)
        items.append(output.term(held, [*kept, many]))
        from_rows += kept
        times = tree("$ * $", times, many.tree)
    body = SqlBody(items)
    keys = [output.variable(v.type, v.nullable) for v in branch.values]
    body.add(*(SqlLet(key.name, v.tree) for key, v in zip(keys, branch.values, strict=True)))
    total, group = output.variable(INTEGER, False), output.variable(INTEGER, False)
    rows = tuple_of(padded(list(dict.fromkeys(from_rows))), times)
    by = tuple_of(*dict.fromkeys(v.tree for v in (*domain, step, *keys)))
    body.add(SqlClause(let(group.name, tree("$.group_by($)", rows, by)), "rows that give it"))
    body.add(SqlClause(let(total.name, tree("$.sum_second()", group.tree))))
    next_step = SqlValue(tree("$ + 1", step.tree), INTEGER)
    output.rule(relation, [*domain, next_step, total, *keys], body, branch.place)


def _numbered(clause: Expr, place: SqlValue) -> Expr | None:
    """The clause `pattern = FlatMap(list)` that gives the places of the elements, too; None for another."""
    match clause:
        case Assign(target, FlatMap(listed)):
            row = tuple_of(VarDecl(place.name, NOWHERE), target)
            return tree("$0 = FlatMap(range_vec(0, vec_len($1) as bigint, 1).zip($1))", row, listed)
    return None


def _lets_of_terms(items: Sequence[Item], recursive: SqlRelation) -> dict[int, list[SqlLet]]:
    """For each term but that of the recursive relation, the definitions by its variables alone."""
    found: dict[int, list[SqlLet]] = {}
    taken: set[str] = set()
    for term in items:
        if isinstance(term, SqlTerm) and term.relation.name != recursive.name:
            own, known = list[SqlLet](), set(term.variables)
            for each in items:
                if not isinstance(each, SqlLet) or each.variable in taken:
                    continue
                given = {*variables_in(each.value)}
                if given and known >= given:
                    own.append(each)
                    known.add(each.variable)
            taken |= {each.variable for each in own}
            found[id(term)] = own
    return found


def _read(branch: QueryBranch, moved: set[int]) -> set[str]:
    """The variables that the head and the clauses of a branch read, without definitions that are moved; a
    variable that several terms have is read."""
    used = {name for value in branch.values for name in variables_in(value.tree)}
    seen: set[str] = set()
    for item in reversed(branch.body.items):
        match item:
            case SqlGuard(tree) | SqlClause(tree):
                used.update(variables_in(tree))
            case SqlLet(variable, tree) if variable in used and id(item) not in moved:
                used.update(variables_in(tree))
            case SqlTerm(_, variables):
                used |= seen & {*variables}
                seen |= {*variables}
    return used
