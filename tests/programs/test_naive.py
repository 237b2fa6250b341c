"""Random programs against a meaning that shares nothing with the interpreter, with windows, rollbacks,
states that are opened anew, and queries and outputs on demand."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ddlog

from ..trying import longer
from .naive import INPUTS, RANGES, Contents, Program, rows


@pytest.mark.parametrize("seed", range(longer(8, 4000)))
def test_every_commit_is_as_the_naive_meaning_says(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    made = Program(chance)
    program = ddlog.compile(made.text)
    state = tmp_path / "s" if chance.random() < 0.5 else None
    on_demand = program.session(relations="inputs")
    session = program.session(state=state)
    inputs: dict[str, Counter[Any]] = {name: Counter() for name in (*INPUTS, *PASSING)}
    before = [made.evaluate(inputs, [])]
    session.start()
    on_demand.start()
    for _ in range(chance.randint(2, 6)):
        for name in PASSING:
            inputs[name].clear()
        if chance.random() < 0.3:
            copied = {name: Counter(rows) for name, rows in inputs.items()}
            change(chance, [session], copied, before[-1])
            session.rollback()
        change(chance, [session, on_demand], inputs, before[-1])
        told = session.commit()
        on_demand.commit()
        now = made.evaluate(inputs, before[-2:])
        for name in (each.name for each in made.derived):
            shown = Counter(now[name])
            if session.program.relations[name].kind != "stream":
                assert set(map(tuple, session[name].stored)) == set(shown), name
                shown.subtract(before[-1][name])
            wanted = {row: weight for row, weight in shown.items() if weight}
            found = told.stored(name) if name in told else []
            assert {tuple(row): weight for row, weight in found} == wanted, name
        asked(chance, made, on_demand, now)
        before.append(now)
        if state is not None and chance.random() < 0.5:
            session.close()
            session = program.session(state=state)
            session.start()
    session.close()
    on_demand.close()


PASSING = ("Flow", "Event", "Event+", "Event-")


def change(
    chance: random.Random,
    sessions: list[ddlog.Session],
    inputs: dict[str, Counter[Any]],
    before: Contents,
) -> None:
    """Changes some rows of sessions, and of the inputs that they hold."""
    for _ in range(chance.randint(0, 8)):
        name = chance.choice(sorted(INPUTS))
        row, held = rows(chance, INPUTS[name]), inputs[name]
        if name == "Event":
            event(chance, sessions, inputs, before)
            continue
        if name == "Clock":
            row = (moment(chance, inputs),)
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


def event(
    chance: random.Random,
    sessions: list[ddlog.Session],
    inputs: dict[str, Counter[Any]],
    before: Contents,
) -> None:
    """Inserts an event, or deletes one that windows hold."""
    held = [
        row
        for row in sorted(before.get("Recent", {}))
        if row not in inputs["Event+"]
        and all(before[name].get(row, 0) > inputs["Event-"][row] for name in RANGES)
    ]
    row = (moment(chance, inputs), *rows(chance, "sn"))
    if held and chance.random() < 0.4:
        row = chance.choice(held)
        inputs["Event-"][row] += 1
    elif not inputs["Event-"][row]:
        inputs["Event+"][row] += 1
    else:
        return
    for session in sessions:
        (session.insert_rows if inputs["Event+"][row] else session.delete_rows)("Event", [row])


def moment(chance: random.Random, inputs: dict[str, Counter[Any]]) -> int:
    """A time near the clock."""
    now: int = max((row[0] for row in inputs["Clock"]), default=4)
    return max(0, now + chance.randint(-6, 3))


def asked(chance: random.Random, made: Program, session: ddlog.Session, now: dict[str, Any]) -> None:
    """Compares a query with constants, which is answered on demand."""
    able = [each for each in made.derived if each.kind in ("relation", "loop") and each.types[0] in "ns"]
    able = [each for each in able if each.name in made.lasting()]
    if not able:
        return
    each = chance.choice(able)
    value = chance.choice([0, 1, 2] if each.types[0] == "n" else ["a", "b", "c"])
    others = ", ".join(f"y{i}" for i in range(1, len(each.types)))
    constant = f'"{value}"' if isinstance(value, str) else str(value)
    found = set(session.query(f"{each.name}({constant}, {others})").stored)
    assert found == {row[1:] for row in now[each.name] if row[0] == value}, each.name
