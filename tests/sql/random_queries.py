# ruff: noqa: E501
"""Random queries over small tables with NULL: `python -m tests.sql.random_queries COUNT [SEED]` tries
many."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, field

TABLES = """
CREATE TABLE r (a INTEGER, b INTEGER, s VARCHAR, d DATE);
CREATE TABLE t (a INTEGER NOT NULL, c INTEGER, s VARCHAR NOT NULL, m DECIMAL(8, 2), x DOUBLE);
CREATE TABLE u (k INTEGER PRIMARY KEY, b INTEGER, f BOOLEAN, w TIMESTAMP, xs INTEGER[], j JSON);
"""
COLUMNS = {
    "r": {"a": "int", "b": "int", "s": "str", "d": "date"},
    "t": {"a": "int", "c": "int", "s": "str", "m": "dec", "x": "dbl"},
    "u": {"k": "int", "b": "int", "f": "bool", "w": "time", "xs": "list", "j": "json"},
}
KINDS = ("int", "str", "date", "dec", "bool", "time", "dbl", "span", "list", "json")


@dataclass
class Scope:
    """The columns in scope, by type: `alias.name`."""

    columns: dict[str, list[str]] = field(default_factory=dict)

    def of(self, kind: str) -> list[str]:
        """The columns of a type."""
        return self.columns.get(kind, [])


class Generator:
    """Writes queries."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def alias(self) -> str:
        """A new name."""
        self.count += 1
        return f"x{self.count}"

    # ------------------------------------------------------------- expressions

    def value(self, scope: Scope, kind: str, depth: int = 2) -> str:
        """An expression of a type."""
        r = self.random
        columns = scope.of(kind)
        if columns and (depth == 0 or r.random() < 0.55):
            return r.choice(columns)
        if depth == 0 or r.random() < 0.2:
            return self.literal(kind)
        sub = depth - 1
        match kind:
            case "int":
                return r.choice(
                    [
                        lambda: (
                            f"({self.value(scope, 'int', sub)} {r.choice('+-*')} {self.value(scope, 'int', sub)})"
                        ),
                        lambda: f"coalesce({self.value(scope, 'int', sub)}, {self.value(scope, 'int', sub)})",
                        lambda: f"nullif({self.value(scope, 'int', sub)}, {self.literal('int')})",
                        lambda: self.case(scope, "int", sub),
                        lambda: f"abs({self.value(scope, 'int', sub)})",
                        lambda: f"length({self.value(scope, 'str', sub)})",
                        lambda: f"({self.value(scope, 'int', sub)} % 3)",
                        lambda: f"greatest({self.value(scope, 'int', sub)}, {self.value(scope, 'int', sub)})",
                        lambda: (
                            f"extract({r.choice(['year', 'month', 'day'])} from {self.value(scope, 'date', sub)})"
                        ),
                        lambda: f"(-{self.value(scope, 'int', sub)})",
                        lambda: (
                            f"date_diff('{r.choice(['day', 'month', 'hour'])}', {self.value(scope, 'time', sub)}, {self.value(scope, 'time', 0)})"
                        ),
                        lambda: (
                            f"extract({r.choice(['hour', 'minute', 'doy'])} from {self.value(scope, 'time', sub)})"
                        ),
                        lambda: f"least({self.value(scope, 'int', sub)}, {self.value(scope, 'int', sub)}, 2)",
                        lambda: f"({self.value(scope, 'date', sub)} - {self.value(scope, 'date', 0)})",
                        lambda: f"try_cast({self.value(scope, 'str', sub)} as integer)",
                        lambda: (
                            f"{r.choice(['len', 'list_sum', 'list_max'])}({self.value(scope, 'list', sub)})"
                        ),
                        lambda: f"({self.value(scope, 'list', sub)})[{r.choice([1, 2, -1])}]",
                        lambda: f"list_position({self.value(scope, 'list', sub)}, {self.literal('int')})",
                        lambda: f"json_array_length({self.value(scope, 'json', sub)})",
                        lambda: f"try_cast({self.value(scope, 'json', sub)} ->> 'a' as integer)",
                        lambda: (
                            f"extract({r.choice(['day', 'hour', 'month'])} from {self.value(scope, 'span', sub)})"
                        ),
                        lambda: f"gcd({self.value(scope, 'int', sub)}, 6)",
                    ]
                )()
            case "dec":
                return r.choice(
                    [
                        lambda: (
                            f"({self.value(scope, 'dec', sub)} {r.choice('+-*')} {self.value(scope, 'int', sub)})"
                        ),
                        lambda: (
                            f"({self.value(scope, 'dec', sub)} {r.choice('+-')} {self.value(scope, 'dec', sub)})"
                        ),
                        lambda: f"round({self.value(scope, 'dec', 0)}, 1)",
                        lambda: f"cast({self.value(scope, 'int', sub)} as decimal(12, 2))",
                        lambda: self.case(scope, "dec", sub),
                    ]
                )()
            case "str":
                return r.choice(
                    [
                        lambda: f"({self.value(scope, 'str', sub)} || {self.value(scope, 'str', sub)})",
                        lambda: f"upper({self.value(scope, 'str', sub)})",
                        lambda: (
                            f"substring({self.value(scope, 'str', sub)}, {r.randint(-2, 3)}, {r.randint(0, 3)})"
                        ),
                        lambda: f"replace({self.value(scope, 'str', sub)}, 'a', 'bb')",
                        lambda: self.case(scope, "str", sub),
                        lambda: f"concat({self.value(scope, 'str', sub)}, {self.value(scope, 'int', sub)})",
                        lambda: f"cast({self.value(scope, 'int', sub)} as varchar)",
                        lambda: f"({self.value(scope, 'json', sub)} ->> '{r.choice(['a', '$.b[0]', '$'])}')",
                        lambda: (
                            f"cast({self.value(scope, r.choice(['span', 'list', 'json']), sub)} as varchar)"
                        ),
                        lambda: f"array_to_string({self.value(scope, 'list', sub)}, '-')",
                        lambda: f"split_part({self.value(scope, 'str', sub)}, 'b', {r.choice([1, 2, -1])})",
                        lambda: f"strftime({self.value(scope, 'time', sub)}, '%Y-%m %H')",
                    ]
                )()
            case "date":
                return r.choice(
                    [
                        lambda: f"({self.value(scope, 'date', sub)} + {r.randint(-40, 40)})",
                        lambda: (
                            f"cast(({self.value(scope, 'date', sub)} + interval '{r.randint(1, 14)}' month) as date)"
                        ),
                        lambda: f"coalesce({self.value(scope, 'date', sub)}, {self.literal('date')})",
                    ]
                )()
            case "dbl":
                return r.choice(
                    [
                        lambda: (
                            f"({self.value(scope, 'dbl', sub)} {r.choice('+-*')} {self.value(scope, r.choice(['dbl', 'int', 'dec']), sub)})"
                        ),
                        lambda: f"({self.value(scope, 'int', sub)} / 4)",
                        lambda: f"cast({self.value(scope, r.choice(['int', 'dec']), sub)} as double)",
                        lambda: f"sqrt(abs({self.value(scope, 'dbl', sub)}))",
                        lambda: f"floor({self.value(scope, 'dbl', sub)})",
                        lambda: f"coalesce({self.value(scope, 'dbl', sub)}, {self.value(scope, 'int', 0)})",
                        lambda: self.case(scope, "dbl", sub),
                    ]
                )()
            case "time":
                return r.choice(
                    [
                        lambda: (
                            f"({self.value(scope, 'time', sub)} + interval '{r.randint(1, 40)}' {r.choice(['hour', 'month', 'minute'])})"
                        ),
                        lambda: f"({self.value(scope, 'time', sub)} - interval '{r.randint(1, 3)}' day)",
                        lambda: (
                            f"date_trunc('{r.choice(['hour', 'month', 'day'])}', {self.value(scope, 'time', sub)})"
                        ),
                        lambda: f"cast({self.value(scope, 'date', sub)} as timestamp)",
                        lambda: f"({self.value(scope, 'time', sub)} + {self.value(scope, 'span', sub)})",
                        lambda: (
                            f"time_bucket(INTERVAL '{r.choice(['7 minutes', '1 week', '2 months'])}', {self.value(scope, 'time', sub)})"
                        ),
                        lambda: self.case(scope, "time", sub),
                    ]
                )()
            case "span":
                return r.choice(
                    [
                        lambda: f"({self.value(scope, 'time', sub)} - {self.value(scope, 'time', 0)})",
                        lambda: (
                            f"(INTERVAL ({self.value(scope, 'int', sub)}) {r.choice(['DAY', 'HOUR', 'MONTH'])})"
                        ),
                        lambda: f"({self.value(scope, 'span', sub)} * {r.choice(['2', '-1'])})",
                        lambda: f"({self.value(scope, 'span', sub)} + {self.value(scope, 'span', 0)})",
                        lambda: self.case(scope, "span", sub),
                    ]
                )()
            case "list":
                return r.choice(
                    [
                        lambda: f"[{self.value(scope, 'int', sub)}, {self.value(scope, 'int', 0)}]",
                        lambda: (
                            f"list_append({self.value(scope, 'list', sub)}, {self.value(scope, 'int', 0)})"
                        ),
                        lambda: f"list_sort(list_distinct({self.value(scope, 'list', sub)}))",
                        lambda: (
                            f"list_transform({self.value(scope, 'list', sub)}, lambda x: x + {self.value(scope, 'int', 0)})"
                        ),
                        lambda: (
                            f"list_filter({self.value(scope, 'list', sub)}, lambda y: y > {r.randint(0, 2)})"
                        ),
                        lambda: f"list_slice({self.value(scope, 'list', sub)}, 1, {r.randint(0, 2)})",
                        lambda: self.case(scope, "list", sub),
                    ]
                )()
            case "json":
                return r.choice(
                    [
                        lambda: f"({self.value(scope, 'json', sub)} -> '{r.choice(['a', '$.b[0]'])}')",
                        lambda: (
                            f"json_object('a', {self.value(scope, r.choice(['int', 'str', 'list']), sub)}, 'b', {self.value(scope, 'json', 0)})"
                        ),
                        lambda: f"to_json({self.value(scope, r.choice(['list', 'str', 'int']), sub)})",
                        lambda: f"json_array({self.value(scope, 'int', sub)}, {self.value(scope, 'str', 0)})",
                        lambda: self.case(scope, "json", sub),
                    ]
                )()
        return self.condition(scope, sub)

    def case(self, scope: Scope, kind: str, depth: int) -> str:
        """A CASE."""
        otherwise = f" ELSE {self.value(scope, kind, depth)}" if self.random.random() < 0.6 else ""
        return (
            f"CASE WHEN {self.condition(scope, depth)} THEN {self.value(scope, kind, depth)}{otherwise} END"
        )

    def literal(self, kind: str) -> str:
        """A literal, sometimes NULL."""
        r = self.random
        if r.random() < 0.06:
            nulls = {"int": "integer", "str": "varchar", "dbl": "double"}
            if kind in nulls:
                return f"cast(NULL as {nulls[kind]})"
            if kind == "dec":
                return "cast(NULL as decimal(8, 2))"
            if kind in ("list", "span", "json", "time"):
                of = {"list": "integer[]", "span": "interval", "json": "json", "time": "timestamp"}[kind]
                return f"cast(NULL as {of})"
            return "NULL" if kind == "bool" else self.literal("date")
        match kind:
            case "int":
                return str(r.randint(0, 4))
            case "dec":
                return f"{r.randint(0, 3)}.{r.choice(['5', '25', '10'])}"
            case "dbl":
                return f"cast({r.randint(0, 3)}.{r.choice(['5', '25'])} as double)"
            case "str":
                return f"'{r.choice(['', 'a', 'ab', 'b', 'x'])}'"
            case "date":
                return f"DATE '2020-0{r.randint(1, 3)}-{r.randint(10, 28)}'"
            case "span":
                return f"INTERVAL '{r.randint(-3, 40)}' {r.choice(['DAY', 'HOUR', 'MINUTE'])}"
            case "list":
                return f"[{', '.join(str(r.randint(0, 3)) for _ in range(r.randint(1, 3)))}]"
            case "json":
                return f"CAST('{r.choice(['[1, null]', '7', 'null'])}' AS JSON)"
            case "time":
                return f"TIMESTAMP '2020-0{r.randint(1, 3)}-{r.randint(10, 28)} 0{r.randint(0, 9)}:{r.randint(10, 59)}:00'"
        return r.choice(["TRUE", "FALSE"])

    def condition(self, scope: Scope, depth: int = 2, subqueries: bool = False) -> str:
        """A condition; with `subqueries`, perhaps with some."""
        r = self.random
        sub = depth - 1
        if depth <= 0:
            return self.comparison(scope, 0)
        if subqueries and r.random() < 0.4:
            return self.subquery_condition(scope)
        return r.choice(
            [
                lambda: self.comparison(scope, sub),
                lambda: self.comparison(scope, sub),
                lambda: (
                    f"({self.condition(scope, sub, subqueries)} AND {self.condition(scope, sub, subqueries)})"
                ),
                lambda: (
                    f"({self.condition(scope, sub, subqueries)} OR {self.condition(scope, sub, subqueries)})"
                ),
                lambda: f"NOT ({self.condition(scope, sub, subqueries)})",
                lambda: (
                    f"{self.value(scope, r.choice(['int', 'str', 'date']), sub)} IS {r.choice(['', 'NOT '])}NULL"
                ),
                lambda: (
                    f"{self.value(scope, 'int', sub)} BETWEEN {self.value(scope, 'int', 0)} AND {self.value(scope, 'int', 0)}"
                ),
                lambda: (
                    f"{self.value(scope, 'int', sub)} {r.choice(['', 'NOT '])}IN ({self.literal('int')}, {self.literal('int')}, {self.value(scope, 'int', 0)})"
                ),
                lambda: (
                    f"{self.value(scope, 'str', sub)} {r.choice(['', 'NOT '])}IN ('a', {r.choice(['NULL', self.literal('str')])})"
                ),
                lambda: (
                    f"({self.condition(scope, sub)}) IS {r.choice(['', 'NOT '])}{r.choice(['TRUE', 'FALSE', 'NULL'])}"
                ),
                lambda: (
                    f"{self.value(scope, 'time', sub)} {r.choice('<>')} {self.value(scope, r.choice(['time', 'date']), 0)}"
                ),
                lambda: f"{self.value(scope, 'str', sub)} ILIKE '{r.choice(['A%', '%B', '_', '%a%'])}'",
                lambda: (
                    f"{self.value(scope, 'str', sub)} {r.choice(['', 'NOT '])}LIKE '{r.choice(['a%', '%b', '_', '%a%', 'ab', '%', 'a_%'])}'"
                ),
                lambda: (
                    f"{self.value(scope, 'int', sub)} IS {r.choice(['', 'NOT '])}DISTINCT FROM {self.value(scope, 'int', sub)}"
                ),
            ]
        )()

    def comparison(self, scope: Scope, depth: int) -> str:
        """A comparison of values."""
        kind = self.random.choice(["int", "int", "int", "str", "date", "dec", "time", "dbl", "span"])
        op = self.random.choice(["=", "=", "<>", "<", "<=", ">", ">="])
        return f"{self.value(scope, kind, depth)} {op} {self.value(scope, kind, depth)}"

    def subquery_condition(self, scope: Scope) -> str:
        """A condition with a subquery, which may be correlated."""
        r = self.random
        left = self.value(scope, "int", 1)
        negated = r.choice(["", "NOT "])
        match r.randint(0, 6):
            case 5:
                right = self.value(scope, r.choice(["int", "str"]), 0)
                table, alias = r.choice([("r", self.alias()), ("t", self.alias())])
                kind = "s" if right in scope.of("str") or right.startswith(("'", "cast(NULL as v")) else "a"
                inner = self.scope_of(table, alias)
                where = f" WHERE {self.condition(inner, 1)}" if r.random() < 0.5 else ""
                return f"({left}, {right}) {negated}IN (SELECT {alias}.a, {alias}.{kind} FROM {table} {alias}{where})"
            case 6:
                table, alias = r.choice(list(COLUMNS)), self.alias()
                inner = self.scope_of(table, alias)
                key, agg = r.choice(inner.of("int")), self.aggregate(inner, "int")
                of = (
                    f" WHERE {r.choice(inner.of('int'))} {r.choice(['=', '<'])} {left}"
                    if r.random() < 0.6
                    else ""
                )
                having = f" HAVING count(*) > {r.randint(0, 2)}"
                return f"{left} {negated}IN (SELECT {agg} FROM {table} {alias}{of} GROUP BY {key}{having})"
            case 0:
                return f"{negated}EXISTS ({self.subquery(scope, '1')})"
            case 1:
                return f"{left} {negated}IN ({self.subquery(scope, None)})"
            case 2:
                op = r.choice(["=", "<>", "<", ">="])
                return f"{left} {op} {r.choice(['ANY', 'ALL'])} ({self.subquery(scope, None)})"
            case 3:
                op = r.choice(["=", "<", ">="])
                return f"{left} {op} ({self.subquery(scope, 'agg')})"
        return (
            f"({left} {negated}IN ({self.subquery(scope, None)})) IS {r.choice(['TRUE', 'NOT TRUE', 'NULL'])}"
        )

    def subquery(self, outer: Scope, what: str | None) -> str:
        """A subquery of one column of integers."""
        r = self.random
        table, alias = r.choice(list(COLUMNS)), self.alias()
        inner = self.scope_of(table, alias)
        both = Scope({k: [*inner.of(k), *inner.of(k), *outer.of(k)] for k in KINDS})
        item = what or self.value(inner if r.random() < 0.8 else both, "int", 1)
        if what == "agg":
            item = f"{r.choice(['max', 'min', 'sum', 'count'])}({self.value(inner, 'int', 1)})"
        condition = ""
        if r.random() < 0.85:
            equal = (
                f"{r.choice(inner.of('int'))} = {r.choice(outer.of('int'))}" if outer.of("int") else "TRUE"
            )
            parts = [equal] if r.random() < 0.6 else []
            parts += [self.condition(both, 1, r.random() < 0.15)] if r.random() < 0.7 or not parts else []
            condition = f" WHERE {' AND '.join(parts)}"
        return f"SELECT {item} FROM {table} {alias}{condition}"

    # ----------------------------------------------------------------- queries

    def scope_of(self, table: str, alias: str) -> Scope:
        """The columns of a table."""
        scope = Scope()
        for name, kind in COLUMNS[table].items():
            scope.columns.setdefault(kind, []).append(f"{alias}.{name}")
        return scope

    def source(self, depth: int) -> tuple[str, Scope]:
        """A table or a derived table."""
        alias = self.alias()
        if depth > 0 and self.random.random() < 0.25:
            kinds = [self.random.choice(["int", "str", "dec"]) for _ in range(2)]
            names = [f"c{i}" for i in range(2)]
            inner = self.select(kinds, depth - 1, names)
            scope = Scope()
            for name, kind in zip(names, kinds, strict=True):
                scope.columns.setdefault(kind, []).append(f"{alias}.{name}")
            return f"({inner}) {alias}", scope
        if depth > 0 and self.random.random() < 0.1:
            other, side = self.alias(), self.random.choice(["", "LEFT ", "RIGHT ", "FULL "])
            on = self.random.choice(["USING (a)", "USING (s)", "USING (a, s)"])
            scopes = self.scope_of("r", alias), self.scope_of("t", other)
            scope = Scope({k: [each for one in scopes for each in one.of(k)] for k in KINDS})
            return f"(r {alias} {side}JOIN t {other} {on})", scope
        table = self.random.choice(list(COLUMNS))
        return f"{table} {alias}", self.scope_of(table, alias)

    def tables(self, depth: int) -> tuple[str, Scope]:
        """A FROM clause."""
        r = self.random
        text, scope = self.source(depth)
        for _ in range(r.choice([0, 0, 1, 1, 2])):
            more, inner = self.source(depth)
            both = Scope({k: [*scope.of(k), *inner.of(k)] for k in KINDS})
            kind = r.choice(
                [
                    "JOIN",
                    "JOIN",
                    "LEFT JOIN",
                    "RIGHT JOIN",
                    "FULL JOIN",
                    "CROSS JOIN",
                    "SEMI JOIN",
                    "ANTI JOIN",
                ]
            )
            if kind == "CROSS JOIN" and r.random() < 0.5:
                beside, third = self.source(depth)
                pairs = [(a, b) for k in ("int", "str") for a in inner.of(k) for b in third.of(k)]
                on = "{} = {}".format(*r.choice(pairs)) if pairs else "TRUE"
                text = f"{text}, {more} {r.choice(['RIGHT', 'FULL', 'LEFT'])} JOIN {beside} ON {on}"
                return text, Scope({k: [*both.of(k), *third.of(k)] for k in KINDS})
            if kind == "CROSS JOIN":
                text = f"{text} CROSS JOIN {more}"
            else:
                pairs = [(a, b) for k in ("int", "str") for a in scope.of(k) for b in inner.of(k)]
                on = "{} = {}".format(*r.choice(pairs)) if pairs else "TRUE"
                if kind != "FULL JOIN" and r.random() < 0.3:
                    on += f" AND {self.comparison(both, 0)}"
                text = f"{text} {kind} {more} ON {on}"
            scope = scope if kind in ("SEMI JOIN", "ANTI JOIN") else both
        return text, scope

    def select(self, kinds: list[str], depth: int, names: list[str]) -> str:
        """A SELECT with columns of these types."""
        r = self.random
        text, scope = self.tables(depth)
        where = f" WHERE {self.condition(scope, 2, depth > 0)}" if r.random() < 0.6 else ""
        if r.random() < 0.15:
            return self.windowed(kinds, scope, text, where, names)
        if r.random() < 0.35:
            return self.grouped(kinds, scope, text, where, names)
        items = ", ".join(
            f"{self.item(scope, kind, depth)} AS {name}" for kind, name in zip(kinds, names, strict=True)
        )
        return f"SELECT {r.choice(['', '', 'DISTINCT '])}{items} FROM {text}{where}"

    def windowed(self, kinds: list[str], scope: Scope, text: str, where: str, names: list[str]) -> str:
        """A SELECT with window functions, each of whose values is the same however ties are broken."""
        r = self.random
        items = [
            f"{self.window(scope, kind) if i == 0 or r.random() < 0.4 else self.value(scope, kind)} AS {name}"
            for i, (kind, name) in enumerate(zip(kinds, names, strict=True))
        ]
        keep = ""
        if r.random() < 0.2:
            keep = f" QUALIFY {self.window(scope, 'int')} {r.choice(['<=', '=', '>'])} {r.randint(1, 2)}"
        return f"SELECT {', '.join(items)} FROM {text}{where}{keep}"

    def window(self, scope: Scope, kind: str) -> str:
        """A window function of a type. Frames of rows are whole partitions, as equal rows have no order."""
        r = self.random
        columns = [_key(each, kind) for kind in KINDS for each in scope.of(kind)]
        part = f"PARTITION BY {self.value(scope, r.choice(['int', 'str']), 1)}" if r.random() < 0.7 else ""
        ways = ["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]
        some = r.sample(columns, min(len(columns), r.randint(1, 2)))
        order = f"ORDER BY {', '.join(f'{each}{r.choice(ways)}' for each in some)}"
        whole = f"ORDER BY {', '.join(columns)}"
        if kind == "int":
            name = r.choice(
                ["rank()", "dense_rank()", "count(*)", "sum", "min", "max", "lag", "row_number()"]
            )
            if name == "row_number()":
                return (
                    f"count(*) OVER ({part} {whole} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
                )
            if name == "lag":
                of, more = (
                    r.choice(scope.of("int") or ["1"]),
                    r.choice(["", ", 9", f", {self.literal('int')}"]),
                )
                nulls = r.choice(["", "", " IGNORE NULLS"])
                return (
                    f"{r.choice(['lag', 'lead'])}({of}, {r.randint(0, 2)}{more}{nulls}) OVER ({part} {whole})"
                )
            call = name if name.endswith(")") else f"{name}({self.value(scope, 'int', 1)})"
            if r.random() < 0.3:
                call = (
                    f"{call} FILTER (WHERE {self.condition(scope, 1)})"
                    if call.endswith(")") and "rank" not in call
                    else call
                )
            if r.random() < 0.25 and scope.of("int") and "rank" not in call:
                ends = r.choice(
                    [
                        "1 PRECEDING AND CURRENT ROW",
                        "1 PRECEDING AND 1 FOLLOWING",
                        "UNBOUNDED PRECEDING AND 1 FOLLOWING",
                        "CURRENT ROW AND 2 FOLLOWING",
                    ]
                )
                out = r.choice(["", "", " EXCLUDE GROUP"])
                by = r.choice(scope.of("int"))
                kind_of = r.choice(["RANGE", "RANGE", "GROUPS"])
                return f"{call} OVER ({part} ORDER BY {by}{r.choice(ways)} {kind_of} BETWEEN {ends}{out})"
        elif kind == "bool":
            return f"(rank() OVER ({part} {order}) = 1)"
        elif kind == "dbl":
            call = f"{r.choice(['avg', 'max', 'sum'])}({self.value(scope, 'dbl', 1)})"
        elif kind == "dec":
            call = f"{r.choice(['avg', 'max'])}({self.value(scope, 'dec', 1)})"
        else:
            call = f"{r.choice(['min', 'max'])}({self.value(scope, kind, 1)})"
        return f"{call} OVER ({part}{' ' + order if r.random() < 0.7 or '()' in call else ''})"

    def item(self, scope: Scope, kind: str, depth: int) -> str:
        """An item of a select list."""
        if kind == "int" and depth > 0 and self.random.random() < 0.15:
            return f"({self.subquery(scope, 'agg')})"
        if kind == "bool":
            return self.condition(scope, 2, depth > 0)
        return self.value(scope, kind)

    def grouped(self, kinds: list[str], scope: Scope, text: str, where: str, names: list[str]) -> str:
        """A SELECT with GROUP BY."""
        r = self.random
        keys = [
            (k, self.value(scope, k, r.choice([0, 0, 1])))
            for k in r.sample(["int", "str", "int"], r.randint(0, 2))
        ]
        keys = [(k, e) for k, e in keys if any(each in e for each in scope.of(k))]
        items = []
        for kind, name in zip(kinds, names, strict=True):
            same = [e for k, e in keys if k == kind]
            if same and r.random() < 0.5:
                items.append(f"{r.choice(same)} AS {name}")
            else:
                items.append(f"{self.aggregate(scope, kind)} AS {name}")
        having = (
            f" HAVING {self.aggregate(scope, 'int')} {r.choice('<>')} {r.randint(0, 4)}"
            if r.random() < 0.3
            else ""
        )
        if having and r.random() < 0.2:
            having = f" HAVING {self.aggregate(scope, 'int')} IN ({self.subquery(Scope(), None)})"
        group = ""
        if keys:
            texts = list(dict.fromkeys(e for _, e in keys))
            how = r.choice(["{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())"])
            group = f" GROUP BY {how.format(', '.join(texts))}"
        return f"SELECT {', '.join(items)} FROM {text}{where}{group}{having}"

    def aggregate(self, scope: Scope, kind: str) -> str:
        """An aggregate of a type."""
        r = self.random
        only = f" FILTER (WHERE {self.condition(scope, 1)})" if r.random() < 0.15 else ""
        match kind:
            case "int":
                of = r.choice(["int", "str"])
                return r.choice(
                    [
                        f"count(*){only}",
                        f"count({self.value(scope, of, 1)}){only}",
                        f"count(DISTINCT {self.value(scope, of, 1)}){only}",
                        f"sum({self.value(scope, 'int', 1)}){only}",
                        f"sum(DISTINCT {self.value(scope, 'int', 1)}){only}",
                        f"min({self.value(scope, 'int', 1)}){only}",
                        f"max({self.value(scope, 'int', 1)}){only}",
                        f"(sum({self.value(scope, 'int', 1)}) + count(*))",
                    ]
                )
            case "dec":
                return r.choice(
                    [
                        f"cast(sum({self.value(scope, 'dec', 1)}) as decimal(20, 4))",
                        f"avg({self.value(scope, 'int', 1)}){only}",
                        f"max({self.value(scope, 'dec', 1)})",
                    ]
                )
            case "str":
                return f"{r.choice(['min', 'max'])}({self.value(scope, 'str', 1)}){only}"
            case "span" | "time":
                return f"{r.choice(['min', 'max'])}({self.value(scope, kind, 1)}){only}"
            case "list":
                of = self.value(scope, "int", 1)
                return f"list_sort(list({r.choice(['', 'DISTINCT '])}{of}){only})"
            case "json":
                return f"to_json({self.aggregate(scope, 'list')})"
            case "dbl":
                if r.random() < 0.2:
                    return f"{r.choice(['median', 'var_pop', 'stddev'])}({self.value(scope, 'int', 1)}){only}"
                name = r.choice(["min", "max", "sum", "avg", "avg", "sum"])
                return f"{name}({r.choice(['', '', 'DISTINCT '])}{self.value(scope, 'dbl', 1)}){only}"
        return f"{r.choice(['bool_and', 'bool_or'])}({self.condition(scope, 1)}){only}"

    def query(self) -> str:
        """A query of any form."""
        r = self.random
        every = ["int", "int", "int", "str", "str", "dec", "bool", "dbl", "span", "list", "json", "time"]
        kinds = [r.choice(every) for _ in range(r.randint(1, 3))]
        names = [f"c{i}" for i in range(len(kinds))]
        first = self.select(kinds, 1, names)
        match r.randint(0, 9):
            case 0:
                return f"({first}) {self.operation()} ({self.select(kinds, 1, names)})"
            case 1:
                more = [self.select(kinds, 1, names) for _ in range(2)]
                return f"(({first}) {self.operation()} ({more[0]})) {self.operation()} ({more[1]})"
            case 2:
                return f"WITH w AS ({first}) SELECT * FROM w UNION ALL SELECT * FROM w WHERE c0 IS NOT NULL"
            case 3:
                order = ", ".join(
                    f"{_key(n, kind)} {r.choice(['', 'DESC', 'NULLS FIRST', 'DESC NULLS FIRST'])}"
                    for n, kind in zip(names, kinds, strict=True)
                )
                offset = r.choice(["", "", f" OFFSET {r.randint(0, 3)}"])
                return f"SELECT * FROM ({first}) q ORDER BY {order} LIMIT {r.randint(1, 4)}{offset}"
            case 4:
                return (
                    f"WITH w AS ({first}), v AS (WITH w2 AS (SELECT c0, count(*) AS n FROM w GROUP BY c0) "
                    f"SELECT * FROM w2 WHERE n < 4) SELECT v.n, w.* FROM w {r.choice(['LEFT ', 'FULL ', ''])}"
                    "JOIN v ON w.c0 IS NOT DISTINCT FROM v.c0"
                )
            case 5:
                return self.recursive()
        return first

    def operation(self) -> str:
        """A set operation."""
        return self.random.choice(
            ["UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]
        )

    def recursive(self) -> str:
        """A recursive query that ends: a closure, or paths of limited length with their counts."""
        r = self.random
        start = self.select(["int", "int"], 0, ["x", "y"])
        table, alias = r.choice(["r", "t", "u"]), self.alias()
        inner = self.scope_of(table, alias)
        a, b = r.choice(inner.of("int")), r.choice(inner.of("int"))
        more = f" AND {self.condition(inner, 1)}" if r.random() < 0.5 else ""
        if r.random() < 0.5:
            step = f"SELECT w.x, {b} FROM w JOIN {table} {alias} ON w.y = {a}{more}"
            return f"WITH RECURSIVE w(x, y) AS (({start}) UNION {step}) SELECT * FROM w"
        step = f"SELECT {b}, w.y + 1, {a} FROM w JOIN {table} {alias} ON w.x = {a} WHERE w.y < {r.randint(2, 4)}{more}"
        last = r.choice(["SELECT * FROM w", "SELECT x, count(*), max(y) FROM w GROUP BY x"])
        return f"WITH RECURSIVE w(x, y, z) AS (SELECT x, 1, y FROM ({start}) q UNION ALL {step}) {last}"

    # -------------------------------------------------------------------- rows

    def row(self, table: str, keys: set[int]) -> tuple[object, ...]:
        """A row of a table; `keys` are those of u that are taken."""
        r = self.random
        import datetime
        from decimal import Decimal

        def some(value: object) -> object:
            return None if r.random() < 0.2 else value

        number, text = r.randint(0, 3), r.choice(["", "a", "ab", "b"])
        date = datetime.date(2020, r.randint(1, 3), r.randint(10, 28))
        match table:
            case "r":
                return some(number), some(r.randint(0, 3)), some(text), some(date)
            case "t":
                cents = Decimal(r.randint(-300, 300)).scaleb(-2)
                return number, some(r.randint(0, 3)), text, some(cents), some(r.randint(-8, 8) / 4)
        key = next(k for k in range(100) if k not in keys)
        keys.add(key)
        moment = datetime.datetime(2020, r.randint(1, 3), r.randint(10, 28), r.randint(0, 23), 30)
        numbers = [some(r.randint(0, 3)) for _ in range(r.randint(0, 3))]
        text = r.choice(['{"a":1,"b":[2,"x"]}', "[1,null]", '{"a":"7"}', "2.5", '"s"'])
        return key, some(number), some(r.random() < 0.5), some(moment), some(numbers), some(text)


def _key(column: str, kind: str) -> str:
    """What orders by a column: of lists, whose NULL parts come first here, the text."""
    return f"CAST({column} AS VARCHAR)" if kind == "list" else column


def trial(seed: int, queries: int = 10, changes: int = 3) -> list[str]:
    """Random queries, compared after random changes, between which views come and go; what differs."""
    from .duck import Both

    generator = Generator(seed)
    views = {f"view{i}": generator.query() for i in range(queries)}
    both = Both(TABLES, {name: query for i, (name, query) in enumerate(views.items()) if i % 2})
    rows: dict[str, list[tuple[object, ...]]] = {table: [] for table in COLUMNS}
    keys: set[int] = set()
    found = []
    for step in range(changes):
        deleted, inserted = {}, {}
        for table, held in rows.items():
            gone = [row for row in held if step and generator.random.random() < 0.4]
            for row in gone:
                held.remove(row)
                if table == "u":
                    keys.discard(int(str(row[0])))
            come = [generator.row(table, keys) for _ in range(generator.random.randint(0, 5))]
            held += come
            deleted[table], inserted[table] = gone, come
        both.change(inserted, deleted)
        found += [f"seed {seed}, change {step}: {each}" for each in both.differences()]
        for name in [each for each in both.views if step and generator.random.random() < 0.2]:
            both.drop(name)
        for name in [each for each in views if each not in both.views or generator.random.random() < 0.1]:
            both.add(name, views[name])
            if generator.random.random() < 0.3:
                for query in ("SELECT DISTINCT * FROM", "SELECT count(*) AS n FROM"):
                    both.add(f"over_{name}", f"{query} {name}", f"{query} ({views[name]})")
        found += [f"seed {seed}, views after {step}: {each}" for each in both.differences()]
        if found:
            break
    return found + both.strays()


def main() -> None:
    """Tries as many seeds as the first argument says, from the second on."""
    count, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    bad = 0
    for seed in range(start, start + count):
        try:
            found = trial(seed)
        except Exception as error:
            found = [f"seed {seed}: {type(error).__name__}: {str(error)[:1500]}"]
        bad += bool(found)
        if found:
            print(found[0], flush=True)
    print(f"{count} trials of 10 queries, {bad} differ")


if __name__ == "__main__":
    main()
