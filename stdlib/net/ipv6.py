"""The functions that ipv6.dl declares `extern`."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv6Address

from ...values import Struct, Vec
from ..options import NONE, err, ok, some
from ..structs import struct

Ipv6Addr = struct("net::ipv6::Ipv6Addr", "addr")


def _number(parts: tuple[int, ...], width: int) -> int:
    number = 0
    for part in parts:
        number = number << width | part
    return number


def ipv6_from_segment_vec(segments: Vec) -> Struct:
    return some(Ipv6Addr(_number(segments, 16))) if len(segments) == 8 else NONE


def ipv6_from_octets(*octets: int) -> Struct:
    return Ipv6Addr(_number(octets, 8))


def ipv6_from_octet_vec(octets: Vec) -> Struct:
    return some(ipv6_from_octets(*octets)) if len(octets) == 16 else NONE


def ipv6_from_str(s: str) -> Struct:
    try:
        address = IPv6Address(s)
    except AddressValueError:
        address = None
    if address is None or address.scope_id is not None:
        return err("invalid IPv6 address syntax")
    return ok(Ipv6Addr(int(address)))


def ipv6Addr2string(addr: Struct) -> str:
    high, low = divmod(addr[0], 1 << 32)
    if high not in (0, 0xFFFF) or addr[0] < 2:
        return str(IPv6Address(addr[0]))
    return f"{'::ffff:' if high else '::'}{IPv4Address(low)}"


def ipv6_segments(addr: Struct) -> tuple[int, ...]:
    return tuple(addr[0] >> shift & 0xFFFF for shift in range(112, -1, -16))


def ipv6_segment_vec(addr: Struct) -> Vec:
    return Vec(ipv6_segments(addr))


def ipv6_octets(addr: Struct) -> tuple[int, ...]:
    return tuple(addr[0].to_bytes(16, "big"))


def ipv6_octet_vec(addr: Struct) -> Vec:
    return Vec(ipv6_octets(addr))
