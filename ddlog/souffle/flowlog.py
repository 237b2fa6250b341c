"""Programs of FlowLog as programs of Soufflé: types that say their size, casts, and aggregates in heads.

    Far(y, min(d + w)) :- Far(x, d), Arc(x, y, w).

The least and the greatest value stay by subsumption, also in a recursion. For other aggregates the rows of
the rules have a relation of their own, and the aggregates are about these rows, each once:

    Far(y, d + w) :- Far(x, d), Arc(x, y, w).           Degree(x, count(y)) :- Arc(x, y).
    Far(y, d) <= Far(y, e) :- e < d.                    Degree_rows(x, y) :- Arc(x, y).
                                                        Degree(x, n) :- Degree_rows(x, _), n = count : { … }.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..syntax.walk import nodes, rebuilt
from . import syntax as ast
from .flowlogtokens import AGGREGATES
from .names import FreeNames
from .types import TRUTH

Aggregates: TypeAlias = tuple[str | None, ...]
"""The aggregate of each column of a head, None for a plain column."""

_BASES = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "number"),
    **dict.fromkeys(("uint8", "uint16", "uint32", "uint64"), "unsigned"),
    **dict.fromkeys(("float32", "float64", "f32", "f64"), "float"),
    "string": "symbol",
    "bool": TRUTH,
}
_LESS = {"min": "<", "max": ">"}


def as_souffle(items: Sequence[ast.Item], found: list[Diagnostic]) -> tuple[ast.Item, ...]:
    """The program in Soufflé's language. Errors go to `found`."""
    items = rebuilt(tuple(items), _cast, ast.Aggregator)
    return (*_types(items), *_Heads(items, found).items())


def _cast(expr: Any) -> Any:
    """`cast(x, T)` as Soufflé's `as(x, T)`."""
    match expr:
        case ast.FunctorCall(span, "cast", (value, ast.Named(_, type))):
            return ast.TypeCast(span, value, type)
    return expr


def _types(items: Sequence[ast.Item]) -> Iterator[ast.Item]:
    """The declarations of the types that are used and not declared."""
    known = {each.name for each in items if isinstance(each, ast.AliasType | ast.RecordType | ast.BranchType)}
    used = dict(_named(items))
    for name, span in used.items():
        if name in _BASES and name not in known:
            yield ast.AliasType(span, name, (_BASES[name],))


def _named(node: Any) -> Iterator[tuple[str, Span]]:
    """The types that a part of a program names, each with a place."""
    for each in nodes(node):
        match each:
            case ast.AliasType(span, _, bases):
                yield from ((base, span) for base in bases)
            case ast.TypedName(span, _, type) | ast.TypeCast(span, _, type):
                yield type, span


