"""Deletions from recursions: the first one, single rows, and more and more rows at once.

Rows are deleted and inserted again, so that the state is the same before each deletion. The first deletion
prepares a recursion for deletions; it is a figure of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from incremental import Latency, Row, as_rows, commit, state_of, summary
from published import PUBLISHED, Missing, facts_of_archive
from workloads import Ints, Random, graph, source_and_edges, statements

import ddlog


def shuffled(table: Ints) -> list[Row]:
    """The rows of a table in a random order that is always the same."""
    return as_rows(table[Random(17).words(len(table)).argsort()])


def away_and_back(
    session: Any, relation: str, present: list[Row], name: str, groups: dict[int, int]
) -> Iterator[Latency]:
    """Deletes and inserts again groups of rows, of so many rows each so often. The first pair of a size warms
    up, but for the first deletion of all."""
    yield summary(f"{name}: first deletion", [commit(session, {relation: present[:1]}, {})], None)
    commit(session, {}, {relation: present[:1]})
    at = 1
    for size, count in groups.items():
        deletes, inserts = [], []
        for _ in range(count + 1):
            group = present[at : at + size] if at + size <= len(present) else present[:size]
            at = at + size if at + size <= len(present) else size
            deletes.append(commit(session, {relation: group}, {}))
            inserts.append(commit(session, {}, {relation: group}))
        rows = "1 row" if size == 1 else f"{size:,} rows"
        yield summary(f"{name}: {rows} out", deletes[1:], None)
        yield summary(f"{name}: {rows} back in", inserts[1:], None)


def deletions(cache: Path, scale: str) -> Iterator[Latency]:
    """Deletions from the recursions of some workloads, and of galen where its facts are."""
    full = scale == "full"
    many = {1: 100, 10: 20, 100: 5} if full else {1: 2, 5: 1}
    for name, program, relation, inputs in (
        ("tc_random_1m", "tc", "Edge", graph(1250, 2500) if full else graph(60, 120)),
        ("reach", "reach", "Edge", source_and_edges(*(10**5, 500_000) if full else (200, 500))),
        ("andersen", "andersen", "Assign", statements(6000 if full else 4)),
    ):
        with state_of(program, inputs, cache / f"deletions_{program}_{scale}") as session:
            yield from away_and_back(session, relation, shuffled(inputs[relation]), name, many)
    if full:
        try:
            facts = facts_of_archive(PUBLISHED["galen"], cache)
        except Missing as missing:
            print(missing, file=sys.stderr, flush=True)
            return
        program = Path(__file__).parent / "programs" / "galen.dl"
        with ddlog.compile(program).session(relations="outputs") as session:
            session.load(facts)
            rows = shuffled(np.loadtxt(facts / "Ip.facts", dtype=np.int64, ndmin=2))
            yield from away_and_back(session, "Ip", rows, "galen", {1: 100, 10: 10})
