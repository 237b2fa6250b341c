"""Spark sessions: the one of this process, or a new one. A session that was started here is stopped at exit;
a session of the user's is never stopped."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import threading
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from types import FrameType
from typing import Any

from ...errors.diagnostics import DDlogError
from ...errors.spark import CannotConnect, CannotStart
from ...sessions.engines import active_session
from .failures import spark_failures
from .java import check_java, ended_on_failure
from .quiet import quiet
from .requirements import check_pyspark, check_server
from .settings import driver_settings

_CONNECT_PORT = 15002
_MASTER_PORT = 7077
_PATIENCE = 5.0  # seconds in which Java ends jobs

_started: Any = None


def open_session(
    master: str | None = None, remote: str | None = None, conf: Mapping[str, str] | None = None
) -> Any:
    """The Spark session of this process, or a new one: at `remote` (Spark Connect), on `master`, or on this
    machine. Raises DDlogError if Spark, Java or the server is missing."""
    global _started
    running = active_session()
    if running is not None and not (master or remote):
        with spark_failures():
            for key, value in (conf or {}).items():
                running.conf.set(key, value)
        return running
    check_pyspark(remote)
    settings, starts_java = dict(conf or {}), not (remote and remote.startswith("sc://"))
    if remote and not starts_java:
        check_server(remote.removeprefix("sc://").partition("/")[0], _CONNECT_PORT, remote)
    elif "PYSPARK_GATEWAY_PORT" not in os.environ:
        check_java()
        if master and master.startswith("spark://"):
            check_server(master.removeprefix("spark://").split(",")[0], _MASTER_PORT, master)
        master = master or (None if remote else settings.get("spark.master", "local[*]"))
        settings = driver_settings(settings, master or remote or "")
    with quiet(), ended_on_failure() if starts_java else nullcontext():
        _started = _start(master, remote, settings)
    atexit.register(stop_started)
    return _started


def stop_started() -> None:
    """Stops the session that was started here, if any."""
    global _started
    session, _started = _started, None
    if session is not None:
        with suppress(Exception):
            session.stop()


def _start(master: str | None, remote: str | None, settings: Mapping[str, str]) -> Any:
    import warnings

    warnings.filterwarnings("ignore", category=FutureWarning)
    from pyspark.errors import PySparkException
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):  # they repeat every error as JSON
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)

    before = signal.getsignal(signal.SIGINT)
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    builder = builder.remote(remote) if remote else builder.master(master) if master else builder
    try:
        session = builder.getOrCreate()
        session.version  # noqa: B018 - the first request to a server
        if not remote:
            end_jobs_at_interrupts(session.sparkContext, before)
        return session
    except PySparkException as error:
        reason = str(error).splitlines()[0]
        if remote:
            raise DDlogError([CannotConnect(remote, reason)]) from None
        raise DDlogError([CannotStart(reason)]) from None
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DDlogError([CannotStart(reason)]) from None


def end_jobs_at_interrupts(context: Any, before: Any) -> None:
    """Lets Ctrl-C end the jobs of a context and then do what `before` does, the handler that was there. That
    of PySpark asks Java by the connection at which this thread waits: it ends no job, and logs two errors."""
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        return

    def end_jobs() -> None:
        with suppress(Exception):
            context.cancelAllJobs()

    def act(number: int, frame: FrameType | None) -> None:
        ending = threading.Thread(target=end_jobs, daemon=True)
        ending.start()
        ending.join(_PATIENCE)
        before(number, frame)

    for logger in (None, "py4j.clientserver"):
        logging.getLogger(logger).addFilter(_is_no_interrupt)
    signal.signal(signal.SIGINT, act)


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    """False for the records by which Py4J logs that Ctrl-C ended a request, True for all others."""
    return record.msg not in (
        "KeyboardInterrupt while sending command.",
        "Exception occurred while shutting down connection",  # if Java closed it first
    )
