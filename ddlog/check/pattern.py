"""Patterns of match arms, loops and declarations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import TypeAlias

from .. import core, errors, syntax
from ..errors.diagnostics import counted
from ..errors.source import Span
from ..names.modules import CONSTRUCTORS
from ..syntax.foreign import value_hint
from ..types import Bit, Bool, Constructor, Signed, String, Tuple, Type, TypeDef, User, wrapped
from ..types.unify import LiteralSort, substitute
from ..values.numbers import brief
from .context import Context, Local, Scope, Typed, fits

Build = Callable[[], core.Pattern]
Take: TypeAlias = Callable[[syntax.Expr, Type, Typed | None], Build]
"""Takes a part apart: its pattern, its type, and the part as an expression."""

Assignable: TypeAlias = syntax.Name | syntax.GetField | syntax.GetItem


@dataclass(slots=True)
class Binder:
    """The way in which the variables of a pattern come into scope.

    In a declaration (`assigned` is a list) a bare name is a variable that exists already: it is
    assigned after the match, and so is a part of one. Elsewhere a bare name is a new variable.
    """

    context: Context
    scope: Scope
    mutable: bool = False
    assigned: list[tuple[Local, Assignable]] | None = None
    bound: dict[str, Span] = field(default_factory=dict)

    def bind(self, name: str, type_: Type, span: Span, path: Typed | None) -> Local:
        """A new variable; twice the same in one pattern is an error."""
        if name in self.bound:
            self.context.report(errors.names.VariableDefined(span=span, name=name))
        self.bound[name] = span
        place = path.place if path else None
        mutable = self.mutable or (place is not None and place.mutable)
        local = self.context.declare(self.scope, name, type_, span, mutable=mutable)
        local.path = path if mutable and not self.mutable else None
        return local


def pattern(binder: Binder, expr: syntax.Expr, type_: Type, path: Typed | None = None) -> Build:
    """Checks a pattern against the type of what it takes apart; `path` is that expression where
    an assignment to a variable of the pattern is to change it."""
    context = binder.context
    if not context.enter(expr.span):
        return lambda: core.AnyPattern(context.final(type_))
    try:
        return _pattern(binder, expr, type_, path)
    finally:
        context.depth -= 1


def _pattern(binder: Binder, expr: syntax.Expr, type_: Type, path: Typed | None) -> Build:
    context = binder.context
    match expr:
        case syntax.Wildcard():
            return lambda: core.AnyPattern(context.final(type_))
        case syntax.Name() | syntax.GetField() | syntax.GetItem() if binder.assigned is not None:
            local = context.declare(Scope(), "$new", type_, expr.span)
            binder.assigned.append((local, expr))
            return lambda: core.VarPattern(local.name, context.final(type_))
        case syntax.Name(name, span) | syntax.VarDecl(name, span):
            local = binder.bind(name, type_, span, path)
            return lambda: core.VarPattern(local.name, context.final(type_))
        case syntax.Binding(name, inner, name_span=span):
            local = binder.bind(name, type_, span, path)
            build = pattern(binder, inner, type_, path)
            return lambda: core.VarPattern(local.name, context.final(type_), build())
        case syntax.TypedExpr(arg, written, span):
            context.agree(span, context.written(written), type_)
            return pattern(binder, arg, type_, path)
        case syntax.BoolLit() | syntax.StringLit() | syntax.IntLit():
            return literal(context, expr, type_)
        case syntax.TupleExpr():
            return tuple_pattern(context, expr, type_, path, partial(pattern, binder))
        case syntax.Struct():
            return struct_pattern(context, expr, type_, path, partial(pattern, binder))
        case syntax.Unary("&", inner, span) if context.in_rule:
            return pattern(binder, inner, referenced(context, type_, span))
        case syntax.Unary("&", _, span):
            help_ = "`&p` is for terms of rules and indexes; match the `deref` or `ival` of the value"
            context.report(errors.patterns.NotAPattern(span=span, help=help_))
        case _:
            context.report(errors.patterns.NotAPattern(span=expr.span))
    return lambda: core.AnyPattern(context.final(type_))


def referenced(context: Context, type_: Type, span: Span) -> Type:
    """The type of the content of a Ref or Intern; later stages keep only the content."""
    known = context.know(type_)
    inner = wrapped(known)
    if inner is None:
        inner = context.fresh()
        context.agree(span, known, context.environment.reference(inner))
    return inner


def literal(context: Context, expr: syntax.BoolLit | syntax.StringLit | syntax.IntLit, type_: Type) -> Build:
    """The pattern of a literal."""
    if isinstance(expr, syntax.IntLit):
        return _integer(context, expr, type_)
    plain: Type = Bool() if isinstance(expr, syntax.BoolLit) else String()
    context.agree(expr.span, plain, type_)
    return lambda: core.ConstPattern(expr.value, plain)


def _integer(context: Context, expr: syntax.IntLit, type_: Type) -> Build:
    if expr.width is not None:
        context.agree(expr.span, Signed(expr.width) if expr.signed else Bit(expr.width), type_)
    elif not context.substitution.unify(context.literal(LiteralSort.INTEGER, expr.value), type_):
        context.report(
            errors.types.LiteralMismatch(
                span=expr.span, sort="integer", value=str(expr.value), type=context.show(type_)
            )
        )

    def check() -> None:
        known = context.final(type_)
        reported = expr.width is not None and (expr.signed or expr.value >= 0)  # by the parser
        if not reported and not fits(expr.value, known):
            context.report(
                errors.types.LiteralTooBig(span=expr.span, value=brief(expr.value), type=str(known))
            )

    context.later(check)
    return lambda: core.ConstPattern(expr.value, context.final(type_))


def tuple_pattern(
    context: Context, expr: syntax.TupleExpr, type_: Type, path: Typed | None, take: Take
) -> Build:
    """The pattern of a tuple, whose items `take` makes."""
    types = tuple(context.fresh() for _ in expr.items)
    context.agree(expr.span, Tuple(types), type_)
    builds = [
        take(item, each, tuple_part(context, path, i, each))
        for i, (item, each) in enumerate(zip(expr.items, types, strict=True))
    ]
    return lambda: core.TuplePattern(tuple(build() for build in builds), context.final(type_))


def struct_pattern(
    context: Context, expr: syntax.Struct, type_: Type, path: Typed | None, take: Take
) -> Build:
    """The pattern of a struct, whose fields `take` makes."""
    found = find_constructor(context, expr)
    if found is None:
        for argument in expr.args or ():
            unknown = context.poison(expr.span)
            take(argument.value, unknown.type, unknown)
        return lambda: core.AnyPattern(context.final(type_))
    typedef, constructor = found
    mapping: dict[str, Type] = {name: context.fresh() for name in typedef.parameters}
    context.agree(expr.span, User(typedef.name, tuple(mapping.values())), type_)
    given = arguments(context, expr, constructor)
    builds: list[Build] = []
    for name, declared in constructor.fields:
        field_type = substitute(declared, mapping)
        inner = given.get(name) or syntax.Wildcard(expr.span)
        builds.append(take(inner, field_type, field_part(context, path, name, field_type)))
    return lambda: core.StructPattern(constructor, tuple(build() for build in builds), context.final(type_))


def find_constructor(context: Context, expr: syntax.Struct) -> tuple[TypeDef, Constructor] | None:
    """The constructor of the name; None after an error."""
    found = context.environment.constructor(expr.constructor, context.module)
    if found is None:
        environment = context.environment
        context.report(
            environment.misnamed(CONSTRUCTORS, expr.constructor, expr.span, context.module)
            or errors.names.UnknownConstructor(
                span=expr.span,
                name=expr.constructor,
                help=value_hint(expr.constructor)
                or environment.suggest(expr.constructor, environment.names(CONSTRUCTORS, context.module))
                or ("" if expr.args else "a variable begins with a small letter"),
            )
        )
    return found


def arguments(context: Context, expr: syntax.Struct, constructor: Constructor) -> dict[str, syntax.Expr]:
    """The argument for each field that has one; `C` alone leaves all out."""
    return by_field(
        context, expr.args or (), [name for name, _ in constructor.fields], expr.constructor, expr.span
    )


def by_position(args: Sequence[syntax.Argument]) -> Sequence[syntax.Argument]:
    """The arguments before the first one by name."""
    return list(takewhile(lambda each: each.name is None, args))


def by_field(
    context: Context, args: Sequence[syntax.Argument], fields: Sequence[str], owner: str, span: Span
) -> dict[str, syntax.Expr]:
    """Arguments by position or by name, as a mapping from fields; errors where they do not fit. Those by
    position come first."""
    named = [each for each in args if each.name is not None]
    first = by_position(args)
    if not named or len(first) > len(fields):
        if args and len(args) != len(fields):
            context.report(
                errors.types.WrongFieldCount(
                    span=span, name=owner, wanted=counted(len(fields), "field"), given=str(len(args))
                )
            )
        return {name: each.value for name, each in zip(fields, args, strict=False)}
    given = {name: each.value for name, each in zip(fields, first, strict=False)}
    for each in named:
        assert each.name is not None
        if each.name not in fields:
            hint = (
                context.environment.suggest(each.name, fields)
                or f"its fields are {', '.join(fields) or 'none'}"
            )
            context.report(errors.names.UnknownField(span=each.span, name=each.name, owner=owner, help=hint))
        elif each.name in given:
            context.report(errors.types.RepeatedField(span=each.span, field=each.name))
        given[each.name] = each.value
    return given


def tuple_part(context: Context, path: Typed | None, index: int, type_: Type) -> Typed | None:
    """The item of a tuple that is a place, as a place."""
    return _part(path, type_, lambda whole, span: core.GetItem(whole, index, context.final(type_), span))


def field_part(context: Context, path: Typed | None, name: str, type_: Type) -> Typed | None:
    """The field of a struct that is a place, as a place."""
    return _part(path, type_, lambda whole, span: core.GetField(whole, name, context.final(type_), span))


def _part(path: Typed | None, type_: Type, part: Callable[[core.Expr, Span], core.Expr]) -> Typed | None:
    if path is None:
        return None
    whole = path
    return Typed(type_, whole.span, lambda: part(whole.build(), whole.span), whole.place)
