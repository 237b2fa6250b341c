"""Processor time of sixty views of SQL: from the text to an open session, of a view more and less, and of
commits of thirty rows.

    python -m tests.bench.views [ROWS] [COMMITS]
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

os.environ["DDLOG_CACHE"] = "off"
MODULE = Path(__file__).parent / "programs" / "tpcc.sql"
ADDED = """CREATE VIEW added{} AS SELECT c_w_id, sum(ol_amount) AS paid FROM j6
JOIN order_line ON c_id = ol_o_id GROUP BY c_w_id"""
STATES = ("CA", "NY", "TX")


def main() -> None:
    """Prints a line for each figure."""
    given = [*map(int, sys.argv[1:3])]
    rows, commits = [*given, *(3_000, 60)[len(given) :]]
    begin = time.process_time()
    import ddlog
    from ddlog.errors.source import Source

    text = MODULE.read_text()
    session = ddlog.compile(Source(MODULE.name, text)).session()
    session.start()
    print(f"from the text to a session, first in its process: {time.process_time() - begin:.3f} s")
    _, took = timed(lambda: ddlog.compile(Source(MODULE.name, text)).session().start())
    print(f"once more: {took:.3f} s, {1000 * took / text.count('CREATE VIEW'):.1f} ms a view")
    with session:
        chance = random.Random(1)
        for _ in range(rows // 30):
            change(session, chance)
        _, took = timed(session.commit)
        print(f"first commit, {rows} rows: {took:.3f} s")
        told = [timed(lambda: (change(session, chance), session.commit()))[1] for _ in range(commits)]
        shown = ", ".join(f"{1000 * each:.1f}" for each in (told[0], median(told[1:]), max(told[1:])))
        print(f"commits of 30 rows, ms: the first, the median and the most of the others: {shown}")
        for what, statement in (("CREATE VIEW", ADDED), ("DROP VIEW", "DROP VIEW added{}")):
            told = [timed(lambda n=n, s=statement: session.execute(s.format(n)))[1] for n in range(5)]  # type: ignore[misc]
            print(f"{what}, ms: " + ", ".join(f"{1000 * each:.1f}" for each in told))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result of some work, and its seconds of processor time."""
    begin = time.process_time()
    return work(), time.process_time() - begin


def change(session: Any, chance: random.Random) -> None:
    """Changes thirty rows, as orders and payments do."""
    for relation, row in _rows(chance):
        if session.program.relations[relation].key is None:
            session.insert(relation, row)
        else:
            session.upsert(relation, row)


def _rows(chance: random.Random) -> Iterator[tuple[str, tuple[Any, ...]]]:
    def some(most: int) -> int:
        return chance.randint(1, most)

    def money() -> str:
        return f"{chance.randint(0, 9000) / 100:.2f}"

    def moment() -> str:
        return f"2024-{some(12):02}-{some(28):02} {some(23):02}:00:00"

    w, d, c, o = some(2), some(4), some(60), some(400)
    yield "Warehouse", (w, f"W{w}", f"City{some(5)}", STATES[w], "0.0500", money())
    yield "District", (d, w, f"A{d}", f"City{some(5)}", STATES[w], "0.1000", money(), o)
    yield "Customer", (c, d, w, f"F{c}", f"L{c % 17}", STATES[c % 3], moment(), "GB" if c % 9 else "BC",
                       "0.0500", money(), some(9))  # fmt: skip
    yield "History", (c, d, w, d, w, moment(), money(), "paid")
    yield "New_order", (o, d, w)
    yield "Oorder", (o, d, w, c, moment(), some(5) if o % 3 else None, some(12), 1)
    for number in range(1, 13):
        i = some(100)
        yield "Item", (i, i, f"item {i}", money(), "data")
        yield "Order_line", (o, d, w, number, i, w, moment() if o % 3 else None, some(9), money())


if __name__ == "__main__":
    main()
