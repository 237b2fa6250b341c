"""The functions that url.dl declares `extern`."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address
from typing import Any

from ..values import Fault, Struct
from .options import NONE, err, ok, some
from .structs import struct

Url = struct("url::Url", "url")

_PARTS = re.compile(
    r"""(?P<scheme>[^:]+) :
    (?P<authority> // (?: (?P<username>[^:@/?\#]*) (?: : (?P<password>[^@/?\#]*) )? @ )?
        (?P<host> \[ [^\]]* \] | [^:/?\#]* ) (?: : (?P<port>[0-9]+) )? )?
    (?: /\. (?=//) )? (?P<path>[^?\#]*) (?: \? (?P<query>[^\#]*) )? (?: \# (?P<fragment>.*) )?""",
    re.VERBOSE | re.DOTALL,
)
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443, "ftp": 21}


def url_parse(url: str) -> Struct:
    from ada_url import check_url, normalize_url

    if not check_url(url):
        return err(f"relative URL without a base: {url}" if _is_relative(url) else f"invalid URL: {url}")
    return ok(Url(normalize_url(url)))


def join(url: Struct, other: str) -> Struct:
    from ada_url import join_url

    try:
        return ok(Url(join_url(url[0], other)))
    except ValueError:
        return err(f"cannot join to {url[0]}: {other}")


def _is_relative(url: str) -> bool:
    return re.match(r"[\0-\x20]*[A-Za-z][A-Za-z0-9+.-]*:", url) is None


def _part(url: Struct, name: str) -> Any:
    found = _PARTS.fullmatch(url[0])
    if found is None:
        raise Fault(f"not the normal form of a URL: {url[0]}")
    return found[name]


def _optional(url: Struct, name: str) -> Struct:
    found = _part(url, name)
    return NONE if found is None else some(found)


def scheme(url: Struct) -> str:
    return _part(url, "scheme")  # type: ignore[no-any-return]


def has_authority(url: Struct) -> bool:
    return _part(url, "authority") is not None


def username(url: Struct) -> str:
    return _part(url, "username") or ""


def password(url: Struct) -> Struct:
    return _optional(url, "password")


def has_host(url: Struct) -> bool:
    return bool(_part(url, "host"))


def host_str(url: Struct) -> Struct:
    return some(_part(url, "host")) if has_host(url) else NONE


def domain(url: Struct) -> Struct:
    return host_str(url) if has_host(url) and not _is_address(url) else NONE


def _is_address(url: Struct) -> bool:
    host = _part(url, "host")
    if host.startswith("["):
        return True
    try:
        IPv4Address(host)
    except AddressValueError:
        return False
    return scheme(url) in (*_PORTS, "file")


def port(url: Struct) -> Struct:
    found = _part(url, "port")
    return NONE if found is None else some(int(found))


def port_or_known_default(url: Struct) -> Struct:
    known = _PORTS.get(scheme(url))
    return some(known) if port(url) == NONE and known is not None else port(url)


def path(url: Struct) -> str:
    return _part(url, "path")  # type: ignore[no-any-return]


def query(url: Struct) -> Struct:
    return _optional(url, "query")


def fragment(url: Struct) -> Struct:
    return _optional(url, "fragment")
