"""Headers that may be rows, and the options of places."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from unittest import mock

import fsspec
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.feather import write_feather
from pyarrow.parquet import write_table as write_parquet

import ddlog
from ddlog import DDlogError
from ddlog.console.cli import main
from ddlog.console.followedfiles import changes_in
from ddlog.engine import memory
from ddlog.engine.memory import resident
from ddlog.io.dialects import OPTIONS
from ddlog.io.inference import inferred

from ..trying import trying

PROGRAM = ddlog.compile("""
import time
input relation Edge(a: string, b: string)
input relation Triple(a: string, b: string, c: string)
input relation Count(a: string, n: u32)
input relation Person(id: u32, name: Option<string>, age: Option<u32>) primary key (p) p.id
input relation Sum(a: string, n: double)
input relation Day(day: time::Date)
""")


def read(place: str, relation: str = "Edge", **options: Any) -> tuple[list[tuple[Any, ...]], list[str]]:
    """The rows that a place gives to a relation, and the notes about it."""
    notes: list[str] = []
    with PROGRAM.session() as session:
        session.load(f"{relation}={place}", note=notes.append, **options)
        return list(session[relation].tuples()), [each for each in notes if "is empty" not in each]


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "rows", "told"),
    [
        ("a,b\nb,c\n", [("a", "b"), ("b", "c")], "is taken for a row, as `b` is also below it"),
        ("a,b\nx,y\n", [("x", "y")], "is taken for a header"),
        ("B,A\nx,y\n", [("y", "x")], "is taken for a header"),
        ("a,q\nx,y\n", [("a", "q"), ("x", "y")], ""),
    ],
)
@pytest.mark.parametrize("more", [0, 20_000])
def test_a_first_line_that_names_the_columns(
    tmp_path: Path, text: str, rows: list[Any], told: str, more: int
) -> None:
    found, notes = read(written(tmp_path / "e.csv", text + "".join(f"k{i},k\n" for i in range(more))))
    assert [row for row in found if not row[0].startswith("k")] == rows and len(found) == len(rows) + more
    assert len(notes) == bool(told) and told in "".join(notes)


SHOP = """
CREATE TABLE orders ("Order ID" INTEGER PRIMARY KEY, "Total, $" DECIMAL(8, 2), "2nd" DATE);
CREATE VIEW sums AS SELECT "Order ID" AS id, "Total, $" * 2 AS twice FROM orders WHERE "2nd" IS NULL;
"""


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        ("csv", '"Total, $",ORDER ID,2nd\n2.50,7,\n'),
        ("jsonl", '{"order id": 7, "Total, $": "2.50", "2nd": null}\n'),
        ("parquet", {"Order ID": [7], "Total, $": ["2.50"], "2nd": pa.array([None], pa.date32())}),
    ],
)
def test_names_of_columns_may_have_other_signs_in_files(tmp_path: Path, ending: str, text: Any) -> None:
    place = tmp_path / f"orders.{ending}"
    if ending == "parquet":
        write_parquet(pa.table(text), place)
    else:
        place.write_text(text)
    (tmp_path / "shop.sql").write_text(SHOP)
    with ddlog.compile(tmp_path / "shop.sql").session() as session:
        session.load(place)
        assert [(row.id, str(row.twice)) for row in session["sums"]] == [(7, "5.00")]


QUOTED = """
CREATE TABLE item ("Größe" INTEGER, key VARCHAR, "Order ID" INTEGER, order_id INTEGER, "a ""b\\" INTEGER);
CREATE VIEW copy AS SELECT *, "Größe" + 1 AS "Größe", "Order ID" AS "ID" FROM item;
CREATE VIEW again AS SELECT "Größe", key, "Order ID", order_id, "a ""b\\" FROM item;
"""


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_files_have_the_names_of_columns_as_sql_has_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    (tmp_path / "item.sql").write_text(QUOTED)
    names = ["Größe", "key", "Order ID", "order_id", 'a "b\\']
    place = tmp_path / "item.csv"
    place.write_text(",".join([*names[:4], '"a ""b\\"']) + "\n1,k,2,3,4\n")
    for number in range(2):
        out = tmp_path / str(number)
        asked = ["run", str(tmp_path / "item.sql"), "--input", f"Item={place}", "--quiet"]
        assert main([*asked, "--output", str(out), "--format", ending]) == 0, capsys.readouterr().err
        place = out / f"Again.{ending}"
    with ddlog.compile(tmp_path / "item.sql").session() as session:
        session.load(f"Item={place}")
        assert session["again"].to_arrow().to_pylist() == [dict(zip(names, (1, "k", 2, 3, 4), strict=True))]
        assert session["copy"].columns == (*names, "größe_1", "ID")
        session.insert_table("Item", session["again"].to_arrow())
        session.commit()
        assert session["again"].to_arrow().num_rows == 2


@pytest.mark.parametrize("columns", ['"Order ID": 9, "key": 4', '"order_id": 9, "key_": 4'])
def test_an_update_modifies_a_column_that_sql_has_in_quotation_marks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], columns: str
) -> None:
    text = 'CREATE TABLE t (id INTEGER PRIMARY KEY, "Order ID" INTEGER, key INTEGER);\n'
    program = written(tmp_path / "t.sql", f"{text}CREATE VIEW u AS SELECT * FROM t;")
    updates = f"""{{"insert": {{"t": [1, 2, 3]}}}}
{{"modify": {{"t": {{"key": 1, "set": {{{columns}}}}}}}}}
{{"commit": true}}
"""
    assert main(["run", str(program), "--updates", str(written(tmp_path / "u.jsonl", updates))]) == 0
    assert "U{.id = 1, .order_id = 9, .key_ = 4}: +1" in capsys.readouterr().out


def test_a_followed_table_of_changes_has_the_names_of_files(tmp_path: Path) -> None:
    text = 'CREATE TABLE t ("Order ID" INTEGER NOT NULL, key INTEGER NOT NULL);'
    program = ddlog.compile(written(tmp_path / "t.sql", text))
    typedefs, relations = program.checked.typedefs, program.relations
    for first, second in (("Order ID", "key"), ("order_id", "key_")):
        write_parquet(pa.table({"op": ["+1", "-1"], first: [1, 2], second: [3, 4]}), tmp_path / "t.parquet")
        found = changes_in(tmp_path / "t.parquet", relations["T"], relations, typedefs)
        assert [(sign, *row) for _, row, sign in found or ()] == [(1, 1, 3), (-1, 2, 4)]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_place_maps_a_column_that_an_attribute_names(tmp_path: Path, ending: str) -> None:
    program = ddlog.compile("""
