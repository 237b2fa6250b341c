"""Checkpoints with right checksums whose numbers are not what was derived: programs, what is changed, and
what a session does that begins with one."""

from __future__ import annotations

import json
import random
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ddlog
from ddlog.durability.parts import checksum
from ddlog.errors.state import CheckpointDamaged
from ddlog.sessions.persistence.durable import Durable
from ddlog.sessions.session import Session

from .test_same import held

INPUTS = """
typedef Pair = Pair{a: u32, s: string} | One
input relation E(x: u32, y: u32)
input relation F(p: Pair, x: u32)
input multiset M(x: u32, s: string)
input relation W(x: u32, b: bigint, d: double)
"""

PROGRAMS = {
    "joins": """
output relation J(x: u32, z: u32, s: string)
J(x, z, s) :- E(x, y), E(y, z), F(Pair{_, s}, x).
output relation K(x: u32, y: u32, z: u32)
K(x, y, z) :- E(x, y), E(y, z), E(z, x).
output multiset L(s: string, y: u32)
L(s, y) :- M(x, s), E(x, y).
""",
    "negation": """
output relation A(x: u32)
A(x) :- E(x, _), not E(_, x).
output relation B(p: Pair, x: u32)
B(p, x) :- F(p, x), not E(x, 3), not M(x, _).
output multiset C(x: u32, s: string)
C(x, s) :- M(x, s), not A(x), not F(One, x).
""",
    "recursion": """
output relation P(x: u32, y: u32)
P(x, y) :- E(x, y).
P(x, z) :- P(x, y), P(y, z).
output relation Even(x: u32)
output relation Odd(x: u32)
Even(0).
Odd(y) :- Even(x), E(x, y).
Even(y) :- Odd(x), E(x, y).
output relation Both(x: u32)
Both(x) :- Even(x), Odd(x).
""",
    "paths": """
output relation P(x: u32, y: u32)
P(x, y) :- E(x, y).
P(x, z) :- P(x, y), E(y, z).
output relation T(p: Pair, y: u32)
T(p, y) :- F(p, x), P(x, y).
T(One, z) :- T(_, y), E(y, z).
""",
    "extremes": """
output relation N(x: u32, n: usize, m: u32, l: u32)
N(x, n, m, l) :- E(x, y), var g = y.group_by(x), var n = g.count(), var m = g.max(), var l = g.min().
output relation O(s: string, best: string, big: bigint)
O(s, best, big) :- M(x, s), W(x, b, _), var g = (s, b).group_by(s), (var best, var big) = g.max().
output relation D(x: u32, p: Pair)
D(k, q) :- F(p, x), var k = x % 3, var q = p.group_by(k).min().
""",
    "shortest": """
output relation S(x: u32, y: u32, d: u32)
S(x, y, 1) :- E(x, y).
S(x, z, d) :- S(x, y, n), E(y, z), n < 8, var d = (n + 1).group_by((x, z)).min().
""",
    "sums": """
output relation I(x: u32, s: u64, b: bigint)
I(k, s, b) :- W(x, w, _), var k = x % 3, var g = (x as u64, w).group_by(k), var s = g.sum_of(|v| v.0),
    var b = g.sum_second().
output relation R(k: u32, d: double, m: double)
R(k, d, m) :- W(x, _, v), var k = x % 3, var g = v.group_by(k), var d = g.sum(), var m = g.avg().
""",
    "collections": """
output relation V(k: u32, v: Vec<(u32, string)>, m: Map<u32, string>)
V(k, v, m) :- M(x, s), var k = x % 3, var g = (x, s).group_by(k), var v = g.to_vec(), var m = g.to_map().
output relation Y(k: u32, s: string)
Y(k, s) :- M(x, s), var k = x % 2, var s = s.group_by(k).first().
output relation Q(p: Pair, s: Set<u32>, first: Option<u32>)
Q(p, xs, xs.nth(0)) :- F(p, x), var xs = x.group_by(p).to_set().
output relation U(x: u32)
U(x) :- Q(_, s, _), var x = FlatMap(s).
""",
    "loops": """
loop Forward until unchanged {
    relation Offer(v: u32, l: u32)
    Offer(v, v) :- E(v, _).
    Offer(w, l) :- Before-1(v, l), E(v, w).
    relation Before(v: u32, l: u32)
    Before(v, l) :- Offer(v, each), var l = each.group_by(v).min().
}
output relation C(v: u32, l: u32)
C(v, l) :- Before(v, l).
output relation P(x: u32, y: u32)
P(x, y) :- E(x, y), C(x, _).
P(x, z) :- P(x, y), E(y, z), not C(z, 5).
""",
    "windows": """
output relation G(x: u32)
G(x) :- E(x, _), E-1(x, _).
output relation H(x: u32)
H(x) :- E(x, y), not A-1(y).
output relation A(x: u32)
A(x) :- E(x, _).
""",
}


