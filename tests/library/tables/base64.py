"""Bytes as text of 64 characters."""

from __future__ import annotations

MODULE = "base64"

PRELUDE = """
import base64
"""

CALLS = {
    'encode(to_bytes("any carnal pleas"))': '"YW55IGNhcm5hbCBwbGVhcw=="',
    "(encode(vec_empty()), encode([255, 254]), encode([0, 16, 131]))": '("", "//4=", "ABCD")',
    'decode("YW55IGNhcm5hbCBwbGVhcw==")':
        "ddlog_std::Ok{[97, 110, 121, 32, 99, 97, 114, 110, 97, 108, 32, 112, 108, 101, 97, 115]}",
    'decode("")': "ddlog_std::Ok{[]}",
    'decode("YQ==")': "ddlog_std::Ok{[97]}",
    'decode("YQ=")': "ddlog_std::Ok{[97]}",
    'decode("YQ")': "ddlog_std::Ok{[97]}",
    'decode("+/8=")': "ddlog_std::Ok{[251, 255]}",
    'decode("YR==")': 'ddlog_std::Err{"Invalid last symbol 82, offset 1."}',
    'decode("Y")': 'ddlog_std::Err{"Encoded text cannot have a 6-bit remainder."}',
    'decode("YWJj=")': 'ddlog_std::Err{"Invalid byte 61, offset 4."}',
    'decode("Y-Jj")': 'ddlog_std::Err{"Invalid byte 45, offset 1."}',
    'decode("é")': 'ddlog_std::Err{"Invalid byte 195, offset 0."}',
}  # fmt: skip
