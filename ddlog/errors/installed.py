"""What is installed: the version of ddlog, and whether the packages are there that it needs."""

from __future__ import annotations

from functools import cache
from os.path import dirname, isdir

HOME = dirname(dirname(dirname(__file__)))
NOT_INSTALLED = "a checkout that is not installed"


@cache
def version() -> str:
    """The version of ddlog."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ddlog")
    except PackageNotFoundError:
        return NOT_INSTALLED


def check_packages() -> None:
    """Raises ImportError where ddlog is a checkout without the packages that it needs."""
    if isdir(f"{HOME}/engine"):
        from importlib.util import find_spec

        if find_spec("numpy") is None:
            raise ImportError(f"ddlog is {NOT_INSTALLED}, and lacks its packages: pip install -e {HOME}")
