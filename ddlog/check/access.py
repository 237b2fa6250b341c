"""Parts of values: fields, items of tuples, bits, elements of collections, the content that `?` takes."""

from __future__ import annotations

from dataclasses import replace

from .. import core, errors
from ..errors.nearest import meant_of
from ..errors.source import Span
from ..types import HASH_SETS, Bit, Opaque, Signed, Tuple, Type, User, unwrapped, wrapped
from ..types.unify import is_unknown
from .calls import call
from .context import Context, Typed

_COLLECTIONS = HASH_SETS | {"ddlog_std::Vec", "ddlog_std::Set"}


def field(context: Context, value: Typed, name: str, span: Span) -> Typed:
    """`value.name`, where the name may be a number."""

    def decide(final: bool) -> Typed | None:
        known = context.know(value.type)
        match known:
            case Tuple(items) if name.isdigit() and int(name) < len(items):
                return _item(context, value.settled, int(name), items[int(name)], span)
            case User():
                return _struct_field(context, value.settled, known, name, span)
            case _ if wrapped(known) is not None:
                content = replace(value, type=unwrapped(known), place=None, decided=None)
                return field(context, content, name, span)
            case Opaque("ddlog_std::Group") if name == "key":
                signatures = context.environment.functions("group_key", context.module)
                return call(context, "group_key", span, signatures, [value])
            case _ if is_unknown(known) and not final:
                return None
            case _ if is_unknown(known) and context.failed:
                return context.poison(span)
            case _:
                return context.fail(_no_field(context, value, name, span))

    return context.undecided(span, decide, value.place)


def _no_field(
    context: Context, value: Typed, name: str, span: Span, known: tuple[str, ...] = ()
) -> errors.types.NoField:
    help_ = meant_of(name, known, "its fields") if known else ""
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


def element_type(context: Context, collection: Typed, *, use: str) -> Type:
    """The type of the elements that a loop over the collection visits."""
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


def tried(context: Context, content: Type | None) -> Type | None:
    """The type that `e` in `e?` must have in a function that returns a Result."""
    match context.result and context.know(context.result):
        case User("ddlog_std::Result", (_, error)):
            return User("ddlog_std::Result", (content or context.fresh(), error))
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

    return context.undecided(span, decide)
