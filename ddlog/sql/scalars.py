"""Expressions of SQL as expressions of the language, three-valued."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, NoReturn, Protocol

from sqlglot import expressions as sql

from ..errors.nearest import meant, nearest
from ..syntax import Expr
from ..syntax.templates import items, tree
from . import conversions as c
from .foreign import function_instead, type_instead
from .moments import present_of
from .places import SqlPlaces
from .scopes import QueryScope, is_usual
from .types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    TIMESTAMP,
    TIMESTAMPTZ,
    VARCHAR,
    SqlType,
    SqlValue,
    common,
    decimal,
    list_of,
    map_of,
    null,
    struct_of,
)

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression

COMPARISONS: dict[type[Expression], str] = {
    sql.EQ: "==",
    sql.NEQ: "!=",
    sql.LT: "<",
    sql.LTE: "<=",
    sql.GT: ">",
    sql.GTE: ">=",
}


class QueryContext(Protocol):
    """The questions of expressions to the query that they are in."""

    places: SqlPlaces
    scope: QueryScope

    def exists(self, query: Expression) -> SqlValue:
        """Whether a subquery has a row."""

    def scalar(self, query: Expression) -> SqlValue:
        """The only value of a subquery; NULL where it has no row."""

    def given(self, node: sql.Placeholder) -> SqlValue:
        """The value of a parameter."""

    def present(self, node: Expression) -> SqlValue:
        """The present moment, day or time of day."""

    def quantified(self, op: str, left: Sequence[SqlValue], query: Expression) -> SqlValue:
        """Whether some row of a subquery is as the comparison says."""


class Scalars:
    """Translates the expressions of one query."""

    def __init__(self, queries: QueryContext) -> None:
        self.queries, self.places = queries, queries.places

    def value(self, node: Expression) -> SqlValue:
        """The value of an expression. Raises SqlError."""
        known = self.queries.scope.known.get(node)
        if known is not None:
            return known
        try:
            match node:
                case sql.Paren() | sql.Alias():
                    return self.value(node.this)
                case sql.Column():
                    return self.column(node)
                case sql.Literal(is_string=True):
                    return c.string(node.this)
                case sql.Literal():
                    return c.read_number(node.this)
                case sql.Boolean():
                    return c.boolean(node.this)
                case sql.Null():
                    return null(SqlType("null"))
                case sql.And() | sql.Or():
                    return self.connected(node)
                case sql.Not():
                    return c.strict([self.boolean(node.this)], "not $", BOOLEAN)
                case sql.EQ() | sql.NEQ() | sql.LT() | sql.LTE() | sql.GT() | sql.GTE():
                    return self.comparison(node)
                case sql.Case():
                    return self.case(node)
                case sql.Cast() | sql.TryCast():
                    return self.cast(node)
                case sql.In():
                    return self.within(node)
                case sql.Exists():
                    return self.queries.exists(node.this)
                case sql.Subquery() | sql.Select() | sql.SetOperation():
                    return self.queries.scalar(node)
                case sql.Placeholder():
                    return self.queries.given(node)
                case sql.ByteString() | sql.RawString() if not self.places.dialect.is_ansi:  # E'a\nb', $$a$$
                    return c.string(node.this)
                case sql.Lambda(expressions=[sql.Identifier() as whole]):  # f(j -> 'a'), of JSON
                    path = self.places.dialect.reader.to_json_path(node.this)
                    return self.value(sql.JSONExtract(this=sql.column(whole), expression=path))
            if present_of(node) is not None:
                return self.queries.present(node)
            translate = self.places.dialect.functions.get(type(node))
            if translate is not None:
                return translate(self, node)
        except c.BadLiteral as error:
            self.places.wrong(str(error), node)
        if isinstance(node, sql.AggFunc):
            name = self.places.called(node).removeprefix("the function ")
            self.places.wrong(f"the aggregate {name} stands outside of SELECT, HAVING, ORDER BY", node)
        if isinstance(node, sql.Window):
            self.places.wrong("a window function stands outside of SELECT, QUALIFY, ORDER BY", node)
        self.refuse(node)

    def refuse(self, node: Expression) -> NoReturn:
        """Raises the error for a call or an operator that is not supported, with the name that was probably
        meant."""
        dialect = self.places.dialect
        classes = (each for each in dialect.functions if issubclass(each, sql.Func))
        known = {*dialect.named, *(name.lower() for each in classes for name in each.sql_names())}
        near = nearest(node.name.lower(), known) if isinstance(node, sql.Anonymous) else None
        called = self.places.called(node)
        help = function_instead(called.removeprefix("the function "))
        help = "write a struct, {'a': x, 'b': y}" if isinstance(node, sql.Tuple) else help
        self.places.refuse(called, node, help or meant(near and near.upper()))

    def column(self, node: sql.Column) -> SqlValue:
        """A column, or the column of the select list that a later clause names."""
        scope, name = self.queries.scope, node.name.lower()
        whole = self.part_of_struct(node)
        if whole is not None:
            return whole
        if not node.table and name in scope.aliases and not scope.own("", name):
            aliases, scope.aliases = scope.aliases, {k: v for k, v in scope.aliases.items() if k != name}
            try:
                return self.value(aliases[name])
            finally:
                scope.aliases = aliases
        return scope.column(node, self.places)

    def part_of_struct(self, node: sql.Column) -> SqlValue | None:
        """The field that `s.a`, `t.s.a` or `main.t.s.a` is, unless `s` is a table."""
        scope, parts = self.queries.scope, list(node.parts)
        if len(parts) > 2 and is_usual(parts[0].name) and scope.has_table(parts[1].name.lower()):
            del parts[0]
        names = [each.name.lower() for each in parts]
        if len(names) == 1 or (len(names) == 2 and scope.has_table(names[0])):
            return None
        first = 2 if scope.has_table(names[0]) else 1
        value = scope.find("" if first == 1 else names[0], names[first - 1], self.places, node)
        if value is None or value.type.kind not in ("struct", "json"):
            return None
        from .jsons import member
        from .nested import field

        for part in parts[first:]:
            if value.type == JSON:
                value = member(value, part.name)
            else:
                value = field(self, value, part.name.lower(), node)
        return value

    def boolean(self, node: Expression) -> SqlValue:
        """A condition."""
        value = self.value(node)
        if value.type.kind == "null":
            return null(BOOLEAN)
        if value.type.is_number and not self.places.dialect.is_ansi:
            return self.compared("!=", value, c.integer(0), node)
        if value.type != BOOLEAN:
            self.places.mistyped("a condition", str(value.type), node)
        return value

    def true(self, node: Expression) -> Expr:
        """Whether a condition is true, neither false nor unknown."""
        return is_true(self.boolean(node))

    def brought(self, node: Expression, type: SqlType, whole: Expression) -> SqlValue:
        """An argument of a function as a value of a type. Raises SqlError."""
        value = self.value(node)
        if type == TIMESTAMP:
            value = c.wall_clock(value)
        made = null(type) if value.type.kind == "null" else self.as_type(value, type)
        if made is None:
            self.places.mistyped(self.places.called(whole), str(value.type), node)
        return made

    def as_type(self, value: SqlValue, type: SqlType, texts: bool = False) -> SqlValue | None:
        """The value as one of a type, as the dialect converts by itself: of `texts` alone, or of any value.
        None where it does not."""
        found = c.convert(value, type)
        if found is None and self.places.dialect.is_ansi and (value.type == VARCHAR or not texts):
            return self.places.dialect.cast(value, type, may_fail=False)
        return found

    def number(self, node: Expression) -> SqlValue:
        """A number."""
        return self.as_number(self.value(node), node)

    def as_number(self, value: SqlValue, node: Expression) -> SqlValue:
        """The value of a node, which must be a number."""
        if isinstance(value.constant, str):
            value = c.read_literal(value.constant, decimal(2) if "." in value.constant else INTEGER)
        if not value.type.is_number and value.type.kind != "null":
            self.places.mistyped(self.places.called(node.parent), str(value.type), node)
        return value

    def text(self, node: Expression) -> SqlValue:
        """A string."""
        value = self.value(node)
        if value.type.kind == "null":
            return null(VARCHAR)
        if value.type == JSON:
            return replace(value, type=VARCHAR)
        made = value if value.type == VARCHAR else self.as_type(value, VARCHAR)
        if made is None:
            self.places.mistyped(self.places.called(node.parent), str(value.type), node)
        return made

    def connected(self, node: Expression) -> SqlValue:
        """AND and OR."""
        name = "and" if isinstance(node, sql.And) else "or"
        parts = [self.boolean(each) for each in node.flatten()]
        return _all_connected(name, parts)

    def comparison(self, node: Expression) -> SqlValue:
        """A comparison, of values or with those of a subquery."""
        left, right, op = node.this, node.expression, COMPARISONS[type(node)]
        if isinstance(right, sql.Anonymous) and right.name.upper() == "ALL" and len(right.expressions) == 1:
            right = sql.All(this=right.expressions[0])  # of a list
        if isinstance(right, sql.Any | sql.All):
            return self.any_or_all(left, op, right)
        if isinstance(left, sql.Tuple) and isinstance(right, sql.Tuple):
            return self.tuples(node, left, right)
        return self.compared(op, self.value(left), self.value(right), node)

    def any_or_all(self, left: Expression, op: str, right: Expression) -> SqlValue:
        """`x > ANY (…)`, `x > ALL (…)`: ALL holds where the opposite comparison holds with no row."""
        query = right.this
        if not isinstance(query.unnest(), sql.Query):
            query = sql.select(sql.Explode(this=query.unnest().copy()))
        values = (
            [self.value(each) for each in left.expressions]
            if isinstance(left, sql.Tuple)
            else [self.value(left)]
        )
        if isinstance(right, sql.Any):
            return self.queries.quantified(op, values, query)
        opposite = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}[op]
        found = self.queries.quantified(opposite, values, query)
        return c.strict([found], "not $", BOOLEAN)

    def tuples(self, node: Expression, left: Expression, right: Expression) -> SqlValue:
        """A comparison of rows, in which NULL equals NULL, and is the greatest; in Spark the least."""
        if len(left.expressions) != len(right.expressions):
            self.places.refuse("a comparison of rows of different lengths", node)
        pairs = list(zip(left.expressions, right.expressions, strict=True))
        if isinstance(node, sql.EQ | sql.NEQ):
            equal = reduce(conjoined, (self.value(sql.NullSafeEQ(this=a, expression=b)) for a, b in pairs))
            return equal if isinstance(node, sql.EQ) else c.strict([equal], "not $", BOOLEAN)
        rows: list[list[Expr]] = [[], []]
        for pair in pairs:
            for row, each in zip(
                rows, self.chosen(list(map(self.value, pair)), node, "a comparison"), strict=True
            ):
                value = c.span(each)
                if value.nullable and not self.places.dialect.is_ansi:
                    row.append(tree("is_none($)", value.tree))
                row.append(value.tree)
        return SqlValue(tree(f"$ {COMPARISONS[type(node)]} $", *(items(*row) for row in rows)), BOOLEAN)

    def compared(self, op: str, left: SqlValue, right: SqlValue, node: Expression) -> SqlValue:
        """A comparison of two values."""
        a, b = map(c.span, self.alike([left, right], node, "a comparison"))
        return c.strict([a, b], f"$ {op} $", BOOLEAN)

    def alike(self, values: Sequence[SqlValue], node: Expression, what: str) -> list[SqlValue]:
        """The values, all brought to one type. Raises SqlError."""
        if not self.places.dialect.is_ansi:
            values = c.beside_numbers(values, any_number=what == "a comparison")
        types = [v.type for v in values if not (isinstance(v.constant, str) and v.type == VARCHAR)]
        found = common(types or [VARCHAR])
        if found is None and self.places.dialect.is_ansi:
            found = common(each for each in types if each != VARCHAR)
        if found is not None and found.kind == "null" and len(types) < len(values):
            found = VARCHAR
        try:
            brought = [] if found is None else [self.as_type(v, found, True) for v in values]
        except c.BadLiteral as error:
            self.places.wrong(str(error), node)
        if found is None or None in brought:
            names = " and ".join(dict.fromkeys(str(v.type) for v in values))
            self.places.mistyped(what, names, node)
        return [each for each in brought if each is not None]

    def chosen(self, values: Sequence[SqlValue], node: Expression, what: str) -> list[SqlValue]:
        """As `alike`; and all Options if one of them is."""
        found = self.alike(values, node, what)
        return [v.optional() for v in found] if any(v.nullable for v in found) else found

    def case(self, node: sql.Case) -> SqlValue:
        """CASE, of both kinds."""
        subject = None if node.this is None else self.value(node.this)
        tests = []
        for each in node.args["ifs"]:
            if subject is None:
                tests.append(self.true(each.this))
            else:
                tests.append(is_true(self.compared("==", subject, self.value(each.this), each)))
        default = node.args.get("default")
        results = [self.value(each.args["true"]) for each in node.args["ifs"]]
        results.append(null(SqlType("null")) if default is None else self.value(default))
        return self.choice(tests, results, node)

    def choice(self, tests: Sequence[Expr], results: Sequence[SqlValue], node: Expression) -> SqlValue:
        """The result of the first test that holds, or else the last one."""
        results = self.chosen(results, node, "CASE")
        made = results[-1].tree
        for test, result in reversed(list(zip(tests, results, strict=False))):
            made = tree("if ($) {$} else {$}", test, result.tree, made)
        return SqlValue(made, results[0].type, results[0].nullable)

    def cast(self, node: Expression) -> SqlValue:
        """CAST and TRY_CAST."""
        type, value = self.type_of(node.args["to"]), self.value(node.this)
        may_fail = isinstance(node, sql.TryCast) and self.places.dialect.tries(node)
        if node.args["to"].this.value == "DECIMAL" and (value.type, type) == (DOUBLE, INTEGER):
            value = c.strict([value], "sql::double_round($, 0)", DOUBLE)
        made = self.places.dialect.cast(value, type, may_fail=may_fail)
        if made is None:
            self.places.mistyped(f"CAST to {type}", str(value.type), node)
        return made

    def type_of(self, node: sql.DataType) -> SqlType:
        """A type by its name. Raises SqlError."""
        return type_of(node, self.places)

    def within(self, node: sql.In) -> SqlValue:
        """IN a list or a subquery."""
        left, query = node.this, node.args.get("query")
        if query is not None:
            parts = left.expressions if isinstance(left, sql.Tuple) else [left]
            return self.queries.quantified("==", [self.value(each) for each in parts], query)
        if isinstance(left, sql.Tuple) and node.expressions:
            found = [self.tuples(sql.EQ(this=left, expression=e), left, e) for e in node.expressions]
        else:
            value = self.value(left)
            found = [self.compared("==", value, self.value(each), node) for each in node.expressions]
        return _all_connected("or", found) if found else self.compared("<", value, value, node)


def is_true(value: SqlValue) -> Expr:
    """Whether a condition is true."""
    return tree("$ == Some{true}", value.tree) if value.nullable else value.tree


def conjoined(a: SqlValue, b: SqlValue) -> SqlValue:
    """AND of two conditions."""
    return connected("and", a, b)


def _all_connected(op: str, parts: Sequence[SqlValue]) -> SqlValue:
    """The conjunction or disjunction of values, in few levels if there are many."""
    if len(parts) <= _CHAIN:
        return reduce(partial(connected, op), parts)
    half = len(parts) // 2
    return connected(op, _all_connected(op, parts[:half]), _all_connected(op, parts[half:]))


def connected(op: str, a: SqlValue, b: SqlValue) -> SqlValue:
    """AND or OR of two conditions."""
    if a.nullable or b.nullable:
        return SqlValue(tree(f"sql::{op}3($, $)", a.optional().tree, b.optional().tree), BOOLEAN, True)
    return SqlValue(tree(f"$ {op} $", a.tree, b.tree), BOOLEAN)


_CHAIN = 16  # terms of AND and OR that are one chain
TYPES: dict[str, SqlType] = {
    **{name: decimal(0, n) for name, n in (("TINYINT", 3), ("SMALLINT", 5), ("INT", 10), ("BIGINT", 20))},
    **dict.fromkeys(("INT128", "UTINYINT", "USMALLINT", "UINT", "UBIGINT", "MEDIUMINT", "UINT128"), INTEGER),
    **dict.fromkeys(("CHAR", "VARCHAR", "TEXT", "NCHAR", "NVARCHAR", "BPCHAR"), VARCHAR),
    **dict.fromkeys(("FLOAT", "DOUBLE"), SqlType("double")),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"), TIMESTAMP),
    **dict.fromkeys(("TIMESTAMPTZ", "TIMESTAMPLTZ"), TIMESTAMPTZ),
    "BOOLEAN": BOOLEAN,
    "DATE": DATE,
    "TIME": SqlType("time"),
    "INTERVAL": INTERVAL,
    **dict.fromkeys(("JSON", "JSONB"), JSON),
    "DECIMAL": decimal(3, 18),
}
"""The types of DuckDB, by the parser's names."""


