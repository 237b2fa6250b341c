"""Queries as branches: bodies of rules and the values that each gives; their union is the answer.

A query becomes relations only where it has to: below a join that is not inner, a DISTINCT, a LIMIT, a set
operation or a correlated subquery. Other queries become part of the rule around them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..errors.source import Span
from ..errors.unknown import unknown_name
from ..syntax.templates import tree
from . import conversions as c
from .pivots import in_from
from .places import SqlError, SqlPlaces
from .rules import NamedRows, SqlBody, SqlLet, SqlOutput, SqlTerm
from .scopes import Capture, VisibleColumn, is_usual
from .types import INTEGER, SqlValue, common

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


@dataclass(frozen=True, slots=True)
class QueryBranch:
    """A body, and a value for each column. `place` is that of its SELECT."""

    body: SqlBody
    values: tuple[SqlValue, ...]
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class SqlQuery:
    """The columns' names and the branches. `is_set`: equal rows are one; `single`: there is one row, for each
    value of the domain."""

    names: tuple[str, ...]
    branches: tuple[QueryBranch, ...]
    is_set: bool = False
    single: bool = False


@dataclass
class QueryNames:
    """The names that a query can read: the tables and views, and the queries of WITH around it."""

    tables: Mapping[str, NamedRows]
    queries: Mapping[str, NamedRows | SqlQuery] = field(default_factory=dict)

    def find(self, name: str) -> NamedRows | SqlQuery | None:
        """The rows that a name stands for."""
        return self.queries.get(name) or self.tables.get(name)

    def plus(self, name: str, query: NamedRows | SqlQuery) -> QueryNames:
        """The names with one more."""
        return QueryNames(self.tables, {**self.queries, name: query})


class Translator:
    """Translates the queries of one statement. `used` are the names of columns that the statement mentions;
    None: all."""

    def __init__(self, places: SqlPlaces, output: SqlOutput, used: frozenset[str] | None) -> None:
        self.places, self.output, self.used = places, output, used

    def query(self, node: Expression, names: QueryNames, capture: Capture | None = None) -> SqlQuery:
        """The branches of a query. Raises SqlError."""
        with_ = node.args.get("with_")
        if with_ is not None:
            names = self._with(with_, node, names, capture)
        match node:
            case sql.Select():
                from .selects import SelectBlock

                with self.output.at(self.places.of_query(node)):
                    return SelectBlock(self, node, names, capture).query()
            case sql.SetOperation():
                from .setoperations import combined

                with self.output.at(self.places.of_query(node)):
                    return self.limited(combined(self, node, names, capture), node)
            case sql.Subquery() | sql.Paren():
                return self.limited(self.query(node.this, names, capture), node)
            case sql.Values():
                return self.limited(self.values(node, names, capture), node)
            case sql.Pivot():
                return self.query(in_from(node, self.places), names, capture)
            case sql.Table():
                return self.query(sql.select("*").from_(node.copy()), names, capture)
        self.places.refuse(f"the query {self.places.written(node)[:60]}", node)

    def _with(
        self, with_: Expression, node: Expression, names: QueryNames, capture: Capture | None
    ) -> QueryNames:
        uses = Counter(t.name.lower() for t in node.find_all(sql.Table) if not t.db)
        for each in with_.expressions:
            name = each.alias.lower()
            columns = tuple(i.name.lower() for i in each.args["alias"].args.get("columns") or ())
            reads = {t.name.lower() for t in each.this.find_all(sql.Table) if not t.db}
            if with_.args.get("recursive") and name in reads:
                from .recursion import recursive

                names = names.plus(name, recursive(self, each, name, columns, names, capture))
                continue
            found = self.query(each.this, names, capture)
            if columns:
                found = self.renamed(found, columns, each)
            kept: NamedRows | SqlQuery = found
            if (
                uses[name] > 1
                or (capture is not None and capture.values)
                or found.is_set
                or len(found.branches) != 1
                or not found.branches[0].body.is_plain
            ):
                kept = self.stored(found, name, name)
            names = names.plus(name, kept)
        return names

    def renamed(self, query: SqlQuery, columns: Sequence[str], node: Expression) -> SqlQuery:
        """The query with other names for its columns."""
        self.places.check_named(columns, len(query.names), node)
        return replace(query, names=(*columns, *query.names[len(columns) :]))

    def start(self, capture: Capture | None) -> SqlBody:
        """The body of a query that begins: the term of its domain."""
        if capture is None:
            return SqlBody()
        term = capture.term
        return SqlBody([] if term is None else [term], capture.domain)

    def unified(self, query: SqlQuery, node: Expression | None = None) -> SqlQuery:
        """The query with branches of the same types. Raises SqlError."""
        if len(query.branches) == 1 and all(v.type.kind != "null" for v in query.branches[0].values):
            return query
        branches = [list(each.values) for each in query.branches]
        for i, name in enumerate(query.names):
            column = [values[i] for values in branches]
            if not self.places.dialect.is_ansi:
                column = c.beside_numbers(column, any_number=True)
            type = common(v.type for v in column)
            if type is None:
                types = " and ".join(dict.fromkeys(str(v.type) for v in column))
                self.places.mistyped(f"the column `{name}` of a union", types, node)
            type = INTEGER if type.kind == "null" else type
            nullable = any(v.nullable for v in column)
            for values, value in zip(branches, column, strict=True):
                made = c.convert(value, type)
                if made is None:
                    self.places.mistyped(f"the column `{name}` of a union", str(type), node)
                values[i] = made.optional() if nullable else made
        made_branches = tuple(
            replace(each, values=tuple(values)) for each, values in zip(query.branches, branches, strict=True)
        )
        return replace(query, branches=made_branches)

    def stored(self, query: SqlQuery, hint: str, words: str = "") -> NamedRows:
        """The query as a relation, which users see if there are `words` for it."""
        query = self.unified(query)
        first = query.branches[0]
        domain = first.body.domain
        columns = [*domain, *first.values]
        relation = self.output.relation(
            _hint(hint), columns, is_set=query.is_set, words=words, names=query.names
        )
        for branch in query.branches:
            self.output.rule(relation, (*domain, *branch.values), branch.body, branch.place)
        return NamedRows(relation, query.names, domain)

    def bag(self, query: SqlQuery, capture: Capture | None) -> SqlQuery:
        """The query as branches whose union is a bag: a set is stored first."""
        return self.read(self.stored(query, "distinct"), capture) if query.is_set else query

    def read(self, source: NamedRows, capture: Capture | None) -> SqlQuery:
        """All columns of a source."""
        body = self.start(capture)
        values = self.opened(source, body)
        for name, value in zip(source.names, values, strict=True):
            self.output.say(value, name, "")
        return SqlQuery(source.names, (QueryBranch(body, tuple(values), self.output.place),))

    def opened(self, source: NamedRows, body: SqlBody) -> list[SqlValue]:
        """Adds a term for a source; returns the values of its columns."""
        columns = source.relation.columns[len(source.domain) :] if source.names else ()
        variables, values, lets = list[str](), list[SqlValue](), list[SqlLet]()
        for column in columns:
            value = self.output.variable(column.type, column.nullable)
            values.append(value)
            if column.read:
                raw = self.output.variable(column.type, column.nullable)
                variables.append(raw.name)
                plain = column.read
                if column.nullable:
                    plain = f"match ($) {{Some{{var x}} -> Some{{{plain.replace('$', 'x')}}}, None -> None}}"
                lets.append(SqlLet(value.name, tree(f"({plain}: {value.plain})", raw.tree)))
            elif column.wrapped and column.nullable and column.type.wrapper:
                raw = self.output.variable(column.type, True)
                variables.append(raw.name)
                lets.append(SqlLet(value.name, c.inside(raw.tree, column.type)))
            else:
                variables.append(value.name)
        domain = tuple(v.name for v in source.domain)
        body.add(SqlTerm(source.relation, (*domain, *variables) or ("true",)), *lets)
        return values

    def values(self, node: sql.Values, names: QueryNames, capture: Capture | None) -> SqlQuery:
        """VALUES."""
        return self.unified(self.rows_of(node, names, capture), node)

    def rows_of(self, node: sql.Values, names: QueryNames, capture: Capture | None) -> SqlQuery:
        """The rows of VALUES, of whatever types each of them has."""
        from .selects import SelectBlock

        branches = []
        for row in node.expressions:
            block = SelectBlock(self, sql.select("1"), names, capture)
            cells = row.expressions if isinstance(row, sql.Tuple) else [row]
            values = tuple(block.scalars.value(each) for each in cells)
            branches.append(QueryBranch(block.body, values, self.places.of(row)))
        if len({len(each.values) for each in branches}) != 1:
            self.places.wrong("the rows of VALUES differ in length", node)
        if not branches[0].values:
            self.places.wrong("a row of VALUES has no values", node)
        first = 1 if self.places.dialect.is_ansi else 0
        columns = tuple(f"col{i}" for i, _ in enumerate(branches[0].values, first))
        return SqlQuery(columns, tuple(branches))

    def limited(self, query: SqlQuery, node: Expression) -> SqlQuery:
        """The query with the ORDER BY and LIMIT of a set operation or a subquery."""
        if node.args.get("limit") is None and node.args.get("offset") is None:
            return query
        from .selects import SelectBlock
        from .topk import top

        source = self.stored(query, "all")
        block = SelectBlock(self, sql.select("*"), QueryNames({}), None)
        block.body = SqlBody(domain=query.branches[0].body.domain)
        values = self.opened(source, block.body)
        block.scope.entries = [VisibleColumn("", n, v) for n, v in zip(source.names, values, strict=True)]
        return top(block, node, query.names, values)

    def source(self, node: sql.Table, names: QueryNames) -> NamedRows | SqlQuery:
        """The rows that a table's name stands for. Raises SqlError."""
        name = qualified(node)
        found = names.find(name)
        if found is None:
            known = [*names.tables, *names.queries]
            raise SqlError(unknown_name("table", name, known, self.places.of(node)))
        return found


