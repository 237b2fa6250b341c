"""Hash sets, which are in order here."""

from __future__ import annotations

from ddlog.values import Set

from .calls import given, given_of_group, untried

PRELUDE = """
import hashset
function h(): HashSet<u32> { to_hashset([3, 1, 2, 11]) }
function other(): HashSet<u32> { to_hashset([2, 5]) }
function none(): HashSet<u32> { hashset_empty() }
function odd(x: u32): bool { x % 2 == 1 }
function inserted(x: u32): HashSet<u32> { var s = h(); s.insert(x); s }
function removed(x: u32): HashSet<u32> { var s = h(); s.remove(x); s }
function summed(): u32 { var sum = 0; for (x in h()) { sum = sum + x }; sum }
"""

CALLS = {
    "h()": "[1, 2, 3, 11]",
    "hashset_singleton(1: u8)": "[1]",
    "to_hashset([2: u8, 2])": "[2]",
    "to_hashset(Some{1: u8})": "[1]",
    "to_hashset(None: Option<u8>)": "[]",
    "(size(h()), size(none()))": "(4, 0)",
    "inserted(0)": "[0, 1, 2, 3, 11]",
    "inserted(3)": "[1, 2, 3, 11]",
    "h().insert_imm(9)": "[1, 2, 3, 9, 11]",
    "removed(3)": "[1, 2, 11]",
    "removed(4)": "[1, 2, 3, 11]",
    "h().remove_imm(1)": "[2, 3, 11]",
    "(h().contains(11), h().contains(12))": "(true, false)",
    "(is_empty(h()), is_empty(none()))": "(false, true)",
    "(nth(h(), 3), h().nth(4))": "(ddlog_std::Some{11}, ddlog_std::None{})",
    "to_vec(h())": "[1, 2, 3, 11]",
    "union(h(), other())": "[1, 2, 3, 5, 11]",
    "union([h(), other(), none()])": "[1, 2, 3, 5, 11]",
    "intersection(h(), other())": "[2]",
    "h().difference(other())": "[1, 3, 11]",
    "map(h(), |x| x % 3)": "[0, 1, 2]",
    "h().arg_min(|x| x % 2)": "ddlog_std::Some{2}",
    "h().arg_max(|x| x % 2)": "ddlog_std::Some{11}",
    "(none().arg_min(|x| x), none().arg_max(|x| x))": "(ddlog_std::None{}, ddlog_std::None{})",
    "h().find(|x| x > 1)": "ddlog_std::Some{2}",
    "h().find(|x| x > 11)": "ddlog_std::None{}",
    "h().filter(odd)": "[1, 3, 11]",
    "h().filter_map(|x| if (odd(x)) Some{100 - x} else None)": "[89, 97, 99]",
    "(h().all(|x| x > 0), h().all(odd), none().all(odd))": "(true, false, true)",
    "(h().any(|x| x > 10), h().any(|x| x > 11), none().any(odd))": "(true, false, false)",
    'fold(h(), |text: string, x| "${text}${x},", "")': '"1,2,3,11,"',
    "summed()": "17",
}

GROUPED = {"union(g)": "[1, 2, 5]", "to_hashset(g)": "[[1, 2], [2, 5]]", "g.to_hashset().size()": "2"}


def test_calls() -> None:
    groups = given_of_group(PRELUDE, "HashSet<u8>", [Set([1, 2]), Set([2, 5])], GROUPED)
    assert given(PRELUDE, CALLS) | groups == CALLS | GROUPED


def test_every_function_is_tried() -> None:
    assert untried("hashset", PRELUDE, CALLS, GROUPED) == []