input relation R(#[rust="serde(rename=\\"Größe\\")"] size: Option<u8>, b: string)
output relation O[R]
O[x] :- R[x].
""")

    def rows(text: dict[str, str], option: str) -> list[Any]:
        place = written(tmp_path / f"r.{ending}", text[ending])
        with program.session() as session:
            session.load(f"R={place}?map={option}")
            return [*session["O"].tuples()]

    assert rows({"csv": "wide,b\n1,x\n", "jsonl": '{"wide": 1, "b": "x"}'}, "size:wide") == [(1, "x")]
    swapped = {"csv": "Größe,n\nx,1\n", "jsonl": '{"Größe": "x", "n": 1}'}
    assert rows(swapped, "b:Größe,size:n") == [(1, "x")]


def test_a_place_says_where_the_column_is_whose_name_in_files_is_taken(tmp_path: Path) -> None:
    program = ddlog.compile('input relation R(#[rust="serde(rename=\\"T\\")"] t_: u8, b: u8)')
    place = written(tmp_path / "r.csv", "t,x\n1,2\n")
    with program.session() as session, pytest.raises(DDlogError, match="a name for the column `t_`, too"):
        session.load(f"R={place}?map=b:t")


def test_only_names_of_columns_in_quotation_marks_are_those_of_columns_in_files(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("""
CREATE TABLE "Sale" (customer INTEGER, n INTEGER, CONSTRAINT "N" CHECK (n > 0));
CREATE VIEW of AS WITH "Big"("Who") AS (SELECT customer FROM "Sale") SELECT "Sale".n AS sale, who, "Q".n AS q
FROM "Big", "Sale", "Sale" AS "Q";
CREATE VIEW s AS SELECT count(*) OVER "Customer" AS c, customer FROM "Sale"
WINDOW "Customer" AS (PARTITION BY customer);
CREATE VIEW twice(a, a, a_1) AS SELECT n, customer, n + 1 FROM "Sale";
""")
    relations = ddlog.compile(tmp_path / "a.sql").relations
    titles = {name: relations[name].titles for name in ("Sale", "Of", "S", "Twice")}
    assert titles == {
        "Sale": ("customer", "n"),
        "Of": ("sale", "Who", "q"),
        "S": ("c", "customer"),
        "Twice": ("a", "a_2", "a_1"),
    }


def test_answers_have_the_names_of_columns_as_sql_has_them(tmp_path: Path) -> None:
    program = written(tmp_path / "t.sql", 'CREATE TABLE t (id INTEGER PRIMARY KEY, "Order ID" INTEGER);')
    with ddlog.compile(program).session() as session:
        more = session.execute('INSERT INTO t VALUES (1, 2) RETURNING *, id AS "No"')
        asked = session.execute('SELECT "Order ID", id AS "ID" FROM t')
        assert asked.rows is not None and asked.rows.columns == ("Order ID", "ID")
        assert more.rows is not None and more.rows.columns == ("id", "Order ID", "No")


def test_an_attribute_names_a_column_in_files(tmp_path: Path) -> None:
    program = ddlog.compile("""
input relation R(#[rust="serde(rename=\\"Größe\\")"] size: u8, b: string)
output relation O[R]
O[x] :- R[x].
""")
    for name in ("Größe", "size"):
        with program.session() as session:
            session.load(f"R={written(tmp_path / 'r.csv', f'b,{name}{chr(10)}x,1{chr(10)}')}")
            assert session["O"].to_arrow().to_pylist() == [{"Größe": 1, "b": "x"}]
            assert [row.size for row in session["O"]] == [1]


def test_an_empty_name_and_names_that_become_one_are_no_columns(tmp_path: Path) -> None:
    for head in ("id,name,,age", "id,name,the age,the-age", "id,name,age 1"):
        with pytest.raises(DDlogError, match=r"is no column of Person|lacks the column"):
            read(written(tmp_path / "p.csv", f"{head}\n1,x,2,3\n"), "Person")


def test_a_line_of_numbers_is_a_row_though_names_of_columns_may_begin_with_digits(tmp_path: Path) -> None:
    program = ddlog.compile("""
input relation R(c0: bigint, c1: bigint)
output relation O(a: bigint, b: bigint)
O(a, b) :- R(a, b).
""")
    for ending, cells, place in [
        ("csv", "1,0", ""), ("tsv", "1\t0", ""), ("csv", "1,0", "?header=no"), ("csv", "1,0", "?header=yes")
    ]:  # fmt: skip
        file = written(tmp_path / f"R.{ending}", f"{cells}\n{cells.replace('0', '2')}\n")
        with program.session() as session:
            session.load(f"{file}{place}")
            expected = [(2, 1)] if "yes" in place else [(1, 0), (1, 2)]
            assert [tuple(row) for row in session["O"]] == expected


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ("id, price", ["id", "price ($)", "price (€)"]),  # both may be `price`
        ("id, price", ["id", "数量price"]),  # letters of other alphabets are letters
        ("id, h_he", ["id", "höhe"]),
        ("id, ab", ["id", "a-b"]),
        ("id, id_", ["id-", "id_"]),
        ("id, id_", ["id", "id-"]),
        ("a_b, a__b", ["a-b", "a__b"]),
        ("id, price", ["id", ""]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("option", ["", "?extra=ignore"])
def test_names_that_may_be_of_two_columns_or_have_other_letters_are_errors(
    tmp_path: Path, columns: str, names: list[str], ending: str, option: str
) -> None:
    declared = columns.replace(",", ": bigint,") + ": bigint"
    program = ddlog.compile(f"input relation R({declared})\noutput relation O(a: bigint)\nO(a) :- R(a, _).")
    values, place = range(1, 1 + len(names)), tmp_path / f"R.{ending}"
    match ending:
        case "csv":
            place.write_text(f"{','.join(names)}\n{','.join(map(str, values))}\n")
        case "jsonl":
            place.write_text(json.dumps(dict(zip(names, values, strict=True))))
        case _:
            write_parquet(pa.table({name: [value] for name, value in zip(names, values, strict=True)}), place)
    with program.session() as session, pytest.raises(DDlogError):
        session.load(f"{place}{option}")


def test_any_name_can_be_mapped(tmp_path: Path) -> None:
    place = written(tmp_path / "e.csv", '"A, B & C",%2C\nx,1.5\n')
    read_back = read(f"{place}?map=a:A%2C B %26 C,n:%252C", "Sum")
    assert read_back == ([("x", 1.5)], [])
    place = written(tmp_path / "e.csv", '"A, B & C",A% B C\nx,1.5\n')
    assert inferred(place).place.endswith("?map=a_b_c:A%2C B %26 C,a_b_c_:A% B C")


@pytest.mark.parametrize("row", ['{"who": "x", "a": "y", "n": 1}', '{"a": "y", "who": "x", "n": 1}'])
def test_a_member_that_is_mapped_is_the_column_whatever_others_are_called(tmp_path: Path, row: str) -> None:
    place = written(tmp_path / "c.jsonl", row)
    assert read(f"{place}?map=a:who&extra=ignore", "Count") == ([("x", 1)], [])
    with pytest.raises(DDlogError, match="`a` is there beside the member that is mapped to it"):
        read(f"{place}?map=a:who", "Count")


def test_a_first_line_that_is_no_value_is_a_header(tmp_path: Path) -> None:
    assert read(written(tmp_path / "c.csv", "a,n\nx,1\n"), "Count") == ([("x", 1)], [])
    assert read(written(tmp_path / "c.csv", "a,1\nn,2\n"), "Count") == ([("a", 1), ("n", 2)], [])
    with pytest.raises(DDlogError, match="`m` is no column of Count"):
        read(written(tmp_path / "c.csv", "a,m\nn,2\n"), "Count")


def test_three_names_in_their_order_are_a_header(tmp_path: Path) -> None:
    rows = [("u", "b", "v")]
    assert read(written(tmp_path / "t.csv", "a,b,c\nu,b,v\n"), "Triple") == (rows, [])
    found, (note,) = read(written(tmp_path / "t.csv", "c,b,a\nu,b,v\n"), "Triple")
    assert len(found) == 2 and "is taken for a row, as `b` is also below it" in note


def test_an_option_says_whether_there_is_a_header(tmp_path: Path) -> None:
    place = written(tmp_path / "e.csv", "a,b\nx,y\n")
    assert read(f"{place}?header=no") == ([("a", "b"), ("x", "y")], [])
    assert read(f"{place}?header=yes") == ([("x", "y")], [])
    tabs = written(tmp_path / "e.tsv", "b\ta\nx\ty\n")
    assert read(f"{tabs}?header=yes") == ([("y", "x")], [])
    assert read(f"{tabs}?header=no") == ([("b", "a"), ("x", "y")], [])
    rows, (note,) = read(tabs)
    assert rows == [("b", "a"), ("x", "y")] and "is taken for a row; header=yes says otherwise" in note
    with pytest.raises(DDlogError, match="`x` is no column of Edge; the columns are a, b"):
        read(f"{written(tmp_path / 'e.csv', 'x,y')}?header=yes")


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("p.csv", "id;name;age\n1;Jo;NA\n2;NA;7\n", "delimiter=;&null=NA"),
        ("p.csv", "a comment\n\nid,name,age\n1,'Jo',\n2,,7\n", "skip=2&quote='"),
        ("p.tsv", "1\tJo\t-\n2\t-\t7\n", "null=-"),
        ("p.csv", "no,name,age,rest\n1,Jo,,x\n2,,7,y\n", "map=id:no&extra=ignore"),
        ("p.jsonl", '{"no": 1, "name": "Jo", "x": 0}\n{"no": 2, "age": 7}\n', "map=id:no&extra=ignore"),
        ("p.json", '[{"id": 1, "name": "Jo"}, {"id": 2, "age": 7}]', "encoding=ascii"),
    ],
)
def test_files_that_are_written_otherwise(tmp_path: Path, name: str, text: str, options: str) -> None:
    found, _ = read(f"{written(tmp_path / name, text)}?{options}", "Person")
    assert found == [(1, "Jo", None), (2, None, 7)]


def test_encodings_and_dates(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes("ä,ö\n".encode("latin-1"))
    assert read(f"{tmp_path}/e.csv?encoding=latin-1")[0] == [("ä", "ö")]
    with pytest.raises(DDlogError, match=r"is not UTF-8\n(.*\n)*  help: .*encoding=cp1252"):
        read(f"{tmp_path}/e.csv")
    day, _ = read(f"{written(tmp_path / 'd.csv', '24.12.2026')}?date=%d.%m.%Y", "Day")
    assert day == read(written(tmp_path / "e.csv", "2026-12-24"), "Day")[0]


@pytest.mark.parametrize(
    ("cell", "options", "number"),
    [
        ("1.234,50", "thousands=.&decimal=,", 1234.5),
        ("-1 234", "thousands=space", -1234.0),
        ("7", "decimal=,", 7.0),
    ],
)
def test_signs_of_numbers(tmp_path: Path, cell: str, options: str, number: float) -> None:
    text = f"x;{cell}\n" * 1000  # small, and large enough for a fast reader
    for size in (1, 20):
        place = f"{written(tmp_path / 'n.csv', text * size)}?delimiter=;&{options}"
        assert read(place, "Sum")[0] == [("x", number)]
    with pytest.raises(DDlogError, match="expected a number such as"):
        read(f"{written(tmp_path / 'n.csv', 'x;1.23.4')}?delimiter=;&{options}", "Sum")


def test_tables_with_other_columns(tmp_path: Path) -> None:
    write_parquet(pa.table({"N": [1], "who": ["x"], "rest": [0]}), tmp_path / "c.parquet")
    assert read(f"{tmp_path}/c.parquet?map=a:who&extra=ignore", "Count")[0] == [("x", 1)]
    with pytest.raises(DDlogError, match="there is no column `a`"):
        read(f"{tmp_path}/c.parquet", "Count")


def test_archives(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "facts.zip", "w") as archive:
        archive.writestr("Edge.csv", "x,y\n")
        archive.writestr("in/Count.jsonl", '["z", 1]\n')
        archive.writestr("README", "")
    with PROGRAM.session() as session:
        session.load(tmp_path / "facts.zip")
        assert [session.size(name) for name in ("Edge", "Count")] == [1, 1]
    assert read(f"{tmp_path}/facts.zip?member=in/Count.jsonl", "Count")[0] == [("z", 1)]
    with pytest.raises(DDlogError, match="it holds Edge"):
        read(f"{tmp_path}/facts.zip")
    secret = bytearray((tmp_path / "facts.zip").read_bytes())
    for header, flags in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        secret[secret.index(header) + flags] |= 1
    (tmp_path / "facts.zip").write_bytes(secret)
    with pytest.raises(DDlogError, match=r"cannot be read: File .* is encrypted"):
        read(f"{tmp_path}/facts.zip?member=Edge.csv")


def test_files_at_urls(tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/day/1.csv", b"x;y\n")
    memory.pipe_file("/day/2.csv", b"z\n")
    assert read("memory://day/1.csv?delimiter=;")[0] == [("x", "y")]
    with pytest.raises(DDlogError, match=r"/day/2[.]csv:1:2: expected 2 columns"):
        read("memory://day/*.csv?delimiter=;")
    with pytest.raises(DDlogError, match=r"memory://day/3[.]csv: cannot be read"):
        read("memory://day/3.csv")


def test_files_of_a_web_server(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("x;y\n", encoding="utf-8")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert read(f"{url}/e.csv?delimiter=;")[0] == [("x", "y")]
        with pytest.raises(DDlogError, match=r"/absent[.]csv: cannot be read"):
            read(f"{url}/absent.csv")
        server.shutdown()


SHEET = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="inlineStr"><is><t>who</t></is></c><c r="B1" t="inlineStr"><is><t>N</t></is></c></row>
<row r="2"><c r="A2" t="inlineStr"><is><t>x</t></is></c><c r="B2"><v>1</v></c></row>
</sheetData></worksheet>"""


def test_sheets_of_excel(tmp_path: Path) -> None:
    main = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006"
    with zipfile.ZipFile(tmp_path / "c.xlsx", "w") as book:
        book.writestr("[Content_Types].xml", f'<Types xmlns="{packages}/content-types"/>')
        link = '<Relationships xmlns="{}/relationships"><Relationship Id="r1" Type="{}/{}" Target="{}"/>'
        link += "</Relationships>"
        book.writestr("_rels/.rels", link.format(packages, main, "officeDocument", "xl/workbook.xml"))
        book.writestr(
            "xl/_rels/workbook.xml.rels", link.format(packages, main, "worksheet", "worksheets/s.xml")
        )
        book.writestr(
            "xl/workbook.xml",
            '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheets>'
            f'<sheet name="First" sheetId="1" r:id="r1" xmlns:r="{main}"/></sheets></workbook>',
        )
        book.writestr("xl/worksheets/s.xml", SHEET)
    assert read(f"{tmp_path}/c.xlsx?map=a:who&sheet=First", "Count")[0] == [("x", 1)]
    assert "n: s64  // 1 to 1" in inferred(f"{tmp_path}/c.xlsx").text
    with pytest.raises(DDlogError, match="cannot be read as a sheet of Excel"):
        read(f"{tmp_path}/c.xlsx?sheet=Second", "Count")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("e.csv", "delimeter=;", "a place has no option `delimeter`.*did you mean `delimiter`"),
        ("e.csv", "delimiter=ab", "`delimiter=ab`: expected one sign, or tab"),
        ("e.csv", "header=maybe", "expected yes, no or auto"),
        ("e.csv", "map=c:x", "Edge has no column c"),
        ("e.jsonl", "header=no", "the option `header` is for files that end in csv, facts, tsv"),
        ("e.csv", "null=x", "is absent .'x'., and the column's type is no Option"),
    ],
)
def test_wrong_options(tmp_path: Path, name: str, options: str, message: str) -> None:
    place = written(tmp_path / name, "x,y\n")
    with pytest.raises(DDlogError, match="(?s)" + message):
        read(f"{place}?{options}")


