"""Relational terms of bodies.

What an atom says of a column beyond a variable becomes a fresh variable and clauses beside the atom.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import core, errors, syntax
from ..errors.diagnostics import counted
from ..errors.source import Span
from ..names.modules import RELATIONS
from ..names.signatures import readable
from ..types import Constructor, Type, TypeDef, User, wrapped
from . import grouping
from .body import BodyBuilder, variable
from .context import Context, Local, Typed
from .destructure import Destructure, destructure, is_pattern
from .expr import check, read
from .pattern import by_field
from .streams import read_in_body


def relation_named(context: Context, atom: syntax.Atom) -> core.Relation | None:
    """The relation of an atom, or an error; a location is an error too."""
    if atom.location is not None:
        context.report(errors.unsupported.Unsupported(span=atom.span, what="a location `@` is"))
    environment = context.environment
    relation = environment.relation(atom.relation, context.module)
    if relation is None:
        hint = environment.suggest(atom.relation, environment.names(RELATIONS, context.module))
        context.report(
            environment.misnamed(RELATIONS, atom.relation, atom.name_span, context.module)
            or errors.names.UnknownRelation(span=atom.name_span, name=atom.relation, help=hint)
        )
    elif atom.by_ref and wrapped(relation.record) is None:
        what = f"a relation of {readable(str(relation.record))}"
        context.report(errors.types.NoReference(span=atom.span, name=atom.relation, what=what))
    return relation


def columns_of(
    context: Context, relation: core.Relation, args: Sequence[syntax.Argument], span: Span, name: str
) -> dict[str, syntax.Expr] | None:
    """The argument for each column that has one; None after an error."""
    fields = [column.name for column in relation.columns]
    named = [each for each in args if each.name is not None]
    if not named and len(args) != len(fields):
        wanted = counted(len(fields), "column")
        context.report(
            errors.types.WrongFieldCount(
                span=span, name=name, wanted=f"{wanted} ({', '.join(fields)})", given=str(len(args))
            )
        )
        return None
    return by_field(context, args, fields, name, span)


def atom(body: BodyBuilder, term: syntax.Atom) -> None:
    """A relational term of a body."""
    context = body.context
    relation = relation_named(context, term)
    if relation is not None:
        relation = read_in_body(body, term, relation)
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
    body: BodyBuilder, after: Destructure, relation: core.Relation, term: syntax.Atom
) -> dict[str, syntax.Expr] | None:
    """The patterns of the atom by the names of their columns."""
    context = body.context
    if term.args == ():
        return {}
    if term.args is not None:
        return columns_of(context, relation, term.args, term.span, term.relation)
    if term.element is None:
        return {}
    element = referenced(term.element, relation)
    if relation.constructor is None:
        return {"value": term.element}
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
    return _element(body, after, relation, term.element)


def referenced(element: syntax.Expr, relation: core.Relation) -> syntax.Expr:
    """The element without `&`, the sign of a Ref or Intern."""
    inner: Type | None = relation.record
    while isinstance(element, syntax.Unary) and element.op == "&" and inner is not None:
        inner = wrapped(inner)
        element = element.arg if inner is not None else element
    return element


def _element(
    body: BodyBuilder, after: Destructure, relation: core.Relation, element: syntax.Expr
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


def _hidden(body: BodyBuilder, name: str, type_: Type, span: Span) -> Local:
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
    body: BodyBuilder,
    after: Destructure,
    relation: core.Relation,
    columns: list[str | None],
    name: str,
    span: Span,
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


def column(body: BodyBuilder, after: Destructure, expr: syntax.Expr, type_: Type) -> str | None:
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


def _is_shape(body: BodyBuilder, expr: syntax.Expr) -> bool:
    """Whether the expression takes a column apart."""
    while isinstance(expr, syntax.Unary) and expr.op == "&":
        expr = expr.arg
    return isinstance(expr, syntax.Struct | syntax.TupleExpr) and is_pattern(body, expr)


def complement(body: BodyBuilder, relation: core.Relation, given: dict[str, syntax.Expr], span: Span) -> None:
    """A negated term with patterns: the negation of an auxiliary relation that holds their matches.

    Its columns are the variables and expressions of the term that are bound outside.
    """
    context = body.context
    inner = BodyBuilder(context)
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
    context: Context, name: str, inner: BodyBuilder, pairs: Sequence[tuple[Local, Local]], span: Span
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


def _bind_anything(body: BodyBuilder, expr: syntax.Expr) -> None:
    """After an error: the variables that the expression may bind, of unknown types."""
    for name, span in grouping.names_in(expr).items():
        if body.scope.find(name) is None:
            body.bind(name, body.context.fresh(), span).used = True
