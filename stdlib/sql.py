"""The functions that sql.dl declares `extern`."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import partial, reduce
from typing import Any

from ..engine.rounding import rounded
from ..values import NAN, Fault, Struct, Vec, canonical_float
from .options import NONE, some
from .sqlgroups import at as at
from .sqlgroups import between_values as between_values
from .sqlgroups import deviation as deviation
from .sqlgroups import deviation_of_doubles as deviation_of_doubles
from .sqlgroups import entropy as entropy
from .sqlgroups import in_order as in_order
from .sqlgroups import mean_of_values as mean_of_values
from .sqlgroups import mode as mode
from .sqlgroups import of_pairs as of_pairs
from .sqlgroups import only as only
from .sqlgroups import order_key as order_key
from .sqlgroups import ordered as ordered
from .sqlgroups import reversed_list as reversed_list
from .sqlgroups import shape as shape
from .sqlgroups import top as top
from .sqlgroups import variance as variance
from .sqlgroups import variance_of_doubles as variance_of_doubles
from .sqlintervals import add_interval as add_interval
from .sqlintervals import age as age
from .sqlintervals import bucket as bucket
from .sqlintervals import divided as divided
from .sqlintervals import interval_part as interval_part
from .sqlintervals import interval_text as interval_text
from .sqlintervals import read_interval as read_interval
from .sqlintervals import scaled as scaled
from .sqljson import json_at as json_at
from .sqljson import json_decimal as json_decimal
from .sqljson import json_keys as json_keys
from .sqljson import json_length as json_length
from .sqljson import json_list as json_list
from .sqljson import json_members as json_members
from .sqljson import json_members_of as json_members_of
from .sqljson import json_number as json_number
from .sqljson import json_object as json_object
from .sqljson import json_quoted as json_quoted
from .sqljson import json_sure as json_sure
from .sqljson import json_type as json_type
from .sqljson import json_valid as json_valid
from .sqllists import element as element
from .sqllists import histogram as histogram
from .sqllists import list_distinct as list_distinct
from .sqllists import list_has_all as list_has_all
from .sqllists import list_has_any as list_has_any
from .sqllists import list_intersect as list_intersect
from .sqllists import list_join as list_join
from .sqllists import list_max as list_max
from .sqllists import list_min as list_min
from .sqllists import list_position as list_position
from .sqllists import list_reversed as list_reversed
from .sqllists import list_sorted as list_sorted
from .sqllists import list_text as list_text
from .sqllists import map_of as map_of
from .sqllists import map_text as map_text
from .sqllists import mean_of_doubles as mean_of_doubles
from .sqllists import mean_of_units as mean_of_units
from .sqllists import not_empty as not_empty
from .sqllists import part_text as part_text
from .sqllists import product_of as product_of
from .sqllists import slice as slice
from .sqllists import split as split
from .sqllists import struct_text as struct_text
from .sqllists import sum_of_doubles as sum_of_doubles
from .sqllists import sum_of_units as sum_of_units
from .sqlregexps import regexp_extract as regexp_extract
from .sqlregexps import regexp_extract_all as regexp_extract_all
from .sqlregexps import regexp_full_match as regexp_full_match
from .sqlregexps import regexp_replace as regexp_replace
from .sqlregexps import regexp_split as regexp_split
from .sqltexts import ascii as ascii
from .sqltexts import chr as chr
from .sqltexts import concat_ws as concat_ws
from .sqltexts import format_double as format_double
from .sqltexts import format_integer as format_integer
from .sqltexts import format_text as format_text
from .sqltexts import glob as glob
from .sqltexts import hex_text as hex_text
from .sqltexts import ilike as ilike
from .sqltexts import initcap as initcap
from .sqltexts import left as left
from .sqltexts import length as length
from .sqltexts import levenshtein as levenshtein
from .sqltexts import like as like
from .sqltexts import lower as lower
from .sqltexts import md5 as md5
from .sqltexts import pad_left as pad_left
from .sqltexts import pad_right as pad_right
from .sqltexts import position as position
from .sqltexts import regexp_matches as regexp_matches
from .sqltexts import repeated as repeated
from .sqltexts import replaced as replaced
from .sqltexts import reversed as reversed
from .sqltexts import right as right
from .sqltexts import sha256 as sha256
from .sqltexts import split_part as split_part
from .sqltexts import substring as substring
from .sqltexts import substring_from as substring_from
from .sqltexts import text_slice as text_slice
from .sqltexts import translated as translated
from .sqltexts import trim_both as trim_both
from .sqltexts import trim_leading as trim_leading
from .sqltexts import trim_trailing as trim_trailing
from .sqltexts import upper as upper
from .sqlvalues import LONG
from .sqlvalues import add_months as add_months
from .sqlvalues import date_diff as date_diff
from .sqlvalues import date_part as date_part
from .sqlvalues import date_sub as date_sub
from .sqlvalues import date_text as date_text
from .sqlvalues import days_of as days_of
from .sqlvalues import decimal_text as decimal_text
from .sqlvalues import double_text as double_text
from .sqlvalues import integer_of as integer_of
from .sqlvalues import last_day as last_day
from .sqlvalues import make_date as make_date
from .sqlvalues import make_time as make_time
from .sqlvalues import micros_of as micros_of
from .sqlvalues import moment_of as moment_of
from .sqlvalues import read_boolean as read_boolean
from .sqlvalues import read_date as read_date
from .sqlvalues import read_decimal as read_decimal
from .sqlvalues import read_double as read_double
from .sqlvalues import read_integer as read_integer
from .sqlvalues import read_time as read_time
from .sqlvalues import read_timestamp as read_timestamp
from .sqlvalues import series as series
from .sqlvalues import strftime as strftime
from .sqlvalues import strptime as strptime
from .sqlvalues import time_text as time_text
from .sqlvalues import timestamp_part as timestamp_part
from .sqlvalues import timestamp_text as timestamp_text
from .sqlvalues import truncated as truncated
from .sqlvalues import units_of as units_of
from .sqlwindows import window_frames as window_frames
from .sqlwindows import window_mean as window_mean
from .sqlwindows import window_mean_of_doubles as window_mean_of_doubles
from .sqlwindows import window_number as window_number
from .sqlwindows import window_value as window_value
from .sqlzones import add_interval_in as add_interval_in
from .sqlzones import between_in as between_in
from .sqlzones import instant as instant
from .sqlzones import instant_of as instant_of
from .sqlzones import moments as moments
from .sqlzones import read_timestamptz as read_timestamptz
from .sqlzones import strftime_in as strftime_in
from .sqlzones import strptime_in as strptime_in
from .sqlzones import timestamptz_text as timestamptz_text
from .sqlzones import truncated_in as truncated_in
from .sqlzones import wall_clock as wall_clock


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


_OF_DOUBLES: dict[str, Callable[[float], float]] = {
    each.__name__: each
    for each in (
        math.sin, math.cos, math.tan, math.asin, math.acos, math.atan, math.sinh, math.cosh, math.tanh,
        math.cbrt, math.degrees, math.radians, math.log10, math.log2,
    )
}  # fmt: skip


def double_of(name: str, a: float) -> float:
    if a == 0 and name.startswith("log"):
        return -math.inf
    try:
        return canonical_float(_OF_DOUBLES[name](a))
    except OverflowError:
        return math.inf if a > 0 or name == "cosh" else -math.inf
    except ValueError:
        return NAN


def atan2(a: float, b: float) -> float:
    return canonical_float(math.atan2(a, b))


def is_nan(a: float) -> bool:
    return math.isnan(a)


def is_finite(a: float) -> bool:
    return math.isfinite(a)


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


def double_floor(a: float) -> float:
    return canonical_float(float(math.floor(a))) if math.isfinite(a) else a


def double_ceil(a: float) -> float:
    return canonical_float(float(math.ceil(a))) if math.isfinite(a) else a


def double_trunc(a: float) -> float:
    return canonical_float(float(math.trunc(a))) if math.isfinite(a) else a


def double_sqrt(a: float) -> float:
    return canonical_float(math.sqrt(a)) if a >= 0 else NAN


def double_ln(a: float) -> float:
    if a == 0:
        return -math.inf
    return canonical_float(math.log(a)) if a > 0 else NAN


def double_exp(a: float) -> float:
    try:
        return canonical_float(math.exp(a))
    except OverflowError:
        return math.inf


def double_pow(a: float, b: float) -> float:
    try:
        return canonical_float(math.pow(a, b))
    except OverflowError:
        return math.inf
    except ValueError:
        return math.inf if a == 0 else NAN


# ------------------------------------------------------------------------ texts


# ------------------------------------------------------------------------ dates


# ----------------------------------------------------------------------- groups
