"""The functions that sql.dl declares `extern`."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import partial, reduce
from typing import Any

from ..engine.rounding import rounded
from ..values import NAN, Fault, Struct, Vec, canonical_float
from . import fp
from .options import NONE, some
from .sqlgroups import *  # noqa: F403
from .sqlintervals import *  # noqa: F403
from .sqljson import *  # noqa: F403
from .sqllists import *  # noqa: F403
from .sqlregexps import *  # noqa: F403
from .sqltexts import *  # noqa: F403
from .sqlvalues import *  # noqa: F403
from .sqlvalues import LONG, double_text
from .sqlwindows import *  # noqa: F403
from .sqlzones import *  # noqa: F403


def broken(problem: str) -> str:
    raise Fault(problem)


def sure(found: Struct, text: str, of: str) -> Any:
    if found[0] == 0:
        raise Fault(f'"{text}" is no {of}')
    return found[1]


# ---------------------------------------------------------------------- numbers


def as_double(a: int, b: int) -> float:
    return rounded(a, b)


def from_double(a: float, places: int) -> int:
    if not math.isfinite(a):
        raise Fault(f"{double_text(a)} is no exact number")
    if places == 0:
        return round(a)
    scaled = a * 10.0**places
    if not math.isfinite(scaled):
        raise Fault(f"{double_text(a)} has too many digits")
    return int(Decimal(scaled).quantize(Decimal(1), "ROUND_HALF_UP", LONG))


_NAMED = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "cbrt", "log10", "log2")
_OF_DOUBLES: dict[str, Callable[[float], float]] = {
    **{each: getattr(fp, f"{each}_d") for each in _NAMED},
    **{each: getattr(fp, f"to_{each}_d") for each in ("degrees", "radians")},
}
double_sqrt, double_ln, double_exp, double_pow, atan2 = fp.sqrt_d, fp.ln_d, fp.exp_d, fp.powf_d, fp.atan2_d
double_floor, double_ceil, double_trunc = fp.floor_d, fp.ceil_d, fp.trunc_d
is_nan, is_finite = fp.is_nan_d, fp.is_finite_d


def double_of(name: str, a: float) -> float:
    return _OF_DOUBLES[name](a)


def bits(op: str, a: int, b: int) -> int:
    match op:
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case ">":
            return a >> b if b >= 0 else 0
    if a < 0 or not 0 <= b < 1 << 16:
        raise Fault(f"{a} << {b} is not defined")
    return a << b


def bits_of(values: Vec, op: str) -> Struct:
    return some(reduce(partial(bits, op), values)) if values else NONE


def bit_count(a: int) -> int:
    if a < 0:
        raise Fault(f"the bits of {a} are without end")
    return a.bit_count()


def gcd(a: int, b: int) -> int:
    return math.gcd(a, b)


def lcm(a: int, b: int) -> int:
    return math.lcm(a, b)


def hex(a: int) -> str:
    return f"{a & (1 << 64) - 1:X}"


def fixed_text(a: float) -> str:
    return f"{a:f}"


def double_mod(a: float, b: float) -> float:
    return NAN if b == 0 or math.isinf(a) else canonical_float(math.fmod(a, b))


def double_round(a: float, places: int) -> float:
    if not math.isfinite(a):
        return a
    return canonical_float(
        float(Decimal(a).quantize(Decimal(1).scaleb(-places, LONG), "ROUND_HALF_UP", LONG))
    )
