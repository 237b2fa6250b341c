"""Interned values: those of internment, and the older ones of intern."""

from __future__ import annotations

from .calls import given, untried

PRELUDE = """
function i(s: string): istring { intern(s) }
"""

CALLS = {
    'intern("a") == i("a") and intern("a") != i("b")': "true",
    "ival(intern(5: u8))": "5",
    "ival(intern([1: u8, 2]))": "[1, 2]",
    'i("a") < i("b")': "true",
    'contains(i("abc"), "bc") and not i("abc").contains("x")': "true",
    'join([i("a"), i("b")], "-")': '"a-b"',
    'len(i("aé"))': "3",
    'replace(i("aXb"), "X", "--")': '"a--b"',
    'split(i("a,,b"), ",")': '["a", "", "b"]',
    'starts_with(i("abc"), "ab") and i("abc").ends_with("bc")': "true",
    'substr(i("hello"), 1, 99)': '"ello"',
    'to_bytes(i("é"))': "[195, 169]",
    'trim(i(" a\\n"))': '"a"',
    'to_lowercase(i("AB")) ++ to_uppercase(i("ab"))': '"abAB"',
    'reverse(i("abé"))': '"éba"',
    'to_string(i("x"))': '"x"',
    '"${i("x")}"': '"x"',
    'parse_dec_u64(i("+7"))': "ddlog_std::Some{7}",
    'parse_dec_i64(i("-7"))': "ddlog_std::Some{-7}",
    'parse_dec_i64(i("7.0"))': "ddlog_std::None{}",
}

OLDER = {
    'istring_str(string_intern("a"))': '"a"',
    'string_intern("a") < string_intern("b")': "true",
    'istring_ord(string_intern("a")) == istring_ord(string_intern("a"))': "true",
    'istring_ord(string_intern("a")) == istring_ord(string_intern("b"))': "false",
}


def test_calls() -> None:
    assert given(PRELUDE, CALLS) | given("import intern", OLDER) == CALLS | OLDER


def test_every_function_is_tried() -> None:
    assert untried("internment", PRELUDE, CALLS) == []
    assert untried("intern", OLDER) == []