def qualified(table: Expression) -> str:
    """The name of a table, with its schema, if that is not the usual one."""
    schema = str(table.args["db"].name).lower() if table.args.get("db") else "main"
    return table.name.lower() if is_usual(schema) else f"{schema}.{table.name.lower()}"


def without_schemas(statement: Expression) -> None:
    """Takes the schemas off columns of which the nearest table of that name has it, `s.t.a` of `FROM s.t`."""
    named = [
        (each, each.find_ancestor(sql.Select)) for each in statement.find_all(sql.Table, sql.DerivedTable)
    ]
    for column in [each for each in statement.find_all(sql.Column) if each.db and not each.catalog]:
        name, there = column.table.lower(), list[sql.Expr]()
        around: Expression | None = column
        while around is not None and not there:
            around = around.find_ancestor(sql.Select)
            there = [each for each, query in named if query is around and each.alias_or_name.lower() == name]
        asked = qualified(sql.table_(column.table, db=column.db))
        if any(isinstance(each, sql.Table) and not each.alias and qualified(each) == asked for each in there):
            column.set("db", None)


def _hint(name: str) -> str:
    """A name that a relation's can begin with."""
    kept = "".join(each for each in name if each.isascii() and (each.isalnum() or each == "_")) or "query"
    return kept[0].upper() + kept[1:] if kept[0].isalpha() else f"Q{kept}"
