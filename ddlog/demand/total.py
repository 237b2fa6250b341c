"""Expressions that have a value whatever the values of their variables are.

A demand is computed before the rest of its rule is known to hold. So it may only evaluate what cannot fault
and has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import core
from ..core import Expr
from ..core.clauses import expressions
from ..core.walk import called, children
from ..types import BigInt, Bit, Signed


class Totality:
    """Tells the expressions of a program that always have a value."""

    def __init__(self, functions: Mapping[str, core.Function]) -> None:
        self._functions = functions
        self._known: dict[str, bool] = {}

    def total(self, expr: Expr) -> bool:
        """Whether the expression cannot fault, ends, and has no effect."""
        match expr:
            case core.Op("/" | "%", (_, divisor)):
                if not isinstance(divisor, core.Const) or not divisor.value:
                    return False
            case core.Op("<<" | ">>", (_, amount)):
                if not isinstance(amount, core.Const):
                    return False
            case core.Cast(arg, to):
                if not all(isinstance(each, BigInt | Bit | Signed) for each in (arg.type, to)):
                    return False
            case core.Call(function):
                if not self._function(function):
                    return False
            case core.Closure() | core.Apply():
                return False
        return all(map(self.total, children(expr)))

    def _function(self, key: str) -> bool:
        """Whether a function always has a value. One that calls itself may not end."""
        if key not in self._known:
            self._known[key] = False
            called = self._functions[key]
            self._known[key] = called.body is not None and not called.effects and self.total(called.body)
        return self._known[key]


class Effects:
    """Tells the rules of a program that have an effect when they are evaluated."""

    def __init__(self, functions: Mapping[str, core.Function]) -> None:
        self._effectful = {key for key, each in functions.items() if each.effects}
        calls = {key: called(each.body) for key, each in functions.items() if each.body is not None}
        found = self._effectful
        while found:
            found = {key for key, each in calls.items() if each & found} - self._effectful
            self._effectful |= found

    def of_rule(self, rule: core.Rule) -> bool:
        """Whether the evaluation of a rule has an effect."""
        if any(isinstance(each, core.Inspect) for each in rule.body):
            return True
        parts = [part for each in rule.body for part in expressions(each)]
        parts += [arg for head in rule.heads for arg in head.args]
        return bool(self._effectful) and any(called(each) & self._effectful for each in parts)
