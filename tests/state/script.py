"""Random transactions, big and tiny: keys, multisets, streams, windows, recursion, groups, delays."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import ddlog
from ddlog import DDlogError
from ddlog.sessions.program import Program
from ddlog.sessions.session import Session

_TEXT = """
typedef Place = Town{name: string, at: Option<s32>} | Sea
input relation K(k: u32, v: string) primary key (r) r.k
input multiset M(x: u32)
input stream S(x: u32)
input relation Edge(x: u32, y: u32)
input relation Where(x: u32, place: Place)
output relation Path(x: u32, y: u32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
output relation Sum(n: u32)
Sum(n + x) :- Sum-1(n), S'(x).
Sum(x) :- S'(x), not Sum-1(_).
Sum(n) :- Sum-1(n), not S'(_).
output relation Degree(x: u32, n: usize)
Degree(x, n) :- Edge(x, y), var n = y.group_by(x).count().
output multiset Both(x: u32, v: string)
Both(x, v) :- M(x), K(x, v).
output relation Inland(x: u32)
Inland(x) :- Where(x, Town{_, _}), not Edge(_, x).
input relation Now(time: u32)
input relation Event(time: u32)
import window
output multiset Recent(x: u32)
stream Late(x: u32)
apply window::range_late(S, |s| s.x, Now, 4, 2) -> (Recent, Late)
output relation LateAt(x: u32)
LateAt(x) :- LateAt-1(x).
LateAt(x) :- Late'(x).
output relation Lately(time: u32)
apply window::range(Event, |e| e.time, Now, 6) -> (Lately)
"""
PROGRAM = ddlog.compile(_TEXT)
PLAIN = ddlog.compile(_TEXT.partition("import window")[0])
"""The same without windows: a session that was killed goes on from a checkpoint."""

OUTPUTS = ("Path", "Sum", "Degree", "Both", "Inland", "Recent", "LateAt", "Lately")
INPUTS = ("K", "M", "Edge", "Where", "Event")

Step = tuple[str, str, tuple[tuple[Any, ...], ...]]
Script = Sequence[Sequence[Step]]


def script(seed: int, length: int) -> Script:
    """The changes of so many transactions."""
    chance = random.Random(seed)
    return [_transaction(chance) for _ in range(length)]


def _transaction(chance: random.Random) -> list[Step]:
    most = 300 if chance.random() < 0.1 else 4
    steps: list[Step] = []
    for _ in range(chance.randint(1, 3)):
        name = chance.choice(("K", "M", "S", "S", "Edge", "Edge", "Where", "Event", "Now"))
        rows = tuple(_row(name, chance) for _ in range(chance.randint(1, most)))
        does = "upsert" if name == "K" and chance.random() < 0.7 else "insert"
        if name == "K":
            rows = tuple({row[0]: row for row in rows}.values())
        elif name != "S" and chance.random() < 0.4:
            does = "delete"
        if name == "K" and does == "insert":
            does, rows = "delete_key", tuple((row[0],) for row in rows)
        steps.append((does, name, rows))
    return steps


def _row(name: str, chance: random.Random) -> tuple[Any, ...]:
    x = chance.randrange(4 if name == "Now" and chance.random() < 0.9 else 12)
    match name:
        case "K":
            return x, chance.choice(("", "a", "ü\n€")) * chance.choice((1, 1, 40))
        case "Edge":
            return x, chance.randrange(12)
        case "Where":
            town = {"Town": {"name": f"t{x}", "at": chance.choice((None, -1, 7))}}
            return x, town if x % 3 else "Sea"
    return (x,)


def transact(session: Session, steps: Sequence[Step]) -> str:
    """Commits a transaction. Returns its changes as a text."""
    for does, name, rows in steps:
        if does in ("delete", "delete_key"):
            for row in rows:
                with suppress(DDlogError):  # a row or key that is not there
                    getattr(session, does)(name, row if does == "delete" else row[0])
        else:
            getattr(session, does)(name, *rows)
    return str(session.commit())


def contents(session: Session) -> str:
    """What the relations of a session hold."""
    names = (*INPUTS, *outputs(session.program))
    return "\n".join(f"{name}: {sorted(map(repr, session[name].weighted()))}" for name in names)


def outputs(program: Program) -> list[str]:
    """The output relations of a program."""
    return [name for name in OUTPUTS if name in program.relations]
