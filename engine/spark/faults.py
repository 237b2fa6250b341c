"""Faults of user code on their way from the executors: raised by SQL, found in the error of the job."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager

from .expressions import SparkExpressions

_MARK = "ddlog-fault"
_FOUND = re.compile(rf"{_MARK}:([A-Za-z0-9+/=]*):([A-Za-z0-9+/=]*):")


def raised_where(rule: str, fault: str = "e") -> str:
    """The SQL of a condition that raises a fault. It is not deterministic, so that Spark evaluates it where
    it stands: not below a join, not after conditions that exclude the row, and also if nothing reads the
    row."""
    name = base64.b64encode(rule.encode()).decode()
    error = f"raise_error(concat('{_MARK}:', {fault}, ':{name}:'))"
    return f"CASE WHEN {fault} IS NULL THEN true ELSE rand() > CAST({error} AS DOUBLE) END"


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
