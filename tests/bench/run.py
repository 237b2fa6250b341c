"""The benchmarks, all by one command.

    python tests/bench/run.py                        everything, as tables
    python tests/bench/run.py tc_chain reach         some workloads; also: startup, frontend,
                                                     updates, incremental, deletions, curves
    python tests/bench/run.py --runs 5 --json FILE   more runs; the figures as JSON as well
    python tests/bench/run.py --verify               outputs are read back and compared by digest
    python tests/bench/run.py --scale tiny           the same with small inputs: does it all work?
    DDLOG_BENCH_DATA=FOLDER python tests/bench/run.py galen crdt
                                                     those over published facts, which FOLDER has
    python tests/bench/run.py spark                  those on Spark, which are not part of everything
    python tests/bench/run.py spark large update     some of them

A workload is timed as a whole process, `ddlog run PROGRAM --input FACTS --sizes`, from the start of Python to
the printed sizes; inputs are made once and kept in --cache. Soufflé's figures were taken on a machine of the
same kind from the same files, its compile time not counted.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from deletions import deletions
from frontend import Size, frontend, frontend_tables
from incremental import Curve, Latency, closure, curves, reachability, recursive_groups
from measure import Failed, Measured, ddlog_command, median, run_process, yardstick
from published import PUBLISHED, Missing, Published, facts_of_archive
from skewed import SKEWED
from tabular import table, verdict
from updates import Applied, updates_from_files
from workloads import WORKLOADS as CLASSIC
from workloads import Workload, digest, write

HERE = Path(__file__).parent
WORKLOADS = CLASSIC | SKEWED
EXTRAS = ("startup", "frontend", "updates", "incremental", "deletions", "curves")
STARTUP_LIMIT, FIRST_STARTUP_LIMIT = 0.28, 0.38


@dataclass
class Report:
    """All figures of one run of this script."""

    yardstick_seconds: float
    batch: list[dict[str, Any]] = field(default_factory=list)
    frontend: list[Size] = field(default_factory=list)
    updates: list[Applied] = field(default_factory=list)
    incremental: list[Latency] = field(default_factory=list)
    deletions: list[Latency] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    spark: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Options:
    """The choice of benchmarks, and how to run them."""

    names: tuple[str, ...]  # after "spark", of benchmarks on Spark
    runs: int
    scale: str
    cache: Path
    verify: bool


def facts_of(workload: Workload, options: Options) -> Path:
    """The folder with a workload's inputs, made if it is not there yet."""
    folder = options.cache / f"{workload.name}_{options.scale}"
    done = folder.with_suffix(".done")
    if not done.exists():
        write(workload.inputs(options.scale), folder)
        done.touch()
    return folder


def command(workload: Workload, facts: Path) -> list[str]:
    """The process to time."""
    program = HERE / "programs" / f"{workload.program}.dl"
    query = [] if workload.query is None else ["--query", workload.query[facts.name.rpartition("_")[2]]]
    return [*ddlog_command(), "run", str(program), "--input", str(facts), *query]


def check_size(workload: Workload, options: Options, measured: Measured) -> None:
    """Raise unless the printed size is the expected one."""
    expected = workload.expected[options.scale].partition(":")[0]
    printed = dict(line.split("\t") for line in measured.output.splitlines())
    if printed.get(workload.output) != expected:
        raise Failed(f"{workload.name}: {workload.output} has {measured.output!r}, not {expected} rows")


def check_digest(workload: Workload, options: Options, facts: Path) -> None:
    """Raise unless the written output has the expected digest."""
    with tempfile.TemporaryDirectory() as folder:
        run_process([*command(workload, facts), "--output", folder, "--format", "tsv"])
        (path,) = Path(folder).glob(f"{workload.output}.*")
        numbers = re.sub(r"[^\d\t\n-]", "", path.read_text(encoding="utf-8"))
        table = np.loadtxt(numbers.splitlines(), dtype=np.int64, delimiter="\t", ndmin=2)
    if digest(table) != workload.expected[options.scale]:
        raise Failed(f"{workload.name}: {digest(table)}, not {workload.expected[options.scale]}")


