"""Settings of a Spark session under which plans are made; the session's own come back after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Plans are made while these hold: arithmetic wraps.
_CONF = {
    "spark.sql.ansi.enabled": "false",
    # Code is compiled once for each text: the same query over other tables must give the same text.
    "spark.sql.codegen.useIdInClassName": "false",
    # Checkpoints remember constraints on columns that are pruned later, and unions of them fail on those.
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
}
# A checkpoint says by which columns it is partitioned. This rule makes it name another table's columns.
_EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
_EXCLUDED = "org.apache.spark.sql.catalyst.optimizer.RemoveRedundantAliases"
# Without these settings answers would differ; without the others queries are slower.
_NEEDED = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", _EXCLUDED_RULES)
_ENCRYPTION = (
    "spark.network.crypto.enabled",
    "spark.authenticate.enableSaslEncryption",
    "spark.ssl.rpc.enabled",
)
_DEFAULT_PARTITIONS = "200"  # Spark's own, which nobody chose


def planning(spark: SparkSession, partitions: int) -> AbstractContextManager[None]:
    """The settings of a session under which plans are made; those of the session come back after."""
    theirs = spark.conf.get(_EXCLUDED_RULES, None) or _EXCLUDED
    rules = theirs if _EXCLUDED in theirs else f"{theirs},{_EXCLUDED}"
    return changed(spark, _CONF | {"spark.sql.shuffle.partitions": str(partitions), _EXCLUDED_RULES: rules})


@contextmanager
def changed(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session, for a while."""
    before = {key: spark.conf.get(key, None) for key in wanted}
    new = {key: value for key, value in wanted.items() if before[key] != value}
    try:
        for key, value in new.items():
            with nullcontext() if key in _NEEDED else suppress(Exception):  # a service may refuse
                spark.conf.set(key, value)
        yield
    finally:
        for key in new:
            with suppress(Exception):  # a session that is gone has no settings to restore
                held = before[key]
                if held is None:
                    spark.conf.unset(key)
                else:
                    spark.conf.set(key, held)


def session_partitions(spark: SparkSession) -> int:
    """The session's number of shuffle partitions, if somebody chose one; else one for each core."""
    chosen = spark.conf.get("spark.sql.shuffle.partitions", _DEFAULT_PARTITIONS)
    if chosen and chosen != _DEFAULT_PARTITIONS:
        return max(int(chosen), 1)
    with suppress(Exception):  # a Connect session has no context to ask
        return max(int(spark.sparkContext.defaultParallelism), 2)
    master = spark.conf.get("spark.master", "") or ""
    if master.startswith("local["):
        import os

        cores = master[len("local[") :].partition("]")[0].partition(",")[0]
        return max(int(cores) if cores.isdigit() else os.cpu_count() or 2, 2)
    return int(chosen or _DEFAULT_PARTITIONS)


def is_encrypted(spark: SparkSession) -> bool:
    """Whether Spark encrypts what its processes send each other."""
    return any(spark.conf.get(name, "false") == "true" for name in _ENCRYPTION)


def is_connect(spark: Any) -> bool:
    """Whether a session is a client of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")
