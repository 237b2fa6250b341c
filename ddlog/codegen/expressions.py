"""Expressions of the language as Python expressions.

An expression is *simple* when Python has an expression for it. All others become statements, which
`statements.py` writes, that put the value into a variable. The operands before one that needs statements are
saved to variables first, so the order of evaluation stays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from .. import core
from ..core import Expr, Pattern
from ..core.walk import children
from ..types import FunctionType, Type
from .analysis import bound_in, folded, is_path
from .operators import bits, cast, operation
from .patterns import ValueNames, bindings, conditions, constant_text

MAX_DEPTH = 40  # of nested parentheses; deeper ones are saved to variables


class GeneratedNames(ValueNames, Protocol):
    """The names in a module of generated code, and the parts of the checked program that they stand for."""

    def function(self, key: str) -> str:
        """The name of a function."""

    def closure(self, key: str) -> tuple[str, str]:
        """The name of the class of the closures that call a function, and the text of their first item."""

    def parameters(self, key: str) -> tuple[core.Parameter, ...]:
        """The parameters of a function."""

    def library(self, key: str) -> str:
        """The full name of the function without a body that a function is, or hands its parameters on to;
        otherwise an empty text."""

    def field_places(self, type: Type, name: str) -> set[int]:
        """The places that a field has in the values of a struct or union."""

    def option_none(self, type: Type) -> str:
        """The name of the None of an Option."""


class ExpressionWriter(ABC):
    """Writes the expressions of one function. `lines` are the statements before the expression at hand."""

    def __init__(self, names: GeneratedNames, assigned: set[str]) -> None:
        self.names = names
        self.assigned = assigned
        self.lines: list[str] = []
        self.indent = 1
        self.variables: dict[str, str] = {}
        self.depths: dict[int, int] = {}

    @abstractmethod
    def into(self, expr: Expr, target: str) -> None:
        """Emits statements that compute a value and put it into a variable."""

    def variable(self, name: str) -> str:
        """The Python name of a variable of the language."""
        found = self.variables.get(name)
        if found is None:
            plain = "".join(c for c in name if c.isascii() and c.isalnum())
            found = self.variables[name] = (
                f"{plain}_{len(self.variables)}" if plain else f"v_{len(self.variables)}"
            )
            if found[0].isdigit():
                found = self.variables[name] = "v" + found
        return found

    def fresh(self) -> str:
        """A Python name that nothing else uses."""
        return self.variable(f"$temporary{len(self.variables)}")

    def emit(self, line: str) -> None:
        """Adds a statement."""
        self.lines.append("    " * self.indent + line)

    def saved(self, text: str) -> str:
        """A new variable that holds a value."""
        target = self.fresh()
        self.emit(f"{target} = {text}")
        return target

    # ------------------------------------------------------ simple or not

    def depth(self, expr: Expr) -> int:
        """The nesting depth of the Python expression; more than MAX_DEPTH when no expression is possible."""
        found = self.depths.get(id(expr))
        if found is None:
            found = self.depths[id(expr)] = self._depth(expr)
        return found

    def simple(self, expr: Expr) -> bool:
        """Whether Python has an expression for it."""
        return self.depth(expr) <= MAX_DEPTH

    def _depth(self, expr: Expr) -> int:
        match expr:
            case core.Const() | core.Var():
                return 0
            case core.Apply(function) if any(changed_arguments(function)):
                return MAX_DEPTH + 1
            case core.Call() if any(each.mutable for each in self.names.parameters(expr.function)):
                return MAX_DEPTH + 1
            case core.Match(arg, arms):
                if not is_path(arg) or any(self._rebinds(pattern) for pattern, _ in arms):
                    return MAX_DEPTH + 1
                return max([self.depth(body) + i for i, (_, body) in enumerate(arms)]) + 3
            case core.Block((only,)):
                return self.depth(only)
            case core.Op() | core.Cast() | core.Slice() | core.MakeTuple() | core.MakeStruct():
                return self._depth_of(children(expr))
            case core.GetField() | core.GetItem() | core.Call() | core.Apply() | core.If() | core.Closure():
                return self._depth_of(children(expr))
        return MAX_DEPTH + 1

    def _depth_of(self, operands: Sequence[Expr]) -> int:
        return max((self.depth(each) for each in operands), default=0) + 2

    def _rebinds(self, pattern: Pattern) -> bool:
        return any(name in self.assigned for name in bound_in(pattern))

    # --------------------------------------------------------- expressions

    def text(self, expr: Expr) -> str:
        """The Python expression of a value; statements that it needs are emitted first."""
        if not self.simple(expr):
            target = self.fresh()
            self.into(expr, target)
            return target
        match folded(expr):
            case core.Const(value):
                return constant_text(value, self.names)
            case core.Var(name):
                return self.variable(name)
            case core.Block((only,)):
                return self.text(only)
            case core.Match(arg, arms):
                return self.choice(self.text(arg), arms)
        return self.combined(expr, [self.text(each) for each in children(expr)])

    def operands(self, exprs: Sequence[Expr]) -> list[str]:
        """The texts of operands, of which later ones may need statements."""
        last = max((i for i, each in enumerate(exprs) if not self.simple(each)), default=-1)
        texts = []
        for i, each in enumerate(exprs):
            text = self.text(each)
            stable = isinstance(each, core.Const) or (
                isinstance(each, core.Var) and each.name not in self.assigned
            )
            if i < last and not stable:
                text = self.saved(text)
            texts.append(text)
        return texts

    def combined(self, expr: Expr, args: list[str]) -> str:
        """The Python expression of an operation on operands given as texts."""
        match expr:
            case core.Op(op, operands, type):
                right = operands[1].type if len(operands) > 1 else None
                return operation(op, args, type, right)
            case core.Cast(arg, type):
                return cast(args[0], arg.type, type)
            case core.Slice(_, high, low):
                return bits(args[0], high, low)
            case core.MakeTuple():
                return _tuple(args)
            case core.MakeStruct(constructor, _, type):
                cls, union = self.names.struct(type, constructor)
                return f"_new({cls}, {_tuple([str(constructor.index), *args] if union else args)})"
            case core.GetField(arg, name):
                places = self.names.field_places(arg.type, name)
                return f"{args[0]}[{places.pop()}]" if len(places) == 1 else f"_field({args[0]}, {name!r})"
            case core.GetItem(_, index):
                return f"{args[0]}[{index}]"
            case core.Call(function):
                return f"{self.names.function(function)}({', '.join(args)})"
            case core.Apply():
                return f"{args[0]}({', '.join(args[1:])})"
            case core.Closure(function):
                cls, place = self.names.closure(function)
                return f"_new({cls}, {_tuple([place, *args])})"
            case core.If():
                return f"({args[1]} if {args[0]} else {args[2]})"
        raise AssertionError(f"{expr.__class__.__name__} is no operation")

    def choice(self, subject: str, arms: Sequence[tuple[Pattern, Expr]]) -> str:
        """A match as a conditional expression, in which pattern variables are paths into the subject."""
        *others, (pattern, body) = arms
        text = self.arm(subject, pattern, body)
        for pattern, body in reversed(others):
            condition = " and ".join(conditions(subject, pattern, self.names)) or "True"
            text = f"({self.arm(subject, pattern, body)} if {condition} else {text})"
        return text

    def arm(self, subject: str, pattern: Pattern, body: Expr) -> str:
        """The text of an arm's simple body."""
        self.variables |= dict(bindings(subject, pattern, self.names))
        return self.text(body)


def changed_arguments(function: Expr) -> tuple[bool, ...]:
    """The arguments that a function changes which is a value."""
    return function.type.mutable if isinstance(function.type, FunctionType) else ()


def _tuple(texts: Sequence[str]) -> str:
    return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
