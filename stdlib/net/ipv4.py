"""The functions that ipv4.dl declares `extern`."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv4Network

from ...values import Struct, Vec
from ..options import NONE, err, ok, some
from ..structs import struct

Ipv4Addr = struct("net::ipv4::Ipv4Addr", "addr")
Ipv6Addr = struct("net::ipv6::Ipv6Addr", "addr")


def _within(addr: Struct, *networks: str) -> bool:
    return any(IPv4Address(addr[0]) in IPv4Network(each) for each in networks)


def ipv4_new(a: int, b: int, c: int, d: int) -> Struct:
    return Ipv4Addr(int.from_bytes((a, b, c, d), "big"))


def ipv4_from_octet_vec(octets: Vec) -> Struct:
    return some(ipv4_new(*octets)) if len(octets) == 4 else NONE


def ipv4_from_u32(ip: int) -> Struct:
    return Ipv4Addr(ip)


def ipv4_from_str(s: str) -> Struct:
    try:
        return ok(Ipv4Addr(int(IPv4Address(s))))
    except AddressValueError:
        return err("invalid IPv4 address syntax")


def ipv4Addr2string(addr: Struct) -> str:
    return str(IPv4Address(addr[0]))


def iPV4_LOCALHOST() -> Struct:
    return ipv4_new(127, 0, 0, 1)


def iPV4_UNSPECIFIED() -> Struct:
    return Ipv4Addr(0)


def iPV4_BROADCAST() -> Struct:
    return ipv4_new(255, 255, 255, 255)


def ipv4_octets(addr: Struct) -> tuple[int, ...]:
    return tuple(addr[0].to_bytes(4, "big"))


def ipv4_octet_vec(addr: Struct) -> Vec:
    return Vec(ipv4_octets(addr))


def ipv4_to_u32(addr: Struct) -> int:
    number: int = addr[0]
    return number


def ipv4_is_unspecified(addr: Struct) -> bool:
    return addr == iPV4_UNSPECIFIED()


def ipv4_is_loopback(addr: Struct) -> bool:
    return _within(addr, "127.0.0.0/8")


def ipv4_is_private(addr: Struct) -> bool:
    return _within(addr, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")


def ipv4_is_link_local(addr: Struct) -> bool:
    return _within(addr, "169.254.0.0/16")


def ipv4_is_multicast(addr: Struct) -> bool:
    return _within(addr, "224.0.0.0/4")


def ipv4_is_broadcast(addr: Struct) -> bool:
    return addr == iPV4_BROADCAST()


def ipv4_is_documentation(addr: Struct) -> bool:
    return _within(addr, "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")


def ipv4_to_ipv6_compatible(addr: Struct) -> Struct:
    return Ipv6Addr(addr[0])


def ipv4_to_ipv6_mapped(addr: Struct) -> Struct:
    return Ipv6Addr(0xFFFF << 32 | addr[0])
