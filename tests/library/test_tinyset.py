"""Sets of integers."""

from __future__ import annotations

from ddlog.values import Set

from .calls import given, given_of_group, untried

PRELUDE = """
import tinyset
function of(v: Vec<'A>): Set64<'A> { var s = tinyset::empty(); for (x in v) { tinyset::insert(s, x) }; s }
function t(): Set64<u32> { of([3, 1, 2, 11]) }
function inserted(x: u32): Set64<u32> { var s = t(); insert(s, x); s }
function summed(): u32 { var sum = 0; for (x in t()) { sum = sum + x }; sum }
"""

CALLS = {
    "t()": "[1, 2, 3, 11]",
    "size(t())": "4",
    "is_empty(tinyset::empty(): Set64<u8>)": "true",
    "singleton(7: u16)": "[7]",
    "inserted(3)": "[1, 2, 3, 11]",
    "inserted(4)": "[1, 2, 3, 4, 11]",
    "t().insert_imm(0)": "[0, 1, 2, 3, 11]",
    "(contains(t(), 11), t().contains(12))": "(true, false)",
    "(is_empty(t()), t().is_empty())": "(false, false)",
    "(nth(t(), 0), nth(t(), 3), nth(t(), 4))": "(ddlog_std::Some{1}, ddlog_std::Some{11}, ddlog_std::None{})",
    "nth(of([-1: s8]), 0)": "ddlog_std::Some{18446744073709551615}",
    'nth(of(["a"]), 0)': "fault: a Set64 numbers only integers of up to 64 bits",
    "union(t(), of([2, 5]))": "[1, 2, 3, 5, 11]",
    "unions([t(), of([2, 5])])": "[1, 2, 3, 5, 11]",
    "intersection(t(), of([2, 5]))": "[2]",
    "difference(t(), of([2, 5]))": "[1, 3, 11]",
    "summed()": "17",
}

GROUPED = {
    "tinyset::group_set_unions(g)": "[1, 2, 5]",
    "size(tinyset::group_to_set(g))": "2",
}
REFERRED = {"deref(tinyset::group_setref_unions(g))": "[1, 2, 5]"}


def test_calls() -> None:
    sets = [Set([1, 2]), Set([2, 5])]
    groups = given_of_group(PRELUDE, "Set64<u8>", sets, GROUPED)
    referred = given_of_group(PRELUDE, "Ref<Set64<u8>>", sets, REFERRED)
    assert given(PRELUDE, CALLS) | groups | referred == CALLS | GROUPED | REFERRED


def test_every_function_is_tried() -> None:
    assert untried("tinyset", PRELUDE, CALLS, GROUPED, REFERRED) == []
