"""Declarations for the rows of files."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main

ORDERS = """\
id;Order Date;total;note;type;ok;zip
1;2026-01-02;1.5;;x;true;01
2;2026-01-03;2;hi;y;false;02
"""
CUSTOMERS = '{"name": "Jo", "tags": ["a"], "more": {"x": 1}}\n{"name": "Al", "tags": [], "age": 7}\n'


def inferred(capsys: pytest.CaptureFixture[str], *places: str) -> str:
    assert main(["infer", *places]) == 0
    return capsys.readouterr().out


def test_what_is_inferred_reads_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text(ORDERS)
    Path("customers.jsonl").write_text(CUSTOMERS)
    days = [datetime.date(2026, 1, 2), None]
    table = pa.table({"n": pa.array([1, 1], pa.uint8()), "part": ["a", "b"], "x": [1.5, None], "day": days})
    parquet.write_table(table, "parts.parquet")
    text = inferred(capsys, "orders.csv", "customers.jsonl", "parts.parquet")
    assert re.findall(r"^    (\w+: .*?),?  //", text, re.MULTILINE) == [
        "id: s64", "order_date: time::Date", "total: double", "note: Option<string>", "type_: string",
        "ok: bool", "zip: string", "name: string", "tags: Vec<string>", "more: Option<json::JsonValue>",
        "age: Option<s64>", "n: s64", "part: string", "x: Option<double>", "day: Option<time::Date>",
    ]  # fmt: skip
    assert "primary key (row) row.id  // unique in 2 rows; so is order_date" in text
    assert "primary key (row) row.part  // unique in 2 rows" in text
    assert 'note: Option<string>,  // 1 text, such as "hi"; missing in 1 of 2 rows' in text
    places = re.findall(r"--input '(.*?)'", text)
    with ddlog.compile(text).session() as session:
        session.load(places)
        assert [session.size(name) for name in ("Orders", "Customers", "Parts")] == [2, 2, 2]


@pytest.mark.parametrize(
    ("text", "types", "options"),
    [
        (
            'Nr;Tag;Summe;Rest\r\n1;31.12.2026;"1.234,50";-\r\n2;01.02.2026;-3,5;7\r\n',
            ["s64", "time::Date", "double", "Option<s64>"],
            "delimiter=;&decimal=,&thousands=.&date=%d.%m.%Y&null=-",
        ),
        (
            'nr,day,sum,note\n1,12/31/2026,"1,234.50",\n2,01/02/2026,NULL,NA\n3,1/2/2026,5,x\n',
            ["s64", "time::Date", "Option<double>", "Option<string>"],
            "thousands=,&date=%m/%d/%Y&null=NULL&null=",
        ),
        (
            "nr,at,from,when\n1,2026-01-02 10:11:12,2026-01-02T10:11:12Z,x\n",
            ["s64", "time::DateTime", "time::TzDateTime", "string"],
            "",
        ),
        ("nr;at\n1;31.12.2026 10:11\n", ["s64", "time::DateTime"], "delimiter=;&date=%d.%m.%Y %H:%M"),
        ("a;b;c\n01/02/2026;1,234;1.5\n", ["string", "string", "double"], "delimiter=;"),
    ],
)
def test_how_cells_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, types: list[str], options: str
) -> None:
    (tmp_path / "f.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    found = inferred(capsys, f"{tmp_path}/f.csv")
    assert re.findall(r"^    \w+: (.*?),?  //", found, re.MULTILINE) == types
    (place,) = re.findall(r"--input '(.*?)'", found)
    assert place.partition("?")[2].partition("&map=")[0] == options
    with ddlog.compile(found).session() as session:
        session.load(place)
        assert session.size("F") == text.count("\n") - 1


def test_keys_of_two_columns_and_repeated_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pair.csv").write_text("a,b\n1,1\n1,2\n2,1\n")
    assert "primary key (row) (row.a, row.b)  // unique in 3 rows" in inferred(capsys, f"{tmp_path}/pair.csv")
    (tmp_path / "bag.tsv").write_text("1\t1\n1\t1\n")
    text = inferred(capsys, f"{tmp_path}/bag.tsv")
    assert "c0: s64" in text and "// 1 row more than once: a relation has each once" in text


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "a,b\n1\n", "x.csv:2:1: expected 2 columns, found 1"),
        ("x.dl", "", "x.dl: this is not a file of facts"),
        ("x.json", "[1, [2]]", "the rows are neither all objects nor all arrays"),
        ("x.csv", 'a,"b\n', "this quoted cell does not end"),
    ],
)
def test_files_of_which_nothing_can_be_inferred(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    assert main(["infer", f"{tmp_path}/{name}"]) == 1
    assert message in capsys.readouterr().err
