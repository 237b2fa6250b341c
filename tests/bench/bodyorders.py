"""Galen with the terms of every body written in another order: no order is to cost much more than another.

    DDLOG_BENCH_DATA=FOLDER python tests/bench/bodyorders.py             as written, and 31 other orders
    DDLOG_BENCH_DATA=FOLDER python tests/bench/bodyorders.py 8 --beside 2

Each order is a whole process, `ddlog run PROGRAM --input FACTS --sizes`, as in `run.py`. Prints its processor
time and memory, and at the end the ratio of the slowest to the fastest. Orders that run beside each other
share the machine's moods.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure import Failed, Measured, ddlog_command, run_process
from published import PUBLISHED, facts_of_archive

PROGRAM = Path(__file__).parent / "programs" / "galen.dl"
SEED = 31


def orders(text: str) -> Iterator[str]:
    """The program as it is written, and then, without end, with the terms of each body in a random order, no
    two programs alike."""
    chance, seen = random.Random(SEED), {text}
    yield text
    while True:
        lines = [shuffled(line, chance) for line in text.splitlines(keepends=True)]
        made = "".join(lines)
        if made not in seen:
            seen.add(made)
            yield made


def shuffled(line: str, chance: random.Random) -> str:
    """A line, of which a rule's terms are in a random order."""
    head, arrow, body = line.rstrip(".\n").partition(" :- ")
    terms = re.findall(r"\w+\([^)]*\)", body)
    chance.shuffle(terms)
    return f"{head}{arrow}{', '.join(terms)}.\n" if arrow else line


def main() -> None:
    """Prints the figures of each order. Raises Failed where one gives other sizes than the written one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=31, help="orders beside the written one")
    parser.add_argument("--beside", type=int, default=1, help="processes that run at the same time")
    parser.add_argument("--facts", type=Path, help="a folder with the facts of another ontology")
    options = parser.parse_args()
    cache = Path(tempfile.gettempdir()) / "ddlog-bench"
    cache.mkdir(exist_ok=True)
    facts = options.facts or facts_of_archive(PUBLISHED["galen"], cache)

    def run(number: int, text: str) -> Measured:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "galen.dl"
            program.write_text(text)
            found = run_process([*ddlog_command(), "run", str(program), "--input", str(facts), "--sizes"])
        print(f"order {number}: {found.processors:.2f} s of processors, {found.mib:.0f} MiB", flush=True)
        return found

    texts = list(itertools.islice(orders(PROGRAM.read_text()), options.count + 1))
    with ThreadPoolExecutor(options.beside) as pool:
        found = list(pool.map(run, range(len(texts)), texts))
    for each, text in zip(found, texts, strict=True):
        if each.output != found[0].output:
            raise Failed(f"{found[0].output} as written, and {each.output} by\n{text}")
    spent = [each.processors for each in found]
    print(f"slowest to fastest: {max(spent) / min(spent):.2f}, as written {spent[0]:.2f} s")


if __name__ == "__main__":
    main()
