"""Facts that Spark reads, and outputs that it writes: the same as in-process."""

from __future__ import annotations

import gzip
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ddlog
from ddlog import DDlogError
from ddlog.io.files import FactFile, split_name
from ddlog.io.places import parse_places
from ddlog.io.read import read_facts
from ddlog.io.write import write_relation
from ddlog.lowering.builder import column as stored_column
from ddlog.spark.files.listing import SparkFile, find_facts
from ddlog.spark.files.read import FactReader
from ddlog.spark.sessions.failures import spark_failures
from ddlog.spark.types.codec import SparkCodec
from ddlog.spark.types.pythoncells import text_function
from ddlog.types import BigInt, Bit, Bool, Float, Signed, Type, User
from ddlog.values import show

from ..trying import longer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = ddlog.compile("""
typedef Shape = Circle{radius: double} | Point | Box{a: s32, b: string}
input relation A(a: s32, b: string, c: bool)
input relation W(x: u64, y: bigint, z: double, f: float, w: bit<20>, v: bit<128>)
input relation S(s: string)
input relation C(k: u8, v: Vec<s32>, o: Option<string>, shape: Shape, t: (s32, string))
output relation OutA(a: s32, b: string, c: bool)
output relation OutW(x: u64, y: bigint, z: double, f: float, w: bit<20>, v: bit<128>)
output relation OutS(s: string)
output relation OutC(k: u8, v: Vec<s32>, o: Option<string>, shape: Shape, t: (s32, string))
OutA(a, b, c) :- A(a, b, c).
OutW(x, y, z, f, w, v) :- W(x, y, z, f, w, v).
OutS(s) :- S(s).
OutC(k, v, o, s, t) :- C(k, v, o, s, t).
""")
TYPEDEFS = PROGRAM.checked.typedefs
LIBRARY = ("time", "uuid", "url", "regex", "net::ipv4", "net::ipv6", "net::ipaddr")

GOOD = {
    "A.csv": b'a,b,c\n1,x,true\n-2,"q,""r""",false\r\n\n3,,true\n0x1F,"",true\n - 1_0,y z, true \n',
    "A.tsv": b'1\t"x\ttrue\r\n\n2\t\tfalse\n',
    "A.facts.gz": b'1\t"x\ttrue\r\n\n2\t\tfalse\n',
    "A.jsonl": b'{"a":1,"b":"x","c":true}\n \xc2\xa0\x1c\n[2,"y",false]\n\n',
    "A.json": b'[{"a":1,"b":"x","c":true},\n[2,"y",false]]\n',
    "S.facts": b"x\r\r\n\n\xc3\xa9\n",
    "S.csv": b's\nx\n\n"a\nb"\n""\n',
    "W.csv": b"18446744073709551615,12345678901234567890123456789012345678,1.5,-0.0,1048575,"
    b"340282366920938463463374607431768211455\n0,-1,nan,1e400,0,0\n5,5,-inf,.5,1,0xFF\n1,1,+nan,Infinity,1,1\n",
    "C.csv": b'1,"[1,2]",None,Point,"(1, ""x"")"\n2,[],"Some{""s""}","Circle{1.5}","(2,""y"")"\n',
    "C.jsonl": b'{"k":1,"v":[1,2],"o":null,"shape":"Point","t":[1,"x"]}\n',
}
MORE = {
    "A.csv": b"\xef\xbb\xbfc,a,b\ntrue,1,x\n",
    "S.csv": b'"a\n\nb"\nc\n',
    "W.csv": b" 1_0,0x10,1e3,1,1,1\n",
}
TYPES = (Bit(8), Bit(64), Bit(128), Signed(32), Signed(64), BigInt(), Float(64), Float(32), Bool())
BAD = {
    "A.csv": [
        (b"1,x,true\n2,y\n", "expected 3 columns (a, b, c), found 2"),
        (b"1,x,true\n2147483648,y,true\n", "2147483648 is out of the range of signed<32>"),
        (b"1,x,true\n7,y,maybe\n", 'expected bool, found "maybe"'),
        (b"a,b,d\n1,x,true\n", "`d` is no column of A"),
        (b"1,x\xff,true\n", "not UTF-8"),
        (b'1,"x"y,true\n', "expected `,` or the end of the line after a quoted cell"),
    ],
    "W.csv": [
        (b"18446744073709551616,1,1,1,1,1\n", "18446744073709551616 is out of the range of bit<64>"),
        (b"1,1,1d,1,1,1\n", 'expected double, found "1d"'),
    ],
    "C.csv": [(b'1,"[1,2x]",None,Point,"(1, ""x"")"\n', "expected signed<32>, found `2x`")],
    "A.jsonl": [(b'{"a":1,"b":"x","c":true}\n[2,"y"]\n', "expected 3 fields, found an array of 2")],
    "A.json": [(b'[{"a":1,"b":"x","c":3}]', "expected bool, found 3")],
}


