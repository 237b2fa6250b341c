"""The functions of ddlog_std that take functions, references and values of any type."""

from __future__ import annotations

from ddlog.stdlib.options import NONE, some
from ddlog.values import Set

from .calls import given, given_of_group

PRELUDE = """
typedef Point = Point{x: s32, y: s32}
function some(x: u32): Option<u32> { Some{x} }
function none(): Option<u32> { None }
function ok(x: u32): Result<u32, string> { Ok{x} }
function bad(text: string): Result<u32, string> { Err{text} }
function half(x: u32): Option<u32> { if (x % 2 == 0) Some{x / 2} else None }
"""

CALLS = {
    "map(some(3), |x| x + 1)": "ddlog_std::Some{4}",
    "none().map(|x| x + 1)": "ddlog_std::None{}",
    'some(3).map(|x| "${x}")': 'ddlog_std::Some{"3"}',
    "some(6).and_then(half)": "ddlog_std::Some{3}",
    "some(3).and_then(half)": "ddlog_std::None{}",
    "none().and_then(half)": "ddlog_std::None{}",
    'some(1).ok_or_else(|| "nothing")': "ddlog_std::Ok{1}",
    'none().ok_or_else(|| "nothing")': 'ddlog_std::Err{"nothing"}',
    "some(0).ok_or_else(|| 1 / 0: u32)": "ddlog_std::Ok{0}",
    "ok(3).map(|x| x as u64 + 1)": "ddlog_std::Ok{4}",
    'bad("no").map(|x| x + 1)': 'ddlog_std::Err{"no"}',
    'bad("no").map_err(len)': "ddlog_std::Err{2}",
    "ok(3).map_err(len)": "ddlog_std::Ok{3}",
    "deref(ref_new(Point{1, 2}))": "Point{1,2}",
    "ref_new(Point{1, 2}).y": "2",
    "ref_new([1: u8]) == ref_new([1])": "true",
    "from_any(to_any(3: u8)): Option<u8>": "ddlog_std::Some{3}",
    "from_any(to_any(3: u8)): Option<u16>": "ddlog_std::None{}",
    "from_any(to_any(Point{1, 2})): Option<Point>": "ddlog_std::Some{Point{1,2}}",
    'hex("a")': "fault: hex needs integers, and this is a value of type string",
    'range_vec("a", "b", "c")': "fault: range_vec needs numbers, and these are values of type string",
    '[to_any("a"), to_any((1: u8, "b"))]': '["a", (1, "b")]',
    "default(): Ref<istring>": '""',
    "ref_new([1: u8]).map(|x| x + 1)": "[2]",
    "intern([1: u8]).len()": "1",
    'to_any("a") == to_any("a") and to_any("a") != to_any("b")': "true",
}

GROUPED = {"deref(union(g))": "[1, 2, 5]", "deref(setref_unions(g))": "[1, 2, 5]"}
OPTIONS = {"group_present(g)": "[1, 5]"}
TABLE = CALLS | GROUPED | OPTIONS


def test_calls() -> None:
    groups = given_of_group(PRELUDE, "Ref<Set<u8>>", [Set([1, 2]), Set([2, 5])], GROUPED)
    options = given_of_group(PRELUDE, "Option<u8>", [NONE, some(1), some(5)], OPTIONS)
    assert given(PRELUDE, CALLS) | groups | options == TABLE
