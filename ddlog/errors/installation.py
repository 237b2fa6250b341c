"""What is installed: the version of ddlog, and whether the packages are there that it needs."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from os.path import dirname, isdir

HOME = dirname(dirname(dirname(__file__)))
NOT_INSTALLED = "a checkout that is not installed"
_RUNS_ON = ("numpy", "numba", "pyarrow", "pyspark", "sqlglot", "pandas", "polars")


@cache
def version() -> str:
    """The version of ddlog."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ddlog")
    except PackageNotFoundError:
        return NOT_INSTALLED


def versions() -> str:
    """The version of ddlog, and on a second line those of Python and of the packages that are installed, as a
    report of a fault needs them."""
    import platform
    from importlib import metadata

    found = [f"Python {platform.python_version()}"]
    for name in _RUNS_ON:
        with suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return f"ddlog {version()}\n{', '.join(found)}, {platform.system()} {platform.machine()}"


def check_packages() -> None:
    """Raises ImportError where ddlog is a checkout without the packages that it needs."""
    if isdir(f"{HOME}/engine"):
        from importlib.util import find_spec

        if find_spec("numpy") is None:
            raise ImportError(f"ddlog is {NOT_INSTALLED}, and lacks its packages: pip install -e {HOME}")
