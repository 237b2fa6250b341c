"""Rows as Python has them: None for an absent Option, objects of datetime, Decimal, UUIDs and addresses."""

from __future__ import annotations

import datetime
import decimal
import ipaddress
import uuid
from collections import namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas
import polars
import pytest

import ddlog
from ddlog.errors.diagnostics import DDlogError
from ddlog.values import check
from ddlog.values.rows import row_of, row_taker

PROGRAM = """
import time
import uuid
import net::ipaddr
import sql as q

typedef Shape = Dot | Box{width: u32, note: Option<string>}
typedef List = Cons{head: Date, tail: Option<Intern<List>>}
input relation Order(id: u32, note: Option<string>, on: Date, price: q::Decimal2)
output relation Same(id: u32, note: Option<string>, on: Date, price: q::Decimal2)
Same(i, n, o, p) :- Order(i, n, o, p).
input relation Seen(at: DateTime, zone: TzDateTime, clock: Time, by: Uuid, from: IpAddr)
input relation Nested(
    x: Option<Option<u8>>, dates: Vec<Option<Date>>, seen: Map<IpAddr, Set<Date>>, shape: Shape
)
input relation Chain[List]
index ById(id: u32) on Order(id, _, _, _)
"""
ORDER = (1, None, datetime.date(2026, 1, 2), decimal.Decimal("1.50"))


@pytest.fixture
def session() -> Any:
    with ddlog.compile(PROGRAM).session() as opened:
        yield opened


def test_rows_come_out_as_python_has_them(session: Any) -> None:
    told: list[Any] = []
    session.subscribe("Same", told.extend)
    session.insert("Order", ORDER)
    changes = session.commit()
    (row,) = session["Order"]
    assert row.note is None and row.on == datetime.date(2026, 1, 2) and row.price == decimal.Decimal("1.50")
    assert tuple(row) == ORDER and list(session["Order"].tuples()) == [ORDER]
    assert session.query("Order(1, n, o, p)").rows == [ORDER[1:]]
    assert changes.rows("Same") == [(ORDER, 1)] and told == [(row, 1)] == changes["Same"]
    assert list(session.index("ById")[1]) == [row]
    assert row in session["Order"] and ORDER in session["Order"]
    session.delete("Order", row)
    session.commit()
    assert not session["Order"]


def test_moments_and_addresses(session: Any) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=1))
    given = (
        datetime.datetime(2021, 3, 4, 10, 11, 12, 250),
        datetime.datetime(2021, 3, 4, 10, 11, 12, tzinfo=zone),
        datetime.time(23, 59, 59, 999999),
        uuid.UUID(int=5),
        ipaddress.ip_address("::1"),
    )
    session.insert("Seen", given)
    session.commit()
    (found,) = session["Seen"].tuples()
    assert found == given and found[1].utcoffset() == datetime.timedelta(hours=1)


def test_what_python_has_no_object_for_stays_a_value(session: Any) -> None:
    session.insert("Order", (1, "a", "+12021-03-04", 2))
    session.insert(
        "Seen", ("2021-03-04T10:11:12.000000001", "2021-03-04T10:11:12Z", "10:00:00", "0" * 32, "::")
    )
    session.commit()
    (order,), (seen,) = session["Order"], session["Seen"]
    assert (order.on.year, order.on.month) == (12021, 3) and seen.at.time.nanosecond == 1
    session.delete("Order", order)
    session.delete("Seen", seen)
    session.commit()
    assert not session["Order"] and not session["Seen"]


def test_collections_unions_and_options_in_options(session: Any) -> None:
    day = datetime.date(2026, 1, 2)
    seen = {ipaddress.ip_address("::1"): {day}, ipaddress.ip_address("10.0.0.1"): set()}
    session.insert("Nested", (None, [None, day], seen, {"Box": {"width": 1, "note": None}}))
    session.insert("Nested", ({"some": None}, [], {}, "Dot"))
    session.commit()
    absent, present = session["Nested"]
    assert absent.x is None and present.x is not None and present.x.x is None
    assert list(absent.dates) == [None, day] and absent.shape.note is None
    assert absent.seen[ipaddress.ip_address("::1")] == (day,)
    assert ipaddress.ip_address("10.0.0.1") in dict(absent.seen)
    assert absent.seen.has(ipaddress.ip_address("10.0.0.1"))
    session.delete("Nested", absent, present)
    session.commit()
    assert not session["Nested"]


