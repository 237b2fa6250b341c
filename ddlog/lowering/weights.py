"""Whether an expression looks at the weights of the values in a group, as `for ((value, weight) in g)` does.

The weight of a value is the number of valuations of the rule that have it; a row of a multiset or a stream
counts as often as it is there. For any other expression a group is a set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..core import AnyPattern, Call, Closure, Expr, For, Function, GetItem, TuplePattern, Var
from ..core.walk import descendants


class WeightReaders:
    """The functions of a program that look at the weights of a group that they are given."""

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._found: dict[tuple[str, int], bool] = {}

    def reads(self, expr: Expr, group: str) -> bool:
        """Whether an expression looks at the weights of the group that is the value of a variable."""
        return any(self.reads_itself(each, group) for each in descendants(expr))

    def reads_itself(self, expr: Expr, group: str) -> bool:
        """As `reads`, but not whether a part of the expression does."""
        match expr:
            case For(pattern, Var(name)) if name == group:
                weight = pattern.items[1] if isinstance(pattern, TuplePattern) else pattern
                return not isinstance(weight, AnyPattern)
            case Call(function, args) | Closure(function, args):
                given = [
                    place for place, arg in enumerate(args) if isinstance(arg, Var) and arg.name == group
                ]
                return any(self._takes(self._functions[function], place) for place in given)
        return False

    def _takes(self, function: Function, place: int) -> bool:
        at = function.key, place
        if at not in self._found:
            self._found[at] = False  # while a recursive function asks for itself
            body = function.body
            self._found[at] = body is not None and self.reads(body, function.parameters[place].name)
        return self._found[at]


def second_is_read(exprs: Iterable[Expr], pair: str) -> bool:
    """Whether expressions look at the second part of a pair, the value of a variable."""
    whole = first = 0
    for expr in exprs:
        for each in descendants(expr):
            match each:
                case Var(name) if name == pair:
                    whole += 1
                case GetItem(Var(name), 0) if name == pair:
                    first += 1
    return whole > first
