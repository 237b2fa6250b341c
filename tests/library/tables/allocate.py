"""Numbers from a range for items."""

from __future__ import annotations

MODULE = "allocate"

PRELUDE = """
import allocate
function set(v: Vec<'A>): Set<'A> { v.to_set() }
function names(): Vec<string> { ["a", "b", "c"] }
function hints(): Vec<(string, Option<u8>)> { [("a", Some{7}), ("b", Some{7}), ("c", None), ("d", Some{99})] }
"""

CALLS = {
    "allocate(set([3: u8, 5]), names(), 1, 9)": '[("a", 6), ("b", 7), ("c", 8)]',
    "allocate(set([3: u8, 8]), names(), 1, 9)": '[("a", 9), ("b", 1), ("c", 2)]',
    "allocate(set([9: u8]), names(), 1, 9)": '[("a", 1), ("b", 2), ("c", 3)]',
    "allocate(set_empty(): Set<u8>, names(), 1, 2)": '[("a", 1), ("b", 2)]',
    "allocate(set([20: u8, 1]), names(), 1, 3)": '[("a", 2), ("b", 3)]',
    "allocate(set([0: u8]), names(), 1, 3)": '[("a", 1), ("b", 2), ("c", 3)]',
    "allocate(set([-1: s8]), names(), -2, 0)": '[("a", 0), ("b", -2)]',
    "allocate(set([1: bigint]), names(), 1, 100000000000000000000)": '[("a", 2), ("b", 3), ("c", 4)]',
    "allocate(set([1: u8]), names(), 5, 4)": "[]",
    "allocate(set([1: u8]), names(), 1, 1)": "[]",
    "allocate(set_empty(): Set<u8>, names(), 255, 255)": '[("a", 255)]',
    "allocate(set_empty(): Set<u8>, names(), 254, 256)": '[("a", 254), ("b", 255)]',
    "allocate_with_hint(set([3: u8]), hints(), 253, 256)": '[("a", 253), ("b", 254), ("c", 255)]',
    "allocate(set([126: s8]), names(), 125, 128)": '[("a", 127), ("b", 125)]',
    "allocate_opt(set([5: bit<3>]), names(), 6, 8)":
        '[("a", ddlog_std::Some{6}), ("b", ddlog_std::Some{7}), ("c", ddlog_std::None{})]',
    "allocate(set([1.5]), names(), 1.0, 2.0)":
        "fault: numbers to allocate are integers, not values of double",
    "allocate_with_hint(set([3: u8]), hints(), 1, 9)": '[("a", 7), ("b", 8), ("c", 9), ("d", 1)]',
    "allocate_with_hint(set([7: u8, 8, 9]), hints(), 7, 10)": '[("a", 10)]',
    "allocate_opt(set([1: u8]), names(), 1, 3)":
        '[("a", ddlog_std::Some{2}), ("b", ddlog_std::Some{3}), ("c", ddlog_std::None{})]',
    "allocate_opt(set([1: u8]), names(), 1, 1)":
        '[("a", ddlog_std::None{}), ("b", ddlog_std::None{}), ("c", ddlog_std::None{})]',
    'adjust_allocation(["b" -> 2: u8, "x" -> 1], names(), 1, 9)': '[("a", 3), ("b", 2), ("c", 4)]',
    'adjust_allocation(["b" -> 9: u8, "x" -> 1], names(), 1, 9)': '[("a", 2), ("b", 9), ("c", 3)]',
    'adjust_allocation(["b" -> 20: u8, "x" -> 1], names(), 1, 9)': '[("a", 2), ("b", 20), ("c", 3)]',
    'adjust_allocation(["b" -> 2: u8, "x" -> 1], names(), 1, 2)': '[("b", 2)]',
    "adjust_allocation(map_empty(): Map<string, u8>, names(), 1, 2)": '[("a", 1), ("b", 2)]',
}  # fmt: skip
