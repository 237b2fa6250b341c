"""Rules, facts and queries: from syntax to core clauses.

Clauses are read from left to right, and a variable may be used once a clause has bound it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import core, errors, syntax
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from . import groups
from .atom import atom
from .body import BodyBuilder
from .condition import condition, grouped
from .context import Context
from .head import head
from .inspection import inspect


def check_rules(contexts: Sequence[Context], rules: Sequence[syntax.RuleDecl]) -> list[core.Rule]:
    """The rules of one declaration in core, each in its context, which notes what is wrong with it.
    None of them after errors. A rule without heads is only checked."""
    checked = [_checked(context, rule) for context, rule in zip(contexts, rules, strict=True)]
    found = [rule for rule, _ in checked if rule is not None]
    if len(found) < len(checked):
        return []
    for context in contexts[:1]:
        context.diagnostics += _unused([body for _, body in checked])
    return [rule for rule in found if rule.heads]


def _checked(context: Context, rule: syntax.RuleDecl) -> tuple[core.Rule | None, BodyBuilder]:
    body = read_body(context, rule.body)
    _group_in_heads(body, rule)
    context.in_head = True
    heads = [head(body, atom, fact=not rule.body) for atom in rule.heads]
    context.solve()
    if context.failed:
        return None, body
    made = tuple(each() for each in heads if each is not None)
    clauses = body.clauses()
    variables = {local.name: context.final(local.type) for local in body.locals}
    return core.Rule(made, clauses, variables, rule.span.text(), rule.span, rule.initial), body


def read_body(context: Context, clauses: Sequence[syntax.Clause]) -> BodyBuilder:
    """All clauses of a body."""
    body = BodyBuilder(context)
    bound = [groups.binds(clause) for clause in clauses]
    places: dict[str, list[Span]] = {}  # where each variable is bound, the first place last
    for names in reversed(bound):
        for name, span in names.items():
            places.setdefault(name, []).append(span)
    context.bound_later = {name: spans[-1] for name, spans in places.items()}
    for clause, names in zip(clauses, bound, strict=True):
        for name in names:
            places[name].pop()
            if places[name]:
                context.bound_later[name] = places[name][-1]
            else:
                del context.bound_later[name]
        match clause:
            case syntax.Atom():
                atom(body, clause)
            case syntax.Condition(expr, _):
                condition(body, expr)
            case syntax.Inspect(expr, span):
                inspect(body, expr, span)
    context.bound_later = {}
    return body


def _group_in_heads(body: BodyBuilder, rule: syntax.RuleDecl) -> None:
    """`e.group_by(k)` in a head is the last step of the body."""
    if rule.body:
        for term in rule.heads:
            group = groups.find(body.context, term)
            if group is not None:
                grouped(body, group, None)


def _unused(bodies: Sequence[BodyBuilder]) -> Iterator[Diagnostic]:
    """A warning for each variable that only its definition mentions. The bodies may begin with the
    same clauses: a variable of these is used if one of the bodies uses it."""
    written = [local for body in bodies for local in body.locals]
    used = {(local.name, local.span) for local in written if local.used}
    for local in written:
        name = local.name.partition("$")[0]
        if (local.name, local.span) not in used and name and not name.startswith("_"):
            yield errors.names.UnusedVariable(span=local.span, name=name)
