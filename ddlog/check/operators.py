"""Operators and casts: the types of their operands and results."""

from __future__ import annotations

from .. import core, errors
from ..errors.source import Span
from ..types import (
    BigInt,
    Bit,
    Bool,
    Float,
    Signed,
    String,
    Type,
)
from ..types.unify import LiteralSort, is_unknown
from .calls import to_string
from .context import Context, Typed, fits

BITWISE = frozenset({"&", "|", "^"})
SHIFTS = frozenset({"<<", ">>"})
LOGICAL = frozenset({"and", "or", "=>"})
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def unary(context: Context, op: str, value: Typed, span: Span) -> Typed:
    """`-x`, `~x`, `not x`."""
    if op == "not":
        hint = "`not` binds tighter than comparisons: write `not (a == b)`"
        context.expect(value, Bool(), hint if span != value.span else "")  # the `else` of a rule has no `not`
    else:
        numbers(context, "-" if op == "neg" else op, [value], integers=op == "~")
    return Typed(value.type, span, lambda: core.Op(op, (value.build(),), context.final(value.type), span))


def binary(context: Context, op: str, left: Typed, right: Typed, span: Span) -> Typed:
    """A binary operator other than `++`."""
    if op in LOGICAL:
        context.expect(left, Bool())
        context.expect(right, Bool())
        return _apply(context, op, left, right, Bool(), span)
    if op in COMPARISONS:
        context.agree(right.span, right.type, left.type)
        return _apply(context, op, left, right, Bool(), span)
    if op in SHIFTS:
        numbers(context, op, [left], integers=True)
        context.expect(right, Bit(32))
        return _apply(context, op, left, right, left.type, span)
    if op == "+":
        return plus(context, left, right, span)
    if context.agree(right.span, right.type, left.type, _precedence(context, op, left, right)):
        numbers(context, op, [left, right], integers=op in BITWISE)
    return _apply(context, op, left, right, left.type, span)


def _precedence(context: Context, op: str, left: Typed, right: Typed) -> str:
    """The hint for `a & b == c`; empty for other mistakes."""
    if op in BITWISE and Bool() in (context.know(left.type), context.know(right.type)):
        return f"comparisons bind tighter than `{op}`: write `(a {op} b) == c`"
    return ""


def numbers(context: Context, op: str, values: list[Typed], *, integers: bool) -> None:
    """Demands number types of operands."""

    def ask(final: bool) -> bool:
        for value in values:
            known = context.know(value.type)
            if context.is_open(known) and not final:
                return False
            if context.is_open(known):
                context.substitution.restrict(known, LiteralSort.INTEGER)
                known = context.final(known)
            sort = context.substitution.literal(known)
            good = sort is LiteralSort.INTEGER or isinstance(known, Bit | Signed | BigInt)
            if not integers:
                good = good or sort is not None or isinstance(known, Float)
            if not good:
                wanted = "integers" if integers else "numbers"
                if not context.failed or not is_unknown(known):
                    context.report(
                        errors.types.WrongOperand(
                            span=value.span, op=op, wanted=wanted, actual=context.show(known)
                        )
                    )
                return True
        return True

    context.ask(ask)


def plus(context: Context, left: Typed, right: Typed, span: Span) -> Typed:
    """`a + b`: a sum, or a concatenation where either is a string."""

    def decide(final: bool) -> Typed | None:
        if any(isinstance(context.know(each.type), String) for each in (left, right)):
            return concatenation(context, [left, right], span)
        if not final and any(context.is_open(each.type) for each in (left, right)):
            return None
        if context.agree(right.span, right.type, left.type):
            numbers(context, "+", [left, right], integers=False)
        return _apply(context, "+", left, right, left.type, span)

    return context.undecided(span, decide)


def concatenate(context: Context, left: Typed, right: Typed, span: Span) -> Typed:
    """`a ++ b`: of strings, the right one converted, or of bit vectors."""

    def decide(final: bool) -> Typed | None:
        one, other = context.know(left.type), context.know(right.type)
        if isinstance(one, String):
            return concatenation(context, [left, right], span)
        if isinstance(one, Bit) and isinstance(other, Bit):
            return _apply(context, "++", left, right, Bit(one.width + other.width), span)
        if isinstance(other, String) and not is_unknown(one):
            return concatenation(context, [left, right], span)
        if not final and (is_unknown(one) or is_unknown(other)):
            return None
        wrong = left if not isinstance(one, Bit) else right
        if context.failed and is_unknown(context.know(wrong.type)):
            return context.poison(span)
        wanted = "strings or bit vectors of known width"
        return context.fail(
            errors.types.WrongOperand(
                span=wrong.span, op="++", wanted=wanted, actual=context.show(wrong.type)
            )
        )

    return context.undecided(span, decide)


def concatenation(context: Context, parts: list[Typed], span: Span) -> Typed:
    """Strings, and other values as strings, one after another."""
    strings = [to_string(context, part) for part in parts]

    def build() -> core.Expr:
        pieces: list[core.Expr] = []
        for string in strings:
            piece = string.build()
            inner = piece.args if isinstance(piece, core.Op) and piece.op == "concat" else (piece,)
            for each in inner:
                last = pieces[-1] if pieces else None
                if isinstance(each, core.Const) and isinstance(last, core.Const):
                    pieces[-1] = core.Const(last.value + each.value, String(), span)
                else:
                    pieces.append(each)
        return pieces[0] if len(pieces) == 1 else core.Op("concat", tuple(pieces), String(), span)

    return Typed(String(), span, build)


def _apply(context: Context, op: str, left: Typed, right: Typed, type_: Type, span: Span) -> Typed:
    return Typed(type_, span, lambda: core.Op(op, (left.build(), right.build()), context.final(type_), span))


def cast(context: Context, value: Typed, target: Type, literal: int | None, span: Span) -> Typed:
    """`value as target`. A literal that fits simply has the target type."""
    if literal is None:
        context.progress()  # a value is no literal because it was compared with one
    sort = context.substitution.literal(value.type)
    if sort is not None and sort.allows(target) and _literal_fits(literal, target):
        context.expect(value, target)
        return value

    def check() -> None:
        reason = cast_error(context.final(value.type), context.final(target))
        if reason is not None:
            context.report(
                errors.types.BadCast(
                    span=span, source=context.show(value.type), target=context.show(target), reason=reason
                )
            )

    context.later(check)
    return Typed(target, span, lambda: core.Cast(value.build(), context.final(target), span))


def _literal_fits(literal: int | None, target: Type) -> bool:
    return literal is None or fits(literal, target)


def cast_error(source: Type, target: Type) -> str | None:
    """The reason why no cast between the types exists; None if one exists."""
    match source, target:
        case _ if source == target:
            return None
        case (Bit(), Bit()) | (Signed(), Signed()) | (Bit() | Signed() | BigInt(), BigInt() | Float()):
            return None
        case (Bit(a), Signed(b)) | (Signed(a), Bit(b)):
            if a == b:
                return None
            return (
                "Conversion between signed and unsigned bit vectors only supported across types of "
                "the same bit width"
            )
        case (BigInt(), Signed()) | (Float(), Float()):
            return None
        case BigInt(), Bit():
            return "Direct casts from 'bigint' to 'bit<>' are not supported; cast to signed<> first"
        case Float(), Bit() | Signed() | BigInt():
            return "There are no direct casts from floating point to integers; use int_from_f or int_from_d"
        case _:
            return f"Cannot type-cast expression to {target}"
