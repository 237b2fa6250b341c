"""Spark, which stands above sessions: what they call of it, as `ddlog.spark` offers it.

The one module is named here and imported when Spark is chosen, so that sessions neither depend on Spark nor
import it in-process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from .host import Host, StreamHandle

ENTRY = "ddlog.spark.entry"


@dataclass(frozen=True, slots=True)
class SparkEntry:
    """The functions for Spark that sessions call. `open_host` and `open_batch` open a host of a circuit, with
    and without changes after the first; `open_durable` opens a folder as a state, and `stream` starts a
    stream."""

    open_host: Callable[..., Host]
    open_batch: Callable[..., Host]
    open_durable: Callable[..., Any]
    stream: Callable[..., StreamHandle]


def on_spark() -> SparkEntry:
    """The entry of Spark."""
    found = import_module(ENTRY).ON_SPARK
    assert isinstance(found, SparkEntry)
    return found