@pytest.fixture
def session(spark: SparkSession) -> Iterator[ddlog.Session]:
    """A session on Spark."""
    with PROGRAM.session(spark=spark) as session:
        yield session


def put(folder: Path, name: str, data: bytes) -> Path:
    """A file with these data, compressed if its name says so."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return file


def here(file: Path) -> list[str]:
    """What the in-process reader makes of a file, in some order."""
    name = split_name(file)
    assert name is not None
    relation = PROGRAM.relations[name[0]]
    rows = read_facts(FactFile(name[0], file, name[1], name[2]), relation, TYPEDEFS).rows(relation)
    return sorted(map(repr, rows))


def there(spark: SparkSession, file: Path) -> list[str]:
    """What Spark makes of it."""
    relation = PROGRAM.relations[file.name.split(".")[0]]
    reader = FactReader(spark, SparkCodec(TYPEDEFS), TYPEDEFS)
    places = parse_places(f"{relation.name}={file}", PROGRAM.names("input"), PROGRAM.relations)
    with spark_failures():
        found = find_facts(spark, places, PROGRAM.names("input"), ())
        table = reader.files(relation, found.files[relation.name]).toArrow()
    columns = [
        reader.codec.decode(column, table.column(place))
        for place, column in enumerate(reader.columns(relation))
    ]
    return sorted(map(repr, zip(*columns, strict=True)))


@pytest.mark.parametrize(
    ("name", "data"),
    [*GOOD.items(), *MORE.items()],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_spark_reads_what_the_in_process_engine_reads(
    spark: SparkSession, tmp_path: Path, name: str, data: bytes
) -> None:
    file = put(tmp_path, name, data)
    assert there(spark, file) == here(file)
    assert len(here(file)) >= 1


@pytest.mark.parametrize(("name", "data", "message"), [(n, *each) for n, bad in BAD.items() for each in bad])
def test_what_is_wrong_is_said(
    spark: SparkSession, tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    file = put(tmp_path, name, data)
    for read in (here, lambda file: there(spark, file)):
        with pytest.raises(DDlogError) as raised:
            read(file)
        text = str(raised.value)
        assert message in text and str(file) in text and "Traceback" not in text
        assert ("column `c`: expected bool" in text) == (read is not here and data.endswith(b"maybe\n"))


def cells_of(of: Type) -> list[tuple[str, str]]:
    """The texts of a type in the golden table of cells, and what is expected of each."""
    table = (Path(__file__).parents[1] / "io" / "cells.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines()[1:])
    return [(json.loads(text), expected) for name, text, expected in rows if name == str(of)]


@pytest.mark.usefixtures("spark", *longer((), ("compiled",)))
@pytest.mark.parametrize("of", TYPES, ids=str)
def test_spark_reads_cells_as_the_table_says(spark: SparkSession, of: Type) -> None:
    cells, column, codec = cells_of(of), stored_column("x", of), SparkCodec({})
    frame = spark.createDataFrame([(text, at) for at, (text, _) in enumerate(cells)], "text STRING, at INT")
    frame = frame.selectExpr("at", f"{text_function(spark, codec, column, {})}(text) AS read")
    read = frame.orderBy("at").selectExpr("read.e AS problem", "read.v AS value").toArrow()
    found = []
    for at, problem in enumerate(read.column("problem").to_pylist()):
        if problem is None:
            (value,) = codec.decode(column, read.column("value").slice(at, 1))
            found.append(show(value, of, {}))
        else:
            found.append(f"error: {problem}")
    pairs = zip(cells, found, strict=True)
    assert [(text, got) for (text, _), got in pairs] == cells


def test_spark_reads_values_of_the_library_as_the_table_says(spark: SparkSession) -> None:
    program = ddlog.compile("".join(f"import {module}\n" for module in LIBRARY) + "relation R(t: Time)\n")
    typedefs = program.checked.typedefs
    codec, wrong = SparkCodec(typedefs), []
    for of in [User(name) for name in typedefs if name.rpartition("::")[0] in LIBRARY]:
        cells, column = cells_of(of), stored_column("x", of)
        if cells:
            rows = [(text, at) for at, (text, _) in enumerate(cells)]
            read = f"{text_function(spark, codec, column, typedefs)}(text) AS read"
            frame = spark.createDataFrame(rows, "text STRING, at INT").selectExpr("at", read)
            table = frame.orderBy("at").selectExpr("read.e AS problem", "read.v AS value").toArrow()
            for at, problem in enumerate(table.column("problem").to_pylist()):
                text, expected = cells[at]
                found = f"error: {problem}"
                if problem is None:
                    found = show(codec.decode(column, table["value"].slice(at, 1))[0], of, typedefs)
                wrong += [(text, found)] if found != expected else []
    assert wrong == []


def test_a_fault_in_a_short_file_has_its_place(session: ddlog.Session, tmp_path: Path) -> None:
    put(tmp_path, "A.csv", b"a,b,c\n1,x,true\n7,y,maybe\n")
    put(tmp_path, "S.csv", b"s\nx\n")
    with pytest.raises(DDlogError, match=r'A.csv:3:5: expected bool, found "maybe"'):
        session.load(tmp_path)
    assert (session.size("A"), session.size("S"), session.in_transaction) == (0, 0, False)


def test_wrong_rows_of_short_files_are_skipped(
    spark: SparkSession, session: ddlog.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver reads them, with their options, and refuses to read more than is short."""
    refused: list[DDlogError] = []
    file = put(tmp_path, "A.csv", b"1;x;true\n2;y;maybe\n3;NA;false\n")
    session.load(f"A={file}?delimiter=;", refuse=refused.append)
    assert sorted(session["A"].tuples()) == [(1, "x", True), (3, "NA", False)]
    assert len(refused) == 1 and "A.csv:2:" in str(refused[0])
    monkeypatch.setattr("ddlog.spark.sessions.host._SHORT", 10)
    with pytest.raises(DDlogError, match="at most 64 MiB"):
        session.load(f"A={file}?delimiter=;", refuse=refused.append)


