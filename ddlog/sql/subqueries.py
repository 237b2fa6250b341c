"""Subqueries in expressions: EXISTS, IN, ANY, ALL, and those that are a value.

A subquery that reads columns of the query around it is computed for each of their values that the outer query
has (see scopes). It is a relation by these values, to which the outer query is joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..syntax import VarDecl
from ..syntax.templates import NOWHERE, items, let, tree
from . import conversions as c
from .places import SqlPlaces
from .queries import QueryNames, SqlQuery, Translator
from .rules import SqlBody, SqlClause, SqlGuard, SqlLet, SqlOutput, SqlRelation, SqlTerm, grouped
from .scalars import Scalars
from .scopes import Capture, QueryScope
from .types import BOOLEAN, DOUBLE, INTERVAL, SqlValue, null

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


def _sides_of_null(left: SqlValue, right: SqlValue) -> list[str]:
    """Which of two values is NULL, in all ways that a comparison can find them; empty: neither."""
    return ["", *(["left"] if left.nullable else []), *(["right"] if right.nullable else [])]


class Subqueries:
    """The part of a SELECT that translates the subqueries in its expressions."""

    translator: Translator
    places: SqlPlaces
    output: SqlOutput
    names: QueryNames
    capture: Capture | None
    body: SqlBody
    scope: QueryScope
    scalars: Scalars
    extra: list[SqlValue]

    def variable(self, value: SqlValue, node: Expression | None = None) -> SqlValue:
        """The value, of an expression if there is one, as a variable."""
        raise NotImplementedError

    def kept(self) -> list[SqlValue]:
        """The values that expressions may still read."""
        raise NotImplementedError

    def store(self) -> None:
        """Makes a relation of the body."""
        raise NotImplementedError

    def read_again(self, relation: SqlRelation, values: Sequence[SqlValue]) -> None:
        """Makes a relation of these variables the body."""
        raise NotImplementedError

    # ------------------------------------------------------------------ keeping

    def keep_existing(self, node: Expression, negated: bool) -> None:
        """Keeps the rows for which a subquery has a row, or has none."""
        relation, outer = self._existing(node)
        said = f"NOT EXISTS ({self.places.written(node)})" if negated else ""
        self.body.add(self.output.term(relation, outer, negated, said))

    def keep_within(self, node: sql.In, negated: bool) -> None:
        """Keeps the rows whose value is surely among those of a subquery, or surely not."""
        left = node.this
        parts = left.expressions if isinstance(left, sql.Tuple) else [left]
        values = [self.scalars.value(each) for each in parts]
        if not negated:
            self._keep_equal(values, node)
            return
        equal, unknown, about = self._compared("==", values, node.args["query"])
        said = f"NOT {self.places.written(node)}"
        self.body.add(self.output.term(equal, about, True, said))
        if unknown is not None:
            self.body.add(self.output.term(unknown, about, True, said))

    def _keep_equal(self, values: Sequence[SqlValue], node: sql.In) -> None:
        """A join with the set of the subquery's rows."""
        values = self._lasting(values)
        query, capture, outer = self._subquery(node.args["query"])
        relation, inner = self._set_of(query, capture, len(values), node)
        pairs = list(zip(values, inner, strict=True))
        same = [
            a.type == b.type not in (DOUBLE, INTERVAL) and not a.nullable and not b.nullable for a, b in pairs
        ]
        fresh = [
            a if alike else self.output.variable(b.type, b.nullable)
            for (a, b), alike in zip(pairs, same, strict=True)
        ]
        self.body.add(self.output.term(relation, [*outer, *fresh]))
        said = self.places.written(node)
        for a, b, alike in zip(values, fresh, same, strict=True):
            if alike:
                continue
            left, right = map(c.span, self.scalars.alike([a, b], node, "IN"))
            if left.nullable and right.nullable:
                self.body.add(SqlGuard(tree("is_some($)", left.tree), said))
            elif left.nullable or right.nullable:
                left, right = left.optional(), right.optional()
            self.body.add(SqlGuard(tree("$ == $", left.tree, right.tree), said))

    # ------------------------------------------------------------------- values

    def exists(self, query: Expression) -> SqlValue:
        """Whether a subquery has a row."""
        relation, outer = self._existing(query)
        return self._flag(self.output.term(relation, outer))

    def scalar(self, query: Expression) -> SqlValue:
        """The only value of a subquery; NULL where it has no row."""
        made, capture, outer = self._subquery(query)
        made = self.translator.unified(made)
        if len(made.names) != 1:
            self.places.wrong(
                f"a subquery that is a value must have one column, not {len(made.names)}", query
            )
        source = self.translator.stored(made, "value", self._words(query))
        value = made.branches[0].values[0]
        if made.single:
            found = self.output.variable(value.type, value.nullable)
            self.output.say(found, f"({self.places.written(query.unnest())})")
            self.body.add(self.output.term(source.relation, [*outer, found]))
            self.extra.append(found)
            return found
        relation = self._only(source.relation, capture, value)
        result = self._looked_up(relation, outer, value)
        return self.output.say(result, f"({self.places.written(query.unnest())})")

    def given(self, node: sql.Placeholder) -> SqlValue:
        """The value of a parameter, which is a relation of one row."""
        source = self.names.tables.get(f"${node.this}")
        if source is None:
            self.places.refuse(self.places.called(node), node)
        (found,) = self.translator.opened(source, self.body)
        self.extra.append(found)
        return found

    def quantified(self, op: str, left: Sequence[SqlValue], query: Expression) -> SqlValue:
        """Whether the comparison holds with some row of a subquery: unknown, where it does not, but is
        unknown for some row."""
        equal, unknown, about = self._compared(op, left, query)
        found = self._flag(self.output.term(equal, about))
        if unknown is None:
            return found
        maybe = self._flag(self.output.term(unknown, about))
        known = "if ($) Some{true} else if ($) (None: Option<bool>) else Some{false}"
        return SqlValue(tree(known, found.tree, maybe.tree), BOOLEAN, True)

    # -------------------------------------------------------------------- parts

    def _lasting(self, values: Sequence[SqlValue]) -> list[SqlValue]:
        """The values as variables that relations made of the body keep."""
        found = [self.variable(v) if v.type.kind != "null" else self.variable(null(BOOLEAN)) for v in values]
        self.extra += found
        return found

    def _subquery(self, node: Expression) -> tuple[SqlQuery, Capture, list[SqlValue]]:
        """A subquery, what it captures, and the captured columns as the variables of this query."""
        node = node.unnest()
        capture = Capture(self.scope, self.output)
        mark = self.output.mark()
        self.translator.query(node, self.names, capture)  # finds out what it captures
        self.output.back(mark)
        outer: list[SqlValue] = []
        if capture.values:
            self.store()
            for (table, name), (around, inner) in list(capture.values.items()):
                found = self.scope.find(table, name, self.places, node)
                outer.append(self.variable(found or around))
                capture.values[table, name] = outer[-1], self.output.like(inner, outer[-1])
            self.extra += outer
            capture.relation = self.output.made("Domain", outer, self.body, is_set=True)
        return self.translator.query(node, self.names, capture), capture, outer

    def _existing(self, node: Expression) -> tuple[SqlRelation, list[SqlValue]]:
        """The values of the captured columns for which a subquery has a row."""
        query, capture, outer = self._subquery(node)
        relation = self.output.relation("Exists", capture.domain, is_set=True, words=self._words(node))
        for branch in query.branches:
            self.output.rule(relation, capture.domain, branch.body, branch.place)
        return relation, outer

    def _words(self, node: Expression) -> str:
        """The name of a subquery."""
        place = self.places.of_query(node.unnest()) or self.places.of(node)
        return "a subquery" if place is None else f"a subquery at line {place.line}"

    def _set_of(
        self, query: SqlQuery, capture: Capture, width: int, node: Expression
    ) -> tuple[SqlRelation, tuple[SqlValue, ...]]:
        """The rows of a subquery as a set, after the captured columns; and its values."""
        if len(query.names) != width:
            self.places.wrong(f"the subquery has {len(query.names)} columns, and {width} are compared", node)
        query = self.translator.unified(query)
        values = query.branches[0].values
        words = self._words(node.args["query"] if isinstance(node, sql.In) else node)
        columns = [*capture.domain, *values]
        relation = self.output.relation("Among", columns, is_set=True, words=words, names=query.names)
        for branch in query.branches:
            self.output.rule(relation, (*capture.domain, *branch.values), branch.body, branch.place)
        return relation, values

    def _compared(
        self, op: str, left: Sequence[SqlValue], node: Expression
    ) -> tuple[SqlRelation, SqlRelation | None, list[SqlValue]]:
        """For which values the comparison with some row of a subquery holds, and for which it is unknown;
        and these values here: the captured columns, and those compared."""
        left = self._lasting(left)
        words = self._words(node)
        query, capture, outer = self._subquery(node)
        among, values = self._set_of(query, capture, len(left), node)
        about = list(dict.fromkeys([*outer, *left]))
        inner = [self.output.variable(v.type, v.nullable) for v in values]
        self.store()
        pairs = list(zip(left, inner, strict=True))
        if op == "==":
            same, unknown = self._alike(among, capture, outer, pairs, node)
        elif len(pairs) == 1:
            same, unknown = self._beyond(op, among, capture, outer, pairs[0], node)
        else:
            self.places.refuse("this comparison of rows", node, "IN and <> ALL are such of equal rows")
        maybe = self._union_of(unknown, about, words) if unknown else None
        return self._union_of(same, about, words), maybe, about

    def _alike(
        self,
        among: SqlRelation,
        capture: Capture,
        outer: Sequence[SqlValue],
        pairs: Sequence[tuple[SqlValue, SqlValue]],
        node: Expression,
    ) -> tuple[list[SqlBody], list[SqlBody]]:
        """The bodies for rows that equal some row of a subquery, and for those of which that is unknown: each
        looks up the rows that are NULL in some columns, by those columns that neither side has as NULL."""
        brought = [tuple(map(c.span, self.scalars.alike(pair, node, "IN"))) for pair in pairs]
        equal, unknown = list[SqlBody](), list[SqlBody]()
        for nulls in product(*(_sides_of_null(a, b) for a, b in brought)):
            body, there = self.body.copy(), SqlBody([], capture.domain)
            there.add(self.output.term(among, [*capture.domain, *(inner for _, inner in pairs)]))
            keys, found = list[SqlValue](), list[SqlValue]()
            for (a, b), side in zip(brought, nulls, strict=True):
                if side:
                    (body if side == "left" else there).add(
                        SqlGuard(tree("is_none($)", (a if side == "left" else b).tree))
                    )
                else:
                    keys.append(self.plain(b, there))
                    found.append(self.plain(a, body))
            columns = [*capture.domain, *keys]
            some = self.output.made("Among", columns, there, is_set=True, words=self._words(node))
            body.add(self.output.term(some, [*outer, *found]))
            (unknown if any(nulls) else equal).append(body)
        return equal, unknown

    def _beyond(
        self,
        op: str,
        among: SqlRelation,
        capture: Capture,
        outer: Sequence[SqlValue],
        pair: tuple[SqlValue, SqlValue],
        node: Expression,
    ) -> tuple[list[SqlBody], list[SqlBody]]:
        """The bodies for rows that are less than the greatest row of a subquery, greater than the least, or
        unlike one of these two; and those for rows of which that is unknown."""
        a, b = map(c.span, self.scalars.alike(pair, node, "a comparison"))
        there = SqlBody([self.output.term(among, [*capture.domain, pair[1]])], capture.domain)
        nulls, unknown = there.copy(), list[SqlBody]()
        key = self.plain(b, there)
        group = self.output.variable(key.type, False)
        there.add(grouped(group, items(key.tree, tree("true")), capture.domain))
        sides = {"<": ("max",), "<=": ("max",), ">": ("min",), ">=": ("min",), "!=": ("min", "max")}[op]
        bounds = [self.output.variable(key.type, False) for _ in sides]
        for bound, side in zip(bounds, sides, strict=True):
            there.add(SqlLet(bound.name, tree(f"$.{side}_of(|v| v.0)", group.tree)))
        columns = [*capture.domain, *bounds]
        edges = self.output.made("Bounds", columns, there, is_set=True, words=self._words(node))
        body = self.body.copy()
        body.add(self.output.term(edges, [*outer, *bounds]))
        value = self.plain(a, body)
        tests = [tree(f"$ {op} $", value.tree, bound.tree) for bound in bounds]
        body.add(SqlGuard(tree("$ or $", *tests) if len(tests) > 1 else tests[0], "the values compare"))
        if a.nullable:
            unknown.append(self.body.copy())
            unknown[-1].add(SqlGuard(tree("is_none($)", a.tree)))
            some = self.output.made("Among", capture.domain, nulls, is_set=True, words=self._words(node))
            unknown[-1].add(self.output.term(some, outer))
        if b.nullable:
            unknown.append(self.body.copy())
            nulls = nulls.copy()
            nulls.add(SqlGuard(tree("is_none($)", b.tree)))
            some = self.output.made("Among", capture.domain, nulls, is_set=True, words=self._words(node))
            unknown[-1].add(self.output.term(some, outer))
        return [body], unknown

    def plain(self, value: SqlValue, body: SqlBody | None = None) -> SqlValue:
        """A variable with the value, where it is not NULL: other rows of the body are left out."""
        body = self.body if body is None else body
        if not value.nullable:
            return self._bound(value, body)
        plain = self.output.variable(value.type, False)
        body.add(SqlClause(tree("Some{$} = $", VarDecl(plain.name, NOWHERE), value.tree)))
        return plain

    def _bound(self, value: SqlValue, body: SqlBody) -> SqlValue:
        if value.name:
            return value
        made = self.output.variable(value.type, value.nullable)
        body.add(SqlLet(made.name, value.tree))
        return made

    def _union_of(self, bodies: Sequence[SqlBody], about: Sequence[SqlValue], words: str) -> SqlRelation:
        """The relation of the values that some bodies give."""
        relation = self.output.relation("Compared", about, is_set=True, words=words)
        for body in bodies:
            self.output.rule(relation, about, body)
        return relation

    def _only(self, relation: SqlRelation, capture: Capture, value: SqlValue) -> SqlRelation:
        """A relation with the only value of each of the captured columns; more are a fault."""
        domain = capture.domain
        found = self.output.variable(value.type, value.nullable)
        body = SqlBody([self.output.term(relation, [*domain, found])], domain)
        group, result = (
            self.output.variable(value.type, False),
            self.output.variable(value.type, value.nullable),
        )
        body.add(grouped(group, tree("($, true)", found.tree), domain))
        body.add(SqlClause(let(result.name, tree("sql::only($)", group.tree))))
        return self.output.made("Only", [*domain, result], body, is_set=False)

    def _flag(self, term: SqlTerm) -> SqlValue:
        """A variable that says whether there is a match for a term."""
        self.store()
        kept = [*self.body.domain, *self.kept()]
        flag = self.output.variable(BOOLEAN, False)
        relation = self.output.relation("Flagged", [*kept, flag], is_set=False)
        for negated in (False, True):
            body = self.body.copy()
            body.add(SqlTerm(term.relation, term.variables, negated))
            self.output.rule(relation, [*kept, c.boolean(not negated)], body)
        self.extra.append(flag)
        self.read_again(relation, [*kept, flag])
        return flag

    def _looked_up(self, relation: SqlRelation, outer: Sequence[SqlValue], value: SqlValue) -> SqlValue:
        """A variable with the value of the row for these columns; NULL where there is none."""
        self.store()
        kept = [*self.body.domain, *self.kept()]
        result = self.output.variable(value.type, True)
        made = self.output.relation("Valued", [*kept, result], is_set=False)
        found = self.output.variable(value.type, value.nullable)
        body = self.body.copy()
        body.add(self.output.term(relation, [*outer, found]))
        self.output.rule(made, [*kept, found.optional()], body)
        missing = self.body.copy()
        unused = self.output.variable(value.type, value.nullable)
        missing.add(self.output.term(relation, [*outer, unused], negated=True))
        self.output.rule(made, [*kept, null(value.type)], missing)
        self.extra.append(result)
        self.read_again(made, [*kept, result])
        return result
