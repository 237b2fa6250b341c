"""Rules to clauses: alternatives apart, negations on single terms, aggregates and ranges as literals.

First the body becomes a disjunction of conjunctions. Then each aggregate and each range is taken out of the
expression that holds it: `A(count : { B(_) })` is `n = count : { B(_) },
A(n)`. A variable of an aggregate that the clause also has outside the aggregate is the same one; any other is
local to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..syntax.walk import nodes, rebuilt
from . import syntax as ast
from .clauses import (
    OF_WITNESSES,
    OPPOSITE,
    HornClause,
    Literal,
    Negated,
    Range,
    RowNumber,
    Summary,
    names_of,
    renamed,
)

# The names of the variables for the results of aggregates.
_RESULTS = {"count": "n", "sum": "total", "min": "least", "max": "most", "mean": "average"}
_MOST = 1000  # alternatives of one rule


def clauses(
    rule: ast.SouffleRule, columns: Mapping[str, Sequence[str]], classes: set[type], found: list[Diagnostic]
) -> list[HornClause]:
    """The clauses of a rule. `columns` are the columns of each relation, `classes` those of the nodes in the
    rule; errors go to `found`."""
    run = _Normalizer(columns, classes, found)
    bodies = run.alternatives(rule.body) if rule.body is not None else [()]
    return [run.clause(rule, body) for body in bodies]


def without_ordinals(items: Sequence[ast.Item]) -> Sequence[ast.Item]:
    """The program with `x < y` for `ord(x) < ord(y)`: values are in an order of their own, as arbitrary as
    that of Soufflé. Where the program has such numbers for other ends, too, as in `min ord(x) : ...`, they
    are compared as numbers, so that there is one order."""
    calls = [each for each in nodes(tuple(items)) if isinstance(each, ast.FunctorCall) and each.name == "ord"]
    pairs = [each for each in nodes(tuple(items)) if calls and _compares_ordinals(each)]
    ops = ("=", "!=") if len(calls) > 2 * len(pairs) else tuple(OPPOSITE)

    def change(node: Any) -> Any:
        if _compares_ordinals(node) and node.op in ops:
            return replace(node, left=node.left.args[0], right=node.right.args[0])
        return node

    return rebuilt(tuple(items), change) if pairs else items


def _compares_ordinals(node: Any) -> bool:
    match node:
        case ast.Compare(_, _, ast.FunctorCall(_, "ord", (_,)), ast.FunctorCall(_, "ord", (_,))):
            return True
    return False


class _Normalizer:
    def __init__(
        self, columns: Mapping[str, Sequence[str]], classes: set[type], found: list[Diagnostic]
    ) -> None:
        self.columns, self.found = columns, found
        self.has_counters = ast.Counter in classes
        # Whether expressions may be in the rule that become literals.
        self.is_plain = classes.isdisjoint((ast.Aggregator, ast.Counter, ast.FunctorCall))
        self.number = itertools.count(1)

    def clause(self, rule: ast.SouffleRule, body: Sequence[ast.Term]) -> HornClause:
        if self.has_counters and _has_counter((rule.heads, tuple(body))):
            body = self._with_named_columns(tuple(body), False)
        heads, literals = self._conjunction(rule.heads, body, frozenset())
        return HornClause(heads, literals, rule.span)

    # --------------------------------------------------------- alternatives

    def alternatives(self, term: ast.Term, positive: bool = True) -> list[tuple[ast.Term, ...]]:
        """The conjunctions of which one must hold for the term, or for its negation, to hold."""
        match term:
            case ast.Not(_, inner):
                return self.alternatives(inner, not positive)
            case ast.And(span, terms) | ast.Or(span, terms):
                parts = [self.alternatives(each, positive) for each in terms]
                if isinstance(term, ast.Or) == positive:
                    return [each for part in parts for each in part]
                return self._product(parts, span)
            case ast.Truth(_, value):
                return [()] if value == positive else []
            case ast.Compare(span, op, left, right):
                return [(term if positive else ast.Compare(span, OPPOSITE[op], left, right),)]
        return [(term if positive else ast.Not(term.span, term),)]

    def _product(self, parts: list[list[tuple[ast.Term, ...]]], span: Span) -> list[tuple[ast.Term, ...]]:
        size = 1
        for part in parts:
            size *= len(part)
        if size > _MOST:
            why = f"it has {size} alternatives"
            self.found.append(errors.CannotTranslate(what="this body", why=why, span=span))
            return []
        return [tuple(itertools.chain(*choice)) for choice in itertools.product(*parts)]

    # ---------------------------------------------------------- conjunctions

    def _conjunction(
        self, heads: tuple[ast.Predicate, ...], body: Sequence[ast.Term], around: frozenset[str]
    ) -> tuple[tuple[ast.Predicate, ...], tuple[Literal, ...]]:
        """The heads and the literals of a conjunction; `around` are the variables of what is around it."""
        if self.is_plain:
            return heads, tuple(map(_negation, body))
        outside = around | _plain_names(heads) | _plain_names(tuple(body))
        taken: list[Literal] = []

        def take(expr: ast.Expr) -> ast.Expr:
            return self._take(expr, outside, taken)

        literals: list[Literal] = []
        for term in body:
            literals += self._literal(term, body, outside, take)
            literals += taken
            taken.clear()
        return _without_values(heads, take), (*literals, *taken)

    def _literal(
        self,
        term: ast.Term,
        body: Sequence[ast.Term],
        outside: frozenset[str],
        take: Callable[[ast.Expr], ast.Expr],
    ) -> list[Literal]:
        match term:
            case ast.Compare(_, "=", ast.Named() as var, ast.Aggregator() as aggregate):
                pass
            case ast.Compare(_, "=", ast.Aggregator() as aggregate, ast.Named() as var):
                pass
            case ast.Compare(_, "=", ast.Named(span, name), ast.Counter()):
                return [RowNumber(span, name)]
            case ast.Compare(span, "=", ast.Named(_, name), ast.FunctorCall(_, "range", args)):
                return [Range(span, name, rebuilt(args, take, ast.Aggregator))]
            case ast.Not(span, inner):
                return [Negated(span, _without_values(inner, take))]
            case _:
                return [_without_values(term, take)]
        others = _plain_names(tuple(each for each in body if each is not term))
        if var.name not in others:
            return [self._summary(var.name, aggregate, outside, var.name)]
        if var.name in names_of((aggregate.target, aggregate.body)):
            return [_without_values(term, take)]  # its value is compared with the variable that it depends on
        return [self._summary(var.name, aggregate, outside, "")]

    def _take(self, expr: ast.Expr, outside: frozenset[str], taken: list[Literal]) -> ast.Expr:
        """The expression that takes the place of another."""
        match expr:
            case ast.Counter(span):
                name = f"%number#{next(self.number)}"
                taken.append(RowNumber(span, name))
                return ast.Named(span, name)
            case ast.Aggregator(span, function):
                name = f"%{_RESULTS[function]}#{next(self.number)}"
                taken.append(self._summary(name, expr, outside, ""))
                return ast.Named(span, name)
            case ast.FunctorCall(span, "range", args):
                name = f"%i#{next(self.number)}"
                taken.append(
                    Range(span, name, rebuilt(args, lambda e: self._take(e, outside, taken), ast.Aggregator))
                )
                return ast.Named(span, name)
        return expr

    # ------------------------------------------------------------ aggregates

    def _summary(self, var: str, aggregate: ast.Aggregator, outside: frozenset[str], result: str) -> Summary:
        """The literal of an aggregate. `result` is the variable that it defines where nothing else of the
        body has that name: inside, the name is then another variable, and so is one of the target that the
        aggregate's body binds."""
        target, bodies = aggregate.target, self.alternatives(aggregate.body)
        for each in nodes((target, aggregate.body)) if self.has_counters else ():
            if isinstance(each, ast.Counter):
                what, why = "a counter in an aggregate", "its values depend on the order of evaluation"
                self.found.append(errors.CannotTranslate(what=what, why=why, span=each.span))
        visible = outside - {result} - (_plain_names(target) & _plain_names(aggregate.body))
        if target and any(isinstance(each, ast.Aggregator) for each in nodes(target)):
            # The aggregates in the target become literals of the body.
            value = ast.Named(target.span, f"%value#{next(self.number)}")
            bodies = [(*body, ast.Compare(target.span, "=", value, target)) for body in bodies]
            target = value
        if aggregate.function in OF_WITNESSES:
            bodies = [self._with_named_columns(body, len(bodies) > 1) for body in bodies]
        names = names_of((target, *bodies))
        local = {name: f"{name}#{next(self.number)}" for name in sorted(names - visible)}
        renamed_bodies = [renamed(body, local) for body in bodies]
        # A variable that only an inner aggregate has is not a variable of this one's body.
        own = _plain_names((target, *bodies))
        around = visible | {short for name, short in local.items() if name in own}
        literals = tuple(self._conjunction((), body, around)[1] for body in renamed_bodies)
        outer = tuple(sorted(names & visible))
        return Summary(aggregate.span, var, aggregate.function, renamed(target, local), literals, outer)

    def _with_named_columns(self, body: tuple[ast.Term, ...], several: bool) -> tuple[ast.Term, ...]:
        """The body with a variable for each `_` of its positive terms: each value of it counts."""
        return tuple(self._named(term, several) if isinstance(term, ast.Predicate) else term for term in body)

    def _named(self, atom: ast.Predicate, several: bool) -> ast.Predicate:
        hints = self.columns.get(atom.name, ())

        def naming(hint: str) -> Callable[[ast.Expr], ast.Expr]:
            return lambda expr: self._variable_for(expr, hint, several)

        args = tuple(
            rebuilt(arg, naming(hint), ast.Aggregator)
            for arg, hint in itertools.zip_longest(atom.args, hints[: len(atom.args)], fillvalue="any")
        )
        return replace(atom, args=args)

    def _variable_for(self, expr: ast.Expr, hint: str, several: bool) -> ast.Expr:
        if not isinstance(expr, ast.Unnamed):
            return expr
        if several:
            what, why = "`_` in an aggregate over alternatives", "give the column a name"
            self.found.append(errors.CannotTranslate(what=what, why=why, span=expr.span))
        return ast.Named(expr.span, f"%{hint}#{next(self.number)}")


def _negation(term: Any) -> Any:
    """The term as a literal, if it has no values to take out."""
    if not isinstance(term, ast.Not):
        return term
    inner: Any = term.term
    return Negated(term.span, inner)


def _has_counter(node: Any) -> bool:
    """Whether a node has a counter in it, outside of aggregates."""
    return any(isinstance(each, ast.Counter) for each in nodes(node, ast.Aggregator))


def _without_values(term: Any, take: Callable[[ast.Expr], ast.Expr]) -> Any:
    """The term, with the aggregates and ranges in it taken out."""
    return rebuilt(term, take, ast.Aggregator) if _has_taken(term) else term


def _has_taken(node: Any) -> bool:
    """Whether a node has an aggregate, a counter or a range in it, which becomes a literal of its own."""
    return any(
        isinstance(each, ast.Aggregator | ast.Counter)
        or (isinstance(each, ast.FunctorCall) and each.name == "range")
        for each in nodes(node, ast.Aggregator)
    )


def _plain_names(node: Any) -> frozenset[str]:
    """The variables outside of aggregates."""
    return frozenset(each.name for each in nodes(node, ast.Aggregator) if isinstance(each, ast.Named))
