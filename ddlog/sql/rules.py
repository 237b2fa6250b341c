"""Rules in the making: the clauses of a body, and the relations and rules of a module.

A body knows which of its variables are used only when its rule is written: terms then name the columns that
something reads, and definitions that nothing reads are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from .. import syntax as ast
from ..errors.origins import MadeRelation, SqlMeaning, SqlPlace
from ..errors.source import Span
from ..syntax.templates import NOWHERE, arguments, atom, items, let, name, placed, string, tree, written_type
from .fieldnames import titled
from .types import SqlType, SqlValue, variables_in

_ATTRIBUTES = tuple(ast.Attribute(each, None, NOWHERE) for each in ("distinct", "product"))  # of each rule


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """A column of a relation. `name` is that of SQL, `field` that of the relation; `wrapped`: the relation
    has the type of a table, and not the plain one. `read` is a template of the plain value of one of another
    type. `title` is its name in files, if it is not the field's. An INSERT that does not name the column
    gives it the `default`, the text of an expression, or NULL."""

    name: str
    field: str
    type: SqlType
    nullable: bool
    wrapped: bool = False
    read: str = ""
    title: str = ""
    default: str = ""

    @property
    def written(self) -> str:
        """The type of the relation's column."""
        of = self.type.outside if self.wrapped else self.type.plain
        return f"Option<{of}>" if self.nullable else of


@dataclass(frozen=True, slots=True)
class SqlRelation:
    """A relation that rules can read. Without duplicates it is a set."""

    name: str
    columns: tuple[SqlColumn, ...]


@dataclass(frozen=True, slots=True)
class NamedRows:
    """A table, a view, or a query with a name, that is a relation: after the columns of its domain,
    `names`."""

    relation: SqlRelation
    names: tuple[str, ...]
    domain: tuple[SqlValue, ...] = ()


@dataclass(frozen=True, slots=True)
class SqlTerm:
    """A term: the variables of a relation's columns, or `true` for the only column of one without. `said`:
    what this and other clauses say in SQL; empty, if nothing."""

    relation: SqlRelation
    variables: tuple[str, ...]
    negated: bool = False
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SqlLet:
    """A variable that a value defines."""

    variable: str
    value: ast.Expr
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SqlGuard:
    """A condition."""

    test: ast.Expr
    said: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SqlClause:
    """A clause that always stays, such as a grouping. `members`: the variables by which rows of the group are
    known."""

    expr: ast.Expr
    said: str = field(default="", compare=False)
    members: tuple[str, ...] = ()


def grouped(
    group: SqlValue, row: ast.Expr, keys: Iterable[SqlValue], said: str = "", members: Iterable[SqlValue] = ()
) -> SqlClause:
    """The clause that makes groups of rows by keys."""
    by = items(*dict.fromkeys(v.tree for v in keys))
    made = let(group.name, tree("$.group_all_by($)", row, by))
    return SqlClause(made, said, tuple(dict.fromkeys(v.name for v in members)))


Item: TypeAlias = SqlTerm | SqlLet | SqlGuard | SqlClause


@dataclass
class SqlBody:
    """The clauses of a rule. `domain` are the variables that every relation made of it keeps, first: the
    columns of outer queries on which a correlated subquery depends."""

    items: list[Item] = field(default_factory=list)
    domain: tuple[SqlValue, ...] = ()

    def copy(self) -> SqlBody:
        """Another body with the same clauses."""
        return SqlBody(list(self.items), self.domain)

    def add(self, *items: Item) -> None:
        """Adds clauses; a term that is there already is not added again."""
        for each in items:
            if not (isinstance(each, SqlTerm) and each in self.items):
                self.items.append(each)

    @property
    def is_plain(self) -> bool:
        """Whether the body can be a part of another: nothing in it hides variables."""
        return not any(isinstance(each, SqlClause) for each in self.items)

    @property
    def read(self) -> set[str]:
        """The variables that the clauses mention."""
        found: set[str] = set()
        for item in self.items:
            match item:
                case SqlTerm(_, variables):
                    found.update(variables)
                case SqlLet(_, expr) | SqlGuard(expr) | SqlClause(expr):
                    found.update(variables_in(expr))
        return found

    @property
    def bound(self) -> set[str]:
        """The variables that the clauses bind."""
        found: set[str] = set()
        for item in self.items:
            match item:
                case SqlTerm(_, variables, False):
                    found.update(variables)
                case SqlLet(variable):
                    found.add(variable)
                case SqlClause(expr):
                    found.update(variables_in(expr))
        return found


