"""Constraints of tables as queries of the rows that break them; a commit that gives such a row is taken back.

PRIMARY KEY is checked by changes themselves, and NOT NULL by the types of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from ..errors.sessions import BROKEN
from ..syntax.templates import tree
from .merge import columns as columns_of
from .merge import select
from .queries import QueryNames, Translator
from .rules import SqlColumn, SqlOutput, SqlRelation
from .types import VARCHAR, SqlValue

if TYPE_CHECKING:
    from sqlglot.expressions import Expr as Expression


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint of some columns of a table: UNIQUE; REFERENCES, if there is a table `to`, and then to some
    columns of it; CHECK, if there is a `test`."""

    table: Expression
    columns: tuple[str, ...]
    place: Expression
    to: Expression | None = None
    to_columns: tuple[str, ...] = ()
    test: Expression | None = None

    def query(self) -> sql.Select:
        """The rows that break the constraint, each as a text about it."""
        own = columns_of(self.table, self.columns)
        there = [sql.Not(this=sql.Is(this=each.copy(), expression=sql.Null())) for each in own]
        if self.test is not None:
            test: Expression = sql.Not(this=sql.paren(self.test.copy()))
            return select(
                [self._text(f"CHECK ({self.test.sql(dialect='duckdb')})", "for")], [self.table], test
            )
        names = ", ".join(self.columns)
        if self.to is None:
            made = select(
                [self._text(f"UNIQUE ({names})", "for the rows with")], [self.table], sql.and_(*there)
            )
            made.set("group", sql.Group(expressions=own))
            made.set(
                "having",
                sql.Having(this=sql.GT(this=sql.Count(this=sql.Star()), expression=sql.Literal.number(1))),
            )
            return made
        other = sql.alias_(self.to.copy(), "referenced", table=True)
        pairs = zip(columns_of(other, self.to_columns), own, strict=True)
        found = select(
            [sql.Literal.number(1)], [other], sql.and_(*(sql.EQ(this=a, expression=b) for a, b in pairs))
        )
        text = self._text(f"({names}) REFERENCES {self.to.name}", "for")
        return select([text], [self.table], sql.and_(*there, sql.Not(this=sql.Exists(this=found))))

    def _text(self, what: str, whom: str) -> Expression:
        parts: list[Expression] = [
            sql.Literal.string(f"{BROKEN}{what} of `{self.table.name}` does not hold {whom} ")
        ]
        for number, name in enumerate(self.columns):
            column = columns_of(self.table, [name])[0]
            shown = sql.Cast(this=column, to=sql.DataType.build("VARCHAR", dialect="duckdb"))
            parts.append(sql.Literal.string(f"{', ' if number else ''}{name} = "))
            parts.append(sql.Coalesce(this=shown, expressions=[sql.Literal.string("NULL")]))
        return sql.func("CONCAT", *parts, dialect="duckdb")


def write_constraint(made: Constraint, translator: Translator, output: SqlOutput, names: QueryNames) -> None:
    """Writes the rules of a constraint. Raises SqlError."""
    relation = SqlRelation(output.new_name("Constraint"), (SqlColumn("problem", "problem", VARCHAR, False),))
    output.declare("relation", relation)
    for branch in translator.query(made.query(), names).branches:
        problem = SqlValue(tree("sql::broken($)", branch.values[0].tree), VARCHAR)
        output.rule(relation, [problem], branch.body, translator.places.of(made.place))


def constrained(names: Sequence[Expression]) -> tuple[str, ...]:
    """The names of columns."""
    return tuple(each.name.lower() for each in names)