def test_types_that_hold_themselves(session: Any) -> None:
    day = datetime.date(2026, 1, 2)
    session.insert("Chain", {"head": day, "tail": {"head": day, "tail": None}})
    session.commit()
    (chain,) = session["Chain"]
    assert chain.head == day and chain.tail.head == day and chain.tail.tail is None


@dataclass
class Bought:
    price: decimal.Decimal
    on: datetime.date
    id: int
    note: str | None = None


class Paid(NamedTuple):
    price: decimal.Decimal
    id: int
    on: datetime.date
    note: str | None = None


@dataclass
class Box:
    note: str | None
    width: int


MIXED = ddlog.compile(
    "import time\n"
    "input relation Mixed(n: Option<s8>, x: Option<double>, t: string, on: Date, o: Option<Option<bool>>)"
)
TYPES = [column.type for column in MIXED.relations["Mixed"].columns]
SOME, HALF, NESTED = (
    check(each, TYPES[k], MIXED.checked.typedefs) for k, each in ((0, 4), (1, 0.5), (4, True))
)
GIVEN = (
    [None, 1, -128, 128, True, np.int8(3), float("nan"), "1", SOME, HALF],
    [None, 1, 0.5, -0.0, float("nan"), np.float32(2), False, "x", pandas.NaT, HALF, SOME],
    ["a", "\u00fc", "\ud800", None, 1, np.str_("b")],
    [datetime.date(2026, 1, 2), "2026-01-02", "x", None, 3],
    [None, True, {"some": None}, NESTED, 1],
)


@pytest.mark.parametrize("at", range(len(GIVEN)))
def test_rows_are_taken_as_each_of_their_columns_is_checked(at: int) -> None:
    declared = MIXED.relations["Mixed"], MIXED.checked.typedefs

    def outcome(take: Any, row: Any) -> str:
        try:
            return repr(take(row))
        except DDlogError as error:
            return str(error)

    for each in GIVEN[at]:
        row = [column[1] for column in GIVEN]
        row[at] = each
        for given in (tuple(row), row, tuple(row[1:])):
            assert outcome(row_taker(*declared), given) == outcome(lambda row: row_of(row, *declared), given)


def test_objects_of_the_users_classes(session: Any) -> None:
    session.insert("Order", Bought(ORDER[3], ORDER[2], 1), Paid(ORDER[3], 2, ORDER[2]))
    session.insert("Nested", (5, (), {}, Box("red", 3)))
    session.commit()
    assert list(session["Order"].tuples()) == [ORDER, (2, *ORDER[1:])]
    (nested,) = session["Nested"]
    assert (nested.shape.width, nested.shape.note) == (3, "red")
    with pytest.raises(ddlog.DDlogError, match="price"):
        session.insert("Order", namedtuple("Half", "id on")(1, ORDER[2]))


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars"])
def test_columns_of_datetime64(session: Any, library: str) -> None:
    days = np.array(["2026-01-02", "2026-01-03"], "datetime64[ns]")
    columns: dict[str, Any] = {"id": [1, 2], "note": [None, "a"], "on": days, "price": [1.5, 2.0]}
    if library == "pandas":
        columns = pandas.DataFrame(columns)  # type: ignore[assignment]
    if library == "polars":
        columns = polars.DataFrame(columns)  # type: ignore[assignment]
    session.insert_table("Order", columns)
    session.commit()
    assert [row.on for row in session["Order"]] == [datetime.date(2026, 1, 2), datetime.date(2026, 1, 3)]
    assert next(iter(session["Order"])).price == decimal.Decimal("1.50")