def begun(path: Path, kind: str) -> None:
    """A closed state of one of the programs, with a checkpoint, and two commits after it."""
    program = ddlog.compile(INPUTS + PROGRAMS[kind])
    with program.session(state=path) as session:
        for x in range(12):
            insert(session, x)
        session.commit()
    with program.session(state=path) as session:
        session.start()
        durable = session.state.durable
        assert isinstance(durable, Durable)
        durable.upkeep = None
        for x in (12, 13):
            insert(session, x)
            session.commit()


def insert(session: Session, x: int) -> None:
    """Inserts the rows of a number."""
    session.insert("E", (x, (x * 5 + 1) % 12), (x, x + 12))
    session.insert("F", ({"Pair": [x % 3, f"s{x % 2}"]} if x % 4 else {"One": []}, x))
    session.insert("M", (x % 5, f"s{x % 2}"), (x % 5, f"t{x}"))
    session.insert("W", (x, x << 62, x / 8))


def damaged(path: Path, kind: str, chance: random.Random) -> bool:
    """Whether a session finds that the checkpoint is damaged, as it reads all, and changes much of it."""
    try:
        _used(path, kind, chance)
    except ddlog.DDlogError as error:
        return isinstance(error.diagnostics[0], CheckpointDamaged)
    return False


def _used(path: Path, kind: str, chance: random.Random) -> None:
    with ddlog.compile(INPUTS + PROGRAMS[kind]).session(state=path) as session:
        if chance.random() < 0.5:
            held(session)
        for x in chance.sample(range(16), 3):
            insert(session, x)
            session.commit()
            session.delete("E", (x, x + 12))
            session.commit()
        held(session)
        for relation in session.program.names("input"):
            session.clear(relation)
        session.commit()
        held(session)


def changed_number(path: Path, chance: random.Random) -> None:
    """Changes a number of a checkpoint, or a byte of its arrays, and makes the checksums right again."""
    with sqlite3.connect(path) as base:
        units = base.execute("SELECT * FROM unit").fetchall()
        id, *fields, _ = chance.choice(units)
        content, pieces = json.loads(fields[4]), range(fields[5], fields[5] + fields[6])
        if pieces and chance.random() < 0.3:
            (data,) = base.execute("SELECT data FROM piece WHERE id = ?", (pieces[0],)).fetchone()
            place = chance.randrange(len(data))
            new = data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
            base.execute(
                "UPDATE piece SET data = ?, checksum = ? WHERE id = ?", (new, zlib.crc32(new), pieces[0])
            )
        else:
            *way, last = chance.choice(list(ways_to_leaves(content)))
            inner = content
            for each in way:
                inner = inner[each]
            inner[last] = chance.choice([-1, 0, 1, 7, 1 << 40, 1 << 70, "", "x", None, [], 1.5, "<i8"])
        fields[4] = json.dumps(content)
        sums = dict(base.execute("SELECT id, checksum FROM piece"))
        known = checksum(*fields, *(sums[each] for each in pieces))
        base.execute("UPDATE unit SET content = ?, checksum = ? WHERE id = ?", (fields[4], known, id))
    base.close()


def ways_to_leaves(content: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys and places that lead to each number, text, list or object."""
    if way:
        yield way
    if not isinstance(content, dict | list):
        return
    for each, inner in content.items() if isinstance(content, dict) else enumerate(content):
        yield from ways_to_leaves(inner, (*way, each))
