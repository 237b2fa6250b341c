"""Functions on vectors that are given functions."""

from __future__ import annotations

MODULE = "vec"

PRELUDE = """
function v(): Vec<u32> { [3, 1, 2, 11] }
function none(): Vec<u32> { vec_empty() }
function odd(x: u32): bool { x % 2 == 1 }
function sorted_by_last_digit(): Vec<u32> { var s = v(); s.sort_by(|x| x % 10); s }
function sorted_down(): Vec<u32> { var s = v(); sort_by(s, |x| 100 - x); s }
function retained(of: Vec<u32>): Vec<u32> { var kept = of; kept.retain(odd); kept }
function scaled(of: Vec<u32>, by: u32): Vec<u32> { of.map(|x| x * by) }
function vec_sorted(): Vec<u32> { var s = v(); vec_sort_by(s, |x| x); s }
"""

CALLS = {
    "map(v(), |x| x + 1)": "[4, 2, 3, 12]",
    'v().map(|x| "${x}!")': '["3!", "1!", "2!", "11!"]',
    "none().map(|x| x + 1)": "[]",
    "scaled(v(), 10)": "[30, 10, 20, 110]",
    "v().flatmap(|x| if (odd(x)) [x, x] else vec_empty())": "[3, 3, 1, 1, 11, 11]",
    "none().flatmap(|x| [x])": "[]",
    "sorted_by_last_digit()": "[1, 11, 2, 3]",
    "sorted_down()": "[11, 3, 2, 1]",
    "vec_sorted()": "[1, 2, 3, 11]",
    "v().arg_min(|x| x % 2)": "ddlog_std::Some{2}",
    "v().arg_min(|x| x % 10)": "ddlog_std::Some{1}",
    "none().arg_min(|x| x)": "ddlog_std::None{}",
    "v().arg_max(|x| x)": "ddlog_std::Some{11}",
    "v().arg_max(|x| x % 2)": "ddlog_std::Some{11}",
    "none().arg_max(|x| x)": "ddlog_std::None{}",
    "v().find(|x| x < 3)": "ddlog_std::Some{1}",
    "v().find(|x| x > 11)": "ddlog_std::None{}",
    "v().filter(odd)": "[3, 1, 11]",
    "none().filter(odd)": "[]",
    "v().filter_map(|x| if (odd(x)) Some{x as u64} else None)": "[3, 1, 11]",
    "v().filter_map(|x| if (x > 100) Some{x} else None)": "[]",
    "retained(v())": "[3, 1, 11]",
    "retained(none())": "[]",
    "(v().all(|x| x > 0), v().all(odd), none().all(odd))": "(true, false, true)",
    "(v().any(|x| x > 10), v().any(|x| x > 11), none().any(odd))": "(true, false, false)",
    "v().count(odd)": "3",
    "none().count(odd)": "0",
    'v().fold(|text: string, x| "${text}${x}", "")': '"31211"',
    "none().fold(|sum, x| sum + x, 7)": "7",
    "(first(v()), last(v()))": "(ddlog_std::Some{3}, ddlog_std::Some{11})",
    "(first(none()), last(none()))": "(ddlog_std::None{}, ddlog_std::None{})",
    "v().map(|x| 6 / (x - 3))": "fault: division by zero",
}
