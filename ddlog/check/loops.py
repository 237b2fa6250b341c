"""Loops: what they may declare, where rules stand, and conditions on the round.

A relation or a rule belongs to the innermost loop around its place in the text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from .. import core, errors, syntax
from ..errors.diagnostics import Diagnostic, Note
from ..errors.source import Span
from ..names.environment import Environment
from ..names.modules import OTHER, ModuleSyntax
from ..types import BigInt, Bit, Bool, Signed
from .body import BodyBuilder
from .expr import infer

_COMPARED = {"==": "==", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The comparisons of a round, each with the one that it is from the other side."""


def declare_loops(environment: Environment, module: ModuleSyntax) -> Iterator[Diagnostic]:
    """Notes the loops of a module; the errors in what they declare."""
    written = [each for each in module.all(OTHER) if isinstance(each, syntax.LoopDecl)]
    first: dict[str, Span] = {}
    for each in written:
        if first.setdefault(each.name, each.name_span) is not each.name_span:
            notes = (Note("also defined here", first[each.name]),)
            yield errors.names.MultipleDefinitions(span=each.name_span, name=each.name, notes=notes)
        empty = None if each.empty is None else module.qualified(each.empty)
        loop = core.LoopBlock(module.qualified(each.name), each.rounds, empty, each.most, each.span)
        environment.loops.append(loop)
        own = [inner for inner in each.declarations if isinstance(inner, syntax.RelationDecl)]
        if each.empty is not None and all(inner.name != each.empty for inner in own):
            yield errors.loops.UnknownEmpty(span=each.empty_span, loop=each.name, name=each.empty)
        for inner in own:
            for what in _unfit(inner):
                yield errors.loops.LoopRelation(
                    span=inner.name_span, loop=each.name, what=what, name=inner.name
                )


def _unfit(relation: syntax.RelationDecl) -> Iterator[str]:
    if relation.role == "input":
        yield "the input"
    elif relation.kind != "relation":
        yield f"the {relation.kind}"


def check_places(
    environment: Environment, relations: Mapping[str, core.Relation], rules: Iterable[core.Rule]
) -> Iterator[Diagnostic]:
    """An error for each rule that does not stand where its heads are declared, and for each initial rule
    outside of all loops."""
    if not environment.loops and not any(rule.initial for rule in rules):
        return
    for name, relation in relations.items():
        around = _innermost(environment, relation.span)
        if relation.window and around is not None:
            yield errors.loops.LoopRelation(
                span=relation.span, loop=around.name, what="the window", name=name
            )
    for rule in rules:
        here = _innermost(environment, rule.span)
        if rule.initial and here is None:
            yield errors.loops.InitialOutside(span=rule.span)
        for clause in rule.body:
            if here is not None and isinstance(clause, core.GroupBy) and clause.bag:
                yield errors.loops.BagInLoop(span=clause.span, loop=here.name)
        for head in rule.heads:
            relation = relations[head.relation]
            home = _innermost(environment, relation.span)
            if home != here:
                notes = (Note("declared here", relation.span),)
                yield errors.loops.ForeignHead(
                    span=head.span, place=_place(here), name=head.relation, home=_place(home), notes=notes
                )


def _innermost(environment: Environment, span: Span) -> core.LoopBlock | None:
    around = core.loops_around(environment.loops, span)
    return around[-1] if around else None


def _place(loop: core.LoopBlock | None) -> str:
    return "outside of all loops" if loop is None else f"in loop `{loop.name}`"


def earlier(
    environment: Environment, relation: core.Relation, rounds: int, span: Span
) -> core.Relation | None:
    """The relation that holds the rows of another as of some rounds ago: of the innermost loop that is around
    the place where it is read and the place where the other is declared. None if there is no such loop."""
    around = [each for each in core.loops_around(environment.loops, span) if relation.span.within(each.span)]
    if not around:
        return None
    place = around[-1].span
    made = dataclasses.replace(
        relation,
        name=f"{relation.name}-{rounds}$rounds{place.line}_{place.column}",
        role="earlier",
        key=None,
        span=place,
        earlier=(relation.name, rounds),
    )
    return environment.relations.setdefault(made.name, made)


def round_condition(body: BodyBuilder, expr: syntax.Expr) -> bool:
    """Adds the condition if it compares the round of a loop: `round` is no variable, and there is a loop
    around it. Says whether it was one."""
    context = body.context
    if not isinstance(expr, syntax.Binary) or not core.loops_around(context.environment.loops, expr.span):
        return False
    op, left, right, span = expr.op, expr.left, expr.right, expr.span
    if _is_round(body, right) and op in _COMPARED:
        op, left, right = _COMPARED[op], right, left
    if not _is_round(body, left) or op not in (*_COMPARED, "!="):
        return False
    if op == "!=":
        context.report(errors.loops.RoundUnequal(span=span))
        return True
    value = infer(context, right, body.scope)

    def build() -> core.Clause:
        made = value.build()
        if not isinstance(made.type, BigInt | Bit | Signed):
            context.report(errors.loops.RoundType(span=value.span, type=str(made.type)))
        return core.Guard(core.Op(op, (core.Var(core.ROUND, BigInt(), span), made), Bool(), span), span)

    body.add(build)
    return True


def _is_round(body: BodyBuilder, expr: syntax.Expr) -> bool:
    return isinstance(expr, syntax.Name) and expr.name == "round" and body.scope.find("round") is None
