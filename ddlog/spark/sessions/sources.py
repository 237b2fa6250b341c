"""Whether the rows of a DataFrame are the same when it is read again: its plan has only steps that compute
the same each time, over files that can be compared with what they were."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ...errors.diagnostics import DDlogError
from ...errors.spark import SourceChanged
from .failures import local_path

_STEPS = {
    "Project", "Filter", "SubqueryAlias", "View", "Union", "Join", "LogicalRelation", "LocalRelation",
    "Range", "OneRowRelation", "Repartition", "RepartitionByExpression", "ResolvedHint",
}  # fmt: skip
_OTHER_EACH_TIME = re.compile(
    r"current_|now\(|localtimestamp|subquery#|exists#|list#|rand|uuid|udf|PythonUDF"
)
_FILES = "HadoopFsRelation"

Print = tuple[int, int, int]
"""The length, the time of the last change, and the inode of a file; 0 where it has none."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of a frame as they were."""

    frame: Any
    files: Mapping[str, Print | None]

    def check(self) -> None:
        """Raises DDlogError if they are others by now."""
        if not self.files:
            return
        there = set(self.frame.select("*").inputFiles())
        for url in there ^ self.files.keys():
            raise DDlogError([SourceChanged(local_path(url))])
        for url, before in self.files.items():
            if _print(self.frame, url) != before:
                raise DDlogError([SourceChanged(local_path(url))])


def sources_of(frame: Any, known: bool = False) -> Sources | None:
    """The files that a frame of a classic session reads; None if its rows might be others when it is read
    again. `known`: a frame over files that was made here, so that only the files can change."""
    if not known and not _is_repeatable(frame):
        return None
    files = {url: _print(frame, url) for url in frame.select("*").inputFiles()}
    return None if None in files.values() else Sources(frame, files)


def _is_repeatable(frame: Any) -> bool:
    plan = frame._jdf.queryExecution().analyzed()
    return (
        bool(plan.deterministic())
        and _OTHER_EACH_TIME.search(str(plan.toString())) is None
        and _has_only_steps(plan)
    )


def _has_only_steps(plan: Any) -> bool:
    kind = plan.getClass().getSimpleName()
    if kind not in _STEPS:
        return False
    if kind == "LogicalRelation" and plan.relation().getClass().getSimpleName() != _FILES:
        return False
    children = plan.children()
    return all(_has_only_steps(children.apply(k)) for k in range(children.size()))


def _print(frame: Any, url: str) -> Print | None:
    """A file as it is now; None if it is not there."""
    if url.startswith("file:"):
        with suppress(OSError):
            found = os.stat(local_path(url))
            return found.st_size, found.st_mtime_ns, found.st_ino
        return None
    session = frame.sparkSession
    path = session._jvm.org.apache.hadoop.fs.Path(session._jvm.java.net.URI(url))
    try:
        status = path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf()).getFileStatus(path)
    except Exception:
        return None
    return int(status.getLen()), int(status.getModificationTime()), 0
