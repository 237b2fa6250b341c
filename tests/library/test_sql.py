"""The functions that views of SQL call."""

from __future__ import annotations

from ddlog.stdlib.options import NONE, some

from .calls import given, given_of_group, untried

PRELUDE = """
import sql
function t(): Option<bool> { Some{true} }
function f(): Option<bool> { Some{false} }
function n(): Option<bool> { None }
function rows(): Vec<Option<string>> { [Some{"b"}, None, Some{"a"}] }
"""

MAP = "sql::map_of([Some{1: u8}, Some{2}], [Some{5: u8}, None])"
CALLS = {
    "(sql::and3(t(), n()), sql::and3(n(), f()), sql::and3(t(), t()))": "(None, Some{false}, Some{true})",
    "(sql::or3(t(), n()), sql::or3(n(), f()), sql::or3(f(), f()))": "(Some{true}, None, Some{false})",
    "(sql::first_of(n(), t()), sql::greatest(n(), f()), sql::least(n(), f()))": "(Some{true}, Some{false}, Some{false})",  # noqa: E501
    "(sql::element([Some{1}, None], -2), sql::slice([1, 2, 3], 2, -1), sql::list_position([None, Some{4}], Some{4}))": "(Some{1}, [2, 3], Some{2})",  # noqa: E501
    "(sql::list_sorted([Some{2}, None, Some{3}], true, true), sql::list_reversed([1, 2]))": "([None, Some{3}, Some{2}], [2, 1])",  # noqa: E501
    "(sql::list_distinct([Some{2}, None, Some{2}]), sql::list_intersect([Some{1}, None], [Some{1}, None]))": "([Some{2}], [Some{1}])",  # noqa: E501
    "(sql::list_has_any([Some{1}, None], [None, Some{2}]), sql::list_has_all([Some{1}], [None, Some{1}]))": "(false, true)",  # noqa: E501
    "(sql::list_min([None, Some{2}, Some{1}]), sql::list_max([Some{1}, Some{2}]))": "(Some{1}, Some{2})",
    "(sql::sum_of_units([None, Some{2}]), sql::sum_of_doubles([Some{0.5}, Some{1.0}]))": "(Some{2}, Some{1.5})",  # noqa: E501
    "(sql::mean_of_units([Some{25}, None], 10), sql::mean_of_doubles([Some{0.5}, Some{1.0}]))": "(Some{2.5}, Some{0.75})",  # noqa: E501
    '(sql::list_text([Some{"a"}, None]), sql::list_join([Some{"a"}, None, Some{"b"}], "-"), sql::split("a b", " "))': '("[a, NULL]", Some{"a-b"}, ["a", "b"])',  # noqa: E501
    "(sql::concatenated([None, Some{[1]}, Some{[2]}]), sql::joined([1], [2]), sql::listed([[1], [2]]))": "([1, 2], [1, 2], Some{[1, 2]})",  # noqa: E501
    '(sql::json_type("[1]"), sql::json_keys("{\\"a\\":1}"), sql::json_list([Some{"1"}]))': '(Some{"ARRAY"}, Some{[Some{"a"}]}, "[1]")',  # noqa: E501
    '(sql::json_number(1.5), sql::json_quoted("a"), sql::json_object([Some{sql::json_member("k", "1")}]))': '("1.5", "\\"a\\"", "{\\"k\\":1}")',  # noqa: E501
    'sql::json_members("[1]")': '[(Some{"0"}, "1", "UBIGINT")]',
    '(sql::json_sure("x"))': 'fault: "x" is no JSON',
    "(sql::span(sql::Interval{1, 1, 5}), sql::span(sql::Interval{0, 31, 5}))": "(2678400000005, 2678400000005)",  # noqa: E501
    "(sql::whole_days(sql::Interval{1, 0, -1}), sql::plus(sql::Interval{1, 2, 3}, sql::times(sql::Interval{1, 1, 1}, 2)))": "(sql::Interval{0,29,86399999999}, sql::Interval{3,4,5})",  # noqa: E501
    "(sql::scaled(sql::Interval{1, 1, 0}, 1.5), sql::divided(sql::Interval{0, 1, 0}, 2.0))": "(sql::Interval{1,16,43200000000}, sql::Interval{0,0,43200000000})",  # noqa: E501
    "sql::divided(sql::Interval{0, 1, 0}, 0.0)": "fault: division by zero",
    '(sql::add_interval(5, sql::Interval{1, 1, 1}), sql::interval_part("MONTH", sql::Interval{-14, 0, 0}))': "(2764800000006, -2)",  # noqa: E501
    "(sql::age(2678400000000, 0), sql::bucket(sql::Interval{0, 0, 10}, -1, 3), sql::bucket(sql::Interval{2, 0, 0}, -1, 0))": "(sql::Interval{1,0,0}, -7, -5270400000000)",  # noqa: E501
    "(sql::since_epoch(sql::Interval{12, 1, 0}), sql::since_epoch(sql::Interval{11, 0, 1}))": "(31644000000000, 28512000000001)",  # noqa: E501
    "(sql::json_decimal(1250, 3), sql::json_decimal(-100, 2), sql::json_decimal(1000000000000000, 1))": '("1.25", "-1.0", "100000000000000.0")',  # noqa: E501
    '(sql::read_interval("1 day 02:00:00"), sql::read_interval("x"), sql::interval_text(sql::Interval{-14, 1, -5}))': '(Some{sql::Interval{0,1,7200000000}}, None, "-1 year -2 months 1 day -00:00:00.000005")',  # noqa: E501
    "(sql::between(86400000007, 0), sql::between(0, 5))": "(sql::Interval{0,1,7}, sql::Interval{0,0,-5})",
    '(sql::sure(t(), "t", "BOOLEAN"))': "true",
    '(sql::sure(n(), "x", "BOOLEAN"))': 'fault: "x" is no BOOLEAN',
    '(sql::broken("the constraint x"))': "fault: the constraint x",
    "(sql::floor_div(-7, 2), sql::ceil_div(-7, 2), sql::trunc_div(-7, 2), sql::floor_mod(-7, 2))": "(-4, -3, -3, 1)",  # noqa: E501
    "(sql::rounded(25, 10), sql::rounded(-25, 10), sql::rounded(24, 10))": "(3, -3, 2)",
    "(sql::as_double(125, 100), sql::from_double(1.255, 2), sql::from_double(2.5, 0))": "(1.25, 125, 2)",
    "sql::from_double(1e308, 2)": "fault: 1e+308 has too many digits",
    "sql::from_double(1.0 / 0.0, 2)": "fault: inf is no exact number",
    "(sql::double_mod(-5.5, 2.0), sql::double_mod(1.0, 0.0), sql::double_round(2.675, 1))": "(-1.5, NaN, 2.7)",  # noqa: E501
    "(sql::double_floor(-1.5), sql::double_ceil(-1.5), sql::double_trunc(-1.5))": "(-2, -1, -1)",
    "(sql::double_sqrt(2.25), sql::double_sqrt(-1.0), sql::double_ln(0.0), sql::double_ln(-1.0))": "(1.5, NaN, -inf, NaN)",  # noqa: E501
    "(sql::double_exp(0.0), sql::double_exp(1e9), sql::double_pow(2.0, 0.5), sql::double_pow(-1.0, 0.5))": "(1, inf, 1.4142135623730951, NaN)",  # noqa: E501
    '(sql::integer_of("-0x1F"), sql::integer_of("0b101"), sql::integer_of("007"), sql::integer_of("3.7"))': "(Some{-31}, Some{5}, Some{7}, None)",  # noqa: E501
    "(sql::fixed_text(3.14), sql::fixed_text(-1.0 / 0.0))": '("3.140000", "-inf")',
    '(sql::read_integer("3.7"), sql::read_integer("x"), sql::read_decimal("-1.255", 2))': "(Some{4}, None, Some{-126})",  # noqa: E501
    '(sql::read_double("1e3"), sql::read_boolean("T"), sql::read_boolean("?"))': "(Some{1000}, Some{true}, None)",  # noqa: E501
    '(sql::read_date("1970-01-03"), sql::read_time("00:00:01.5"), sql::read_timestamp("1970-01-02 00:00:01"))': "(Some{2}, Some{1500000}, Some{86401000000})",  # noqa: E501
    "(sql::date_text(2), sql::time_text(1500000), sql::timestamp_text(86401000000))": '("1970-01-03", "00:00:01.5", "1970-01-02 00:00:01")',  # noqa: E501
    "(to_string(sql::Date{2}), to_string(sql::Time{0}), to_string(sql::Timestamp{0}))": '("1970-01-03", "00:00:00", "1970-01-01 00:00:00")',  # noqa: E501
    '(to_string(sql::TimestampTz{0}), sql::timestamptz_text(0, "Asia/Kolkata"), sql::wall_clock(0, "europe/berlin"))': '("1970-01-01 00:00:00+00", "1970-01-01 05:30:00+05:30", 3600000000)',  # noqa: E501
    '(sql::instant(1711852200000000, "Europe/Berlin"), sql::instant(1729996200000000, "Europe/Berlin"))': "(1711848600000000, 1729992600000000)",  # noqa: E501
    'sql::wall_clock(0, "Nowhere")': "fault: there is no time zone `Nowhere`: zones have names as Europe/Berlin and UTC",  # noqa: E501
    '(sql::add_interval_in(1711762200000000, sql::Interval{0, 1, 5}, "Europe/Berlin"), sql::between_in(1711848600000000, 1711762200000000, "Europe/Berlin"))': "(1711848600000005, sql::Interval{0,1,0})",  # noqa: E501
    '(sql::truncated_in("HOUR", 1800000000, "Asia/Kolkata"), sql::read_timestamptz("1970-01-01 00:00 Asia/Kolkata", "UTC"), sql::read_timestamptz("x", "UTC"))': "(1800000000, Some{-19800000000}, None)",  # noqa: E501
    '(sql::strftime_in(0, "%H:%M %z %Z", "Asia/Kolkata"), sql::strptime_in("1970-01-01 01+01", "%Y-%m-%d %H%z"))': '("05:30 +05:30 Asia/Kolkata", 0)',  # noqa: E501
    "(sql::decimal_text(-5, 2), sql::decimal_text(1234, 2), sql::double_text(100.0))": '("-0.05", "12.34", "100.0")',  # noqa: E501
    '(sql::like("abc", "a_%", ""), sql::like("a%", "a!%", "!"), sql::ilike("ABC", "%b%", ""))': "(true, true, true)",  # noqa: E501
    '(sql::regexp_full_match("abc", "b."), sql::regexp_extract("a1", "(a)(.)", 2), sql::regexp_extract("a", "a", 1))': '(false, "1", "")',  # noqa: E501
    '(sql::regexp_extract_all("ab", "(.)", 1), sql::regexp_split("a,b", ",", -1))': '([Some{"a"}, Some{"b"}], [Some{"a"}, Some{"b"}])',  # noqa: E501
    '(sql::regexp_replace("aa", "(a)", "<\\\\1>", false), sql::regexp_replace("aa", "a", "b", true))': '("<a>a", "bb")',  # noqa: E501
    '(sql::regexp_matches("abc", "b."), sql::regexp_matches("abc", "^b"))': "(true, false)",
    '(sql::length("é"), sql::position("abc", "c"), sql::position("abc", "x"))': "(1, 3, 0)",
    '(sql::substring("abcde", 0, 2), sql::substring("abcde", -2, 2), sql::substring_from("abcde", 3))': '("a", "de", "cde")',  # noqa: E501
    '(sql::left("abc", -1), sql::left("abc", 2), sql::right("abc", 2), sql::right("abc", -1))': '("ab", "ab", "bc", "bc")',  # noqa: E501
    '(sql::upper("aß"), sql::lower("AB"), sql::reversed("abc"), sql::replaced("aXa", "a", "b"))': '("Aẞ", "ab", "cba", "bXb")',  # noqa: E501
    '(sql::repeated("ab", 2), sql::repeated("ab", -1), sql::trim_both(" a ", " "))': '("abab", "", "a")',
    '(sql::trim_leading("xxa", "x"), sql::trim_trailing("axx", "x"))': '("a", "a")',
    '(sql::pad_left("a", 3, "xy"), sql::pad_right("abc", 2, "x"))': '("xya", "ab")',
    'sql::pad_left("a", 3, "")': "fault: there is nothing to pad with",
    'sql::concat_ws(",", rows())': '"b,a"',
    '(sql::ordered([((1, true), None), ((2, true), Some{true}), ((3, true), Some{false})], "M"))': "[false, true]",  # noqa: E501
    '(sql::texts(["a", "b"], "-"), sql::texts(vec_empty(), "-"))': '(Some{"a-b"}, None)',
    '(sql::at(["a", "b", "c"], 0.5), sql::at(["a"], 0.0), sql::mode(["b", "a", "b"]))': '(Some{"b"}, Some{"a"}, Some{"b"})',  # noqa: E501
    "(sql::between_values([1.0, 2.0, 4.0], 0.25), sql::between_values(vec_empty(), 0.5))": "(Some{1.5}, None)",  # noqa: E501
    '(sql::double_of("cbrt", 8.0), sql::double_of("log2", 0.0), sql::double_of("log10", -1.0), sql::atan2(0.0, 1.0))': "(2, -inf, NaN, 0)",  # noqa: E501
    "(sql::is_nan(0.0 / 0.0), sql::is_finite(1.0 / 0.0), sql::is_finite(1.0))": "(true, false, true)",
    '(sql::bits("<", 1, 70), sql::bits(">", -8, 1), sql::bits(">", 8, -1))': "(1180591620717411303424, -4, 0)",  # noqa: E501
    'sql::bits("<", -1, 1)': "fault: -1 << 1 is not defined",
    '(sql::glob("abc", "a*[a-c]"), sql::glob("a.c", "a?[!b]"), sql::glob("[a", "[a"), sql::text_slice("abcde", 2, -2), sql::initcap("o\'neil XY"))': '(true, true, false, "bcd", "O\'Neil Xy")',  # noqa: E501
    '(sql::shape([Some{1.0}, Some{2.0}, Some{4.0}, Some{8.5}, None], "kurtosis"), sql::shape([Some{1.0}, Some{4.0}], "mad"), sql::shape([Some{1.0}], "skewness"))': "(Some{1.1604583612627277}, Some{1.5}, None)",  # noqa: E501
    '(sql::entropy([Some{1}, Some{2}, None]), sql::date_sub("MONTH", 0, 2592000000000), sql::make_time(1, 2, 3.5))': "(1, 0, 3723500000)",  # noqa: E501
    "sql::make_time(24, 0, 0.0)": "fault: 24:0:0.0 is no time",
    '(sql::bits("&", 6, 3), sql::bits("|", 6, 3), sql::bits("^", 6, 3), sql::bit_count(7), sql::gcd(12, 8), sql::lcm(4, 6))': "(2, 7, 5, 3, 4, 12)",  # noqa: E501
    '(sql::split_part("a,b", ",", 2), sql::split_part("a,b", ",", -3), sql::translated("abc", "ab", "x"))': '("b", "", "xc")',  # noqa: E501
    '(sql::chr(65), sql::ascii("A"), sql::ascii(""), sql::levenshtein("kitten", "sitting"))': '("A", 65, 0, 3)',  # noqa: E501
    "sql::chr(-1)": "fault: -1 is no letter",
    '(sql::md5(""), sql::length(sql::sha256("")), sql::hex(-1), sql::hex_text("é"))': '("d41d8cd98f00b204e9800998ecf8427e", 64, "FFFFFFFFFFFFFFFF", "C3A9")',  # noqa: E501
    '(sql::strftime(0, "%Y/%m %z %%z %%Y"), sql::strptime("1970-02", "%Y-%m"), sql::last_day(0), sql::make_date(1970, 1, 2))': '("1970/01 +00 %z %Y", 2678400000000, 30, 1)',  # noqa: E501
    "sql::make_date(1970, 2, 30)": "fault: 1970-2-30 is no date",
    'sql::strptime("x", "%Y")': "fault: time data 'x' does not match format '%Y'",
    '(sql::json_at("[1,\\"a\\"]", "[1]", true), sql::json_at("[1,\\"a\\"]", "[1]", false), sql::json_at("[]", "[0]", true))': '(Some{"a"}, Some{"\\"a\\""}, None)',  # noqa: E501
    "(sql::series(1, 3, 1, false), sql::series(3, 1, -1, true))": "([1, 2, 3], [3, 2])",
    "sql::series(1, 3, 0, false)": "fault: a series has steps that are not 0",
    'sql::moments(0, 172800000000, sql::Interval{0, 1, 0}, true, "UTC")': "[0, 86400000000]",
    '(sql::json_length("[1,2]"), sql::json_valid("["), sql::json_valid("1"))': "(Some{2}, false, true)",
    'sql::json_length("[")': 'fault: "[" is no JSON',
    "(sql::add_months(30, 1), sql::add_months(0, -1))": "(58, -31)",
    "sql::add_months(0, 999999)": "fault: the year 85303 is not in the years 1 to 9999",
    '(sql::date_part("YEAR", 0), sql::date_part("DOW", 0), sql::timestamp_part("HOUR", 3600000000))': "(1970, 4, 1)",  # noqa: E501
    '(sql::truncated("MONTH", 86400000000), sql::truncated("HOUR", 3600000001))': "(0, 3600000000)",
    '(sql::date_diff("MONTH", 0, 2678400000000), sql::date_diff("DAY", 0, 86400000000))': "(1, 1)",
    "(sql::variance(2, 4, 10, 1, false), sql::variance(1, 1, 1, 1, false), sql::deviation(2, 4, 10, 1, true))": "(Some{2}, None, Some{1})",  # noqa: E501
    "(sql::variance_of_doubles([Some{1.5}, None, Some{2.5}], true), sql::variance_of_doubles([Some{1.0}], false))": "(Some{0.25}, None)",  # noqa: E501
    "sql::deviation_of_doubles([Some{1.0}, Some{3.0}], true)": "Some{1}",
    '(sql::of_pairs([Some{(1.0, 2.0)}, None, Some{(3.0, 6.0)}], "regr_slope"), sql::of_pairs([None], "corr"))': "(Some{0.5}, None)",  # noqa: E501
    "(sql::product_of([Some{2.0}, None, Some{1.5}]), sql::product_of([None]))": "(Some{3}, None)",
    'sql::histogram([Some{"a"}, None, Some{"b"}, Some{"a"}])': 'Some{{"a": Some{2}, "b": Some{1}}}',
    "sql::not_empty([1: u8])": "[1]",
    "sql::not_empty((vec_empty(): Vec<u8>))": "fault: LIST_REDUCE of an empty list needs a value to begin with",  # noqa: E501
    '(sql::format_integer("05d", 42), sql::format_double(".2f", 1.005), sql::format_text(">3", "a"))': '("00042", "1.00", "  a")',  # noqa: E501
    '(sql::bits_of([6, 3], "&"), sql::bits_of([6, 3], "^"), sql::mean_of_values([Some{1}, None, Some{2}], 10))': "(Some{2}, Some{5}, Some{15})",  # noqa: E501
    'sql::map_of([Some{"b"}, Some{"a"}], [Some{1: u8}, None])': '{"a": None, "b": Some{1}}',
    "sql::map_of([Some{1: u8}, None], [Some{1: u8}, None])": "fault: a key of a map is NULL",
    "sql::map_of([Some{1: u8}, Some{1}], [Some{1: u8}, None])": "fault: a key comes twice in a map",
    "sql::map_of([Some{1: u8}], [Some{1: u8}, None])": "fault: a map of 1 keys and 2 values",
    f"(sql::map_at({MAP}, 1), sql::map_at({MAP}, 3))": "(Some{5}, None)",
    f"(sql::map_found({MAP}, 2), sql::map_found({MAP}, 3))": "([None], [])",
    f"(sql::map_has_value({MAP}, 5), sql::map_pairs({MAP}))": "(true, [(1, Some{5}), (2, None)])",
    f"sql::map_joined(Some{{{MAP}}}, Some{{sql::map_of([Some{{1}}], [Some{{6}}])}})": "{1: Some{6}, 2: None}",
    """(sql::part_text("it's, "), sql::part_text("a b"), sql::part_text(""))""": r"""("'it\\'s, '", "a b", "''")""",  # noqa: E501
    'sql::struct_text([Some{"a"}, Some{"b"}], [Some{"1"}, None])': "\"{'a': 1, 'b': NULL}\"",
    'sql::map_text([Some{"a"}, Some{"b"}], [Some{"1"}, None])': '"{a=1, b=NULL}"',
    'sql::json_members_of([Some{"a"}, Some{"b"}], [Some{"1"}, Some{"null"}])': r'"{\"a\":1,\"b\":null}"',
    "(sql::high(sql::low(Some{1: u8})), sql::high(sql::low(None: Option<u8>)))": "(Some{1}, None)",
}

