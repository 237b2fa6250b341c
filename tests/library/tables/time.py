"""Dates and times."""

from __future__ import annotations

MODULE = "time"

PRELUDE = """
import time
function day(y: s32, m: u8, d: u8): Date { unwrap_or(try_from_ymd(y, m, d), Date{0, 0, 0}) }
function clock(h: u8, m: u8, s: u8): Time { unwrap_or(try_from_hms(h, m, s), midnight()) }
function t(): Time { unwrap_or(try_from_hms_nano(14, 5, 2, 500006007), midnight()) }
function d(): Date { day(2001, 8, 3) }
function dt(): DateTime { DateTime{d(), t()} }
function td(): TzDateTime { offset_timezone(dt(), 5400) }
function pad(specifier: string): (string, string, string, string) {
    (f(specifier), f("_" ++ specifier), f("-" ++ specifier), f("0" ++ specifier))
}
function f(specifier: string): string { unwrap_or(format(dt(), "%" ++ specifier), "wrong") }
function z(specifier: string): string { unwrap_or(format(td(), "%" ++ specifier), "wrong") }
function back(s: string, form: string): string { text(date_parse(s, form)) }
function text(r: Result<Date, string>): string {
    match (r) { Ok{var date} -> to_string(date), Err{var e} -> e }
}
function moment(r: Result<TzDateTime, string>): string {
    match (r) { Ok{var td} -> to_rfc3339(td), Err{var e} -> e }
}
"""

