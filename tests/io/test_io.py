"""Fact files of every format, their errors, and writing them back."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ddlog
from ddlog import values
from ddlog.core import Relation
from ddlog.errors.diagnostics import DDlogError
from ddlog.io.columns import Columns
from ddlog.io.delimitedfiles import LARGE
from ddlog.io.files import FactFile, find_facts, split_name
from ddlog.io.formats import TABLE_FORMATS, TEXT_FORMATS, table_format, text_format
from ddlog.io.read import read_facts
from ddlog.io.write import make_directory, write_relation
from ddlog.types import Bit

from ..engine.declared import BIGINT, BOOL, DOUBLE, S32, SHAPES, STRING, option, relation, typedefs, vec

EDGE = relation("Edge", a=S32, b=S32)
PERSON = relation("Person", name=STRING, age=Bit(8), tall=BOOL, height=DOUBLE)
THING = relation("Thing", id=BIGINT, shape=SHAPES, tags=vec(STRING), note=option(STRING))
TYPES = typedefs(EDGE, PERSON, THING)
PEOPLE = [("Ann, B.", 30, True, 1.75), ('"Q"', 0, False, float("inf")), ("Zoë\nTwo", 255, True, -0.5)]


def rows(columns: Columns) -> list[tuple[Any, ...]]:
    plain = []
    for column in columns.data:
        if isinstance(column, tuple):
            plain.append([column[0][code] for code in column[1]])
        else:
            plain.append(column.tolist() if isinstance(column, np.ndarray) else column)
    return list(zip(*plain, strict=True))


def write(path: Path, content: str | bytes) -> FactFile:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    named = split_name(path)
    assert named is not None
    return FactFile(named[0], path, named[1], named[2])


def load(path: Path, content: str | bytes, declared: Relation) -> list[tuple[Any, ...]]:
    return rows(read_facts(write(path, content), declared, TYPES))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Edge.facts", "1\t2\n-3\t4\n"),
        ("Edge.tsv", "1\t2\r\n\r\n-3\t4"),
        ("Edge.csv", "1,2\n-3,4\n"),
        ("Edge.csv", "b,a\n2,1\n4,-3\n"),
        ("Edge.csv", '"a","b"\r\n"1","2"\r\n"-3",4\r\n'),
        ("Edge.csv", "\ufeffa,b\n1,2\n-3,4\n"),
        ("Edge.jsonl", '{"b": 2, "a": 1}\n\n[-3, 4]\n'),
        ("Edge.json", '[{"a": 1, "b": 2},\n [-3, 4]]'),
        ("Edge.ndjson.gz", "[1, 2]\n[-3, 4]\n"),
        ("Edge.csv.gz", "1,2\n-3,4\n"),
        ("Edge.facts", "0x1\t2\n-3\t4\n"),
    ],
)
def test_text_formats(tmp_path: Path, name: str, content: str) -> None:
    assert load(tmp_path / name, content, EDGE) == [(1, 2), (-3, 4)]


def test_empty_files(tmp_path: Path) -> None:
    for name in ("Edge.facts", "Edge.csv", "Edge.jsonl"):
        assert load(tmp_path / name, "", EDGE) == []


def test_composite_cells_are_text_or_json(tmp_path: Path) -> None:
    content = (
        '1\tBox{1, 2}\t["a", "b"]\t"hey"\n2\t"Dot"\t[]\tnull\n3\t{"Circle": {"r": 1.5}}\t["x"]\tSome{"y"}\n'
    )
    assert load(tmp_path / "Thing.facts", content, THING) == [
        (1, (2, 1, 2), ("a", "b"), (1, "hey")),
        (2, (0,), (), (0,)),
        (3, (1, 1.5), ("x",), (1, "y")),
    ]


def test_strings_of_one_column_may_be_empty(tmp_path: Path) -> None:
    word = relation("Word", w=STRING)
    assert load(tmp_path / "Word.facts", "a\n\nb\n", word) == [("a",), ("",), ("b",)]


@pytest.mark.parametrize("name", ["Edge.facts", "Edge.csv"])
def test_large_files_of_numbers(tmp_path: Path, name: str) -> None:
    separator = "," if name.endswith("csv") else "\t"
    expected = [(i, -i * 7) for i in range(20_000)]
    content = "".join(f"{a}{separator}{b}\n" for a, b in expected)
    assert len(content) > LARGE
    assert load(tmp_path / name, content, EDGE) == expected
    assert load(tmp_path / name, content.rstrip("\n"), EDGE) == expected
    assert load(tmp_path / name, content.replace("\n", "\r\n"), EDGE) == expected
    assert load(tmp_path / name, content.replace("\n100" + separator, "\n0x64" + separator), EDGE) == expected
    if separator == ",":
        swapped = "b,a\n" + "".join(f"{b},{a}\n" for a, b in expected)
        assert load(tmp_path / name, swapped, EDGE) == expected


@pytest.mark.parametrize("name", ["Person.csv", "Person.tsv"])
def test_large_files_of_mixed_columns(tmp_path: Path, name: str) -> None:
    separator = "," if name.endswith("csv") else "\t"
    expected = [(f"n{i % 100}", i % 256, i % 2 == 0, i / 4) for i in range(10_000)]
    cells = [(n, str(age), str(tall).lower(), str(h)) for n, age, tall, h in expected]
    content = "".join(separator.join(row) + "\n" for row in cells)
    assert load(tmp_path / name, content, PERSON) == expected
    bad = content.replace(f"n50{separator}", f"n50{separator}9")
    with pytest.raises(DDlogError) as caught:
        load(tmp_path / name, bad, PERSON)
    assert len(caught.value.diagnostics) == 10


READING = relation("Reading", value=DOUBLE, note=STRING)


@pytest.mark.parametrize(
    "number",
    ["1", "nan", "NaN", "-inf", "Infinity", "1.", ".5", "+1.5", "1E5", "-0.0", "1e-400", "0x10", "1_0", "1d"],
)
def test_floats_are_read_alike_whatever_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    assert _same_for_large(tmp_path, monkeypatch, f"1.5,a\n{number},b\n")


@pytest.mark.parametrize(
    "content",
    [
        '1,"a\nb"\n2,c\n',
        '1,"a\nb"',
        '1,a\n2,"b\n3,c\n',
        '1,a"b\n',
        '"value","note"\n1,"x ""y"""\n',
        "\n\n1,\n",
    ],
)
def test_quotes_are_read_alike_whatever_the_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    assert _same_for_large(tmp_path, monkeypatch, content)


