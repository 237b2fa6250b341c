"""The Spark benchmarks: each measurement in a process of its own, and the tables of their figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Failed, run_process
from tabular import table, verdict

HERE = Path(__file__).parent
EDGE_LIMIT = 0.03
UPDATE_LIMIT = 0.05
LARGE = 100_000_000
SIDES = ("plain", "keyed", "distinct", "ours")
EDGES = 20_000_000
NAMES = ("iterations", "update", "large", "edges")

Figures = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """How to run: full size or tiny, and where inputs are kept."""

    full: bool
    cache: Path

    @property
    def scale(self) -> str:
        """The name of the scale."""
        return "full" if self.full else "tiny"


def figures_of(script: str, *arguments: str) -> Any:
    """The JSON that a script of this folder prints as its last line."""
    done = run_process([sys.executable, str(HERE / f"{script}.py"), *arguments])
    return json.loads(done.output.splitlines()[-1])


def middle(values: Iterable[float]) -> float:
    """The median; the lower one of two."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2]


def small_table(found: Figures) -> str:
    """Small changes to large states."""
    head = (
        "change",
        "state in",
        "rows in it",
        "seconds",
        "required",
        "",
        "iterations",
        "rows changed",
        "loading",
    )
    kinds = (
        ("iterations", "one edge of a closure", EDGE_LIMIT),
        ("update", "ten rows under join and group", UPDATE_LIMIT),
    )
    body = []
    for name, what, limit in kinds:
        for place, each in (found.get(name) or {}).items():
            seconds = each["commit_seconds"]
            told = (f"{seconds:.3f}", f"{limit}", verdict(seconds, limit), *rest(each))
            body.append((what, place, f"{each['rows']:,}", *told))
    return table("Small changes", head, body)


def rest(each: Figures) -> tuple[str, ...]:
    """Means of iterations and of changed rows, and the seconds to load."""
    return f"{each['iterations']:.1f}", f"{each['changed']:,.1f}", f"{each['load_seconds']:.1f}"


def large(settings: Settings) -> Figures:
    """A group-by and join of many rows in Parquet, with 4 GB of driver memory: the program with primary keys
    and without, each after the query that a Spark user writes for such data."""
    rows = LARGE if settings.full else 10_000
    folder = settings.cache / f"star_{rows}"
    sides = {side: figures_of("large", side, str(folder), str(rows)) for side in SIDES}
    for side, found in sides.items():
        if found["rows"] != rows or found["total"] != sides["plain"]["total"]:
            raise Failed(f"large, {side}: {found}, not {rows} rows and a sum of {sides['plain']['total']}")
    return {"rows": rows, **sides}


def large_table(found: Figures) -> str:
    """The table of the large input: our time and that of the plain query."""
    body = [
        (side, f"{found['rows']:,}", f"{found[side]['seconds']:.1f}", f"{found[side]['java_mib']:.0f}")
        for side in SIDES
    ]
    return table(
        "Parquet joined and grouped, 4 GB of driver memory", ("", "rows", "seconds", "MiB of Java"), body
    )


def edges(settings: Settings) -> Figures:
    """Recursions over edges in Parquet, by hand and in workers, where single edges go and come back."""
    count, found = EDGES if settings.full else 2_000, Figures()
    for case in ("components", "reach"):
        told = case, str(settings.cache / "edges"), str(count)
        hand, ours = (figures_of("edges", side, *told) for side in ("handwritten", "ours"))
        if hand["rows"] != ours["rows"]:
            raise Failed(f"edges, {case}: {ours['rows']} rows, by hand {hand['rows']}")
        by_hand = {f"{name}_by_hand": hand[name] for name in ("seconds", "processor")}
        found[case] = {**ours, "edges_loaded": count, **by_hand}
    return found


def edges_table(found: Figures) -> str:
    """The table of recursions over edges in Parquet."""
    head = (
        "program", "edges", "rows", "by hand", "in workers", "ratio",
        "by hand, of processors", "in workers", "ratio",
        "the first edge", "an edge, median", "longest", "of processors",
    )  # fmt: skip
    body = [
        (
            case,
            *(f"{each[name]:,}" for name in ("edges_loaded", "rows")),
            *(
                cell
                for name in ("seconds", "processor")
                for cell in (
                    f"{each[f'{name}_by_hand']:.1f}",
                    f"{each[name]:.1f}",
                    f"{each[f'{name}_by_hand'] / each[name]:.1f}x",
                )
            ),
            f"{each['first_edge']:.1f}",
            f"{middle(each['edges']):.3f}",
            f"{max(each['edges']):.3f}",
            f"{each['edge_processor']:.3f}",
        )
        for case, each in found.items()
    ]
    return table("Recursions over edges in Parquet, seconds", head, body)


def run_spark(names: Sequence[str], settings: Settings, failures: list[str]) -> Figures:
    """Run the named benchmarks, printing each table as soon as it is complete."""
    found: Figures = {}

    def attempt(name: str, work: Callable[[], Any]) -> Any:
        try:
            found[name] = work()
        except Failed as failure:
            failures.append(str(failure))
            print(failure, file=sys.stderr, flush=True)
            return None
        print(f"  {name}", file=sys.stderr, flush=True)
        return found[name]

    for name in ("iterations", "update"):
        if name in names:
            attempt(name, lambda name=name: figures_of("small", name, settings.scale))  # type: ignore[misc]
    if "iterations" in found or "update" in found:
        print(small_table(found), flush=True)
    if "large" in names and attempt("large", lambda: large(settings)):
        print(large_table(found["large"]), flush=True)
    if "edges" in names and attempt("edges", lambda: edges(settings)):
        print(edges_table(found["edges"]), flush=True)
    return found
