"""Numbers: powers, digits, bytes in network order."""

from __future__ import annotations

from collections.abc import Callable

from ..engine.memory import reserve
from ..types import BigInt, Bit, Signed
from ..values import Fault, wrap_bit, wrap_signed
from .typed import Signature, typed


def _bit_power(width: int) -> Callable[[int, int], int]:
    return lambda base, exp: pow(base, exp, 1 << width)


def _signed_power(width: int) -> Callable[[int, int], int]:
    return lambda base, exp: wrap_signed(pow(base, exp, 1 << width), width)


u8_pow32, u16_pow32, u32_pow32, u64_pow32, u128_pow32 = map(_bit_power, (8, 16, 32, 64, 128))
s8_pow32, s16_pow32, s32_pow32, s64_pow32, s128_pow32 = map(_signed_power, (8, 16, 32, 64, 128))


def bigint_pow32(base: int, exp: int) -> int:
    """The power. Raises Fault where the result would fill the memory."""
    if abs(base) > 1 and abs(base).bit_length() * exp > 1 << 27:
        raise Fault(f"cannot raise an integer to the power {exp}")
    reserve(abs(base).bit_length() * exp // 4)  # it takes as much again to compute it
    power: int = base**exp
    return power


@typed
def hex(x: int, *, signature: Signature) -> str:
    """The hexadecimal digits; of a negative machine integer, the digits of its two's complement."""
    match signature.parameters[0]:
        case Bit(width) | Signed(width):
            return format(wrap_bit(x, width), "x")
        case BigInt():
            return format(x, "x")
        case other:
            raise Fault(f"hex needs integers, and this is a value of type {other}")


def ntohl(x: int) -> int:
    return int.from_bytes(x.to_bytes(4, "little"), "big")


def ntohs(x: int) -> int:
    return int.from_bytes(x.to_bytes(2, "little"), "big")


htonl, htons = ntohl, ntohs
