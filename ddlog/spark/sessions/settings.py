"""The settings of a Spark driver that starts in this process, where the user gives none."""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ...engine.machine import machine_memory

DAEMON = "ddlog.spark.sessions.daemon"
"""The module of that name, for `spark.python.daemon.module`."""

# We report a job that fails; the reports of the executor and the scheduler would repeat it.
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


def driver_settings(given: Mapping[str, str], place: str) -> dict[str, str]:
    """The given settings of a driver, and defaults for others: quiet logs, and on this machine alone, where
    the executors are in the driver, half of its memory. `place` is the master or the remote address."""
    chosen = {"spark.ui.showConsoleProgress": "false", "spark.app.name": "ddlog"}
    if place.startswith("local"):
        chosen["spark.ui.enabled"] = "false"
        chosen["spark.python.daemon.module"] = DAEMON
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
