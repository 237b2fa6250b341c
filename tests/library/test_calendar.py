"""The calendar, against that of Python's datetime."""

from __future__ import annotations

import datetime

from hypothesis import given
from hypothesis import strategies as st

from ddlog.stdlib import calendar, time

DAYS = st.dates()
ANY_DAYS = st.integers(
    calendar.number(calendar.Date(-100_000, 1, 1)), calendar.number(calendar.Date(100_000, 12, 31))
)


def struct_of(day: datetime.date) -> calendar.Struct:
    """The date as the library has it."""
    return calendar.from_ymd(day.year, day.month, day.day)


@given(DAYS)
def test_days_have_the_names_and_numbers_that_datetime_gives_them(day: datetime.date) -> None:
    date = struct_of(day)
    assert calendar.number(date) == day.toordinal() + 1_721_425
    assert calendar.iso(date) == tuple(day.isocalendar())
    assert calendar.ordinal(date) == day.timetuple().tm_yday
    for code in "aAbBdjmuUVwWy":
        assert time.date_format(date, f"%{code}")[1] == day.strftime(f"%{code}")


@given(ANY_DAYS)
def test_numbers_of_days_are_days_and_back(number: int) -> None:
    date = calendar.from_number(number)
    assert calendar.number(date) == number
    assert calendar.from_yo(date[0], calendar.ordinal(date)) == date
    assert time.date_parse(time.date2string(date), "%Y-%m-%d") == time.ok(date)
    year, week, weekday = calendar.iso(date)
    for first in (1, 7):
        assert calendar.from_week(date[0], calendar.week_from(date, first), weekday, first) == date
    if abs(year) < 100_000:
        assert calendar.from_iso(year, week, weekday) == date


@given(ANY_DAYS, ANY_DAYS)
def test_dates_are_in_the_order_of_their_numbers(one: int, other: int) -> None:
    assert (calendar.from_number(one) < calendar.from_number(other)) == (one < other)


@given(st.datetimes(timezones=st.just(datetime.UTC)), st.integers(-1439, 1439))
def test_moments_are_what_datetime_makes_of_them(moment: datetime.datetime, minutes: int) -> None:
    offset = minutes * 60
    utc = time.DateTime(struct_of(moment.date()), time.Time(moment.hour, moment.minute, moment.second, 0))
    td = time.change_offset(time.TzDateTime(utc, 0), offset)
    try:
        local = moment.replace(microsecond=0).astimezone(
            datetime.timezone(datetime.timedelta(seconds=offset))
        )
    except OverflowError:
        return
    assert time.to_rfc3339(td) == local.isoformat()
    for read, written in (
        (time.tz_datetime_parse_from_rfc3339, time.to_rfc3339(td)),
        (time.tz_datetime_parse_from_rfc2822, time.to_rfc2822(td)),
    ):
        assert read(written) == time.ok(td)
