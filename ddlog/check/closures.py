"""Functions as values: closures, names of functions, and calls of functions in variables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import core, errors, syntax
from ..errors.diagnostics import counted
from ..errors.source import Span
from ..names.signatures import DeclaredSignature
from ..types import FunctionType, Type
from ..types.unify import is_unknown, substitute
from . import expr as expressions
from .calls import hand_over, most_specific, places
from .context import Border, Context, Local, Scope, Typed


def closure(context: Context, expr: syntax.Closure, scope: Scope, expected: Type | None) -> Typed:
    """`|x, y: T|: R e`. Types that are not written are inferred from the use of the closure."""
    known = context.know(expected) if expected is not None else None
    wanted = (
        known if isinstance(known, FunctionType) and len(known.parameters) == len(expr.parameters) else None
    )
    inner = Scope(scope, border=Border.CLOSURE)
    held = inner.captured
    locals_: list[Local] = []
    for i, each in enumerate(expr.parameters):
        if each.name in inner.locals and each.name != "_":
            context.report(errors.names.VariableDefined(span=each.span, name=each.name))
        type_ = (
            context.written(each.type) if each.type else wanted.parameters[i] if wanted else context.fresh()
        )
        mutable = each.mutable or (each.type is None and wanted is not None and wanted.mutable[i])
        locals_.append(context.declare(inner, each.name, type_, each.span, mutable=mutable))
    result = context.written(expr.result) if expr.result else wanted.result if wanted else context.fresh()
    around = context.result, context.in_rule, context.in_head, context.loops
    context.result, context.in_rule, context.in_head, context.loops = result, False, False, 0
    body = expressions.check(context, expr.body, inner.inner(), result)
    context.result, context.in_rule, context.in_head, context.loops = around
    type_ = FunctionType(tuple(x.type for x in locals_), tuple(x.mutable for x in locals_), result)

    def build() -> core.Expr:
        captured = tuple(each.build() for each in held.values())
        types = zip(held, captured, strict=True)
        parameters = (
            *(core.Parameter(name, each.type, False) for name, each in types),
            *(core.Parameter(x.name, context.final(x.type), x.mutable) for x in locals_),
        )
        whole = context.final(type_)
        place = context.place(expr.span, whole, *(each.type for each in captured))
        function = core.Function(
            place, context.module, "closure", parameters, context.final(result), body.build(), expr.span
        )
        key = context.lift(function, len(captured), _one_line(expr.span.text()))
        return core.Closure(key, captured, whole, expr.span)

    return Typed(type_, expr.span, build)


def _one_line(text: str) -> str:
    """The text of a closure as it prints."""
    return re.sub(r"\s*\n\s*", " ", text)


def hint(
    context: Context, expr: syntax.Expr, position: int, candidates: Sequence[DeclaredSignature]
) -> Type | None:
    """The type of a closure argument as far as all candidates agree: which of its parameters are `mut`."""
    if not isinstance(expr, syntax.Closure):
        return None
    said = {
        type_.mutable
        for each in candidates
        if isinstance(type_ := each.parameters[position].type, FunctionType)
        and len(type_.parameters) == len(expr.parameters)
    }
    if len(said) != 1:
        return None
    return FunctionType(tuple(context.fresh() for _ in expr.parameters), said.pop(), context.fresh())


def named(
    context: Context, name: str, span: Span, signatures: Sequence[DeclaredSignature], expected: Type | None
) -> Typed:
    """The name of a function as a value: of several functions, the one with the expected type."""
    value = _UndecidedName(context, name, span, signatures)
    if expected is not None:
        context.substitution.unify(value.type, expected)
    context.ask(value.ask)
    return Typed(value.type, span, value.build)


class _UndecidedName:
    """The name of a function as a value; the type that it must have decides which function."""

    def __init__(
        self, context: Context, name: str, span: Span, candidates: Sequence[DeclaredSignature]
    ) -> None:
        self.context, self.name, self.span, self.candidates = context, name, span, candidates
        self.type: Type = context.fresh()
        self.chosen: tuple[DeclaredSignature, dict[str, Type]] | None = None

    def ask(self, final: bool) -> bool:
        viable = [each for each in self.candidates if self._fits(each)]
        if len(viable) > 1 and final:
            viable = most_specific(viable, self.context.module)
        if len(viable) == 1 or len(self.candidates) == 1:
            self._commit((viable or self.candidates)[0])
        elif not viable:
            self.context.report(
                errors.functions.NoSuchFunctionValue(
                    span=self.span,
                    name=self.name,
                    type=self.context.show(self.type),
                    notes=places(self.candidates),
                )
            )
        elif final and not self.context.failed:
            self.context.report(
                errors.functions.AmbiguousName(span=self.span, name=self.name, notes=places(viable))
            )
        return len(viable) < 2 or final

    def build(self) -> core.Expr:
        assert self.chosen is not None
        signature, arguments = self.chosen
        types = tuple(self.context.final(arguments[name]) for name in signature.variables)
        key = self.context.instances.demand(signature, types)
        return self._value(signature, key, self.context.final(self.type))

    def _value(self, signature: DeclaredSignature, key: str, type_: Type) -> core.Expr:
        """The function as a closure without captured values, which calls it."""
        assert isinstance(type_, FunctionType)
        span = signature.span
        given = enumerate(zip(type_.parameters, type_.mutable, strict=True))
        parameters = tuple(core.Parameter(f"${i}", of, mutable) for i, (of, mutable) in given)
        args = tuple(core.Var(each.name, each.type, span) for each in parameters)
        body = core.Call(key, args, type_.result, span)
        name = f"{self.context.environment.digest}:{key}"
        function = core.Function(name, signature.module, signature.name, parameters, type_.result, body, span)
        lifted = self.context.lift(function, 0, signature.name)
        return core.Closure(lifted, (), type_, self.span)

    def _of(self, signature: DeclaredSignature) -> tuple[Type, dict[str, Type]]:
        arguments: dict[str, Type] = {name: self.context.fresh() for name in signature.variables}
        whole = FunctionType(
            tuple(each.type for each in signature.parameters),
            tuple(each.mutable for each in signature.parameters),
            signature.result,
        )
        return substitute(whole, arguments), arguments

    def _fits(self, signature: DeclaredSignature) -> bool:
        substitution = self.context.substitution
        mark = substitution.mark()
        fine = substitution.unify(self._of(signature)[0], self.type)
        substitution.undo(mark)
        return fine

    def _commit(self, signature: DeclaredSignature) -> None:
        type_, arguments = self._of(signature)
        self.chosen = signature, arguments
        self.context.agree(self.span, type_, self.type)


def apply(context: Context, function: Typed, args: Sequence[Typed], span: Span) -> Typed:
    """`f(a, b)` where f is a value."""
    result = context.fresh()

    def ask(final: bool) -> bool:
        known = context.know(function.type)
        if is_unknown(known) and not final:
            return False
        if is_unknown(known):
            context.substitution.unify(
                known, FunctionType(tuple(a.type for a in args), (False,) * len(args), result)
            )
            known = context.know(function.type)
        if not isinstance(known, FunctionType):
            if not context.failed:
                context.report(errors.functions.NotAFunction(span=function.span, type=context.show(known)))
            return True
        if len(known.parameters) != len(args):
            context.report(
                errors.functions.WrongArgumentCount(
                    span=span, name=function.span.text(), given=counted(len(args), "argument")
                )
            )
            return True
        hand_over(context, args, known.parameters, known.mutable)
        context.agree(span, known.result, result)
        return True

    context.ask(ask)
    return Typed(
        result,
        span,
        lambda: core.Apply(
            function.build(), tuple(each.build() for each in args), context.final(result), span
        ),
    )