def batch_row(workload: Workload, options: Options) -> dict[str, Any]:
    """Time one workload."""
    facts = facts_of(workload, options)
    measured = median([run_process([*command(workload, facts), "--sizes"]) for _ in range(options.runs)])
    check_size(workload, options, measured)
    if options.verify:
        check_digest(workload, options, facts)
    row = {
        "name": workload.name,
        "seconds": measured.seconds,
        "processors": measured.processors,
        "limit": workload.limit,
        "mib": measured.mib,
        "limit_mib": workload.limit_mib,
        "rows": int(workload.expected[options.scale].partition(":")[0]),
        "souffle": workload.souffle,
    }
    if workload.program == "tc" and importlib.util.find_spec("duckdb"):
        duck = [sys.executable, str(HERE / "duck.py"), str(facts)]
        row["duckdb"] = median([run_process(duck) for _ in range(options.runs)]).seconds
    return row


def published_row(published: Published, options: Options) -> dict[str, Any]:
    """Time a program over published facts, and check the sizes. Raises Missing."""
    facts = facts_of_archive(published, options.cache)
    process = [
        *ddlog_command(),
        "run",
        str(HERE / "programs" / f"{published.name}.dl"),
        "--input",
        str(facts),
    ]
    measured = median([run_process([*process, "--sizes"]) for _ in range(options.runs)])
    sizes = dict(line.split("\t") for line in measured.output.splitlines())
    for relation, size in published.sizes.items():
        if sizes.get(relation) != str(size):
            raise Failed(f"{published.name}: {relation} has {sizes.get(relation)}, not {size} rows")
    return {
        "name": published.name,
        "seconds": measured.seconds,
        "processors": measured.processors,
        "limit": published.limit,
        "mib": measured.mib,
        "limit_mib": published.limit_mib,
        "rows": sum(published.sizes.values()),
    }


