"""The functions of Soufflé's programs."""

from __future__ import annotations

import pytest

from .calls import given, given_of_group, untried

PRELUDE = """
import intern
import souffle_lib
import souffle_types
function s(text: string): Tsymbol { string_intern(text) }
function empty(): TEmpty { () }
function half(): Tfloat { 0.5 }
"""

CALLS = {
    "(castTo32(4294967295), castTo32(2147483648), castTo32(4294967296))": "(-1, -2147483648, 0)",
    "(castTo64(5), castTo64(-1))": "(5, 18446744073709551615)",
    'istring_str(cat(s("ab"), s("cd")))': '"abcd"',
    '(strlen(s("")), strlen(s("aé")))': "(0, 3)",
    'ord(s("a")) == ord(s("a")) and ord(s("a")) != ord(s("b"))': "true",
    '(istring_str(substr(s("hello"), 1, 3)), istring_str(substr(s("hello"), 3, 9)))': '("ell", "lo")',
    'istring_str(substr(s("hello"), -1, 3))': '""',
    'istring_str(substr(s("hello"), 1, -1))': '""',
    'istring_str(substr(s("hello"), 9, 1))': '""',
    '(contains(s("bc"), s("abcd")), contains(s("abcd"), s("bc")))': "(true, false)",
    're_match(s("a.*c"), s("abc"))': "true",
    're_match(s("b"), s("abc"))': "false",
    're_match(s("a|b"), s("b"))': "true",
    're_match(s("("), s("("))': "false",
    '(to_number(s("-12")), to_number(s("x")), to_number(s("")), to_number(s("4294967297")))':
        "(-12, 0, 0, 1)",
    "(to_number(-1.9), to_number(1e300 * 1e300), to_number(half()))": "(-1, 0, 0)",
    "istring_str(to_istring(-5))": '"-5"',
    "random()": "0",
    "land(2, 1: Tnumber)": "1",
    "land(2: Tnumber, 0)": "0",
    "lor(0: Tnumber, 0)": "0",
    "lor(0: Tnumber, -3)": "1",
    "lnot(0: Tnumber)": "1",
    "lnot(7: Tnumber)": "0",
    "land(2, 1: Tunsigned)": "1",
    "land(2: Tunsigned, 0)": "0",
    "lor(0: Tunsigned, 0)": "0",
    "lor(0: Tunsigned, 3)": "1",
    "lnot(0: Tunsigned)": "1",
    "lnot(7: Tunsigned)": "0",
    "(ftoi(-2.7), ftoi(4294967297.0), ftoi(0.0 / 0.0))": "(-2, 1, 0)",
    "(itof(-3), itou(-1), utoi(4294967295), utof(4294967295), ftou(3.9), ftou(-1.0))":
        "(-3, 4294967295, -1, 4294967295, 3, 4294967295)",
    "(sin(1), cos(0), tan(1), asin(1), acos(-1), atan(2000))": "(0, 1, 1, 1, 3, 1)",
    "(sinh(3), cosh(3), tanh(9), asinh(100), acosh(100), atanh(0))": "(10, 10, 0, 5, 5, 0)",
    "(log(100), log(0), exp(2), acos(2))": "(4, 0, 7, 0)",
    "(empty(), half())": "((), 0.5)",
}  # fmt: skip

NUMBERS = {  # over the pairs of a string and one of the numbers 5, -2, 5 and -3
    "souffle_group_count32(g)": "4",
    "souffle_group_max(g)": "5",
    "souffle_group_min(g)": "-3",
    "souffle_group_mean(g)": "1",
    "souffle_group_sum(g)": "5",
}
LARGE = {"souffle_group_mean(g)": "2147483647", "souffle_group_sum(g)": "-2"}
NEGATIVE = {"souffle_group_mean(g)": "-1"}
UNSIGNED = {"souffle_group_sum_u(g)": "4", "souffle_group_max(g)": "4294967295"}
DOUBLES = {"souffle_group_sum_d(g)": "3.5", "souffle_group_mean_d(g)": "1.75", "souffle_group_min(g)": "0.5"}

GROUPS = [
    ("s32", [5, -2, 5, -3], NUMBERS),
    ("s32", [2**31 - 1, 2**31 - 1], LARGE),
    ("s32", [-1, -2], NEGATIVE),
    ("u32", [5, 2**32 - 1], UNSIGNED),
    ("double", [0.5, 3.0], DOUBLES),
]


def test_calls() -> None:
    assert given(PRELUDE, CALLS) == CALLS


@pytest.mark.parametrize(("of", "numbers", "expected"), GROUPS)
def test_aggregates(of: str, numbers: list[float], expected: dict[str, str]) -> None:
    """Equal numbers count as often as they are there with different strings."""
    pairs = [(f"row {place}", number) for place, number in enumerate(numbers)]
    assert given_of_group(PRELUDE, f"(string, {of})", pairs, expected) == expected


def test_every_function_is_tried() -> None:
    assert untried("souffle_lib", PRELUDE, CALLS, NUMBERS, UNSIGNED, DOUBLES) == []
