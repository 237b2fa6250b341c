"""Blocks, conditionals, loops, declarations, assignments: the statements of functions."""

from __future__ import annotations

from collections.abc import Sequence

from .. import core, errors, syntax
from ..errors.diagnostics import InternalError
from ..errors.source import Span
from ..types import UNIT, Bool, Type
from . import expr as expressions
from .access import element_type
from .calls import mutate
from .context import Border, Context, Local, Scope, Typed, unit
from .exhaustive import missing, useless
from .pattern import Assignable, Binder, Build, pattern


def infer(context: Context, expr: syntax.Expr, scope: Scope, expected: Type | None) -> Typed:
    """A statement, or another expression with parts that are statements."""
    match expr:
        case syntax.Block(items, span):
            return block(context, items, span, scope, expected)
        case syntax.If():
            return conditional(context, expr, scope, expected)
        case syntax.Match():
            return match_(context, expr, scope, expected)
        case syntax.For():
            return loop(context, expr, scope)
        case syntax.Assign():
            return assign(context, expr, scope)
        case syntax.Break(span):
            return leave(context, "break", span)
        case syntax.Continue(span):
            return leave(context, "continue", span)
        case syntax.Return(value, span):
            return return_(context, value, span, scope)
        case _:
            raise InternalError(f"no rule for {type(expr).__name__}")


def block(
    context: Context, items: Sequence[syntax.Expr], span: Span, scope: Scope, expected: Type | None
) -> Typed:
    """`{a; b; c}`, a scope of its own."""
    inner = scope.inner()
    if not items:
        return unit(span)
    typed = [expressions.infer(context, item, inner) for item in items[:-1]]
    last = _branch(context, items[-1], inner, expected)
    if not typed:
        return last
    return Typed(
        last.type,
        span,
        lambda: core.Block(tuple(each.build() for each in (*typed, last)), context.final(last.type), span),
    )


def _branch(context: Context, expr: syntax.Expr, scope: Scope, expected: Type | None) -> Typed:
    if expected is None:
        return expressions.infer(context, expr, scope)
    return expressions.check(context, expr, scope, expected)


def conditional(context: Context, expr: syntax.If, scope: Scope, expected: Type | None) -> Typed:
    """`if (c) t else e`; without else both are unit."""
    tested = Scope(scope, border=Border.CONDITION)
    condition = expressions.check(context, expr.condition, tested, Bool())
    if expr.otherwise is None:
        then = expressions.check(context, expr.then, scope.inner(), UNIT)
        otherwise = unit(expr.span)
    else:
        then = _branch(context, expr.then, scope.inner(), expected)
        otherwise = expressions.check(context, expr.otherwise, scope.inner(), then.type)
    return Typed(
        then.type if expr.otherwise is not None else UNIT,
        expr.span,
        lambda: core.If(
            condition.build(), then.build(), otherwise.build(), context.final(then.type), expr.span
        ),
    )


def match_(context: Context, expr: syntax.Match, scope: Scope, expected: Type | None) -> Typed:
    """`match (e) {pattern -> e, ...}`: some arm matches every value, and every arm some value."""
    scrutinee = expressions.infer(context, expr.arg, scope)
    path = scrutinee if scrutinee.place is not None and scrutinee.place.mutable else None
    result: Type = expected if expected is not None else context.fresh()
    arms: list[tuple[Build, Typed]] = []
    for arm in expr.arms:
        inner = scope.inner()
        build = pattern(Binder(context, inner), arm.pattern, scrutinee.type, path)
        arms.append((build, expressions.check(context, arm.body, inner, result)))

    def check() -> None:
        type_ = context.final(scrutinee.type)
        patterns = [build() for build, _ in arms]
        for i in useless(patterns, type_, context.constructors):
            context.report(errors.patterns.Unsatisfiable(span=expr.arms[i].pattern.span))
        uncovered = missing(patterns, type_, context.constructors)
        if uncovered is not None:
            context.report(errors.patterns.NonExhaustive(span=expr.span, missing=uncovered))

    context.later(check)
    return Typed(
        result,
        expr.span,
        lambda: core.Match(
            scrutinee.build(),
            tuple((build(), body.build()) for build, body in arms),
            context.final(result),
            expr.span,
        ),
    )


