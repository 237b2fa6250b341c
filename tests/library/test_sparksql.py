"""The functions that views in Spark's dialect of SQL call."""

from __future__ import annotations

from .calls import given, untried

PRELUDE = """
import sql
import sparksql
function n(): Option<bool> { None }
function xs(): Vec<Option<bigint>> { [Some{1}, None, Some{1}] }
"""

CALLS = {
    "(sparksql::quotient(-5, 2), sparksql::quotient(5, -3), sparksql::ratio(1.0, 4.0))": "(-3, -2, 0.25)",
    "sparksql::quotient(1, 0)": "fault: division by zero",
    "sparksql::ratio(1.0, 0.0)": "fault: division by zero",
    "(sparksql::round_up(2.675, 2), sparksql::round_even(2.5, 0), sparksql::rounded_even(25, 10))": "(2.68, 2, 2)",  # noqa: E501
    "(sparksql::units_of_double(1.255, 2), sparksql::double_text(0.0 / 0.0))": '(126, "NaN")',
    "sparksql::units_of_double(0.0 / 0.0, 2)": "fault: NaN is no exact number",
    "(sparksql::double_text(1e10), sparksql::double_text(0.5), sparksql::double_text(-1.25e-5))": '("1.0E10", "0.5", "-1.25E-5")',  # noqa: E501
    "(sparksql::logarithm(1.0), sparksql::logarithm(0.0), sparksql::factorial(5), sparksql::factorial(21))": "(Some{0}, None, Some{120}, None)",  # noqa: E501
    "(sparksql::shifted(3, 2), sparksql::shifted(12, -2), sparksql::binary(5), sparksql::width_bucket(2.5, 0.0, 10.0, 4))": '(12, 3, "101", Some{2})',  # noqa: E501
    '(sparksql::converted("ff", 16, 10), sparksql::converted("1", 1, 10), sparksql::format_number(1234.5, 2))': '(Some{"255"}, None, "1,234.50")',  # noqa: E501
    '(sparksql::to_utc(1729996200000000, "Europe/Berlin"), sparksql::to_utc(1711852200000000, "Europe/Berlin"))': "(1729989000000000, 1711848600000000)",  # noqa: E501
    '(sparksql::initcap("ab cD"), sparksql::substring_index("a.b.c", ".", -2), sparksql::locate("b", "abab", 3))': '("Ab Cd", "b.c", 4)',  # noqa: E501
    '(sparksql::overlay("abcd", "X", 2, -1), sparksql::find_in_set("b", "a,b"), sparksql::soundex("Robert"))': '("aXcd", 2, "R163")',  # noqa: E501
    '(sparksql::sha("", 1), sparksql::sha("", 7), sparksql::crc32("a"), sparksql::base64("a"))': '(Some{"da39a3ee5e6b4b0d3255bfef95601890afd80709"}, None, 3904355907, "YQ==")',  # noqa: E501
    '(sparksql::read_decimal("1.255", 2), sparksql::read_decimal("1_0", 2), sparksql::read_double("1.5d"))': "(Some{126}, None, Some{1.5})",  # noqa: E501
    '(sparksql::octets("é"), sparksql::read_integer(" 7 "), sparksql::read_integer("1.5"))': "(2, Some{7}, None)",  # noqa: E501
    '(sparksql::regexp_extract("a1b2", "([a-z])(\\\\d)", 2), 0)': '("1", 0)',
    'sparksql::regexp_extract("a", "a", 1)': "fault: a regular expression with 0 groups has no group 1",
    '(sparksql::regexp_substr("ab", "b"), sparksql::regexp_count("aa", "a"), sparksql::regexp_instr("ab", "b"))': '(Some{"b"}, 2, 2)',  # noqa: E501
    'sparksql::regexp_replace("ab", "(a)(b)", "$2$1")': '"ba"',
    '(sparksql::moment_text(0, "yyyy-MM-dd E"), sparksql::read_moment("2 Jan 1970", "d MMM yyyy"))': '("1970-01-01 Thu", Some{86400000000})',  # noqa: E501
    '(sparksql::read_moment("13 PM", "hh a"), sparksql::read_date("1970-1-2"), sparksql::read_timestamp("1970-01-01 0:0:1"))': "(None, Some{1}, Some{1000000})",  # noqa: E501
    '(sparksql::months_between(2678400000000, 0, true), sparksql::next_day(0, "MON"), sparksql::next_day(0, "x"))': "(1, Some{4}, None)",  # noqa: E501
    '(sql::date_sub("DAY", 0, -86400000001), sql::date_sub("MONTH", 0, 2678400000000))': "(-1, 1)",
    "(sparksql::at(xs(), 0), sparksql::element_at(xs(), -1), sparksql::get(xs(), 9), sparksql::get(xs(), 0))": "(Some{1}, Some{1}, None, Some{1})",  # noqa: E501
    "sparksql::at(xs(), 3)": "fault: a list of 3 elements has none at 3",
    "sparksql::element_at(xs(), 0)": "fault: the first element of a list is at 1, not at 0",
    "(sparksql::slice([1, 2, 3], -2, 1), sparksql::distinct([1, 1]), sparksql::intersect([1, 2], [2]))": "([2], [1], [2])",  # noqa: E501
    "(sparksql::minus([1, 2], [2]), sparksql::repeated(7, 2), sparksql::sequence(3, 1, -1))": "([1], [7, 7], [Some{3}, Some{2}, Some{1}])",  # noqa: E501
    "sparksql::sequence(1, 3, -1)": "fault: the steps of a sequence from 1 to 3 cannot be -1",
    "(sparksql::inserted(xs(), 2, None), sparksql::inserted([Some{1}], -3, Some{2}))": "([Some{1}, None, None, Some{1}], [Some{2}, None, Some{1}])",  # noqa: E501
    "(sparksql::contains(xs(), Some{1}), sparksql::contains(xs(), Some{2}), sparksql::contains([Some{1}], Some{2}))": "(Some{true}, None, Some{false})",  # noqa: E501
    "(sparksql::without(xs(), Some{1}), sparksql::overlap(xs(), [Some{2}]), sparksql::position(xs(), Some{2}))": "([None], None, 0)",  # noqa: E501
    "(sparksql::flattened([Some{[1]}, None]), sparksql::flattened([Some{[1]}, Some{[2]}]))": "(None, Some{[1, 2]})",  # noqa: E501
    "(sparksql::any_of([n(), Some{false}]), sparksql::all_of([n(), Some{false}]))": "(None, Some{false})",
    '(sparksql::json_part("no", "[]"), sparksql::json_part("[1]", "[0]"), sparksql::json_keys("{\\"a\\":1}"), sparksql::json_keys("[]"))': '(None, Some{"1"}, Some{[Some{"a"}]}, None)',  # noqa: E501
    "(sparksql::numbered([Some{5}]), sparksql::outer(None: Option<Vec<Option<bigint>>>), sparksql::outer_numbered(Some{[Some{5}]}))": "([(Some{0}, Some{5})], [None], [(Some{0}, Some{5})])",  # noqa: E501
}


def test_calls() -> None:
    found = {
        call: text.replace("ddlog_std::", "").replace("{}", "")
        for call, text in given(PRELUDE, CALLS).items()
    }
    assert found == CALLS


def test_every_function_is_called() -> None:
    assert untried("sparksql", CALLS) == []
