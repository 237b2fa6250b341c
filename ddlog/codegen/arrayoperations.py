"""Operations on int64 arrays: the line of array code for each, given the names of its operands.

A line raises NotVectorised where a result leaves the inline range, and for a division by zero on a row that
uses it.
"""

from __future__ import annotations

from typing import Any

from .. import core
from ..core import Expr
from ..types import BigInt, Bit, Bool, Float, Signed, Type
from .analysis import folded
from .operators import native_width

_LIMIT = 1 << 62
MAX_LINES = 400  # of the array code of one expression; a longer one has none


class NoArrayForm(Exception):
    """The expression has no array form."""


def is_wide(type: Type) -> bool:
    """Whether some values of an integer type do not fit inline."""
    match type:
        case Bit(width):
            return width > 62
        case Signed(width):
            return width > 63
    return isinstance(type, BigInt)


def is_integer(type: Type) -> bool:
    """Whether a type is one of the integer types."""
    return isinstance(type, Bit | Signed | BigInt)


class ArrayOperations:
    """The lines of one expression's array code. Each method adds lines and returns the name of a result."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: dict[str, tuple[Any, str]] = {}
        self.floats = False

    def put(self, text: str) -> str:
        """Adds a line that computes an array; gives its name."""
        if len(self.lines) > MAX_LINES:
            raise NoArrayForm
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

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
        """The concatenation of two bit vectors."""
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
                return self.put(f"{text}.astype(np.float64)" if width == 64 else f"s.single({text})")
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
