"""The least and greatest values of groups against plain Python: of small and wide integers, doubles and
texts, with epochs that are taken back."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import ddlog
from ddlog.engine.circuit import Aggregate, DeltaGroup
from ddlog.engine.inprocess.arrangements.store import Store
from ddlog.engine.inprocess.groups.extremes import Extreme
from ddlog.engine.inprocess.groups.group import GroupState
from ddlog.engine.inprocess.groups.wholegroups import Members
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.inprocess.storage.interner import Values, decode_rows, encode_rows
from ddlog.engine.inprocess.storage.table import RowTable
from ddlog.engine.schema import Array, Column, Kind

POOLS: dict[str, tuple[Kind, list[Any]]] = {
    "bool": (Kind.BOOL, [False, True]),
    "small": (Kind.INT, [-5, 0, 3, 9]),
    "wide": (Kind.INT, [-5, 0, 1 << 62, -(1 << 70), (1 << 64) - 1]),
    "double": (Kind.FLOAT, [-1.5, 0.0, 2.5, float("inf"), float("-inf")]),
    "text": (Kind.OBJECT, ["b", "", "a", "é", "zz"]),
}


@pytest.mark.parametrize("kind", POOLS)
def test_extremes_are_those_of_the_members(kind: str) -> None:
    """Half of the changes have a row that comes and goes, and is in the end what it was."""
    pick, (representation, pool) = random.Random(kind), POOLS[kind]
    source = (Column("k", Kind.INT, "s64"), Column("v", representation, kind), Column("i", Kind.INT, "s64"))
    aggregates = (Aggregate("min", (1,)), Aggregate("max", (1,)))
    node = DeltaGroup(0, 0, 1, aggregates, (source[0], source[1], source[1]))
    values, store = Values(), Store(source)
    state = GroupState(node, source, store, values)
    reads = _count_reads(state)
    members, told = set[tuple[Any, ...]](), set[tuple[Any, ...]]()
    for _ in range(150):
        steps: dict[tuple[Any, ...], int] = {}
        for _ in range(pick.choice([1, 1, 2, 9])):
            row = (pick.randint(0, 2), pick.choice(pool), pick.randint(0, 2))
            steps[row] = -1 if row in members else 1
        listed = [*steps.items()]
        if pick.random() < 0.5:
            row = (pick.randint(0, 2), pick.choice(pool), pick.randint(0, 2))
            listed = pick.sample([*listed, (row, 1), (row, -1)], len(listed) + 2)
        weights = np.array([weight for _, weight in listed], np.int64)
        batch = Batch(encode_rows(values, source, [row for row, _ in listed]), len(listed), weights)
        store.add_counted(batch, as_set=False)
        change = state.change(batch)
        rows = decode_rows(values, node.schema, change.columns, change.length)
        now = members ^ steps.keys()
        groups = {k: [v for key, v, _ in now if key == k] for k, _, _ in now}
        after = {(k, min(found), max(found)) for k, found in groups.items()}
        gone = {row for row, w in zip(rows, change.weight_array().tolist(), strict=True) if w < 0}
        come = {row for row, w in zip(rows, change.weight_array().tolist(), strict=True) if w > 0}
        assert (gone, come) == (told - after, after - told)
        if pick.random() < 0.2:
            state.rollback()
            store.rollback()
        else:
            state.commit()
            store.commit()
            members, told = now, after
    assert 0 < len(reads) < 150, "groups are read where their best value goes, and not always"


def _count_reads(state: GroupState) -> list[int]:
    reads: list[int] = []
    for each in state.accumulators:
        assert isinstance(each, Extreme) and each.members is not None
        each.members = _Counted(each.members, reads)
    return reads


class _Counted:
    """Members whose readings are counted."""

    def __init__(self, members: Members, reads: list[int]) -> None:
        self._members, self._reads = members, reads

    @property
    def table(self) -> RowTable:
        return self._members.table

    def of(self, groups: Array) -> tuple[Array, Array]:
        self._reads.append(len(groups))
        return self._members.of(groups)


BEFORE = """
input relation V(v: s64, x: s64)
input relation N(v: s64, u: s64, d: s64)
loop Rounds rounds 6 {
    output relation R(v: s64, x: s64)
    initial R(v, x) :- V(v, x).
    R(u, x + d) :- Least(v, x), N(v, u, d).
    R(u, x - d) :- Most(v, x), N(v, u, d).
    output relation Least(v: s64, x: s64)
    Least(v, least) :- R-1(v, x), var least = x.group_by(v).min().
    output relation Most(v: s64, x: s64)
    Most(v, most) :- R-1(v, x), var most = x.group_by(v).max().
}
"""


def rounds(held: set[tuple[int, int]], near: set[tuple[int, int, int]]) -> dict[str, set[tuple[int, int]]]:
    """The relations of the loop, round by round."""
    least, most = dict[int, int](), dict[int, int]()
    for _ in range(6):
        least = {v: min(x for u, x in held if u == v) for v, _ in held}
        most = {v: max(x for u, x in held if u == v) for v, _ in held}
        held = {(u, least[v] + d) for v, u, d in near if v in least}
        held |= {(u, most[v] - d) for v, u, d in near if v in most}
    return {"R": held, "Least": {*least.items()}, "Most": {*most.items()}}


@pytest.mark.parametrize("seed", range(4))
def test_best_values_of_the_round_before(seed: int) -> None:
    pick = random.Random(seed)
    held = {(pick.randrange(6), pick.randrange(-9, 9)) for _ in range(9)}
    near = {(pick.randrange(6), pick.randrange(6), pick.randrange(-3, 4)) for _ in range(9)}
    with ddlog.compile(BEFORE).session(maintain="never") as session:
        session.insert_rows("V", [*held])
        session.insert_rows("N", [*near])
        session.commit()
        found = {name: {tuple(row) for row in session[name]} for name in ("R", "Least", "Most")}
    assert found == rounds(held, near)
