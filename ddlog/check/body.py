"""The body of a rule, built clause by clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .. import core, errors, syntax
from ..errors.source import Span
from ..types import Type
from .context import Context, Local, Scope, Typed

Clauses = Callable[[], list[core.Clause]]


@dataclass(slots=True)
class BodyBuilder:
    """Builds the body of a rule. `stream` is the term that makes the body yield a stream; `unknown` says that
    the relation of some term is not known."""

    context: Context
    scope: Scope = field(default_factory=Scope)
    parts: list[Clauses] = field(default_factory=list)
    locals: list[Local] = field(default_factory=list)
    stream: syntax.Atom | None = None
    unknown: bool = False

    def add(self, clause: Callable[[], core.Clause]) -> None:
        """A further clause."""
        self.parts.append(lambda: [clause()])

    def bind(self, name: str, type_: Type, span: Span) -> Local:
        """A new variable; an error if the name is taken."""
        scope = self.scope
        if scope.find(name) is not None:
            self.context.report(errors.names.VariableDefined(span=span, name=name))
            scope = Scope()  # the first definition stays in force
        local = self.context.declare(scope, name, type_, span)
        self.locals.append(local)
        return local

    def temporary(self, type_: Type, span: Span) -> Local:
        """A new variable that has no name in the source."""
        local = Local(self.context.temporary(), type_, span, used=True)
        self.locals.append(local)
        return local

    def let(self, local: Local, value: Typed) -> None:
        """Binds the variable, or tests it for equality if it is bound."""
        self.add(lambda: core.Let(local.name, value.build(), value.span))

    def clauses(self) -> tuple[core.Clause, ...]:
        """The clauses in core, once the types are solved."""
        return tuple(clause for part in self.parts for clause in part())


def variable(body: BodyBuilder, name: str, type_: Type, span: Span, *, negated: bool) -> Local:
    """The variable of the name, bound before or by this occurrence."""
    context = body.context
    local = body.scope.find(name)
    if local is not None:
        local.used = True
        context.agree(span, type_, local.type) if local.type != type_ else None
        return local
    if negated:
        context.report(errors.rules.NegatedBinding(span=span, name=name))
        return Local(name, type_, span)
    return body.bind(name, type_, span)