def test_a_directory_of_everything(session: ddlog.Session, tmp_path: Path) -> None:
    put(tmp_path, "C.csv", GOOD["C.csv"])
    put(tmp_path, "A/1.csv", b"c,b,a\ntrue,x,1\n")
    put(tmp_path, "A/2.csv.gz", b"2,y,false\n")
    put(tmp_path, "A/3.jsonl", b'[3,"z",true]\n')
    put(tmp_path, "notes.txt", b"")
    notes: list[str] = []
    session.load(tmp_path, note=notes.append)
    assert list(session["OutA"].tuples()) == [(1, "x", True), (2, "y", False), (3, "z", True)]
    assert session.size("OutC") == 2
    assert sorted(notes) == sorted([
        "no file for the input relation S: it is empty", "no file for the input relation W: it is empty",
        f"{tmp_path / 'notes.txt'} is not read: its name is no relation's",
    ])  # fmt: skip


def test_urls_tables_patterns_and_columnar_files(
    spark: SparkSession, session: ddlog.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.createDataFrame([(1, "x", True)], "a BIGINT, b STRING, c BOOLEAN").write.parquet(f"{tmp_path}/p/A")
    spark.createDataFrame([(True, "y", 2)], "c BOOLEAN, b STRING, a INT").write.orc(f"{tmp_path}/o.orc")
    put(tmp_path, "many/day=1/S.csv", b"s\nmon\n")
    put(tmp_path, "many/day=2/S.csv", b"tue\n")
    spark.createDataFrame([("t",)], "s STRING").createOrReplaceTempView("some_strings")
    places = [f"A={tmp_path}/p/A", f"A={tmp_path}/o.orc", f"S={tmp_path}/many/*/S.csv", "S=some_strings"]
    session.load(places)
    assert list(session["OutA"].tuples()) == [(1, "x", True), (2, "y", True)]
    assert list(session["OutS"].tuples()) == [("mon",), ("t",), ("tue",)]
    # As in an object store: Spark lists the files.
    monkeypatch.setattr("ddlog.io.places._kind", lambda text, named: (text, "url"))
    with PROGRAM.session(spark=spark) as other:
        other.load([f"file:{tmp_path}/many", f"A=file:{tmp_path}/p/A"])
        assert [other.size(name) for name in ("OutA", "OutS")] == [1, 2]
        with pytest.raises(DDlogError, match="nowhere: cannot be read"):
            PROGRAM.session(spark=spark).load(f"file:{tmp_path}/nowhere")
    spark.catalog.dropTempView("some_strings")


def test_options_of_places(spark: SparkSession, session: ddlog.Session, tmp_path: Path) -> None:
    put(tmp_path, "a.csv", "no;B;c;more\n1;\u00e4;true;x\n2;NA;false;y\n".encode("latin-1"))
    put(tmp_path, "a.jsonl", b'{"no": 3, "b": "z", "c": true, "x": 0}\n')
    put(tmp_path, "a.tsv.gz", b"# a comment\n4\ty\tfalse\n")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/1.csv", "5,zip,true\n")
        archive.writestr("in/2.csv", "")
    table = spark.createDataFrame([(6, "p", True, 0)], "no INT, B STRING, c BOOLEAN, rest INT")
    table.write.parquet(f"{tmp_path}/p.parquet")
    places = [
        "a.csv?delimiter=;&encoding=latin-1&map=a:no&extra=ignore", "a.jsonl?map=a:no&extra=ignore",
        "a.tsv.gz?skip=1", "a.zip?member=in/1.csv", "p.parquet?map=a:no&extra=ignore",
    ]  # fmt: skip
    session.load([f"A={tmp_path}/{each}" for each in places])
    rows = [
        (1, "ä", True),
        (2, "NA", False),
        (3, "z", True),
        (4, "y", False),
        (5, "zip", True),
        (6, "p", True),
    ]
    assert list(session["OutA"].tuples()) == rows
    with PROGRAM.session(spark=spark) as other:
        with pytest.raises(
            DDlogError, match=r"a.csv:2:1: expected signed<32>, found \"no\"|no. is no column"
        ):
            other.load(f"A={tmp_path}/a.csv?delimiter=;&encoding=latin-1")
        with pytest.raises(DDlogError, match="`skip` is for files that end in csv"):
            other.load(f"A={tmp_path}/a.jsonl?skip=1")
        with pytest.raises(DDlogError, match="Spark reads neither the web, nor tables with options"):
            other.load("A=https://localhost/a.csv")


def test_wrong_tables(spark: SparkSession, session: ddlog.Session, tmp_path: Path) -> None:
    spark.createDataFrame([(1 << 40, "x", True)], "a BIGINT, b STRING, c BOOLEAN").write.parquet(
        f"{tmp_path}/A"
    )
    with pytest.raises(DDlogError, match="column `a`: 1099511627776 is out of the range of signed<32>"):
        session.load(tmp_path)
    with pytest.raises(DDlogError, match="there is no table nowhere"):
        session.load("S=nowhere")
    put(tmp_path, "b/A.parquet", b"no parquet at all")
    with pytest.raises(DDlogError) as raised:
        session.load(tmp_path / "b")
    assert "Traceback" not in str(raised.value) and len(str(raised.value).splitlines()) <= 3


def test_files_tell_what_they_are(tmp_path: Path) -> None:
    file = SparkFile(f"file:{tmp_path}/a b.csv", "csv", put(tmp_path, "a b.csv", b'x,"y"\r\nz\n'))
    assert file.is_at(f"file:{tmp_path}/a%20b.csv") and not file.is_at(f"file:{tmp_path}/b.csv")
    assert file.first_lines(1) == ['x,"y"'] and file.may_have(b'"') and not file.may_have(b"q")
    os.mkfifo(tmp_path / "A.csv")
    with pytest.raises(DDlogError, match="Spark does not read pipes"):
        find_facts(None, parse_places(f"A={tmp_path}/A.csv", ["A"], ["A"]), ["A"], ())


@pytest.fixture(scope="module")
def written(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ddlog.Session]:
    """A session with some of everything in its outputs."""
    folder = tmp_path_factory.mktemp("facts")
    for name in ("A.csv", "W.csv", "C.csv", "S.csv"):
        put(folder, name, GOOD[name])
    put(folder, "S.csv", 's\n"a\nb"\n""\n"tab\t\\ \x01é"\nplain\n'.encode())
    with PROGRAM.session(spark=spark) as session:
        session.load(folder)
        yield session


@pytest.mark.parametrize("format", ["csv", "jsonl", "tsv", "parquet"])
def test_what_spark_writes(written: ddlog.Session, tmp_path: Path, format: str) -> None:
    for name in ("OutA", "OutW", "OutC", "OutS"):
        if (format, name) == ("tsv", "OutS"):
            with pytest.raises(DDlogError, match="cannot be written tab-separated"):
                written.write(name, str(tmp_path), format)
            continue
        written.write(name, str(tmp_path), format)
        relation, view = PROGRAM.relations[name], written[name]
        parts = sorted(part for part in (tmp_path / name).iterdir() if part.name.startswith("part-"))
        if format != "parquet":
            whole = write_relation(
                tmp_path, format, relation, TYPEDEFS, view.stored, view.stored.columns
            ).read_text(encoding="utf-8")
            texts = [part.read_text(encoding="utf-8") for part in parts]
            header = whole.split("\n")[0] + "\n" if format == "csv" else ""
            assert all(text.startswith(header) for text in texts if text)
            ours = "".join(text.removeprefix(header) for text in texts)
            assert sorted(ours) == sorted(whole.removeprefix(header)), (
                "the same text but for the order of rows"
            )
        back = tmp_path / "back" / format / name.removeprefix("Out")
        back.parent.mkdir(parents=True, exist_ok=True)
        if format == "parquet" or name != "OutS":
            (tmp_path / name).rename(back) if format == "parquet" else None
            source = back if format == "parquet" else tmp_path / name
            assert reread(source, parts, name, format) == list(view.stored)


def reread(folder: Path, parts: list[Path], name: str, format: str) -> list[tuple[Any, ...]]:
    """The rows of what Spark wrote, read in-process."""
    relation = PROGRAM.relations[name.removeprefix("Out")]
    rows: list[tuple[Any, ...]] = []
    for part in parts:
        file = folder / part.name
        if format not in ("parquet",):
            renamed = file.with_name(f"{file.stem}.{format}")
            renamed.write_bytes(file.read_bytes())
            file = renamed
        rows += read_facts(FactFile(relation.name, file, format, False), relation, TYPEDEFS).rows(relation)
    return sorted(rows)


def test_tables(spark: SparkSession, written: ddlog.Session, tmp_path: Path) -> None:
    for _ in range(2):
        assert written.write("OutC", "table:ddlog_test_") == "ddlog_test_OutC"
    try:
        with PROGRAM.session(spark=spark) as session:
            session.load("C=ddlog_test_OutC")
            assert list(session["OutC"].tuples()) == list(written["OutC"].tuples())
    finally:
        spark.sql("DROP TABLE ddlog_test_OutC")
