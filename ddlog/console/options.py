"""The options of `ddlog run`, and two tables of the combinations that have no meaning."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors.options import STATE_NEEDS, Exclusion, Need, check_combinations
from ..io.filenames import is_separated
from ..sessions.engines import EngineOptions
from .deltas import Delta

if TYPE_CHECKING:
    from argparse import Namespace

T = TypeVar("T")

PRINTED = ("table", "markdown", "csv", "tsv", "json", "jsonl")
"""The forms of rows that can be printed."""
REPORTED = ("json", "sarif", "github")
"""The forms of errors and warnings for other tools."""


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """The options of a command that opens a session. `state` is the file of a durable state. `durability` is
    None if the user gave none."""

    input: tuple[str, ...] = ()
    max_iterations: int | None = None
    quiet: bool = False
    engine: EngineOptions = field(default_factory=EngineOptions)
    state: str | None = None
    durability: str | None = None
    read_only: bool = False
    replace: bool = False
    merge: bool = False
    migrate: bool = False
    fill: tuple[str, ...] = ()
    checkpoint: str | None = None
    """A directory with a state, and with what Spark knows of followed files."""


def options_of(kind: type[T], arguments: Namespace, **others: Any) -> T:
    """The options of a command, a dataclass: each is the argument of its name, or one of the others."""
    names = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    given = {name: value for name, value in vars(arguments).items() if name in names}
    made = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return kind(**made | others)


@dataclass(frozen=True, slots=True)
class RunOptions(LaunchOptions):
    """The options of `ddlog run`."""

    output: str | None = None
    format: str | None = None
    whole: bool = False
    updates: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    sizes: bool = False
    explain: bool = False
    follow: str | None = None
    once: bool = False
    every: str | None = None
    init_snapshot: bool = True
    delta: Delta = "all"
    store: bool = True
    queries: tuple[str, ...] = ()
    profile: str | None = None
    on_error: str = "stop"


def is_elsewhere(output: str) -> bool:
    """Whether an output is a table or a URL, which only Spark writes."""
    return output.startswith("table:") or ("://" in output and not output.startswith("file:"))


GIVEN: dict[str, Callable[[RunOptions], bool]] = {
    "--durability": lambda run: run.durability is not None,
    "--durability interval or exit": lambda run: run.durability in ("interval", "exit"),
    "--input": lambda run: bool(run.input),
    "--merge": lambda run: run.merge,
    "--fill": lambda run: bool(run.fill),
    "--migrate": lambda run: run.migrate,
    "--read-only": lambda run: run.read_only,
    "--replace": lambda run: run.replace,
    "--merge with --state": lambda run: run.merge and run.state is not None,
    "--replace with --state": lambda run: run.replace and run.state is not None,
    "--state with --output": lambda run: run.state is not None and run.output is not None,
    "--state": lambda run: run.state is not None,
    "--checkpoint": lambda run: bool(run.checkpoint),
    "--explain": lambda run: run.explain,
    "--profile": lambda run: run.profile is not None,
    "--every": lambda run: bool(run.every),
    "--follow": lambda run: run.follow is not None,
    "--follow with --output": lambda run: run.follow is not None and run.output is not None,
    "--format": lambda run: run.format is not None,
    "--format csv or tsv": lambda run: run.format in ("csv", "tsv"),
    "--format parquet": lambda run: run.format == "parquet",
    "--format arrow": lambda run: run.format == "arrow",
    "--format parquet or arrow": lambda run: run.format in ("parquet", "arrow"),
    "--format table or markdown": lambda run: run.format in ("table", "markdown"),
    "--no-limit": lambda run: run.whole,
    "--delta asked": lambda run: run.delta == "asked",
    "--no-delta": lambda run: run.delta == "none",
    "--no-init-snapshot": lambda run: not run.init_snapshot,
    "--no-store": lambda run: not run.store,
    "--once": lambda run: run.once,
    "--output": lambda run: run.output is not None,
    "--output file:…": lambda run: re.match("file:/", run.output or "") is not None,
    "--output table:…": lambda run: (run.output or "").startswith("table:"),
    "--output URL": lambda run: re.match(r"(?!file:|table:)[A-Za-z][\w+.-]+:/", run.output or "") is not None,
    "--sizes": lambda run: run.sizes,
    "--sizes with --format": lambda run: run.sizes and run.format is not None,
    "--updates": lambda run: bool(run.updates),
    "--updates REL.csv or REL.tsv": lambda run: any(map(is_separated, run.updates)),
}  # fmt: skip
"""Whether an option of the tables below is given."""

NEEDS = (
    Need("--checkpoint", ("--follow",), "a checkpoint records which followed files were applied"),
    Need("--once", ("--follow",), "a run without followed files always ends"),
    Need("--every", ("--follow",), "only followed files are applied in batches"),
    *(need.on_command_line() for need in STATE_NEEDS),
    Need("--replace", ("--state",), "without a state there is nothing to replace"),
    Need("--fill", ("--migrate",), "only columns that are new to a state are filled"),
    Need("--merge", ("--state",), "without a state there is nothing to add to"),
    Need("--replace with --state", ("--input",), "without facts nothing takes the place of what is there"),
    Need("--merge with --state", ("--input",), "without facts there is nothing to add"),
    Need("--no-init-snapshot", ("--updates",), "without updates the snapshot is the whole output"),
    Need("--no-delta", ("--updates",), "without updates there are no commits"),
    Need("--delta asked", ("--updates",), "only the commits of updates can ask for changes"),
    Need("--no-store", ("--updates",), "only a command file has `dump` commands"),
    Need("--format parquet", ("--output",), "Parquet is not a text"),
    Need("--format arrow", ("--output",), "Arrow is not a text"),
    Need("--sizes with --format", ("--output", "--updates"), "sizes have no format"),
)

EXCLUSIONS = (
    Exclusion("--read-only", "--migrate", "a state that is only read takes no changes"),
    Exclusion("--replace", "--merge", "facts replace what is there, or add to it"),
    Exclusion("--read-only", "--updates", "a state that is only read takes no changes"),
    Exclusion("--read-only", "--input", "a state that is only read takes no changes"),
    Exclusion("--read-only", "--durability", "a state that is only read takes no changes"),
    Exclusion("--state with --output", "--delta asked", "a reader of the folder sees each epoch once"),
    Exclusion("--state", "--checkpoint", "a checkpoint is a state"),
    Exclusion("--read-only", "--follow", "a state that is only read takes no changes"),
    Exclusion("--follow", "--durability interval or exit", "batches that are applied could be lost"),
    Exclusion("--follow", "--updates", "a run takes its changes from one place"),
    Exclusion("--follow", "--sizes", "a run that follows prints changes only"),
    Exclusion("--follow", "--output table:…", "changes are written to a local directory"),
    Exclusion("--follow", "--output URL", "changes are written to a local directory"),
    Exclusion("--follow", "--output file:…", "changes are written to a local directory, given as a path"),
    Exclusion("--follow", "--format parquet or arrow", "changes are written as text"),
    Exclusion("--follow with --output", "--format csv or tsv", "changes are written as JSON lines"),
    Exclusion("--output", "--format table or markdown", "tables are to be printed"),
    Exclusion("--output", "--no-limit", "files have all rows"),
    Exclusion("--updates", "--output table:…", "changes are written to a local directory"),
    Exclusion("--updates", "--output URL", "changes are written to a local directory"),
    Exclusion("--delta asked", "--updates REL.csv or REL.tsv", "a `commit` of rows cannot ask for changes"),
    Exclusion("--explain", "--updates", "a run with updates is not one query for each relation"),
    Exclusion("--explain", "--follow", "a run with updates is not one query for each relation"),
    Exclusion("--explain", "--state", "a run with a state is not one query for each relation"),
    Exclusion("--explain", "--profile", "a run with a profile is not one query for each relation"),
    Exclusion("--explain", "--output", "the plans are printed, and nothing is computed"),
    Exclusion("--explain", "--format", "the plans are printed, and nothing is computed"),
    Exclusion("--explain", "--sizes", "the plans are printed, and nothing is computed"),
    Exclusion("--sizes", "--no-init-snapshot", "the sizes are those of the snapshot"),
    Exclusion("--output table:…", "--format", "the catalog chooses the format of a table"),
)


def check_launch(options: LaunchOptions) -> None:
    """Raises DDlogError as `check_options` does for a run with these options."""
    check_options(RunOptions(**{each.name: getattr(options, each.name) for each in fields(LaunchOptions)}))


def check_options(options: RunOptions) -> None:
    """Raises DDlogError with all rows of the two tables that the options break."""
    check_combinations(options, GIVEN, NEEDS, EXCLUSIONS)
