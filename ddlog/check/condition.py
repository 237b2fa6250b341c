"""Clauses that are expressions: filters, definitions, FlatMap, grouping."""

from __future__ import annotations

from .. import core, errors, syntax
from ..types import Bool, Type
from . import groups
from .access import element_type
from .body import BodyBuilder, variable
from .context import Local, Scope, Typed
from .destructure import Destructure, destructure, stored
from .expr import check, infer, read
from .loops import round_condition


def condition(body: BodyBuilder, expr: syntax.Expr) -> None:
    """A clause that is an expression: a filter, a definition, a FlatMap, a grouping."""
    context = body.context
    match expr:
        case syntax.Assign(target, syntax.FlatMap(collection, _), _):
            flatmap(body, target, collection)
        case syntax.Assign(target, syntax.Aggregate(keys, value, _), _):
            group = groups.aggregate(context, keys, value)
            if group is not None:
                grouped(body, group, None)
                assignment(body, target, value)
        case syntax.Assign(target, value, _):
            group = groups.find(context, value)
            if group is None:
                assignment(body, target, value)
            elif group.call is value and isinstance(target, syntax.VarDecl):
                grouped(body, group, target)
            else:
                grouped(body, group, None)
                assignment(body, target, value)
        case syntax.FlatMap(_, span):
            context.report(errors.rules.FlatMapPlace(span=span))
        case _ if round_condition(body, expr):
            pass
        case _:
            group = groups.find(context, expr)
            if group is not None:
                grouped(body, group, None)
            kept = check(context, expr, body.scope, Bool())
            body.add(lambda: core.Guard(kept.build(), expr.span))


def assignment(body: BodyBuilder, target: syntax.Expr, expr: syntax.Expr) -> None:
    """`pattern = e`: defines the variables of the pattern; keeps the valuations that match."""
    context = body.context
    if isinstance(target, syntax.Name) and body.scope.find(target.name) is not None:
        local = variable(body, target.name, context.fresh(), target.span, negated=False)
        body.let(local, check(context, expr, body.scope, local.type))
        return
    annotated: Type | None = None
    if isinstance(target, syntax.TypedExpr):
        annotated = context.written(target.type)
        target = target.arg
    value = (
        infer(context, expr, body.scope) if annotated is None else check(context, expr, body.scope, annotated)
    )
    define(body, target, value)


def define(body: BodyBuilder, target: syntax.Expr, value: Typed) -> None:
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
        case syntax.TupleExpr() | syntax.Struct() | syntax.Binding() | syntax.TypedExpr() | syntax.Unary("&"):
            whole = body.temporary(value.type, target.span)
            body.let(whole, value)
            after = Destructure(body, negated=False)
            destructure(after, target, stored(context, whole, target.span))
            after.emit()
        case _:
            context.report(
                errors.patterns.NotAPattern(span=target.span, help="write `==` to compare two values")
            )


def flatmap(body: BodyBuilder, target: syntax.Expr, collection: syntax.Expr) -> None:
    """`pattern = FlatMap(e)`: a valuation for each element."""
    context = body.context
    group = groups.find(context, collection)
    if group is not None:
        grouped(body, group, None)
    value = infer(context, collection, body.scope)
    element = element_type(context, value, use="FlatMap")
    annotated = target.arg if isinstance(target, syntax.TypedExpr) else target
    if isinstance(target, syntax.TypedExpr):
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


def grouped(body: BodyBuilder, group: groups.GroupExpression, target: syntax.VarDecl | None) -> None:
    """`e.group_by(k)`: from here on only the keys and the group are visible."""
    context = body.context
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
    known = context.substitution.resolve(value.type)  # each use of the group would resolve it again
    type_ = groups.group_type([local.type for local in keys.values()], known)
    taken = target is not None and body.scope.find(target.name) is not None
    if target is not None and taken:
        context.report(errors.names.VariableDefined(span=target.span, name=target.name))
    body.scope = Scope(None, dict(keys))
    name = body.bind(target.name, type_, target.span) if target else body.temporary(type_, group.call.span)
    names = tuple(local.name for local in keys.values())
    body.add(lambda: core.GroupBy(name.name, value.build(), names, group.call.span, bag=group.bag))
    if target is None:
        context.replaced[id(group.stands_for)] = read(context, name, group.call.span)
