"""Literals: numbers that adapt to their context, strings, vectors, maps, structs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import core, errors, syntax, values
from ..errors.source import Span
from ..types import UNIT, Bit, Bool, Float, Opaque, Signed, String, Type
from ..types.unify import LiteralSort
from ..values.numbers import brief
from .calls import call
from .context import Context, Local, Typed, fits


def constant(value: Any, type_: Type, span: Span) -> Typed:
    """A value of a known type."""
    return Typed(type_, span, lambda: core.Const(value, type_, span))


def integer(context: Context, literal: syntax.IntLit, expected: Type | None) -> Typed:
    """An integer literal: of the type that it says, or that its context wants."""
    value, span = literal.value, literal.span
    if literal.width is not None:
        sized: Type = Signed(literal.width) if literal.signed else Bit(literal.width)
        if value < 0 and not literal.signed:  # the parser has reported the others that do not fit
            context.report(errors.types.LiteralTooBig(span=span, value=brief(value), type=str(sized)))
        return constant(value, sized, span)
    type_ = context.literal(LiteralSort.INTEGER, value)
    if not _adapts(context, type_, expected, "integer", value, span):
        return context.poison(span)

    def check() -> None:
        known = context.final(type_)
        last = value - 1 if span in context.left_out and not isinstance(known, Float) else value
        if not fits(value, known) and not fits(last, known):
            context.report(errors.types.LiteralTooBig(span=span, value=brief(value), type=str(known)))

    def build() -> core.Expr:
        known = context.final(type_)
        stored = values.check(value, known, {}) if isinstance(known, Float) else value
        return core.Const(stored, known, span)

    context.later(check)
    return Typed(type_, span, build)


def floating(context: Context, literal: syntax.FloatLit, expected: Type | None) -> Typed:
    """A float literal: double unless it or its context says float."""
    value, span = literal.value, literal.span
    if literal.width is not None:
        return constant(_floating(value, literal.width), Float(literal.width), span)
    type_ = context.literal(LiteralSort.FLOAT, None)
    if not _adapts(context, type_, expected, "float", value, span):
        return context.poison(span)

    def build() -> core.Expr:
        known = context.final(type_)
        width = known.width if isinstance(known, Float) else 64
        return core.Const(_floating(value, width), known, span)

    return Typed(type_, span, build)


def _floating(value: float, width: int) -> float:
    return values.single(value) if width == 32 else values.canonical_float(value)


def _adapts(
    context: Context, type_: Type, expected: Type | None, sort: str, value: float, span: Span
) -> bool:
    """Whether the literal fits the type that its context expects; if not, an error is noted."""
    if expected is None or context.substitution.unify(type_, expected):
        return True
    context.report(
        errors.types.LiteralMismatch(
            span=span,
            sort=sort,
            value=brief(value) if isinstance(value, int) else str(value),
            type=context.show(expected),
        )
    )
    return False


def string(text: str, span: Span) -> Typed:
    """A string constant."""
    return constant(text, String(), span)


def boolean(value: bool, span: Span) -> Typed:
    """`true` or `false`."""
    return constant(value, Bool(), span)


def vector(context: Context, items: Sequence[Typed], span: Span) -> Typed:
    """`[a, b]`: pushed one after another on an empty vector."""
    element = items[0].type if items else context.fresh()
    type_ = Opaque("ddlog_std::Vec", (element,))
    for item in items[1:]:
        context.agree(item.span, item.type, element)
    steps = [("vec_push", (item,)) for item in items]
    return _collected(context, type_, "vec_with_capacity", [constant(len(items), Bit(64), span)], steps, span)


def mapping(context: Context, items: Sequence[tuple[Typed, Typed]], span: Span) -> Typed:
    """`[k -> v]`: inserted one after another into an empty map."""
    key, value = items[0][0].type, items[0][1].type
    for k, v in items[1:]:
        context.agree(k.span, k.type, key)
        context.agree(v.span, v.type, value)
    type_ = Opaque("ddlog_std::Map", (key, value))
    return _collected(context, type_, "map_empty", [], [("map_insert", item) for item in items], span)


def _collected(
    context: Context,
    type_: Type,
    start: str,
    start_args: list[Typed],
    steps: Sequence[tuple[str, tuple[Typed, ...]]],
    span: Span,
) -> Typed:
    """A block that fills a fresh variable and ends in it."""
    local = Local(context.unique("$all"), type_, span, mutable=True)
    variable = Typed(type_, span, lambda: core.Var(local.name, context.final(type_), span), local)
    empty = library_call(context, start, start_args, span)
    context.agree(span, empty.type, type_)
    filled = [library_call(context, name, [variable, *args], args[0].span) for name, args in steps]

    def build() -> core.Expr:
        known = context.final(type_)
        declared = core.Declare(core.VarPattern(local.name, known), empty.build(), UNIT, span)
        return core.Block((declared, *(each.build() for each in filled), variable.build()), known, span)

    return Typed(type_, span, build)


def library_call(context: Context, name: str, args: list[Typed], span: Span) -> Typed:
    """A call of a function of the standard library that the language itself relies on."""
    signatures = context.environment.functions(f"ddlog_std::{name}", context.module)
    return call(context, name, span, signatures, args)
