"""Files at URLs, by fsspec: of http(s), and of the object stores for which it has a package."""

from __future__ import annotations

import glob
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import facts as errors
from ..errors.diagnostics import DDlogError
from ..errors.sessions import NotInstalled
from ..errors.spark import OnlySparkReads
from .dialects import Dialect
from .files import FactFile, no_format, split_name

WEB = ("http:", "https:")


def files_at(relation: str, url: str, dialect: Dialect) -> list[FactFile]:
    """The file at a URL, or those that a pattern matches, to be fetched when they are read. Raises
    DDlogError."""
    try:
        import fsspec
    except ImportError:
        on_web = url.startswith(WEB)
        missing = NotInstalled("ddlog[remote]") if on_web else OnlySparkReads(f"{relation}={url}")
        raise DDlogError([missing]) from None
    try:
        system, path = fsspec.core.url_to_fs(url)
        has_pattern = glob.has_magic(path) and not url.startswith(WEB)
        paths = sorted(system.glob(path)) if has_pattern else [path]
    except Exception as error:
        raise _cannot_read(url, error) from None
    return [_file(relation, url if each == path else each, system, each, dialect) for each in paths]


def _file(relation: str, url: str, system: Any, path: str, dialect: Dialect) -> FactFile:
    named = split_name(Path(PurePosixPath(path.partition("?")[0]).name))
    if named is None:
        raise DDlogError([no_format(url)])
    return FactFile(
        relation, Path(path), named[1], named[2], dialect, url, partial(_fetch, system, path, url)
    )


def _fetch(system: Any, path: str, url: str) -> bytes:
    try:
        data: bytes = system.cat_file(path)
        return data
    except Exception as error:
        raise _cannot_read(url, error) from None


def _cannot_read(url: str, error: Exception) -> DDlogError:
    """The error of a file system, each of which has errors of its own."""
    return DDlogError([errors.CannotRead(url, str(error) or type(error).__name__)])
