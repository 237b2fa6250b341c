"""Make up programs for points_to.dl: functions of a few variables each, with the four kinds of statement.

    python make_facts.py                          the committed sample, into facts/ beside this script
    python make_facts.py --full --out DIR         a large program

The same parameters give the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Iterator
from pathlib import Path

COLUMNS = {
    "AddressOf": ("line", "target", "variable"),
    "Copy": ("line", "target", "source"),
    "Load": ("line", "target", "pointer"),
    "Store": ("line", "pointer", "source"),
}
KINDS = ("AddressOf", "Copy", "Copy", "Copy", "Load", "Store")


def statements(functions: int, lines: int, seed: int) -> Iterator[tuple[str, int, str, str]]:
    """The statements of a made-up program: (kind, line, left name, right name), in the order of lines."""
    rng = random.Random(seed)
    line = 0
    for function in range(functions):
        pointers = [f"f{function}.p{i}" for i in range(8)]
        objects = [f"f{function}.x{i}" for i in range(5)]
        imported = [f"f{rng.randrange(function)}.p{rng.randrange(8)}"] if function else []
        for _ in range(lines):
            line += 1
            kind = rng.choice(KINDS)
            left = rng.choice(pointers)
            if kind == "AddressOf":
                right = rng.choice(objects + pointers[:2])
            else:
                right = rng.choice(pointers + imported)
            yield kind, line, left, right


def main() -> None:
    """Write a file of facts for each kind of statement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "facts")
    parser.add_argument("--full", action="store_true", help="20,000 functions instead of 12")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    functions = 20_000 if arguments.full else 12
    rows: dict[str, list[tuple[int, str, str]]] = {kind: [] for kind in COLUMNS}
    for kind, line, left, right in statements(functions, 12, arguments.seed):
        rows[kind].append((line, left, right))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for kind, columns in COLUMNS.items():
        with open(arguments.out / f"{kind}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows[kind])


if __name__ == "__main__":
    main()
