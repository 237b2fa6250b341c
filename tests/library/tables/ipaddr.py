"""Internet addresses of either version."""

from __future__ import annotations

MODULE = "net::ipaddr"

PRELUDE = """
import net::ipaddr
import net::ipv4
import net::ipv6
function v4(a: u8, d: u8): IpAddr { ipaddr_from_ipv4addr(ipv4_new(a, 0, 0, d)) }
function v6(a: u16, h: u16): IpAddr { ipaddr_from_ipv6addr(ipv6_new(a, 0, 0, 0, 0, 0, 0, h)) }
"""

CALLS = {
    "v4(1, 2)": "net::ipaddr::IpAddrV4{net::ipv4::Ipv4Addr{16777218}}",
    "v6(0, 3)": "net::ipaddr::IpAddrV6{net::ipv6::Ipv6Addr{3}}",
    '"${v4(1, 2)} ${to_string(v6(1, 2))}"': '"1.0.0.2 1::2"',
    "ipaddr_is_unspecified(v4(0, 0))": "true",
    "ipaddr_is_unspecified(v4(0, 1))": "false",
    "ipaddr_is_unspecified(v6(0, 0))": "true",
    "ipaddr_is_unspecified(v6(0, 1))": "false",
    "ipaddr_is_loopback(v4(127, 1))": "true",
    "ipaddr_is_loopback(v4(126, 1))": "false",
    "ipaddr_is_loopback(v6(0, 1))": "true",
    "ipaddr_is_loopback(v6(1, 1))": "false",
    "ipaddr_is_multicast(v4(224, 1))": "true",
    "ipaddr_is_multicast(v4(1, 1))": "false",
    "ipaddr_is_multicast(v6(65280, 1))": "true",
    "ipaddr_is_multicast(v6(1, 1))": "false",
    "(ipaddr_is_ipv4(v4(1, 1)), ipaddr_is_ipv4(v6(1, 1)))": "(true, false)",
    "(ipaddr_is_ipv6(v4(1, 1)), ipaddr_is_ipv6(v6(1, 1)))": "(false, true)",
    "v4(255, 255) < v6(0, 0)": "true",
}  # fmt: skip
