"""Records as columns: a program over records becomes one over their fields, before it is lowered.

A column of a record becomes the columns of its layout (`ddlog.values.layouts`), a variable that a term binds
to a record one variable for each of these. `GetField` of such a variable is a variable, so a pattern in a
term is a join like any other:

    Path(a, c) :- Edge(Id{a, n}, Id{b, m}), Edge(Id{b, m}, Id{c, _}).
    Path(a, c) :- Edge(a, n, b, m), Edge(b, m, c, _).

A variable that an expression defines stays one value until a term, a key of a group or a head needs its
fields. Where an expression needs the record of a variable that lies in columns, it is made there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain

from .. import core
from ..core import CheckedProgram, CheckedQuery, Clause, Expr, Head, Relation, Rule, Var
from ..core.expressions import matched, matches
from ..core.walk import mentions, transform
from ..errors.source import Span
from ..types import Bool, Tuple, Type, User
from ..values.layouts import Layouts, RecordField
from .aggregates import key_of
from .rulebody import conjuncts


def in_columns(program: CheckedProgram) -> CheckedProgram:
    """The program with the fields of records as columns and variables."""
    return Splitting(program).whole(program)


def query_in_columns(program: CheckedProgram, query: CheckedQuery) -> tuple[CheckedProgram, CheckedQuery]:
    """A program and a query of it over the fields of records. The columns of the answer are its variables."""
    splitting = Splitting(program)
    relations = {name: splitting.relation(each) for name, each in program.relations.items()}
    rule = query.rule
    answer = tuple(Var(each, rule.variables[each], rule.span) for each in query.variables)
    split = splitting.rule(replace(rule, heads=(Head("", answer, rule.span),)))
    (head,) = split.heads
    lets, types, names = list[Clause](), dict(split.variables), list[str]()
    for i, arg in enumerate(head.args):
        name = arg.name if isinstance(arg, Var) else f"$answer{i}"
        names.append(name)
        if not isinstance(arg, Var):
            lets.append(core.Let(name, arg, rule.span))
            types[name] = arg.type
    flat = replace(split, heads=(), body=(*split.body, *lets), variables=types)
    auxiliary = tuple((splitting.relation(made), splitting.rule(each)) for made, each in query.auxiliary)
    return (
        replace(program, relations=relations),
        replace(query, rule=flat, variables=tuple(names), auxiliary=auxiliary),
    )


class Splitting:
    """The records of a program, taken apart; what it has of a program before is the same as there."""

    def __init__(self, program: CheckedProgram, before: Splitting | None = None) -> None:
        self.layouts = Layouts(program.typedefs)
        self._relations = program.relations
        self._whole = {id(head): rule for rule in program.rules for head in rule.heads}
        self._done: dict[int, tuple[Rule, Rule, dict[int, Head]]] = {}
        self._strata: dict[int, tuple[core.Stratum, core.Stratum]] = {}
        self._done_before = {} if before is None else before._done
        self._strata_before = {} if before is None else before._strata

    def whole(self, program: CheckedProgram) -> CheckedProgram:
        """The program over the fields."""
        relations = {name: self.relation(each) for name, each in program.relations.items()}
        rules = tuple(map(self.rule, program.rules))
        strata = tuple(map(self.stratum, program.strata))
        return replace(program, relations=relations, rules=rules, strata=strata)

    def stratum(self, stratum: core.Stratum) -> core.Stratum:
        """The stratum over the fields."""
        found = self._strata_before.get(id(stratum))
        if found is None:
            rules, strata = map(self.rule, stratum.rules), map(self.stratum, stratum.strata)
            found = stratum, replace(stratum, rules=tuple(rules), strata=tuple(strata))
        self._strata[id(stratum)] = found
        return found[1]

    def relation(self, relation: Relation) -> Relation:
        """The relation with a column for each field."""
        columns = tuple(
            core.Column(name, of)
            for column in relation.columns
            for name, of in self.layouts.columns(column.name, column.type)
        )
        return replace(relation, columns=columns)

    def rule(self, rule: Rule) -> Rule:
        """The rule over the fields. Rules of one body, a part of the heads each, keep one body."""
        whole = self._whole.get(id(rule.heads[0]), rule) if rule.heads else rule
        key = id(whole)
        if key in self._done_before:
            self._done[key] = self._done_before[key]
        elif key not in self._done:
            split = _SplitRule(self.layouts, self._relations, whole)
            made = split.rule()
            self._done[key] = whole, made, dict(zip(map(id, whole.heads), made.heads, strict=True))
        _, made, heads = self._done[key]
        if rule is whole:
            return made
        return replace(made, heads=tuple(heads[id(head)] for head in rule.heads))


@dataclass
class _SplitRule:
    """One rule in the making. `split` are the variables that lie in columns, `whole` those that are one
    value; a variable may be both."""

    layouts: Layouts
    relations: Mapping[str, Relation]
    source: Rule
    body: list[Clause] = field(default_factory=list)
    types: dict[str, Type] = field(default_factory=dict)
    split: set[str] = field(default_factory=set)
    whole: set[str] = field(default_factory=set)
    made: int = 0

    def rule(self) -> Rule:
        """The rule over the fields."""
        self.types.update(self.source.variables)
        for clause in self.source.body:
            self.clause(clause)
        heads = tuple(replace(head, args=tuple(self.arguments(head))) for head in self.source.heads)
        return replace(self.source, heads=heads, body=tuple(self.body), variables=self.types)

    def arguments(self, head: Head) -> Iterator[Expr]:
        for arg in head.args:
            expr = self.expr(arg)
            yield from self.leaves(self.reached(expr) if self.source.body else expr)

    def clause(self, clause: Clause) -> None:
        """Adds the clauses over fields that stand for a clause."""
        match clause:
            case core.Atom(_, columns):
                split = [self.columns(clause, i, name) for i, name in enumerate(columns)]
                self.body.append(replace(clause, columns=tuple(chain.from_iterable(split))))
            case core.Let(name, value, span):
                self.define(name, self.expr(value), span)
            case core.Guard(condition):
                for each in conjuncts(condition):
                    self.condition(each, clause.span)
            case core.Unnest(_, value):
                self.unnest(replace(clause, value=self.expr(value)))
            case core.GroupBy():
                self.group(clause)
            case core.Inspect(value):
                self.body.append(replace(clause, value=self.expr(value)))

    def unnest(self, clause: core.Unnest) -> None:
        """Adds the elements of a collection. Elements that are records come whole."""
        name, of = clause.name, self.types[clause.name]
        if name not in self.split and name not in self.whole:
            self.body.append(clause)
            if self.layouts.parts(of) is not None:
                self.whole.add(name)
            return
        element = self.new(of, clause.span)
        self.body.append(replace(clause, name=element.name))
        self.define(name, element, clause.span)

    def define(self, name: str, value: Expr, span: Span) -> None:
        """Adds the definition of a variable; of one that has a value already, a test."""
        if self.layouts.parts(value.type) is None:
            self.body.append(core.Let(name, value, span))
            return
        if name in self.whole:
            self.take_apart(name, value.type, span)
        if name in self.split or self.apart(value):
            variables = self.fields(name, value.type)
            for each, part in zip(variables, self.leaves(self.reached(value)), strict=True):
                self.body.append(core.Let(each, part, span))
        else:
            self.body.append(core.Let(name, value, span))
            self.whole.add(name)

    def condition(self, condition: Expr, span: Span) -> None:
        """Adds a condition: one for each field that it compares."""
        match condition:
            case core.Op("==", (left, right)) if self.layouts.parts(left.type):
                a, b = self.access(left), self.access(right)
                for one, other in ((a, b), (b, a)):
                    if isinstance(one, Var) and self.is_definition(one, other):
                        self.define(one.name, self.expanded(other), span)
                        return
            case core.Match() if found := matched(condition):
                value, pattern = found
                for test in self.tests(pattern, self.access(value), span):
                    self.body.append(core.Guard(test, span))
                return
        for each in conjuncts(self.expr(condition)):
            self.body.append(core.Guard(each, span))

    def is_definition(self, variable: Var, value: Expr) -> bool:
        """Whether an equation of a variable that lies in columns and a value can define its fields."""
        if variable.name not in self.split or self.simple(value):
            return False
        return not any(mentions(value, each) for each in self.fields(variable.name, variable.type))

    def tests(self, pattern: core.Pattern, value: Expr, span: Span) -> Iterator[Expr]:
        """The conditions under which a value matches a pattern without variables."""
        match pattern:
            case core.AnyPattern():
                return
            case core.StructPattern(_, inner, of) | core.TuplePattern(inner, of) if self.layouts.parts(of):
                for one, part in zip(inner, self.parts(value), strict=True):
                    yield from self.tests(one, part, span)
            case core.ConstPattern(constant, of):
                yield core.Op("==", (self.expanded(value), core.Const(constant, of, span)), Bool(), span)
            case _:
                yield matches(self.expanded(value), pattern, span)

    def group(self, clause: core.GroupBy) -> None:
        """Adds a group_by. Its keys are fields; the key as rules see it is made of them."""
        value = self.expr(clause.value)
        keys = list[str]()
        for name in clause.keys:
            if name in self.whole:
                self.take_apart(name, self.types[name], clause.span)
            keys += self.fields(name, self.types[name])
        self.whole.clear()
        self.split &= {each for name in clause.keys for each in self.inside(name)}
        whole = self.expr(key_of(clause.keys, self.types, clause.span))
        split = tuple(keys) != clause.keys
        self.body.append(replace(clause, value=value, keys=tuple(keys), key=whole if split else None))

    # ------------------------------------------------------------- variables

    def columns(self, atom: core.Atom, place: int, name: str | None) -> Sequence[str | None]:
        """The variables of the columns that one column of a term becomes."""
        of = self.relations[atom.relation].columns[place].type
        if name is None:
            return [None] * len(list(self.layouts.columns("", of)))
        if name in self.whole:
            self.take_apart(name, of, atom.span)
        return self.fields(name, of)

    def fields(self, name: str, type: Type) -> list[str]:
        """The variables of the fields of a variable, which lies in columns from now on."""
        if self.layouts.parts(type) is None:
            return [name]
        self.types[name] = type
        self.split.update(self.inside(name))
        found = dict(self.layouts.columns(name, type))
        self.types.update(found)
        return list(found)

    def inside(self, name: str) -> Iterator[str]:
        """A variable, and the records in it, if it lies in columns."""
        of = self.types[name]
        parts = self.layouts.parts(of)
        if parts is not None:
            yield name
            for part in parts:
                self.types[f"{name}.{part.name}"] = part.type
                yield from self.inside(f"{name}.{part.name}")

    def take_apart(self, name: str, type: Type, span: Span) -> None:
        """Defines the fields of a variable that is one value."""
        if name in self.split:
            return
        value = Var(name, type, span)
        leaves = list(self.leaves(value))
        for each, part in zip(self.fields(name, type), leaves, strict=True):
            self.body.append(core.Let(each, part, span))

    def temporary(self, value: Expr) -> Var:
        """A new variable for a record that an expression computes."""
        variable = self.new(value.type, value.span)
        self.body.append(core.Let(variable.name, value, value.span))
        return variable

    def new(self, type: Type, span: Span) -> Var:
        """A new variable that is a record, one value."""
        self.made += 1
        variable = Var(f"$record{self.made}", type, span)
        self.types[variable.name] = type
        self.whole.add(variable.name)
        return variable

    # ----------------------------------------------------------- expressions

    def expr(self, expr: Expr) -> Expr:
        """The expression over the fields."""
        return transform(expr, self.change)

    def change(self, expr: Expr) -> Expr | None:
        match expr:
            case Var():
                return self.expanded(expr)
            case core.GetField() | core.GetItem():
                return self.expanded(self.access(expr))
            case core.Op("==" | "!=" | "<" | "<=" | ">" | ">=", (left, _)) if self.layouts.parts(left.type):
                return self.comparison(expr)
        return None

    def access(self, expr: Expr) -> Expr:
        """The expression; a variable, or a record in one, that lies in columns stays a variable."""
        match expr:
            case Var():
                return expr
            case core.GetField(arg, name):
                base = self.access(arg)
                parts = self.layouts.parts(base.type) or ()
                if self.apart(base):
                    return next(p for p, at in zip(self.parts(base), parts, strict=True) if at.name == name)
                return replace(expr, arg=self.expanded(base))
            case core.GetItem(arg, index):
                base = self.access(arg)
                if self.apart(base):
                    return self.parts(base)[index]
                return replace(expr, arg=self.expanded(base))
        return self.expr(expr)

    def apart(self, expr: Expr) -> bool:
        """Whether the fields of a record are at hand."""
        match expr:
            case core.MakeStruct() | core.MakeTuple():
                return self.layouts.parts(expr.type) is not None
            case Var(name):
                return name in self.split
        return False

    def simple(self, expr: Expr) -> bool:
        """Whether the fields of a record are at hand, or cost nothing."""
        return isinstance(expr, Var) or self.apart(expr)

    def reached(self, value: Expr) -> Expr:
        """A value whose fields are at hand: a record that an expression computes gets a variable."""
        if self.layouts.parts(value.type) is None or self.simple(value):
            return value
        return self.temporary(value)

    def parts(self, value: Expr) -> list[Expr]:
        """The fields of a record."""
        match value:
            case core.MakeStruct(_, items) | core.MakeTuple(items):
                return list(items)
        parts = self.layouts.parts(value.type) or ()
        return [self.part(value, place, part) for place, part in enumerate(parts)]

    def part(self, value: Expr, place: int, part: RecordField) -> Expr:
        if isinstance(value, Var) and value.name in self.split:
            return Var(f"{value.name}.{part.name}", part.type, value.span)
        if isinstance(value.type, Tuple):
            return core.GetItem(value, place, part.type, value.span)
        return core.GetField(value, part.name, part.type, value.span)

    def leaves(self, value: Expr) -> Iterator[Expr]:
        """The columns of a value."""
        if self.layouts.parts(value.type) is None:
            yield value
        else:
            for part in self.parts(value):
                yield from self.leaves(part)

    def expanded(self, expr: Expr) -> Expr:
        """The expression; in place of a variable that lies in columns, the record of them."""
        if not isinstance(expr, Var) or expr.name not in self.split or expr.name in self.whole:
            return expr
        parts = tuple(map(self.expanded, self.parts(expr)))
        if isinstance(expr.type, Tuple):
            return core.MakeTuple(parts, expr.type, expr.span)
        assert isinstance(expr.type, User)
        return core.MakeStruct(self.layouts.constructor(expr.type), parts, expr.type, expr.span)

    def comparison(self, expr: core.Op) -> Expr:
        """A comparison of records: of their fields if these are at hand."""
        a, b = map(self.access, expr.args)
        if not (self.simple(a) and self.simple(b)) or not (self.apart(a) or self.apart(b)):
            return replace(expr, args=(self.expanded(a), self.expanded(b)))
        pairs = list(zip(self.leaves(a), self.leaves(b), strict=True))

        def op(name: str, *args: Expr) -> Expr:
            return core.Op(name, args, Bool(), expr.span)

        if expr.op in ("==", "!="):
            equal = reduce(lambda x, y: op("and", x, y), [op("==", x, y) for x, y in pairs])
            return equal if expr.op == "==" else op("not", equal)
        strict = expr.op[0]
        *firsts, last = pairs
        found = op(expr.op, *last)
        for x, y in reversed(firsts):
            found = op("or", op(strict, x, y), op("and", op("==", x, y), found))
        return found
