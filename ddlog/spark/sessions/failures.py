"""Exceptions of Spark as diagnostics: a short reason, no stack trace."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...engine.memory import Exhausted
from ...engine.shards.arrivals import RowsChanged
from ...engine.shards.remote import WorkersMissing
from ...engine.shards.runtime import Closed, WorkerGone
from ...engine.shards.spool import CannotSpool
from ...engine.shards.team import Aborted
from ...errors.diagnostics import DDlogError, Diagnostic
from ...errors.facts import CannotRead
from ...errors.spark import BadRecord, NoPySpark, NoSuchTable, SparkEnded, SparkFailed, WorkersEnd
from ...errors.state import StateOfParent
from ...sessions.transactions.faults import out_of_memory

_FAULT = re.compile(r"ddlog-record:([0-9A-Fa-f]+);")
_CONDITION = re.compile(r"^\[([A-Z0-9_.]+)\]\s*")
_TABLE = re.compile(r"`([^`]+)`")
_SHOWN = 300
_ABORTED = "Job aborted due to stage failure: "
_ENDED = re.compile(
    "(?i)stopped SparkContext|SparkContext (?:has been|was) (?:shut ?down|stopped)"
    "|answer from Java side is empty|error while obtaining a new communication channel"
    "|all masters are unresponsive"
)
_NO_FILE = re.compile(r"File (file:\S+) does not exist")


def fault_sql(file: str, problem: str, column: str, record: str) -> str:
    """SQL that ends the job with a fault in a record, in the form that `diagnose` reads."""
    facts = f"named_struct('file', {file}, 'problem', {problem}, 'column', {column}, 'record', {record})"
    return f"raise_error(concat('ddlog-record:', hex(to_json({facts})), ';'))"


def fault_text(file: str, problem: str, column: str) -> str:
    """The text of the error of a fault that is known when the query is written."""
    facts = json.dumps({"file": file, "problem": problem, "column": column, "record": ""})
    return f"ddlog-record:{facts.encode().hex()};"


def unless(holds: str, fault: str) -> str:
    """SQL of a condition that ends the job with a fault unless something holds. It is not deterministic:
    later conditions would otherwise be evaluated before it, and leave wrong records out without a word."""
    return f"CASE WHEN {holds} THEN true ELSE rand() > CAST({fault} AS DOUBLE) END"


_process: int | None = None
"""The process that used Spark first. One that is forked from it has the same connections."""


@contextmanager
def spark_failures() -> Iterator[None]:
    """Turns exceptions of Spark inside into DDlogErrors. Raises DDlogError in a process that was forked from
    one that uses Spark."""
    global _process
    _process = _process or os.getpid()
    if _process != os.getpid():
        raise DDlogError([StateOfParent("the session", _process)])
    try:
        yield
    except DDlogError:
        raise
    except Exception as error:
        diagnostic = diagnose(error)
        if diagnostic is None or os.environ.get("DDLOG_DEBUG"):
            raise
        raise DDlogError([diagnostic]) from None


def diagnose(error: BaseException) -> Diagnostic | None:
    """The diagnostic of an exception of Spark, or of its workers; None for another exception."""
    if isinstance(error, WorkerGone):
        return WorkersEnd()
    if isinstance(error, Exhausted):  # workers that were started again
        return out_of_memory(error)
    if isinstance(error, Aborted | CannotSpool | Closed | RowsChanged):
        return SparkFailed(str(error))
    if isinstance(error, WorkersMissing):
        return SparkFailed(f"{error}; executors reach the driver at spark.driver.host, and each other")
    if isinstance(error, ModuleNotFoundError) and str(error.name).startswith("cryptography"):
        return NoPySpark("cryptography", "what workers send each other is to be encrypted, and it is missing")
    if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j", "grpc"):
        return None
    text = str(error)
    fault = _FAULT.search(text)
    if fault is not None:
        return _bad_record(json.loads(bytes.fromhex(fault.group(1)).decode("utf-8", "replace")))
    condition = _condition_of(error, text)
    if condition.startswith("TABLE_OR_VIEW_NOT_FOUND"):
        names = _TABLE.findall(text)
        return NoSuchTable(".".join(names[: max(1, text.split("cannot be found")[0].count("`") // 2)]))
    if condition == "PATH_NOT_FOUND":
        path = re.search(r"Path does not exist: (\S+?)\.?(?:\s|$)", text)
        return CannotRead(path.group(1) if path else "input", "there is no such file or directory")
    missing = _NO_FILE.search(text)
    if missing is not None:
        reason = (
            "the executors do not have it; give a place that all machines share, such as hdfs:// or s3a://"
        )
        return CannotRead(local_path(missing.group(1)), reason)
    ended = _ENDED.search(text)
    return SparkEnded(ended.group()) if ended else SparkFailed(_reason(text))


def _bad_record(facts: Mapping[str, Any]) -> BadRecord:
    record = str(facts.get("record") or "")
    shown = record if len(record) <= _SHOWN else record[: _SHOWN - 1] + "…"
    return BadRecord(
        local_path(str(facts.get("file") or "")), str(facts["problem"]), str(facts.get("column") or ""), shown
    )


def local_path(url: str) -> str:
    """The path of a `file:` URL as Spark writes it; other URLs as they are."""
    from urllib.parse import unquote

    return unquote(re.sub(r"^file:/+", "/", url)) if url.startswith("file:") else url


def _condition_of(error: BaseException, text: str) -> str:
    condition = getattr(error, "getCondition", getattr(error, "getErrorClass", lambda: None))()
    found = _CONDITION.match(text)
    return str(condition or (found.group(1) if found else ""))


def _reason(text: str) -> str:
    """The most telling line of an exception's text: the last cause, without its class and plan."""
    told = re.sub(r"\AAn error occurred while calling \S+\s+: ", "", text)  # py4j's own line
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    raised = re.findall(
        r"^\s*((?:\w+\.)*\w*(?:Error|Exception): .+)$", text.partition("Traceback (most")[2], re.M
    )
    if raised:
        return f"a Python worker failed: {raised[-1]}"
    causes = [line for line in lines if line.startswith("Caused by:")]
    causes = causes or [line for line in lines if _ABORTED in line]
    line = (causes[-1].removeprefix("Caused by:") if causes else lines[0] if lines else "it failed").strip()
    line = _CONDITION.sub("", re.sub(r"^(?:[a-z][\w$]*\.)+[A-Z][\w$]*:\s*", "", line))
    line = re.sub(r"^(?:[a-z][\w$]*\.)+[A-Z][\w$]*:\s*", "", line)
    line = re.sub(r"\s*SQLSTATE: \w+.*$", "", _CONDITION.sub("", line)).rstrip(".;")
    return line[:1].lower() + line[1:] if line[1:2].islower() else line