@pytest.mark.parametrize(
    ("name", "text", "help"),
    [
        ("e.csv", "a;b\nx;y\n", "`?delimiter=;`"),
        ("e.tsv", "a,b\nx,y\n", "`?delimiter=,`"),
        ("e.csv", "a\tb\nx\ty\n", "`?delimiter=tab`"),
        ("e.csv", "sep=;\na;b\n", "`?skip=1&delimiter=;`"),
    ],
)
def test_an_error_names_the_option_that_a_file_needs(tmp_path: Path, name: str, text: str, help: str) -> None:
    place = written(tmp_path / name, text)
    with pytest.raises(DDlogError) as caught:
        read(place)
    assert help in str(caught.value)
    options = re.findall(r"`\?(.*?)`", str(caught.value))[0]
    assert [row for row in read(f"{place}?{options}&header=no")[0] if ";" in str(row)] == []


NUMBERS = """import time
input relation Of(n: u32, day: Date, ratio: double, o: Option<u8>)
"""


@pytest.mark.parametrize(
    ("row", "options"),
    [
        ('"1,234",2024-01-02,1.5,1', "thousands=,"),
        ('7,2024-01-02,"1,5",1', "decimal=,"),
        ('7,2024-01-02,"1.234,5",1', "thousands=.&decimal=,"),
        ("7,2024-01-02,1 234.5,1", "thousands=space"),
        ("7,2024-01-02,1,NULL", "null=NULL"),
        ("7,02.01.2024,1,1", "date=%d.%m.%Y"),
        ("7,01/02/2024,1,1", "date=%m/%d/%Y"),
        ("7,20240102,1,1", "date=%Y%m%d"),
    ],
)
def test_an_error_names_the_option_that_a_cell_needs(tmp_path: Path, row: str, options: str) -> None:
    place = written(tmp_path / "n.csv", row + "\n")
    with ddlog.compile(NUMBERS).session() as session:
        with pytest.raises(DDlogError, match=re.escape(f"`?{options}`")):
            session.load(f"Of={place}")
        session.load(f"Of={place}?{options}")
        assert [str(row.day) for row in session["Of"]] == ["2024-01-02"]


