"""Statements that change tables, as rules: rows that go, rows that come, and what is returned of them.

A statement is a query of the rows that it concerns. An INSERT asks for the new rows, a DELETE for the old
ones, an UPDATE for each old row with the new one behind it, a MERGE for either, with a number before it that
says what it does. RETURNING is a query over the rows that changed, which are given to it as a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import expressions as sql

from ..core import Relation
from ..errors import sql as errors
from ..errors.changes import NotAnInput
from ..errors.diagnostics import DDlogError
from ..errors.source import Source
from ..errors.unknown import unknown_name
from ..syntax.printing import module_text
from .clock import is_clock
from .conversions import outside, read_number, span
from .defaults import defaulted, defaults_of, write_defaults
from .merge import EXCLUDED, MergedTables, columns, merge_cases, merge_of_conflict, select
from .moments import NAME as CLOCK
from .moments import reads_clock
from .orderby import in_order
from .parameters import Parameters, bound, numbered, type_of_value, value_of
from .places import SqlError, SqlPlaces, are
from .queries import QueryBranch, QueryNames, SqlQuery, Translator, qualified
from .rules import NamedRows, SqlBody, SqlColumn, SqlOutput, SqlRelation
from .statements import ModuleTranslation, given_names
from .translate import translate
from .types import INTEGER, INTERVAL, STRUCTS, SqlValue, null

if TYPE_CHECKING:
    from sqlglot import Token
    from sqlglot.expressions import Expr as Expression


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """A statement: its kind (select, insert, update, delete, merge, conflict, begin, commit, rollback,
    savepoint, back, release), and the relation that it changes. `name` is that of a savepoint. `answer` is
    the relation of its rows; `changed`, the input for those that changed, and `returned`, what RETURNING says
    of them. `order` is that of the rows of a SELECT, by places of columns from 1 on, whether downwards, and
    whether NULL comes first; the last `hidden` columns are there for it alone. `reads` are the relations that
    it reads, `text` the rules. `given` are the parameters that are relations, and these. The types of structs
    are not declared in it."""

    kind: str
    name: str = ""
    relation: str = ""
    answer: str = ""
    changed: str = ""
    returned: str = ""
    order: tuple[tuple[int, bool, bool], ...] = ()
    hidden: int = 0
    reads: frozenset[str] = frozenset()
    text: str = ""
    given: Mapping[str, str] = field(default_factory=dict)


_POINTS = ("SAVEPOINT", "RELEASE")

MERGED = ("insert", "update", "delete")
"""What a MERGE does with a row, by the number before it."""

Rows: TypeAlias = tuple[SqlBody, Sequence[SqlValue]]
"""Rows of a statement: their body, and their values."""

Keys: TypeAlias = Callable[[Relation], Sequence[int]]
"""The places of the columns that are the primary key of a relation; none where there is no such key."""


def statement_of(
    source: Source,
    relations: Iterable[Relation],
    keys: Keys,
    parameters: Parameters,
    typed: bool = True,
) -> SqlStatement:
    """The one statement of a text over the relations of a program. `typed`: parameters are relations of one
    row, so that the statement does not depend on their values, but only on their types. Raises
    DDlogError."""
    made = list[StatementTranslation]()

    def begin(places: SqlPlaces, output: SqlOutput) -> ModuleTranslation:
        made.append(StatementTranslation(places, output, relations, keys, parameters, typed))
        return made[0]

    tree = translate(source, begin=begin, known=STRUCTS)
    found = made[0].found
    if len(found) != 1:
        raise DDlogError([errors.OneStatement(len(found))])
    return replace(found[0], text=module_text(tree), reads=frozenset(made[0].read), given=made[0].given)


class StatementTranslation(ModuleTranslation):
    """Statements over the relations of a program, translated one after another."""

    def __init__(
        self,
        places: SqlPlaces,
        output: SqlOutput,
        relations: Iterable[Relation],
        keys: Keys,
        parameters: Parameters,
        typed: bool,
    ) -> None:
        super().__init__(places, output)
        output.is_statement = True
        self.keys, self.parameters, self.typed = keys, parameters, typed
        self.given: dict[str, str] = {}
        self.found = list[SqlStatement]()
        self.read = set[str]()  # relations
        self._declared = {each.name: each for each in relations}
        self.know_all(self._declared)

    def reading(self, tokens: list[Token]) -> list[Token]:
        words = [each.text.upper() for each in tokens]
        if words[:2] == ["RELEASE", "SAVEPOINT"]:
            tokens = [tokens[0], *tokens[2:]]  # the parser knows neither
        return numbered(tokens)

    def add(self, node: Expression) -> None:
        self.note_written(node)
        if self.typed:
            self._give(node)
        bound(node, self.parameters, self.places, self.given)
        names = {qualified(each) for each in node.find_all(sql.Table)}
        tables = map(self.relations.get, names | {CLOCK} if reads_clock(node) else names)
        self.read.update(each for each in tables if each is not None)
        match node:
            case sql.Insert():
                made = self._insertion(node)
            case sql.Update():
                made = self._update(node)
            case sql.Delete():
                made = self._deletion(node, node.this)
            case sql.TruncateTable() if len(node.expressions) == 1:
                made = self._deletion(node, node.expressions[0])
            case sql.Query() | sql.Values() | sql.Pivot():
                made = self._selection(node)
            case sql.Transaction():
                made = SqlStatement("begin")
            case sql.Commit():
                made = SqlStatement("commit")
            case sql.Rollback():
                if [each.text.upper() for each in self.places.tokens[-2:]] == ["AND", "CHAIN"]:
                    self.places.refuse("AND CHAIN", node)  # the parser leaves it out
                point = node.args.get("savepoint")
                made = SqlStatement("rollback") if point is None else SqlStatement("back", point.name.lower())
            case sql.Alias(this=sql.Column() as word) if word.name.upper() in _POINTS:
                made = SqlStatement(word.name.lower(), node.alias.lower())
            case sql.Alias(this=sql.Column() as word) if word.name.upper() == "START":
                made = SqlStatement("begin")
            case sql.Column() if node.name.upper() in ("END", "ABORT"):
                made = SqlStatement("commit" if node.name.upper() == "END" else "rollback")
            case sql.Merge():
                made = self._merge(node)
            case sql.Set():
                why = "the time zone is that of the program, which begins with SET TimeZone"
                self.places.refuse("the statement SET", node, why)
            case _:
                self.places.refuse(f"the statement {self.places.written(node).split()[0]}", node)
        self.found.append(made)

    # ---------------------------------------------------------------- the statements

    def _selection(self, node: Expression) -> SqlStatement:
        answer = self._fresh("Answer")
        whole, keys, more = in_order(node, self.places)
        query = self._translator.query(whole, self._names)
        shown, order = len(query.names) - more, list[tuple[int, bool, bool]]()
        for by, is_downward, nulls_first in keys:
            if isinstance(by, int) and not 0 < by <= shown:
                self.places.wrong(f"ORDER BY {by}: there {are(shown)}", node)
            if not isinstance(by, int) and by not in (*query.names, "*"):
                self.places.wrong(f"ORDER BY {by}: the answer has the columns {', '.join(query.names)}", node)
            first = by if isinstance(by, int) else query.names.index(by) + 1 if by != "*" else 1
            for place in range(first, shown + 1 if by == "*" else first + 1):
                if query.branches[0].values[place - 1].type == INTERVAL:
                    query, place = _with_span(query, place), len(query.names) + 1
                order.append((place, is_downward, nulls_first))
        more = len(query.names) - shown
        self._write(answer.lower(), answer, self._translator.unified(query), given_names(whole))
        return SqlStatement("select", answer=answer, order=tuple(order), hidden=more)

    def _insertion(self, node: sql.Insert) -> SqlStatement:
        into = node.this.this if isinstance(node.this, sql.Schema) else node.this
        source = self._target(into)
        named = isinstance(node.this, sql.Schema)
        names = [each.name.lower() for each in node.this.expressions] if named else source.names
        if isinstance(node.expression, sql.Values):
            write_defaults(node.expression, names, defaults_of(source, self.places))
        query = self._inserted(node)
        if not named and (node.args.get("by_name") or node.args.get("default")):
            names = query.names
        for name in names:
            self._column_of(source, name, node.this)
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            self.places.wrong(f"the column `{twice}` is named twice", node.this)
        if any(len(each.values) != len(names) for each in query.branches):
            self.places.wrong(
                f"{len(names)} columns are asked for ({', '.join(names)}), "
                f"and a row has {len(query.branches[0].values)}",
                node,
            )
        rows, written = [], node.expression
        nodes = written.expressions if isinstance(written, sql.Values) else [node] * len(query.branches)
        for branch, each in zip(query.branches, nodes, strict=True):
            given = dict(zip(names, branch.values, strict=True))
            rows.append((branch.body, self._row(source, given, {}, each)))
        if node.args.get("conflict") is not None or node.args.get("alternative"):
            made = self._conflict(node, into, source, rows, names)
        else:
            answer = self._answer(source.relation.columns, rows)
            made = SqlStatement("insert", relation=source.relation.name, answer=answer)
        return self._returning(made, node, into, source)

    def _row(
        self,
        source: NamedRows,
        given: Mapping[str, SqlValue],
        others: Mapping[str, SqlValue],
        node: Expression,
    ) -> list[SqlValue]:
        """A row of a table: the values that are given, brought to the types of its columns, and of the other
        columns those of another row, or their defaults."""
        for name in given:
            self._column_of(source, name, node)
        return [
            self.brought(given.get(each.name) or others.get(each.name) or self.default(each), each, node)
            for each in source.relation.columns
        ]

    def _conflict(
        self,
        node: sql.Insert,
        into: Expression,
        source: NamedRows,
        rows: Sequence[Rows],
        named: Sequence[str],
    ) -> SqlStatement:
        """An INSERT of `named` columns with ON CONFLICT: a MERGE of the new rows."""
        key = [source.names[at] for at in self.keys(self._declared[source.relation.name])]
        if not key and not is_clock(source):
            self.places.refuse("ON CONFLICT", node, f"`{into.name}` has no primary key of columns")
        new = SqlQuery(source.names, tuple(QueryBranch(body, tuple(row)) for body, row in rows))
        excluded = self._translator.stored(new, "Excluded")
        read = sql.Table(this=sql.to_identifier(EXCLUDED))
        tables = MergedTables(into, source.names, defaults_of(source, self.places), read, source.names)
        merge = merge_of_conflict(node, tables, key, named, self.places)
        return replace(self._merged(merge, tables, source, excluded), kind="conflict")

    def _inserted(self, node: sql.Insert) -> SqlQuery:
        """The rows of an INSERT."""
        if node.args.get("default"):
            return SqlQuery((), (QueryBranch(SqlBody(), ()),))
        query = node.expression
        if query is None:
            self.places.wrong("an INSERT needs VALUES or a query", node)
        if isinstance(query, sql.Values):
            return self._translator.rows_of(query, self._names, None)
        if node.args.get("with_") is not None:
            query.set("with_", node.args["with_"])
        found = self._translator.query(query, self._names)
        if len(found.branches) > 1:
            found = self._translator.unified(found)
        return self._translator.bag(found, None)

    def _deletion(self, node: Expression, table: Expression) -> SqlStatement:
        if not isinstance(table, sql.Table) or node.args.get("tables"):
            self.places.wrong("a DELETE is written DELETE FROM table", node)
        source = self._target(table)
        condition = node.args.get("where")
        using = node.args.get("using") or []
        test = None if condition is None else condition.this
        if using:
            test = sql.Exists(this=select([sql.Literal.number(1)], using, test))
        query = self._translator.query(
            _with(node, select(columns(table, source.names), [table], test)), self._names
        )
        rows = [(each.body, list(each.values)) for each in query.branches]
        answer = self._answer(source.relation.columns, rows)
        return self._returning(
            SqlStatement("delete", relation=source.relation.name, answer=answer), node, table, source
        )

    def _update(self, node: sql.Update) -> SqlStatement:
        table, source = node.this, self._target(node.this)
        more = node.args.get("from_")
        if more is not None and self._declared[source.relation.name].kind == "multiset":
            self.places.refuse("UPDATE … FROM of a table without a primary key", more)
        changed: dict[str, Expression] = {}
        if not node.expressions:
            self.places.wrong("an UPDATE is written UPDATE table SET column = value", node)
        for each in [one for given in node.expressions for one in _settings(given)]:
            if not isinstance(each, sql.EQ) or not isinstance(each.this, sql.Column):
                self.places.wrong("SET of an UPDATE is written column = value", each)
            name = each.this.name.lower()
            self._column_of(source, name, each.this)
            if name in changed:
                self.places.wrong(f"the column `{name}` is set twice", each)
            changed[name] = defaulted(name, each.expression, defaults_of(source, self.places))
        condition = node.args.get("where")
        asked = select(
            [*columns(table, source.names), *changed.values()],
            [table, *([] if more is None else [more.this])],
            None if condition is None else condition.this,
        )
        query = self._translator.query(_with(node, asked), self._names)
        stored, width = source.relation.columns, len(source.names)
        rows = []
        for branch in query.branches:
            old = branch.values[:width]
            given = dict(zip(changed, branch.values[width:], strict=True))
            new = self._row(source, given, dict(zip(source.names, old, strict=True)), node)
            rows.append((branch.body, [*old, *new]))
        answer = self._answer((*stored, *stored), rows)
        made = SqlStatement("update", relation=source.relation.name, answer=answer)
        return self._returning(made, node, table, source)

    def _merge(self, node: sql.Merge) -> SqlStatement:
        table, source, using = node.this, self._target(node.this), node.args["using"]
        name = using.alias_or_name.lower()
        if name in (table.name.lower(), table.alias.lower()):
            self.places.wrong(f"`{name}` is the name of both tables: give one another, with AS", using)
        query = self._translator.query(_with(node, select([sql.Star()], [using], None)), self._names)
        read = self._translator.stored(query, name)
        named = sql.Table(this=sql.to_identifier(name, quoted=True))
        tables = MergedTables(table, source.names, defaults_of(source, self.places), named, query.names)
        return self._returning(self._merged(node, tables, source, read), node, table, source)

    def _merged(
        self, node: sql.Merge, tables: MergedTables, source: NamedRows, read: NamedRows
    ) -> SqlStatement:
        """A MERGE of a relation into a table: rows of the number of what is done, the old row and the new
        one."""
        names = QueryNames({**self.tables, tables.source.name: read})
        stored, width, rows = source.relation.columns, len(source.names), list[Rows]()
        none = [null(each.type) for each in stored]
        for case in merge_cases(node, tables, self.places):
            is_new = case.kind == "insert"
            if not is_new and self._declared[source.relation.name].kind == "multiset":
                what = f"{case.kind.upper()} in a MERGE into a table without a primary key"
                self.places.refuse(what, case.place)
            for branch in self._translator.query(case.query, names).branches:
                old = [] if is_new else list(branch.values[:width])
                given = dict(zip(case.names, branch.values[len(old) :], strict=True))
                kept = dict(zip(source.names, old, strict=False))
                new = none if case.kind == "delete" else self._row(source, given, kept, case.place)
                rows.append((branch.body, [read_number(str(MERGED.index(case.kind))), *(old or none), *new]))
        answer = self._answer((SqlColumn("action", "action", INTEGER, False), *stored, *stored), rows)
        return SqlStatement("merge", relation=source.relation.name, answer=answer)

    def _returning(
        self, made: SqlStatement, node: Expression, table: Expression, source: NamedRows
    ) -> SqlStatement:
        """The statement with its RETURNING."""
        returning = node.args.get("returning")
        if returning is None:
            return made
        changed, returned = self._fresh("Changed"), self._fresh("Returned")
        rows = SqlRelation(changed, source.relation.columns)
        fields = SqlRelation(changed, tuple(replace(c, read="") for c in rows.columns))
        self.output.declare("input multiset", fields, changed)
        named = {**self.tables, qualified(table): NamedRows(fields, source.names)}
        answer = select(returning.expressions, [table], None)
        query = self._translator.query(answer, QueryNames(named))
        self._write(returned.lower(), returned, self._translator.unified(query), given_names(answer))
        return replace(made, changed=changed, returned=returned)

    # ------------------------------------------------------------------- their parts

    def _give(self, node: Expression) -> None:
        """Declares a relation for each parameter with a type."""
        for each in node.find_all(sql.Placeholder):
            type, name = type_of_value(value_of(each, self.parameters, self.places)), str(each.this)
            if type is not None and name not in self.given:
                self.given[name] = self._fresh(f"Given{name}")
                column = SqlColumn("value", "value", type, False, True)
                relation = SqlRelation(self.given[name], (column,))
                self.output.declare("input multiset", relation, relation.name)
                self.tables[f"${name}"] = NamedRows(relation, ("value",))

    @property
    def _translator(self) -> Translator:
        return Translator(self.places, self.output, None)

    @property
    def _names(self) -> QueryNames:
        return QueryNames(self.tables)

    def _answer(self, columns: Sequence[SqlColumn], rows: Sequence[Rows]) -> str:
        """The name of a relation of rows, whose columns are like those of a table, and NULL where values can
        be."""
        made = []
        for at, column in enumerate(columns):
            nullable = column.nullable or any(values[at].nullable for _, values in rows)
            made.append(SqlColumn(f"c{at}", f"c{at}", column.type, nullable, True))
        answer = SqlRelation(self._fresh("Rows"), tuple(made))
        self.output.declare("output multiset", answer, answer.name)
        for body, values in rows:
            row = (v.optional() if c.nullable else v for v, c in zip(values, made, strict=True))
            self.output.rule(answer, [outside(each) for each in row], body)
        return answer.name

    def _target(self, table: Expression) -> NamedRows:
        """The table that a statement changes. Raises SqlError."""
        name = qualified(table)
        relation = self.relations.get(name)
        declared = None if relation is None else self._declared[relation]
        if declared is None:
            raise SqlError(unknown_name("table", name, self.tables, self.places.of(table)))
        if declared.role != "input":
            inputs = tuple(each.name for each in self._declared.values() if each.role == "input")
            raise SqlError(NotAnInput(name, declared.role, inputs, span=self.places.of(table)))
        source = self.tables[name]
        known = {each.field for each in source.relation.columns if "::" not in each.read}
        lacking = next((each for each in declared.columns if each.name not in known), None)
        if lacking is not None:
            why = f"its column `{lacking.name}` has the type {lacking.type}, which SQL does not write"
            self.places.refuse(f"a statement that changes `{name}`", table, why)
        return source

    def _column_of(self, source: NamedRows, name: str, node: Expression) -> None:
        if name not in source.names:
            raise SqlError(unknown_name("column", name, source.names, self.places.of(node)))

    def _fresh(self, hint: str) -> str:
        """A name that no relation has."""
        made = hint
        while made.lower() in (each.lower() for each in (*self._declared, *self.relations.values())):
            made += "_"
        self.relations[f"${made}"] = made
        return made


def _with_span(query: SqlQuery, place: int) -> SqlQuery:
    """The query with one more column, the length of an interval."""
    longer = (replace(each, values=(*each.values, span(each.values[place - 1]))) for each in query.branches)
    return replace(query, names=(*query.names, f"order__{len(query.names)}"), branches=tuple(longer))


def _with(node: Expression, select: sql.Select) -> sql.Select:
    """The SELECT with the WITH of a statement."""
    if node.args.get("with_") is not None:
        select.set("with_", node.args["with_"])
    return select


def _settings(node: Expression) -> list[Expression]:
    """`(x, y) = (1, 2)` of an UPDATE as one setting for each column; any other one as it is."""
    columns, values = node.this, node.args.get("expression")
    if not (isinstance(columns, sql.Tuple) and isinstance(values, sql.Tuple)):
        return [node]
    if len(columns.expressions) != len(values.expressions):
        return [node]
    pairs = zip(columns.expressions, values.expressions, strict=True)
    return [sql.EQ(this=column, expression=value) for column, value in pairs]
