"""How long questions about rows take, in milliseconds of processor time.

    python tests/bench/explaining.py                         tc_random_1m and tc_random_10m
    DDLOG_BENCH_DATA=FOLDER python tests/bench/explaining.py galen

For each state (after the load, and after epochs that insert and delete a fact) the first question, and the
median and the worst of the next ones, for rows that are chosen at random. Last come
rows that do not hold. Trees have ten levels, as text.
What commits cost when nobody asks, `run.py updates` tells.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from published import PUBLISHED, facts_of_archive
from workloads import WORKLOADS, write

import ddlog

PROGRAMS = Path(__file__).parent / "programs"
QUESTIONS = 15
EPOCHS = 2


def ask(question: Callable[[], Any]) -> float:
    """The milliseconds of processor time of a question and its text."""
    started = time.process_time()
    str(question())
    return 1000 * (time.process_time() - started)


def some_rows(session: Any, relation: str, rng: random.Random, count: int) -> list[tuple[int, ...]]:
    """Rows of a relation of numbers, chosen at random."""
    contents = session.state.host.offer.here.contents(relation)
    places = rng.sample(range(contents.length), count)
    return [tuple(int(column[at]) for column in contents.columns) for at in places]


def absent_rows(session: Any, relation: str, rng: random.Random, count: int) -> list[tuple[int, ...]]:
    """Rows that a relation of numbers lacks, of values that its columns have, each value as likely."""
    contents = session.state.host.offer.here.contents(relation)
    columns = [np.unique(column[: contents.length]).tolist() for column in contents.columns]
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        row = tuple(rng.choice(column) for column in columns)
        if row not in session[relation]:
            found[row] = None
    return list(found)


def asked(session: Any, relation: str, rng: random.Random) -> list[float]:
    """The times of questions why rows hold."""
    return [
        ask(lambda row=row: session.why(relation, row))
        for row in some_rows(session, relation, rng, QUESTIONS)
    ]


def questions(
    session: Any, relation: str, fact: str, rng: random.Random
) -> Iterator[tuple[str, list[float]]]:
    """The times of questions in several states of a session. The facts of one input are changed."""
    yield "why, after the load", asked(session, relation, rng)
    facts = some_rows(session, fact, rng, EPOCHS)
    last = list(zip(*facts, strict=True))
    for number, row in enumerate(facts):
        session.delete_rows(fact, [row])
        session.commit()
        yield f"why, after deletion {number + 1}", asked(session, relation, rng)
    for number in range(EPOCHS):
        session.insert_rows(fact, [tuple(rng.choice(column) for column in last)])
        session.commit()
        yield f"why, after insertion {number + 1}", asked(session, relation, rng)
    missing = absent_rows(session, relation, rng, 5)
    yield "why not", [ask(lambda row=row: session.why_not(relation, row)) for row in missing]


def loaded(name: str, cache: Path) -> tuple[Any, str, str]:
    """A session with the facts of a workload, the relation that is asked for, and the input that changes."""
    if name in PUBLISHED:
        program, relation, fact = "galen", "P", "Ip"
        folder = facts_of_archive(PUBLISHED[name], cache)
    else:
        workload, folder = WORKLOADS[name], cache / f"{name}_full"
        program, relation, fact = workload.program, workload.output, "Edge"
        if not folder.exists():
            write(workload.inputs("full"), folder)
    session = ddlog.compile(PROGRAMS / f"{program}.dl").session()
    session.load(folder)
    session.commit()
    return session, relation, fact


def main() -> None:
    """Prints the times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", default=["tc_random_1m", "tc_random_10m"])
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "ddlog-bench")
    options = parser.parse_args()
    for name in options.names:
        rng = random.Random(1)
        session, relation, fact = loaded(name, options.cache)
        print(f"{name}: {len(session[relation]):,} rows of {relation}; milliseconds: first, median, worst")
        for state, times in questions(session, relation, fact, rng):
            first, *others = times
            print(f"  {state:<24}{first:8.0f}{statistics.median(others):8.0f}{max(others):8.0f}")
        session.close()


if __name__ == "__main__":
    main()