OF_GROUPS = {
    'sql::top(g, "M", 0, 2)': '["c", "b"]',
    'sql::top(g, "N", 1, -1)': '["b", "c"]',
    "sql::only(h)": "fault: more than one row is returned by a subquery that is used as a value",
}


def test_calls() -> None:
    found = {
        call: text.replace("ddlog_std::", "").replace("{}", "")
        for call, text in given(PRELUDE, CALLS).items()
    }
    assert found == CALLS


def test_calls_with_groups() -> None:
    values = [((1, True), "a"), ((2, True), "b"), ((3, True), "c")]
    tops = {call: text for call, text in OF_GROUPS.items() if "top" in call}
    assert given_of_group(PRELUDE, "((u8, bool), string)", values, tops) == tops
    only = {call.replace("(h)", "(g)"): text for call, text in OF_GROUPS.items() if "only" in call}
    assert given_of_group(PRELUDE, "(u8, bool)", [(1, True), (2, True)], only) == only


OF_WINDOWS = {
    'sql::window_number(g, "N", "rank 0", "rows - + none")': '[("a", 1), ("b", 1), ("c", 3)]',
    'sql::window_value(g, "N", "sum 0", "rows - 0 none")': '[("a", Some{10}), ("b", Some{10}), ("c", Some{40})]',  # noqa: E501
    'sql::window_mean(g, "N", "mean", "rows 0 1 none", 10)': '[("a", Some{1}), ("b", Some{3}), ("c", Some{3})]',  # noqa: E501
}
OF_FRAMES = {
    'sql::window_frames(g, "N", "groups -1 0 row")': '[("a", [None{}]), ("b", [Some{10}]), ("c", [Some{10}, None{}])]',  # noqa: E501
}
OF_DOUBLES = {
    'sql::window_mean_of_doubles(g, "M", "mean", "range - 0 none", 1)': '[("c", Some{3.5}), ("a", Some{2.5}), ("b", Some{2.5})]',  # noqa: E501
}


def test_calls_over_windows() -> None:
    keys = [(1, True), (1, True), (2, True)]
    for type, of, calls in (("bigint", (10, 30), OF_WINDOWS | OF_FRAMES), ("double", (1.5, 3.5), OF_DOUBLES)):
        values = list(zip(keys, "abc", (some(of[0]), NONE, some(of[1])), strict=True))
        found = given_of_group(PRELUDE, f"((u8, bool), string, Option<{type}>)", values, calls)
        assert {
            call: text.replace("ddlog_std::", "").replace(".x = ", "") for call, text in found.items()
        } == calls


def test_every_function_is_called() -> None:
    assert untried("sql", CALLS, OF_GROUPS, OF_WINDOWS, OF_FRAMES, OF_DOUBLES) == []
