"""Proofs of rows of a session on Spark are those of a session in process, also of loops."""

from __future__ import annotations

from typing import Any

import ddlog
from ddlog.sessions.session import Session

PROGRAM = """
input relation Edge(a: string, b: string)
input relation Closed(a: string)
output relation Reach(a: string, b: string)
Reach(x, y) :- Edge(x, y), not Closed(x).
Reach(x, z) :- Reach(x, y), Edge(y, z), not Closed(y).
loop Breadth until empty(Frontier) {
    relation Frontier(v: string)
    initial Frontier(v) :- Edge(v, _), not Edge(_, v).
    Frontier(b) :- Frontier-1(a), Reach(a, b), not Seen-1(b).
    output relation Seen(v: string)
    Seen(v) :- Seen-1(v).
    Seen(v) :- Frontier(v).
}
"""


def answers(session: Session) -> list[Any]:
    """The answers to questions after an epoch that deletes."""
    session.insert("Edge", *map(tuple, ("ab", "bc", "cd", "ad")))
    session.commit()
    session.delete("Edge", ("a", "d"))
    session.commit()
    return [
        str(session.why('Reach("a", "d")')),
        str(session.why('Seen("d")')),
    ]


def test_proofs(spark: Any) -> None:
    program = ddlog.compile(PROGRAM)
    with program.session() as here, program.session(engine="spark", spark=spark) as there:
        assert answers(there) == answers(here)
