"""The text of one operation, given the texts of its operands (each an atom or in parentheses)."""

from __future__ import annotations

from ..types import BigInt, Bit, Bool, Float, Signed, Type
from ..values import integer_range

_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


def native_width(width: int) -> int:
    """The width of the machine integer that holds `width` bits; 0 for none."""
    return next((native for native in (8, 16, 32, 64, 128) if width <= native), 0)


def wrapped(text: str, type: Type) -> str:
    """The integer that the text computes, wrapped to a type."""
    match type:
        case Bit(width):
            return f"({text} & {(1 << width) - 1:#x})"
        case Signed(width):
            half = 1 << width - 1
            return f"(({text} + {half:#x} & {2 * half - 1:#x}) - {half:#x})"
    return text


def operation(op: str, args: list[str], type: Type, right: Type | None = None) -> str:
    """The Python expression of an operator of the language. `right` is the type of the second operand."""
    if op in _COMPARISONS or op in ("and", "or"):
        return f"({args[0]} {op} {args[1]})"
    match op:
        case "=>":
            return f"(not {args[0]} or {args[1]})"
        case "not":
            return f"(not {args[0]})"
        case "concat":
            return f"({' + '.join(args)})" if len(args) < 4 else f"''.join(({', '.join(args)}))"
        case "++":
            assert isinstance(right, Bit)
            return f"({args[0]} << {right.width} | {args[1]})"
    if isinstance(type, Float):
        return _floating(op, args, type)
    return _integer(op, args, type)


def _floating(op: str, args: list[str], type: Float) -> str:
    rounding = "_canonical" if type.width == 64 else "_single"
    match op:
        case "neg":
            return f"{rounding}(-{args[0]})"
        case "/":
            return f"{'_float_divide' if type.width == 64 else '_single_divide'}({args[0]}, {args[1]})"
        case "%":
            return f"_float_remainder({args[0]}, {args[1]})"
    return f"{rounding}({args[0]} {op} {args[1]})"


def _integer(op: str, args: list[str], type: Type) -> str:
    match op:
        case "neg":
            return _outer(f"-{args[0]}", type)
        case "~":
            return wrapped(f"~{args[0]}", type) if isinstance(type, Bit) else f"(~{args[0]})"
        case "/" | "%":
            return _division(op, args, type)
        case "<<" | ">>":
            return _shift(op, args, type)
        case "&" | "|" | "^":
            return f"({args[0]} {op} {args[1]})"
        case "*" if isinstance(type, BigInt) and not any(each.isdigit() for each in args):
            return f"_multiply({args[0]}, {args[1]})"
    return _outer(f"{args[0]} {op} {args[1]}", type)


def _outer(text: str, type: Type) -> str:
    return f"({text})" if isinstance(type, BigInt) else wrapped(f"({text})", type)


def _division(op: str, args: list[str], type: Type) -> str:
    left, right = args
    if isinstance(type, Bit) and (right.isidentifier() or (right.isdigit() and right.strip("0"))):
        text = f"{left} {'//' if op == '/' else '%'} {right}"
        return f"({text})" if right.isdigit() else f"({text} if {right} else _by_zero())"
    if op == "%":
        return f"_remainder({left}, {right})"
    divided = f"_divide({left}, {right})"
    return wrapped(divided, type) if isinstance(type, Signed) else divided


def _shift(op: str, args: list[str], type: Type) -> str:
    left, amount = args
    native = native_width(type.width) if isinstance(type, Bit | Signed) else 0
    if native:
        reduced = f"{int(amount) % native}" if amount.isdigit() else f"({amount} & {native - 1})"
        return f"({left} >> {reduced})" if op == ">>" else wrapped(f"({left} << {reduced})", type)
    if op == ">>":
        return f"({left} >> {amount})"
    if isinstance(type, Bit | Signed):
        return wrapped(f"(({left} << {amount}) if {amount} < {type.width} else 0)", type)
    return f"_shift_left({left}, {amount})"


def cast(text: str, source: Type, target: Type) -> str:
    """The Python expression of `text as target`."""
    if source == target or isinstance(target, Bool):
        return text
    match source, target:
        case Float(), Float(width):
            return text if width == 64 else f"_single({text})"
        case _, Float(width):
            return f"_int_to_double({text})" if width == 64 else f"_int_to_single({text})"
        case ((Bit() | Signed()), (Bit() | Signed())):
            inner, outer = integer_range(source), integer_range(target)
            return text if outer[0] <= inner[0] and inner[1] <= outer[1] else wrapped(text, target)
        case BigInt(), (Bit() | Signed()):
            return wrapped(text, target)
    return text


def bits(text: str, high: int, low: int) -> str:
    """The Python expression of `text[high:low]`."""
    shifted = f"{text} >> {low}" if low else text
    return f"({shifted} & {(1 << high - low + 1) - 1:#x})"