@dataclass(frozen=True, slots=True)
class SqlRule:
    """A rule: its relation, the values of a row, the clauses, and the place that it comes from."""

    relation: SqlRelation
    row: tuple[ast.Expr, ...]
    items: tuple[Item, ...]
    place: Span

    def row_of(self, read: Mapping[str, Sequence[int]]) -> tuple[ast.Expr, ...]:
        """The values of the columns that something reads."""
        kept = read.get(self.relation.name)
        return self.row if kept is None else tuple(self.row[at] for at in kept)

    def live(self, read: Mapping[str, Sequence[int]]) -> tuple[list[Item], set[str]]:
        """The clauses that the rule needs for these values, and the variables that are used."""
        return _live(self.items, self.row_of(read))


def columns_read(rules: Sequence[SqlRule], bags: Iterable[str]) -> dict[str, list[int]]:
    """The columns of some bags that rules read, at least one of each. Rows that differ in others alone are
    summed up: a join of n tables, of which a projection is read, would have 2^n rows where that has two."""
    terms = {each.relation.name for rule in rules for each in rule.items if isinstance(each, SqlTerm)}
    read: dict[str, set[int]] = {name: set() for name in bags if name in terms}
    pending = list(range(len(rules)))
    while pending:
        before = {name: len(kept) for name, kept in read.items()}
        for at in reversed(pending):
            own = rules[at].relation.name
            live, used = rules[at].live({own: sorted(read[own])} if own in read else {})
            for term in live:
                if isinstance(term, SqlTerm) and term.relation.name in read:
                    columns = {i for i, v in enumerate(term.variables) if v in used}
                    read[term.relation.name] |= columns or read[term.relation.name] or {0}
        more = {name for name, kept in read.items() if len(kept) > before[name]}
        pending = [at for at, rule in enumerate(rules) if rule.relation.name in more]
    return {name: sorted(kept) for name, kept in read.items()}


def _live(items: Iterable[Item], row: tuple[ast.Expr, ...]) -> tuple[list[Item], set[str]]:
    """The clauses that a rule for this row needs, and the variables that are used."""
    items = list(items)
    bound: dict[str, int] = {}  # in how many clauses
    for item in items:
        names = (
            set(item.variables)
            if isinstance(item, SqlTerm)
            else {item.variable}
            if isinstance(item, SqlLet)
            else ()
        )
        for each in names:
            bound[each] = bound.get(each, 0) + 1
    used = {name for name, count in bound.items() if count > 1} | set(variables_in(row))
    live = list[Item]()
    for item in reversed(items):
        match item:
            case SqlLet(variable, expr):
                if variable not in used:
                    continue
                used.update(variables_in(expr))
            case SqlGuard(expr) | SqlClause(expr):
                used.update(variables_in(expr))
        live.append(item)
    live.reverse()
    return live, used


