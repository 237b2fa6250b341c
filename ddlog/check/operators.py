"""The types of operators, casts, slices, field accesses and `?`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .. import core, errors
from ..errors.nearest import nearest
from ..errors.source import Span
from ..types import (
    HASH_SETS,
    UNIT,
    BigInt,
    Bit,
    Bool,
    Float,
    Function,
    Opaque,
    Signed,
    String,
    Tuple,
    Type,
    User,
    unwrapped,
    wrapped,
)
from ..types.unify import Literal, is_unknown
from .calls import call, to_string
from .context import Context, Typed, fits

BITWISE = frozenset({"&", "|", "^"})
SHIFTS = frozenset({"<<", ">>"})
LOGICAL = frozenset({"and", "or", "=>"})
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_COLLECTIONS = HASH_SETS | {"ddlog_std::Vec", "ddlog_std::Set"}


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
        context.later(lambda: _comparable(context, left.type, span))
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


def _comparable(context: Context, type_: Type, span: Span) -> None:
    if isinstance(context.final(type_), Function):
        context.report(errors.functions.ComparedFunctions(span=span))


def _precedence(context: Context, op: str, left: Typed, right: Typed) -> str:
    """What to say of `a & b == c`."""
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
                context.substitution.restrict(known, Literal.INTEGER)
                known = context.final(known)
            sort = context.substitution.literal(known)
            good = sort is Literal.INTEGER or isinstance(known, Bit | Signed | BigInt)
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

    return undecided(context, span, decide)


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

    return undecided(context, span, decide)


def undecided(context: Context, span: Span, decide: Callable[[bool], Typed | None]) -> Typed:
    """An expression whose meaning hangs on types that may be known only later."""
    now = decide(False)
    if now is not None:
        return now
    result = context.fresh()
    decided: list[Typed] = []

    def ask(final: bool) -> bool:
        found = decide(final)
        if found is None:
            return False
        if not context.substitution.unify(found.type, result) and not (final and context.failed):
            context.agree(span, found.type, result)
        decided.append(found)
        return True

    context.ask(ask)
    return Typed(result, span, lambda: decided[0].build())


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
    """Why there is no cast between the types; None when there is one."""
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


def slice_(context: Context, value: Typed, high: int, low: int, span: Span) -> Typed:
    """`value[high:low]`."""
    result = Bit(max(high - low + 1, 1))

    def check() -> None:
        known = context.final(value.type)
        if not isinstance(known, Bit):
            context.report(
                errors.types.WrongOperand(
                    span=value.span, op="[h:l]", wanted="bit vectors", actual=str(known)
                )
            )
        elif high >= known.width:
            context.report(errors.types.SliceTooHigh(span=span, high=high, type=str(known)))
        elif low > high:
            context.report(errors.types.SliceReversed(span=span, high=high, low=low))

    context.later(check)
    return Typed(result, span, lambda: core.Slice(value.build(), high, low, result, span))


def field(context: Context, value: Typed, name: str, span: Span) -> Typed:
    """`value.name`, where the name may be a number."""

    def decide(final: bool) -> Typed | None:
        known = context.know(value.type)
        match known:
            case Tuple(items) if name.isdigit() and int(name) < len(items):
                return _item(context, value, int(name), items[int(name)], span)
            case User():
                return _struct_field(context, value, known, name, span)
            case _ if wrapped(known) is not None:
                return field(context, replace(value, type=unwrapped(known), place=None), name, span)
            case Opaque("ddlog_std::Group") if name == "key":
                signatures = context.environment.functions("group_key", context.module)
                return call(context, "group_key", span, signatures, [value])
            case _ if is_unknown(known) and not final:
                return None
            case _ if is_unknown(known) and context.failed:
                return context.poison(span)
            case _:
                return context.fail(_no_field(context, value, name, span))

    return undecided(context, span, decide)


def _no_field(
    context: Context, value: Typed, name: str, span: Span, known: tuple[str, ...] = ()
) -> errors.types.NoField:
    close = nearest(name, known)
    help_ = f"did you mean `{close}`?" if close else f"its fields are {', '.join(known)}" if known else ""
    if context.environment.functions(name, context.module):
        help_ = f"to call function `{name}`, write `.{name}()`"
    return errors.types.NoField(
        span=span, expression=value.span.text(), field=name, type=context.show(value.type), help=help_
    )


def _item(context: Context, value: Typed, index: int, type_: Type, span: Span) -> Typed:
    return Typed(
        type_, span, lambda: core.GetItem(value.build(), index, context.final(type_), span), value.place
    )


def _struct_field(context: Context, value: Typed, type_: User, name: str, span: Span) -> Typed:
    constructors = context.constructors(type_)
    having = [dict(fields)[name] for _, fields in constructors if name in dict(fields)]
    if not having:
        known = tuple(dict.fromkeys(each for _, fields in constructors for each, _ in fields))
        return context.fail(_no_field(context, value, name, span, known))
    if len(having) < len(constructors):
        lacking = next(each for each, fields in constructors if name not in dict(fields))
        return context.fail(
            errors.types.GuardedField(span=span, field=name, type=context.show(type_), lacking=lacking)
        )
    result = having[0]
    return Typed(
        result, span, lambda: core.GetField(value.build(), name, context.final(result), span), value.place
    )


def element_type(context: Context, collection: Typed, *, use: str) -> Type:
    """The type of what iterating the collection yields."""
    element = context.fresh()

    def ask(final: bool) -> bool:
        known = context.know(collection.type)
        found = iterated(known)
        if found is not None:
            context.agree(collection.span, found, element)
        elif is_unknown(known) and not final:
            return False
        elif not (is_unknown(known) and context.failed):
            context.report(errors.types.NotIterable(span=collection.span, use=use, type=context.show(known)))
        return True

    context.ask(ask)
    return element


def iterated(type_: Type) -> Type | None:
    """The element type of a collection type, perhaps in a Ref or Intern; None for other types."""
    match unwrapped(type_):
        case Opaque(name, (element,)) if name in _COLLECTIONS:
            return element
        case Opaque("ddlog_std::Map", (key, value)):
            return Tuple((key, value))
        case Opaque("ddlog_std::Group", (_, value)):
            return Tuple((value, Signed(64)))
        case _:
            return None


def try_(context: Context, value: Typed, span: Span) -> Typed:
    """`value?` in a function: its content, or a return from the function."""
    if context.in_rule:
        return context.fail(errors.functions.QuestionOutsideFunction(span=span))
    result = context.result
    assert result is not None

    def decide(final: bool) -> Typed | None:
        known = context.know(value.type)
        outer = context.know(result)
        if is_unknown(known) and not final:
            return None
        match known, outer:
            case User("ddlog_std::Option", (content,)), User("ddlog_std::Option"):
                pass
            case User("ddlog_std::Result", (content, _)), User("ddlog_std::Option"):
                pass
            case User("ddlog_std::Result", (content, error)), User("ddlog_std::Result", (_, wanted)):
                context.agree(span, error, wanted)
            case _ if is_unknown(known) and context.failed:
                return context.poison(span)
            case _:
                return context.fail(
                    errors.functions.BadQuestion(
                        span=span, type=context.show(known), result=context.show(result)
                    )
                )
        return Typed(
            content,
            span,
            lambda: core.Try(value.build(), context.final(result), context.final(content), span),
        )

    return undecided(context, span, decide)


def _apply(context: Context, op: str, left: Typed, right: Typed, type_: Type, span: Span) -> Typed:
    return Typed(type_, span, lambda: core.Op(op, (left.build(), right.build()), context.final(type_), span))


def unit(span: Span) -> Typed:
    """The empty tuple."""
    return Typed(UNIT, span, lambda: core.MakeTuple((), UNIT, span))
