"""Declarations for the rows of files."""

from __future__ import annotations

import datetime
import re
import zipfile
from decimal import Decimal
from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.io.inferredtypes import field_names

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
        "ok: bool", "zip: string", "x: s64", "name: string", "tags: Vec<string>",
        "more: Option<CustomersMore>", "age: Option<s64>", "n: s64", "part: string", "x: Option<double>",
        "day: Option<time::Date>",
    ]  # fmt: skip
    assert "primary key (row) row.id  // unique in 2 rows; so is order_date" in text
    assert "primary key (row) row.part  // unique in 2 rows" in text
    assert 'note: Option<string>,  // 1 text, such as "hi"; missing in 1 of 2 rows' in text
    places = re.findall(r"--input '(.*?)'", text)
    with ddlog.compile(text).session() as session:
        session.load(places)
        assert [session.size(name) for name in ("Orders", "Customers", "Parts")] == [2, 2, 2]


def test_a_header_whose_names_are_also_below_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("edge.csv").write_text("a,b\nx,b\n")
    text = inferred(capsys, "edge.csv")
    assert "--input 'Edge=edge.csv?header=yes'" in text
    with ddlog.compile(text).session() as session:
        session.load("Edge=edge.csv?header=yes")
        assert list(session["Edge"].tuples()) == [("x", "b")]


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
        (
            "at,ok,x,n\n10:11:12,True,1e5, 1 \n23:59:59.5,False,-inf, 2 \n01:02:03,TRUE,nan, 3 \n",
            ["time::Time", "bool", "Option<double>", "s64"],
            "null=nan",
        ),
        ("nr;at\n1;31.12.2026 10:11\n", ["s64", "time::DateTime"], "delimiter=;&date=%d.%m.%Y %H:%M"),
        ("a\tb\nx\t1\n", ["string", "s64"], "delimiter=tab"),
        (
            "of,at,no\n10.0.0.1,f81d4fae-7dec-11d0-a765-00a0c91e6bf6,1.2.3\n::1,F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6,1.2\n",
            ["net::ipaddr::IpAddr", "uuid::Uuid", "string"],
            "",
        ),
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
    assert place.partition("?")[2] == options
    with ddlog.compile(found).session() as session:
        session.load(place)
        assert session.size("F") == text.count("\n") - 1


def test_keys_of_two_columns_and_repeated_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pair.csv").write_text("a,b\n1,1\n1,2\n2,1\n")
    assert "primary key (row) (row.a, row.b)  // unique in 3 rows" in inferred(capsys, f"{tmp_path}/pair.csv")
    (tmp_path / "bag.tsv").write_text("1\t1\n1\t1\n")
    text = inferred(capsys, f"{tmp_path}/bag.tsv")
    assert "c0: s64" in text and "// 1 row more than once: a relation has each once" in text


NESTED = """\
{"id": 1, "By": {"name": "J", "e-mail":null, "at": {"z": "1"}}, "items": [{"n": 1, "of": 2.5}], "a": {"a": 1}}
{"id": 2, "By": {"name": "Al", "e-mail": "x@y", "at": null}, "items": [], "a": {"a": "b"}, "none": {}}
"""
MAPS = "".join(f'{{"id": {n}, "of": {{"k{n}": {n}, "l{n}": 1}}}}\n' for n in range(20))


def test_whole_and_broken_numbers_of_json_are_doubles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "n.jsonl").write_text('{"x": 1.0, "l": [-0.0, 1]}\n{"x": 1.5, "l": [1e300]}\n')
    text = inferred(capsys, f"{tmp_path}/n.jsonl")
    assert "x: double," in text and "l: Vec<double>" in text
    with ddlog.compile(text).session() as session:
        session.load(re.findall(r"--input '(.*?)'", text))
        assert list(session["N"].tuples()) == [(1.0, (-0.0, 1.0)), (1.5, (1e300,))]


