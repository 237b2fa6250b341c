"""Arithmetic of the language as Spark SQL, exact or not at all.

Integers of up to 64 bits are computed as BIGINT, which wraps modulo 2^64 where Spark is not ANSI, and brought
into range after each step; a u64 is then the BIGINT of the same bits. Wider ones are DECIMAL(38,0), whose
overflow would be a silent null: only operations that provably stay within 38 digits have a form.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..types import BigInt, Bit, Float, Signed, Type
from ..values import integer_range
from .operators import native_width
from .sqltypes import integer_type, wrapped

LIMIT = 10**38 - 1


class NoSqlForm(Exception):
    """The expression has no SQL form."""


@dataclass(frozen=True, slots=True)
class NumberText:
    """SQL text: of the stored form of a value, or, `machine`, of the BIGINT that an integer is computed as.
    `bounds` are the least and greatest integer that it may be, where they are narrower than the type's."""

    text: str
    machine: bool = False
    bounds: tuple[int, int] | None = None


def is_machine(type: Type) -> bool:
    """Whether the type is one of integers that are computed as BIGINT."""
    return isinstance(type, Bit | Signed) and type.width <= 64


def stored(value: NumberText, type: Type) -> str:
    """The stored form of a value."""
    if not value.machine:
        return value.text
    assert isinstance(type, Bit | Signed)
    if type == Bit(64):
        return f"CAST(pmod(CAST({value.text} AS DECIMAL(20,0)), {1 << 64}BD) AS DECIMAL(20,0))"
    return f"CAST({value.text} AS {integer_type(type)})"


def machine(value: NumberText) -> str:
    """The BIGINT of an integer of up to 64 bits."""
    return value.text if value.machine else f"CAST({value.text} AS BIGINT)"


def bounds_of(value: NumberText, type: Type) -> tuple[int, int]:
    """The least and greatest integer that a value may be."""
    if value.bounds is not None:
        return value.bounds
    return (-LIMIT, LIMIT) if isinstance(type, BigInt) else _range(type)


def _range(type: Type) -> tuple[int, int]:
    assert isinstance(type, Bit | Signed)
    return integer_range(type)


def integer(value: int, type: Bit | Signed | BigInt) -> str:
    """A literal of an integer's stored form, which is a number. Raises NoSqlForm when it is too large."""
    if not -LIMIT <= value <= LIMIT:
        raise NoSqlForm
    kind = integer_type(type)
    suffix = {"TINYINT": "Y", "SMALLINT": "S", "INT": "", "BIGINT": "L"}.get(kind)
    if suffix is not None:
        return f"{value}{suffix}" if value >= 0 else f"({value}{suffix})"
    return f"CAST('{value}' AS {kind})"


def brought_in(text: str, type: Bit | Signed) -> NumberText:
    """A BIGINT brought into the range of a type."""
    match type:
        case Bit(width) if width < 64:
            return NumberText(f"({text} & {(1 << width) - 1}L)", machine=True)
        case Signed(width) if width < 64:
            unused = 64 - width
            if width in (8, 16, 32):
                return NumberText(f"CAST({text} AS {integer_type(type)})")
            return NumberText(f"shiftright(shiftleft({text}, {unused}), {unused})", machine=True)
    return NumberText(text, machine=True)


def _computed(text: str, least: int, greatest: int, type: Type) -> NumberText:
    """A decimal computed without overflow, brought into the range of a wide type."""
    if not (least >= -LIMIT and greatest <= LIMIT):
        raise NoSqlForm
    if isinstance(type, BigInt):
        return NumberText(f"CAST({text} AS DECIMAL(38,0))", bounds=(least, greatest))
    assert isinstance(type, Bit | Signed)
    low, high = integer_range(type)
    if low <= least and greatest <= high:
        return NumberText(f"CAST({text} AS {integer_type(type)})", bounds=(least, greatest))
    half = high + 1
    if integer_type(type) == "BINARY" or 2 * half > LIMIT or greatest + half > LIMIT:
        raise NoSqlForm
    found = wrapped(type, text)
    assert found is not None
    return NumberText(found)


def arithmetic(op: str, args: list[NumberText], type: Bit | Signed | BigInt) -> NumberText:
    """`+ - * neg` and the bitwise operators."""
    if is_machine(type):
        assert isinstance(type, Bit | Signed)
        return _machine_arithmetic(op, [machine(each) for each in args], type)
    if integer_type(type) == "BINARY":
        raise NoSqlForm
    ranges = [bounds_of(each, type) for each in args]
    texts = [each.text for each in args]
    if op == "neg":
        return _computed(f"(-{texts[0]})", -ranges[0][1], -ranges[0][0], type)
    (a, b), (c, d) = ranges[0], ranges[-1]
    match op:
        case "+":
            return _computed(f"({texts[0]} + {texts[1]})", a + c, b + d, type)
        case "-":
            return _computed(f"({texts[0]} - {texts[1]})", a - d, b - c, type)
        case "*":
            corners = (a * c, a * d, b * c, b * d)
            return _computed(f"({texts[0]} * {texts[1]})", min(corners), max(corners), type)
    raise NoSqlForm


def _machine_arithmetic(op: str, texts: list[str], type: Bit | Signed) -> NumberText:
    match op:
        case "neg":
            return brought_in(f"(-{texts[0]})", type)
        case "~":
            return brought_in(f"(~{texts[0]})", type)
        case "&" | "|" | "^":
            return NumberText(f"({texts[0]} {op} {texts[1]})", machine=True)
    return brought_in(f"({texts[0]} {op} {texts[1]})", type)