def type_of(node: sql.DataType, places: SqlPlaces) -> SqlType:
    """A type by its name. Raises SqlError."""
    name = node.this.value if isinstance(node, sql.DataType) else ""
    if name == "ARRAY" and len(node.expressions) == 1 and not node.args.get("values"):
        return list_of(type_of(node.expressions[0], places))
    if name == "MAP" and len(node.expressions) == 2:
        return map_of(*(type_of(each, places) for each in node.expressions))
    if name == "STRUCT" and all(isinstance(each, sql.ColumnDef) for each in node.expressions):
        fields = [each.name.lower() for each in node.expressions]
        if not fields or len(set(fields)) < len(fields):
            places.wrong("a STRUCT has fields of different names", node)
        return struct_of(fields, [type_of(each.args["kind"], places) for each in node.expressions])
    given = [str(each.this.this) for each in node.expressions if isinstance(each, sql.DataTypeParam)]
    if not all(each.isdecimal() and len(each) < 10 for each in given):
        places.wrong(f"`{', '.join(given)}` are no numbers of digits and places", node)
    sizes = list(map(int, given))
    if name == "DECIMAL":
        usual = places.dialect.types["DECIMAL"]
        digits = sizes[0] if sizes else usual.digits
        scale = sizes[1] if len(sizes) > 1 else 0 if sizes else usual.scale
        if scale > 38 or digits < scale:
            places.wrong("a DECIMAL has at most 38 places, and not more than digits", node)
        return decimal(scale, digits)
    found = places.dialect.types.get(name)
    if found is None:
        written, known = places.written(node), (*places.dialect.types, "INTEGER", "REAL", "STRING")
        places.refuse(
            f"the type {written}", node, type_instead(written) or meant(nearest(written.upper(), known))
        )
    if sizes not in ([], [6]) and found.kind in ("timestamp", "timestamptz", "time"):
        places.refuse(f"the type {places.written(node)}", node, "moments are of microseconds")
    return replace(found)


Translate = Callable[[Scalars, "Expression"], SqlValue]
