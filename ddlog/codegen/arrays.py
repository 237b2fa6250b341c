"""Expressions over numbers, booleans and equality to functions over int64 arrays.

An expression that has no array form gives None. Both sides of a conditional are computed; a division
knows which rows use its result, and one by zero on such a row, like a value outside the inline range
anywhere, raises NotVectorised: the scalar function then finds the answer or the faulty row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from .. import core
from ..core import Expr, Pattern
from ..engine.schema import Deferred
from ..types import Bool, Float, Type
from .analysis import folded
from .arrayoperations import ArrayOperations, NoArrayForm, is_wide
from .functiontable import Functions

Env = Mapping[str, str]

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def array_function(expr: Expr, inputs: Collection[str], functions: Functions) -> Callable[..., Any] | None:
    """The function `(encoder, *columns) -> int64 array` of an expression, compiled on first use."""
    if not may_have_array_form(expr):
        return None
    try:
        writer = ArrayWriter(functions)
        source = writer.function(expr, tuple(inputs))
    except NoArrayForm:
        return None
    return Deferred(partial(_compiled, source, writer.constants, writer.floats))


def _compiled(source: str, constants: dict[str, Any], floats: bool) -> Callable[..., Any]:
    """The function that the source of array code defines."""
    import numpy as np

    from . import arraysupport

    scope: dict[str, Any] = {"__name__": "<generated>", "np": np, "s": arraysupport}
    for name, (value, dtype) in constants.items():
        scope[name] = np.empty(1, dtype)
        scope[name][0] = value
    exec(compile(source, "<generated arrays>", "exec"), scope)
    function: Callable[..., Any] = scope["arrays"]
    return arraysupport.quietly(function) if floats else function


_DEEPEST, _LONGEST = 20, 2000  # calls within calls, and lines, of what is computed in arrays


def may_have_array_form(expr: Expr) -> bool:
    """A quick test that spares most expressions over strings and structs the attempt."""
    match expr:
        case (
            core.MakeTuple() | core.MakeStruct() | core.GetField() | core.GetItem() | core.For() | core.Try()
        ):
            return False
        case core.Op(op):
            return op != "concat"
    return True


class ArrayWriter(ArrayOperations):
    """Writes the array code of one expression: a line an operation."""

    def __init__(self, functions: Functions) -> None:
        super().__init__()
        self.functions = functions
        self.columns: dict[str, str] = {}
        self.loaded: dict[str, str] = {}
        self.calls: list[str] = []

    def function(self, expr: Expr, inputs: tuple[str, ...]) -> str:
        """The source of the function `arrays`."""
        self.columns = {name: f"c{i}" for i, name in enumerate(inputs)}
        result = self.value(expr, {}, "None")
        columns = ", ".join(["encoder", *self.columns.values()])
        tupled = f"({''.join(f'{name}, ' for name in self.columns.values())})"
        if isinstance(expr.type, Float):
            result = f"s.float_bits({result})"
        return "\n".join(
            [
                f"def arrays({columns}):",
                *(f"    {x}" for x in self.lines),
                f"    return s.full({result}, {tupled})\n",
            ]
        )

    def value(self, expr: Expr, env: Env, active: str) -> str:
        """The name of the array of an expression's values. `active` names the rows that use them."""
        match folded(expr):
            case core.Const(value, type):
                return self.constant(value, type)
            case core.Var(name, type):
                return env[name] if name in env else self.load(name, type)
            case core.Op(op, (left, right)) if op in ("and", "or", "=>"):
                return self.logic(op, left, right, env, active)
            case core.Op(op, (left, right)) if op in _COMPARISONS:
                return self.comparison(op, left, right, env, active)
            case core.Op(op, args, type) if op != "concat":
                return self.operation(
                    op, args, [self.value(each, env, active) for each in args], type, active
                )
            case core.Cast(arg, type):
                return self.cast(self.value(arg, env, active), arg.type, type)
            case core.Slice(arg, high, low):
                return self.bits(self.value(arg, env, active), arg.type, high, low)
            case core.If(condition, then, otherwise):
                test = self.value(condition, env, active)
                return self.choice(test, then, otherwise, env, active)
            case core.Match(arg, arms):
                return self.arms(self.value(arg, env, active), arg.type, list(arms), env, active)
            case core.Block(items):
                return self.block(items, env, active)
            case core.Call(function, args):
                return self.call(function, args, env, active)
        raise NoArrayForm

    def load(self, name: str, type: Type) -> str:
        """An input, ready to be computed with."""
        if name not in self.columns:
            raise NoArrayForm
        found = self.loaded.get(name)
        if found is None:
            found = self.columns[name]
            if isinstance(type, Bool):
                found = self.put(f"{found} != 0")
            elif isinstance(type, Float):
                self.floats = True
                found = self.put(f"s.floating({found})")
            elif is_wide(type):
                found = self.put(f"s.inline({found})")
            self.loaded[name] = found
        return found

    def logic(self, op: str, left: Expr, right: Expr, env: Env, active: str) -> str:
        """A logical operator; its right side counts where the left one does not decide."""
        first = self.value(left, env, active)
        second = self.value(right, env, self.both(active, first if op != "or" else self.put(f"~{first}")))
        if op == "=>":
            return self.put(f"~{first} | {second}")
        return self.put(f"{first} {'&' if op == 'and' else '|'} {second}")

    def both(self, active: str, test: str) -> str:
        """The rows that are active and pass a test."""
        return test if active == "None" else self.put(f"{active} & {test}")

    def comparison(self, op: str, left: Expr, right: Expr, env: Env, active: str) -> str:
        """A comparison; equality needs no more than the codes of the columns."""
        type = left.type
        if op in ("==", "!=") and not isinstance(type, Bool | Float):
            a, b = self.code(left, env, active), self.code(right, env, active)
            return self.put(f"{a} {op} {b}")
        a, b = self.value(left, env, active), self.value(right, env, active)
        return self.compared(op, a, b, type)

    def code(self, expr: Expr, env: Env, active: str) -> str:
        """The array of an operand that is only compared for equality."""
        if isinstance(expr, core.Var) and expr.name not in env and expr.name in self.columns:
            return self.columns[expr.name]
        return self.value(expr, env, active)

    def choice(self, test: str, then: Expr, otherwise: Expr, env: Env, active: str) -> str:
        """One value or the other by a test."""
        yes = self.value(then, env, self.both(active, test))
        no = self.value(otherwise, env, self.both(active, self.put(f"~{test}")))
        return self.put(f"np.where({test}, {yes}, {no})")

    def arms(self, subject: str, type: Type, arms: list[tuple[Pattern, Expr]], env: Env, active: str) -> str:
        """The value of the first arm of a match on constants that matches."""
        (pattern, body), *others = arms
        bound = dict(env)
        while isinstance(pattern, core.VarPattern):
            bound[pattern.name] = subject
            pattern = pattern.inner if pattern.inner is not None else core.AnyPattern(type)
        if isinstance(pattern, core.AnyPattern) or (isinstance(pattern, core.ConstPattern) and not others):
            return self.value(body, bound, active)
        if not isinstance(pattern, core.ConstPattern):
            raise NoArrayForm
        test = self.compared("==", subject, self.constant(pattern.value, type), type)
        yes = self.value(body, bound, self.both(active, test))
        no = self.arms(subject, type, others, env, self.both(active, self.put(f"~{test}")))
        return self.put(f"np.where({test}, {yes}, {no})")

    def block(self, items: tuple[Expr, ...], env: Env, active: str) -> str:
        """Declarations of variables, and a value."""
        inner = dict(env)
        for each in items[:-1]:
            match each:
                case core.Declare(core.VarPattern(name, _, None), value):
                    inner[name] = self.value(value, inner, active)
                case _:
                    raise NoArrayForm
        if not items or isinstance(items[-1], core.Declare):
            raise NoArrayForm
        return self.value(items[-1], inner, active)

    def call(self, key: str, args: tuple[Expr, ...], env: Env, active: str) -> str:
        """The body of a function in place of its call."""
        function = self.functions.functions[key]
        if function.body is None or key in self.calls or any(each.mutable for each in function.parameters):
            raise NoArrayForm
        if len(self.calls) >= _DEEPEST or len(self.lines) >= _LONGEST:
            raise NoArrayForm
        given = [self.value(each, env, active) for each in args]
        self.calls.append(key)
        inner = {each.name: text for each, text in zip(function.parameters, given, strict=True)}
        result = self.value(function.body, _Closed(inner), active)
        self.calls.pop()
        return result


class _Closed(dict[str, str]):
    """The variables of an inlined function: it sees no others."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        raise NoArrayForm
