"""Calls: which of the functions of a name is meant, and with which type arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .. import core, errors
from ..errors.diagnostics import Note, counted
from ..errors.source import Span
from ..names.signatures import DeclaredSignature
from ..types import Bit, FunctionType, Signed, String, Type, TypeVar, wrapped
from ..types.unify import is_unknown, substitute
from .context import Border, Context, Typed

NO_PLACE = "it is not a variable or a part of one"


@dataclass(frozen=True, slots=True)
class Instance:
    """A function with types for its type variables, perhaps still unknown ones."""

    signature: DeclaredSignature
    arguments: Mapping[str, Type]

    @property
    def parameters(self) -> tuple[Type, ...]:
        """The types of the parameters."""
        return tuple(substitute(each.type, self.arguments) for each in self.signature.parameters)

    @property
    def result(self) -> Type:
        """The type of the result."""
        return substitute(self.signature.result, self.arguments)


ENDS = {("ddlog_std", "range_vec"): 1} | {
    ("allocate", name): 3 for name in ("allocate", "allocate_with_hint", "allocate_opt", "adjust_allocation")
}
"""The places of the arguments that end a range of numbers, by function: the end may be one more than the
greatest number of its type, which is never given."""


class UndecidedCall:
    """A call whose function is being decided by the types of its arguments, then of its result."""

    def __init__(
        self,
        context: Context,
        name: str,
        span: Span,
        candidates: Sequence[DeclaredSignature],
        arguments: Sequence[Typed],
        *,
        method: bool = False,
    ) -> None:
        self.context = context
        self.method = method
        self.name = name
        self.span = span
        self.arguments = tuple(arguments)
        self.candidates = tuple(candidates)
        self.result: Type = context.fresh()
        self.chosen: Instance | None = None

    def ask(self, final: bool) -> bool:
        """Decides the function if the types allow it; at the end, reports why they do not."""
        viable = [each for each in self.candidates if self.fits(each)] if self._may_choose() else []
        while self.method and not viable and self._dereference():
            viable = [each for each in self.candidates if self.fits(each)]
        if len(self.candidates) == 1:
            self._commit(self.candidates[0])
            return True
        if len(viable) > 1:
            viable = [each for each in viable if self.fits(each, with_result=True)] or viable[:0]
        if len(viable) > 1 and (final or self._arguments_known()):
            best = most_specific(viable, self.context.module)
            if final or not _told_apart_by_result(best, viable):
                viable = best
        if len(viable) == 1:
            self._commit(viable[0])
        elif not viable:
            self._report_none()
        elif final and not self.context.failed:
            self._report_several(viable)
        return len(viable) < 2 or final

    def build(self) -> core.Expr:
        """The call in core; the function instance is demanded."""
        assert self.chosen is not None
        context, signature = self.context, self.chosen.signature
        types = tuple(context.final(self.chosen.arguments[name]) for name in signature.variables)
        key = context.instances.demand(signature, types)
        return core.Call(
            key, tuple(each.build() for each in self.arguments), context.final(self.result), self.span
        )

    def _may_choose(self) -> bool:
        return self.method or len(self.candidates) > 1

    def _dereference(self) -> bool:
        """Replaces a Ref or Intern that a method is called on by its content; whether there was one."""
        first, *others = self.arguments
        inner = wrapped(self.context.know(first.type))
        if inner is not None:
            self.arguments = (replace(first, type=inner, place=None), *others)
        return inner is not None

    def _instance(self, signature: DeclaredSignature) -> Instance:
        return Instance(signature, {name: self.context.fresh() for name in signature.variables})

    def fits(self, signature: DeclaredSignature, *, with_result: bool = False) -> bool:
        """Whether the arguments, and the result if asked, can have the types of the function."""
        substitution = self.context.substitution
        mark = substitution.mark()
        instance = self._instance(signature)
        pairs = list(zip((each.type for each in self.arguments), instance.parameters, strict=True))
        if with_result:
            pairs.append((self.result, instance.result))
        fine = all(substitution.unify(left, right) for left, right in pairs)
        substitution.undo(mark)
        return fine

    def _arguments_known(self) -> bool:
        return not any(is_unknown(self.context.know(each.type)) for each in self.arguments)

    def _commit(self, signature: DeclaredSignature) -> None:
        context = self.context
        self.chosen = instance = self._instance(signature)
        mutable = [each.mutable for each in signature.parameters]
        hand_over(context, self.arguments, instance.parameters, mutable)
        end = ENDS.get((signature.module, signature.name))
        if end is not None:
            context.left_out.add(self.arguments[end].span)
        context.agree(self.span, instance.result, self.result)

    def _shown(self) -> str:
        return ", ".join(self.context.show(each.type) for each in self.arguments)

    def _report_several(self, viable: Sequence[DeclaredSignature]) -> None:
        modules = {each.module: each for each in viable}
        choices = " or ".join(f"`{module}::{each.name}`" for module, each in modules.items() if module)
        self.context.report(
            errors.functions.AmbiguousCall(
                span=self.span,
                name=self.name,
                arguments=self._shown(),
                notes=places(viable),
                help=f"write {choices}" if len(modules) == len(viable) else "",
            )
        )

    def _wanted(self) -> str:
        """The type that the result must have, if that is known and the arguments suit some function."""
        known = self.context.know(self.result)
        suits = any(map(self.fits, self.candidates))
        return f" and gives {self.context.show(known)}" if suits and not is_unknown(known) else ""

    def _report_none(self) -> None:
        self.context.report(
            errors.functions.NoSuchOverload(
                span=self.span,
                name=self.name,
                arguments=self._shown(),
                wanted=self._wanted(),
                notes=places(self.candidates),
            )
        )


def call(
    context: Context,
    name: str,
    span: Span,
    candidates: Sequence[DeclaredSignature],
    arguments: Sequence[Typed],
    expected: Type | None = None,
    *,
    method: bool = False,
) -> Typed:
    """A call of one of the functions, all of the name; as a `method` of the first argument, also of the value
    in a Ref or Intern."""
    fitting = [each for each in candidates if len(each.parameters) == len(arguments)]
    if not fitting:
        return context.fail(
            errors.functions.WrongArgumentCount(
                span=span, name=name, given=counted(len(arguments), "argument"), notes=places(candidates)
            )
        )
    decision = UndecidedCall(context, name, span, fitting, arguments, method=method and bool(arguments))
    if expected is not None and len(decision.candidates) > 1:
        context.substitution.unify(decision.result, expected)
    context.ask(decision.ask)
    return Typed(decision.result, span, decision.build)


def _told_apart_by_result(best: Sequence[DeclaredSignature], viable: Sequence[DeclaredSignature]) -> bool:
    """Whether another function than the best has the same parameters, so that the result decides."""
    shapes = [each.shape[:-1] for each in viable]
    return any(shapes.count(each.shape[:-1]) > 1 for each in best)


def most_specific(candidates: Sequence[DeclaredSignature], module: str) -> list[DeclaredSignature]:
    """The one fitting function without type variables, else the one of this module, else all of them."""
    for prefer in (
        [each for each in candidates if not each.variables],
        [each for each in candidates if each.module == module],
    ):
        if len(prefer) == 1:
            return prefer
    return list(candidates)


def places(candidates: Sequence[DeclaredSignature]) -> tuple[Note, ...]:
    """The candidates as notes of a message."""
    more = (Note(f"and {len(candidates) - 6} more"),) if len(candidates) > 6 else ()
    return tuple(Note(f"candidate: {each.show()}") for each in candidates[:6]) + more


def hand_over(
    context: Context, arguments: Sequence[Typed], types: Sequence[Type], mutable: Sequence[bool]
) -> None:
    """Demands that arguments be of the types of parameters, and places where these are `mut`."""
    for argument, type_, changed in zip(arguments, types, mutable, strict=True):
        context.expect(argument, type_)
        if changed:
            mutate(context, argument)


def mutate(context: Context, target: Typed) -> None:
    """Demands that the expression may be assigned to."""
    place = target.place
    if place is None:
        context.report(errors.types.NotAssignable(span=target.span, reason=NO_PLACE))
    elif not place.mutable:
        name = place.name.partition("$")[0]
        reason = f"`{name}` is neither a `var` nor a `mut` parameter"
        if place.beyond is Border.CLOSURE:
            reason = f"`{name}` is declared outside the closure, which holds a copy of its value"
        if place.beyond is Border.CONDITION:
            reason = f"`{name}` cannot change in the condition of an `if`"
        if place.iterated:
            reason = f"`{name}` cannot change while a loop goes over it"
        notes = (Note("declared here", place.span),)
        before = "compute the condition before it: `var c = ...; if (c) ...`"
        help_ = before if place.beyond is Border.CONDITION else ""
        context.report(errors.types.NotAssignable(span=target.span, reason=reason, notes=notes, help=help_))
    else:
        changed: Typed | None = target
        while changed is not None and changed.place is not None:
            changed.place.mutated = True
            _check_decided(context, changed, target.span)
            changed = changed.place.path


def _check_decided(context: Context, part: Typed, span: Span) -> None:
    """Demands that an undecided part of a variable turn out to be one, and not the content of a Ref."""

    def ask(final: bool) -> bool:
        settled = part.settled
        if settled.decided is not None and not final:
            return False
        if settled.place is None and not context.failed:
            context.report(errors.types.NotAssignable(span=span, reason=NO_PLACE))
        return True

    if part.decided is not None:
        context.ask(ask)


def to_string(context: Context, value: Typed) -> Typed:
    """The expression as a string: itself, or a call of the `to_string` that its type has, or the content of a
    Ref or Intern has."""
    decided: list[Typed] = []

    def ask(final: bool) -> bool:
        known = context.know(value.type)
        if isinstance(known, String):
            decided.append(value)
        elif is_unknown(known) and not final:
            return False
        else:
            decided.append(_converted(context, value, known))
        return True

    context.ask(ask)
    return Typed(String(), value.span, lambda: decided[0].build())


def _converted(context: Context, value: Typed, type_: Type) -> Typed:
    environment = context.environment
    beside = environment.beside_type("to_string", type_)
    viable = _texts(context, value, beside) or _texts(
        context, value, environment.functions("to_string", context.module)
    )
    inner = wrapped(type_)
    if not viable and inner is not None:
        return to_string(context, replace(value, type=inner, place=None))
    if not viable and isinstance(type_, Bit | Signed | FunctionType):
        viable = list(environment.functions("__builtin_2string", context.module))
    if not viable:
        if isinstance(type_, TypeVar) and is_unknown(type_) and context.failed:
            return context.poison(value.span)
        return context.fail(errors.types.NoToString(span=value.span, type=context.show(type_)))
    return call(context, "to_string", value.span, viable, [value], String())


def _texts(
    context: Context, value: Typed, signatures: Sequence[DeclaredSignature]
) -> list[DeclaredSignature]:
    """Of functions `to_string`, those that take the value."""
    signatures = [each for each in signatures if len(each.parameters) == 1]
    decision = UndecidedCall(context, "to_string", value.span, signatures, [value])
    return [each for each in signatures if decision.fits(each)]