def test_objects_become_typedefs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "order.jsonl").write_text(NESTED)
    (tmp_path / "maps.json").write_text(MAPS)
    maps = pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64()))
    parquet.write_table(pa.table({"s": [{"x": 1}, None], "m": maps}), tmp_path / "t.parquet")
    text = inferred(capsys, *(f"{tmp_path}/{each}" for each in ("order.jsonl", "maps.json", "t.parquet")))
    declared = [re.sub(r",?  //.*", "", line).strip() for line in text.splitlines()]
    assert [line for line in declared if line and not line.startswith(("//", "primary"))] == [
        "import json",
        "typedef OrderByAt = OrderByAt{", "z: string", "}",
        "typedef OrderBy = OrderBy{", "name: string",
        '#[rust = "serde(rename=\\"e-mail\\")"] e_mail: Option<string>', "at: Option<OrderByAt>", "}",
        "typedef OrderItems = OrderItems{", "n: s64", "of: double", "}",
        "typedef OrderA = OrderA{", "a: json::JsonValue", "}",
        "input relation Order(", "id: s64", "by: OrderBy", "items: Vec<OrderItems>", "a: OrderA",
        "none: Option<json::JsonValue>", ")",
        "input relation Maps(", "id: s64", "of: Map<string, s64>", ")",
        "typedef TS = TS{", "x: s64", "}",
        "input relation T(", "s: Option<TS>", "m: Map<string, s64>", ")",
    ]  # fmt: skip
    with ddlog.compile(text).session() as session:
        session.load(re.findall(r"--input '(.*?)'", text))
        assert [session.size(name) for name in ("Order", "Maps", "T")] == [2, 20, 2]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "a,b\n1\n", "x.csv:2:1: expected 2 columns, found 1"),
        ("x.csv", "", "x.csv: there are no rows"),
        ("x.jsonl", "", "x.jsonl: there are no rows"),
        (
            "x.csv",
            "a,a,b\n1,2,3\n",
            "x.csv:1:1: two columns are named `a`; give them different names, or say",
        ),
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


def test_the_file_may_be_in_an_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("orders.csv", ORDERS)
        archive.writestr("more.csv", "a,b\n1,2\n")
    assert "input relation Orders(" in inferred(capsys, f"{tmp_path}/all.zip?member=orders.csv")
    assert main(["infer", f"{tmp_path}/all.zip"]) == 1
    assert "it holds more.csv, orders.csv" in capsys.readouterr().err


def test_names_that_differ_in_case_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.csv").write_text("ID,id\n1,2\n")
    assert f"C={tmp_path}/c.csv?map=id:ID,id_:id" in inferred(capsys, f"{tmp_path}/c.csv")
    with ddlog.compile("input relation C(id: u8, id_: u8)").session() as session:
        session.load(f"C={tmp_path}/c.csv?map=id:ID,id_:id")
        assert list(session["C"].tuples()) == [(1, 2)]
        with pytest.raises(ddlog.DDlogError, match="a name for the column `id`, too, as in id:OTHER,id_:id"):
            session.load(f"C={tmp_path}/c.csv?map=id_:id")
    (tmp_path / "c.csv").write_text("a,A\n1,2\n")
    assert f"C={tmp_path}/c.csv?map=a:a,a_:A" in inferred(capsys, f"{tmp_path}/c.csv")
    (tmp_path / "c.csv").write_text(" a,a \n1,2\n")
    assert main(["infer", f"{tmp_path}/c.csv"]) == 1
    assert "two columns are named `a`" in capsys.readouterr().err


