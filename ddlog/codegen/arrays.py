"""Expressions over numbers, booleans and equality to functions over int64 arrays.

An expression that has no array form gives None. Both sides of a conditional are computed; a division
knows which rows use its result, and one by zero on such a row, like a value outside the inline range
anywhere, raises NotVectorised: the scalar function then finds the answer or the faulty row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from .. import core
from ..core import Expr, Pattern
from ..types import BigInt, Bit, Bool, Float, Signed, Type
from .analysis import folded
from .functions import Functions
from .operators import native_width

Env = Mapping[str, str]

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_LIMIT = 1 << 62
MAX_LINES = 400


class NoArrayForm(Exception):
    """The expression has no array form."""


def array_function(expr: Expr, inputs: Collection[str], functions: Functions) -> Callable[..., Any] | None:
    """The function `(encoder, *columns) -> int64 array` of an expression, compiled on first use."""
    if not may_have_array_form(expr):
        return None
    try:
        writer = ArrayWriter(functions)
        source = writer.function(expr, tuple(inputs))
    except NoArrayForm:
        return None
    return _Deferred(source, writer.constants, writer.floats)


class _Deferred:
    """Array code that is compiled when it is first called."""

    __slots__ = ("_constants", "_floats", "_function", "_source")

    def __init__(self, source: str, constants: dict[str, Any], floats: bool) -> None:
        self._source, self._constants, self._floats = source, constants, floats
        self._function: Callable[..., Any] | None = None

    def __call__(self, encoder: Any, *columns: Any) -> Any:
        if self._function is None:
            self._function = self._compile()
        return self._function(encoder, *columns)

    def _compile(self) -> Callable[..., Any]:
        import numpy as np

        from . import array_support

        scope: dict[str, Any] = {"np": np, "s": array_support}
        for name, (value, dtype) in self._constants.items():
            scope[name] = np.empty(1, dtype)
            scope[name][0] = value
        exec(compile(self._source, "<generated arrays>", "exec"), scope)
        function: Callable[..., Any] = scope["arrays"]
        return array_support.quietly(function) if self._floats else function


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


def is_wide(type: Type) -> bool:
    """Whether some values of an integer type do not fit inline."""
    match type:
        case Bit(width):
            return width > 62
        case Signed(width):
            return width > 63
    return isinstance(type, BigInt)


def is_integer(type: Type) -> bool:
    """Whether it is one of the integer types."""
    return isinstance(type, Bit | Signed | BigInt)


class ArrayWriter:
    """Writes the array code of one expression: a line an operation."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.lines: list[str] = []
        self.constants: dict[str, tuple[Any, str]] = {}
        self.floats = False
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

    def put(self, text: str) -> str:
        """Adds a line that computes an array; gives its name."""
        if len(self.lines) > MAX_LINES:
            raise NoArrayForm
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    # ------------------------------------------------------------ expressions

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
                return self.match(arg, list(arms), env, active)
            case core.Block(items):
                return self.block(items, env, active)
            case core.Call(function, args):
                return self.call(function, args, env, active)
        raise NoArrayForm

    def constant(self, value: Any, type: Type) -> str:
        """A constant array of length 1."""
        match type:
            case Bool():
                return self._constant(value, "bool")
            case Float():
                self.floats = True
                return self._constant(float(value), "float64")
            case Bit() | Signed() | BigInt():
                if not -_LIMIT <= value < _LIMIT:
                    raise NoArrayForm
                return self._constant(value, "int64")
        self.constants[name := f"k{len(self.constants)}"] = value, "object"
        return self.put(f"np.array([encoder.encode(s.OBJECT, {str(type)!r}, {name}[0])])")

    def _constant(self, value: Any, dtype: str) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = value, dtype
        return name

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

    def compared(self, op: str, a: str, b: str, type: Type) -> str:
        """A comparison of arrays."""
        if isinstance(type, Float):
            match op:
                case "==" | "!=":
                    return self.put(f"{'~' if op == '!=' else ''}s.float_equal({a}, {b})")
                case "<" | ">=":
                    return self.put(f"{'~' if op == '>=' else ''}s.float_below({a}, {b})")
            return self.put(f"{'~' if op == '<=' else ''}s.float_below({b}, {a})")
        if op not in ("==", "!=") and not (is_integer(type) or isinstance(type, Bool)):
            raise NoArrayForm
        return self.put(f"{a} {op} {b}")

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

    def match(self, arg: Expr, arms: list[tuple[Pattern, Expr]], env: Env, active: str) -> str:
        """A match on constants."""
        subject = self.value(arg, env, active)
        return self.arms(subject, arg.type, arms, env, active)

    def arms(self, subject: str, type: Type, arms: list[tuple[Pattern, Expr]], env: Env, active: str) -> str:
        """The value of the first arm that matches."""
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
        given = [self.value(each, env, active) for each in args]
        self.calls.append(key)
        inner = {each.name: text for each, text in zip(function.parameters, given, strict=True)}
        result = self.value(function.body, _Closed(inner), active)
        self.calls.pop()
        return result

    # ------------------------------------------------------------- operations

    def operation(self, op: str, exprs: tuple[Expr, ...], args: list[str], type: Type, active: str) -> str:
        """An arithmetic, bitwise or logical operator."""
        if op == "not":
            return self.put(f"~{args[0]}")
        if op == "++":
            return self.joined(args, exprs[1].type, type)
        if isinstance(type, Float):
            return self.float_operation(op, args, type)
        if not is_integer(type):
            raise NoArrayForm
        match op:
            case "neg":
                return self.brought_in(f"-{args[0]}", type)
            case "~" if isinstance(type, Bit):
                if is_wide(type):
                    raise NoArrayForm
                return self.put(f"{args[0]} ^ {(1 << type.width) - 1}")
            case "~":
                return self.put(f"~{args[0]}")
            case "&" | "|" | "^":
                return self.put(f"{args[0]} {op} {args[1]}")
            case "/" | "%":
                return self.division(op, exprs[1], args, type, active)
            case "<<" | ">>":
                return self.shift(op, args, type)
            case "*" if isinstance(type, BigInt) or getattr(type, "width", 0) > 64:
                return self.brought_in(f"s.product({args[0]}, {args[1]})", type)
        return self.brought_in(f"{args[0]} {op} {args[1]}", type)

    def brought_in(self, text: str, type: Type) -> str:
        """An integer result brought into the range of its type: computed modulo 2^64 and wrapped when
        the type is narrow, checked when it is wide."""
        match type:
            case Bit(width) if width <= 62:
                return self.put(f"({text}) & {(1 << width) - 1}")
            case Signed(width) if width <= 63:
                return self.put(f"(({text}) << {64 - width}) >> {64 - width}")
            case Bit():
                return self.put(f"s.fits({text}, 0)")
        return self.put(f"s.fits({text})")

    def division(self, op: str, by: Expr, args: list[str], type: Type, active: str) -> str:
        """A quotient or remainder, truncating."""
        a, b = args
        by = folded(by)
        if not (isinstance(by, core.Const) and by.value):
            b = self.put(f"s.divisor({b}, {active})")
        if isinstance(type, Bit):
            return self.put(f"{a} {'//' if op == '/' else '%'} {b}")
        if op == "%":
            return self.put(f"s.remainder({a}, {b})")
        return self.brought_in(f"s.quotient({a}, {b})", type)

    def shift(self, op: str, args: list[str], type: Type) -> str:
        """A shift; of machine integers by an amount modulo their native width."""
        a, amount = args
        native = native_width(type.width) if isinstance(type, Bit | Signed) else 0
        if native:
            amount = self.put(f"{amount} & {native - 1}")
        if op == ">>":
            return self.put(f"{a} >> np.minimum({amount}, 63)")
        if native in (8, 16, 32) or (native == 64 and not is_wide(type)):
            return self.brought_in(f"{a} << {amount}", type)
        return self.brought_in(f"s.shifted({a}, {amount})", type)

    def joined(self, args: list[str], right: Type, type: Type) -> str:
        """The bits of one vector before those of another."""
        if not isinstance(right, Bit) or not isinstance(type, Bit) or is_wide(type):
            raise NoArrayForm
        return self.put(f"({args[0]} << {right.width}) | {args[1]}")

    def float_operation(self, op: str, args: list[str], type: Float) -> str:
        """Arithmetic by IEEE 754."""
        self.floats = True
        text = f"-{args[0]}" if op == "neg" else f"{args[0]} {op} {args[-1]}"
        if op == "%":
            text = f"np.fmod({args[0]}, {args[1]})"
        if type.width == 32:
            text = f"s.single({text})"
        return self.put(f"({text}) + 0.0")

    def cast(self, text: str, source: Type, target: Type) -> str:
        """A conversion between number types."""
        if source == target:
            return text
        match source, target:
            case Float(), Float(width):
                return text if width == 64 else self.put(f"s.single({text}) + 0.0")
            case _, Float(width):
                self.floats = True
                return self.put(f"{text}.astype(np.float64)" if width == 64 else f"s.int_to_single({text})")
        if not (is_integer(source) and is_integer(target)):
            raise NoArrayForm
        return text if isinstance(target, BigInt) else self.brought_in(text, target)

    def bits(self, text: str, source: Type, high: int, low: int) -> str:
        """Bits `high` to `low` of integers."""
        width = high - low + 1
        if width > 62:
            if isinstance(source, Signed):
                raise NoArrayForm
            return self.put(f"{text} >> {min(low, 63)}")
        return self.put(f"({text} >> {min(low, 63)}) & {(1 << width) - 1}")


class _Closed(dict[str, str]):
    """The variables of an inlined function: it sees no others."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        raise NoArrayForm