@pytest.mark.parametrize(
    "row", ["99999999999,2024-01-02,1.5,1", "1e2,2024-01-02,1.5,1", "+3,2024-01-02,1.5,1"]
)
def test_an_error_names_no_option_with_which_a_cell_is_wrong_too(tmp_path: Path, row: str) -> None:
    place = written(tmp_path / "n.csv", row + "\n")
    with ddlog.compile(NUMBERS).session() as session, pytest.raises(DDlogError) as caught:
        session.load(f"Of={place}")
    assert "an option of the place" not in str(caught.value)


def test_a_header_above_tabs_is_told(tmp_path: Path) -> None:
    place = written(tmp_path / "c.tsv", "N\ta\n1\tx\n")
    with pytest.raises(DDlogError, match=r"(?s)c.tsv:1:1: this line names the columns.*`\?header=yes`"):
        read(place, "Count")
    assert read(f"{place}?header=yes", "Count")[0] == [("x", 1)]
    assert read(f"{place}?header=yes", "Count", refuse=print)[0] == [("x", 1)]


def test_endings_may_be_in_upper_case_and_files_that_are_missing_are_no_tables(tmp_path: Path) -> None:
    assert read(written(tmp_path / "E.CSV", "a,b\n1,2\n"))[0] == [("1", "2")]
    for name in ("absent.txt", "absent.CSV", "absent.zip"):
        with pytest.raises(DDlogError, match=f"{name}: cannot be read: there is no such file"):
            read(name)


