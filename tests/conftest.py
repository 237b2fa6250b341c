"""What holds for every test."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> Iterator[None]:
    """Ctrl-C is not ignored, here and in what tests start, though background jobs ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def checked_anew() -> None:
    """Every program is checked anew, in processes that tests start, too."""
    os.environ["DDLOG_CACHE"] = "off"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """The tests on Spark's shared session run in one worker, which starts it."""
    return OneSparkWorker(config, log)


ALONE = "spark/test_connect.py"  # in a process of its own most of the time


class OneSparkWorker(LoadScopeScheduling):  # type: ignore[misc]
    """Tests go to the next free worker, but for those on Spark, which stay together."""

    def _split_scope(self, nodeid: str) -> str:
        test, _, _arguments = nodeid.partition("[")
        file = test.partition("::")[0]
        if file.endswith(ALONE):
            return file
        return "spark" if "spark" in test.lower() else nodeid
