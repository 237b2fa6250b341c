"""The choice of an engine: in-process or Spark, and the line that says which and why.

`choose` decides for the command line, by options, the environment and the size of the inputs; `engine_named`
for `Program.session`, by its arguments. Nothing here imports Spark: the choice of the in-process engine costs
nothing.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..engine.machine import UNLIMITED, machine_memory
from ..engine.maintenance import Mode
from ..engine.memory import resident
from ..errors.diagnostics import DDlogError
from ..errors.memory import NoMemoryMeasure
from ..errors.options import BadOptionValue, CannotBeCombined, NoSuchEngine, WorkersAreSettled
from .sizes import parse_size, size_text

SHARE = 4
"""The in-process limit is this fraction of the machine's memory, unless an option says otherwise."""

_SPARK_LIMITS = "its settings spark.driver.memory and spark.executor.memory limit it"

ENGINES = ("auto", "in-process", "spark")
_MASTER = re.compile(r"local(\[.*\])?\Z|spark://|yarn\Z|k8s://|mesos://")


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The options of a command that are about engines. `conf` holds settings of Spark, `limit` is the
    in-process limit in bytes, `workers` the number of threads that share the work, `memory_limit` the bytes
    at which the in-process engine gives a commit up, `maintain` whether recursions are maintained, `spill`
    the folder of the disk to which state goes before that."""

    engine: str = "auto"
    master: str | None = None
    remote: str | None = None
    conf: tuple[tuple[str, str], ...] = ()
    limit: int | None = None
    workers: int | None = None
    memory_limit: int | None = None
    maintain: Mode = "auto"
    spill: str | None = None

    @property
    def names_spark(self) -> bool:
        """Whether an option is about Spark only."""
        return bool(self.master or self.remote or self.conf)


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine, the reason for it, and the place of Spark if an option or the environment names one."""

    spark: bool
    reason: str
    master: str | None = None
    remote: str | None = None

    @property
    def text(self) -> str:
        """The line that names the engine and the reason."""
        return f"engine: {'spark' if self.spark else 'in-process'} ({self.reason})"


def choose(
    options: EngineOptions,
    size: Callable[[], int | None],
    spark_only: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    active: bool | None = None,
) -> EngineChoice:
    """The engine for a command. `size` estimates the input in bytes (None: there is no input), and is called
    only if it decides; `spark_only` is an input that only Spark reads. `active` says whether a Spark session
    is active. `environ` and `active` describe this process if not given. Raises DDlogError for options that
    cannot be combined.
    """
    environ = os.environ if environ is None else environ
    _check(options)
    running = session_is_active() if active is None else active
    choice = _chosen(options, size, spark_only, environ, running)
    return choice if options.workers is None else _with_workers(choice, options.workers, running)


def engine_named(engine: str, spark: object | None, options: object | None) -> EngineChoice:
    """The engine that the arguments of `Program.session` name: `engine`, and a Spark session or options for
    it. Raises DDlogError for an unknown engine and for arguments that cannot be combined."""
    if engine not in (*ENGINES, "inprocess"):
        raise DDlogError([NoSuchEngine(engine)])
    if engine == "spark" or (engine == "auto" and spark is not None):
        return EngineChoice(True, "asked for")
    if spark is not None or options is not None:
        raise DDlogError([CannotBeCombined(f'engine="{engine}"', "a Spark session")])
    return EngineChoice(False, "asked for")


def memory_limit_of(given: int | str | None, choice: EngineChoice) -> int | None:
    """The bytes of a memory limit, as an argument gives it; None for the default. Raises DDlogError for a
    value that is no size, and where there is nothing that it could limit."""
    if given is None or given in ("none", UNLIMITED):
        return None if given is None else UNLIMITED
    try:
        limit = parse_size(given) if isinstance(given, str) else given
    except ValueError:
        limit = 0
    if isinstance(limit, bool) or not isinstance(limit, int) or limit <= 0:
        raise DDlogError(
            [BadOptionValue("memory_limit", repr(given), 'a size such as "4GiB", bytes, or "none"')]
        )
    if choice.spark:
        raise DDlogError([CannotBeCombined("a memory limit", "Spark", _SPARK_LIMITS)])
    if resident() is None:
        raise DDlogError([NoMemoryMeasure()])
    return limit


def path_of(state: object) -> str:
    """The place of a state, as an argument gives it. Raises DDlogError for what is no path."""
    place = os.fspath(state) if isinstance(state, str | os.PathLike) else None
    if not isinstance(place, str) or not place or "\0" in place:
        raise DDlogError([BadOptionValue("state", repr(state), "the path of a file")])
    return place


