"""Times `ddlog fmt` on programs of the project that are repeated up to 30,000 lines.

python -m tests.bench.formatting [lines]
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

from ddlog.errors.source import Source
from ddlog.formatting.program import formatted

HOME = Path(__file__).parents[2]


def main() -> None:
    """Prints the lines, and the processor time in seconds, of a formatted text and of one that is not."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
    files = sorted([*(HOME / "programs").rglob("*.dl"), *(HOME / "stdlib").rglob("*.dl")])
    once = "\n".join(file.read_text() for file in files)
    neat = "\n".join([once] * (wanted // once.count("\n") + 1))
    gc.set_threshold(200_000, 20, 50)  # as the command line has it
    for name, text in (
        ("formatted", neat),
        ("not formatted", neat.replace(", ", " ,").replace("    ", "\t")),
    ):
        start = time.process_time()
        formatted(Source(name, text))
        print(f"{name}: {text.count(chr(10)):,} lines, {time.process_time() - start:.2f} s")


if __name__ == "__main__":
    main()
