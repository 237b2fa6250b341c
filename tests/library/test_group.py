"""Functions on groups that are given functions. Those of whole groups are in test_stdlib.py."""

from __future__ import annotations

import random

import pytest

import ddlog
from ddlog.engine import thresholds
from ddlog.engine.circuit import DeltaGroup

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


FIRSTS = """
input relation R(k: u8, a: s32, b: Option<string>)
output relation Values(
    k: u8, first: s32, size: u64, third: Option<s32>, near: s32, far: s32, low: s32, high: s32
)
Values(k, g.first(), g.size(), g.nth(2), g.arg_min(|x| x % 3), g.arg_max(|x| x % 3), low, g.max_of(|x| -x)) :-
    R(k, a, _), var g = a.group_by(k), var low = g.min_of(|x| 6 / (x - 9)).
typedef Pair = (s32, Option<string>)
output relation Pairs(k: u8, first: Pair, last: Pair, text: Pair)
Pairs(k, g.first(), g.max(), g.arg_max(|x| x.1)) :-
    R(k, a, b), var g = (a, b).group_by(k), g.min() == g.first().
"""


def firsts(held: set[tuple[int, int, str | None]]) -> list[list[tuple[object, ...]]]:
    """The rows of the outputs of `FIRSTS`."""
    values, pairs = [], []
    for k in sorted({row[0] for row in held}):
        g = sorted({a for key, a, _ in held if key == k})
        p = sorted(((a, b) for key, a, b in held if key == k), key=lambda x: (x[0], x[1] or ""))
        near, far = min(g, key=lambda x: x % 3), max(g, key=lambda x: (x % 3, x))
        third, low = g[2] if len(g) > 2 else None, min(int(6 / (x - 9)) for x in g)
        values.append((k, g[0], len(g), third, near, far, low, -g[0]))
        pairs.append((k, p[0], p[-1], max(p, key=lambda x: (x[1] or "", x[0]))))
    return [values, pairs]


def test_functions_that_need_the_first_values_keep_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where one of the values has no rank: the commit is taken back."""
    monkeypatch.setattr(thresholds, "SMALL_GROUP", 2)
    monkeypatch.setattr(thresholds, "FIRST_SPARE", 1)
    chosen, held = random.Random(0), set[tuple[int, int, str | None]]()
    program = ddlog.compile(FIRSTS)
    groups = [node for node in program.circuit().nodes if isinstance(node, DeltaGroup)]
    assert all(one.first or one.function != "group" for node in groups for one in node.aggregates)
    with program.session(workers=1) as session:
        for _ in range(60):
            gone = set(chosen.sample(sorted(held, key=repr), chosen.randint(0, min(len(held), 6))))
            come = {
                (chosen.randrange(2), chosen.randrange(9), chosen.choice([None, "x", "y"]))
                for _ in range(chosen.choice([0, 1, 3, 9]))
            }
            session.delete("R", *gone)
            session.insert("R", *come)
            if chosen.random() < 0.2:
                session.insert("R", (0, 9, None))
                with pytest.raises(ddlog.DDlogError, match="division by zero"):
                    session.commit()
            else:
                session.commit()
                held = held - gone | come
            assert [list(session[name].tuples()) for name in ("Values", "Pairs")] == firsts(held)