@pytest.mark.parametrize(
    "content", ["\ufeff\ufeffa\n", "x\n\ufeffa\n", '"x\n"\na\n', f"{' ' * 70_000}x\na\n"]
)
def test_a_text_begins_alike_whatever_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    assert _same_for_large(tmp_path, monkeypatch, content, relation("Reading", x=STRING))


def _same_for_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, of: Relation = READING
) -> bool:
    """Whether the reader of large files gives the rows or the errors of that of small ones."""
    answers = []
    for least in (1 << 40, 0):
        monkeypatch.setattr("ddlog.io.delimitedfiles.LARGE", least)
        try:
            columns = read_facts(write(tmp_path / "Reading.csv", content), of, TYPES)
            answers.append(repr(list(columns.rows(of))))
        except DDlogError as error:
            answers.append(str(error))
    return answers[0] == answers[1]


def test_large_files_of_composite_columns(tmp_path: Path) -> None:
    content = "".join(f'{i}\tBox{{{i % 9}, 1}}\t["a", "{i % 5}"]\tnull\n' for i in range(5_000))
    got = load(tmp_path / "Thing.tsv", content, THING)
    assert got[4999] == (4999, (2, 4999 % 9, 1), ("a", "4"), (0,))


def test_wide_integers_in_large_files(tmp_path: Path) -> None:
    wide = relation("W", a=Bit(64), b=BIGINT)
    expected = [(2**64 - 1 - i, 10**30 + i if i == 77 else i) for i in range(5_000)]
    content = "".join(f"{a},{b}\n" for a, b in expected)
    assert load(tmp_path / "W.csv", content, wide) == expected
    assert load(tmp_path / "W.csv", content.replace(f"{10**30 + 77}", "77"), wide) == [
        (a, b if b < 10**20 else 77) for a, b in expected
    ]


