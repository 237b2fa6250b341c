"""Addresses of version 6 of the internet protocol."""

from __future__ import annotations

MODULE = "net::ipv6"

PRELUDE = """
import net::ipv4
import net::ipv6
function of(s: string): Ipv6Addr { unwrap_or(ipv6_from_str(s), iPV6_UNSPECIFIED()) }
function again(s: string): Result<string, string> {
    match (ipv6_from_str(s)) { Ok{var addr} -> Ok{to_string(addr)}, Err{var e} -> Err{e} }
}
"""

CALLS = {
    "ipv6_new(0, 0, 0, 0, 0, 0, 1, 2)": "net::ipv6::Ipv6Addr{65538}",
    "\"${ipv6_new('h2001, 'hdb8, 0, 1, 0, 0, 0, 'hA)}\"": '"2001:db8:0:1::a"',
    'ipv6_from_segment_vec([1, 2, 3, 4, 5, 6, 7, 8]) == Some{of("1:2:3:4:5:6:7:8")}': "true",
    "ipv6_from_segment_vec([1, 2])": "ddlog_std::None{}",
    "ipv6_from_octets('hfe, 'h80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1) == of(\"fe80::1\")": "true",
    "ipv6_from_octet_vec(vec_with_length(16, 1)) == Some{ipv6_new(257, 257, 257, 257, 257, 257, 257, 257)}":
        "true",
    "ipv6_from_octet_vec([1])": "ddlog_std::None{}",
    "(ipv6_to_u128(ipv6_from_u128(77)), ipv6_from_u128(1) == iPV6_LOCALHOST())": "(77, true)",
    'again("::")': 'ddlog_std::Ok{"::"}',
    'again("::1")': 'ddlog_std::Ok{"::1"}',
    'again("0:0:1::")': 'ddlog_std::Ok{"0:0:1::"}',
    'again("1:2:3:4:5:6:7::")': 'ddlog_std::Ok{"1:2:3:4:5:6:7:0"}',
    'again("FF02:0:0:1:0:0:0:1")': 'ddlog_std::Ok{"ff02:0:0:1::1"}',
    'again("::1.2.3.4")': 'ddlog_std::Ok{"::1.2.3.4"}',
    'again("::FFFF:1.2.3.4")': 'ddlog_std::Ok{"::ffff:1.2.3.4"}',
    'again("64:ff9b::1.2.3.4")': 'ddlog_std::Ok{"64:ff9b::102:304"}',
    'again("::ffff:0:0")': 'ddlog_std::Ok{"::ffff:0.0.0.0"}',
    'again("1:2")': 'ddlog_std::Err{"invalid IPv6 address syntax"}',
    '(is_err(again("fe80::1%eth0")), is_err(again("1::2::3")), is_err(again("12345::")), is_err(again("")))':
        "(true, true, true, true)",
    'ipv6Addr2string(of("2001:db8:0:0:1:0:0:1"))': '"2001:db8::1:0:0:1"',
    'ipv6_segments(of("1:2::ffff"))': "(1, 2, 0, 0, 0, 0, 0, 65535)",
    'ipv6_segment_vec(of("1:2::ffff"))': "[1, 2, 0, 0, 0, 0, 0, 65535]",
    'ipv6_octets(of("102::fffe"))': "(1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 254)",
    'ipv6_octet_vec(of("102::fffe"))': "[1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 254]",
    '(ipv6_is_unspecified(of("::")), ipv6_is_unspecified(of("::1")))': "(true, false)",
    '(ipv6_is_loopback(of("::1")), ipv6_is_loopback(of("::")))': "(true, false)",
    '(ipv6_is_multicast(of("ff02::1")), ipv6_is_multicast(of("fe80::1")))': "(true, false)",
    'ipv6_to_ipv4(of("::ffff:1.2.3.4")) == Some{ipv4_new(1, 2, 3, 4)}': "true",
    'ipv6_to_ipv4(of("::1.2.3.4")) == Some{ipv4_new(1, 2, 3, 4)}': "true",
    'ipv6_to_ipv4(of("1::"))': "ddlog_std::None{}",
    'of("::2") < of("1::")': "true",
}  # fmt: skip
