"""SELECT: its tables, conditions, groups and columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax.templates import tree
from . import conversions as c
from .clock import is_window, present
from .conjuncts import conjuncts
from .joins import JoinedTables, from_clause
from .jsons import as_lists
from .lateral import unnested
from .moments import reads_clock
from .nested import field
from .orderedaggregates import firsts_as_lists, quantiles_within_groups
from .others import as_others, with_columns
from .queries import QueryBranch, QueryNames, SqlQuery, Translator
from .rules import SqlBody, SqlGuard, SqlLet, SqlRelation, SqlTerm
from .scalars import Scalars, is_true
from .scopes import Capture, QueryScope, VisibleColumn, check_schema
from .subqueries import Subqueries
from .types import BOOLEAN, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


class SelectBlock(Subqueries):
    """One SELECT in the making: its body, and the names that its expressions see."""

    def __init__(
        self, translator: Translator, node: Expression, names: QueryNames, capture: Capture | None
    ) -> None:
        self.translator, self.places, self.output = translator, translator.places, translator.output
        self.node, self.names, self.capture = node, names, capture
        self.body = translator.start(capture)
        self.scope = QueryScope(capture)
        self.scalars = Scalars(self)
        self.extra: list[SqlValue] = []  # variables that relations made of the body keep, too
        self.windows = {each.name.lower(): each for each in node.args.get("windows") or ()}

    # ---------------------------------------------------------------- the parts

    def query(self) -> SqlQuery:
        """The branches of the SELECT. Raises SqlError."""
        node = self.node
        _first_of_each(node)
        as_lists(node)
        quantiles_within_groups(node)
        firsts_as_lists(node, self.places)
        as_others(node, self.places)
        part, conditions = from_clause(self)
        self.take(part)
        where = node.args.get("where")
        conditions = [*conditions, *([] if where is None else conjuncts(where.this))]
        self.scope.aliases = self.named_expressions()
        for each in sorted(conditions, key=_work):  # windows and subqueries are of the rows that are left
            self.condition(each)
        columns = self.columns()
        self.scope.aliases = {name: e for name, e in columns if not isinstance(e, SqlValue) and name}
        from .aggregatecalls import aggregates_of
        from .aggregates import grouped

        clauses = [e for _, e in columns if not isinstance(e, SqlValue)]
        having, qualify, order = (node.args.get(each) for each in ("having", "qualify", "order"))
        found = aggregates_of([*clauses, *(each for each in (having, qualify, order) if each is not None)])
        single = False
        if found or node.args.get("group") is not None or having is not None:
            single = grouped(self, found) and having is None
        if having is not None:
            self.condition(having.this)
        from .numberbounds import bounds_of
        from .windows import attach_windows

        names = [name for name, _ in columns]
        own = {*names} - {each.name for each in self.scope.entries} - {n for n in names if names.count(n) > 1}
        bounds = bounds_of(node, dict(zip(_named(columns), (e for _, e in columns), strict=True)), own)
        parts = [*clauses, *(each for each in (qualify, order) if each is not None)]
        attach_windows(self, parts, bounds)
        if qualify is not None:
            self.condition(qualify.this)
        unnested(self, clauses)
        values = [e if isinstance(e, SqlValue) else self.scalars.value(e) for _, e in columns]
        return self.finished(_named(columns), values, single)

    def finished(self, names: Sequence[str], values: Sequence[SqlValue], single: bool) -> SqlQuery:
        """The columns with DISTINCT and LIMIT."""
        distinct = self.node.args.get("distinct")
        limits = self.node.args.get("limit") is not None or self.node.args.get("offset") is not None
        values = values if distinct is None else [c.key(value) for value in values]
        made = SqlQuery(
            tuple(names),
            (QueryBranch(self.body, tuple(values), self.output.place),),
            distinct is not None,
            single,
        )
        if not limits:
            self.check_order(names, values)
            return made
        from .topk import top

        if distinct is not None:
            return self.translator.limited(made, self.node)
        return top(self, self.node, names, values)

    def check_order(self, names: Sequence[str], values: Sequence[SqlValue]) -> None:
        """Reads an ORDER BY that has no effect, for its errors."""
        order = self.node.args.get("order")
        if order is not None:
            from .topk import order_keys

            mark, body = self.output.mark(), self.body
            self.body = body.copy()
            order_keys(self, order.expressions, names, values)
            self.output.back(mark)
            self.body = body

    def present(self, node: Expression) -> SqlValue:
        """The present moment, day or time of day. Raises SqlError."""
        return present(self, node)

    def take(self, part: JoinedTables) -> None:
        """Makes the tables of FROM what the SELECT reads."""
        self.body.add(*part.items)
        self.scope.entries = part.entries

    def columns(self) -> list[tuple[str, Expression | SqlValue]]:
        """The columns of the select list: names, empty where there is none, and expressions; a `*` as the
        values of the columns that it stands for."""
        if not self.node.expressions:
            self.places.wrong("this SELECT has no columns: name them, or write `*`", self.node)
        found: list[tuple[str, Expression | SqlValue]] = []
        shown = [(e.table, e.name) for e in self.scope.entries if not e.hidden]
        given = [made for each in self.node.expressions for made in with_columns(each, shown, self.places)]
        for each in given:
            match each:
                case sql.Star():
                    found += self._star("", each)
                case sql.Column(this=sql.Star()):
                    if not self.scope.has_table(each.db.lower()):  # whose struct it may be of
                        check_schema(each, self.places)
                    found += self._star(each.table.lower(), each.this, each.db.lower())
                case sql.Alias():
                    found.append((each.alias.lower(), each.this))
                case sql.Column() | sql.Paren() if isinstance(each.unnest(), sql.Column):
                    found.append((each.unnest().name.lower(), each))
                case _:
                    found.append(("", each))
        return found

    def named_expressions(self) -> dict[str, Expression]:
        """The expressions of the select list to which WHERE may refer by their names; Spark has none."""
        given = () if self.places.dialect.is_ansi else self.node.expressions
        return {
            each.alias.lower(): each.this
            for each in given
            if isinstance(each, sql.Alias)
            and not each.find(sql.AggFunc, sql.Window, sql.Explode, sql.Columns)
        }

    def _star(
        self, table: str, star: Expression, before: str = ""
    ) -> list[tuple[str, Expression | SqlValue]]:
        """The columns of all tables, of one, or of a struct, with the name of its table before it."""
        made = {each.alias.lower(): each.this for each in star.args.get("replace") or ()}
        names = {each.this.name.lower(): each.alias.lower() for each in star.args.get("rename") or ()}
        left_out = {each.name.lower() for each in star.args.get("except_") or ()}
        entries = () if before else self.scope.entries
        shown = [e for e in entries if (e.table == table if table else not e.hidden)]
        whole = self.scope.find(before, table, self.places, star) if table and not shown else None
        if whole is not None and whole.type.kind == "struct":
            return [
                (name, field(self.scalars, whole, name, star))
                for name in whole.type.fields
                if name not in left_out
            ]
        if not shown:
            self.places.wrong("there is no table for `*`", star)
        grouped = self.node.args.get("group") is not None
        for name in {*made, *names, *left_out} - {e.name for e in shown}:
            self.places.wrong(f"`*` has no column `{name}`", star)
        return [
            (
                names.get(e.name, e.name),
                made.get(e.name) or (sql.column(e.name, e.table or None) if grouped else e.value),
            )
            for e in shown
            if e.name not in left_out
        ]

    # --------------------------------------------------------------- conditions

    def condition(self, node: Expression) -> None:
        """Keeps only the rows for which a condition is true."""
        node = node.unnest()
        match node:
            case sql.And():
                for each in node.flatten():
                    self.condition(each)
            case sql.Between() if reads_clock(node) and not node.args.get("symmetric"):
                self.condition(sql.GTE(this=node.this, expression=node.args["low"]))
                self.condition(sql.LTE(this=node.this, expression=node.args["high"]))
            case sql.GT() | sql.GTE() | sql.LT() | sql.LTE() if reads_clock(node) and is_window(self, node):
                pass
            case sql.Exists():
                self.keep_existing(node.this, negated=False)
            case sql.Not(this=sql.Exists() as inner) | sql.Not(this=sql.Paren(this=sql.Exists() as inner)):
                self.keep_existing(inner.this, negated=True)
            case sql.In() if node.args.get("query") is not None:
                self.keep_within(node, negated=False)
            case sql.Not(this=sql.In() as inner) if inner.args.get("query") is not None:
                self.keep_within(inner, negated=True)
            case sql.EQ() if not isinstance(node.expression, sql.Any | sql.All | sql.Tuple):
                self.equality(node)
            case _:
                test = self.scalars.true(node)  # may make a relation of the body
                self.body.add(SqlGuard(test, self.places.written(node)))

    def equality(self, node: Expression) -> None:
        """Keeps the rows for which two values are equal. What is not NULL is compared as it is, so that a
        table is looked up by it."""
        left, right, said = (
            self.scalars.value(node.this),
            self.scalars.value(node.expression),
            self.places.written(node),
        )
        if left.type.kind == "null" or right.type.kind == "null":
            self.body.add(SqlGuard(tree("false"), said))
            return
        a, b = map(c.span, self.scalars.alike([left, right], node, "a comparison"))
        if a.type == BOOLEAN:
            self.body.add(SqlGuard(is_true(self.scalars.compared("==", a, b, node)), said))
            return
        if a.nullable and b.nullable:
            self.body.add(SqlGuard(tree("is_some($)", a.tree), said))
        elif a.nullable or b.nullable:
            a, b = a.optional(), b.optional()
        self.body.add(SqlGuard(tree("$ == $", a.tree, b.tree), said))

    # ------------------------------------------------------------------ storing

    def variable(self, value: SqlValue, node: Expression | None = None) -> SqlValue:
        """A variable that the body defines as the value. `node` is the expression that has this value, for
        messages."""
        if value.name:
            return value
        made = self.output.variable(value.type, value.nullable)
        said = "" if node is None or isinstance(node, sql.Star) else self.places.written(node)
        if said:
            self.output.say(made, said, _table(node) if isinstance(node, sql.Column) else None)
        self.body.add(SqlLet(made.name, value.tree, "" if isinstance(node, sql.Column) else said))
        return made

    def lasting(self, value: SqlValue, node: Expression | None = None) -> SqlValue:
        """The value as a variable that relations made of the body keep."""
        made = self.variable(value, node)
        self.extra.append(made)
        return made

    def kept(self) -> list[SqlValue]:
        """The values that expressions may still read, as variables: of columns that the statement mentions,
        and of what is computed already."""
        used = self.translator.used
        entries = [
            VisibleColumn(e.table, e.name, self.variable(e.value), e.hidden)
            for e in self.scope.entries
            if used is None or e.name in used
        ]
        self.scope.entries = entries
        self.scope.known = {node: self.variable(value) for node, value in self.scope.known.items()}
        values = [e.value for e in entries] + list(self.scope.known.values()) + self.extra
        domain = {v.name for v in self.body.domain}
        return [v for v in dict.fromkeys(values) if v.name not in domain]

    def store(self) -> None:
        """Makes a relation of the body, unless it is one: its variables stay what they are."""
        kept = self.kept()
        match self.body.items:
            case [SqlTerm(relation, _, False)] if not any(each.wrapped for each in relation.columns):
                return
        values = [*self.body.domain, *kept]
        relation = self.output.made("Rows", values, self.body, is_set=False)
        self.read_again(relation, values)

    def read_again(self, relation: SqlRelation, values: Sequence[SqlValue]) -> None:
        """Makes a relation of these variables the body."""
        self.body = SqlBody([self.output.term(relation, values)], self.body.domain)


def _first_of_each(node: Expression) -> None:
    """Writes DISTINCT ON as a QUALIFY: the first row, in the order of the query, of each of the keys."""
    distinct, order = node.args.get("distinct"), node.args.get("order")
    if distinct is None or distinct.args.get("on") is None:
        return
    keys = distinct.args["on"].expressions
    number = sql.Window(this=sql.RowNumber(), partition_by=[_of_answer(each, node) for each in keys])
    if order is not None:
        number.set("order", sql.Order(expressions=list(_order_of_answer(order, node))))
    first, also = sql.EQ(this=number, expression=sql.Literal.number(1)), node.args.get("qualify")
    if also is not None:  # the first of the rows that it leaves
        number.append("partition_by", also.this.copy())
    node.set("qualify", sql.Qualify(this=first if also is None else sql.and_(also.this, first)))
    node.set("distinct", None)


def _of_answer(key: Expression, node: Expression) -> Expression:
    """A key of DISTINCT ON or ORDER BY over the rows that a SELECT reads: the expression that the select list
    has under that name or at that place, or else the key itself."""
    columns, inner = node.expressions, key.unnest()
    if isinstance(inner, sql.Literal) and inner.this.isdigit() and not any(map(_is_many, columns)):
        found = columns[int(inner.this) - 1 : int(inner.this)]
    else:
        name = inner.name.lower() if isinstance(inner, sql.Column) and not inner.table else None
        found = [each for each in columns if isinstance(each, sql.Alias) and each.alias.lower() == name]
    return found[0].unalias().copy() if found else key.copy()


def _order_of_answer(order: Expression, node: Expression) -> Iterator[Expression]:
    """The keys of an order, of the rows that a SELECT reads; ALL is its columns one after another."""
    from .topk import is_all

    for each in order.expressions:
        keys = [_of_answer(each.this, node)]
        if is_all(each.this) and not any(map(_is_many, node.expressions)):
            keys = [column.unalias().copy() for column in node.expressions]
        for key in keys:
            made = each.copy()
            made.set("this", key)
            yield made


def _is_many(column: Expression) -> bool:
    """Whether a part of a select list may stand for several columns: `*`, `t.*`, COLUMNS(…)."""
    return bool(column.is_star or column.find(sql.Columns) is not None)


def _table(node: sql.Column) -> str:
    return str(node.table).lower()


def _work(node: Expression) -> int:
    return 2 if node.find(sql.Query, sql.Any) is not None else reads_clock(node)


def _named(columns: Sequence[tuple[str, Expression | SqlValue]]) -> list[str]:
    """Names for all columns, no two alike."""
    names: list[str] = []
    for name, node in columns:
        if not name:
            inner = node.unnest() if not isinstance(node, SqlValue) else None
            name = inner.sql_name().lower() if isinstance(inner, sql.Func) else "col"
            name = name if name.isidentifier() else "col"
        made, number = name, 1
        while made in names:
            made, number = f"{name}_{number}", number + 1
        names.append(made)
    return names