def loop(context: Context, expr: syntax.For, scope: Scope) -> Typed:
    """`for (pattern in collection) body`; a variable cannot be changed while it is iterated."""
    collection = expressions.infer(context, expr.collection, scope)
    element = element_type(context, collection, use="a loop")
    inner = scope.inner()
    build = pattern(Binder(context, inner), expr.pattern, element)
    irrefutable(context, build, element, expr.pattern.span, "a loop")
    place = collection.place
    frozen = place is not None and place.mutable
    if place is not None and frozen:
        place.mutable, place.iterated = False, True
    context.loops += 1
    body = expressions.infer(context, expr.body, inner)
    context.progress()
    context.loops -= 1
    if place is not None and frozen:
        place.mutable, place.iterated = True, False
    return Typed(
        UNIT,
        expr.span,
        lambda: core.For(build(), collection.build(), body.build(), UNIT, expr.span),
    )


def irrefutable(context: Context, build: Build, type_: Type, span: Span, use: str) -> None:
    """Demands that the pattern match every value."""

    def check() -> None:
        uncovered = missing([build()], context.final(type_), context.constructors)
        if uncovered is not None and use == "an assignment":
            context.report(errors.patterns.AssignedConstructor(span=span, missing=uncovered))
        elif uncovered is not None:
            context.report(errors.patterns.Refutable(span=span, use=use, missing=uncovered))

    context.later(check)


def assign(context: Context, expr: syntax.Assign, scope: Scope) -> Typed:
    """A declaration `pattern = e`, or an assignment to variables or parts of them."""
    target = expr.target
    if isinstance(target, syntax.Name | syntax.GetField | syntax.GetItem):
        place = _place(context, target, scope)
        value = expressions.check(context, expr.value, scope, place.type)
        return Typed(UNIT, expr.span, lambda: core.Assign(place.build(), value.build(), UNIT, expr.span))
    annotated = context.written(target.type) if isinstance(target, syntax.TypedExpr) else None
    value = _branch(context, expr.value, scope, annotated)
    assigned: list[tuple[Local, Assignable]] = []
    build = pattern(Binder(context, scope, mutable=True, assigned=assigned), target, value.type)
    irrefutable(context, build, value.type, target.span, "an assignment")
    changes = [_assignment(context, local, name, scope) for local, name in assigned]

    def declare() -> core.Expr:
        declaration = core.Declare(build(), value.build(), UNIT, expr.span)
        if not changes:
            return declaration
        return core.Block((declaration, *(each.build() for each in changes)), UNIT, expr.span)

    return Typed(UNIT, expr.span, declare)


def _place(context: Context, target: Assignable, scope: Scope) -> Typed:
    """The typed target of an assignment; reports an error if it is not assignable."""
    before = len(context.diagnostics)
    place = expressions.infer(context, target, scope)
    if len(context.diagnostics) == before:
        mutate(context, place)
    return place


def _assignment(context: Context, local: Local, target: Assignable, scope: Scope) -> Typed:
    place = _place(context, target, scope)
    value = expressions.read(context, local, target.span)
    context.expect(value, place.type)
    return Typed(UNIT, target.span, lambda: core.Assign(place.build(), value.build(), UNIT, target.span))


def leave(context: Context, word: str, span: Span) -> Typed:
    """`break` or `continue`."""
    if not context.loops:
        return context.fail(errors.types.OutsideLoop(span=span, word=word))
    type_ = context.fresh()
    node = core.Break if word == "break" else core.Continue
    return Typed(type_, span, lambda: node(context.final(type_), span))


def return_(context: Context, value: syntax.Expr | None, span: Span, scope: Scope) -> Typed:
    """`return e`, of any type where it stands."""
    if context.result is None:
        return context.fail(errors.functions.ReturnOutsideFunction(span=span))
    if value is None:
        context.agree(span, UNIT, context.result)
        returned = unit(span)
    else:
        returned = expressions.check(context, value, scope, context.result)
    type_ = context.fresh()
    return Typed(type_, span, lambda: core.Return(returned.build(), context.final(type_), span))
