"""Spark Connect gives the same: sessions, faults and parity, once more on a Connect server of this machine.

In a process of its own, since a process that has a classic session cannot start a Connect server. What runs
there is chosen to take about a minute; to run all of it: `DDLOG_TEST_REMOTE=local[2] pytest tests/spark`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pyspark
import pytest

from ddlog.engine.spark.runtime import SparkOptions
from ddlog.engine.spark.tables import Tables
from ddlog.spark.sessions import connect

from ..trying import longer
from .inner import run_inner

FILES = ["test_session.py", "test_parity.py", "test_stream.py"]
CHOSEN = "outgrowing or (batch_is_an_epoch and not process) or " + longer(
    "frames_in_and or do_not_fit or a_fault_in or all_shapes or active_session",
    "test_session or driver-points_to or (fault_ends_the_stream and process)",
)
PORT = 15002  # where `remote("local[2]")` puts the server and looks for it


def wait_for_port() -> None:
    """Waits until no other run has a Connect server here."""
    for _ in range(120):
        with socket.socket() as trial:
            if trial.connect_ex(("localhost", PORT)):
                return
        time.sleep(1)
    pytest.fail(f"another Connect server holds port {PORT}")


@pytest.mark.java
def test_connect_gives_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    for package in ("pyspark", "grpc", "grpc_status"):
        pytest.importorskip(package)
    if "DDLOG_TEST_REMOTE" in os.environ:
        pytest.skip("this run is on Connect")
    import pyspark

    wait_for_port()
    passed = run_inner(FILES, CHOSEN, ("DDLOG_TEST_REMOTE", "local[2]"), least=7)
    with capsys.disabled():
        print(f"\nSpark Connect, pyspark {pyspark.__version__}: {passed}")


class Refusing(dict[str, str]):
    """The settings of a service that lets some of them be."""

    def set(self, key: str, value: str) -> None:
        if key in self:
            raise PermissionError(key)
        self[key] = value

    def unset(self, key: str) -> None:
        del self[key]


@pytest.mark.parametrize(
    ("key", "held", "fails"),
    [
        ("spark.sql.constraintPropagation.enabled", "true", False),
        ("spark.sql.ansi.enabled", "false", False),
        ("spark.sql.ansi.enabled", "true", True),
        ("spark.sql.session.timeZone", "CET", True),
    ],
)
def test_a_setting_may_be_refused_unless_answers_hang_on_it(key: str, held: str, fails: bool) -> None:
    conf = Refusing({key: held})
    service: Any = SimpleNamespace(conf=conf)
    tables = Tables(service, codec=None, options=SparkOptions(partitions=2))  # type: ignore[arg-type]
    if fails:
        with pytest.raises(PermissionError), tables.configured():
            pytest.fail("it went on")
    else:
        with tables.configured():
            assert conf["spark.sql.shuffle.partitions"] == "2"
    assert conf == {key: held}, "settings are as they were"


@pytest.mark.long
def test_a_start_that_fails_leaves_java_to_the_next_one() -> None:
    begin = "from ddlog.spark.sessions.connect import open_session"
    fail = "try: open_session('local[x]')\nexcept Exception as error: print(type(error).__name__)"
    then = "print(open_session('local[1]').range(3).count())"
    command = [sys.executable, "-c", "\n".join([begin, fail, then])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.split() == ["DDlogError", "3"], done.stderr


def test_a_client_of_connect_alone_needs_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its package has not what starts one."""
    monkeypatch.setitem(sys.modules, "pyspark.java_gateway", None)
    monkeypatch.delattr(pyspark, "java_gateway", raising=False)
    monkeypatch.setattr(connect, "_started", None)
    for name, found in (("active_session", None), ("check_server", None), ("_start", "session")):
        monkeypatch.setattr(connect, name, lambda *_, found=found: found)
    monkeypatch.setattr(connect.atexit, "register", lambda _: None)
    assert connect.open_session(remote="sc://somewhere") == "session"
