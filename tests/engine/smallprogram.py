"""A small program for tests of sessions, also on the reference evaluation."""

from __future__ import annotations

import ddlog
from ddlog.sessions.session import Session

from .reference_runtime import by_definition

TEXT = """
input relation Edge(a: signed<32>, b: signed<32>)
input relation Host(id: signed<32>, name: string) primary key (x) x.id
input multiset Bag(word: string)
input relation Pairs[(signed<32>, signed<32>)]
output relation Two(a: signed<32>, c: signed<32>)
Two(a, c) :- Edge(a, b), Edge(b, c).
output multiset Words(word: string)
Words(w) :- Bag(w).
output relation Named(b: signed<32>, name: string)
Named(b, n) :- Edge(_, b), Host(b, n).
relation Fixed(a: signed<32>)
Fixed(7).
"""


PROGRAM = ddlog.compile(TEXT)


def session(engine: str) -> Session:
    """A session of the program on the runtime `inprocess` or `reference`."""
    return PROGRAM.session() if engine == "inprocess" else by_definition(PROGRAM)