class SqlOutput:
    """The declarations and rules of a module, what they say in SQL, and the names that are taken."""

    def __init__(self) -> None:
        self.declarations: list[ast.RelationDecl] = []
        self.clock: Span | None = None  # where the module reads the clock first
        self.is_statement = False  # which has no clock and no windows of its own
        self.is_recursive = False  # whether the recursive part of a query is translated, which has no windows
        self._applied: list[ast.ApplyDecl] = []
        self._rules: list[SqlRule] = []
        self.place: Span = NOWHERE  # that of the statement or the query which is being translated
        self.relations: dict[str, MadeRelation] = {}
        self.written: dict[str, SqlMeaning] = {}  # what variables stand for
        self.tables: dict[str, object] = {}  # the tables and views that are declared, by their relations
        self.types: dict[str, SqlValue] = {}  # of variables
        self._count = 0  # of names
        self._taken = set[str]()
        self._places = 0

    def mark(self) -> tuple[int, ...]:
        """The present state, for `back`."""
        return len(self.declarations), len(self._rules), len(self._applied)

    def back(self, mark: tuple[int, ...]) -> None:
        """Forgets what was written since."""
        del self.declarations[mark[0] :], self._rules[mark[1] :], self._applied[mark[2] :]

    @contextmanager
    def at(self, place: Span | None) -> Iterator[None]:
        """Inside, a query is translated that stands there."""
        outer, self.place = self.place, place or self.place
        try:
            yield
        finally:
            self.place = outer

    def say(self, value: SqlValue, text: str, table: str | None = None) -> SqlValue:
        """Notes what a variable stands for, if that is not known: an expression, or a column of a table."""
        if value.name in self.types and value.name not in self.written:
            wrapper = self.types[value.name].type.wrapper
            self.written[value.name] = SqlMeaning(text, table or "", table is not None, wrapper)
        return value

    def like(self, value: SqlValue, other: SqlValue) -> SqlValue:
        """A variable that stands for what another one stands for."""
        if other.name in self.written:
            self.written.setdefault(value.name, self.written[other.name])
        return value

    def said(self, values: Iterable[SqlValue]) -> str:
        """The values that variables stand for, one after another."""
        known = (self.written.get(v.name) for v in values)
        return ", ".join(dict.fromkeys(each.text for each in known if each is not None))

    def variable(self, type: SqlType, nullable: bool) -> SqlValue:
        """A new variable."""
        self._count += 1
        value = SqlValue(name(f"v{self._count}"), type, nullable)
        self.types[value.name] = value
        return value

    def leave_names(self, taken: Iterable[str]) -> None:
        """Makes no names that are taken."""
        self._taken.update(taken)

    def new_name(self, hint: str) -> str:
        """A new name for a relation that no table or view has."""
        while (made := f"{hint}__{self._count + 1}") in self._taken:
            self._count += 1
        self._count += 1
        return made

    def declare(
        self, kind: str, relation: SqlRelation, original: str = "", key: ast.Expr | None = None
    ) -> None:
        """Declares a relation; `kind` is what stands before its name, `original` the name of its table or
        view, `key` the primary key of a row `x`."""
        role, kind = kind.split() if " " in kind else ("internal", kind)
        fields = tuple(
            ast.Field(
                c.field, written_type(c.written), titled(c.field, c.title, c.type.kind == "json"), NOWHERE
            )
            for c in relation.columns
        )
        said, value = ("original", string(original)) if original else ("made", None)
        primary = None if key is None else ast.PrimaryKey("x", key, NOWHERE)
        made = ast.RelationDecl(
            relation.name,
            role,
            kind,
            False,
            fields,
            None,
            primary,
            (ast.Attribute(said, value, NOWHERE),),
            NOWHERE,
            NOWHERE,
        )
        self.declarations.append(placed(made, self._derived(self.place)))

    def rule(
        self, relation: SqlRelation, values: Sequence[SqlValue], body: SqlBody, place: Span | None = None
    ) -> None:
        """Writes a rule for rows of these values, which comes from a place."""
        row = tuple(v.tree for v in values) or (tree("true"),)
        self._rules.append(SqlRule(relation, row, tuple(body.items), place or self.place))

    def apply(self, transformer: str, inputs: tuple[str | ast.Expr, ...], made: SqlRelation) -> None:
        """Makes a relation the output of a transformer."""
        self._applied.append(ast.ApplyDecl(transformer, inputs, (made.name,), (), self._derived(self.place)))

    def written_all(self) -> Iterator[ast.RelationDecl | ast.RuleDecl | ast.ApplyDecl]:
        """The declarations and the rules, without the columns of bags that no rule reads."""
        bags = [each.name for each in self.declarations if self._is_passed(each)]
        read = columns_read(self._rules, bags)
        for bag, kept in read.items():
            made = self.relations[bag]
            self.relations[bag] = replace(made, columns=tuple(made.columns[at] for at in kept))
        for each in self.declarations:
            fields = each.fields or ()
            yield replace(each, fields=tuple(fields[at] for at in read.get(each.name, range(len(fields)))))
        yield from self._applied
        for rule in self._rules:
            yield self._written(rule, read)

    def _is_passed(self, declared: ast.RelationDecl) -> bool:
        """Whether a relation is a bag that users do not see."""
        made = self.relations.get(declared.name)
        return declared.kind == "multiset" and made is not None and made.passed

    def _written(self, rule: SqlRule, read: Mapping[str, Sequence[int]]) -> ast.RuleDecl:
        whole = self._derived(rule.place)
        row, (live, used) = rule.row_of(read), rule.live(read)
        return ast.RuleDecl(
            (placed(atom(rule.relation.name, arguments(row)), whole),),
            tuple(placed(_clause(each, used, read), self._derived(rule.place, each)) for each in live),
            placed(_ATTRIBUTES, whole),
            whole,
        )

    def _derived(self, place: Span, item: Item | None = None) -> SqlPlace:
        """A place of its own for what comes from a place."""
        self._places += 1
        stretch = place.source, place.line, place.column, place.end_line, place.end_column
        if item is None:
            return SqlPlace(*stretch, self._places)
        variable = item.variable if isinstance(item, SqlLet) else ""
        return SqlPlace(*stretch, self._places, item.said, variable, getattr(item, "members", ()))

    def relation(
        self,
        hint: str,
        values: Sequence[SqlValue],
        *,
        is_set: bool,
        words: str = "",
        names: Sequence[str] = (),
    ) -> SqlRelation:
        """A new relation with columns for values. `words` say what its rows are, if users are to see them;
        the last columns have `names`."""
        columns = tuple(SqlColumn(f"c{i}", f"c{i}", v.type, v.nullable) for i, v in enumerate(values))
        made = SqlRelation(self.new_name(hint), columns or (SqlColumn("one", "one", _BOOLEAN, False),))
        self.declare("relation" if is_set else "multiset", made)
        known = [self._column(v) for v in values] or [None]
        for at, shown in enumerate(names, len(values) - len(names)):
            known[at] = SqlMeaning(shown, "", True, values[at].type.wrapper)
        self.relations[made.name] = MadeRelation(
            words or "rows in between", tuple(known), not words, hint == "Domain"
        )
        return made

    def _column(self, value: SqlValue) -> SqlMeaning | None:
        found = self.written.get(value.name)
        return found or (SqlMeaning("", "", False, value.type.wrapper) if value.type.wrapper else None)

    def made(
        self, hint: str, values: Sequence[SqlValue], body: SqlBody, *, is_set: bool, words: str = ""
    ) -> SqlRelation:
        """A new relation with the values of a body."""
        relation = self.relation(hint, values, is_set=is_set, words=words)
        self.rule(relation, values, body)
        return relation

    def term(
        self, relation: SqlRelation, values: Sequence[SqlValue], negated: bool = False, said: str = ""
    ) -> SqlTerm:
        """A term whose columns are the variables of these values, which are variables."""
        return SqlTerm(relation, tuple(v.name for v in values) or ("true",), negated, said)


_BOOLEAN = SqlType("boolean")


def _clause(item: Item, used: set[str], read: Mapping[str, Sequence[int]]) -> ast.Clause:
    match item:
        case SqlTerm(relation, variables, negated):
            first = relation.columns[read.get(relation.name, (0,))[0]]
            args = [
                ast.Argument(column.field, _pattern(column, variable), NOWHERE)
                for column, variable in zip(relation.columns, variables, strict=True)
                if variable in used or variable == "true"
            ] or [ast.Argument(first.field, ast.Wildcard(NOWHERE), NOWHERE)]
            return atom(relation.name, tuple(args), negated=negated)
        case SqlLet(variable, value):
            return ast.Condition(let(variable, value), NOWHERE)
        case SqlGuard(expr) | SqlClause(expr):
            return ast.Condition(expr, NOWHERE)


def _pattern(column: SqlColumn, variable: str) -> ast.Expr:
    """The pattern that binds a column's plain value, or for an optional one the whole."""
    bound = tree("true") if variable == "true" else name(variable)
    if column.wrapped and not column.nullable and column.type.wrapper and not column.read:
        return tree(f"{column.type.wrapper}{{$}}", bound)
    return bound
