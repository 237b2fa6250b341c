"""Random changes of the facts of every program: the state after each commit is what the oracle says."""

from __future__ import annotations

import random

import pytest

import ddlog

from .programs_oracle import ORACLES, PROGRAMS, presented
from .programs_text import Facts, columns_of, order, read_facts, record

EPOCHS = 12
BATCH = 6


def changed(rng: random.Random, all_facts: Facts, present: Facts) -> tuple[Facts, Facts]:
    """Rows to delete and rows to insert: some that are there, some that were there once."""
    deleted: Facts = {relation: set() for relation in present}
    inserted: Facts = {relation: set() for relation in present}
    for _ in range(rng.randint(1, BATCH)):
        relation = rng.choice(sorted(present))
        missing = sorted(all_facts[relation] - present[relation], key=order)
        if missing and rng.random() < 0.5:
            inserted[relation].add(rng.choice(missing))
        elif present[relation]:
            deleted[relation].add(rng.choice(sorted(present[relation], key=order)))
    return deleted, inserted


@pytest.mark.parametrize("name", sorted(ORACLES))
def test_random_changes(name: str) -> None:
    rng = random.Random(name)
    folder = PROGRAMS / name
    outputs = columns_of(folder / f"{name}.dl", "output")
    everything = read_facts(folder)
    present = {relation: set(rows) for relation, rows in everything.items()}
    with ddlog.compile(folder / f"{name}.dl").session(relations="outputs") as session:
        session.load(folder / "facts")
        for _ in range(EPOCHS):
            deleted, inserted = changed(rng, everything, present)
            for relation in present:
                session.delete_rows(relation, sorted(deleted[relation], key=order))
                session.insert_rows(relation, sorted(inserted[relation], key=order))
                present[relation] = (present[relation] - deleted[relation]) | inserted[relation]
            session.commit()
            wanted = presented(name, ORACLES[name](present))
            for relation, typed in outputs.items():
                columns = tuple(column for column, _ in typed)
                rows = [record(relation, columns, row) for row in sorted(wanted[relation], key=order)]
                assert list(session[relation].records()) == rows, relation
