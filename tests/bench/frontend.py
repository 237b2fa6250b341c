"""Programs of a thousand lines and more: from the text to a session that has committed its facts."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generated import generate
from measure import Measured, ddlog_command, median, run_process
from tabular import table, verdict

PHASES = Path(__file__).with_name("phases.py")
SIZES = {"full": (1_000, 5_000, 30_000), "tiny": (100, 200)}
LIMITS = {1_000: (2.0, 2048.0), 30_000: (30.0, 2048.0)}  # seconds, MiB


@dataclass(frozen=True)
class Size:
    """The figures of one program: three whole processes, and the stages in one process."""

    lines: int
    relations: int
    rules: int
    check: Measured
    ready: Measured  # its seconds are those of compile and session, without the start of Python
    run: Measured
    stages: dict[str, float]

    @property
    def limits(self) -> tuple[float, float] | tuple[None, None]:
        """The limits of seconds and MiB, for sizes that have them."""
        return LIMITS.get(self.lines, (None, None))


def frontend(cache: Path, scale: str, runs: int) -> list[Size]:
    """All sizes, each program checked anew; the programs are written to the cache."""
    os.environ["DDLOG_CACHE"] = "off"
    return [_size(lines, cache, runs) for lines in SIZES[scale]]


def _size(lines: int, cache: Path, runs: int) -> Size:
    text = generate(lines)
    path = cache / f"generated_{lines}.dl"
    path.write_text(text, encoding="utf-8")
    python = [sys.executable, str(PHASES)]
    ready = median([_ready(run_process([*python, "whole", str(path)])) for _ in range(runs)])
    every = [json.loads(run_process([*python, "stages", str(path)]).output) for _ in range(runs)]
    return Size(
        lines,
        len(re.findall(r"^(?:input |output )?relation ", text, re.MULTILINE)),
        text.count(":-"),
        _process(["check", str(path)], runs),
        ready,
        _process(["run", str(path), "--sizes"], runs),
        min(every, key=lambda stages: sum(stages.values())),
    )


def _process(arguments: Sequence[str], runs: int) -> Measured:
    return median([run_process([*ddlog_command(), *arguments]) for _ in range(runs)])


def _ready(process: Measured) -> Measured:
    """The process, and the seconds until its session was ready for the first commit."""
    taken = json.loads(process.output)
    return Measured(taken["compile"] + taken["session"], process.processors, process.mib, process.output)


def frontend_tables(sizes: Sequence[Size]) -> str:
    """Seconds and memory by size, and where the seconds go."""
    head = ("lines", "relations", "rules", "check s", "MiB", "to session s", "MiB", "run s", "MiB",
            "required s", "MiB", "")  # fmt: skip
    body = [
        (
            f"{size.lines:,}",
            f"{size.relations:,}",
            f"{size.rules:,}",
            *(text for one in (size.check, size.ready, size.run) for text in _shown(one)),
            *(f"{limit:,.0f}" if limit else "" for limit in size.limits),
            _verdict(size),
        )
        for size in sizes
    ]
    return table("Large programs, text to sizes", head, body) + "\n" + _stage_table(sizes)


def _shown(measured: Measured) -> tuple[str, str]:
    return f"{measured.seconds:.2f}", f"{measured.mib:.0f}"


def _verdict(size: Size) -> str:
    seconds, mib = size.limits
    measured = (size.check, size.ready)
    if mib is not None and max(one.mib for one in measured) > mib:
        return "memory"
    return verdict(max(one.seconds for one in measured), seconds)


def _stage_table(sizes: Sequence[Size]) -> str:
    """Seconds by stage, and the cost of a line in the largest program over that in the program before it."""
    *_, before, last = sizes
    growth = before.lines / last.lines
    body = [
        (
            stage,
            *(f"{size.stages[stage]:.3f}" for size in sizes),
            f"{last.stages[stage] / before.stages[stage] * growth:.2f}x",
        )
        for stage in last.stages
    ]
    total = [sum(size.stages.values()) for size in sizes]
    body.append(("all", *(f"{each:.3f}" for each in total), f"{total[-1] / total[-2] * growth:.2f}x"))
    return table("Where the seconds go", ("stage", *(f"{s.lines:,}" for s in sizes), "by line"), body)
