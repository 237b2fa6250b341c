"""The functions for Spark that sessions call. See `ddlog.sessions.hosts.on_spark`."""

from __future__ import annotations

from ..sessions.hosts.on_spark import SparkEntry
from .sessions.batch import open_batch
from .sessions.host import open_host
from .state.durable import open_durable
from .streaming.stream import stream

ON_SPARK = SparkEntry(open_host, open_batch, open_durable, stream)
