"""Functions that generated Python code calls: arithmetic in which Python differs from the language."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from ..engine.memory import reserve
from ..stdlib.options import NONE, some
from ..values import NAN, Fault, Struct, canonical_float, single

SHIFT_LIMIT = 1 << 27
_LONG = 1 << 20  # bits of a product that is worth a question


def by_zero() -> NoReturn:
    """The fault of a division by zero."""
    raise Fault("division by zero")


def divide(a: int, b: int) -> int:
    """The quotient, truncated toward zero."""
    if b == 0:
        by_zero()
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: int, b: int) -> int:
    """The remainder of truncating division, with the sign of `a`."""
    if b == 0:
        by_zero()
    left = abs(a) % abs(b)
    return left if a >= 0 else -left


def multiply(a: int, b: int) -> int:
    """The product of unbounded integers."""
    bits = a.bit_length() + b.bit_length()
    if bits > _LONG:
        reserve(bits // 4)  # it takes as much again to compute it
    return a * b


def shift_left(a: int, amount: int) -> int:
    """`a << amount` of an unbounded integer. Raises Fault where the result would fill the memory."""
    if amount > SHIFT_LIMIT and a:
        raise Fault(f"cannot shift an integer by {amount} bits")
    reserve((a.bit_length() + amount) // 8)
    return a << amount if a else 0


def extended(elements: list[Any], more: tuple[Any, ...]) -> None:
    """Appends elements to a list."""
    reserve(8 * (len(elements) + len(more)))
    elements.extend(more)


def held(pairs: dict[Any, Any], key: Any) -> Struct:
    """`Some` of the value that a dictionary has for a key, or None."""
    return some(pairs[key]) if key in pairs else NONE


def concatenated(*parts: str) -> str:
    """Strings as one, in a function that may do so again and again."""
    reserve(sum(map(len, parts)))
    return "".join(parts)


def float_divide(a: float, b: float) -> float:
    """The quotient by the rules of IEEE 754, canonical."""
    if b == 0.0:
        return NAN if a == 0.0 or a is NAN else math.copysign(math.inf, a)
    return canonical_float(a / b)


def float_remainder(a: float, b: float) -> float:
    """The remainder of truncating division, canonical."""
    if b == 0.0 or math.isinf(a) or a is NAN or b is NAN:
        return NAN
    return math.fmod(a, b) + 0.0


def single_divide(a: float, b: float) -> float:
    """The quotient rounded to single precision."""
    return single(float_divide(a, b))


def replaced(value: tuple[Any, ...], index: int, item: Any) -> Any:
    """The tuple, struct or union value with one item replaced."""
    return tuple.__new__(type(value), (*value[:index], item, *value[index + 1 :]))


def field_index(value: Struct, name: str) -> int:
    """The place of a field in a union value. Raises Fault when its constructor has none of that name."""
    key = value.__ddlog__
    if name not in key.names:
        raise Fault(f"{key.constructor} has no field {name}")
    return key.names.index(name) + (key.number is not None)


def field(value: Struct, name: str) -> Any:
    """A field of a union value whose constructors have it in different places."""
    return value[field_index(value, name)]
