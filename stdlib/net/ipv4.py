"""The functions that ipv4.dl declares `extern`."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address

from ...values import Struct, Vec
from ..options import NONE, err, ok, some
from ..structs import struct

Ipv4Addr = struct("net::ipv4::Ipv4Addr", "addr")


def ipv4_from_octet_vec(octets: Vec) -> Struct:
    return some(Ipv4Addr(int.from_bytes(octets, "big"))) if len(octets) == 4 else NONE


def ipv4_from_str(s: str) -> Struct:
    try:
        return ok(Ipv4Addr(int(IPv4Address(s))))
    except AddressValueError:
        return err("invalid IPv4 address syntax")


def ipv4Addr2string(addr: Struct) -> str:
    return str(IPv4Address(addr[0]))


def ipv4_octet_vec(addr: Struct) -> Vec:
    return Vec(addr[0].to_bytes(4, "big"))