@pytest.mark.parametrize("name", ["c.csv.gz", "c.zip", "c.csv", "c.jsonl"])
def test_a_file_that_is_larger_than_the_memory_limit_is_not_read(tmp_path: Path, name: str) -> None:
    line = '{"a": "x", "n": 1}\n' if name == "c.jsonl" else "x,1\n"
    rows, path = line * (1 << 24), tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(rows.encode(), 1))
    elif name.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("Count.csv", rows)
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    limit = (resident() or 0) + (32 << 20)
    with (
        PROGRAM.session(memory_limit=limit) as session,
        pytest.raises(DDlogError, match="the memory limit of"),
    ):
        session.load(f"Count={path}")
    assert (resident() or 0) < limit + (96 << 20)


@pytest.mark.parametrize(("name", "text"), [("c.csv", "x,1\n"), ("c.jsonl", '["x", 1]\n')])
def test_rows_ask_for_memory_as_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    asked: list[int] = []

    def check() -> None:
        asked.append(len(asked))
        if len(asked) == 2:
            raise memory.OverLimit

    place = written(tmp_path / name, text * 3)
    monkeypatch.setattr(memory, "check", check)
    with PROGRAM.session() as session, pytest.raises(DDlogError, match=f"{name}: .* more memory than"):
        session.load(f"Count={place}")
    assert asked == [0, 1]


