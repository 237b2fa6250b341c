"""One Spark session for all tests, since a JVM takes seconds to start and most of a core while it starts.

The session is classic and local, unless DDLOG_TEST_REMOTE names a Connect server by its address, or says
`local[2]` to start one, or DDLOG_TEST_CLUSTER says how many workers a standalone cluster is to have.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ddlog.engine.spark.settings import changed
from ddlog.spark.sessions.settings import DAEMON

from .cluster import Cluster, standalone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWN = "DDLOG_TESTS_OF"
"""A variable of the environment that the processes below this one have, with its id."""
os.environ[OWN] = str(os.getpid())

_CONF = {
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "false",
    # Spark's user interface is off, so its plans need no long texts; local files need no compression.
    "spark.sql.ui.explainMode": "simple",
    "spark.broadcast.compress": "false",
    "spark.shuffle.compress": "false",
    # The tests run hundreds of queries once each: compiling them well takes longer than it saves.
    "spark.driver.extraJavaOptions": (
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=99m -XX:+UseSerialGC -Xms1g -Xmn512m"
    ),
}


# Spark writes and compiles Java classes for a query, which takes longer than a few rows do. It does so where
# the code is the subject, and interprets its plans in all other tests.
_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
_COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}


_HERE = {"spark.python.daemon.module": DAEMON}  # as `ddlog run` has it; others have Spark's own


# Tasks are tried again, and run twice where they are slow, whenever Spark can: answers must not show it.
_ON_CLUSTER = {
    "spark.driver.memory": "1g",
    "spark.driver.host": "localhost",
    "spark.executor.memory": "700m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.locality.wait": "0",
    "spark.log.level": "FATAL",
    # Each process has files of its own at this URL, which only Spark knows how to read.
    "spark.hadoop.fs.viewfs.mounttable.own.link./here": "file:///proc/self/cwd",
    "spark.storage.cachedPeersTtl": "100",
    "spark.speculation": "true",
    "spark.speculation.interval": "20ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.3",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests of a cluster where there is none: `test_a_cluster_gives_the_same` starts one for
    the short ones of them."""
    if "DDLOG_TEST_CLUSTER" not in os.environ:
        left = [item for item in items if item.get_closest_marker("needs_cluster")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="package")
def cluster() -> Iterator[Cluster | None]:
    """The standalone cluster that the session uses, if it uses one."""
    workers = os.environ.get("DDLOG_TEST_CLUSTER")
    if not workers:
        yield None
        return
    before = Path.cwd()
    with standalone(int(workers)) as made:
        (made.folder / "driver").mkdir()
        os.chdir(made.folder / "driver")  # the driver, too, has a folder of its own
        yield made
        os.chdir(before)


@pytest.fixture(scope="package")
def spark(cluster: Cluster | None) -> Iterator[SparkSession]:
    """The session that the tests share. It ends with them: other tests of a worker would run on it."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    remote = os.environ.get("DDLOG_TEST_REMOTE")
    master = cluster.master if cluster else "local[2]"
    builder = SparkSession.builder.remote(remote) if remote else SparkSession.builder.master(master)
    builder = builder.appName("ddlog tests")
    place = _ON_CLUSTER if cluster else {} if remote else _HERE
    for key, value in (_CONF | _INTERPRETED | place).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def collected_here() -> Iterator[None]:
    """On Connect, garbage is collected after each test alone. PySpark's client calls its server in finalizers
    of frames: in a thread that gRPC is just starting, such a call waits for that thread."""
    if "DDLOG_TEST_REMOTE" in os.environ:
        gc.disable()
        yield
        gc.collect()
    else:
        yield


@pytest.fixture
def compiled(spark: SparkSession, cluster: Cluster | None) -> Iterator[None]:
    """Spark compiles its plans in a test, if its session is a local one."""
    if cluster or "DDLOG_TEST_REMOTE" in os.environ:
        yield
        return
    with changed(spark, _COMPILED):
        yield
