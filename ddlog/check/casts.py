"""Casts between types."""

from __future__ import annotations

from .. import core, errors
from ..errors.source import Span
from ..types import BigInt, Bit, Float, Signed, Type
from .context import Context, Typed, fits


def cast(context: Context, value: Typed, target: Type, literal: int | None, span: Span) -> Typed:
    """`value as target`. A literal that fits simply has the target type."""
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
