"""Every reader of integers, floats and booleans takes texts as the table `cells.tsv` says."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ddlog import values
from ddlog.core import Relation
from ddlog.errors.diagnostics import DDlogError
from ddlog.io.columns import Columns, cell_reader
from ddlog.io.faults import CellFault
from ddlog.io.files import FactFile
from ddlog.io.frames import columns_of
from ddlog.io.read import read_facts
from ddlog.syntax.cursor import TextFault
from ddlog.types import BigInt, Bit, Bool, Float, Signed, String, Type
from ddlog.values.cells import WRITTEN_WORDS
from ddlog.values.fromjson import decode_json, from_json
from ddlog.values.fromtext import parse_value

from ..engine.declared import relation

TYPES = (Bit(8), Bit(64), Bit(128), Signed(32), Signed(64), BigInt(), Float(64), Float(32), Bool())
Cell = tuple[str, str]  # a text, and what is expected of it
SMALL, LARGE = 1 << 40, 0
LITERALS_ONLY = ("\u00a0", "@json")  # a command file separates by any blank, and takes JSON for every type


def cells_of(of: Type) -> list[Cell]:
    """The rows of the golden table that are of a type."""
    table = Path(__file__).with_name("cells.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.rstrip("\n").split("\n")[1:]]
    return [(json.loads(text), expected) for name, text, expected in rows if name == str(of)]


def outcome(read: Callable[[str], Any], text: str, of: Type) -> str:
    """The value that is read, as text, or the message of the error."""
    try:
        return values.show(read(text), of, {})
    except DDlogError as error:
        return f"error: {error.diagnostics[0].problem}"  # type: ignore[attr-defined]
    except (TextFault, CellFault) as fault:
        return f"error: {fault.message}"
    except ValueError as error:
        return f"error: {error}"


def first_value(columns: Columns, declared: Relation) -> Any:
    (row,) = columns.rows(declared)
    return row[0]


def value_in_file(path: Path, declared: Relation, cells: list[str]) -> Any:
    """The first value of a file of one line."""
    ending = path.name.partition(".")[2]
    text = io.StringIO()
    if ending.startswith("csv"):
        csv.writer(text, lineterminator="\n").writerow(cells)
    else:
        text.write("\t".join(cells) + "\n")
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
    file = FactFile(declared.name, path, ending.removesuffix(".gz"), ending.endswith(".gz"))
    return first_value(read_facts(file, declared, {}), declared)


each_type = pytest.mark.parametrize("of", TYPES, ids=str)


@each_type
def test_cells(of: Type) -> None:
    read = cell_reader(of, {})
    assert [(text, outcome(read, text, of)) for text, _ in cells_of(of)] == cells_of(of)


@each_type
@pytest.mark.parametrize("least", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("name", ["R.tsv", "R.csv", "R.csv.gz"])
def test_cells_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, least: int, of: Type
) -> None:
    """Beside a column of strings, for which large files are read by Arrow, and beside another such column,
    for which large files of integers are read by a compiled loop."""
    monkeypatch.setattr("ddlog.io.delimitedfiles.LARGE", least)
    path, cells = tmp_path / name, [cell for cell in cells_of(of) if not set("\t\r\n") & set(cell[0])]
    by_arrow, by_loop = relation("R", a=of, b=String()), relation("R", a=of, b=of)
    assert [(t, outcome(lambda t: value_in_file(path, by_arrow, [t, "x"]), t, of)) for t, _ in cells] == cells
    assert [(t, outcome(lambda t: value_in_file(path, by_loop, [t, t]), t, of)) for t, _ in cells] == cells


@each_type
def test_columns_of_text_in_tables(of: Type) -> None:
    declared = relation("R", a=of)

    def read(text: str) -> Any:
        table = pa.table({"a": pa.array([text], pa.string())})
        return first_value(columns_of(table, declared, {}), declared)

    found = [(text, outcome(read, text, of)) for text, _ in cells_of(of)]
    assert found == [
        (text, expected.replace("error: ", "error: column `a`: ")) for text, expected in cells_of(of)
    ]


@each_type
def test_literals_of_command_files(of: Type) -> None:
    """The same texts are values; where another is expected, the message names the piece that is wrong."""
    for text, expected in cells_of(of):
        if any(sign in text for sign in LITERALS_ONLY):
            continue
        found = outcome(lambda text: parse_value(text, of, {}), text, of)
        if expected.startswith("error: expected"):
            expected = found if found.startswith("error: ") else expected
        assert (text, found) == (text, expected)


@each_type
def test_strings_of_json(of: Type) -> None:
    """JSON writes numbers and booleans in its own way; as strings it has only the floats that it lacks, and
    integers that may have more than 64 bits."""
    wide = of in (BigInt(), Bit(128))
    for text, expected in cells_of(of):
        found = outcome(lambda text: from_json(text, of, {}), text, of)
        digits = wide and text.removeprefix("-").isdecimal() and text.isascii()
        if not digits and not (isinstance(of, Float) and text in WRITTEN_WORDS):
            expected = f"error: expected {of}, found "
        assert found.startswith(expected), text


@pytest.mark.parametrize("of", [Bit(64), Signed(32), BigInt(), Float(64), Bool()], ids=str)
@pytest.mark.parametrize("text", ["1", "-1", "1.5", "1e3", "true", "NaN", "Infinity"])
def test_what_is_written_as_in_json_is_the_same_value(of: Type, text: str) -> None:
    found = outcome(lambda text: from_json(decode_json(text), of, {}), text, of)
    if not found.startswith("error"):
        assert found == outcome(cell_reader(of, {}), text, of)
