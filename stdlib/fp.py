"""Functions of floats: total, with NaN outside of their domains and infinity where results are too large.

Functions of singles compute in double precision and round the result. The exceptions are `log_f` and
`mul_add_f`, whose docstrings say which values they round.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from ..engine.rounding import rounded, rounded_single, single_beside
from ..values import NAN, Struct, canonical_float, single
from .options import NONE, err, ok, some

Real = Callable[..., float]


def _both(function: Real) -> tuple[Real, Real]:
    """A function of doubles, and the one of singles that rounds its result."""

    def of_doubles(*x: float) -> float:
        try:
            return canonical_float(function(*x))
        except ValueError:
            return NAN
        except OverflowError:
            return math.inf

    def of_singles(*x: float) -> float:
        return single(of_doubles(*x))

    return of_doubles, of_singles


def _whole(function: Callable[[float], int]) -> Real:
    """A rounding to whole numbers. Infinities and NaN stay."""
    return lambda x: float(function(x)) if math.isfinite(x) else x


def _logarithm(function: Real) -> Real:
    return lambda x: function(x) if x != 0 else -math.inf


_trunc = _whole(math.trunc)


def _half_away(x: float) -> int:
    whole = math.trunc(x)
    return whole + (1 if x > 0 else -1) if abs(x - whole) >= 0.5 else whole


def _signum(x: float) -> float:
    return NAN if math.isnan(x) else math.copysign(1.0, x)


def _sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _atanh(x: float) -> float:
    return math.atanh(x) if abs(x) != 1 else math.copysign(math.inf, x)


def _cbrt(x: float) -> float:
    """The double whose cube is nearest: that of the C library may be one beside it."""
    near = math.cbrt(x)
    if not math.isfinite(near):
        return near
    around = (near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf))
    return min(around, key=lambda root: abs(Fraction(root) ** 3 - Fraction(x)))


def _power(x: float, exp: float) -> float:
    try:
        return math.pow(x, exp)
    except OverflowError:
        return -math.inf if x < 0 and exp % 2 == 1 else math.inf
    except ValueError:
        return math.inf if x == 0 else NAN


def _quotient(x: float, y: float) -> float:
    if y == 0:
        return NAN if x == 0 or math.isnan(x) else math.copysign(math.inf, x)
    return x / y


floor_d, floor_f = _both(_whole(math.floor))
ceil_d, ceil_f = _both(_whole(math.ceil))
round_d, round_f = _both(_whole(_half_away))
trunc_d, trunc_f = _both(_trunc)
fract_d, fract_f = _both(lambda x: x - _trunc(x))
abs_d, abs_f = _both(abs)
signum_d, signum_f = _both(_signum)
recip_d, recip_f = _both(lambda x: _quotient(1.0, x))

sqrt_d, sqrt_f = _both(math.sqrt)
cbrt_d, cbrt_f = _both(_cbrt)
exp_d, exp_f = _both(math.exp)
exp2_d, exp2_f = _both(math.exp2)
ln_d, ln_f = _both(_logarithm(math.log))
log2_d, log2_f = _both(_logarithm(math.log2))
log10_d, log10_f = _both(_logarithm(math.log10))

sin_d, sin_f = _both(math.sin)
cos_d, cos_f = _both(math.cos)
tan_d, tan_f = _both(math.tan)
asin_d, asin_f = _both(math.asin)
acos_d, acos_f = _both(math.acos)
atan_d, atan_f = _both(math.atan)
atan2_d, atan2_f = _both(math.atan2)
sinh_d, sinh_f = _both(_sinh)
cosh_d, cosh_f = _both(math.cosh)
tanh_d, tanh_f = _both(math.tanh)
asinh_d, asinh_f = _both(math.asinh)
acosh_d, acosh_f = _both(math.acosh)
atanh_d, atanh_f = _both(_atanh)
to_degrees_d, _ = _both(math.degrees)
to_radians_d, _ = _both(math.radians)

powi_d, powi_f = _both(_power)
powf_d, powf_f = _both(_power)

_DEGREES = single(180 / math.pi)
_RADIANS = single(math.pi / 180)


def to_degrees_f(f: float) -> float:
    return single(f * _DEGREES)


def to_radians_f(f: float) -> float:
    return single(f * _RADIANS)


def log_d(f: float, base: float) -> float:
    """The quotient of two rounded natural logarithms."""
    return canonical_float(_quotient(ln_d(f), ln_d(base)))


def log_f(f: float, base: float) -> float:
    """The quotient of two natural logarithms, each rounded to a single."""
    return single(_quotient(ln_f(f), ln_f(base)))


def mul_add_d(a: float, b: float, c: float) -> float:
    """`a * b + c`, rounded once."""
    return _mul_add(a, b, c, rounded)


def mul_add_f(a: float, b: float, c: float) -> float:
    """`a * b + c`, rounded once."""
    return _mul_add(a, b, c, rounded_single)


def _mul_add(a: float, b: float, c: float, nearest: Callable[[int, int], float]) -> float:
    if not math.isfinite(a) or not math.isfinite(b):
        return canonical_float(a * b + c)
    if not math.isfinite(c):
        return c
    return nearest(*(Fraction(a) * Fraction(b) + Fraction(c)).as_integer_ratio())


def is_nan_d(f: float) -> bool:
    return math.isnan(f)


def is_infinite_d(f: float) -> bool:
    return math.isinf(f)


def is_finite_d(f: float) -> bool:
    return math.isfinite(f)


def nan_d() -> float:
    return NAN


is_nan_f, is_infinite_f, is_finite_f, nan_f = is_nan_d, is_infinite_d, is_finite_d, nan_d


def int_from_d(d: float) -> Struct:
    return some(math.trunc(d)) if math.isfinite(d) else NONE


int_from_f = int_from_d

_FLOAT = re.compile(
    r"[+-]? (?: inf | infinity | nan | (?: [0-9]+ \.? [0-9]* | \. [0-9]+ ) (?: e [+-]? [0-9]+ )? )",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)


def parse_d(s: str) -> Struct:
    return ok(canonical_float(float(s))) if _FLOAT.fullmatch(s) else _no_float(s)


def parse_f(s: str) -> Struct:
    """The single nearest to the decimal, rounded once."""
    if not _FLOAT.fullmatch(s):
        return _no_float(s)
    double = float(s)
    if double == 0 or not math.isfinite(double):
        return ok(canonical_float(double))
    exact, near = Decimal(s), Decimal(double)
    return ok(single_beside(double, (exact > near) - (exact < near)))


def _no_float(s: str) -> Struct:
    return err("invalid float literal" if s else "cannot parse float from empty string")
