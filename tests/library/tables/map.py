"""Functions on maps that are given functions."""

from __future__ import annotations

MODULE = "map"

PRELUDE = """
import map
function m(): Map<string, u32> { ["b" -> 2, "a" -> 1, "c" -> 3] }
function none(): Map<string, u32> { map_empty() }
function odd(x: u32): bool { x % 2 == 1 }
function doubled(): Map<string, u32> {
    var changed = m();
    map_in_place(changed, |k, v| { v = if (k == "b") 0 else v * 2 });
    changed
}
function retained(): Map<string, u32> { var kept = m(); kept.retain(odd); kept }
function retained_but(k: string): Map<string, u32> {
    var kept = m();
    retain(kept, |key, _v| key != k);
    kept
}
"""

CALLS = {
    "map(m(), |v| v + 1)": '{"a": 2, "b": 3, "c": 4}',
    'm().map(|k: string, v| "${k}${v}")': '{"a": "a1", "b": "b2", "c": "c3"}',
    "none().map(|v: u32| v)": "{}",
    "doubled()": '{"a": 2, "b": 0, "c": 6}',
    "m().map_keys(len)": "{1: 3}",
    "m().map_keys(to_uppercase)": '{"A": 1, "B": 2, "C": 3}',
    "m().find(|v| v > 1)": "ddlog_std::Some{2}",
    "m().find(|v| v > 3)": "ddlog_std::None{}",
    "(m().any(odd), m().any(|v| v > 3), none().any(odd))": "(true, false, false)",
    "m().filter(odd)": '{"a": 1, "c": 3}',
    'm().filter(|k, v| k != "a" and odd(v))': '{"c": 3}',
    "m().filter_map(|v| if (odd(v)) Some{v as u64 + 1} else None)": '{"a": 2, "c": 4}',
    'm().filter_map(|k, v| if (k == "b") Some{(k, v)} else None)': '{"b": ("b", 2)}',
    "retained()": '{"a": 1, "c": 3}',
    'retained_but("c")': '{"a": 1, "b": 2}',
    "m().fold(|sum, v| sum * 10 + v, 0)": "123",
    'm().fold(|text: string, k, v| "${text}${k}${v}", "")': '"a1b2c3"',
    "none().fold(|sum, v| sum + v, 7)": "7",
}
