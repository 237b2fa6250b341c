"""Functions on groups that are given functions. Those of whole groups are in test_stdlib.py."""

from __future__ import annotations

import pytest

from .calls import given_of_group

PRELUDE = """
function odd(x: u8): bool { x % 2 == 1 }
"""
VALUES = (1, 2, 3, 11, 250)

CALLS = {
    "map(g, |x| x + 1)": "[2, 3, 4, 12, 251]",
    'g.map(|x| "${x}")': '["1", "2", "3", "11", "250"]',
    "g.flatmap(|x| if (odd(x)) [x, x] else vec_empty())": "[1, 1, 3, 3, 11, 11]",
    "g.arg_min(|x| x % 2)": "2",
    "g.arg_max(|x| x % 2)": "11",
    "g.arg_max(|x| x % 10)": "3",
    "g.find(|x| x > 3)": "ddlog_std::Some{11}",
    "g.find(|x| x > 250)": "ddlog_std::None{}",
    "g.filter(odd)": "[1, 3, 11]",
    "g.filter_map(|x| if (odd(x)) Some{x as u64} else None)": "[1, 3, 11]",
    "(g.all(|x| x > 0), g.all(odd))": "(true, false)",
    "(g.any(|x| x > 249), g.any(|x| x > 250))": "(true, false)",
    "g.count(odd)": "3",
    "g.count()": "5",
    "g.fold(|sum, x| sum + x as u64, 0)": "267",
    "g.sum_of(|x| x)": "11",
    "(g.avg_of(|x| x as u64), g.min_of(|x| -(x as bigint)), g.max_of(|x| x as u64))": "(53.4, -250, 250)",
    "sum_of(g, |x| x as u64)": "267",
    "g.sum_of(|_x| 0.1)": "0.5",
    'g.sum_of(|x| "${x}")': "fault: sum_of needs numbers, and these are values of type string",
}


PAIRS = {
    "g.fold_second(|sum, x| sum + x as u64, 0)": "16",
    "g.sum_of_second(|x| x as u64)": "16",
    "g.count_second(odd)": "2",
    "(g.count(), g.sum_second(), g.min_second(), g.max_second())": "(3, 16, 5, 6)",
    "g.avg_second() * 3": "16",
}


def test_functions_of_the_second_parts_of_pairs() -> None:
    pairs = ((1, 5), (2, 5), (3, 6))
    assert given_of_group(PRELUDE, "(u8, u8)", pairs, PAIRS) == PAIRS


def test_calls() -> None:
    assert given_of_group(PRELUDE, "u8", VALUES, CALLS) == CALLS


@pytest.mark.parametrize("function", ["sum", "avg", "sum_second", "avg_second"])
def test_sums_are_of_numbers(function: str) -> None:
    type_, value = ("(u8, bool)", (1, True)) if "second" in function else ("bool", True)
    found = given_of_group("", type_, [value], [f"{function}(g)"])
    fault = f"fault: {function} needs numbers, and these are values of type bool"
    assert found == {f"{function}(g)": fault}
