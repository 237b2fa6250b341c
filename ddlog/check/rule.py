"""Rules, facts and queries: from syntax to core clauses.

Clauses are read from left to right, and a variable may be used once a clause has bound it. What an atom
says of a column beyond a variable becomes a fresh variable and clauses beside the atom.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .. import core, errors, syntax
from ..modules import RELATIONS
from ..source import Span
from ..types import Bool, Constructor, Type, TypeDef, User
from . import grouping
from .context import Context, Local, Scope, Typed
from .destructure import Destructure, destructure, is_pattern
from .expr import check, infer, read
from .operators import element_type
from .pattern import by_field, count

Clauses = Callable[[], list[core.Clause]]


@dataclass(slots=True)
class Body:
    """A rule body while it is being read."""

    context: Context
    scope: Scope = field(default_factory=Scope)
    parts: list[Clauses] = field(default_factory=list)
    locals: list[Local] = field(default_factory=list)
    grouped: bool = False

    def add(self, clause: Callable[[], core.Clause]) -> None:
        """A further clause."""
        self.parts.append(lambda: [clause()])

    def bind(self, name: str, type_: Type, span: Span) -> Local:
        """A new variable; an error if there is one of the name."""
        if self.scope.find(name) is not None:
            self.context.report(errors.names.VariableDefined(span=span, name=name))
        local = self.context.declare(self.scope, name, type_, span)
        self.locals.append(local)
        return local

    def temporary(self, type_: Type, span: Span) -> Local:
        """A new variable that has no name in the source."""
        local = Local(self.context.temporary(), type_, span, used=True)
        self.locals.append(local)
        return local

    def let(self, local: Local, value: Typed) -> None:
        """Binds the variable, or tests it for equality if it is bound."""
        self.add(lambda: core.Let(local.name, value.build(), value.span))

    def clauses(self) -> tuple[core.Clause, ...]:
        """The clauses in core, once the types are solved."""
        return tuple(clause for part in self.parts for clause in part())


def check_rule(context: Context, rule: syntax.RuleDecl) -> core.Rule | None:
    """The rule in core; None after errors."""
    body = read_body(context, rule.body)
    _group_in_heads(body, rule)
    context.in_head = True
    heads = [head(body, atom, fact=not rule.body) for atom in rule.heads]
    context.solve()
    if context.failed:
        return None
    made = tuple(each() for each in heads if each is not None)
    clauses = body.clauses()
    variables = {local.name: context.final(local.type) for local in body.locals}
    if context.failed:
        return None
    warn_unused(body)
    return core.Rule(made, clauses, variables, rule.span.text(), rule.span)


def read_body(context: Context, clauses: Sequence[syntax.Clause]) -> Body:
    """All clauses of a body."""
    body = Body(context)
    bound = [grouping.binds(clause) for clause in clauses]
    for i, clause in enumerate(clauses):
        later: dict[str, Span] = {}
        for names in bound[i + 1 :]:
            for name, span in names.items():
                later.setdefault(name, span)
        context.bound_later = later
        match clause:
            case syntax.Atom():
                atom(body, clause)
            case syntax.Condition(expr, _):
                condition(body, expr)
            case syntax.Inspect(expr, span):
                inspect(body, expr, span)
    context.bound_later = {}
    return body


def warn_unused(body: Body) -> None:
    """A warning for each variable that only its definition mentions."""
    for local in body.locals:
        name = local.name.partition("$")[0]
        if not local.used and name and not name.startswith("_"):
            body.context.report(errors.names.UnusedVariable(span=local.span, name=name))


# ---------------------------------------------------------------------- atoms


def relation_named(context: Context, atom: syntax.Atom) -> core.Relation | None:
    """The relation of an atom, or an error; parts of atoms that are for later are errors too."""
    for present, what in (
        (atom.by_ref, f"`&{atom.relation}` is"),
        (atom.differentiated, f"`{atom.relation}'` is"),
        (atom.delay, f"the delayed relation `{atom.relation}-{atom.delay}` is"),
        (atom.location is not None, "a location `@` is"),
    ):
        if present:
            context.report(errors.unsupported.Unsupported(span=atom.span, what=what))
    environment = context.environment
    relation = environment.relation(atom.relation, context.module)
    if relation is None:
        hint = environment.suggest(atom.relation, environment.names(RELATIONS, context.module))
        context.report(
            environment.unknown_module(atom.relation, atom.name_span)
            or errors.names.UnknownRelation(span=atom.name_span, name=atom.relation, help=hint)
        )
    return relation


def columns_of(
    context: Context, relation: core.Relation, args: Sequence[syntax.Argument], span: Span, name: str
) -> dict[str, syntax.Expr] | None:
    """The argument for each column that has one; None after an error."""
    fields = [column.name for column in relation.columns]
    named = [each for each in args if each.name is not None]
    if not named and len(args) != len(fields):
        wanted = count(len(fields), "column")
        context.report(
            errors.types.WrongFieldCount(
                span=span, name=name, wanted=f"{wanted} ({', '.join(fields)})", given=str(len(args))
            )
        )
        return None
    return by_field(context, args, fields, name, span)


def atom(body: Body, term: syntax.Atom) -> None:
    """A relational term of a body."""
    context = body.context
    relation = relation_named(context, term)
    if term.negated and term.binder is not None:
        context.report(errors.rules.NegatedBinder(span=term.span, name=term.binder))
    after = Destructure(body, negated=term.negated)
    problems = len(context.diagnostics)
    given = _given(body, after, relation, term) if relation is not None else None
    if relation is None or given is None:
        for expr in [each.value for each in term.args or ()] + ([term.element] if term.element else []):
            _bind_anything(body, expr)
        if term.binder is not None:
            _bind_anything(body, syntax.Name(term.binder, term.span))
        return
    if term.negated and any(_is_shape(body, expr) for expr in given.values()):
        complement(body, relation, given, term.span)
        return
    columns: list[str | None] = []
    for each in relation.columns:
        said = given.get(each.name)
        columns.append(None if said is None else column(body, after, said, each.type))
    if term.binder is not None:
        _bind_whole(body, after, relation, columns, term.binder, term.span)
    if term.negated:
        after.emit()
    name, made = relation.name, tuple(columns)
    body.add(lambda: core.Atom(name, made, term.negated, term.span))
    if not term.negated:
        after.emit()
    mixed = len({each.name is None for each in term.args or ()}) == 2
    if mixed or len(context.diagnostics) > problems:
        for argument in term.args or ():
            _bind_anything(body, argument.value)


def _given(
    body: Body, after: Destructure, relation: core.Relation, term: syntax.Atom
) -> dict[str, syntax.Expr] | None:
    """What the atom says of each column, by name."""
    context = body.context
    if term.args == ():
        return {}
    if term.args is not None:
        return columns_of(context, relation, term.args, term.span, term.relation)
    if term.element is None:
        return {}
    element = term.element
    if relation.constructor is None:
        return {"value": element}
    if isinstance(element, syntax.Wildcard):
        return {}
    if isinstance(element, syntax.Struct) and element.args is not None:
        found = context.environment.constructor(element.constructor, context.module)
        if found is not None and found[1] == relation.constructor:
            return by_field(
                context,
                element.args,
                [each.name for each in relation.columns],
                element.constructor,
                element.span,
            )
    return _element(body, after, relation, element)


def _element(
    body: Body, after: Destructure, relation: core.Relation, element: syntax.Expr
) -> dict[str, syntax.Expr]:
    """`R[v]`: binds v to the element, or takes a known element apart into the columns."""
    context = body.context
    new = isinstance(element, syntax.VarDecl) or (
        isinstance(element, syntax.Name) and body.scope.find(element.name) is None
    )
    names = [context.temporary() for _ in relation.columns]
    spans = [element.span] * len(names)
    fields = {
        each.name: syntax.Name(name, span)
        for each, name, span in zip(relation.columns, names, spans, strict=True)
    }
    if new and not after.negated:
        assert isinstance(element, syntax.VarDecl | syntax.Name)
        for each, name in zip(relation.columns, names, strict=True):
            _hidden(body, name, each.type, element.span)
        local = body.bind(element.name, relation.record, element.span)
        _make_record(after, relation, tuple(names), local, element.span)
        return dict(fields)
    value = check(context, element, body.scope, relation.record)
    whole = body.temporary(relation.record, element.span)
    body.let(whole, value)
    for each, name in zip(relation.columns, names, strict=True):
        local = _hidden(body, name, each.type, element.span)
        body.let(local, _part(context, whole, each, element.span))
    return dict(fields)


def _hidden(body: Body, name: str, type_: Type, span: Span) -> Local:
    local = Local(name, type_, span, used=True)
    body.scope.locals[name] = local
    body.locals.append(local)
    return local


def _part(context: Context, whole: Local, column: core.Column, span: Span) -> Typed:
    def build() -> core.Expr:
        return core.GetField(
            core.Var(whole.name, context.final(whole.type), span), column.name, column.type, span
        )

    return Typed(column.type, span, build)


def _make_record(
    after: Destructure, relation: core.Relation, names: tuple[str, ...], local: Local, span: Span
) -> None:
    """Binds the variable to the element made of the columns."""
    constructor = relation.constructor
    assert constructor is not None

    def build() -> core.Expr:
        parts = tuple(
            core.Var(name, each.type, span) for name, each in zip(names, relation.columns, strict=True)
        )
        return core.MakeStruct(constructor, parts, relation.record, span)

    after.lets.append((local, Typed(relation.record, span, build)))


def _bind_whole(
    body: Body, after: Destructure, relation: core.Relation, columns: list[str | None], name: str, span: Span
) -> None:
    """`v in R(..)`: v is the whole element."""
    for i, each in enumerate(relation.columns):
        if columns[i] is None:
            columns[i] = body.temporary(each.type, span).name
    names = tuple(each for each in columns if each is not None)
    local = body.scope.find(name)
    if local is None:
        local = body.bind(name, relation.record, span)
    else:
        local.used = True
        body.context.agree(span, local.type, relation.record)
    if relation.constructor is not None:
        _make_record(after, relation, names, local, span)
    else:
        record = relation.record
        after.lets.append((local, Typed(record, span, lambda: core.Var(names[0], record, span))))


def column(body: Body, after: Destructure, expr: syntax.Expr, type_: Type) -> str | None:
    """The variable that stands for a column; None for any value."""
    context = body.context
    match expr:
        case syntax.Wildcard():
            return None
        case syntax.Typed(arg, written, span):
            context.agree(span, context.written(written), type_)
            return column(body, after, arg, type_)
        case syntax.Name(name, span):
            return variable(body, name, type_, span, negated=after.negated).name
        case syntax.VarDecl(name, span):
            if after.negated:
                context.report(errors.rules.NegatedBinding(span=span, name=name))
            return body.bind(name, type_, span).name
        case syntax.Binding(name, inner, span) if not after.negated:
            local = variable(body, name, type_, span, negated=False)
            destructure(after, inner, read(context, local, span))
            return local.name
    fresh = body.temporary(type_, expr.span)
    if is_pattern(body, expr):
        destructure(after, expr, read(context, fresh, expr.span))
    else:
        value = check(context, expr, body.scope, type_)
        after.lets.append((fresh, value))
    return fresh.name


def variable(body: Body, name: str, type_: Type, span: Span, *, negated: bool) -> Local:
    """The variable of the name, bound before or by this occurrence."""
    context = body.context
    local = body.scope.find(name)
    if local is not None:
        local.used = True
        context.agree(span, type_, local.type) if local.type != type_ else None
        return local
    if negated:
        context.report(errors.rules.NegatedBinding(span=span, name=name))
        return Local(name, type_, span)
    if name in context.forgotten:
        context.report(errors.rules.NotVisibleAfterGroup(span=span, name=name))
    return body.bind(name, type_, span)


def _is_shape(body: Body, expr: syntax.Expr) -> bool:
    """Whether the expression takes a column apart."""
    return isinstance(expr, syntax.Struct | syntax.TupleExpr) and is_pattern(body, expr)


def complement(body: Body, relation: core.Relation, given: dict[str, syntax.Expr], span: Span) -> None:
    """A negated term with patterns: the negation of an auxiliary relation of what they match.

    Its columns are the variables and expressions of the term that are bound outside.
    """
    context = body.context
    inner = Body(context)
    inside = Destructure(inner, negated=False)
    pairs: list[tuple[Local, Local]] = []
    columns: list[str | None] = []
    for each in relation.columns:
        expr = given.get(each.name, syntax.Wildcard(span))
        if isinstance(expr, syntax.Wildcard):
            columns.append(None)
            continue
        local = inner.temporary(each.type, expr.span)
        columns.append(local.name)
        if _is_shape(body, expr):
            destructure(inside, expr, read(context, local, expr.span))
        elif isinstance(expr, syntax.Name):
            pairs.append((local, variable(body, expr.name, each.type, expr.span, negated=True)))
        else:
            outside = body.temporary(each.type, expr.span)
            body.let(outside, check(context, expr, body.scope, each.type))
            pairs.append((local, outside))
    for name, local in inner.scope.locals.items():
        pairs.append((local, variable(body, name, local.type, local.span, negated=True)))
    inner.add(lambda: core.Atom(relation.name, tuple(columns), False, span))
    inside.emit()
    name = f"{relation.name}$not{span.line}_{span.column}"
    body.add(lambda: _auxiliary(context, name, inner, pairs, span))


def _auxiliary(
    context: Context, name: str, inner: Body, pairs: Sequence[tuple[Local, Local]], span: Span
) -> core.Clause:
    """The negated atom over the auxiliary relation, which is noted with its rule."""
    columns = tuple(core.Column(f"c{i}", context.final(local.type)) for i, (local, _) in enumerate(pairs))
    constructor = Constructor(name, 0, tuple((each.name, each.type) for each in columns))
    context.environment.typedefs[name] = TypeDef(name, (), (constructor,))
    made = core.Relation(name, "internal", "relation", User(name), constructor, columns, None, span)
    values = tuple(read(context, local, span).build() for local, _ in pairs)
    variables = {local.name: context.final(local.type) for local in inner.locals}
    rule = core.Rule((core.Head(name, values, span),), inner.clauses(), variables, span.text(), span)
    context.auxiliary.append((made, rule))
    return core.Atom(name, tuple(outside.name for _, outside in pairs), True, span)


def _bind_anything(body: Body, expr: syntax.Expr) -> None:
    """After an error: the variables that the expression may bind, of unknown types."""
    for name, span in grouping.names_in(expr).items():
        if body.scope.find(name) is None:
            body.bind(name, body.context.fresh(), span).used = True


# ----------------------------------------------------------------- conditions


def condition(body: Body, expr: syntax.Expr) -> None:
    """A clause that is an expression: a filter, a definition, a FlatMap, a grouping."""
    context = body.context
    match expr:
        case syntax.Assign(target, syntax.FlatMap(collection, _), _):
            flatmap(body, target, collection)
        case syntax.Assign(target, syntax.Aggregate(keys, value, _), _):
            group = grouping.aggregate(context, keys, value)
            if group is not None:
                grouped(body, group, None)
                assignment(body, target, value)
        case syntax.Assign(target, value, _):
            group = grouping.find(context, value)
            if group is None:
                assignment(body, target, value)
            elif group.call is value and isinstance(target, syntax.VarDecl):
                grouped(body, group, target)
            else:
                grouped(body, group, None)
                assignment(body, target, value)
        case syntax.FlatMap(_, span):
            context.report(errors.rules.FlatMapPlace(span=span))
        case _:
            group = grouping.find(context, expr)
            if group is not None:
                grouped(body, group, None)
            kept = check(context, expr, body.scope, Bool())
            body.add(lambda: core.Guard(kept.build(), expr.span))


def assignment(body: Body, target: syntax.Expr, expr: syntax.Expr) -> None:
    """`pattern = e`: defines the variables of the pattern; keeps what matches it."""
    context = body.context
    if isinstance(target, syntax.Name) and body.scope.find(target.name) is not None:
        local = variable(body, target.name, context.fresh(), target.span, negated=False)
        body.let(local, check(context, expr, body.scope, local.type))
        return
    annotated: Type | None = None
    if isinstance(target, syntax.Typed):
        annotated = context.written(target.type)
        target = target.arg
    value = (
        infer(context, expr, body.scope) if annotated is None else check(context, expr, body.scope, annotated)
    )
    define(body, target, value)


def define(body: Body, target: syntax.Expr, value: Typed) -> None:
    """Binds a pattern to a value."""
    context = body.context
    match target:
        case syntax.VarDecl(name, span):
            body.let(body.bind(name, value.type, span), value)
        case syntax.Name(name, span):
            help_ = f"`var {name} = ...` defines it"
            context.report(errors.names.UnknownVariable(span=span, name=name, help=help_))
            body.bind(name, context.fresh(), span).used = True
        case syntax.Wildcard():
            body.let(body.temporary(value.type, target.span), value)
        case syntax.TupleExpr() | syntax.Struct() | syntax.Binding() | syntax.Typed():
            whole = body.temporary(value.type, target.span)
            body.let(whole, value)
            after = Destructure(body, negated=False)
            destructure(after, target, read(context, whole, target.span))
            after.emit()
        case _:
            context.report(
                errors.types.NotAPattern(span=target.span, help="write `==` to compare two values")
            )


def flatmap(body: Body, target: syntax.Expr, collection: syntax.Expr) -> None:
    """`pattern = FlatMap(e)`: a valuation for each element."""
    context = body.context
    value = infer(context, collection, body.scope)
    element = element_type(context, value, use="FlatMap")
    annotated = target.arg if isinstance(target, syntax.Typed) else target
    if isinstance(target, syntax.Typed):
        context.agree(target.span, element, context.written(target.type))
    if isinstance(annotated, syntax.VarDecl):
        local = body.bind(annotated.name, element, annotated.span)
        body.add(lambda: core.Unnest(local.name, value.build(), target.span))
        return
    whole = body.temporary(element, target.span)
    body.add(lambda: core.Unnest(whole.name, value.build(), target.span))
    if isinstance(annotated, syntax.Name) and body.scope.find(annotated.name) is not None:
        same = variable(body, annotated.name, element, annotated.span, negated=False)
        body.let(same, read(context, whole, target.span))
    else:
        define(body, annotated, read(context, whole, target.span))


def grouped(body: Body, group: grouping.Group, target: syntax.VarDecl | None) -> None:
    """`e.group_by(k)`: from here on only the keys and the group are visible."""
    context = body.context
    if body.grouped:
        context.report(errors.rules.GroupByTwice(span=group.call.span))
    body.grouped = True
    value = infer(context, group.value, body.scope)
    keys: dict[str, Local] = {}
    for key in group.keys:
        local = body.scope.find(key.name)
        if local is None:
            context.report(context.unknown_variable(key.name, key.span, body.scope))
        else:
            local.used = True
            keys[key.name] = local
    context.forgotten = (context.forgotten | body.scope.names()) - set(keys)
    type_ = grouping.group_type(context, [local.type for local in keys.values()], value.type)
    taken = target is not None and body.scope.find(target.name) is not None
    if target is not None and taken:
        context.report(errors.names.VariableDefined(span=target.span, name=target.name))
    body.scope = Scope(None, dict(keys))
    name = body.bind(target.name, type_, target.span) if target else body.temporary(type_, group.call.span)
    names = tuple(local.name for local in keys.values())
    body.add(lambda: core.GroupBy(name.name, value.build(), names, group.call.span))
    if target is None:
        context.replaced[id(group.stands_for)] = read(context, name, group.call.span)


def inspect(body: Body, expr: syntax.Expr, span: Span) -> None:
    """`Inspect e`."""
    value = infer(body.context, expr, body.scope)
    body.add(lambda: core.Inspect(value.build(), span))


# ---------------------------------------------------------------------- heads


def _group_in_heads(body: Body, rule: syntax.RuleDecl) -> None:
    """`e.group_by(k)` in a head is the last step of the body."""
    if rule.body:
        for term in rule.heads:
            group = grouping.find(body.context, term)
            if group is not None:
                grouped(body, group, None)


def head(body: Body, term: syntax.Atom, *, fact: bool) -> Callable[[], core.Head] | None:
    """A head: an expression for each column."""
    context = body.context
    relation = relation_named(context, term)
    if term.negated or term.binder is not None:
        context.report(errors.rules.HeadModifier(span=term.span))
    if relation is None:
        return None
    if relation.role == "input" and not fact:
        context.report(errors.rules.InputHead(span=term.span, name=term.relation))
    if term.element is not None:
        return _element_head(body, relation, term.element, term, fact=fact)
    given = columns_of(context, relation, term.args or (), term.span, term.relation)
    if given is None:
        for argument in term.args or ():
            infer(context, argument.value, body.scope)
        return None
    return _head_of(body, relation, given, term)


def _head_of(
    body: Body, relation: core.Relation, given: dict[str, syntax.Expr], term: syntax.Atom
) -> Callable[[], core.Head]:
    context = body.context
    values: list[Typed] = []
    for each in relation.columns:
        if each.name in given:
            values.append(check(context, given[each.name], body.scope, each.type))
        else:
            context.report(
                errors.types.MissingField(span=term.span, field=each.name, constructor=term.relation)
            )
    return lambda: core.Head(relation.name, tuple(value.build() for value in values), term.span)


def _element_head(
    body: Body, relation: core.Relation, element: syntax.Expr, term: syntax.Atom, *, fact: bool
) -> Callable[[], core.Head]:
    """`R[e]` as a head: the element taken apart into columns."""
    context = body.context
    value = check(context, element, body.scope, relation.record)
    if relation.constructor is None:
        return lambda: core.Head(relation.name, (value.build(),), term.span)
    if isinstance(element, syntax.Struct):
        return lambda: _of_struct(relation, value.build(), term.span)
    if fact:
        return lambda: core.Head(relation.name, _fields(relation, value.build(), term.span), term.span)
    whole = body.temporary(relation.record, element.span)
    body.let(whole, value)
    stored = read(context, whole, element.span)
    return lambda: core.Head(relation.name, _fields(relation, stored.build(), term.span), term.span)


def _of_struct(relation: core.Relation, value: core.Expr, span: Span) -> core.Head:
    if isinstance(value, core.MakeStruct):
        return core.Head(relation.name, value.args, span)
    return core.Head(relation.name, _fields(relation, value, span), span)


def _fields(relation: core.Relation, value: core.Expr, span: Span) -> tuple[core.Expr, ...]:
    return tuple(core.GetField(value, each.name, each.type, span) for each in relation.columns)
