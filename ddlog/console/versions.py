"""The versions that a report of a fault needs."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from ..errors import installed

_PACKAGES = ("numpy", "numba", "pyarrow", "pyspark", "sqlglot", "pandas", "polars")


def versions() -> str:
    """The version of ddlog, and on a second line those of Python and of the packages that are installed."""
    found = [f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"ddlog {installed.version()}\n{', '.join(found)}, {platform.system()} {platform.machine()}"
