"""Random programs against a meaning that shares nothing with the interpreter, with rollbacks, states that are
opened anew, and queries on demand."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ddlog

from ..trying import longer
from .naive import INPUTS, Program, rows


@pytest.mark.parametrize("seed", range(longer(8, 4000)))
def test_every_commit_is_as_the_naive_meaning_says(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    made = Program(chance)
    program = ddlog.compile(made.text)
    state = tmp_path / "s" if chance.random() < 0.5 else None
    on_demand = program.session(relations="inputs")
    session = program.session(state=state)
    inputs: dict[str, Counter[Any]] = {name: Counter() for name in INPUTS}
    before = [made.evaluate(inputs, [])]
    session.start()
    on_demand.start()
    for _ in range(chance.randint(2, 6)):
        inputs["Flow"].clear()
        if chance.random() < 0.3:
            change(chance, [session], {name: Counter(rows) for name, rows in inputs.items()})
            session.rollback()
        change(chance, [session, on_demand], inputs)
        told = session.commit()
        on_demand.commit()
        now = made.evaluate(inputs, before[-2:])
        for each in made.derived:
            shown = Counter(now[each.name])
            if each.kind != "stream":
                assert set(session[each.name].stored) == set(shown), each.name
                shown.subtract(before[-1][each.name])
            wanted = {row: weight for row, weight in shown.items() if weight}
            assert (dict(told.stored(each.name)) if each.name in told else {}) == wanted, each.name
        asked(chance, made, on_demand, now)
        before.append(now)
        if state is not None and chance.random() < 0.5:
            session.close()
            session = program.session(state=state)
    session.close()
    on_demand.close()


def change(chance: random.Random, sessions: list[ddlog.Session], inputs: dict[str, Counter[Any]]) -> None:
    """Changes some rows of sessions, and of the inputs that they hold."""
    for _ in range(chance.randint(0, 8)):
        name = chance.choice(sorted(INPUTS))
        row, held = rows(chance, INPUTS[name]), inputs[name]
        if chance.random() < 0.3 and held and name != "Flow":
            row = chance.choice(sorted(held, key=repr))
            held[row] -= 1
            method = "delete_rows"
        else:
            method = "insert_rows"
            if name == "Tag" and any(other[0] == row[0] for other in held):
                continue
            held[row] = held[row] + 1 if name in ("Bag", "Flow") else 1
        if not held[row]:
            del held[row]
        for session in sessions:
            getattr(session, method)(name, [row])


def asked(chance: random.Random, made: Program, session: ddlog.Session, now: dict[str, Any]) -> None:
    """Compares a query with constants, which is answered on demand."""
    able = [each for each in made.derived if each.kind in ("relation", "loop") and each.types[0] in "ns"]
    if not able:
        return
    each = chance.choice(able)
    value = chance.choice([0, 1, 2] if each.types[0] == "n" else ["a", "b", "c"])
    others = ", ".join(f"y{i}" for i in range(1, len(each.types)))
    constant = f'"{value}"' if isinstance(value, str) else str(value)
    found = set(session.query(f"{each.name}({constant}, {others})").stored)
    assert found == {row[1:] for row in now[each.name] if row[0] == value}, each.name
