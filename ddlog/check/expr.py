"""Expressions: from syntax to typed core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import core, errors, syntax
from ..errors.source import Span
from ..names.modules import FUNCTIONS, RELATIONS
from ..syntax.foreign import function_hint
from ..types import INTERN, REF, Bool, FunctionType, Opaque, Signed, String, Tuple, Type, User, wrapped
from ..types.unify import substitute
from . import access, closures, literal, operators, statement
from .calls import call
from .context import Border, Context, Local, Scope, Typed
from .givenvalues import given_value
from .pattern import arguments, find_constructor


def check(context: Context, expr: syntax.Expr, scope: Scope, expected: Type) -> Typed:
    """The expression, which must have the type."""
    before = len(context.diagnostics)
    typed = infer(context, expr, scope, expected)
    if context.substitution.unify(typed.type, expected):
        return typed
    if len(context.diagnostics) == before:
        context.expect(typed, expected)
    return context.poison(typed.span)


def infer(context: Context, expr: syntax.Expr, scope: Scope, expected: Type | None = None) -> Typed:
    """The expression with its type; `expected` guides the inference and is not enforced."""
    replaced = context.replaced.get(id(expr))
    if replaced is not None:
        return replaced
    if not context.enter(expr.span):
        return context.poison(expr.span)
    try:
        return _infer(context, expr, scope, expected)
    finally:
        context.depth -= 1


def _infer(context: Context, expr: syntax.Expr, scope: Scope, expected: Type | None) -> Typed:
    match expr:
        case syntax.Name(name, span):
            return variable(context, name, span, scope, expected)
        case syntax.BoolLit(value, span):
            return literal.boolean(value, span)
        case syntax.IntLit():
            return literal.integer(context, expr, expected)
        case syntax.FloatLit():
            return literal.floating(context, expr, expected)
        case syntax.StringLit(text, span):
            return literal.string(text, span)
        case syntax.Interpolated(parts, span):
            return operators.concatenation(context, [infer(context, part, scope) for part in parts], span)
        case syntax.VectorLit() | syntax.MapLit() | syntax.TupleExpr() | syntax.Struct():
            return _composite(context, expr, scope, expected)
        case syntax.Unary() | syntax.Binary() | syntax.Cast() | syntax.Slice():
            return _operator(context, expr, scope, expected)
        case syntax.TypedExpr(arg, written, _):
            return check(context, arg, scope, context.written(written))
        case syntax.GetField(arg, name, span):
            return access.field(context, infer(context, arg, scope), name, span)
        case syntax.GetItem(arg, index, span):
            return access.field(context, infer(context, arg, scope), str(index), span)
        case syntax.Try(arg, span):
            return access.try_(context, infer(context, arg, scope, access.tried(context, expected)), span)
        case syntax.Call() | syntax.MethodCall():
            return _call(context, expr, scope, expected)
        case syntax.Interned(text, span):
            interned = context.environment.reference(String(), INTERN)
            return replace(infer(context, text, scope), type=interned, span=span)
        case syntax.Closure():
            return closures.closure(context, expr, scope, expected)
        case syntax.GivenValue():
            return given_value(context, expr)
        case syntax.FlatMap(_, span):
            return context.fail(errors.rules.FlatMapPlace(span=span))
        case syntax.Aggregate(span=span):
            return context.fail(errors.rules.AggregatePlace(span=span))
        case syntax.Wildcard(span) | syntax.VarDecl(_, span) | syntax.Binding(span=span):
            return context.fail(errors.patterns.NotAnExpression(span=span, text=span.text()))
        case _:
            return statement.infer(context, expr, scope, expected)


def _concatenation(context: Context, expr: syntax.Binary, scope: Scope) -> Typed:
    """`a ++ b ++ c`, of any length: from the first string on, what follows is written behind it, and only a
    `++` before that counts as a level."""
    waiting = [expr]
    while isinstance(inner := waiting[-1].left, syntax.Binary) and inner.op == "++":
        waiting.append(inner)
    left, depth = infer(context, waiting[-1].left, scope), context.depth
    while waiting and not isinstance(context.know(left.type), String):
        each = waiting.pop()
        if not context.enter(each.span):
            left, waiting = context.poison(each.span), []
        else:
            left = operators.concatenate(context, left, infer(context, each.right, scope), each.span)
    context.depth = depth
    if not waiting:
        return left
    rest = [infer(context, each.right, scope) for each in reversed(waiting)]
    return operators.concatenation(context, [left, *rest], expr.span)


def variable(context: Context, name: str, span: Span, scope: Scope, expected: Type | None = None) -> Typed:
    """A variable in scope, or a function as a value."""
    local = scope.find(name)
    if local is not None:
        edge = scope.beyond(name)
        return read(context, local, span) if edge is None else _beyond(context, name, local, span, edge)
    signatures = context.environment.functions(name, context.module)
    if signatures:
        return closures.named(context, name, span, signatures, expected)
    environment = context.environment
    unknown = environment.misnamed(FUNCTIONS, name, span, context.module)
    return context.fail(unknown or context.unknown_variable(name, span, scope))


def read(context: Context, local: Local, span: Span) -> Typed:
    """The value of a variable. One that a match binds to a part of another variable, and that is
    assigned, is that part."""
    local.used = True

    def build() -> core.Expr:
        if local.mutated and local.path is not None:
            return local.path.build()
        return core.Var(local.name, context.final(local.type), span)

    return Typed(local.type, span, build, local)


def _beyond(context: Context, name: str, local: Local, span: Span, scope: Scope) -> Typed:
    """A variable around a scope with a border, unchangeable there. A closure has its value from outside."""
    assert scope.outer is not None
    frozen = Local(local.name, local.type, local.span, beyond=scope.border)
    outside = scope.captured.get(local.name) or variable(context, name, span, scope.outer)
    if scope.border is not Border.CLOSURE:
        return replace(outside, place=frozen)
    scope.captured[local.name] = outside
    return Typed(local.type, span, lambda: core.Var(local.name, context.final(local.type), span), frozen)


def _composite(
    context: Context,
    expr: syntax.VectorLit | syntax.MapLit | syntax.TupleExpr | syntax.Struct,
    scope: Scope,
    expected: Type | None,
) -> Typed:
    match expr:
        case syntax.VectorLit(items, span):
            known = context.know(expected) if expected is not None else None
            element = known.args[0] if isinstance(known, Opaque) and len(known.args) == 1 else None
            typed = [infer(context, item, scope, element) for item in items]
            return literal.vector(context, typed, span)
        case syntax.MapLit(pairs, span):
            known = context.know(expected) if expected is not None else None
            held = known.args[1] if isinstance(known, Opaque) and len(known.args) == 2 else None
            both = [(infer(context, k, scope), infer(context, v, scope, held)) for k, v in pairs]
            return literal.mapping(context, both, span)
        case syntax.TupleExpr(items, span):
            return tuple_(context, items, span, scope, expected)
        case syntax.Struct():
            return struct(context, expr, scope, expected)


def tuple_(
    context: Context, items: Sequence[syntax.Expr], span: Span, scope: Scope, expected: Type | None
) -> Typed:
    """`(a, b)`."""
    known = context.know(expected) if expected is not None else None
    wanted: Sequence[Type | None] = [None] * len(items)
    if isinstance(known, Tuple) and len(known.items) == len(items):
        wanted = known.items
    typed = [_part(context, item, scope, each) for item, each in zip(items, wanted, strict=True)]
    type_ = Tuple(tuple(each.type for each in typed))
    return Typed(
        type_,
        span,
        lambda: core.MakeTuple(tuple(each.build() for each in typed), context.final(type_), span),
    )


def _part(context: Context, expr: syntax.Expr, scope: Scope, expected: Type | None) -> Typed:
    return infer(context, expr, scope) if expected is None else check(context, expr, scope, expected)


def struct(context: Context, expr: syntax.Struct, scope: Scope, expected: Type | None) -> Typed:
    """`C{a, b}`, `C{.f = a}`, `C`."""
    found = find_constructor(context, expr)
    if found is None:
        for argument in expr.args or ():
            infer(context, argument.value, scope)
        return context.poison(expr.span)
    typedef, constructor = found
    mapping: dict[str, Type] = {name: context.fresh() for name in typedef.parameters}
    type_ = User(typedef.name, tuple(mapping.values()))
    if expected is not None:
        context.substitution.unify(type_, expected)
    given = arguments(context, expr, constructor)
    parts: list[Typed] = []
    for name, declared in constructor.fields:
        if name not in given:
            if not (expr.args and expr.args[0].name is None):
                context.report(
                    errors.types.MissingField(span=expr.span, field=name, constructor=expr.constructor)
                )
            continue
        parts.append(check(context, given[name], scope, substitute(declared, mapping)))
    return Typed(
        type_,
        expr.span,
        lambda: core.MakeStruct(
            constructor, tuple(each.build() for each in parts), context.final(type_), expr.span
        ),
    )


def _operator(
    context: Context,
    expr: syntax.Unary | syntax.Binary | syntax.Cast | syntax.Slice,
    scope: Scope,
    expected: Type | None,
) -> Typed:
    match expr:
        case syntax.Unary("&", arg, span) if context.in_rule:
            known = context.know(expected) if expected is not None else None
            name = known.name if isinstance(known, Opaque) and wrapped(known) is not None else REF
            inner = infer(context, arg, scope, wrapped(known) if known is not None else None)
            return Typed(context.environment.reference(inner.type, name), span, inner.build)
        case syntax.Unary("&", _, span):
            return context.fail(
                errors.patterns.NotAnExpression(span=span, text=span.text(), help="write `ref_new(...)`")
            )
        case syntax.Unary("-", syntax.TypedExpr(syntax.IntLit(number, None) as arg, written, _), span) if (
            number >= 0 and isinstance(context.written(written), Signed)
        ):  # `-128: s8`, though 128 is none
            return check(context, replace(arg, value=-number, span=span), scope, context.written(written))
        case syntax.Unary(op, arg, span):
            operand = infer(context, arg, scope, Bool() if op == "not" else expected)
            return operators.unary(context, {"-": "neg"}.get(op, op), operand, span)
        case syntax.Binary("++"):
            return _concatenation(context, expr, scope)
        case syntax.Binary(op, left, right, span):
            one = infer(context, left, scope)
            other = infer(context, right, scope)
            return operators.binary(context, op, one, other, span)
        case syntax.Cast(arg, written, span):
            value = arg.value if isinstance(arg, syntax.IntLit) else None
            return operators.cast(context, infer(context, arg, scope), context.written(written), value, span)
        case syntax.Slice(arg, high, low, span):
            return access.slice_(context, infer(context, arg, scope), high, low, span)


def _call(
    context: Context, expr: syntax.Call | syntax.MethodCall, scope: Scope, expected: Type | None
) -> Typed:
    span = expr.span
    if isinstance(expr, syntax.MethodCall):
        name, name_span, args = expr.name, expr.name_span, (expr.arg, *expr.args)
    elif isinstance(expr.function, syntax.Name):
        name, name_span, args = expr.function.name, expr.function.span, expr.args
    else:
        function = infer(context, expr.function, scope)
        return closures.apply(context, function, [infer(context, arg, scope) for arg in expr.args], span)
    if name == "group_by":
        return context.fail(errors.rules.GroupByOutsideRule(span=span))
    signatures = context.environment.functions(name, context.module)
    local = scope.find(name)
    if local is not None and (
        not signatures or (isinstance(expr, syntax.Call) and _callable(context, local))
    ):
        function = variable(context, name, name_span, scope)
        return closures.apply(context, function, [infer(context, arg, scope) for arg in args], span)
    environment = context.environment
    if not signatures or environment.hiding(name, context.module):
        for arg in args:
            infer(context, arg, scope)
        known = environment.names(FUNCTIONS, context.module)
        if context.in_rule:
            known = [*known, *environment.names(RELATIONS, context.module)]
        hint = function_hint(name) or environment.suggest(name, known)
        return context.fail(
            environment.misnamed(FUNCTIONS, name, name_span, context.module)
            or errors.names.UnknownFunction(span=name_span, name=name, help=hint)
        )
    fitting = [each for each in signatures if len(each.parameters) == len(args)]
    hints: Sequence[Type | None] = [
        closures.hint(context, arg, i, fitting) if fitting else None for i, arg in enumerate(args)
    ]
    if len(fitting) == 1 and not fitting[0].variables:
        hints = [each.type for each in fitting[0].parameters]
    typed = [infer(context, arg, scope, hint) for arg, hint in zip(args, hints, strict=True)]
    return call(context, name, span, signatures, typed, expected, method=isinstance(expr, syntax.MethodCall))


def _callable(context: Context, local: Local) -> bool:
    """Whether a variable may be a function: if not, a call of its name is one of a function of this name."""
    known = context.know(local.type)
    return isinstance(known, FunctionType) or context.is_open(known)
