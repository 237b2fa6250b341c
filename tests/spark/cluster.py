"""A standalone cluster of Spark on this machine: a master and workers, each a process with its own folder.

`python tests/spark/cluster.py --workers 2 --cores 1 --memory 1g` starts one, prints the address of its
master, and ends it with its own end. The workers know nothing of this process: not its folder, and not its
environment except for Java's.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_PATIENCE = 120.0  # seconds that a process may take to start, on a loaded machine
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_PASSED_ON = ("PATH", "JAVA_HOME", "HOME", "LANG", "TMPDIR")
EXECUTOR = "CoarseGrainedExecutorBackend"


@dataclass
class Cluster:
    """A running cluster. `folder` has the logs, and a folder for each worker."""

    folder: Path
    master: str
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, arguments: list[str], started: str, environ: Mapping[str, str]) -> None:
        """Starts a process of the cluster, and waits until its log says that it has started."""
        import pyspark

        home = Path(pyspark.__file__).parent
        at, log = self.folder / name, self.folder / f"{name}.log"
        at.mkdir()
        known = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        known |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
        known |= {"SPARK_DAEMON_JAVA_OPTS": f"{_JAVA} -Dspark.master.rest.enabled=false", **environ}
        with log.open("wb") as out:
            self.processes[name] = subprocess.Popen(
                [str(home / "bin" / "spark-class"), *arguments],
                cwd=at,
                env=known,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + _PATIENCE
        while started not in log.read_text(errors="replace"):
            if self.processes[name].poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{name} did not start:\n{log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.1)

    def worker(self, name: str, host: str, cores: int, memory: str) -> None:
        """Starts a worker, under a name of this machine."""
        disk = self.folder / f"{name}.disk"
        disk.mkdir()
        own = ["--host", host, "--webui-port", "0", "--work-dir", str(self.folder / name)]
        given = [*own, "--cores", str(cores), "--memory", memory, self.master]
        self.start(
            name,
            ["org.apache.spark.deploy.worker.Worker", *given],
            "Successfully registered with master",
            {"SPARK_LOCAL_DIRS": str(disk)},
        )

    def executors(self) -> list[int]:
        """The process ids of the executors that run now: children of our workers."""
        found = []
        for name, process in self.processes.items():
            if name.startswith("worker"):
                found += [child for child in children(process.pid) if EXECUTOR in command(child)]
        return found

    def end_executor(self, process: int) -> None:
        """Ends an executor as a failing machine does. It must be one of this cluster's."""
        assert process in self.executors(), f"{process} is no executor of this cluster"
        os.kill(process, signal.SIGKILL)

    def stop(self) -> None:
        """Ends the processes of the cluster, and the executors that they leave behind."""
        executors = self.executors()
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)
        for executor in executors:
            if EXECUTOR in command(executor):
                with suppress(ProcessLookupError):
                    os.kill(executor, signal.SIGKILL)


def children(process: int) -> list[int]:
    """The processes that a process has started, as Linux tells."""
    with suppress(OSError):
        found = Path(f"/proc/{process}/task").glob("*/children")
        return [int(child) for each in found for child in each.read_text().split()]
    return []


def command(process: int) -> str:
    """The command line of a process; empty if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def _free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port


@contextmanager
def standalone(workers: int = 2, cores: int = 1, memory: str = "1g") -> Iterator[Cluster]:
    """A cluster of so many workers, each with so many cores and so much memory for its executors."""
    folder = Path(tempfile.mkdtemp(prefix="ddlog-cluster-"))
    port = _free_port()
    cluster = Cluster(folder, f"spark://127.0.0.1:{port}")
    try:
        own = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        cluster.start(
            "master", ["org.apache.spark.deploy.master.Master", *own], "I have been elected leader", {}
        )
        for number in range(workers):
            # Spark runs no task a second time on the same host.
            cluster.worker(f"worker{number}", ("localhost", "127.0.0.1")[number % 2], cores, memory)
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """The command line of this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1, help="of each worker")
    parser.add_argument("--memory", default="1g", help="of each worker, for its executors")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    with standalone(given.workers, given.cores, given.memory) as cluster, suppress(KeyboardInterrupt):
        print(cluster.master, flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
