"""Functions on collections against what Python says of lists, sets and dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.check.program import check_program
from ddlog.codegen.scalar import compile_function_table
from ddlog.errors.source import Source
from ddlog.values import Group, Map, Set, Vec

SMALL = st.integers(-20, 20)
VECS = st.lists(SMALL, max_size=12).map(Vec)
SETS = st.sets(SMALL, max_size=12).map(Set)
MAPS = st.dictionaries(SMALL, SMALL, max_size=8).map(Map)
GROUPS = st.sets(SMALL, min_size=1, max_size=12).map(lambda values: Group.of(1, values))

# Each function of the language with its parameter, and the same in Python: Options are lists of at most one.
Case = tuple[str, st.SearchStrategy[Any], str, Callable[[Any], Any]]
CASES: dict[str, Case] = {
    "vec map": ("Vec<s32>", VECS, "c.map(|x| x * 3)", lambda c: [x * 3 for x in c]),
    "vec flatmap": ("Vec<s32>", VECS, "c.flatmap(|x| [x, 7])", lambda c: [y for x in c for y in (x, 7)]),
    "vec filter": ("Vec<s32>", VECS, "c.filter(|x| x > 0)", lambda c: [x for x in c if x > 0]),
    "vec filter_map": (
        "Vec<s32>", VECS, "c.filter_map(|x| if (x > 0) Some{0 - x} else None)",
        lambda c: [-x for x in c if x > 0],
    ),
    "vec sort_by": (
        "Vec<s32>", VECS, "{var s = c; s.sort_by(|x| x * x); s}", lambda c: sorted(c, key=lambda x: x * x)
    ),
    "vec retain": (
        "Vec<s32>", VECS, "{var s = c; s.retain(|x| x < 5); s}", lambda c: [x for x in c if x < 5]
    ),
    "vec find": ("Vec<s32>", VECS, "c.find(|x| x > 3).to_vec()", lambda c: [x for x in c if x > 3][:1]),
    "vec fold": ("Vec<s32>", VECS, "[c.fold(|a, x| 2 * a + x, 1)]", lambda c: [folded(c)]),
    "vec arg_min": ("Vec<s32>", VECS, "c.arg_min(|x| x * x).to_vec()", lambda c: ranked(c)[:1]),
    "vec arg_max": ("Vec<s32>", VECS, "c.arg_max(|x| x * x).to_vec()", lambda c: ranked(c)[-1:]),
    "set map": ("Set<s32>", SETS, "c.map(|x| x * x).to_vec()", lambda c: sorted({x * x for x in c})),
    "set filter": ("Set<s32>", SETS, "c.filter(|x| x > 0).to_vec()", lambda c: [x for x in c if x > 0]),
    "set arg_min": ("Set<s32>", SETS, "c.arg_min(|x| x * x).to_vec()", lambda c: ranked(c)[:1]),
    "set arg_max": ("Set<s32>", SETS, "c.arg_max(|x| x * x).to_vec()", lambda c: ranked(c)[-1:]),
    "hashset": (
        "Vec<s32>", VECS, "c.to_hashset().remove_imm(3).map(|x| x * x).to_vec()",
        lambda c: sorted({x * x for x in c if x != 3}),
    ),
    "map map": (
        "Map<s32, s32>", MAPS, "c.map(|k: s32, v| k - v).values()", lambda c: [k - v for k, v in c]
    ),
    "map map_keys": (
        "Map<s32, s32>", MAPS, "c.map_keys(|k| k * k).values()",
        lambda c: [v for _, v in sorted({k * k: v for k, v in c}.items())],
    ),
    "map filter": (
        "Map<s32, s32>", MAPS, "c.filter(|k, v| k > v).keys()", lambda c: [k for k, v in c if k > v]
    ),
    "map map_in_place": (
        "Map<s32, s32>", MAPS, "{var m = c; m.map_in_place(|k, v| {v = v + k}); m.values()}",
        lambda c: [v + k for k, v in c],
    ),
    "map fold": ("Map<s32, s32>", MAPS, "[c.fold(|a, x| 2 * a + x, 1)]", lambda c: [folded(c.values())]),
    "group arg_min": ("Group<u8, s32>", GROUPS, "[c.arg_min(|x| x * x)]", lambda c: ranked(c[1])[:1]),
    "group arg_max": ("Group<u8, s32>", GROUPS, "[c.arg_max(|x| x * x)]", lambda c: ranked(c[1])[-1:]),
    "group sum_of": ("Group<u8, s32>", GROUPS, "[c.sum_of(|x| x * x)]", lambda c: [sum(x * x for x in c[1])]),
    "group map": ("Group<u8, s32>", GROUPS, "c.map(|x| x * x)", lambda c: [x * x for x in c[1]]),
}  # fmt: skip


def folded(values: Any) -> int:
    """What `fold(|a, x| 2 * a + x, 1)` gives."""
    total = 1
    for value in values:
        total = 2 * total + value
    return total


def ranked(values: Any) -> list[int]:
    """The values by their squares; where those are equal, in the order of the values."""
    return sorted(values, key=lambda x: x * x)


@pytest.fixture(scope="module")
def functions() -> dict[str, Callable[..., Any]]:
    """The compiled functions of the cases."""
    program = ["import set", "import map", "import hashset"]
    for n, (type, _, body, _) in enumerate(CASES.values()):
        program.append(f"function f{n}(c: {type}): Vec<s32> {{ {body} }}")
    checked, found = check_program(Source("cases.dl", "\n".join(program)))
    assert checked is not None, found
    table = compile_function_table(checked)
    return {case: table[f"f{n}"] for n, case in enumerate(CASES)}


@pytest.mark.parametrize("case", CASES)
@given(data=st.data())
def test_function(functions: dict[str, Callable[..., Any]], case: str, data: st.DataObject) -> None:
    _, collections, _, expected = CASES[case]
    drawn = data.draw(collections)
    found = functions[case](drawn)
    assert isinstance(found, Vec)
    assert list(found) == list(expected(drawn))