ERRORS: list[tuple[str, str | bytes, Relation, str]] = [
    ("Edge.facts", "1\t2\n1\tx\n", EDGE, 'Edge.facts:2:3: expected signed<32>, found "x"'),
    (
        "Edge.facts",
        "1\t2\n1\t99999999999\n",
        EDGE,
        "Edge.facts:2:3: 99999999999 is out of the range of signed<32>",
    ),
    ("Edge.facts", "1\t2 # x\n", EDGE, 'Edge.facts:1:3: expected signed<32>, found "2 # x"'),
    ("Edge.facts", "1\n", EDGE, "Edge.facts:1:2: expected 2 columns (a, b), found 1"),
    ("Edge.facts", "1\t2\t3\n", EDGE, "Edge.facts:1:5: expected 2 columns (a, b), found 3"),
    ("Edge.csv", "a,c\n1,2\n", EDGE, "Edge.csv:1:3: `c` is no column of Edge; the columns are a, b"),
    ("Edge.csv", "a\n1\n", EDGE, "Edge.csv:1:1: the header lacks the column `b` of Edge"),
    ("Edge.csv", "a,b,a\n1,2,3\n", EDGE, "Edge.csv:1:5: `a` is twice in the header; the columns are a, b"),
    ("Edge.csv", '1,"2\n', EDGE, "Edge.csv:1:3: this quoted cell does not end"),
    ("Edge.csv", '1,"2"x\n', EDGE, "Edge.csv:1:6: expected `,` or the end of the line after a quoted cell"),
    ("Edge.facts", b"1\t2\n1\t\xff\n", EDGE, "Edge.facts:2:3: byte 0xff at offset 6 is not UTF-8"),
    ("Edge.jsonl", '{"a": 1, "b": 2}\n{"a": 1}\n', EDGE, "Edge.jsonl:2:1: Edge: missing field 'b'"),
    ("Edge.jsonl", '{"a": 1, "b": 2, "c": 3}\n', EDGE, "Edge.jsonl:1:1: Edge has no field 'c'; it has a, b"),
    ("Edge.jsonl", '{"a": 1, "b": }\n', EDGE, "Edge.jsonl:1:15: this is not JSON"),
    ("Edge.jsonl", '{"a": 1, "b": 2, "a": 3}\n', EDGE, 'Edge.jsonl:1:1: "a" is there twice in an object'),
    ("Edge.jsonl", "[1]\n", EDGE, "Edge.jsonl:1:1: Edge: expected 2 fields, found an array of 1"),
    ("Edge.jsonl", "[1, null]\n", EDGE, "Edge.jsonl:1:1: b: expected signed<32>, found null"),
    ("Edge.jsonl", '[1, "x"]\n', EDGE, "Edge.jsonl:1:1: b: expected signed<32>, found 'x'"),
    ("Edge.json", "[[1, 2] [3, 4]]\n", EDGE, "Edge.json:1:9: expected `,` or `]` in the array of rows"),
    ("Edge.json", "[[1, 2],]\n", EDGE, "Edge.json:1:9: expected a row behind `,` in the array of rows"),
    ("Edge.json", "[[1, 2],", EDGE, "Edge.json:1:9: this is not JSON: Expecting value"),
    ("Edge.json", "[[1, 2]]\n[[3, 4]]", EDGE, "Edge.json:2:1: nothing may follow the array of rows"),
    ("Edge.parquet", "nothing", EDGE, "Edge.parquet: this cannot be read as parquet"),
    ("Edge.arrow", "nothing", EDGE, "Edge.arrow: this cannot be read as arrow"),
    ("Thing.tsv", "1\tBlob\t[]\tnull\n", THING, "Thing.tsv:1:3: expected Shape: expected Shape: `Dot{…}`"),
]


@pytest.mark.parametrize(
    ("name", "content", "declared", "message"), ERRORS, ids=[f"{e[0]}-{i}" for i, e in enumerate(ERRORS)]
)
def test_errors_name_the_place(
    tmp_path: Path, name: str, content: str | bytes, declared: Relation, message: str
) -> None:
    with pytest.raises(DDlogError) as caught:
        load(tmp_path / name, content, declared)
    assert str(caught.value).startswith(f"error: {tmp_path}/{message}")