def startup_rows(options: Options) -> list[dict[str, Any]]:
    """Time a tiny program, whose cost is the start of the interpreter: one that ran before, and one that is
    checked for the first time. Python may keep its bytecode, as it does for an installed package."""
    tiny = Options((), options.runs, "tiny", options.cache, False)
    workload = WORKLOADS["tc_chain"]
    line = [*command(workload, facts_of(workload, tiny)), "--sizes"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run_process(line, kept)
    rows = []
    for name, limit, environment in (
        ("startup", STARTUP_LIMIT, kept),
        ("startup_first", FIRST_STARTUP_LIMIT, kept | {"DDLOG_CACHE": "off"}),
    ):
        measured = median([run_process(line, environment) for _ in range(max(options.runs, 5))])
        rows.append(
            {
                "name": name,
                "seconds": measured.seconds,
                "processors": measured.processors,
                "limit": limit,
                "mib": measured.mib,
                "rows": 1770,
            }
        )
    return rows


def batch_table(batch: Sequence[dict[str, Any]]) -> str:
    """The table of whole processes, with the requirements and the times of other systems."""
    head = (
        "workload",
        "rows",
        "seconds",
        "required",
        "",
        "processors, s",
        "MiB",
        "Soufflé interp.",
        "compiled -j1",
        "-j2",
        "DuckDB",
    )
    body = []
    for row in batch:
        souffle = [f"{seconds:.2f}" for seconds in row.get("souffle") or ()] or ["", "", ""]
        within = verdict(row["seconds"], row["limit"])
        if row.get("limit_mib") and row["mib"] > row["limit_mib"]:
            within = "memory"
        duck = f"{row['duckdb']:.2f}" if "duckdb" in row else ""
        body.append(
            (
                row["name"],
                f"{row['rows']:,}",
                f"{row['seconds']:.2f}",
                f"{row['limit']:.1f}",
                within,
                f"{row['processors']:.2f}",
                f"{row['mib']:.0f}",
                *souffle,
                duck,
            )
        )
    return table("Whole process, facts to sizes", head, body)


def updates_table(found: Sequence[Applied]) -> str:
    """Update files, whole processes."""
    head = ("update file", "seconds", "required", "", "MiB", "microseconds a row")
    body = [
        (
            each.name,
            f"{each.seconds:.2f}",
            f"{each.limit:.1f}",
            verdict(each.seconds, each.limit),
            f"{each.mib:.0f}",
            f"{each.seconds / each.rows * 1e6:.1f}",
        )
        for each in found
    ]
    return table("Update files over a join and a count of text, whole process", head, body)


def incremental_table(
    latencies: Sequence[Latency], title: str = "Incremental, commits on a loaded state"
) -> str:
    """Commits of small changes."""
    head = ("update", "median ms", "p90 ms", "required", "", "rows changed", "commits")
    body = [
        (
            each.name,
            f"{each.median_ms:.2f}",
            f"{each.p90_ms:.2f}",
            f"{each.limit_ms:.0f}" if each.limit_ms else "",
            verdict(each.median_ms, each.limit_ms),
            f"{each.changed:,.1f}",
            str(each.commits),
        )
        for each in latencies
    ]
    return table(title, head, body)


def curve_table(found: Sequence[Curve]) -> str:
    """One-row updates as the database grows."""
    sizes = [f"{size:,}" for size, _ in found[0].points]
    body = [
        (
            curve.name,
            *(f"{ms:.3f}" for _, ms in curve.points),
            f"{curve.growth:.2f}x",
            verdict(curve.growth, 2.0),
        )
        for curve in found
    ]
    return table("One-row update, median ms by rows in the database", ("query", *sizes, "growth", ""), body)


def run(options: Options) -> Report:
    """Run the chosen benchmarks, and print each table as soon as it is complete."""
    report = Report(yardstick())
    print(f"yardstick: NumPy sorts 10M int64 in {report.yardstick_seconds:.3f} s\n", flush=True)
    if options.names[0] == "spark":
        report.spark = on_spark(options, report.failures)
        return report
    if "startup" in options.names:
        report.batch.extend(startup_rows(options))
    for name in options.names:
        if name in WORKLOADS or name in PUBLISHED:
            try:
                if name in WORKLOADS:
                    report.batch.append(batch_row(WORKLOADS[name], options))
                else:
                    report.batch.append(published_row(PUBLISHED[name], options))
            except Missing as missing:
                print(missing, file=sys.stderr, flush=True)
                continue
            except Failed as failure:
                report.failures.append(str(failure))
                print(failure, file=sys.stderr, flush=True)
                continue
            print(f"  {name}: {report.batch[-1]['seconds']:.2f} s", file=sys.stderr, flush=True)
    if report.batch:
        print(batch_table(report.batch), flush=True)
    if "frontend" in options.names:
        report.frontend = frontend(options.cache, options.scale, options.runs)
        print(frontend_tables(report.frontend), flush=True)
    if "updates" in options.names:
        try:
            report.updates = list(updates_from_files(options.cache, options.scale, options.runs))
            print(updates_table(report.updates), flush=True)
        except Failed as failure:
            report.failures.append(str(failure))
            print(failure, file=sys.stderr, flush=True)
    if "incremental" in options.names:
        parts: tuple[Callable[[Path, str], Iterable[Latency]], ...] = (
            closure,
            reachability,
            recursive_groups,
        )
        report.incremental = [each for part in parts for each in part(options.cache, options.scale)]
        print(incremental_table(report.incremental), flush=True)
    if "deletions" in options.names:
        report.deletions = list(deletions(options.cache, options.scale))
        print(incremental_table(report.deletions, "Deletions, commits on a loaded state"), flush=True)
    if "curves" in options.names:
        report.curves = list(curves(options.cache, options.scale))
        print(curve_table(report.curves), flush=True)
    return report


def on_spark(options: Options, failures: list[str]) -> dict[str, Any]:
    """Run the benchmarks on Spark that are named after "spark", or all."""
    from spark.report import NAMES, Settings, run_spark

    settings = Settings(options.scale == "full", options.cache)
    return run_spark(options.names[1:] or NAMES, settings, failures)


def allowed(names: Sequence[str]) -> tuple[str, ...]:
    """The names that the command line accepts; after `spark`, those of the benchmarks on Spark."""
    if names[:1] == ["spark"]:
        from spark.report import NAMES

        return ("spark", *NAMES)
    return (*WORKLOADS, *PUBLISHED, *EXTRAS)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line of this script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    everything = (*WORKLOADS, *PUBLISHED, *EXTRAS)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"what to run: {', '.join(everything)}; default all; or spark",
    )
    parser.add_argument("--runs", type=int, default=3, help="runs of each process; the median counts")
    parser.add_argument("--scale", choices=("full", "tiny"), default="full")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "ddlog-bench")
    parser.add_argument("--verify", action="store_true", help="compare outputs by digest as well")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args(argv)
    choices = allowed(arguments.names)
    for name in arguments.names:
        if name not in choices:
            parser.error(f"there is no benchmark {name}: {', '.join(choices)}")
    tiny = arguments.scale == "tiny"  # published facts have one size
    names = tuple(arguments.names) or tuple(n for n in everything if not (tiny and n in PUBLISHED))
    arguments.cache.mkdir(parents=True, exist_ok=True)
    options = Options(names, arguments.runs, arguments.scale, arguments.cache, arguments.verify)
    report = run(options)
    if arguments.json:
        arguments.json.write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
