"""How far loads are from the speed of memory.

    python tests/bench/memoryspeed.py [NAME ...]       workloads of run.py; default those with candidates
    DDLOG_BENCH_DATA=FOLDER python tests/bench/memoryspeed.py galen

A join reads, for each row that it starts from, one place of an index at random, and then the rows that it
finds there one after another; each row that a file has or a rule derives is looked for in its relation, at
random again. Nothing that evaluates these rules in this order does less. So what a kernel takes that only
reads as many words, at random and in order, is a floor for the commit of a load. Prints the processor
seconds of both, and their ratio.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from pathlib import Path

import numpy as np
from numba import njit
from published import PUBLISHED, facts_of_archive
from run import HERE, WORKLOADS, Options, facts_of

import ddlog
from ddlog.profiling.profile import Profile
from ddlog.sessions.transactions.facts import load_places

DEFAULT = ("tc_random_1m", "tc_random_10m", "sg_random", "reach", "andersen", "triangles")
TERM = re.compile(r"(not )?[A-Z]\w*\(")
TABLE_WORDS = {"full": 1 << 26, "tiny": 1 << 16}  # 512 MB: larger than any cache


@njit(nogil=True)  # type: ignore[untyped-decorator]
def read_at_random(table: np.ndarray, count: int) -> int:
    """The sum of `count` words at places of a linear congruence, which do not wait for each other."""
    total, place, mask = 0, np.uint64(1), np.uint64(len(table) - 1)
    for _ in range(count):
        place = place * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        total += table[(place >> np.uint64(20)) & mask]
    return total


@njit(nogil=True)  # type: ignore[untyped-decorator]
def read_in_order(table: np.ndarray, count: int) -> int:
    """The sum of the first `count` words."""
    total = 0
    for place in range(count):
        total += table[place]
    return total


def words_a_second(words: int) -> tuple[float, float]:
    """The words that one thread reads in a second, at random and in order, of a table of so many."""
    table = np.ones(words, dtype=np.int64)
    speeds = []
    for kernel in (read_at_random, read_in_order):
        kernel(table, 1)
        begun = time.process_time()
        kernel(table, words)
        speeds.append(words / (time.process_time() - begun))
    return speeds[0], speeds[1]


def reads(profile: Profile) -> tuple[float, float]:
    """The words that a load reads at random (rows of inputs, which are told apart, keys that joins look
    up, rows that they look for in a term whose columns are all bound, and rows that recursions derive)
    and in order (rows that look-ups find)."""
    found = [look_up for plan in profile.plans or () for look_up in plan.look_ups]
    at_random = sum(each.derived or 0 for stratum in profile.strata for each in stratum.rounds)
    operators = [each for stratum in profile.strata for each in stratum.operators]
    at_random += sum(each.rows_out or 0 for each in operators if each.operator == "input")
    at_random += sum(each.rows for each in found)
    at_random += sum(each.given or 0 for each in found if any(TERM.match(test) for test in each.tests))
    return at_random, sum(each.given or 0 for each in found)


def load(program: ddlog.Program, facts: Path) -> tuple[float, Profile]:
    """The processor seconds of the first commit without the reading of files, and what was measured."""
    with program.session() as session:
        session.measure()
        load_places(session.state, session.transaction, str(facts), lambda text: None, False, None)
        begun = time.process_time()
        session._commit(True, lambda: None)
        return time.process_time() - begun, session.profile()


def main() -> None:
    """Prints the figures of each workload."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", metavar="NAME", nargs="*", default=DEFAULT)
    parser.add_argument("--scale", choices=("full", "tiny"), default="full")
    options = parser.parse_args()
    cache = Path(tempfile.gettempdir()) / "ddlog-bench"
    cache.mkdir(exist_ok=True)
    at_random, in_order = words_a_second(TABLE_WORDS[options.scale])
    print(f"words a second: {at_random / 1e6:.0f} million at random, {in_order / 1e6:.0f} million in order")
    for name in options.names:
        if name in PUBLISHED:
            facts, source = facts_of_archive(PUBLISHED[name], cache), name
        else:
            facts, source = (
                facts_of(WORKLOADS[name], Options((), 1, options.scale, cache, False)),
                WORKLOADS[name].program,
            )
        program = ddlog.compile(HERE / "programs" / f"{source}.dl")
        load(program, facts)  # kernels are compiled and loaded
        seconds, profile = load(program, facts)
        places, rows = reads(profile)
        floor = places / at_random + rows / in_order
        print(
            f"{name}: {places / 1e6:.1f} million words at random and {rows / 1e6:.1f} in order, "
            f"{floor:.3f} s; the commit {seconds:.3f} s, {seconds / floor:.1f} times as long"
        )


if __name__ == "__main__":
    main()