def test_an_option_of_a_directory_is_for_the_files_that_have_it(tmp_path: Path) -> None:
    written(tmp_path / "Edge.csv", "a,b\n")
    written(tmp_path / "Count.jsonl", '["z", 1]\n')
    with PROGRAM.session() as session:
        session.load(f"{tmp_path}?header=no")
        assert [session.size(name) for name in ("Edge", "Count")] == [1, 1]


# ------------------------------------------------------------ rows that are wrong


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("c.csv", "x,1\ny,two\nz\nw,4\n", [2, 3]),
        ("c.jsonl", '["x", 1]\n["y"\n["z", -1]\n{"a": "w", "n": 4}\n', [2, 3]),
        ("c.json", '[["x", 1], ["y", "2"], ["w", 4]]', [1]),
    ],
)
def test_wrong_rows_are_skipped(tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    wrong: list[DDlogError] = []
    rows, _ = read(written(tmp_path / name, text), "Count", refuse=wrong.append)
    assert rows == [("w", 4), ("x", 1)]
    assert [each.diagnostics[0].span.line for each in wrong if each.diagnostics[0].span] == lines


def test_after_ten_errors_the_rest_is_counted(tmp_path: Path) -> None:
    with pytest.raises(DDlogError) as caught:
        read(written(tmp_path / "c.csv", "x,one\n" * 2000), "Count")
    assert len(caught.value.diagnostics) == 10
    assert "note: 1,990 more of these errors in this file" in str(caught.value)


PEOPLE = {"id": [1, 2, 1], "name": ["x", None, "y"], "age": [None, None, 3]}
TWICE = {
    "csv": "1,x,\n2,,\n1,y,3\n",
    "jsonl": '[1, "x", null]\n{"id": 2}\n{"id": 1, "name": "y", "age": 3}\n',
}


@pytest.mark.parametrize(
    ("name", "third", "first"),
    [
        ("p.csv", "p.csv:3:1", "p.csv:1:1"),
        ("p.jsonl", "p.jsonl:3:1", "p.jsonl:1:1"),
        ("p.parquet", "p.parquet: row 3", "p.parquet: row 1"),
        ("p.arrow", "p.arrow: row 3", "p.arrow: row 1"),
    ],
)
def test_a_key_that_is_there_twice(tmp_path: Path, name: str, third: str, first: str) -> None:
    place = tmp_path / name
    if place.suffix[1:] in TWICE:
        place.write_text(TWICE[place.suffix[1:]])
    else:
        (write_parquet if name == "p.parquet" else write_feather)(pa.table(PEOPLE), str(place))
    with pytest.raises(DDlogError) as caught:
        read(str(place), "Person")
    shown = str(caught.value)
    assert f"{third}: Person already has a row with the key 1" in shown and '"y"' in shown
    assert f"{first}: the other row is" in shown and '"x"' in shown
    wrong: list[DDlogError] = []
    assert read(str(place), "Person", refuse=wrong.append)[0] == [(1, "x", None), (2, None, None)]
    assert [str(each.diagnostics[0].span) for each in wrong] == [f"{tmp_path}/{third}"]


@pytest.mark.parametrize("form", [pa.table, pandas.DataFrame, polars.DataFrame, dict])
def test_a_key_that_a_table_has_twice(form: Callable[[Any], Any]) -> None:
    with PROGRAM.session() as session:
        with pytest.raises(DDlogError) as caught:
            session.insert_table("Person", form(PEOPLE))
        assert "the table for Person: row 3: Person already has a row with the key 1" in str(caught.value)
        assert "row 1: the other row is" in str(caught.value) and not session.in_transaction
        session.insert("Person", (1, "x", None))
        with pytest.raises(DDlogError, match=r"key 1\n.*this row is .*\"y\".*\n.*the other row is .*\"x\""):
            session.insert("Person", (1, "y", None))
        session.rollback()


def test_wrong_rows_of_tables_are_told_and_skipped(tmp_path: Path) -> None:
    numbers = [1, -1, None, 4, *[-2] * 20]
    write_parquet(pa.table({"a": ["x"] * 24, "n": numbers}), tmp_path / "c.parquet")
    wrong: list[DDlogError] = []
    place = f"{tmp_path}/c.parquet"
    assert read(place, "Count", refuse=wrong.append)[0] == [("x", 1), ("x", 4)]
    assert [str(each.diagnostics[0].span) for each in wrong[:2]] == [f"{place}: row 2", f"{place}: row 3"]
    with pytest.raises(DDlogError) as caught:
        read(place, "Count")
    assert len(caught.value.diagnostics) == 10 and "12 more of these errors" in str(caught.value)


def test_each_option_is_in_the_documents() -> None:
    page = (Path(__file__).parents[2] / "docs/facts.md").read_text()
    section = page.partition("## Options of a place")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z]+)` \|", section, re.MULTILINE) == list(OPTIONS)


WRITTEN = """
import time
input relation R(a: u32, n: Option<s64>, x: double, s: Option<string>, t: string, d: Option<time::Date>)
"""


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("header=auto", "1.0,3.0,2,a,b,2024-02-01\n2,,2.5,,,\n3.00,-9007199254740993.0,1e3,c,d,2024-02-03\n"),
        ("null=NA&null=-", "1,NA,2,-,b,NA\n2,3,2.5,NA, NA,2024-02-01\n3,-,-1,,,-\n"),
        ("null=-1", "1,-1,2,a,b,-1\n2,4,2,-1,x,2024-02-01\n"),
        ("date=%d.%m.%Y", "1,2,3,a,b,01.02.2024\n2,3,4,a,b,\n"),
        (
            "delimiter=;&decimal=,&thousands=.&null=NA",
            "1.000;1.234.567;1.234,5;a;b;2024-02-01\n7;NA;0,5;NA;b;NA\n",
        ),
    ],
)
def test_large_files_are_read_at_once_whatever_their_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, text: str
) -> None:
    """The rows are those of a small file, and no line is looked at by itself."""
    from ddlog.io import delimitedfiles

    place, program, rows = f"R={written(tmp_path / 'r.csv', text)}?{options}", ddlog.compile(WRITTEN), []
    for least in (1 << 40, 0):
        monkeypatch.setattr(delimitedfiles, "LARGE", least)
        if not least:
            monkeypatch.setattr(delimitedfiles, "_read_lines", None)
        with program.session() as session:
            session.load(place)
            rows.append(list(session["R"].tuples()))
    assert rows[0] == rows[1] and len(rows[0]) == text.count("\n")


@pytest.mark.parametrize(
    ("options", "text", "what"),
    [
        ("null=-1", "-1,2,3,a,b,\n", "absent"),
        ("null=1", "1,2,3,a,b,\n", "absent"),
        ("null=NA", "1,2,3,a,NA,\n", "absent"),
        ("header=no", "1.5,2,3,a,b,\n", "expected bit<32>"),
        ("thousands=.&decimal=:", "1.5,2,3,a,b,\n", "expected a number"),
        ("thousands=.", "1.5,2,3,a,b,\n", "thousands=.`: expected another sign"),
    ],
)
def test_large_files_refuse_the_same_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, text: str, what: str
) -> None:
    monkeypatch.setattr("ddlog.io.delimitedfiles.LARGE", 0)
    with ddlog.compile(WRITTEN).session() as session, pytest.raises(DDlogError, match=what):
        session.load(f"R={written(tmp_path / 'r.csv', text)}?{options}")


