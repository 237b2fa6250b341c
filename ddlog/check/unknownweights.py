"""A warning where a rule looks at the weights of a group, and they are not known: each is then 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .. import core
from ..codegen.analysis import free_variables
from ..core.clauses import expressions
from ..core.walk import children
from ..errors.groups import UnknownWeights
from ..lowering.weights import WeightReaders


def unknown_weights(
    strata: Sequence[core.Stratum], functions: Mapping[str, core.Function]
) -> Iterator[UnknownWeights]:
    """The warnings about the rules of some strata."""
    readers = WeightReaders(functions)
    for stratum in strata:
        inner = stratum.relations if stratum.recursive else ()
        for rule in stratum.rules:
            for place, clause in enumerate(rule.body):
                if isinstance(clause, core.GroupBy) and not clause.bag:
                    atoms = [each for each in rule.body[:place] if isinstance(each, core.Atom)]
                    within = any(each.relation in inner for each in atoms)
                    later = [expr for each in rule.body[place + 1 :] for expr in expressions(each)]
                    for expr in (*later, *(arg for head in rule.heads for arg in head.args)):
                        yield from _in_expression(readers, clause, expr, within)


def _in_expression(
    readers: WeightReaders, group: core.GroupBy, expr: core.Expr, within: bool
) -> Iterator[UnknownWeights]:
    if not readers.reads(expr, group.name):
        return
    others = [name for name in free_variables(expr) if name not in (group.name, *group.keys)]
    if within:
        yield UnknownWeights(span=expr.span, others=())
    elif others and readers.reads_itself(expr, group.name):
        yield UnknownWeights(span=expr.span, others=tuple(others))
    elif others:
        for each in children(expr):
            yield from _in_expression(readers, group, each, within)
