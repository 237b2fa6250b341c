"""`Inspect e`, which may read by how much the weight of a valuation changes, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from .. import core, syntax
from ..errors.source import Span
from ..lowering.stratify import strongly_connected
from ..names.environment import Environment
from ..names.modules import ModuleSyntax
from ..types import UNIT, Type
from .body import BodyBuilder
from .context import Local
from .expr import check


def inspect(body: BodyBuilder, expr: syntax.Expr, span: Span) -> None:
    """`Inspect e`."""
    scope = body.scope.inner()
    for name, own, type_ in _circumstances(body, span):
        scope.locals[name] = Local(own, type_, span, used=True)
    value = check(body.context, expr, scope, UNIT)
    body.add(lambda: core.Inspect(value.build(), span))


def _circumstances(body: BodyBuilder, span: Span) -> Iterator[tuple[str, str, Type]]:
    """The variables that only an Inspect has: the name, the name in core, and the type."""
    context = body.context
    time = "DDNestedTS" if context.recursive() else "DDEpoch"
    for name, own, type_ in (
        ("ddlog_weight", core.WEIGHT, "DDWeight"),
        ("ddlog_timestamp", core.TIMESTAMP, time),
    ):
        if body.scope.find(name) is None:
            written = syntax.NamedType(f"ddlog_std::{type_}", (), span)
            yield name, own, context.environment.convert(written, context.module)


def recursion(
    environment: Environment, rules: Sequence[tuple[ModuleSyntax, syntax.RuleDecl]]
) -> Callable[[ModuleSyntax, syntax.RuleDecl], bool]:
    """Tells which of the rules of some modules are recursive, before there are strata."""

    def heads(module: ModuleSyntax, rule: syntax.RuleDecl) -> set[str]:
        return {_relation(environment, module, each) for each in rule.heads}

    def read(module: ModuleSyntax, rule: syntax.RuleDecl) -> set[str]:
        now = (each for each in rule.body if isinstance(each, syntax.Atom) and each.delay is None)
        return {_relation(environment, module, each) for each in now}

    @cache
    def components() -> dict[str, int]:
        successors: dict[str, dict[str, None]] = {}
        for module, rule in rules:
            to = dict.fromkeys(heads(module, rule))
            for each in read(module, rule):
                successors.setdefault(each, {}).update(to)
            for each in to:
                successors.setdefault(each, {})
        found = strongly_connected(successors)
        return {each: number for number, component in enumerate(found) for each in component}

    def is_recursive(module: ModuleSyntax, rule: syntax.RuleDecl) -> bool:
        own = {components()[each] for each in heads(module, rule)}
        return not own.isdisjoint(components()[each] for each in read(module, rule))

    return is_recursive


def _relation(environment: Environment, module: ModuleSyntax, atom: syntax.Atom) -> str:
    relation = environment.relation(atom.relation, module.name)
    return atom.relation if relation is None else relation.name