def test_integers_of_json_may_have_a_fraction_of_zeros(tmp_path: Path) -> None:
    """pandas writes integers beside missing values so; beyond 2^53 they are exact."""
    rows = '{"a": "x", "n": 3.0}\n{"a": "y", "n": 4294967295.0}\n'
    assert read(written(tmp_path / "Count.jsonl", rows), "Count")[0] == [("x", 3), ("y", 4294967295)]
    with ddlog.compile("input relation N(n: s128)").session() as session:
        session.load("N=" + written(tmp_path / "n.jsonl", '{"n": 9007199254740993.0}'))
        assert list(session["N"].tuples()) == [(9007199254740993,)]
    for wrong in ("3.5", "1e3", "1e300"):
        with pytest.raises(DDlogError, match="n: expected bit<32>"):
            read(written(tmp_path / "Count.jsonl", f'{{"a": "x", "n": {wrong}}}\n'), "Count")


def test_a_header_names_columns_with_other_signs(tmp_path: Path) -> None:
    place = written(tmp_path / "c.csv", "n.,A\n1,x\n")
    assert read(place, "Count") == read(f"{place}?map=n:n.", "Count") == ([("x", 1)], [])


TABLES = """CREATE TABLE whole(v BIGINT, w VARCHAR);
CREATE TABLE small(v SMALLINT, w VARCHAR);
CREATE TABLE real(v DOUBLE, w VARCHAR);
CREATE TABLE money(v DECIMAL(10, 2), w VARCHAR);
CREATE TABLE price(v DECIMAL(10, 2) NOT NULL, w VARCHAR);
CREATE TABLE day(v DATE, w VARCHAR);
CREATE TABLE moment(v TIMESTAMP, w VARCHAR);
CREATE TABLE instant(v TIMESTAMPTZ NOT NULL, w VARCHAR);
"""
TYPED = """import time
input relation Small(v: Option<u8>, w: string)
input relation Deep(v: Option<Option<s16>>, w: string)
input relation Day(v: Date, w: string)
input relation Moment(v: Option<DateTime>, w: string)
input relation Fixed(v: DateTime, w: string)
"""
NUMBERS_AND_OTHERS = st.one_of(
    st.sampled_from([-(2**63), -32769, -32768, -1, 255, 256, 32767, 32768, 2**31, 2**63]).map(str),
    st.from_regex(r"\A-?[0-9]{1,10}(\.[0-9]{1,3})?\Z"),
    st.from_regex(r"\A[-+ ]?[0-9]{0,20}\.?[0-9]{0,4}\Z"),
    st.sampled_from(["", "NULL", "1_000", "0x1f", "nan", "-0", "-0.0", "1e3", "None", "Some{1}"]),
)
DAYS = r"(0000|0001|1969|2024|10000)-(02|12|13|2)-(00|28|29|30|31|1)"
MOMENTS = st.one_of(
    st.from_regex(rf"\A{DAYS}\Z"),
    st.from_regex(r"\A(0001|1969|2024)-02-28[T ](00|23):(00|59):(00|59)(\.[0-9]{1,6})?\Z"),
    st.from_regex(rf"\A{DAYS}[T ](00|24|7):(59|60):(00|60)(\.[0-9]{{1,7}})?(Z|\+01)?\Z"),
)
CELLS = {
    "sql": dict.fromkeys(("Whole", "Small", "Real", "Money", "Price"), NUMBERS_AND_OTHERS)
    | dict.fromkeys(("Day", "Moment", "Instant"), MOMENTS),
    "dl": dict.fromkeys(("Small", "Deep"), NUMBERS_AND_OTHERS)
    | dict.fromkeys(("Day", "Moment", "Fixed"), MOMENTS),
}


@cache
def compiled_from(form: str) -> ddlog.Program:
    with tempfile.TemporaryDirectory() as folder:
        return ddlog.compile(Path(written(Path(folder) / f"p.{form}", {"sql": TABLES, "dl": TYPED}[form])))


@trying(100)
@given(st.sampled_from([(form, name) for form in CELLS for name in CELLS[form]]), st.data())
def test_cells_in_a_usual_form_are_read_at_once_as_they_are_one_by_one(
    of: tuple[str, str], data: st.DataObject
) -> None:
    form, name = of
    cells = data.draw(st.lists(CELLS[form][name], min_size=1, max_size=3))
    compiled, found = compiled_from(form), list[Any]()
    with tempfile.TemporaryDirectory() as folder:
        place = written(Path(folder) / "r.csv", "".join(f"{cell},w\n" for cell in cells))
        for least in (1 << 40, 0):
            with mock.patch("ddlog.io.delimitedfiles.LARGE", least), compiled.session() as session:
                try:
                    session.load(f"{name}={place}?header=no")
                    found.append(repr(list(session[name].tuples())))
                except DDlogError as error:
                    found.append(str(error))
    assert found[0] == found[1]
