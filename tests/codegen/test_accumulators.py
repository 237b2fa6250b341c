"""Loops that only add to a collection and look up in it fill one of Python's; those that do more are as they
were."""

from __future__ import annotations

import time

import pytest

from ddlog.check.program import check_program
from ddlog.codegen.functiontable import compile_function_table
from ddlog.errors.source import Source
from ddlog.values import NAN, Map, Set, Vec

PROGRAM = """
function evens(n: u32): Vec<u32> {
    var v = [100];
    for (i in range_vec(0, n, 1)) { if (i % 2 == 0) v.push(i) else vec_push(v, i + 50) };
    v.push(200);
    v
}
function nested(n: u32): (Vec<u32>, Map<u32, Vec<u32>>) {
    var all = vec_empty();
    var by = map_empty();
    for (i in range_vec(0, n, 1)) {
        var inner = vec_empty();
        for (j in range_vec(0, i, 1)) { inner.push(j); all.push(i * 10 + j) };
        if (i == 3) { break };
        by.insert(i % 2, inner)
    };
    (all, by)
}
function read_inside(n: u32): Vec<u64> {
    var v = vec_empty();
    for (i in range_vec(0, n, 1)) v.push(v.len());
    v
}
function distinct(v: Vec<u32>): Set<u32> { var s = [7].to_set(); for (x in v) s.insert(x); s }
function left_early(v: mut Vec<u32>, n: u32): bool {
    for (i in range_vec(0, n, 1)) { if (i == 2) { return true }; v.push(i) };
    false
}
function early(n: u32): Vec<u32> { var v = [9]; var left = left_early(v, n); if (left) v.push(1000); v }
function assigned(n: u32): Vec<u32> {
    var v = [1];
    for (i in range_vec(0, n, 1)) { if (i == 2) { v = [5] }; v.push(i) };
    v
}
typedef Both = Both{name: string, v: Vec<u32>}
function of_field(b: Both): u32 { var sum = 0; for (x in b.v) { sum = sum + x }; sum }
function first_of_each(v: Vec<u32>): (Vec<u32>, Set<u32>, bool) {
    var seen: Set<u32> = set_empty();
    var firsts = vec_empty();
    for (x in v) { if (not seen.contains(x % 10)) { seen.insert(x % 10); firsts.push(x) } };
    (firsts, seen, seen.contains(3))
}
function counted(v: Vec<u32>): Map<u32, u64> {
    var counts: Map<u32, u64> = map_empty();
    for (x in v) {
        for (y in [x, x + 1]) counts.insert(y, counts.get(y).unwrap_or(0) + 1);
        if (counts.size() > 5) { break }
    };
    counts
}
function summed(n: u32): Vec<u32> {
    var v: Vec<u32> = vec_empty();
    for (i in range_vec(0, n, 1)) {
        var before = if (v.is_empty()) 1 else v.nth(v.len() - 1).unwrap_or(0);
        v.push(if (v.contains(4)) 0 else (before + i))
    };
    v
}
function in_an_argument(n: u32): (Set<u32>, u32) {
    var s: Set<u32> = set_empty();
    var told = 0;
    for (i in range_vec(0, n, 1)) {
        var known = s.contains({ s.insert(i); i });
        if (known) { told = told + 1 }
    };
    (s, told)
}
function of_nan(v: Vec<double>): u64 {
    var s: Set<double> = set_empty();
    var found = 0;
    for (x in v) { if (s.contains(x)) { found = found + 1 } else { s.insert(x) } };
    found
}
function appended(n: u32): Vec<u32> { var v = vec_empty(); for (i in range_vec(0, n, 1)) v.append([i, i]); v }
"""


@pytest.fixture(scope="module")
def functions():  # type: ignore[no-untyped-def]
    checked, found = check_program(Source("test.dl", PROGRAM))
    assert checked is not None, found
    return compile_function_table(checked)


def test_filled_collections(functions) -> None:  # type: ignore[no-untyped-def]
    assert functions["evens"](4) == Vec((100, 0, 51, 2, 53, 200))
    assert functions["nested"](9) == (Vec((10, 20, 21, 30, 31, 32)), Map({0: Vec((0, 1)), 1: Vec((0,))}))
    assert functions["distinct"](Vec((3, 1, 3))) == Set((1, 3, 7))
    assert functions["of_field"](("b", Vec((1, 2)))) == 3
    assert functions["appended"](2) == Vec((0, 0, 1, 1))
    assert isinstance(functions["distinct"](Vec()), Set)


def test_collections_that_are_used_otherwise(functions) -> None:  # type: ignore[no-untyped-def]
    assert functions["early"](9) == Vec((9, 0, 1, 1000))
    assert functions["early"](2) == Vec((9, 0, 1))
    assert functions["assigned"](4) == Vec((5, 2, 3))
    assert "append" not in functions.source("left_early")


def test_collections_in_which_a_loop_looks_up(functions) -> None:  # type: ignore[no-untyped-def]
    assert functions["read_inside"](3) == Vec((0, 1, 2))
    assert functions["first_of_each"](Vec((12, 3, 22, 13, 5))) == (Vec((12, 3, 5)), Set((2, 3, 5)), True)
    assert functions["counted"](Vec((1, 2, 2, 9, 20, 30))) == Map(
        {1: 1, 2: 3, 3: 2, 9: 1, 10: 1, 20: 1, 21: 1}
    )
    assert functions["summed"](5) == Vec((1, 2, 4, 0, 0))
    assert functions["in_an_argument"](3) == (Set((0, 1, 2)), 0)
    assert functions["of_nan"](Vec((NAN, 1.0, NAN, 1.0))) == 2
    for name in ("read_inside", "first_of_each", "counted", "summed"):
        assert "_check_memory" in functions.source(name)
    assert "_check_memory" not in functions.source("in_an_argument")


def test_filling_takes_linear_time(functions) -> None:  # type: ignore[no-untyped-def]
    """A quadratic loop would need minutes."""
    start = time.process_time()
    assert len(functions["evens"](200_000)) == 200_002
    assert len(functions["read_inside"](200_000)) == 200_000
    assert len(functions["counted"](Vec(range(3)) * 100_000)) == 4
    assert time.process_time() - start < 20
