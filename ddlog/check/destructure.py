"""Patterns in rules: a test of the shape, and definitions of the variables in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .. import core, errors, syntax
from ..core.expressions import matches
from ..errors.source import Span
from ..types import Bool, Type
from .body import BodyBuilder, variable
from .context import Context, Local, Typed
from .exhaustive import irrefutable
from .expr import check
from .pattern import Build, literal, referenced, struct_pattern, tuple_pattern


@dataclass(slots=True)
class Destructure:
    """The tests of shape, definitions and equalities that the patterns of one clause add to the body.

    The patterns of a negated clause stand in a body of their own, and `outside` is the body of the clause:
    they bind nothing, and `compared` are the values in them that variables of `outside` must equal.
    """

    body: BodyBuilder
    negated: bool
    outside: BodyBuilder | None = None
    shapes: list[tuple[Typed, Build]] = field(default_factory=list)
    lets: list[tuple[Local, Typed]] = field(default_factory=list)
    equal: list[tuple[Typed, Typed]] = field(default_factory=list)
    compared: list[tuple[Local, Local]] = field(default_factory=list)

    def emit(self) -> None:
        """Adds the clauses: the tests of shape first, for the definitions rely on them."""
        body = self.body
        for value, shape in self.shapes:
            body.parts.append(_guard(body, value, shape))
        for local, value in self.lets:
            body.let(local, value)
        for left, right in self.equal:
            body.add(_equality(left, right))


def _guard(body: BodyBuilder, value: Typed, shape: Build) -> Callable[[], list[core.Clause]]:
    def build() -> list[core.Clause]:
        pattern = shape()
        if irrefutable(pattern, body.context.constructors):
            return []
        return [core.Guard(matches(value.build(), pattern, value.span), value.span)]

    return build


def _equality(left: Typed, right: Typed) -> Callable[[], core.Clause]:
    return lambda: core.Guard(core.Op("==", (left.build(), right.build()), Bool(), right.span), right.span)


def is_pattern(body: BodyBuilder, expr: syntax.Expr) -> bool:
    """Whether the expression leaves something open: a wildcard, a new variable, an omitted field."""
    match expr:
        case syntax.Wildcard() | syntax.VarDecl() | syntax.Binding():
            return True
        case syntax.Name(name, _):
            return body.scope.find(name) is None
        case syntax.TypedExpr(arg, _, _) | syntax.Unary("&", arg, _) | syntax.Block((arg,), _):
            return is_pattern(body, arg)
        case syntax.TupleExpr(items, _):
            return any(is_pattern(body, item) for item in items)
        case syntax.Struct(name, args, _):
            context = body.context
            found = context.environment.constructor(name, context.module)
            omitted = found is not None and len(found[1].fields) != len(args or ())
            return omitted or any(is_pattern(body, each.value) for each in args or ())
        case _:
            return False


def destructure(after: Destructure, expr: syntax.Expr, value: Typed) -> None:
    """Takes a value apart by a pattern."""
    after.shapes.append((value, _take(after, expr, value)))


def _take(after: Destructure, expr: syntax.Expr, value: Typed) -> Build:
    """The shape that the value must have; notes definitions and equalities on the way."""
    body, context, type_ = after.body, after.body.context, value.type

    def part(inner: syntax.Expr, _: Type, value: Typed | None) -> Build:
        assert value is not None
        return _take(after, inner, value)

    match expr:
        case syntax.Wildcard():
            pass
        case syntax.Name(name, span) if after.outside is not None:
            _compare(after, value, variable(after.outside, name, type_, span, negated=True))
        case syntax.Name(name, span):
            after.lets.append((variable(body, name, type_, span, negated=after.negated), value))
        case syntax.VarDecl(name, span) if after.outside is not None:
            context.report(errors.rules.NegatedBinding(span=span, name=name))
        case syntax.VarDecl(name, span):
            after.lets.append((body.bind(name, type_, span), value))
        case syntax.Binding(name, inner, name_span=span):
            if after.outside is not None:
                context.report(errors.rules.NegatedBinder(span=span, name=name))
            else:
                after.lets.append((body.bind(name, type_, span), value))
            return _take(after, inner, value)
        case syntax.TypedExpr(arg, written, span):
            context.agree(span, context.written(written), type_)
            return _take(after, arg, value)
        case syntax.Block((inner,), _) if is_pattern(body, inner):
            return _take(after, inner, value)
        case syntax.Unary("&", inner, span):
            return _take(after, inner, replace(value, type=referenced(context, value.type, span)))
        case syntax.BoolLit() | syntax.StringLit() | syntax.IntLit():
            return literal(context, expr, type_)
        case syntax.TupleExpr():
            return tuple_pattern(context, expr, type_, value, part)
        case syntax.Struct():
            return struct_pattern(context, expr, type_, value, part)
        case _ if after.outside is not None:
            other = after.outside.temporary(type_, expr.span)
            after.outside.let(other, check(context, expr, after.outside.scope, type_))
            _compare(after, value, other)
        case _:
            after.equal.append((value, check(context, expr, body.scope, type_)))
    return lambda: core.AnyPattern(context.final(type_))


def stored(context: Context, local: Local, span: Span) -> Typed:
    """The value of a variable, to be taken apart: this does not count as a use of it."""
    return Typed(local.type, span, lambda: core.Var(local.name, context.final(local.type), span))


def _compare(after: Destructure, value: Typed, other: Local) -> None:
    """A part of a negated clause must equal a variable outside."""
    inside = after.body.temporary(value.type, value.span)
    after.lets.append((inside, value))
    after.compared.append((inside, other))
