"""Addresses of version 4 of the internet protocol."""

from __future__ import annotations

MODULE = "net::ipv4"

PRELUDE = """
import net::ipv4
import net::ipv6
function of(s: string): Ipv4Addr { unwrap_or(ipv4_from_str(s), iPV4_UNSPECIFIED()) }
function having(test: function(Ipv4Addr): bool, all: Vec<string>): Vec<string> {
    var found = vec_empty();
    for (each in all) { if (test(of(each))) { found.push(each) } };
    found
}
"""

CALLS = {
    "ipv4_new(1, 2, 3, 4)": "net::ipv4::Ipv4Addr{16909060}",
    '"${to_string(ipv4_new(1, 2, 3, 255))} ${ipv4Addr2string(ipv4_new(0, 0, 0, 1))}"': '"1.2.3.255 0.0.0.1"',
    "(ipv4_from_octet_vec([1, 2, 3, 4]) == Some{ipv4_new(1, 2, 3, 4)}, ipv4_from_octet_vec([1, 2, 3]))":
        "(true, ddlog_std::None{})",
    "ipv4_from_u32(4294967295) == iPV4_BROADCAST()": "true",
    "(ipv4_to_u32(iPV4_LOCALHOST()), ipv4_to_u32(iPV4_UNSPECIFIED()))": "(2130706433, 0)",
    'ipv4_from_str("10.0.0.255") == Ok{ipv4_new(10, 0, 0, 255)}': "true",
    'ipv4_from_str("10.0.0.256")': 'ddlog_std::Err{"invalid IPv4 address syntax"}',
    'is_err(ipv4_from_str("10.0.0.01"))': "true",
    'is_err(ipv4_from_str("10.0.0"))': "true",
    'is_err(ipv4_from_str(" 10.0.0.1"))': "true",
    '(ipv4_octets(of("1.2.3.4")), ipv4_octet_vec(of("1.2.3.4")))': "((1, 2, 3, 4), [1, 2, 3, 4])",
    'having(ipv4_is_unspecified, ["0.0.0.0", "0.0.0.1"])': '["0.0.0.0"]',
    'having(ipv4_is_loopback, ["127.0.0.1", "127.255.0.0", "128.0.0.1"])': '["127.0.0.1", "127.255.0.0"]',
    'having(ipv4_is_private, ["172.15.9.9", "172.16.0.0", "172.31.255.255", "172.32.0.0"])':
        '["172.16.0.0", "172.31.255.255"]',
    'having(ipv4_is_private, ["10.1.2.3", "11.1.2.3", "192.168.1.1", "192.169.1.1"])':
        '["10.1.2.3", "192.168.1.1"]',
    'having(ipv4_is_link_local, ["169.254.0.0", "169.254.255.255", "169.255.0.0"])':
        '["169.254.0.0", "169.254.255.255"]',
    'having(ipv4_is_multicast, ["223.255.255.255", "224.0.0.0", "239.255.255.255", "240.0.0.0"])':
        '["224.0.0.0", "239.255.255.255"]',
    'having(ipv4_is_broadcast, ["255.255.255.255", "255.255.255.254"])': '["255.255.255.255"]',
    'having(ipv4_is_documentation, ["192.0.2.9", "198.51.100.9", "203.0.113.9", "192.0.3.0"])':
        '["192.0.2.9", "198.51.100.9", "203.0.113.9"]',
    '"${ipv4_to_ipv6_compatible(of("1.2.3.4"))} ${ipv4_to_ipv6_mapped(of("1.2.3.4"))}"':
        '"::1.2.3.4 ::ffff:1.2.3.4"',
    "ipv4_new(9, 255, 0, 0) < ipv4_new(10, 0, 0, 0)": "true",
}  # fmt: skip
