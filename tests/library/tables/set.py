"""Functions on sets that are given functions."""

from __future__ import annotations

MODULE = "set"

PRELUDE = """
import set
function s(): Set<u32> { to_set([3, 1, 2, 11]) }
function none(): Set<u32> { set_empty() }
function odd(x: u32): bool { x % 2 == 1 }
"""

CALLS = {
    "map(s(), |x| x % 3)": "[0, 1, 2]",
    "none().map(|x| x)": "[]",
    "s().arg_min(|x| x % 2)": "ddlog_std::Some{2}",
    "s().arg_min(|x| x % 10)": "ddlog_std::Some{1}",
    "none().arg_min(|x| x)": "ddlog_std::None{}",
    "s().arg_max(|x| x % 10)": "ddlog_std::Some{3}",
    "s().arg_max(|x| x % 2)": "ddlog_std::Some{11}",
    "none().arg_max(|x| x)": "ddlog_std::None{}",
    "s().find(|x| x > 1)": "ddlog_std::Some{2}",
    "s().find(|x| x > 11)": "ddlog_std::None{}",
    "s().filter(odd)": "[1, 3, 11]",
    "s().filter_map(|x| if (odd(x)) Some{0 - x as s32} else None)": "[-11, -3, -1]",
    "none().filter_map(|x| Some{x})": "[]",
    "(s().all(|x| x > 0), s().all(odd), none().all(odd))": "(true, false, true)",
    "(s().any(|x| x > 10), s().any(|x| x > 11), none().any(odd))": "(true, false, false)",
    'fold(s(), |text: string, x| "${text}${x},", "")': '"1,2,3,11,"',
    "none().fold(|sum, x| sum + x, 7)": "7",
}
