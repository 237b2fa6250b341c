"""A warning where a rule reads the weights of a group that are not known: each is then 1."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .. import core
from ..codegen.analysis import free_variables
from ..core.clauses import expressions
from ..core.walk import children, transform
from ..errors.groups import UnknownWeights
from ..lowering.weights import WeightReaders, is_group, second_is_read
from ..types import Tuple
from ..values import TypeDefs


def unknown_weights(
    strata: Sequence[core.Stratum],
    functions: Mapping[str, core.Function],
    typedefs: TypeDefs,
    externs: Container[str],
) -> Iterator[UnknownWeights]:
    """The warnings about the rules of some strata; `externs` are the modules with Python code."""
    readers = WeightReaders(functions, typedefs, externs)
    for stratum in strata:
        inner = stratum.relations if stratum.recursive else ()
        for rule in stratum.rules:
            yield from _in_rule(readers, rule, inner)


def _in_rule(readers: WeightReaders, rule: core.Rule, inner: Sequence[str]) -> Iterator[UnknownWeights]:
    args = [arg for head in rule.heads for arg in head.args]
    within, place = False, _AfterGroup(readers, None, False)
    for at, clause in enumerate(rule.body, 1):
        match clause:
            case core.Atom(relation):
                within = within or relation in inner
            case core.Unnest(name, value) if is_group(value.type):
                if second_is_read(rule.body[at:], args, name):
                    yield from place.elements(value)
        for expr in expressions(clause):
            yield from place.warnings(expr)
        if isinstance(clause, core.GroupBy):
            place = _AfterGroup(readers, clause, within)
    for arg in args:
        yield from place.warnings(arg)


@dataclass(frozen=True, slots=True)
class _AfterGroup:
    """A place in a rule: the last group_by before it, and whether this is part of a recursion."""

    readers: WeightReaders
    group: core.GroupBy | None
    within: bool

    def warnings(self, expr: core.Expr) -> Iterator[UnknownWeights]:
        """The warnings about an expression."""

        def known(part: core.Expr) -> core.Expr | None:
            is_known = self.group is not None and self.readers.knows(part, self.group)
            return core.MakeTuple((), Tuple(()), part.span) if is_known else None

        for name, type in free_variables(expr).items():
            if self.readers.holds(type) and not self._is_bag(name):
                rest = expr if self._is_inside(name) else transform(expr, known)
                if self.readers.reads(rest, name):
                    yield self._warning(_innermost(self.readers, rest, name), name)

    def elements(self, value: core.Expr) -> Iterator[UnknownWeights]:
        """The warnings about a FlatMap of a group, after which weights are read."""
        for name, type in free_variables(value).items():
            own = self.group is not None and name == self.group.name
            known = own and not self.within and not self.others(value)
            if self.readers.holds(type) and not known and not self._is_bag(name):
                yield self._warning(value, name)

    def others(self, expr: core.Expr) -> tuple[str, ...]:
        """The variables of an expression that are neither the group nor its keys."""
        known = () if self.group is None else (self.group.name, *self.group.keys)
        return tuple(name for name in free_variables(expr) if name not in known)

    def _is_bag(self, name: str) -> bool:
        return self.group is not None and self.group.name == name and self.group.bag

    def _is_inside(self, name: str) -> bool:
        return self.group is not None and self.group.name == name and self.within

    def _warning(self, expr: core.Expr, name: str) -> UnknownWeights:
        inside = self._is_inside(name)
        return UnknownWeights(span=expr.span, inside=inside, others=() if inside else self.others(expr))


def _innermost(readers: WeightReaders, expr: core.Expr, name: str) -> core.Expr:
    """The innermost part of an expression that reads the weights."""
    for each in children(expr):
        if readers.reads(each, name):
            return _innermost(readers, each, name)
    return expr
