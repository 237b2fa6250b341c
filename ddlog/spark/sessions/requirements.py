"""The packages and the server that Spark needs, looked for before Spark is started."""

from __future__ import annotations

import os
import re
import socket
from contextlib import suppress

from ...errors.diagnostics import DDlogError
from ...errors.spark import CannotConnect, NoPySpark

OLDEST = (4, 1)
_PATIENCE = 5.0


def check_pyspark(remote: str | None) -> None:
    """Raises DDlogError if PySpark is missing or too old, or, for a remote address, its parts for Spark
    Connect."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("pyspark")
    except PackageNotFoundError:
        for name in ("pyspark-client", "pyspark-connect"):
            with suppress(PackageNotFoundError):
                version(name)
                return
        raise DDlogError([NoPySpark("pyspark")]) from None
    if tuple(int(part) for part in re.findall(r"[0-9]+", found)[:2]) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise DDlogError([NoPySpark(f"pyspark {needed} or later", f"this is {found}")])
    if remote:
        for package in ("grpc", "grpc_status", "google.rpc"):
            if not _is_there(package):
                raise DDlogError([NoPySpark("pyspark[connect]", f"{package} is not installed")])


def _is_there(package: str) -> bool:
    from importlib.util import find_spec

    with suppress(ImportError):
        return find_spec(package) is not None
    return False


def check_server(place: str, port: int, address: str) -> None:
    """Raises DDlogError if no server listens at HOST[:PORT]; Spark itself would try for minutes. `port` is
    used if there is none in `place`, `address` is how messages call the place."""
    if any(name in os.environ for name in ("grpc_proxy", "https_proxy", "HTTPS_PROXY", "http_proxy")):
        return
    host, _, digits = place.partition(";")[0].rpartition(":")
    host, number = (host, int(digits)) if host and digits.isdigit() else (place.partition(";")[0], port)
    try:
        socket.create_connection((host.strip("[]"), number), _PATIENCE).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise DDlogError([CannotConnect(address, reason.lower())]) from None
