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

from .cases import CASES, Case

HERE = Path(__file__).parent
FASTER = 3.0  # than the loop written by hand, at least
EDGE_LIMIT = 0.03
UPDATE_LIMIT = 0.05
FLAT = 1.15  # what is held at the end, against a quarter of the way
LARGE = 100_000_000
SIDES = ("plain", "keyed", "distinct", "ours")
EDGES = 20_000_000
NAMES = (*CASES, "iterations", "update", "network", "epochs", "large", "edges")
NETWORK_LIMIT = 6.0
HELD = ("storage", "heap", "java", "python", "workers")

Figures = dict[str, Any]
Facts = Callable[[Any], Path]


@dataclass(frozen=True)
class Settings:
    """How to run: full size or tiny, runs of each process, whether to compare digests, where inputs are."""

    full: bool
    runs: int
    verify: bool
    cache: Path
    facts: Facts

    @property
    def scale(self) -> str:
        """The name of the scale."""
        return "full" if self.full else "tiny"


def figures_of(script: str, *arguments: str) -> Any:
    """The JSON that a script of this folder prints as its last line."""
    done = run_process([sys.executable, str(HERE / f"{script}.py"), *arguments])
    return json.loads(done.output.splitlines()[-1])


def side_by_side(case: Case, settings: Settings) -> Figures:
    """Cold and warm seconds of both sides, each taken in turns; the medians of the processes."""
    facts = settings.facts(case.workload)
    options = ["--digest"] if settings.verify else []
    sides: dict[str, list[Figures]] = {"handwritten": [], "ours": []}
    for _ in range(settings.runs):
        for side, taken in sides.items():
            taken.append(figures_of("once", side, case.workload.name, str(facts), "3", *options))
            check(case, settings, side, taken[-1])
    row: Figures = {"name": case.workload.name, "rows": sides["ours"][0]["rows"]}
    for side, taken in sides.items():
        row[side] = {
            "start": middle(each["start"] for each in taken),
            "cold": middle(each["seconds"][0] for each in taken),
            "warm": middle(min(each["seconds"][1:]) for each in taken),
            "cold_processor": middle(each["processor"][0] for each in taken),
            "warm_processor": middle(min(each["processor"][1:]) for each in taken),
            "java_mib": max(each["java_mib"] for each in taken),
        }
    row["cold_ratio"] = row["handwritten"]["cold"] / row["ours"]["cold"]
    row["warm_ratio"] = row["handwritten"]["warm"] / row["ours"]["warm"]
    return row


def middle(values: Iterable[float]) -> float:
    """The median; the lower one of two."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2]


def check(case: Case, settings: Settings, side: str, found: Figures) -> None:
    """Raise unless a result has the expected size, and digest if that was taken."""
    expected = case.workload.expected[settings.scale]
    got = found.get("digest", str(found["rows"]))
    if got not in (expected, expected.partition(":")[0]):
        raise Failed(f"{case.workload.name}, {side}: {got}, not {expected}")


def side_table(rows: Sequence[Figures]) -> str:
    """The table of our times and those of the hand-written loop."""
    head = ("workload", "rows", "by hand, cold", "ours", "ratio", "", "by hand, warm", "ours", "ratio", "")
    body = [
        (
            row["name"],
            f"{row['rows']:,}",
            *(
                cell
                for run in ("cold", "warm")
                for cell in (
                    f"{row['handwritten'][run]:.2f}",
                    f"{row['ours'][run]:.2f}",
                    f"{row[f'{run}_ratio']:.1f}x",
                    "ok" if row[f"{run}_ratio"] >= FASTER else f"under {FASTER:.0f}x",
                )
            ),
        )
        for row in rows
    ]
    return table("On local[2], seconds from reading the facts to the size of the result", head, body)


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


def network_table(found: Figures) -> str:
    """The network program, in a process of Java that has just started and again in the same one."""
    body = []
    for start, load, commits in zip(
        ("cold", "warm"), found["load_seconds"], found["commit_seconds"], strict=True
    ):
        total = load + sum(commits)
        body.append((start, f"{load:.2f}", f"{total:.2f}", f"{NETWORK_LIMIT}", verdict(total, NETWORK_LIMIT)))
    return table("The network program", ("", "loading", "with three commits", "required", ""), body)


def rest(each: Figures) -> tuple[str, ...]:
    """Means of iterations and of changed rows, and the seconds to load."""
    return f"{each['iterations']:.1f}", f"{each['changed']:,.1f}", f"{each['load_seconds']:.1f}"


def grown(points: Sequence[Figures], what: str) -> float:
    """The memory held at the end, over the memory held after a quarter of the epochs."""
    early, late = points[len(points) // 4], points[-1]
    return float(late[what] / max(early[what], 1e-9))


def epoch_table(found: Figures) -> str:
    """The table of memory held after each tenth of the epochs."""
    head = (
        "state",
        "epoch",
        "cached parts",
        "storage MiB",
        "heap MiB",
        "Java MiB",
        "Python MiB",
        "workers MiB",
        "s a commit",
        "",
    )
    body = []
    for name in ("reach", "star"):
        points = found[name]
        flat = max(grown(points, "storage_mib"), grown(points, "heap_mib"), grown(points, "python_mib"))
        flat = max(flat, grown(points, "workers_mib"))
        for point in points:
            body.append(
                (
                    name,
                    str(point["epoch"]),
                    str(point["cached"]),
                    *(
                        f"{point[f'{what}_mib']:.1f}"
                        for what in ("storage", "heap", "java", "python", "workers")
                    ),
                    f"{point['commit_seconds']:.3f}",
                    verdict(flat, FLAT) if point is points[-1] else "",
                )
            )
    return table("What the session holds as epochs go by, after garbage collection", head, body)


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

    cases = [name for name in CASES if name in names]
    rows = [attempt(name, lambda name=name: side_by_side(CASES[name], settings)) for name in cases]  # type: ignore[misc]
    if any(rows):
        print(side_table([row for row in rows if row]), flush=True)
    for name in ("iterations", "update"):
        if name in names:
            attempt(name, lambda name=name: figures_of("small", name, settings.scale))  # type: ignore[misc]
    if "iterations" in found or "update" in found:
        print(small_table(found), flush=True)
    if "network" in names and attempt("network", lambda: figures_of("small", "network", settings.scale)):
        print(network_table(found["network"]), flush=True)
    if "epochs" in names and attempt("epochs", lambda: figures_of("small", "epochs", settings.scale)):
        print(epoch_table(found["epochs"]), flush=True)
    if "large" in names and attempt("large", lambda: large(settings)):
        print(large_table(found["large"]), flush=True)
    if "edges" in names and attempt("edges", lambda: edges(settings)):
        print(edges_table(found["edges"]), flush=True)
    return found