def division(op: str, left: NumberText, by: int, type: Bit | Signed | BigInt) -> NumberText:
    """The truncating quotient or remainder by a constant other than zero."""
    if type == Bit(64) or not is_machine(type):
        return _decimal_division(op, left, by, type)
    assert isinstance(type, Bit | Signed)
    divisor = f"{by}L" if by > 0 else f"({by}L)"
    if op == "%":
        return NumberText(f"({machine(left)} % {divisor})", machine=True)
    return brought_in(f"({machine(left)} div {divisor})", type)


def _decimal_division(op: str, left: NumberText, by: int, type: Bit | Signed | BigInt) -> NumberText:
    least, greatest = bounds_of(left, type)
    if integer_type(type) == "BINARY":
        raise NoSqlForm
    text, divisor = stored(left, type), integer(by, BigInt())
    if op == "%":
        result = f"CAST(({text} % {divisor}) AS {integer_type(type)})"
        return NumberText(
            result, bounds=(max(least, 1 - abs(by)) if least < 0 else 0, min(greatest, abs(by) - 1))
        )
    if abs(by) == 1 or max(-least, greatest) // abs(by) >= 1 << 63:
        raise NoSqlForm
    top = max(-least, greatest) // abs(by)
    return NumberText(
        f"CAST(({text} div {divisor}) AS {integer_type(type)})", bounds=(0 if least >= 0 < by else -top, top)
    )


def shift(
    op: str, left: NumberText, amount: NumberText, known: int | None, type: Bit | Signed | BigInt
) -> NumberText:
    """A shift of machine integers, by an amount modulo their native width; `known` if it is constant."""
    if not is_machine(type):
        raise NoSqlForm
    assert isinstance(type, Bit | Signed)
    native = native_width(type.width)
    by = f"CAST(({machine(amount)} & {native - 1}L) AS INT)" if known is None else str(known % native)
    if op == ">>":
        name = "shiftrightunsigned" if type == Bit(64) else "shiftright"
        return NumberText(f"{name}({machine(left)}, {by})", machine=True)
    return brought_in(f"shiftleft({machine(left)}, {by})", type)


def slice_of(value: NumberText, source: Type, high: int, low: int) -> NumberText:
    """Bits `high` to `low` of an integer."""
    width = high - low + 1
    if not isinstance(source, Bit | Signed | BigInt) or integer_type(source) == "BINARY" or high > 63:
        raise NoSqlForm
    text = f"shiftright({machine(value)}, {low})" if low else machine(value)
    return NumberText(text if width == 64 else f"({text} & {(1 << width) - 1}L)", machine=True)


def joined(left: NumberText, right: NumberText, right_type: Type, type: Type) -> NumberText:
    """The concatenation of two bit vectors."""
    if not isinstance(right_type, Bit) or not is_machine(type):
        raise NoSqlForm
    return NumberText(f"(shiftleft({machine(left)}, {right_type.width}) | {machine(right)})", machine=True)


def cast(value: NumberText, source: Type, target: Type) -> NumberText:
    """`value as target` between number types."""
    if source == target:
        return value
    if isinstance(target, Float):
        return _to_float(value, source, target)
    if isinstance(source, Float) or not isinstance(target, Bit | Signed | BigInt):
        raise NoSqlForm
    if not isinstance(source, Bit | Signed | BigInt) or integer_type(source) == "BINARY":
        raise NoSqlForm
    least, greatest = bounds_of(value, source)
    if is_machine(target):
        assert isinstance(target, Bit | Signed)
        low, high = integer_range(target)
        text = machine(value)  # a decimal becomes a BIGINT modulo 2^64
        return (
            NumberText(text, machine=True) if low <= least and greatest <= high else brought_in(text, target)
        )
    if integer_type(target) == "BINARY":
        raise NoSqlForm
    return _computed(f"CAST({stored(value, source)} AS DECIMAL(38,0))", least, greatest, target)


def _to_float(value: NumberText, source: Type, target: Float) -> NumberText:
    kind, zero = _float_type(target)
    if isinstance(source, Float):
        return NumberText(f"(CAST({value.text} AS {kind}) + {zero})")
    if not isinstance(source, Bit | Signed | BigInt) or integer_type(source) == "BINARY":
        raise NoSqlForm
    return NumberText(f"CAST({stored(value, source)} AS {kind})")


def _float_type(type: Float) -> tuple[str, str]:
    return ("FLOAT", "CAST(0 AS FLOAT)") if type.width == 32 else ("DOUBLE", "0.0D")


def floating(op: str, args: list[str], type: Float, divisor: float | None) -> str:
    """Arithmetic by IEEE 754, with one zero; `divisor` if it is constant. Singles are computed as doubles and
    rounded once, which gives the nearest single."""
    kind, zero = _float_type(type)
    a, b = (f"CAST({each} AS DOUBLE)" if type.width == 32 else each for each in (args[0], args[-1]))
    text = f"(-{a})" if op == "neg" else f"({a} {op} {b})"
    if type.width == 32:
        text = f"CAST({text} AS FLOAT)"
    text = f"({text} + {zero})"
    if op not in ("/", "%") or divisor:
        return text
    undefined = f"CAST('NaN' AS {kind})"
    if op == "%":
        return f"CASE WHEN {b} <> 0.0D THEN {text} ELSE {undefined} END"
    infinite = f"CAST('Infinity' AS {kind})"
    return (
        f"CASE WHEN {b} <> 0.0D THEN {text} WHEN {a} = 0.0D OR isnan({a}) THEN {undefined} "
        f"WHEN {a} > 0.0D THEN {infinite} ELSE -{infinite} END"
    )
