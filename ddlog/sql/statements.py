"""Statements: CREATE TABLE, CREATE VIEW and INSERT of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import expressions as sql

from .. import syntax
from ..core import Relation
from ..errors import sql as errors
from ..errors.diagnostics import Diagnostic, counted
from ..errors.source import Span
from ..errors.unknown import UnknownName
from ..syntax.templates import items, tree
from . import conversions as c
from .attach import attached, known_table, modules_of
from .clock import write_clock
from .constraints import Constraint, constrained, write_constraint
from .defaults import defaults_of, read, write_defaults
from .fieldnames import field_names
from .literals import readable
from .merge import select
from .moments import NAME as CLOCK
from .moments import reads_clock
from .places import SqlError, SqlPlaces
from .queries import QueryNames, SqlQuery, Translator, qualified
from .rules import NamedRows, SqlColumn, SqlOutput, SqlRelation
from .scalars import type_of
from .types import NULL, SqlValue, null

if TYPE_CHECKING:
    from sqlglot import Token
    from sqlglot.expressions import Expr as Expression


class ModuleTranslation:
    """The statements of a module, translated one after another."""

    def __init__(self, places: SqlPlaces, output: SqlOutput) -> None:
        self.places, self.output = places, output
        self.tables: dict[str, NamedRows] = {}
        self.relations: dict[str, str] = {}
        self.inputs: set[str] = set()
        self.constraints: list[Constraint] = []
        self.primary: dict[str, tuple[str, ...]] = {}  # the keys of tables
        self.broken: set[str] = set()  # names of tables and views that have errors
        self.written: dict[str, str] = {}  # names in small letters, as they stand in quotation marks
        self.is_first = True  # whether no statement has been translated
        self.imports = ["sql", "group", *places.dialect.modules]

    def reading(self, tokens: list[Token]) -> list[Token]:
        """The tokens of the text, as the parser is to read them."""
        return tokens

    def tree(self, whole: Span) -> syntax.Module:
        """The module, which stands at a place."""
        if self.output.clock is not None:
            write_clock(self.output)
        made = list(self.output.written_all())
        if any(isinstance(each, syntax.ApplyDecl) for each in made):
            self.imports.append("window")
        imports = (syntax.ImportDecl(each, None, whole) for each in dict.fromkeys(self.imports))
        return syntax.Module((*imports, *made), whole)

    def know_all(self, relations: Mapping[str, Relation]) -> None:
        """Takes the relations of a program as tables, and makes no names that they have."""
        self.output.leave_names(relations)
        for each in readable(relations):
            name = each.source_name.lower()
            self.tables[name] = made = known_table(each)
            self.imports += modules_of(made)
            self.relations[name] = each.name
            for column in made.relation.columns:
                if column.title not in ("", column.name):
                    self.written.setdefault(column.name, column.title)

    def add(self, node: Expression) -> None:
        """Translates a statement. Raises SqlError."""
        is_first, self.is_first = self.is_first, False
        self.note_written(node)
        match node:
            case sql.Create(kind="TABLE") if isinstance(node.this, sql.Schema) and node.expression is None:
                self._table(node)
            case sql.Create(kind="VIEW" | "TABLE") if node.kind == "VIEW" or node.expression is not None:
                self._view(node)
            case sql.Insert():
                self._insert(node)
            case sql.Attach():
                found = attached(node, self.places)
                self.imports += found.modules
                self.tables |= found.tables
            case sql.Command() if str(node.this).upper() in ("CREATE", "INSERT"):
                self.places.wrong("this statement is not understood", node)
            case sql.Set() if not self.places.dialect.is_ansi:
                self._set(node, is_first)
            case sql.Semicolon():
                return
            case sql.Create() if node.kind == "SCHEMA":
                return  # a name before those of tables, and nothing else
            case sql.Create() if node.kind == "INDEX" and not node.args.get("unique"):
                self._check_index(node.this)
            case sql.Drop() if node.args.get("exists") and not self._there(node):
                return
            case _:
                words = self.places.written(node).split()
                kind = " ".join(words[:2] if isinstance(node, sql.Create) else words[:1])
                self.places.refuse(f"the statement {kind or 'here'}", node)

    def _check_index(self, index: Expression) -> None:
        """Reads the table and the columns of an index, which has no other effect. Raises SqlError."""
        parts, mark = index.args.get("params"), self.output.mark()
        listed, where = ((parts and parts.args.get(key)) for key in ("columns", "where"))
        query = select(
            [each.this for each in listed or ()] or [sql.Star()], [index.args["table"]], where and where.this
        )
        Translator(self.places, self.output, None).query(query, QueryNames(self.tables))
        self.output.back(mark)

    def _there(self, node: sql.Drop) -> bool:
        """True if a table or a view that a DROP names is declared before it."""
        return any(qualified(each) in self.tables for each in node.find_all(sql.Table))

    def _set(self, node: sql.Set, is_first: bool) -> None:
        """SET TimeZone, which decides how all that follows is translated. Raises SqlError."""
        (item, *more) = node.expressions
        if more or not isinstance(item.this, sql.EQ) or item.this.this.name.lower() != "timezone":
            self.places.refuse("the setting", node, "there is SET TimeZone = 'Europe/Berlin' alone")
        if not is_first or self.relations:
            self.places.wrong("SET TimeZone stands before all other statements", node)
        c.zone_called(item.this.expression.name)

    def note_written(self, node: Expression) -> None:
        """Notes the names of columns that a statement has in quotation marks."""
        for each in node.find_all(sql.Identifier):
            if each.quoted and not _names_no_column(each):
                self.written.setdefault(each.name.lower(), each.name)

    def _titles(self, names: Sequence[str], given: Sequence[Expression] = ()) -> list[str]:
        """The names of columns in files: as those that are `given` to them stand in quotation marks, and
        others first do. Of a name that several columns have, there are none."""
        own = {each.name.lower(): each.name for each in given if each.args.get("quoted")}
        written = self.written | own
        return ["" if names.count(name) > 1 else written.get(name, name) for name in names]

    def _name(self, node: Expression, what: str) -> tuple[str, str]:
        """The name of a table or a view, and of its relation."""
        table = node.this if isinstance(node, sql.Schema) else node
        name = qualified(table)
        if name in self.tables:
            raise SqlError(errors.TwiceInSql(what=what, name=name, span=self.places.of(table)))
        kept = "".join(e if e.isascii() and (e.isalnum() or e == "_") else "_" for e in name)
        relation = kept[0].upper() + kept[1:] if kept[0].isalpha() else f"T{kept}"
        relation = f"{relation}_" if relation in ("Some", "None") else relation  # constructors in rules
        if relation in self.relations.values() or (relation == "Now" and self.output.clock is not None):
            raise SqlError(errors.TwiceInSql(what="the relation", name=relation, span=self.places.of(table)))
        return name, relation

    # ------------------------------------------------------------------- tables

    def _table(self, node: sql.Create) -> None:
        name, relation = self._name(node.this, "table")
        columns, keys = list[SqlColumn](), list[list[str]]()
        rules: list[Expression] = []
        for part in node.this.expressions:
            each = part.expressions[0] if isinstance(part, sql.Constraint) and part.expressions else part
            match each:
                case sql.ColumnDef():
                    column, is_key = self._column(each)
                    if column.name in (c.name for c in columns):
                        raise SqlError(
                            errors.TwiceInSql(what="column", name=column.name, span=self.places.of(each))
                        )
                    columns.append(column)
                    keys += [[column.name]] if is_key else []
                case sql.PrimaryKey():
                    keys.append([part.name.lower() for part in each.expressions])
                case sql.ForeignKey() | sql.UniqueColumnConstraint() | sql.CheckColumnConstraint():
                    rules.append(each)
                case _:
                    self.places.refuse(f"the constraint {self.places.written(each)[:40]}", each)
        if len(keys) > 1:
            self.places.wrong("a table has one primary key: write PRIMARY KEY (a, b)", node.this)
        names, key = [column.name for column in columns], keys[0] if keys else []
        for part in key:
            if part not in names:
                self.places.wrong(f"the primary key has no column `{part}`", node.this)
        for rule in rules:
            self._constrain(node.this.this, names, rule)
        for definition in node.this.expressions:
            for each in definition.args.get("constraints") or ():
                self._constrain(node.this.this, names, each.kind, definition.name.lower())
        self.primary[name] = tuple(key)
        columns = [
            replace(column, field=field, nullable=column.nullable and column.name not in key, title=title)
            for column, field, title in zip(columns, field_names(names), self._titles(names), strict=True)
        ]
        made = SqlRelation(relation, tuple(columns))
        fields = {x.name: x.field for x in columns}
        parts = items(*(tree(f"x.{fields[part]}") for part in key))
        kind = "input relation" if key else "input multiset"
        self.output.declare(kind, made, name, parts if key else None)
        self._know(name, made, tuple(names))
        self.inputs.add(name)

    def _column(self, node: sql.ColumnDef) -> tuple[SqlColumn, bool]:
        if node.args.get("kind") is None:
            self.places.wrong(f"column `{node.name}` has no type", node)
        type, nullable, key = type_of(node.args["kind"], self.places), True, False
        default = ""
        for each in node.args.get("constraints") or ():
            match each.kind:
                case sql.NotNullColumnConstraint():
                    nullable = bool(each.kind.args.get("allow_null"))
                case sql.PrimaryKeyColumnConstraint():
                    nullable, key = False, True
                case sql.Reference() | sql.ForeignKey() | sql.UniqueColumnConstraint():
                    pass  # a constraint of the table
                case sql.CheckColumnConstraint():
                    pass
                case sql.DefaultColumnConstraint() if reads_clock(each.kind.this):
                    why = "name the column in each INSERT, and give the moment"
                    self.places.refuse(f"{self.places.written(each)[:40]}, which reads the clock,", each, why)
                case sql.DefaultColumnConstraint() if each.kind.this.find(sql.Query):
                    self.places.refuse("a DEFAULT with a query", each)
                case sql.DefaultColumnConstraint():
                    column = SqlColumn(node.name.lower(), "", type, nullable, True)
                    self.brought(self._constant(each.kind.this.copy()), column, node)
                    default = self.places.written(each.kind.this)
                    if read(default, self.places) != each.kind.this:
                        self.places.refuse(self.places.written(each)[:40], each)
                case _:
                    self.places.refuse(f"the constraint {self.places.written(each)[:40]}", node)
        return SqlColumn(node.name.lower(), "", type, nullable, True, default=default), key

    def default(self, column: SqlColumn) -> SqlValue:
        """The value of a column in a new row without one: its DEFAULT, or NULL. Raises SqlError."""
        return self._constant(read(column.default, self.places)) if column.default else null(NULL)

    def _constant(self, node: Expression) -> SqlValue:
        """The value of an expression of no columns. Raises SqlError."""
        rows = sql.Values(expressions=[node])
        (branch,) = Translator(self.places, self.output, None).rows_of(rows, QueryNames({}), None).branches
        return branch.values[0]

    def _constrain(self, table: Expression, names: list[str], node: Expression, column: str = "") -> None:
        """Notes a constraint of a table, or of a column of it."""
        to: Expression | None = None
        test: Expression | None = None
        to_columns: tuple[str, ...] = ()
        match node:
            case sql.UniqueColumnConstraint():
                columns = (column,) if column else constrained(node.this.expressions)
            case sql.CheckColumnConstraint():
                columns, test = tuple(names), node.this
            case sql.ForeignKey() | sql.Reference():
                columns = (column,) if column else constrained(node.expressions)
                reference = node.args.get("reference") or node
                to = reference.this.this if isinstance(reference.this, sql.Schema) else reference.this
                to_columns = constrained(reference.this.expressions) if to is not reference.this else ()
            case _:
                return
        for each in columns:
            if each not in names:
                self.places.wrong(f"the constraint has no column `{each}`", node)
        self.constraints.append(Constraint(table, columns, node, to, to_columns, test))

    def finished(self) -> list[Diagnostic]:
        """Writes the constraints, which may refer to tables that come later; returns their errors."""
        found = list[Diagnostic]()
        for each in self.constraints:
            try:
                self._write_constraint(each)
            except SqlError as error:
                found.append(error.diagnostic)
        return found

    def _write_constraint(self, made: Constraint) -> None:
        if qualified(made.table) in self.broken or (
            made.to is not None and qualified(made.to) in self.broken
        ):
            return
        if made.to is not None:
            name = qualified(made.to)
            if name not in self.tables:
                raise SqlError(UnknownName(what="table", name=name, span=self.places.of(made.to)))
            made = replace(made, to_columns=made.to_columns or self.primary.get(name, ()))
            if len(made.to_columns) != len(made.columns):
                self.places.wrong(
                    f"{counted(len(made.columns), 'column')} cannot refer to "
                    f"{counted(len(made.to_columns), 'column')} of `{name}`",
                    made.to,
                )
        translator = Translator(self.places, self.output, None)
        write_constraint(made, translator, self.output, QueryNames(self.tables))

    def _know(self, name: str, relation: SqlRelation, names: tuple[str, ...]) -> None:
        self.tables[name] = self.output.tables[relation.name] = NamedRows(relation, names)
        self.relations[name] = relation.name

    # -------------------------------------------------------------------- views

    def _view(self, node: sql.Create) -> None:
        name, relation = self._name(node.this, "view")
        if node.kind == "TABLE":
            self.places.refuse("CREATE TABLE AS", node.this, "a table is an input; CREATE VIEW is kept up")
        if node.expression is None:
            self.places.wrong("a view needs a query", node.this)
        names = (
            [each.name.lower() for each in node.this.expressions] if isinstance(node.this, sql.Schema) else []
        )
        translator = Translator(self.places, self.output, _used(node.expression))
        mark = self.output.mark()
        try:
            query = translator.query(node.expression, QueryNames(self.tables))
            if names:
                query = translator.renamed(query, names, node.this)
            given = node.this.expressions if names else given_names(node.expression)
            self._write(name, relation, translator.unified(query), given)
        except SqlError:
            self.output.back(mark)
            raise

    def _write(self, name: str, relation: str, query: SqlQuery, given: Sequence[Expression] = ()) -> None:
        values = query.branches[0].values
        titles, fields = self._titles(query.names, given), field_names(query.names)
        columns = tuple(
            SqlColumn(name, field, value.type, value.nullable, True, title=title)
            for name, field, value, title in zip(query.names, fields, values, titles, strict=True)
        )
        made = SqlRelation(relation, columns)
        self.output.declare("output relation" if query.is_set else "output multiset", made, name)
        for branch in query.branches:
            self.output.rule(made, [c.outside(v) for v in branch.values], branch.body, branch.place)
        self._know(name, made, query.names)

    # ------------------------------------------------------------------- inserts

    def _insert(self, node: sql.Insert) -> None:
        target = node.this
        table = target.this if isinstance(target, sql.Schema) else target
        name = qualified(table)
        if name == CLOCK and self.output.clock is not None:
            self.places.refuse("a fact that sets the clock", table, "it would stay: set it by an update")
        if name not in self.inputs:
            raise SqlError(UnknownName(what="table", name=name, span=self.places.of(table)))
        if any(map(node.args.get, ("with_", "conflict", "returning", "alternative", "by_name"))):
            what = "WITH, OR, BY NAME, ON CONFLICT or RETURNING of an INSERT in a program"
            self.places.refuse(what, node, "its rows are facts: write a statement of a session")
        source = self.tables[name]
        names = (
            [e.name.lower() for e in target.expressions]
            if isinstance(target, sql.Schema)
            else list(source.names)
        )
        if not isinstance(node.expression, sql.Values):
            self.places.refuse("INSERT of a query", node.expression or node, "a view is kept up")
        translator = Translator(self.places, self.output, None)
        write_defaults(node.expression, names, defaults_of(source, self.places))
        for row in translator.rows_of(node.expression, QueryNames(self.tables), None).branches:
            given = dict(zip(names, row.values, strict=False))
            if len(row.values) != len(names) or not set(names) <= set(source.names):
                self.places.wrong(f"a row of `{name}` has the columns {', '.join(source.names)}", node)
            args = []
            for column in source.relation.columns:
                brought = self.brought(given.get(column.name) or self.default(column), column, node)
                if brought.nullable and not column.nullable:
                    self.places.wrong(f"column `{column.name}` must not be NULL", node)
                args.append(c.outside(brought.optional() if column.nullable else brought))
            if row.body.items:
                why = "it is there before the clock has a time: give the moment itself"
                self.places.refuse("a fact that reads the clock", node.expression, why)
            self.output.rule(source.relation, args, row.body)

    def brought(self, value: SqlValue, column: SqlColumn, node: Expression) -> SqlValue:
        """A value as one of the type of a column. Raises SqlError."""
        try:
            is_struct = column.type.kind == "struct"
            cast = self.places.dialect.cast if is_struct else c.cast
            made = cast(value, column.type, may_fail=False)
        except c.BadLiteral as error:
            self.places.wrong(f"{error}, the type of column `{column.name}`", node)
        if made is None:
            self.places.mistyped(f"column `{column.name}`", str(value.type), node)
        return made


def _used(node: Expression) -> frozenset[str] | None:
    """The names of columns that a statement mentions; None if a `*` or COLUMNS may mention all."""
    stars = (each for each in node.find_all(sql.Star) if not _names_nothing(each))
    joins = (each for each in node.find_all(sql.Join) if each.args.get("method") == "NATURAL")
    chosen = node.find_all(sql.Pivot, sql.Columns)
    if any(True for _ in stars) or any(True for _ in joins) or any(True for _ in chosen):
        return None
    names = {each.name.lower() for each in node.find_all(sql.Column, sql.Identifier)}
    return frozenset(names)


def given_names(query: Expression) -> list[Expression]:
    """The names that the select list of a query gives to columns."""
    query = query.unnest()
    while isinstance(query, sql.SetOperation):
        query = query.this.unnest()
    columns = query.expressions if isinstance(query, sql.Select) else ()
    return [each.args["alias"] for each in columns if isinstance(each, sql.Alias)]


def _names_no_column(name: sql.Identifier) -> bool:
    """Whether an identifier names a table, a query, a window or a constraint, not a column."""
    is_alias = isinstance(name.parent, sql.TableAlias) and name.arg_key == "this"
    is_other = isinstance(name.parent, sql.Table | sql.Window | sql.Constraint)
    return is_alias or is_other or name.arg_key in ("table", "db", "catalog")


def _names_nothing(star: Expression) -> bool:
    """Whether a `*` is that of COUNT or of an EXISTS."""
    select = star.parent
    return isinstance(select, sql.Count) or (
        isinstance(select, sql.Select) and isinstance(select.parent, sql.Exists)
    )
