"""What is written is read by ddlog, pandas, polars and DuckDB, and what these write of it again is read by
ddlog as it was."""

from __future__ import annotations

import datetime
import decimal
import ipaddress
import json
import uuid
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pandas
import polars
import pytest

import ddlog
from ddlog.io.files import FactFile
from ddlog.io.frames import columns_of
from ddlog.io.read import read_facts
from ddlog.io.write import write_relation

PROGRAM = """
import time
import uuid
import net::ipaddr
import net::ipv4
import net::ipv6
import sql as q

typedef Point = Point{x: u32, label: string}
typedef Color = Red | Green{shade: u8}
input relation R(
    id: u32, name: string, maybe: Option<string>, count: Option<s64>, on: Date, at: Time, when: DateTime,
    moment: TzDateTime, far: Option<Date>, uuid: Uuid, ip: IpAddr, ip4: Ipv4Addr, ip6: Ipv6Addr,
    price: q::Decimal2, day: q::Date, stamp: q::Timestamp, x: double, y: float, big: bigint, huge: u128,
    point: Point, color: Color, points: Vec<Option<Point>>, tags: Set<string>, ages: Map<string, u8>,
    pair: (u8, u16), nested: Option<Option<u8>>, flag: bool
)
"""
CHECKED = ddlog.compile(PROGRAM)
RELATION, TYPEDEFS = CHECKED.relations["R"], CHECKED.checked.typedefs
FIRST = {
    "id": 1, "name": 'tea, "green"', "maybe": "x", "count": -5, "on": datetime.date(2021, 3, 4),
    "at": datetime.time(10, 11, 12, 500000), "when": datetime.datetime(2021, 3, 4, 10, 11, 12, 250),
    "moment": datetime.datetime(2021, 3, 4, 10, tzinfo=datetime.UTC),
    "far": datetime.date(9999, 12, 31), "uuid": uuid.UUID(int=7), "ip": ipaddress.ip_address("2001:db8::1"),
    "ip4": ipaddress.ip_address("10.0.0.1"), "ip6": ipaddress.ip_address("::1"),
    "price": decimal.Decimal("1.50"), "day": datetime.date(2020, 2, 29),
    "stamp": datetime.datetime(2020, 2, 29, 1, 2, 3), "x": 1e300, "y": 0.1, "big": -(10**30),
    "huge": 2**128 - 1, "point": (1, "a"), "color": {"Green": {"shade": 3}}, "points": [None, (2, "b\n")],
    "tags": {"b", "a"}, "ages": {"ann": 30}, "pair": (1, 300), "nested": None, "flag": True,
}  # fmt: skip
SECOND = FIRST | {
    "id": 2, "name": "", "maybe": None, "count": None, "far": None, "ip": ipaddress.ip_address("10.0.0.2"),
    "color": "Red", "points": [], "tags": [], "ages": {}, "x": 0.5, "flag": False, "nested": {"some": None},
}  # fmt: skip
LINE = """\
2,"",,,2021-03-04,10:11:12.500,2021-03-04T10:11:12.000250,2021-03-04T10:00:00+00:00,,\
00000000-0000-0000-0000-000000000007,10.0.0.2,10.0.0.1,::1,1.50,2020-02-29,2020-02-29 01:02:03,0.5,0.1,\
-1000000000000000000000000000000,340282366920938463463374607431768211455,"{""x"": 1, ""label"": ""a""}",Red,\
[],[],{},"[1, 300]","{""some"": null}",false"""


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes the two rows in a format, and returns the path."""

    def write(format: str) -> Path:
        with CHECKED.session() as session:
            session.insert("R", FIRST, SECOND)
            session.commit()
            stored = session["R"].stored
            return write_relation(tmp_path, format, RELATION, TYPEDEFS, stored, stored.columns)

    return write


def both(rows: list[Any]) -> bool:
    """Whether rows are the two that were written."""
    expected = [ddlog.values.rows.row_of(each, RELATION, TYPEDEFS) for each in (FIRST, SECOND)]
    return sorted(rows) == expected


def read(path: Path, format: str) -> list[Any]:
    return list(read_facts(FactFile("R", path, format), RELATION, TYPEDEFS).rows(RELATION))


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "json", "parquet", "arrow"])
def test_ddlog(written: Callable[[str], Path], format: str) -> None:
    assert both(read(written(format), format))


def test_the_text(written: Callable[[str], Path]) -> None:
    text = written("csv").read_text()
    assert LINE in text and ",1e300,0.1," in text


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_duckdb(written: Callable[[str], Path], tmp_path: Path, format: str) -> None:
    source = written("jsonl" if format == "json" else format)
    with duckdb.connect() as connection:
        reader = f"read_json('{source}', map_inference_threshold=0)" if format == "json" else f"'{source}'"
        connection.sql(f"COPY (FROM {reader}) TO '{tmp_path}/copy' (FORMAT {format})")
        assert both(read(tmp_path / "copy", "jsonl" if format == "json" else format))


def test_duckdb_has_the_types(written: Callable[[str], Path]) -> None:
    with duckdb.connect() as connection:
        found = connection.sql(f"FROM '{written('parquet')}'")
        types = dict(zip(found.columns, map(str, found.types), strict=True))
    names = ("on", "at", "when", "far", "uuid", "price", "day", "stamp", "count")
    expected = "DATE TIME_NS TIMESTAMP DATE UUID DECIMAL(38,2) DATE TIMESTAMP BIGINT"
    assert " ".join(types[name] for name in names) == expected


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_polars(written: Callable[[str], Path], tmp_path: Path, format: str) -> None:
    copy = tmp_path / f"copy.{format}"
    if format == "csv":  # polars guesses that an integer beyond 127 bits is one of 127
        polars.read_csv(written("csv"), schema_overrides={"huge": polars.String}).write_csv(copy)
    else:
        polars.read_parquet(written("parquet")).write_parquet(copy)
    assert both(read(copy, format))


def test_polars_reads_json(written: Callable[[str], Path]) -> None:
    frame = polars.read_ndjson(written("jsonl"), schema_overrides={"huge": polars.String})
    assert frame["maybe"].to_list() == ["x", None] and frame["x"].to_list() == [1e300, 0.5]
    assert frame["huge"].to_list() == [str(2**128 - 1)] * 2
    assert frame["point"].to_list() == [{"x": 1, "label": "a"}] * 2


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_pandas(written: Callable[[str], Path], tmp_path: Path, format: str) -> None:
    copy = tmp_path / f"copy.{format}"
    match format:
        case "csv":
            wide: dict[Any, Any] = {"big": str, "huge": str, "count": "Int64"}
            pandas.read_csv(written("csv"), dtype=wide).to_csv(copy, index=False)
        case "jsonl":
            frame = pandas.read_json(written("jsonl"), lines=True, dtype_backend="pyarrow")
            frame.to_json(copy, lines=True, orient="records", double_precision=15)
        case _:
            pandas.read_parquet(written("parquet"), dtype_backend="pyarrow").to_parquet(copy)
    assert both(read(copy, format))


@pytest.mark.parametrize("indent", [None, 2])
def test_json_of_others(written: Callable[[str], Path], tmp_path: Path, indent: int | None) -> None:
    """Whatever the order of members, and the lines: as `jq -S .` writes it."""
    rows = json.loads(written("json").read_text())
    assert [json.loads(line) for line in written("jsonl").read_text().splitlines()] == rows
    texts = [json.dumps(row, sort_keys=True, indent=indent) for row in rows]
    (tmp_path / "copy").write_text("\n".join(texts))
    assert both(read(tmp_path / "copy", "jsonl")) and both(read(tmp_path / "copy", "json"))


@pytest.mark.parametrize("frame", ["to_arrow", "to_pandas", "to_polars"])
def test_frames(frame: str) -> None:
    with CHECKED.session() as session:
        session.insert("R", FIRST, SECOND)
        session.commit()
        table = getattr(session["R"], frame)()
    assert both(list(columns_of(table, RELATION, TYPEDEFS).rows(RELATION)))


@dataclass
class Item:
    id: int
    on: Any
    price: Any
    name: str | None = None


Named = namedtuple("Named", "name price on id")
DAY = datetime.date(2026, 1, 2)
ITEMS = """
import time
import sql as q
input relation Item(id: u32, on: Option<Date>, price: q::Decimal2, name: Option<string>)
"""


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"id": 1, "price": 2}, (1, None, decimal.Decimal("2.00"), None)),
        (Item(1, DAY, "1.5"), (1, DAY, decimal.Decimal("1.50"), None)),
        (Named("x", 1.5, None, 1), (1, None, decimal.Decimal("1.50"), "x")),
        ((numpy.int64(1), pandas.Timestamp(DAY), 2, pandas.NA), (1, DAY, 2, None)),
        ((1, pandas.NaT, 2, float("nan")), (1, None, 2, None)),
        ((1, numpy.datetime64("2026-01-02"), 2, "x"), (1, DAY, 2, "x")),
        ((1, numpy.datetime64("NaT"), 2, "x"), (1, None, 2, "x")),
    ],
)
def test_rows_of_python(row: Any, expected: tuple[Any, ...]) -> None:
    with ddlog.compile(ITEMS).session() as session:
        session.insert("Item", row)
        session.commit()
        assert list(session["Item"].tuples()) == [expected]


@pytest.mark.parametrize("form", [pandas.DataFrame, polars.DataFrame, dict])
def test_names_of_columns_in_any_case(form: Callable[[Any], Any]) -> None:
    with ddlog.compile(ITEMS).session() as session:
        session.insert_table("Item", form({"NAME": ["x"], "On": [None], "price": ["2.5"], "ID": [1]}))
        session.commit()
        assert list(session["Item"].tuples()) == [(1, None, decimal.Decimal("2.50"), "x")]


def test_polars_has_uuids_as_texts() -> None:
    with ddlog.compile("import uuid\ninput relation R(u: Option<Uuid>)").session() as session:
        session.insert("R", (uuid.UUID(int=7),), (None,))
        session.commit()
        assert session["R"].to_polars()["u"].to_list() == [None, str(uuid.UUID(int=7))]