CALLS = {
    "(midnight(), clock(23, 59, 59))": "(time::Time{0,0,0,0}, time::Time{23,59,59,0})",
    "try_from_hms(24, 0, 0)": 'ddlog_std::Err{"hour must be in the range 0..=23"}',
    "try_from_hms(0, 60, 0)": 'ddlog_std::Err{"minute must be in the range 0..=59"}',
    "try_from_hms(0, 0, 60)": 'ddlog_std::Err{"second must be in the range 0..=59"}',
    "try_from_hms_milli(1, 2, 3, 999)": "ddlog_std::Ok{time::Time{1,2,3,999000000}}",
    "try_from_hms_milli(1, 2, 3, 1000)": 'ddlog_std::Err{"millisecond must be in the range 0..=999"}',
    "try_from_hms_micro(1, 2, 3, 1000000)": 'ddlog_std::Err{"microsecond must be in the range 0..=999999"}',
    "(try_from_hms_micro(1, 2, 3, 4), try_from_hms_nano(1, 2, 3, 4))":
        "(ddlog_std::Ok{time::Time{1,2,3,4000}}, ddlog_std::Ok{time::Time{1,2,3,4}})",
    "try_from_hms_nano(1, 2, 3, 1000000000)":
        'ddlog_std::Err{"nanosecond must be in the range 0..=999999999"}',
    "(hour(t()), minute(t()), second(t()), millisecond(t()), microsecond(t()), nanosecond(t()))":
        "(14, 5, 2, 500, 500006, 500006007)",
    "(time2string(t()), to_string(clock(9, 5, 3)))": '("14:05:02.500006007", "9:05:03.000000000")',
    '(string2time("9:05:03.5"), to_time("14:05:02.500006007") == Ok{t()})':
        "(ddlog_std::Ok{time::Time{9,5,3,500000000}}, true)",
    '(is_err(string2time("")), is_err(string2time("9:5:03.5")), is_err(string2time("25:00:00.0")))':
        "(true, true, true)",
    'time_format(t(), "%H-%M")': 'ddlog_std::Ok{"14-05"}',
    'format(t(), "%I%p")': 'ddlog_std::Ok{"02pm"}',
    'format(midnight(), "%I %P")': 'ddlog_std::Ok{"12 AM"}',
    'format(t(), "%d")': 'ddlog_std::Err{"`%d` needs a date"}',
    '(time_parse("12:30 am", "%I:%M %p"), time_parse("1 PM", "%-I %P"))':
        "(ddlog_std::Ok{time::Time{0,30,0,0}}, ddlog_std::Ok{time::Time{13,0,0,0}})",
    '(is_err(time_parse("1", "%-I")), is_err(time_parse("13 pm", "%I %p")), is_err(time_parse("", "")))':
        "(true, true, true)",
    "day(2000, 2, 29)": "time::Date{2000,2,29}",
    "try_from_ymd(1900, 2, 29)":
        'ddlog_std::Err{"day must be in the range 1..=28, given values of other parameters"}',
    "try_from_ymd(100001, 1, 1)": 'ddlog_std::Err{"year must be in the range -100000..=100000"}',
    "try_from_ymd(2001, 13, 1)": 'ddlog_std::Err{"month must be in the range 1..=12"}',
    "is_err(try_from_ymd(2001, 4, 0))": "true",
    "try_from_yo(2000, 366)": "ddlog_std::Ok{time::Date{2000,12,31}}",
    "text(try_from_yo(2001, 366))":
        '"ordinal must be in the range 1..=365, given values of other parameters"',
    "try_from_iso_ywd(2020, 53, Friday)": "ddlog_std::Ok{time::Date{2021,1,1}}",
    "text(try_from_iso_ywd(2021, 53, Friday))":
        '"week must be in the range 1..=52, given values of other parameters"',
    "(try_from_iso_ywd(2021, 1, Monday), try_from_iso_ywd(2020, 1, Monday))":
        "(ddlog_std::Ok{time::Date{2021,1,4}}, ddlog_std::Ok{time::Date{2019,12,30}})",
    "(year(d()), month(d()), day(d()), ordinal(d()), week(d()), weekday(d()))":
        "(2001, 8, 3, 215, 31, time::Friday{})",
    "(week(day(2021, 1, 3)), week(day(2020, 12, 31)), weekday(day(-1, 1, 1)))": "(53, 53, time::Friday{})",
    "(next_day(day(2000, 2, 28)), next_day(day(1999, 12, 31)), previous_day(day(1900, 3, 1)))":
        "(time::Date{2000,2,29}, time::Date{2000,1,1}, time::Date{1900,2,28})",
    "(next_day(day(100000, 12, 31)))": "fault: the years of dates go from -100000 to 100000",
    "previous_day(day(-100000, 1, 1))": "fault: the years of dates go from -100000 to 100000",
    "(julian_day(day(1970, 1, 1)), julian_day(day(-4713, 11, 24)), from_julian_day(2440588))":
        "(2440588, 0, time::Date{1970,1,1})",
    "from_julian_day(1000000000)": "fault: the years of dates go from -100000 to 100000",
    "(week(Date{0, 0, 0}))": "fault: there is no day 0-00-00",
    "to_string(Date{2021, 2, 30})": "fault: there is no day 2021-02-30",
    '(back("2021-02-03", "%Y-%m-%d"), back("3 February +12021", "%-d %B %Y"), back("20210203", "%Y%m%d"))':
        '("2021-02-03", "+12021-02-03", "2021-02-03")',
    '(back("2021-034", "%Y-%j"), back("2021-W05-3", "%G-W%V-%u"), back("Wed 05 2021", "%a %U %Y"))':
        '("2021-02-03", "2021-02-03", "2021-02-03")',
    '(back("Wed 05 2021", "%a %W %Y"), back("3 05 2021", "%w %W %Y"), back("Wed 00 2021", "%a %U %Y"))':
        '("2021-02-03", "2021-02-03", "2020-12-30")',
    '(back("69-02-03", "%y-%m-%d"), back("70-02-03", "%y-%m-%d"), back("17 70-02-03", "%C %y-%m-%d"))':
        '("2069-02-03", "1970-02-03", "1770-02-03")',
    'back("2021-02", "%Y-%m")': '"the format does not say which day it is"',
    'back("2021-02-30", "%Y-%m-%d")': '"day must be in the range 1..=28, given values of other parameters"',
    'back("2021-2-3", "%Y-%m-%d")': '"expected the month (`%m`), found `2-3`"',
    'back("2021-02-", "%Y-%m-%d")': '"premature end of input: expected the day (`%d`)"',
    'back("2021", "%Y-%m-%d")': '"premature end of input: expected `-`"',
    'back("2021 1 1", "%G %j %V")': '"expected the day of the year (`%j`), found `1 1`"',
    '(time_parse("10:11:12.103104105", "%T.%f"), time_parse("10:11:12.5", "%T%.f"))':
        "(ddlog_std::Ok{time::Time{10,11,12,103104105}}, ddlog_std::Ok{time::Time{10,11,12,500000000}})",
    'time_format(Time{1, 2, 3, 500000000}, "%T.%f %T%.f")': 'ddlog_std::Ok{"1:02:03.500000000 1:02:03.500"}',
    'time_parse("10:11", "%T")':
        'ddlog_std::Err{"premature end of input: expected `:`"}',
    'back("2021-02-03x", "%Y-%m-%d")': '"`x` is left over after what the format describes"',
    'back("3 4", "%-d %-d")': '"the text has two values of the day"',
    'back("8 Feb  3 2021", "%-m %b %_d %Y")': '"the text has two values of the month"',
    'back("2021-02-03", "%q")': '"the format has an unknown specifier, `%q`"',
    'back("0 05 2021", "%u %W %Y")': '"weekday must be in the range 1..=7"',
    'date_format(d(), "%F %D")': 'ddlog_std::Ok{"2001-08-03 8/03/01"}',
    'format(d(), "100%%")': 'ddlog_std::Ok{"100%"}',
    'format(d(), "%H")': 'ddlog_std::Err{"`%H` needs a time"}',
    'format(d(), "%")': 'ddlog_std::Err{"the format has an unknown specifier, `%`"}',
    "(date2string(d()), to_string(day(-44, 3, 15)), to_string(day(12021, 1, 1)))":
        '("2001-08-03", "-0044-03-15", "+12021-01-01")',
    '(string2date("2001-08-03") == Ok{d()}, to_date("+12021-01-01"), is_err(to_date("2001-8-3")))':
        "(true, ddlog_std::Ok{time::Date{12021,1,1}}, true)",
    'datetime_parse("2001-08-03 14:05", "%Y-%m-%d %H:%M")':
        "ddlog_std::Ok{time::DateTime{time::Date{2001,8,3},time::Time{14,5,0,0}}}",
    '(is_err(datetime_parse("14:05", "%H:%M")), is_err(datetime_parse("2001-08-03", "%F")))': "(true, true)",
    "(dateTime2string(dt()), to_string(DateTime{d(), clock(9, 5, 3)}))":
        '("2001-08-03T14:05:02", "2001-08-03T9:05:03")',
    '(string2datetime("2001-08-03T9:05:03"), is_ok(to_datetime("2001-08-03T14:05:02")))':
        "(ddlog_std::Ok{time::DateTime{time::Date{2001,8,3},time::Time{9,5,3,0}}}, true)",
    '(datetime_format(dt(), "%c"), format(dt(), "%z"))':
        '(ddlog_std::Ok{"Fri Aug 3 14:05:02 2001"}, ddlog_std::Err{"`%z` needs an offset"})',
    '(f("a"), f("A"), f("b"), f("B"), f("p"), f("P"), f("N"), f("%"))':
        '("Fri", "Friday", "Aug", "August", "pm", "PM", "500006007", "%")',
    '(pad("d"), pad("H"))': '(("03", " 3", "3", "03"), ("14", "14", "14", "14"))',
    '(pad("I"), pad("m"))': '(("02", " 2", "2", "02"), ("08", " 8", "8", "08"))',
    '(pad("M"), pad("S"))': '(("05", " 5", "5", "05"), ("02", " 2", "2", "02"))',
    '(pad("j"), pad("y"))': '(("215", "215", "215", "215"), ("01", " 1", "1", "01"))',
    '(f("C"), f("g"), f("G"), f("u"), f("U"), f("V"), f("w"), f("W"), f("Y"))':
        '("20", "01", "2001", "5", "30", "31", "5", "31", "2001")',
    '(f("c"), f("D"), f("F"), f("r"), f("R"), f("T"), f("Q"))':
        '("Fri Aug 3 14:05:02 2001", "8/03/01", "2001-08-03", "2:05:02 pm", "14:05", "14:05:02", "wrong")',
    "datetime_from_unix_timestamp(0)": "time::DateTime{time::Date{1970,1,1},time::Time{0,0,0,0}}",
    "datetime_from_unix_timestamp(-1)": "time::DateTime{time::Date{1969,12,31},time::Time{23,59,59,0}}",
    "datetime_from_unix_timestamp(9223372036854775807)":
        "fault: the years of dates go from -100000 to 100000",
    "(utc_timezone(dt()).utc == dt(), td().utc.time, td().offset)":
        "(true, time::Time{12,35,2,500006007}, 5400)",
    "offset_timezone(dt(), 86400)": "fault: an offset from UTC is less than a day, not 86400 seconds",
    "(to_string(change_offset(td(), -3600)), change_offset(td(), 0) == utc_timezone(utc_datetime(td())))":
        '("2001-08-03T11:35:02-0100", true)',
    "(time(td()) == t(), utc_datetime(td()).time, time(change_offset(td(), 0)))":
        "(true, time::Time{12,35,2,500006007}, time::Time{12,35,2,500006007})",
    '(tz_datetime_format(td(), "%H:%M %z"), format(td(), "%q"))':
        '(ddlog_std::Ok{"14:05 +0130"}, ddlog_std::Err{"the format has an unknown specifier, `%q`"})',
    '(z("c"), z("D"), z("F"), z("r"), z("R"), z("T"))':
        '("Fri Aug  3 14:05:02 2001", "08/03/01", "2001-08-03", "02:05:02 PM", "14:05", "14:05:02")',
    '(z("p"), z("P"), z("e"), z("k"), z("l"), z("h"), z("f"), z(".f"), z("N"))':
        '("PM", "pm", " 3", "14", " 2", "Aug", "500006007", ".500006007", "500006007")',
    'z(":z")': '"+01:30"',
    'z("s")': '"996842102"',
    'z("x")': '"08/03/01"',
    'z("X")': '"14:05:02"',
    'z("v")': '" 3-Aug-2001"',
    'z("n")': '"\\n"',
    'z("t")': '"\\t"',
    'z("+")': '"2001-08-03T14:05:02.500006007+01:30"',
    "(tzDateTime2string(td()), to_string(td()))": '("2001-08-03T14:05:02+0130", "2001-08-03T14:05:02+0130")',
    "to_rfc2822(td())": '"Fri, 03 Aug 2001 14:05:02 +0130"',
    "to_rfc3339(td())": '"2001-08-03T14:05:02.500006007+01:30"',
    "to_rfc3339(utc_timezone(DateTime{d(), midnight()}))": '"2001-08-03T00:00:00+00:00"',
    'moment(tz_datetime_parse("2001-08-03T9:5:3-0130", "%Y-%m-%dT%T%z"))': '"2001-08-03T09:05:03-01:30"',
    'moment(tz_datetime_parse("fri 3 AUG 2001 9 pm +01:00", "%a %d %b %Y %I %p %z"))':
        '"2001-08-03T21:00:00+01:00"',
    'moment(tz_datetime_parse("996842102.25", "%s%.f"))': '"2001-08-03T12:35:02.250+00:00"',
    'moment(tz_datetime_parse("99999999999999", "%s"))': '"the years of dates go from -100000 to 100000"',
    'moment(tz_datetime_parse("2001-08-03T09:05:03", "%Y-%m-%dT%T"))':
        '"the format does not say what the offset from UTC is"',
    'moment(tz_datetime_parse("Mon 2001-08-03 00:00+0000", "%a %F %R%z"))': '"2001-08-03 is a Friday"',
    'moment(tz_datetime_parse("2001-08-03 00:00+2400", "%F %R%z"))':
        '"an offset from UTC is less than a day, not 86400 seconds"',
    'moment(tz_datetime_parse_from_rfc3339("2001-08-03T14:05:02.123456789123Z"))':
        '"2001-08-03T14:05:02.123456789+00:00"',
    'moment(tz_datetime_parse_from_rfc3339("2001-08-03t14:05:02+01:30"))': '"2001-08-03T14:05:02+01:30"',
    'moment(tz_datetime_parse_from_rfc3339("2001-08-03T14:05Z"))':
        '"not a date and time as RFC 3339 has them: 2001-08-03T14:05Z"',
    'moment(tz_datetime_parse_from_rfc3339("2001-08-32T14:05:00Z"))':
        '"day must be in the range 1..=31, given values of other parameters"',
    'moment(tz_datetime_parse_from_rfc2822("Fri, 3 Aug 2001 14:05:02 +0130"))': '"2001-08-03T14:05:02+01:30"',
    'moment(tz_datetime_parse_from_rfc2822("03 Aug 01 14:05 EST"))': '"2001-08-03T14:05:00-05:00"',
    'moment(tz_datetime_parse_from_rfc2822("03 Aug 71 14:05 GMT"))': '"1971-08-03T14:05:00+00:00"',
    'moment(tz_datetime_parse_from_rfc2822("Mon, 3 Aug 2001 14:05:02 +0130"))': '"2001-08-03 is a Friday"',
    'moment(tz_datetime_parse_from_rfc2822("3 Aug 2001 14:05:02 XYZ"))':
        '"not a date and time as RFC 2822 has them: 3 Aug 2001 14:05:02 XYZ"',
    "(day(1999, 12, 31) < d(), clock(1, 0, 0) < t(), td() < utc_timezone(dt()))": "(true, true, true)",
    "(default(): Weekday)": "time::Monday{}",
}  # fmt: skip
