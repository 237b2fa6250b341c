"""Faults of user code on their way from the executors: raised by SQL, found in the error of the job."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager

from .expressions import Expressions

_MARK = "ddlog-fault"
_FOUND = re.compile(rf"{_MARK}:([A-Za-z0-9+/=]*):([A-Za-z0-9+/=]*):")


def raised(rule: str, fault: str = "e", weight: str = "w") -> str:
    """The SQL of a weight that raises the fault beside it."""
    name = base64.b64encode(rule.encode()).decode()
    message = f"concat('{_MARK}:', {fault}, ':{name}:')"
    return f"CASE WHEN {fault} IS NULL THEN {weight} ELSE CAST(raise_error({message}) AS BIGINT) END"


@contextmanager
def raising(expressions: Expressions) -> Iterator[None]:
    """Raises the RowFault that a job failed with in place of Spark's error."""
    try:
        yield
    except Exception as error:
        found = _FOUND.search(str(error))
        if found is None:
            raise
        rule = base64.b64decode(found.group(2)).decode()
        raise expressions.fault(found.group(1), rule) from None
