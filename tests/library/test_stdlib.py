"""Every function of the library, called from programs; the Python twins against their declarations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog import core, stdlib, values
from ddlog.check.program import check_program
from ddlog.codegen.scalar import compile_function_table, row_expr
from ddlog.errors.source import Source
from ddlog.stdlib import group
from ddlog.stdlib.typed import Signature
from ddlog.types import BigInt, Float, Signed
from ddlog.values import NAN, Group

from .calls import untried
from .test_ddlog_std import TABLE as OTHERS
from .test_group import CALLS as OF_GROUPS

PRELUDE = """
typedef Color = Red | Green{shade: u8} | Blue
typedef Point = Point{x: s32, y: s32}
function v3(): Vec<u32> { [3, 1, 2] }
function set(v: Vec<'A>): Set<'A> { v.to_set() }
function strings(): Vec<string> { ["b", "a"] }
function ages(): Map<string, u32> { ["b" -> 2, "a" -> 1] }
function pushed(x: u32): Vec<u32> { var v = v3(); v.push(x); v }
function popped(): (Option<u32>, Vec<u32>) { var v = v3(); var x = v.pop(); (x, v) }
function popped_empty(): Option<u32> { var v: Vec<u32> = vec_empty(); v.pop() }
function appended(): Vec<u32> { var v = v3(); v.append([9]); v }
function sorted(): Vec<u32> { var v = v3(); v.sort(); v }
function reversed(): Vec<u32> { var v = v3(); v.reverse(); v }
function resized(n: usize): Vec<u32> { var v = v3(); v.resize(n, 7); v }
function truncated(n: usize): Vec<u32> { var v = v3(); v.truncate(n); v }
function swapped(n: usize): (bool, Vec<u32>, u32) {
    var v = v3();
    var x: u32 = 8;
    var done = v.swap_nth(n, x);
    (done, v, x)
}
function updated(n: usize): (bool, Vec<u32>) { var v = v3(); var b = v.update_nth(n, 8); (b, v) }
function inserted(k: string): Map<string, u32> { var m = ages(); m.insert(k, 9); m }
function removed(k: string): (Option<u32>, Map<string, u32>) { var m = ages(); var x = m.remove(k); (x, m) }
function set_inserted(x: u32): Set<u32> { var s = set(v3()); s.insert(x); s }
function good(x: u32): Result<u32, string> { if (x > 5) { Ok{x} } else { Err{"small"} } }
"""

# Each expression, and its value as to_string_debug shows it.
EXPRESSIONS = {
    'deref(ref_new(7: u8))': "7",
    'from_any(to_any(7: u8)): Option<u8>': "ddlog_std::Some{7}",
    'from_any(to_any(7: u8)): Option<u16>': "ddlog_std::None{}",
    'ival(intern("a"))': '"a"',
    'default(): u32': "0",
    'default(): Option<string>': "ddlog_std::None{}",
    'default(): Point': "Point{0,0}",
    'default(): (bool, string, Vec<double>)': '(false, "", [])',
    'min(3: u32, 2)': "2",
    'max("a", "b")': '"b"',
    'hash32(1: u8) == hash32(1: u8) and hash32("a") != hash32("b")': "true",
    'hash64(Red) != hash64(Blue)': "true",
    'hash128("x") > 64\'hffffffffffffffff as u128': "true",
    'u8_pow32(3, 6)': "217",
    'pow32(2: u8, 8) + pow32(3: u16, 2) as u8': "9",
    'pow32(3: u32, 2)': "9",
    'pow32(3: u64, 41)': str(3**41 % 2**64),
    'pow32(3: u128, 90)': str(3**90 % 2**128),
    '-((-128): s8)': "-128",
    'pow32(-3: s8, 5)': "13",
    '(-128: s8) - 1': "127",
    'pow32(-3: s16, 3)': "-27",
    'pow32(-3: s32, 3)': "-27",
    'pow32(-3: s64, 3)': "-27",
    'pow32(-3: s128, 3)': "-27",
    'pow32(-3: bigint, 101)': str((-3) ** 101),
    'hex(255: u32)': '"ff"',
    'hex(-1: s8)': '"ff"',
    'parse_dec_u64("+18446744073709551615")': "ddlog_std::Some{18446744073709551615}",
    'parse_dec_u64("-1")': "ddlog_std::None{}",
    'parse_dec_u64("18446744073709551616")': "ddlog_std::None{}",
    'parse_dec_i64("-9223372036854775808")': "ddlog_std::Some{-9223372036854775808}",
    'parse_dec_i64("1x")': "ddlog_std::None{}",
    'parse_dec_i64("")': "ddlog_std::None{}",
    'ntohl(1)': str(1 << 24),
    'htonl(1)': str(1 << 24),
    'ntohs(1)': "256",
    'htons(256)': "1",
    '__builtin_2string(1.5)': '"1.5"',
    'to_string(DDNestedTS{1, 2})': '"(1,2)"',
    '"${true} ${-3: bigint} ${1.5: float} ${100.0} ${1e21}"': '"true -3 1.5 100 1000000000000000000000"',
    '"${1: u8}${2: u16}${3: u32}${4: u64}${5: u128}${-1: s8}${-2: s16}${-3: s32}${-4: s64}${-5: s128}"':
        '"12345-1-2-3-4-5"',
    '"${v3()} ${set(v3())} ${ages()}"': '"[3, 1, 2] [1, 2, 3] [(a, 1), (b, 2)]"',
    '"${"x"}"': '"x"',
    'Green{3}': "Green{3}",
    'ages()': '{"a": 1, "b": 2}',
    '(Point{1, -1}, "q\\"", 0.5)': '(Point{1,-1}, "q\\"", 0.5)',
    'is_none(Some{1: u8}) or is_some(None: Option<u8>)': "false",
    'unwrap_or(None, 3: u8) + Some{4: u8}.unwrap_or(0)': "7",
    'unwrap_or_default(None: Option<string>)': '""',
    'option_unwrap_or_default(Some{"x"})': '"x"',
    'to_set(Some{1: u8})': "[1]",
    'to_vec(None: Option<u8>)': "[]",
    'ok_or(Some{1: u8}, "none")': "ddlog_std::Ok{1}",
    'ok_or(None: Option<u8>, "none")': 'ddlog_std::Err{"none"}',
    'is_ok(good(6)) and is_err(good(5))': "true",
    'unwrap_or(good(6), 0) + unwrap_or(good(1), 1)': "7",
    'unwrap_or_default(good(1))': "0",
    'result_unwrap_or_default(good(7))': "7",
    'contains("abc", "bc") and not contains("abc", "x")': "true",
    'join(strings(), "-")': '"b-a"',
    'len("aé")': "3",
    'replace("aXbX", "X", "--")': '"a--b--"',
    'split("a,,b", ",")': '["a", "", "b"]',
    'split("ab", "")': '["", "a", "b", ""]',
    'starts_with("abc", "ab") and ends_with("abc", "bc")': "true",
    'substr("hello", 1, 3)': '"el"',
    'substr("hello", 4, 99)': '"o"',
    'substr("hello", 3, 1)': '""',
    'to_bytes("é")': "[195, 169]",
    'trim(" a b\\n")': '"a b"',
    'trim("\\u{3000}\\u{85}a\\u{1c}\\u{2009}\\u{b}")': '"a\\u{1c}"',
    'to_lowercase("ÀB") ++ str_to_lower("C") ++ to_uppercase("d")': '"àbcD"',
    'reverse("abé")': '"éba"',
    'from_utf8([104, 105])': 'ddlog_std::Ok{"hi"}',
    'is_err(from_utf8([255]))': "true",
    'encode_utf16("a𝄞")': "[97, 55348, 56606]",
    'from_utf16([97, 55348, 56606])': 'ddlog_std::Ok{"a𝄞"}',
    'is_err(from_utf16([55348]))': "true",
    'range_vec(0: u32, 6, 2)': "[0, 2, 4]",
    'range_vec(3: s8, 0, -1)': "[3, 2, 1]",
    'range_vec(0: u8, 5, 0)': "[]",
    'range_vec(0.0, 1.0, 0.5)': "[0, 0.5]",
    'vec_with_length(2, "x")': '["x", "x"]',
    'len(vec_with_capacity(5): Vec<u8>)': "0",
    'vec_singleton(1: u8)': "[1]",
    'len(v3())': "3",
    'pushed(5)': "[3, 1, 2, 5]",
    'popped()': "(ddlog_std::Some{2}, [3, 1])",
    'popped_empty()': "ddlog_std::None{}",
    'appended()': "[3, 1, 2, 9]",
    'push_imm(v3(), 4)': "[3, 1, 2, 4]",
    'contains(v3(), 1) and not contains(v3(), 9)': "true",
    'is_empty(v3())': "false",
    'nth(v3(), 0)': "ddlog_std::Some{3}",
    'nth(v3(), 3)': "ddlog_std::None{}",
    'to_map([(1: u8, "a"), (1, "b")])': '{1: "b"}',
    'sorted()': "[1, 2, 3]",
    'sort_imm(v3())': "[1, 2, 3]",
    'zip(v3(), strings())': '[(3, "b"), (1, "a")]',
    'unzip(zip(v3(), strings()))': '([3, 1], ["b", "a"])',
    'reversed()': "[2, 1, 3]",
    'reverse_imm(v3())': "[2, 1, 3]",
    'resized(5)': "[3, 1, 2, 7, 7]",
    'resized(1)': "[3]",
    'truncated(2)': "[3, 1]",
    'swapped(1)': "(true, [3, 8, 2], 1)",
    'swapped(3)': "(false, [3, 1, 2], 8)",
    'updated(0)': "(true, [8, 1, 2])",
    'updated(3)': "(false, [3, 1, 2])",
    'first(v3())': "ddlog_std::Some{3}",
    'last(v3())': "ddlog_std::Some{2}",
    'last(vec_empty(): Vec<u8>)': "ddlog_std::None{}",
    'size(ages())': "2",
    'map_singleton("k", 1: u8)': '{"k": 1}',
    'is_empty(map_empty(): Map<u8, u8>)': "true",
    'inserted("b")': '{"a": 1, "b": 9}',
    'inserted("aa")': '{"a": 1, "aa": 9, "b": 2}',
    'removed("a")': '(ddlog_std::Some{1}, {"b": 2})',
    'removed("c")': '(ddlog_std::None{}, {"a": 1, "b": 2})',
    'insert_imm(ages(), "c", 3)': '{"a": 1, "b": 2, "c": 3}',
    'get(ages(), "b")': "ddlog_std::Some{2}",
    'get(ages(), "c")': "ddlog_std::None{}",
    'contains_key(ages(), "b") and not contains_key(ages(), "c")': "true",
    'union(ages(), ["b" -> 7])': '{"a": 1, "b": 7}',
    '(keys(ages()), values(ages()))': '(["a", "b"], [1, 2])',
    '(nth_key(ages(), 0), nth_value(ages(), 1), nth_key(ages(), 2))':
        '(ddlog_std::Some{"a"}, ddlog_std::Some{2}, ddlog_std::None{})',
    'size(set(v3()))': "3",
    'set_singleton(1: u8)': "[1]",
    'is_empty(set_empty(): Set<u8>)': "true",
    'set_inserted(0)': "[0, 1, 2, 3]",
    'insert_imm(set(v3()), 2)': "[1, 2, 3]",
    'contains(set(v3()), 2)': "true",
    'nth(set(v3()), 0)': "ddlog_std::Some{1}",
    'to_vec(set(v3()))': "[1, 2, 3]",
    'union(set(v3()), set([7]))': "[1, 2, 3, 7]",
    'unions([set(v3()), set([7])])': "[1, 2, 3, 7]",
    'union([set(v3()), set([7])])': "[1, 2, 3, 7]",
    'intersection(set(v3()), set([2, 9]))': "[2]",
    'difference(set(v3()), set([2, 9]))': "[1, 3]",
}  # fmt: skip

GROUPED = {  # over the groups of (name, amount) by an odd or even amount: 1, 3 and 1 by name
    "key(g)": "1",
    "count_distinct(g)": "3",
    "count(g)": "3",
    "first(g)": '("a", 1)',
    "nth(g, 1)": 'ddlog_std::Some{("a", 3)}',
    "nth(g, 9)": "ddlog_std::None{}",
    "to_set(g)": '[("a", 1), ("a", 3), ("b", 1)]',
    "to_vec(g)": '[("a", 1), ("a", 3), ("b", 1)]',
    "to_map(g)": '{"a": 3, "b": 1}',
    "to_setmap(g)": '{"a": [1, 3], "b": [1]}',
    "group_unzip(g)": '(["a", "a", "b"], [1, 3, 1])',
    "min(g)": '("a", 1)',
    "max(g)": '("b", 1)',
    "sum_second(g)": "5",
    "avg_second(g)": "1.6666666666666667",
    "min_second(g)": "1",
    "max_second(g)": "3",
    "fold_second(g, |sum: s32, x| sum * 10 + x, 0)": "131",
    "sum_of_second(g, |x| x * 2)": "10",
    "count_second(g, |x| x < 2)": "2",
    '"${g}"': '"[(a, 1), (a, 3), (b, 1)]"',
}
SIMPLY_GROUPED = {"sum(g)": "4", "avg(g)": "2"}  # over the amounts alone


def scalars(program: str) -> list[str]:
    """The values of all facts of a program with one string column."""
    checked, found = check_program(Source("test.dl", program))
    assert checked is not None, found
    functions = compile_function_table(checked)
    heads = [h for rule in checked.rules for h in rule.heads if h.relation == "O"]
    return [row_expr(head.args[0], functions, "s").scalar() for head in heads]


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """What every expression of the table gives."""
    facts = [f"O(to_string_debug({expr}))." for expr in EXPRESSIONS]
    text = PRELUDE + "output relation O(s: string)\n" + "\n".join(facts)
    return dict(zip(EXPRESSIONS, scalars(text), strict=True))


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_function(shown: dict[str, str], expr: str) -> None:
    assert shown[expr] == EXPRESSIONS[expr]


@pytest.mark.parametrize(
    ("expr", "value", "expected"),
    [(e, "(n, x)", v) for e, v in GROUPED.items()] + [(e, "x", v) for e, v in SIMPLY_GROUPED.items()],
)
def test_function_of_groups(expr: str, value: str, expected: str) -> None:
    program = f"""
        input relation R(n: string, x: s32)
        output relation O(s: string)
        O(to_string_debug({expr})) :- R(n, x), var k = x % 2, var g = {value}.group_by(k).
    """
    checked, found = check_program(Source("test.dl", program))
    assert checked is not None, found
    (rule,) = checked.rules
    compiled = row_expr(rule.heads[0].args[0], compile_function_table(checked), "s")
    rows = [("a", 1), ("b", 1), ("a", 3)]
    g = Group.of(1, rows if value != "x" else [x for _, x in rows])
    assert compiled.scalar(g) == expected


def test_group_unions() -> None:
    program = """
        input relation R(s: Set<u8>)
        output relation O(s: Set<u8>)
        O(union(g)) :- R(s), var g = s.group_by(()).
    """
    checked, found = check_program(Source("test.dl", program))
    assert checked is not None, found
    compiled = row_expr(checked.rules[0].heads[0].args[0], compile_function_table(checked), "s")
    assert compiled.scalar(Group.of((), [values.Set([1, 2]), values.Set([2, 5])])) == values.Set([1, 2, 5])


def test_endless_ranges_are_faults() -> None:
    with pytest.raises(values.Fault, match="cannot make a vector of length 5000000000000"):
        scalars("output relation O(s: string)\nO(to_string_debug(range_vec(0: u64, 10000000000000, 2))).")


def test_a_missing_twin_is_named() -> None:
    with pytest.raises(LookupError, match="no Python function implements ddlog_std::nothing"):
        stdlib.twin("ddlog_std", "nothing")
    with pytest.raises(LookupError, match="nowhere::f"):
        stdlib.twin("nowhere", "f")


def test_every_function_is_tried() -> None:
    whole = [PRELUDE, EXPRESSIONS, GROUPED, SIMPLY_GROUPED, "union(g) to_string_debug"]
    assert untried("ddlog_std", *whole, OTHERS) == []
    assert untried("group", *whole, OF_GROUPS) == []


def typed(type: Signed | BigInt | Float) -> Signature:
    return Signature((), type, {})


@given(st.sets(st.integers(-(2**31), 2**31 - 1), min_size=1))
def test_sums_wrap_and_averages_do_not(numbers: set[int]) -> None:
    g = Group.of((), numbers)
    exact = sum(numbers)
    assert group.sum(g, signature=typed(Signed(32))) == (exact + 2**31) % 2**32 - 2**31
    assert group.sum(g, signature=typed(BigInt())) == exact
    assert group.mean(g.values) == float(Fraction(exact, len(numbers)))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_sums_of_doubles_are_rounded_once(numbers: list[float]) -> None:
    g = Group.of((), [x + 0.0 for x in numbers])
    exact = sum(map(Fraction, g.values))
    found = group.sum(g, signature=typed(Float(64)))
    assert math.isinf(found) or (
        found == exact.numerator / exact.denominator if abs(exact) < 2**1000 else True
    )


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=4))
def test_sums_of_singles_are_the_nearest_single(numbers: list[float]) -> None:
    exact = sum(map(Fraction, numbers), Fraction(0))
    found = group.float_sum(numbers, 32)
    if math.isfinite(found):
        near = np.float32(found)
        for side in (math.inf, -math.inf):
            with np.errstate(over="ignore"):
                other = np.nextafter(near, np.float32(side))
            if np.isfinite(other):
                assert abs(Fraction(found) - exact) <= abs(Fraction(float(other)) - exact)


def test_sums_of_special_floats() -> None:
    assert group.float_sum([math.inf, 1.0]) == math.inf
    assert group.float_sum([math.inf, -math.inf]) is NAN
    assert group.float_sum([NAN, 1.0]) is NAN
    assert group.mean([NAN, 1.0]) is NAN
    assert group.float_sum([1e308, 1e308, -1e308]) == 1e308
    assert group.float_sum([1e308, 1e308]) == math.inf
    assert group.mean([1e308, 1.5e308]) == 1.25e308
    with pytest.raises(values.Fault):
        group.mean([])


def test_no_function_is_left_without_a_type() -> None:
    checked, _ = check_program(Source("test.dl", "output relation O(s: string)\nO(to_string(1: u8))."))
    assert checked is not None
    assert all(isinstance(each, core.Function) for each in checked.functions.values())
