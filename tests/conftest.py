"""Rules for every test: the long form, interrupts, tests that need Java, and each test's worker."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from ddlog.engine import clock, thresholds
from ddlog.errors.diagnostics import DDlogError
from ddlog.spark.sessions.java import NEEDED, check_java

from . import trying

NO_JAVA = (
    f"no Java {NEEDED} for the tests on Spark: apt install openjdk-{NEEDED}-jre-headless (or brew install "
    f"openjdk@{NEEDED}), and put `java` in PATH or set JAVA_HOME"
)

# Without the bytecode of its modules a process takes twice as long to start, and tests start hundreds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Every JVM that a test starts runs for seconds: compiling its code well takes longer than it saves. To
# verify the classes of Spark is a fifth of a start, and a small space for them is collected as it grows.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS",
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:MetaspaceSize=256m -XX:+UnlockDiagnosticVMOptions "
    "-XX:-BytecodeVerificationRemote",
)


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> Iterator[None]:
    """Ctrl-C interrupts the tests and their processes, also in a background job, which would ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def checked_anew() -> None:
    """Every program is checked anew, in processes that tests start, too."""
    os.environ["DDLOG_CACHE"] = "off"


@pytest.fixture(scope="session", autouse=True)
def rows_one_by_one() -> Iterator[None]:
    """Joins few rows one by one from the second time on, as most tests have few epochs. The first time they
    are joined in the general way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thresholds, "GENERAL_RUNS", 1)
        yield


@pytest.fixture(scope="session", autouse=True)
def limited_by_work() -> Iterator[None]:
    """Searches for explanations come as far on a busy machine: their limits are of processor time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "time", SimpleNamespace(**{**vars(time), "monotonic": time.process_time}))
        yield


@pytest.fixture(scope="session", autouse=True)
def taken_back() -> Iterator[None]:
    """With DDLOG_TEST_TAKEN=N, other epochs that are taken back come before those of every test in process,
    and many thresholds are low: both as the number N says."""
    number = os.environ.get("DDLOG_TEST_TAKEN")
    if number is None:
        yield
        return
    from .taking import small, taking

    with taking(int(number)), small(int(number)):
        yield


# ---- Java


@cache
def has_java() -> bool:
    """Whether Spark can start a JVM on this machine."""
    try:
        check_java()
    except DDlogError:
        return False
    return True


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the option for the long form of the tests, which takes hours."""
    parser.addoption(
        "--long", action="store_true", help="more examples, all damage, crashes and kills: hours"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Says how long the tests may take, before their modules are imported, and declares their marks. No
    example of a property has a deadline: on a machine that does more, any may miss it. A property that does
    not say how many examples it takes is a small one."""
    trying.is_long = config.getoption("--long")
    examples = trying.longer(30, 1000)
    settings.register_profile("without deadlines", deadline=None, max_examples=examples)
    settings.load_profile("without deadlines")
    gc.disable()
    config.addinivalue_line("markers", "long: the test is part of the long form only")
    config.addinivalue_line("markers", "java: the test starts a JVM")
    config.addinivalue_line("markers", "needs_cluster: the test runs where DDLOG_TEST_CLUSTER says so")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests of the long form, unless that is what is run: its tests may take any time."""
    if config.getoption("--long"):
        for item in items:
            item.add_marker(pytest.mark.timeout(0))
    else:
        left = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_collection_finish() -> None:
    """The collector of garbage looks no more at the modules and at the thousands of tests, and seldom at what
    the tests make: a tenth of their time otherwise. Where `ddlog` is the process it looks more seldom yet."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test that needs a JVM where there is no Java."""
    needs_java = "spark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("java") is not None
    if needs_java and not has_java():
        pytest.skip(NO_JAVA)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says in one line how to run the tests that were skipped for want of Java."""
    skipped = [report for report in terminalreporter.getreports("skipped") if NO_JAVA in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} tests skipped: {NO_JAVA}")


# ---- Workers

# Tests under tests/spark that start a process of their own and leave the shared session alone.
ALONE = ("test_connect.py", "test_cluster.py", "test_a_process_of_its_own")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compiles all kernels on all cores, unless they are there, before there are workers: the tests need most
    of them, and each worker would compile those that it meets by itself."""
    subprocess.run([sys.executable, "-m", "ddlog", "compile-kernels"], stdout=subprocess.DEVNULL, check=False)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """The scheduler that gives Spark's shared session to one worker."""
    return OneSparkWorker(config, log)


class OneSparkWorker(LoadScopeScheduling):  # type: ignore[misc]
    """One worker runs the tests on Spark's shared session; the next free worker runs every other test, or all
    tests of a program of the corpus."""

    def _split_scope(self, nodeid: str) -> str:
        test, _, arguments = nodeid.partition("[")
        if "test_corpus.py" in test:  # what one test of a program checks and runs serves the others
            return f"the program {arguments}"
        if "test_connect.py" in test:
            return (
                "connect"  # in a process of its own most of the time, and first, since it takes the longest
            )
        shared = test.startswith("tests/spark/") and not any(name in test for name in ALONE)
        return "spark" if shared else nodeid
