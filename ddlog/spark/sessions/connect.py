"""Spark sessions: the one that is there, or a new one without noise. What was started here is stopped at
exit; a session of the user's is never stopped."""

from __future__ import annotations

import atexit
import os
import re
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...errors.diagnostics import DDlogError
from ...errors.spark import CannotConnect, CannotStart, NoPySpark
from ...sessions.engines import active_session
from ...sessions.sizes import machine_memory
from .failures import spark_failures
from .java import check_java

OLDEST = (4, 1)
_CONNECT_PORT = 15002
_PATIENCE = 5.0
_NOISE = re.compile(
    r"WARNING: Using incubator modules|WARNING: package sun\.security\.action not in java\.base"
)

# A job that fails is told once, by us: the executor's and the scheduler's own reports are the same again.
_LOGGING = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = spark: %p %c{1}: %m%n%throwable{0}
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
"""
_SILENT = (
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.scheduler.DAGScheduler",
    "org.apache.spark.util.Utils",
    "org.apache.spark.SparkContext",
    "org.apache.spark.sql.execution",
    "org.apache.spark.sql.connect",
    "org.apache.spark.api.python.PythonRunner",
    "org.apache.hadoop.util.NativeCodeLoader",
)

_started: Any = None


def open_session(
    master: str | None = None, remote: str | None = None, conf: Mapping[str, str] | None = None
) -> Any:
    """The Spark session of this process, or a new one: at `remote` (Spark Connect), on `master`, or on this
    machine. Raises DDlogError when Spark, Java or the server is not there."""
    global _started
    running = active_session()
    if running is not None and not (master or remote):
        with spark_failures():
            for key, value in (conf or {}).items():
                running.conf.set(key, value)
        return running
    _check_pyspark(remote)
    settings = dict(conf or {})
    if remote and remote.startswith("sc://"):
        _reach(remote.removeprefix("sc://").partition("/")[0], _CONNECT_PORT, remote)
    elif "PYSPARK_GATEWAY_PORT" not in os.environ:
        check_java()
        if master and master.startswith("spark://"):
            _reach(master.removeprefix("spark://").split(",")[0], 7077, master)
        master = master or (None if remote else settings.get("spark.master", "local[*]"))
        settings = _settings(settings, master or remote or "")
    with _quiet():
        _started = _start(master, remote, settings)
    atexit.register(stop_started)
    return _started


def stop_started() -> None:
    """Stops the session that was started here, if there is one."""
    global _started
    session, _started = _started, None
    if session is not None:
        with suppress(Exception):
            session.stop()


def describe(spark: Any) -> str:
    """Where a session runs and its version, in a few words."""
    with suppress(Exception):
        where = "Spark Connect" if is_connect(spark) else spark.sparkContext.master
        return f"{where}, version {spark.version}"
    return "Spark"


def is_connect(spark: Any) -> bool:
    """Whether a session is a client of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _check_pyspark(remote: str | None) -> None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("pyspark")
    except PackageNotFoundError:
        for name in ("pyspark-client", "pyspark-connect"):
            with suppress(PackageNotFoundError):
                version(name)
                return
        raise DDlogError([NoPySpark("pyspark")]) from None
    if tuple(int(part) for part in re.findall(r"[0-9]+", found)[:2]) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise DDlogError([NoPySpark(f"pyspark {needed} or later", f"this is {found}")])
    if remote:
        for package in ("grpc", "grpc_status", "google.rpc"):
            if not _is_there(package):
                raise DDlogError([NoPySpark("pyspark[connect]", f"{package} is not installed")])


def _is_there(package: str) -> bool:
    from importlib.util import find_spec

    with suppress(ImportError):
        return find_spec(package) is not None
    return False


def _reach(place: str, port: int, address: str) -> None:
    """Sees that somebody listens, where Spark itself would try for minutes. Raises DDlogError."""
    if any(name in os.environ for name in ("grpc_proxy", "https_proxy", "HTTPS_PROXY", "http_proxy")):
        return
    host, _, digits = place.partition(";")[0].rpartition(":")
    host, number = (host, int(digits)) if host and digits.isdigit() else (place.partition(";")[0], port)
    try:
        socket.create_connection((host.strip("[]"), number), _PATIENCE).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise DDlogError([CannotConnect(address, reason.lower())]) from None


def _settings(given: Mapping[str, str], place: str) -> dict[str, str]:
    """The settings of a driver that starts here, where the user says nothing: no noise; and on this machine
    alone, which has the executors in the driver, half its memory."""
    chosen = {"spark.ui.showConsoleProgress": "false", "spark.app.name": "ddlog"}
    if place.startswith("local"):
        chosen["spark.ui.enabled"] = "false"
        memory = machine_memory()
        if memory is not None and "SPARK_DRIVER_MEMORY" not in os.environ:
            chosen["spark.driver.memory"] = f"{max(1024, memory // 2 // (1 << 20))}m"
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = chosen | dict(given)
    options = settings.get("spark.driver.extraJavaOptions", "")
    if "log4j2.configurationFile" not in options:
        file = f"-Dlog4j2.configurationFile=file:{_logging_file()}"
        settings["spark.driver.extraJavaOptions"] = f"{file} {options}".strip()
    return settings


def _logging_file() -> Path:
    lines = [f"logger.s{i}.name = {name}\nlogger.s{i}.level = off\n" for i, name in enumerate(_SILENT)]
    descriptor, name = tempfile.mkstemp(prefix="ddlog-log4j2-", suffix=".properties")
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(_LOGGING + "".join(lines))
    atexit.register(lambda: Path(name).unlink(missing_ok=True))
    return Path(name)


def _start(master: str | None, remote: str | None, settings: Mapping[str, str]) -> Any:
    import logging
    import warnings

    warnings.filterwarnings("ignore", category=FutureWarning)
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):  # every error once more, as JSON
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)

    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    builder = builder.remote(remote) if remote else builder.master(master) if master else builder
    try:
        session = builder.getOrCreate()
        session.version  # noqa: B018 - the first thing that asks a server
        return session
    except PySparkException as error:
        reason = str(error).splitlines()[0]
        if remote:
            raise DDlogError([CannotConnect(remote, reason)]) from None
        raise DDlogError([CannotStart(reason)]) from None
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DDlogError([CannotStart(reason)]) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """While a JVM starts, it is given a pipe for its outputs: the lines that mean nothing are dropped, the
    others go to our stderr, for as long as it lives."""
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    kept = [os.dup(1), os.dup(2)]
    threading.Thread(target=_relay, args=(read, os.dup(kept[1])), daemon=True).start()
    try:
        os.dup2(write, 1)
        os.dup2(write, 2)
        yield
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for descriptor in (*kept, write):
            os.close(descriptor)


def _relay(read: int, target: int) -> None:
    with os.fdopen(read, "rb") as lines, suppress(OSError):
        for line in lines:
            if not _NOISE.match(line.decode("utf-8", "replace")):
                os.write(target, line)
