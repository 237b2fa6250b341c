"""A Spark session on this machine, and the memory and time of its processes."""

from __future__ import annotations

import gc
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1 << 20


def session(memory: str, master: str = "local[2]", **conf: str) -> Any:
    """A new session, by default of two cores, with the given driver memory and no progress bars or logs."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        **conf,
    }
    builder = SparkSession.builder.master(master).appName("ddlog-bench")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def java_process() -> int:
    """The process id of the Java virtual machine that this process started."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                name = (entry / "comm").read_text().strip()
            except OSError:
                continue  # it ended meanwhile
            if parent == os.getpid() and name == "java":
                return int(entry.name)
    raise LookupError("this process started no Java")


def resident(process: int, peak: bool = False) -> float:
    """The MiB of memory of a process, now or at its peak."""
    wanted = "VmHWM:" if peak else "VmRSS:"
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    (size,) = (line.split()[1] for line in lines if line.startswith(wanted))
    return int(size) / 1024


def workers() -> list[int]:
    """The processes of workers on this machine."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and b"ddlog.engine.shards.worker" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def processor_seconds(process: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Held:
    """The memory of a session: cached parts, their MiB in memory and on disk, MiB of live Java objects,
    and MiB of the two processes, and of those of workers, as the system sees them."""

    cached: int
    storage_mib: float
    heap_mib: float
    java_mib: float
    python_mib: float
    workers_mib: float


def held(spark: Any) -> Held:
    """The memory that a classic session holds, after a garbage collection in Java and in Python."""
    gc.collect()
    context = spark.sparkContext
    for _ in range(2):  # the first tells Spark what nothing refers to; it lets go of that in the background
        context._jvm.System.gc()
        time.sleep(0.5)
    runtime = context._jvm.java.lang.Runtime.getRuntime()
    stored = list(context._jsc.sc().getRDDStorageInfo())
    return Held(
        len(stored),
        sum(each.memSize() + each.diskSize() for each in stored) / MIB,
        (runtime.totalMemory() - runtime.freeMemory()) / MIB,
        resident(java_process()),
        resident(os.getpid()),
        sum(map(resident, workers())),
    )
