"""Rules, facts and queries: from syntax to core clauses.

Clauses are read from left to right, and a variable may be used once a clause has bound it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import core, errors, syntax
from ..source import Span
from . import grouping
from .atom import atom
from .body import Body
from .condition import condition, grouped, inspect
from .context import Context
from .declarations import held_function
from .head import head


def check_rule(context: Context, rule: syntax.RuleDecl) -> core.Rule | None:
    """The rule in core; None after errors."""
    body = read_body(context, rule.body)
    _group_in_heads(body, rule)
    context.in_head = True
    heads = [head(body, atom, fact=not rule.body) for atom in rule.heads]
    context.solve()
    if context.failed:
        return None
    made = tuple(each() for each in heads if each is not None)
    clauses = body.clauses()
    variables = {local.name: context.final(local.type) for local in body.locals}
    for local in body.locals:
        function = held_function(context.environment, variables[local.name])
        if function is not None:
            what = "a variable of a rule"
            context.report(errors.types.KeptFunction(span=local.span, what=what, type=function))
    if context.failed:
        return None
    warn_unused(body)
    return core.Rule(made, clauses, variables, rule.span.text(), rule.span)


def read_body(context: Context, clauses: Sequence[syntax.Clause]) -> Body:
    """All clauses of a body."""
    body = Body(context)
    bound = [grouping.binds(clause) for clause in clauses]
    for i, clause in enumerate(clauses):
        later: dict[str, Span] = {}
        for names in bound[i + 1 :]:
            for name, span in names.items():
                later.setdefault(name, span)
        context.bound_later = later
        match clause:
            case syntax.Atom():
                atom(body, clause)
            case syntax.Condition(expr, _):
                condition(body, expr)
            case syntax.Inspect(expr, span):
                inspect(body, expr, span)
    context.bound_later = {}
    return body


def _group_in_heads(body: Body, rule: syntax.RuleDecl) -> None:
    """`e.group_by(k)` in a head is the last step of the body."""
    if rule.body:
        for term in rule.heads:
            group = grouping.find(body.context, term)
            if group is not None:
                grouped(body, group, None)


def warn_unused(body: Body) -> None:
    """A warning for each variable that only its definition mentions."""
    for local in body.locals:
        name = local.name.partition("$")[0]
        if not local.used and name and not name.startswith("_"):
            body.context.report(errors.names.UnusedVariable(span=local.span, name=name))