def check_state(choice: EngineChoice, durability: str, state: str) -> None:
    """Raises DDlogError for an unknown durability, and for one or a place of the state that is not for the
    engine."""
    if durability not in ("commit", "interval", "exit"):
        raise DDlogError([BadOptionValue("durability", repr(durability), '"commit", "interval" or "exit"')])
    if not choice.spark and "://" in state:
        reason = "the in-process engine keeps its state in a file of this machine"
        raise DDlogError([CannotBeCombined(f"the state {state}", "the in-process engine", reason)])


def _with_workers(choice: EngineChoice, workers: int, running: bool) -> EngineChoice:
    """The choice with a number of workers, which on Spark is a matter of its place."""
    if not choice.spark:
        return choice
    if choice.master or choice.remote or running:
        raise DDlogError([WorkersAreSettled(workers, choice.reason)])
    return replace(choice, master=f"local[{workers}]")


def _chosen(
    options: EngineOptions,
    size: Callable[[], int | None],
    spark_only: str | None,
    environ: Mapping[str, str],
    running: bool,
) -> EngineChoice:
    if options.engine == "in-process":
        return EngineChoice(False, "--engine in-process")
    master, remote, said = _address(options, environ)
    if options.engine == "spark":
        return EngineChoice(True, "--engine spark", master, remote)
    if said or running:
        reason = said or "a Spark session is active"
        return EngineChoice(True, reason, master, remote)
    if options.conf:
        return EngineChoice(True, "--conf is given")
    if spark_only is not None:
        return EngineChoice(True, f"only Spark reads {spark_only}")
    return _by_size(size(), options.limit)


def _check(options: EngineOptions) -> None:
    if options.engine not in ENGINES:
        raise DDlogError([NoSuchEngine(options.engine)])
    if options.master and options.remote:
        raise DDlogError([CannotBeCombined("--master", "--remote", "each of them is the place of Spark")])
    if options.engine == "in-process" and options.names_spark:
        given = "--master" if options.master else "--remote" if options.remote else "--conf"
        raise DDlogError([CannotBeCombined(given, "--engine in-process", "it is an option of Spark")])
    if options.remote and not options.remote.startswith(("sc://", "local")):
        raise DDlogError([BadOptionValue("--remote", options.remote, "sc://HOST[:PORT] or local[N]")])
    if options.master and not _MASTER.match(options.master):
        expected = "local[N], spark://HOST:PORT, yarn or k8s://…"
        raise DDlogError([BadOptionValue("--master", options.master, expected)])


def _address(options: EngineOptions, environ: Mapping[str, str]) -> tuple[str | None, str | None, str]:
    """The place of Spark (a master, a remote) and the reason for it: options first, then the variables that
    PySpark reads from the environment. A MASTER that is not the address of a Spark master is ignored."""
    if options.master:
        return options.master, None, f"--master {options.master}"
    if options.remote:
        return None, options.remote, f"--remote {options.remote}"
    conf = dict(options.conf)
    for key in ("spark.master", "spark.remote"):
        if key in conf:
            place = conf[key]
            found = (place, None) if key == "spark.master" else (None, place)
            return *found, f"--conf {key}={place}"
    if environ.get("SPARK_REMOTE"):
        return None, environ["SPARK_REMOTE"], f"SPARK_REMOTE is {environ['SPARK_REMOTE']}"
    for name in ("MASTER", "SPARK_MASTER"):
        if _MASTER.match(environ.get(name, "")):
            return environ[name], None, f"{name} is {environ[name]}"
    if "PYSPARK_GATEWAY_PORT" in environ:
        return None, None, "started by spark-submit"
    return None, None, ""


def _by_size(size: int | None, limit: int | None) -> EngineChoice:
    memory = machine_memory()
    if limit is None and memory is not None:
        limit = memory // SHARE
        said = f"limit {size_text(limit)}, 1/{SHARE} of the memory"
    else:
        said = f"limit {size_text(limit)}" if limit is not None else "no limit known"
    if size is None:
        return EngineChoice(False, "no input files")
    if limit is not None and size > limit:
        return EngineChoice(True, f"input {size_text(size)}, {said}")
    return EngineChoice(False, f"input {size_text(size)}, {said}")


def session_is_active() -> bool:
    """Whether this process has a Spark session. Does not import PySpark."""
    return active_session() is not None


def active_session() -> Any:
    """The Spark session of this process, or None. Does not import PySpark."""
    if "pyspark" not in sys.modules:
        return None
    for name in ("pyspark.sql.session", "pyspark.sql.connect.session"):
        module = sys.modules.get(name)
        if module is not None:
            with suppress(Exception):
                session = module.SparkSession.getActiveSession()
                if session is not None:
                    return session
    return None


def parse_conf(items: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The settings of `--conf key=value` options. Raises DDlogError."""
    pairs = []
    for item in items:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise DDlogError([BadOptionValue("--conf", item, "KEY=VALUE")])
        pairs.append((key.strip(), value))
    return tuple(pairs)