def test_a_line_and_a_caret_stand_below(tmp_path: Path) -> None:
    with pytest.raises(DDlogError) as caught:
        load(tmp_path / "Edge.facts", "1\t2\n10\tabc\nx\ty\n", EDGE)
    assert str(caught.value).splitlines()[1:3] == ["    10  abc", "        ^^^"]
    assert len(caught.value.diagnostics) == 3
    with pytest.raises(DDlogError) as caught:
        load(tmp_path / "Edge.jsonl", '[1,\n[2, 3]\n[4, "x"]\n{"a": 1, "b": 2, "a": 3}\n', EDGE)
    assert [each.span and each.span.line for each in caught.value.diagnostics] == [1, 3, 4]


def test_what_a_pipe_gave_is_read_again_for_a_message(tmp_path: Path) -> None:
    pipe = tmp_path / "Node.csv"
    os.mkfifo(pipe)
    thread = threading.Thread(target=pipe.write_text, args=("id,name\n1,a\n1,b\n",))
    thread.start()
    program = ddlog.compile("input relation Node(id: u32, name: string) primary key (n) n.id")
    with program.session() as session, pytest.raises(DDlogError, match=r"Node.csv:3:1: Node already has"):
        session.load(pipe)
    thread.join()


def test_a_pipe_of_two_relations_gives_both_what_it_gives(tmp_path: Path) -> None:
    pipe = tmp_path / "one.csv"
    os.mkfifo(pipe)
    thread = threading.Thread(target=pipe.write_text, args=("1\n2\n",))
    thread.start()
    with ddlog.compile("input relation A(x: u32)\ninput relation B(x: u32)").session() as session:
        session.load([f"A={pipe}", f"B={pipe}"])
        assert list(session["A"].tuples()) == list(session["B"].tuples()) == [(1,), (2,)]
    thread.join()


def test_a_truncated_gz_is_an_error(tmp_path: Path) -> None:
    file = write(tmp_path / "Edge.csv.gz", "1,2\n" * 100)
    file.path.write_bytes(file.path.read_bytes()[:-10])
    with pytest.raises(DDlogError, match="cannot be read"):
        read_facts(file, EDGE, TYPES)

    with pytest.raises(DDlogError, match=r"Edge.csv: the file is compressed by gzip: end its name in .gz"):
        load(tmp_path / "Edge.csv", gzip.compress(b"1,2\n"), EDGE)


# ------------------------------------------------------------ which file is whose


def files(directory: Path, *names: str) -> Path:
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("")
    return directory


def test_files_are_found_by_name(tmp_path: Path) -> None:
    files(
        tmp_path,
        "Edge.csv",
        "notes.txt",
        "manifest.json",
        ".hidden.csv",
        "Part/0.csv",
        "Part/1.tsv.gz",
        "Part/_SUCCESS",
    )
    found = find_facts(tmp_path, ["Edge", "Part", "Absent"])
    assert [(file.relation, file.path.name, file.format) for file in found.files] == [
        ("Edge", "Edge.csv", "csv"),
        ("Part", "0.csv", "csv"),
        ("Part", "1.tsv.gz", "tsv"),
    ]
    assert found.missing == ("Absent",)
    assert {path.name for path in found.ignored} == {"notes.txt", "manifest.json"}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["Edgy.csv"], "the program has no input relation Edgy\n  help: did you mean `Edge`?"),
        (["edge.csv"], "the program has no input relation edge\n  help: did you mean `Edge`?"),
        (["Path.csv"], "Path is not an input relation"),
        (["Edge.csv", "Edge.tsv"], "there are several files for the relation Edge"),
        (["Edge.csv/x"], "this is a directory, not a file"),
        (["Edge/readme.md"], "this is not a file of facts"),
    ],
)
def test_misnamed_files_are_errors(tmp_path: Path, names: list[str], message: str) -> None:
    with pytest.raises(DDlogError) as caught:
        find_facts(files(tmp_path, *names), ["Edge", "Node"], ["Path"])
    assert message in str(caught.value)


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(DDlogError, match="there is no such directory"):
        find_facts(tmp_path / "none", ["Edge"])
    with pytest.raises(DDlogError, match=r"none\.csv: cannot be read: No such file"):
        find_facts(tmp_path / "none.csv", ["Edge"])
    (tmp_path / "file").write_text("")
    with pytest.raises(DDlogError, match="this is a file, not a directory"):
        find_facts(tmp_path / "file", ["Edge"])


