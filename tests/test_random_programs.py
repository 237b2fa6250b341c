"""Whole programs against the definition: text in, every change of every transaction out."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings

import ddlog
from ddlog.engine.reference import evaluate

from .random_programs import MULTISETS, programs, transactions

thorough = settings(deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))

Zset = dict[tuple[Any, ...], int]


@thorough
@given(programs(), transactions())
def test_every_change_of_every_transaction(
    text: str, stream: list[list[tuple[str, tuple[Any, ...], int]]]
) -> None:
    program = ddlog.compile(text)
    plain = program.circuit("relational")
    contents: dict[str, Zset] = {name: {} for name in program.names("input")}
    with program.session() as session:
        before = evaluate(plain, contents)
        for name, rows in before.items():
            assert set(session[name].tuples()) == set(rows)
        for transaction in stream:
            for relation, row, sign in transaction:
                rows = contents[relation]
                weight = rows.get(row, 0) + sign if relation in MULTISETS else int(sign > 0)
                rows[row] = weight
                if not weight:
                    del rows[row]
                (session.insert_rows if sign > 0 else session.delete_rows)(relation, [row])
            changes = session.commit()
            after = evaluate(plain, contents)
            for name in program.names("output"):
                wanted = {
                    row: after[name].get(row, 0) - before[name].get(row, 0)
                    for row in {**after[name], **before[name]}
                }
                got = dict(changes.rows(name)) if name in changes else {}
                assert got == {row: weight for row, weight in wanted.items() if weight}, name
            before = after
