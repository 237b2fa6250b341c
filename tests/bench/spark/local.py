"""A Spark session on this machine, and the memory and time of its processes."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1 << 20
_OWN = "DDLOG_BENCH_OF"  # a variable that the processes below this one have, with its id


def session(memory: str, master: str = "local[2]", **conf: str) -> Any:
    """A new session, by default of two cores, with the given driver memory and no progress bars or logs."""
    from pyspark.sql import SparkSession

    os.environ[_OWN] = str(os.getpid())
    settings = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        f"spark.executorEnv.{_OWN}": str(os.getpid()),
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


def processes() -> list[int]:
    """This process, and all that have come from it since it has a session."""
    own, found = f"{_OWN}={os.getpid()}".encode(), [os.getpid()]
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if own in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def workers() -> list[int]:
    """The processes of workers of the sessions of this process."""
    found = []
    for process in processes():
        with suppress(OSError):
            if b"ddlog.engine.shards.worker" in Path(f"/proc/{process}/cmdline").read_bytes():
                found.append(process)
    return found


def spent() -> float:
    """Processor time of this process and of all that came from it, also of those that have ended."""
    total = 0.0
    for process in processes():
        with suppress(OSError):
            total += processor_seconds(process, ended=True)
    return total


def processor_seconds(process: int, ended: bool = False) -> float:
    """Processor time that a process has used; with that of its children that have `ended`."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if ended else 13])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Used:
    """What the workers have used up to a moment, in sum: bytes that they have written, and seconds in which
    their first threads ran or waited for a processor."""

    moment: float
    workers: int
    written: int
    busy: float

    def waited(self, since: Used) -> float:
        """The mean seconds in which a worker waited for others since another moment."""
        return self.moment - since.moment - (self.busy - since.busy) / self.workers


def used(processes: Sequence[int]) -> Used:
    """What some workers have used up to now."""
    written, busy = 0, 0
    for process in processes:
        lines = Path(f"/proc/{process}/io").read_text().splitlines()
        written += next(int(line.split()[1]) for line in lines if line.startswith("wchar"))
        busy += sum(map(int, Path(f"/proc/{process}/schedstat").read_text().split()[:2]))
    return Used(time.perf_counter(), len(processes), written, busy / 1e9)