# ------------------------------------------------------------ writing


def store(directory: Path, format: str, declared: Relation, data: list[tuple[Any, ...]], **more: Any) -> Path:
    columns: Callable[[], Any] = lambda: [list(column) for column in zip(*data, strict=True)]  # noqa: E731
    return write_relation(directory, format, declared, TYPES, data, columns, **more)


THINGS = [(10**30, (2, 1, 2), ("a", "b\n"), (1, "x,y")), (-5, (0,), (), (0,)), (0, (1, 0.1), ('"',), (1, ""))]


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(("declared", "data"), [(PERSON, PEOPLE), (THING, THINGS), (EDGE, [(1, 2), (-1, 0)])])
def test_what_is_written_reads_back(tmp_path: Path, format: str, declared: Relation, data: list[Any]) -> None:
    path = store(tmp_path, format, declared, data)
    assert rows(read_facts(FactFile(declared.name, path, format), declared, TYPES)) == data


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_integers_of_any_length_read_back(tmp_path: Path, format: str) -> None:
    declared = relation("Huge", x=BIGINT, y=Bit(20000), z=vec(BIGINT))
    data = [(-(10**5000), 10**6000, values.Vec([7**6000])), (1, 2, values.Vec([]))]
    path = write_relation(tmp_path, format, declared, TYPES, data, lambda: ())
    assert load(path, path.read_text(), declared) == data


def test_tab_separated_strings_have_no_quotes(tmp_path: Path) -> None:
    path = store(tmp_path, "tsv", THING, [THINGS[1]])
    assert path.read_text() == "-5\tDot\t[]\t\n"
    with pytest.raises(DDlogError, match="cannot be written tab-separated"):
        store(tmp_path, "tsv", PERSON, PEOPLE)
    assert not (tmp_path / "Person.tsv").exists()


def test_csv_has_a_header(tmp_path: Path) -> None:
    path = store(tmp_path, "csv", PERSON, PEOPLE[:2])
    assert path.read_text() == 'name,age,tall,height\n"Ann, B.",30,true,1.75\n"""Q""",0,false,inf\n'


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_rows_without_columns_read_back(tmp_path: Path, format: str, count: int) -> None:
    flag = relation("Flag")
    path = store(tmp_path, format, flag, [()] * count)
    assert read_facts(FactFile("Flag", path, format), flag, TYPES) == Columns((), count)
    with pytest.raises(DDlogError, match="Parquet has no rows without columns"):
        store(tmp_path, "parquet", flag, [()] * count)
    if format != "jsonl":
        with pytest.raises(DDlogError, match="expected an empty line"):
            load(tmp_path / f"Flag.{format}", "\nx\n", flag)


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_a_weight_repeats_the_row(tmp_path: Path, format: str) -> None:
    path = store(tmp_path, format, EDGE, [(1, 2), (3, 4)], weights=[2, 1])
    assert rows(read_facts(FactFile("Edge", path, format), EDGE, TYPES)) == [(1, 2), (1, 2), (3, 4)]


def test_json_rows_are_objects(tmp_path: Path) -> None:
    path = store(tmp_path, "jsonl", THING, THINGS[:1])
    assert json.loads(path.read_text()) == {
        "id": str(10**30),
        "shape": {"Box": {"w": 1, "h": 2}},
        "tags": ["a", "b\n"],
        "note": "x,y",
    }


def test_output_goes_nowhere_half(tmp_path: Path) -> None:
    (tmp_path / "Edge.csv").mkdir()
    with pytest.raises(DDlogError, match="cannot be written"):
        store(tmp_path, "csv", EDGE, [(1, 2)])
    assert [path.name for path in tmp_path.iterdir()] == ["Edge.csv"]
    (tmp_path / "file").write_text("")
    with pytest.raises(DDlogError, match="this is a file, not a directory"):
        make_directory(tmp_path / "file")
    with pytest.raises(DDlogError, match="cannot be written"):
        make_directory(tmp_path / "file" / "below")


def test_every_format_is_implemented() -> None:
    assert all(text_format(name).read for name in TEXT_FORMATS)
    assert all(table_format(name).read for name in TABLE_FORMATS)
