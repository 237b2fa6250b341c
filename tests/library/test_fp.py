"""Functions of floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from hypothesis import given as always
from hypothesis import strategies as st

from ddlog.stdlib import fp
from ddlog.values import NAN, canonical_float

from .calls import given, untried

PRELUDE = """
import fp
function inf(): double { 1.0 / 0.0 }
function inf_f(): float { 1.0 / 0.0 }
"""

CALLS = {
    "(floor_d(1.5), floor_d(-1.5), floor_d(-0.5), floor_d(inf()))": "(1, -2, -1, inf)",
    "(ceil_d(1.5), ceil_d(-1.5), ceil_d(-0.5), ceil_d(-inf()))": "(2, -1, 0, -inf)",
    "(round_d(2.5), round_d(-2.5), round_d(0.49999999999999994), round_d(nan_d()))": "(3, -3, 0, NaN)",
    "(trunc_d(2.9), trunc_d(-2.9), trunc_d(1e300) == 1e300)": "(2, -2, true)",
    "(fract_d(2.75), fract_d(-2.75), fract_d(inf()))": "(0.75, -0.75, NaN)",
    "(abs_d(-1.5), abs_d(-inf()), abs_d(nan_d()))": "(1.5, inf, NaN)",
    "(signum_d(-7.0), signum_d(0.0), signum_d(inf()), signum_d(nan_d()))": "(-1, 1, 1, NaN)",
    "(sqrt_d(2.25), sqrt_d(-1.0), sqrt_d(inf()))": "(1.5, NaN, inf)",
    "(exp_d(0.0), exp_d(1000.0), exp_d(-1000.0))": "(1, inf, 0)",
    "(exp2_d(10.0), exp2_d(0.5), exp2_d(2000.0))": "(1024, 1.4142135623730951, inf)",
    "(ln_d(1.0), ln_d(0.0), ln_d(-1.0), ln_d(inf()))": "(0, -inf, NaN, inf)",
    "(log2_d(8.0), log2_d(0.0), log2_d(-8.0))": "(3, -inf, NaN)",
    "(log10_d(1000.0), log10_d(0.0), log10_d(-1.0))": "(3, -inf, NaN)",
    "(cbrt_d(27.0), cbrt_d(-27.0))": "(3, -3)",
    "(sin_d(0.0), sin_d(1.0), sin_d(inf()))": "(0, 0.8414709848078965, NaN)",
    "(cos_d(0.0), cos_d(inf()))": "(1, NaN)",
    "(tan_d(0.0), tan_d(1.0))": "(0, 1.5574077246549023)",
    "(asin_d(1.0), asin_d(1.5))": "(1.5707963267948966, NaN)",
    "(acos_d(1.0), acos_d(-1.5))": "(0, NaN)",
    "(atan_d(1.0), atan_d(inf()))": "(0.7853981633974483, 1.5707963267948966)",
    "(sinh_d(0.0), sinh_d(-1000.0), sinh_d(1000.0))": "(0, -inf, inf)",
    "(cosh_d(0.0), cosh_d(-1000.0))": "(1, inf)",
    "(tanh_d(0.0), tanh_d(-1000.0))": "(0, -1)",
    "(asinh_d(0.0), asinh_d(-inf()))": "(0, -inf)",
    "(acosh_d(1.0), acosh_d(0.5))": "(0, NaN)",
    "(atanh_d(0.0), atanh_d(1.0), atanh_d(-1.0), atanh_d(2.0))": "(0, inf, -inf, NaN)",
    "(recip_d(4.0), recip_d(0.0), recip_d(inf()))": "(0.25, inf, 0)",
    "(to_degrees_d(3.141592653589793), to_radians_d(180.0))": "(180, 3.141592653589793)",
    "(atan2_d(1.0, -1.0), atan2_d(0.0, 0.0), atan2_d(inf(), inf()))":
        "(2.356194490192345, 0, 0.7853981633974483)",
    "(is_nan_d(nan_d()), is_nan_d(inf()), is_nan_d(0.0))": "(true, false, false)",
    "(is_infinite_d(nan_d()), is_infinite_d(-inf()), is_infinite_d(0.0))": "(false, true, false)",
    "(is_finite_d(nan_d()), is_finite_d(inf()), is_finite_d(0.0))": "(false, false, true)",
    "(mul_add_d(2.0, 3.0, 4.0), mul_add_d(inf(), 0.0, 1.0), mul_add_d(1e200, 1e200, -inf()))":
        "(10, NaN, -inf)",
    "mul_add_d(1.0000000000000002, 0.9999999999999998, -1.0) < 0.0": "true",
    "(powi_d(2.0, 10), powi_d(2.0, -1), powi_d(0.0, -1), powi_d(-2.0, 1025), powi_d(nan_d(), 0))":
        "(1024, 0.5, inf, -inf, 1)",
    "(powf_d(2.0, 0.5), powf_d(-8.0, 0.5), powf_d(-2.0, 3.0), powf_d(1.0, nan_d()))":
        "(1.4142135623730951, NaN, -8, 1)",
    "(log_d(8.0, 2.0), log_d(2.0, 1.0), log_d(-1.0, 2.0))": "(3, inf, NaN)",
    "(floor_f(1.5), floor_f(-0.5), floor_f(inf_f()))": "(1, -1, inf)",
    "(ceil_f(1.5), ceil_f(-0.5))": "(2, 0)",
    "(round_f(2.5), round_f(-0.5))": "(3, -1)",
    "(trunc_f(-2.9), trunc_f(nan_f()))": "(-2, NaN)",
    "fract_f(2.75)": "0.75",
    "(abs_f(-0.1), signum_f(-0.1))": "(0.1, -1)",
    "(sqrt_f(2.0), sqrt_f(-2.0))": "(1.4142135, NaN)",
    "(exp_f(1.0), exp_f(100.0))": "(2.7182817, inf)",
    "(exp2_f(0.5), exp2_f(128.0))": "(1.4142135, inf)",
    "(ln_f(2.0), ln_f(0.0))": "(0.6931472, -inf)",
    "(log2_f(3.0), log10_f(2.0))": "(1.5849625, 0.30103)",
    "cbrt_f(2.0)": "1.2599211",
    "(sin_f(1.0), cos_f(1.0), tan_f(1.0))": "(0.84147096, 0.5403023, 1.5574077)",
    "(asin_f(2.0), acos_f(0.5), atan_f(1.0))": "(NaN, 1.0471976, 0.7853982)",
    "(sinh_f(-100.0), cosh_f(1.0), tanh_f(1.0))": "(-inf, 1.5430807, 0.7615942)",
    "(asinh_f(1.0), acosh_f(2.0), atanh_f(1.0))": "(0.8813736, 1.316958, inf)",
    "(recip_f(3.0), recip_f(0.0))": "(0.33333334, inf)",
    "(to_degrees_f(1.0), to_radians_f(1.0))": "(57.29578, 0.017453292)",
    "atan2_f(1.0, 2.0)": "0.4636476",
    "(is_nan_f(nan_f()), is_infinite_f(inf_f()), is_finite_f(inf_f()))": "(true, true, false)",
    "(mul_add_f(2.0, 3.0, 4.0), mul_add_f(1.0e38, 10.0, 0.0), mul_add_f(inf_f(), 0.0, 1.0))":
        "(10, inf, NaN)",
    "(powi_f(3.0, 3), powi_f(10.0, 39), powf_f(2.0, 0.5))": "(27, inf, 1.4142135)",
    "(log_f(8.0, 2.0), log_f(2.0, 1.0))": "(3, inf)",
    "(int_from_d(-2.9), int_from_d(1e20), int_from_d(nan_d()), int_from_d(inf()))":
        "(ddlog_std::Some{-2}, ddlog_std::Some{100000000000000000000}, ddlog_std::None{}, ddlog_std::None{})",
    "(int_from_f(2.9), int_from_f(nan_f()))": "(ddlog_std::Some{2}, ddlog_std::None{})",
    '(parse_d("1.5"), parse_d("-.5e1"), parse_d("+5."), parse_d("-Infinity"))':
        "(ddlog_std::Ok{1.5}, ddlog_std::Ok{-5}, ddlog_std::Ok{5}, ddlog_std::Ok{-inf})",
    '(parse_d("NaN"), parse_d("1e999"), parse_d("-0"))':
        "(ddlog_std::Ok{NaN}, ddlog_std::Ok{inf}, ddlog_std::Ok{0})",
    'parse_d("")': 'ddlog_std::Err{"cannot parse float from empty string"}',
    '(is_err(parse_d(" 1")), is_err(parse_d("1_0")), is_err(parse_d("0x1")))': "(true, true, true)",
    '(is_err(parse_d(".")), is_err(parse_d("+")), is_err(parse_d("1e+")))': "(true, true, true)",
    '(parse_f("0.1"), parse_f("3.4028236e38"), parse_f("1.00000005960464484"))':
        "(ddlog_std::Ok{0.1}, ddlog_std::Ok{inf}, ddlog_std::Ok{1.0000001})",
    'parse_f("1e")': 'ddlog_std::Err{"invalid float literal"}',
}  # fmt: skip


def test_calls() -> None:
    assert given(PRELUDE, CALLS) == CALLS


def test_every_function_is_tried() -> None:
    assert untried("fp", CALLS) == []


FINITE = st.floats(allow_nan=False, allow_infinity=False)
SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False)


OF_TWO = ["atan2_d", "log_d", "powf_d"]
OF_ONE = [
    name
    for name in vars(fp)
    if name.endswith("_d") and name not in (*OF_TWO, "int_from_d", "mul_add_d", "nan_d", "parse_d", "powi_d")
]


def canonical(x: object) -> bool:
    """Whether a float is the one NaN or no negative zero."""
    return isinstance(x, float) and (x is NAN or (x == x and (x != 0 or math.copysign(1, x) > 0)))


@always(st.sampled_from(OF_ONE + OF_TWO), st.floats(), st.floats())
def test_functions_are_total_and_canonical(name: str, x: float, y: float) -> None:
    function: Callable[..., object] = getattr(fp, name)
    given = canonical_float(x), canonical_float(y)
    found = function(*given[: 1 + (name in OF_TWO)])
    assert isinstance(found, bool) if name.startswith("is_") else canonical(found)


@always(FINITE)
def test_halves_are_rounded_away_from_zero(x: float) -> None:
    exact = Fraction(x)
    assert fp.round_d(x) == math.copysign(math.floor(abs(exact) + Fraction(1, 2)), x)


@always(SINGLES, SINGLES, SINGLES)
def test_singles_are_multiplied_and_added_with_one_rounding(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    found = fp.mul_add_f(a, b, c)
    if math.isfinite(found):
        with np.errstate(over="ignore"):
            around = [np.nextafter(np.float32(found), np.float32(side)) for side in (math.inf, -math.inf)]
        distances = [abs(Fraction(float(each)) - exact) for each in around if np.isfinite(each)]
        assert all(abs(Fraction(found) - exact) <= each for each in distances)


@always(SINGLES)
def test_the_digits_of_a_single_are_parsed_to_it(x: float) -> None:
    assert fp.parse_f(repr(x)) == fp.ok(x + 0.0)
    assert fp.parse_f(str(np.float32(x))) == fp.ok(x + 0.0)
