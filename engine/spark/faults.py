"""Faults of user code on their way from the executors: raised by SQL, found in the error of the job."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager

from .expressions import SparkExpressions

_MARK = "ddlog-fault"
_EARLY = "early"
_FOUND = re.compile(rf"{_MARK}:([A-Za-z0-9+/=]*):([A-Za-z0-9+/=]*):({_EARLY})?")


def raised(rule: str, fault: str = "e", weight: str = "w", *, early: bool = False) -> str:
    """The SQL of a weight that raises the fault beside it. `early`: the rest of the body may exclude the
    row."""
    error = raised_error(rule, fault, early)
    return f"CASE WHEN {fault} IS NULL THEN {weight} ELSE CAST({error} AS BIGINT) END"


def raised_error(rule: str, fault: str, early: bool = False) -> str:
    """The SQL that raises a fault of a rule."""
    name = base64.b64encode(rule.encode()).decode()
    return f"raise_error(concat('{_MARK}:', {fault}, ':{name}:{_EARLY if early else ''}'))"


def is_early(error: Exception) -> bool:
    """Whether a job failed by the fault of a row that the rest of its body may exclude."""
    found = _FOUND.search(str(error))
    return found is not None and found.group(3) is not None


def raised_where(rule: str, fault: str = "e") -> str:
    """The SQL of a condition that raises a fault. It is not deterministic, so that Spark evaluates it where
    it stands: not below a join, not after conditions that exclude the row, and also if nothing reads the
    row."""
    return (
        f"CASE WHEN {fault} IS NULL THEN true ELSE rand() > CAST({raised_error(rule, fault)} AS DOUBLE) END"
    )


def may_fault(text: str) -> bool:
    """Whether SQL raises faults of a rule."""
    return _MARK in text


@contextmanager
def raising(expressions: SparkExpressions) -> Iterator[None]:
    """Raises the RowFault that a job failed with in place of Spark's error."""
    try:
        yield
    except Exception as error:
        found = _FOUND.search(str(error))
        if found is None:
            raise
        rule = base64.b64decode(found.group(2)).decode()
        raise expressions.fault(found.group(1), rule) from None
