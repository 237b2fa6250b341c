"""Functions: bodies checked for the types that they are used with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from .. import core, errors
from ..errors.diagnostics import Diagnostic
from ..names.attributes import has_side_effects
from ..names.environment import Environment
from ..names.signatures import DeclaredSignature, readable
from ..types import CLOSURE, Constructor, FunctionType, Type, TypeDef
from ..types import TypeVar as TypeVariable
from ..types.unify import depth, substitute, type_variables
from .context import Context, Scope
from .erase import Eraser
from .expr import check

T = TypeVar("T")
LIMIT = 24  # types nested deeper than this come from a function that needs itself for larger types


class Instances:
    """The instances of functions that a program or a query uses, each checked once.

    `functions` are the instances that are not `known`.
    """

    def __init__(self, environment: Environment, known: Iterable[str] = ()) -> None:
        self.environment = environment
        self.functions: dict[str, core.Function] = {}
        self.diagnostics: list[Diagnostic] = []
        self._waiting: list[tuple[str, DeclaredSignature, tuple[Type, ...]]] = []
        self._seen = set(known)
        self._lifted: dict[str, core.Function] = {}
        self._eraser = Eraser()

    def demand(self, signature: DeclaredSignature, types: tuple[Type, ...]) -> str:
        """The key of an instance; it will be checked unless its types are still variables."""
        key = signature.key(types)
        if key not in self._seen and not any(map(type_variables, types)):
            self._seen.add(key)
            self._waiting.append((key, signature, types))
        return key

    def lift(self, function: core.Function, captured: int, text: str) -> str:
        """The key of the function that a closure is; its values become a type of the program. `captured` of
        its parameters are values that it holds, `text` is how it prints. Different functions at one place
        (a text that stands in two) have different keys."""
        key, number = f"{CLOSURE}{function.key}", 0
        while self._lifted.setdefault(key, function) != function:
            number += 1
            key = f"{CLOSURE}{function.key}:{number}"
        held, own = function.parameters[:captured], function.parameters[captured:]
        holder = Constructor(text, 0, tuple((each.name, each.type) for each in held))
        of = FunctionType(tuple(x.type for x in own), tuple(x.mutable for x in own), function.result)
        self.environment.typedefs[key] = TypeDef(key, (), (holder,), function=of)
        self.functions[key] = self.erased(replace(function, key=key))
        return key

    def complete(self) -> None:
        """Checks all demanded instances, and the instances that these demand."""
        while self._waiting:
            key, signature, types = self._waiting.pop()
            if max(map(depth, types), default=0) > LIMIT:
                self.diagnostics.append(
                    errors.functions.InfiniteInstances(
                        span=signature.span, name=signature.name, type=_short(types)
                    )
                )
                continue
            function = self._check(signature, types)
            if function is not None:
                self.functions[key] = self.erased(function)

    def erased(self, part: T) -> T:
        """A checked part of the program with its types erased for later stages."""
        return self._eraser.part(part) if self.environment.erases else part

    def generic(self, signature: DeclaredSignature) -> None:
        """Checks a function for whatever types its variables stand for."""
        self._check(signature, tuple(TypeVariable(name) for name in signature.variables))

    def _check(self, signature: DeclaredSignature, types: tuple[Type, ...]) -> core.Function | None:
        mapping = dict(zip(signature.variables, types, strict=True))
        function, diagnostics = check_function(self.environment, signature, mapping, self)
        known = set(self.diagnostics)
        self.diagnostics += [each for each in diagnostics if each not in known]
        return function


def _short(types: Sequence[Type]) -> str:
    text = readable(", ".join(map(str, types)))
    return text if len(text) < 60 else f"{text[:60]}..."


def check_function(
    environment: Environment, signature: DeclaredSignature, mapping: Mapping[str, Type], instances: Instances
) -> tuple[core.Function | None, list[Diagnostic]]:
    """One instance of a function; None after errors."""
    result = substitute(signature.result, mapping)
    context = Context(environment, signature.module, instances, result=result, type_arguments=mapping)
    scope = Scope()
    parameters = []
    for written, each in zip(signature.declaration.parameters, signature.parameters, strict=True):
        if each.name in scope.locals and each.name != "_":
            context.report(errors.names.VariableDefined(span=written.span, name=each.name))
        type_ = substitute(each.type, mapping)
        local = context.declare(scope, each.name, type_, written.span, mutable=each.mutable)
        parameters.append(core.Parameter(local.name, type_, each.mutable))
    body: core.Expr | None = None
    if signature.declaration.body is not None:
        typed = check(context, signature.declaration.body, scope.inner(), result)
        context.solve()
        body = None if context.failed else typed.build()
    if context.failed:
        return None, context.diagnostics
    key = signature.key([mapping[name] for name in signature.variables])
    function = core.Function(
        key,
        signature.module,
        signature.name,
        tuple(parameters),
        result,
        body,
        signature.span,
        has_side_effects(signature.declaration),
    )
    return function, context.diagnostics