class _Heads:
    """The rules of a program, without aggregates in their heads."""

    def __init__(self, items: Sequence[ast.Item], found: list[Diagnostic]) -> None:
        self.all, self.found = items, found
        self.rules = [each for each in items if isinstance(each, ast.SouffleRule)]
        self.declared = {each.name: each for each in items if isinstance(each, ast.SouffleRelation)}
        self.space = FreeNames(self.declared)
        self.aggregates: dict[str, Aggregates] = {}
        for head in self._aggregated():
            own = tuple(map(_function, head.args))
            if self.aggregates.setdefault(head.name, own) != own:
                found.append(errors.OtherAggregates(span=head.span, name=head.name))

    def _aggregated(self) -> Iterator[ast.Predicate]:
        for head in (head for rule in self.rules for head in rule.heads):
            if head.name in self.declared and any(map(_function, head.args)):
                yield head

    def items(self) -> Iterator[ast.Item]:
        """The items of the program."""
        extremes = {name for name, each in self.aggregates.items() if _is_extreme(each)}
        rows = {name: self.space.fresh(f"{name}_rows") for name in self.aggregates if name not in extremes}
        for each in self.all:
            if isinstance(each, ast.SouffleRule):
                heads = (replace(_plain(head), name=rows.get(head.name, head.name)) for head in each.heads)
                yield replace(each, heads=tuple(heads))
            else:
                yield each
        for name in extremes:
            yield self._kept(self.declared[name], self.aggregates[name])
        for name, own in rows.items():
            yield from self._summed(self.declared[name], own, self.aggregates[name])

    def _kept(self, relation: ast.SouffleRelation, aggregates: Aggregates) -> ast.Subsumption:
        """The subsumption that leaves the least or the greatest value."""
        span, (function,) = relation.span, filter(None, aggregates)
        place = aggregates.index(function)
        less, more = (_variables(span, len(aggregates), {place: name}) for name in ("less", "more"))
        better = ast.Compare(span, _LESS[function], more[place], less[place])
        return ast.Subsumption(
            span, ast.Predicate(span, relation.name, less), ast.Predicate(span, relation.name, more), better
        )

    def _summed(self, relation: ast.SouffleRelation, rows: str, aggregates: Aggregates) -> Iterator[ast.Item]:
        """The relation of the rows, and the rule that sums them up."""
        span, types = relation.span, self._types_of_rows(relation.name)
        attributes = tuple(
            replace(each, type=types.get(at, each.type)) for at, each in enumerate(relation.attributes)
        )
        yield ast.SouffleRelation(span, rows, attributes, ())
        head = _variables(span, len(aggregates), {})
        body: list[ast.Term] = [_row(span, rows, head, aggregates)]
        for at, function in enumerate(aggregates):
            if function is not None:
                held = _variables(span, len(aggregates), {at: "each"})
                inside = _row(span, rows, held, aggregates, at)
                body += _terms(span, function, head[at], held[at], inside, relation.attributes[at].type)
        yield ast.SouffleRule(span, (ast.Predicate(span, relation.name, head),), ast.And(span, tuple(body)))

    def _types_of_rows(self, name: str) -> Mapping[int, str]:
        """The types of columns that are counted, where an atom tells that of the variable."""
        types: dict[int, str] = {}
        heads = [(rule.body, head) for rule in self.rules for head in rule.heads if head.name == name]
        for body, head in heads:
            for at, arg in enumerate(head.args):
                found = self._type_in(body, _value(arg)) if _function(arg) == "count" else None
                if found is not None:
                    types.setdefault(at, found)
        return types

    def _type_in(self, body: ast.Term | None, value: ast.Expr) -> str | None:
        positive = nodes(body, (ast.Not, ast.Aggregator))
        for atom in (each for each in positive if isinstance(each, ast.Predicate)):
            declared = self.declared.get(atom.name)
            for arg, attribute in zip(atom.args, declared.attributes if declared else (), strict=False):
                if arg == value and isinstance(arg, ast.Named):
                    return attribute.type
        return None


def _function(arg: ast.Expr) -> str | None:
    """The aggregate that an argument of a head is."""
    if isinstance(arg, ast.FunctorCall) and arg.name in AGGREGATES and len(arg.args) == 1:
        return arg.name
    return None


def _value(arg: ast.Expr) -> ast.Expr:
    """The value that an argument of a head aggregates; of a plain one, the argument."""
    return arg.args[0] if isinstance(arg, ast.FunctorCall) and _function(arg) else arg


def _plain(head: ast.Predicate) -> ast.Predicate:
    """The head with the values that are aggregated."""
    return replace(head, args=tuple(map(_value, head.args)))


def _is_extreme(aggregates: Aggregates) -> bool:
    return len([*filter(None, aggregates)]) == 1 and any(each in _LESS for each in aggregates)


def _variables(span: Span, count: int, names: Mapping[int, str]) -> tuple[ast.Expr, ...]:
    """A variable for each column."""
    return tuple(ast.Named(span, names.get(at, f"v{at}")) for at in range(count))


def _row(
    span: Span, rows: str, values: Sequence[ast.Expr], aggregates: Aggregates, kept: int | None = None
) -> ast.Predicate:
    """The rows with the plain values of a head, and with one that is aggregated."""
    args = (
        value if function is None or at == kept else ast.Unnamed(span)
        for at, (value, function) in enumerate(zip(values, aggregates, strict=True))
    )
    return ast.Predicate(span, rows, tuple(args))


def _terms(
    span: Span, function: str, result: ast.Expr, each: ast.Expr, rows: ast.Predicate, type: str
) -> Iterator[ast.Term]:
    """The terms that bind a result; a mean of integers is an integer, and a count has the type of its
    column."""
    kind = _BASES.get(type, type)
    if function == "mean" and kind != "float":
        total, number = (ast.Named(span, f"{part}_{result.name}") for part in ("sum", "count"))  # type: ignore[union-attr]
        yield from _terms(span, "sum", total, each, rows, type)
        yield from _terms(span, "count", number, each, rows, type)
        yield ast.Compare(span, "=", result, ast.Operation(span, "/", (total, number)))
    elif function == "count":
        count = ast.Aggregator(span, "count", None, rows)
        if kind == "number":
            yield ast.Compare(span, "=", result, count)
        else:
            plain = ast.Named(span, f"number_{result.name}")  # type: ignore[union-attr]
            yield ast.Compare(span, "=", plain, count)
            yield ast.Compare(span, "=", result, ast.TypeCast(span, plain, kind))
    else:
        yield ast.Compare(span, "=", result, ast.Aggregator(span, function, each, rows))