def test_types_of_tables_of_other_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    at = datetime.datetime(2026, 1, 2, 10, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "skipped": [b"a", b"b"],
            "dec": pa.array([Decimal("1.50"), Decimal("2.25")], pa.decimal128(9, 2)),
            "at": pa.array([at, at], pa.timestamp("us", "Europe/Berlin")),
            "time": [datetime.time(10), datetime.time(11)],
            "span": [datetime.timedelta(1), None],
            "kind": pa.array(["a", "b"]).dictionary_encode(),
            "id": pa.array([bytes(15) + b"1", bytes(16)], pa.uuid()),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    text = inferred(capsys, f"{tmp_path}/t.parquet")
    assert re.findall(r"^    (\w+: .*?),?  //", text, re.MULTILINE) == [
        "dec: sql::Decimal2", "at: time::TzDateTime", "time: time::Time", "kind: string", "id: uuid::Uuid",
    ]  # fmt: skip
    assert "// span is left out: its values are timedelta" in text
    assert "primary key (row) row.dec" in text
    (place,) = re.findall(r"--input '(.*?)'", text)
    with ddlog.compile(text).session() as session:
        session.load(place)
        assert [(row.dec, row.at, row.time) for row in sorted(session["T"])] == [
            (Decimal("1.50"), at, datetime.time(10)),
            (Decimal("2.25"), at, datetime.time(11)),
        ]


def test_the_index_of_a_data_frame(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.csv").write_text(",Id,at\n0,5,2026-01-02 10:00:00+00\n1,6,2026-01-02 11:00:00+00\n")
    text = inferred(capsys, f"{tmp_path}/f.csv")
    assert "at: time::TzDateTime" in text
    (place,) = re.findall(r"--input '(.*?)'", text)
    assert place.endswith("?map=column:")
    with ddlog.compile(text).session() as session:
        session.load(place)
        assert [(row.column, row.id) for row in sorted(session["F"])] == [(0, 5), (1, 6)]


def test_members_of_objects_name_columns_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "R.jsonl").write_text('{"ID": 1, "Name": "a"}\n{"id": 2, "name": "b"}\n')
    with ddlog.compile("input relation R(id: s64, name: string)").session() as session:
        session.load(f"R={tmp_path}/R.jsonl")
        assert sorted(session["R"]) == [(1, "a"), (2, "b")]
    (tmp_path / "R.jsonl").write_text('{"id": 1, "Id": 2, "name": "a"}\n')
    with (
        ddlog.compile("input relation R(id: s64, name: string)").session() as session,
        pytest.raises(ddlog.DDlogError, match="R has no field 'Id'"),
    ):
        session.load(f"R={tmp_path}/R.jsonl")


@pytest.mark.parametrize("format", ["csv", "jsonl", "json", "parquet", "arrow"])
def test_any_json_is_written_as_it_is_read(tmp_path: Path, format: str) -> None:
    program = tmp_path / "p.dl"
    program.write_text(
        "import json\n"
        "input relation R(id: s64, x: json::JsonValue, y: Option<json::JsonValue>)\n"
        "output relation O(id: s64, x: json::JsonValue, y: Option<json::JsonValue>)\n"
        "O(i, x, y) :- R(i, x, y).\n"
    )
    rows = [
        '{"id": 1, "x": {"a": [1, null, "s", 1.5, true]}, "y": null}',
        '{"id": 2, "x": null, "y": {"k": null}}',
        '{"id": 3, "x": 123456789012345678901234567890, "y": "t"}',
    ]
    (tmp_path / "R.jsonl").write_text("\n".join(rows))
    command = ["run", str(program), "--quiet", "--input"]
    assert main([*command, f"R={tmp_path}/R.jsonl", "--output", f"{tmp_path}/out", "--format", format]) == 0
    again = ["--output", f"{tmp_path}/again", "--format", "jsonl"]
    assert main([*command, f"R={tmp_path}/out/O.{format}", *again]) == 0
    assert (tmp_path / "again" / "O.jsonl").read_text().splitlines() == rows


def test_many_columns_take_time_in_proportion() -> None:
    names = [f"c{number}" for number in range(100_000)]
    assert field_names(names) == names  # minutes, if each name is looked for among those before
    assert field_names(["a", "A", "a "]) == ["a", "a_", "a__"]
