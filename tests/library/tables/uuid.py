"""Universally unique identifiers."""

from __future__ import annotations

MODULE = "uuid"

PRELUDE = """
import uuid
function some(): Uuid { from_u128(128'h00112233445566778899aabbccddeeff) }
"""

CALLS = {
    "(is_nil(nil()), is_nil(some()), as_u128(nil()))": "(true, false, 0)",
    "to_hyphenated_lower(nAMESPACE_DNS())": '"6ba7b810-9dad-11d1-80b4-00c04fd430c8"',
    "to_hyphenated_lower(nAMESPACE_OID())": '"6ba7b812-9dad-11d1-80b4-00c04fd430c8"',
    "to_hyphenated_lower(nAMESPACE_URL())": '"6ba7b811-9dad-11d1-80b4-00c04fd430c8"',
    "to_hyphenated_lower(nAMESPACE_X500())": '"6ba7b814-9dad-11d1-80b4-00c04fd430c8"',
    'to_hyphenated_lower(new_v5(nAMESPACE_DNS(), to_bytes("python.org")))':
        '"886313e1-3b8a-5372-9b90-0c9aee199e5d"',
    "to_hyphenated_lower(new_v5(nil(), vec_empty()))": '"e129f27c-5103-5c5c-844b-cdf0a15e160d"',
    "from_u128_le(128'h0100).as_u128() == 128'h00010000000000000000000000000000": "true",
    "(to_u128_le(from_u128(1)) == 128'd1 << 120, to_u128_le(from_u128_le(12345)))": "(true, 12345)",
    "as_u128(from_u128(5))": "5",
    "from_bytes(vec_with_length(16, 1)) == Ok{from_u128(128'h01010101010101010101010101010101)}": "true",
    "from_bytes([1, 2, 3])": 'ddlog_std::Err{"a uuid has 16 bytes, not 3"}',
    'parse_str("00112233-4455-6677-8899-AABBCCDDEEFF") == Ok{some()}': "true",
    'parse_str("00112233445566778899aabbccddeeff") == Ok{some()}': "true",
    'parse_str("urn:uuid:00112233-4455-6677-8899-aabbccddeeff") == Ok{some()}': "true",
    'parse_str("0011-223344556677-8899-aabbccddeeff")':
        'ddlog_std::Err{"not a uuid: 0011-223344556677-8899-aabbccddeeff"}',
    '(is_err(parse_str("")), is_err(parse_str("{00112233-4455-6677-8899-aabbccddeeff}")))': "(true, true)",
    'is_err(parse_str("g0112233445566778899aabbccddeeff"))': "true",
    "to_hyphenated_upper(some())": '"00112233-4455-6677-8899-AABBCCDDEEFF"',
    "(to_simple_lower(some()), to_simple_upper(some()))":
        '("00112233445566778899aabbccddeeff", "00112233445566778899AABBCCDDEEFF")',
    "(to_urn_lower(some()), to_urn_upper(some()))":
        '("urn:uuid:00112233-4455-6677-8899-aabbccddeeff", "urn:uuid:00112233-4455-6677-8899-AABBCCDDEEFF")',
    "nil()": "uuid::Uuid{0}",
    "nil() < some()": "true",
}  # fmt: skip
