"""Values of the library's types that are written as text: every reader takes the texts, and what is printed
is read again."""

from __future__ import annotations

import datetime
import ipaddress
import json
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ddlog
from ddlog import values
from ddlog.console.cli import main
from ddlog.errors.diagnostics import DDlogError
from ddlog.io.columns import cell_reader
from ddlog.io.plainform import from_plain
from ddlog.stdlib.written import TEXT_FORMS
from ddlog.syntax.cursor import TextFault
from ddlog.types import Type, User
from ddlog.values.fromjson import from_json
from ddlog.values.fromtext import parse_value
from ddlog.values.tojson import to_json

COLUMNS = {
    "a": "time::Time", "b": "time::Date", "c": "time::DateTime", "d": "time::TzDateTime",
    "e": "time::Weekday", "f": "uuid::Uuid", "g": "url::Url", "h": "regex::Regex", "i": "net::ipv4::Ipv4Addr",
    "j": "net::ipv6::Ipv6Addr", "k": "net::ipaddr::IpAddr", "l": "sql::Date", "m": "sql::Time",
    "n": "sql::Timestamp", "o": "sql::Decimal2", "p": "sql::Interval",
    "q": "sql::TimestampTz",
}  # fmt: skip
MODULES = ("time", "uuid", "url", "regex", "net::ipv4", "net::ipv6", "net::ipaddr", "sql")
DECLARED = ", ".join(f"{name}: {of}" for name, of in COLUMNS.items())
NAMES = ", ".join(COLUMNS)
IMPORTS = "".join(f"import {module}\n" for module in MODULES)
PROGRAM = f"""{IMPORTS}
input relation R({DECLARED})
output relation S({DECLARED})
S({NAMES}) :- R({NAMES}).
typedef Held = Held{{t: Option<time::Time>, m: Map<net::ipv4::Ipv4Addr, Vec<time::Date>>}}
             | Other{{s: Set<Intern<uuid::Uuid>>, r: (url::Url, bool)}}
input relation H[Held]
output relation G[Held]
G[x] :- x in H().
index ByTime(t: time::Time) on R(.a = t)
"""
TYPEDEFS = ddlog.compile(PROGRAM).checked.typedefs
CELLS = [
    (name, json.loads(text), expected)
    for line in Path(__file__).with_name("cells.tsv").read_text(encoding="utf-8").splitlines()[1:]
    for name, text, expected in [line.split("\t")]
    if name in COLUMNS.values()
]
ROWS = [
    ["10:11:12.5", "2021-03-04", "2021-03-04T10:11:12", "2021-03-04T10:11:12+01:00", "Monday",
     "67e55044-10b1-426f-9247-bb680e5fe0c8", "https://example.org/a?b=,\"c", "a,[0-9]+", "192.0.2.1", "::1",
     "10.0.0.1", "2021-03-04", "10:11:12.5", "2021-03-04 10:11:12", "12.34", "1 day",
     "2021-03-04 10:11:12+01"],
    ["9:05:00.000000001", "-0044-03-15", "2021-03-04 10:11:12.25", "Tue, 01 Jul 2003 10:52:37 +0200",
     "Sunday", "67e5504410b1426f9247bb680e5fe0c8", "mailto:a@b.c", "\\d|\"x\"", "0.0.0.0",
     "2001:db8::", "fe80::1", "0001-01-01", "00:00", "9999-12-31T23:59:59.999999", "-0.05", "-26:00:00",
     "2021-03-04T10:11:12.5Z"],
]  # fmt: skip


def shown(read: Any, of: Type) -> str:
    """The value that is read, as text, or the message of the error."""
    try:
        return values.show(read(), of, TYPEDEFS)
    except TextFault as fault:
        return f"error: {fault.message}"
    except ValueError as error:
        return f"error: {error}"


def test_every_type_that_is_written_as_text_is_here() -> None:
    alike = {name for name in TEXT_FORMS if name.startswith("sql::Decimal")} - {"sql::Decimal2"}
    assert {*TEXT_FORMS} - alike <= {*COLUMNS.values()} == {name for name, _, _ in CELLS}


@pytest.mark.parametrize(("name", "text", "expected"), CELLS)
def test_readers_take_the_texts(name: str, text: str, expected: str) -> None:
    of = User(name)
    assert shown(lambda: cell_reader(of, TYPEDEFS)(text), of) == expected
    assert shown(lambda: from_plain(text, of, TYPEDEFS), of) == expected
    form = TEXT_FORMS.get(name)
    if form is None or text.strip()[:1] in (*'["{', "") or "::" in text.partition("{")[0][:9] or text == "5":
        return
    try:
        expected = values.show(form.read(text), of, TYPEDEFS)
    except ValueError as error:
        expected = f'error: expected {of}, such as "{form.example}", found "{text}": {error}'
    option = User("ddlog_std::Option", (of,))
    for read in (
        lambda: parse_value(values.quote(text), of, TYPEDEFS),
        lambda: from_json(text, of, TYPEDEFS),
        lambda: values.check(text, of, TYPEDEFS),
        lambda: parse_value(values.quote(text), option, TYPEDEFS)[1],
        lambda: parse_value(f"@json {values.quote(json.dumps(text))}", of, TYPEDEFS),
    ):
        assert shown(read, of).removeprefix("error: in the JSON: ") in (expected, expected[7:])


@pytest.mark.parametrize(("name", "text", "expected"), [row for row in CELLS if "error" not in row[2]])
def test_what_is_printed_is_read_again(name: str, text: str, expected: str) -> None:
    of = User(name)
    value = cell_reader(of, TYPEDEFS)(text)
    assert parse_value(expected, of, TYPEDEFS) == value == cell_reader(of, TYPEDEFS)(expected)
    assert from_json(to_json(value, of, TYPEDEFS), of, TYPEDEFS) == value


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    """Facts written as texts, their output as facts, and the output of these."""
    monkeypatch.chdir(tmp_path)
    Path("p.dl").write_text(PROGRAM)
    for folder in ("texts", "records"):
        Path(folder).mkdir()
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    Path("texts/R.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    held = '{"Held": {"t": "10:11:12.5", "m": {"127.0.0.1": ["2020-02-29"]}}}\n'
    Path("texts/H.jsonl").write_text(held + '{"Other": {"s": [], "r": ["http://a", true]}}\n')

    def run(folder: str, out: str) -> list[bytes]:
        assert main(["run", "p.dl", "--input", folder, "--output", out, "--format", format, "--quiet"]) == 0
        assert capsys.readouterr().err == ""
        return [(tmp_path / out / f"{name}.{format}").read_bytes() for name in "SG"]

    first = run("texts", "out")
    for name, data in zip("RH", first, strict=True):
        Path(f"records/{name}.{format}").write_bytes(data)
    again = run("records", "again")
    if format != "parquet":
        assert first == again and first[0].count(b"\n") == 2 + (format == "csv")


def test_cells_of_files_in_their_places(tmp_path: Path) -> None:
    (tmp_path / "R.tsv").write_text("".join("\t".join(row) + "\n" for row in ROWS))
    with ddlog.compile(PROGRAM).session() as session:
        session.load(tmp_path)
        assert len(session["S"]) == 2
    (tmp_path / "R.tsv").write_text("\t".join([*ROWS[0][:8], "192.0.2.256", *ROWS[0][9:]]) + "\n")
    with ddlog.compile(PROGRAM).session() as session, pytest.raises(DDlogError) as raised:
        session.load(tmp_path)
    assert "R.tsv:1:" in str(raised.value) and 'found "192.0.2.256"' in str(raised.value)


def test_python() -> None:
    """Strings, and the objects of Python's own modules; also as the key of an index, and in tables."""
    row = {**dict(zip(COLUMNS, ROWS[0], strict=True)), "a": datetime.time(10, 11, 12, 500_000)}
    row |= {"b": datetime.date(2021, 3, 4), "c": datetime.datetime(2021, 3, 4, 10, 11, 12)}
    row["d"] = datetime.datetime(2021, 3, 4, 9, 11, 12, tzinfo=datetime.UTC)
    row |= {"f": uuid.UUID(ROWS[0][5]), "i": ipaddress.ip_address("192.0.2.1")}
    row |= {"j": ipaddress.ip_address("::1"), "k": ipaddress.ip_address("10.0.0.1")}
    with ddlog.compile(PROGRAM).session() as session:
        session.insert("R", tuple(ROWS[0]))
        session.commit()
        session.insert("R", {**row, "d": ROWS[0][3]})
        assert session.commit() == {}
        assert len(session.index("ByTime")["10:11:12.5"]) == len(session.index("ByTime")[row["a"]]) == 1
        session.delete("R", tuple(ROWS[0]))
        session.commit()
        session.insert_table(
            "R",
            pa.table(
                {name: pa.array([value]) for name, value in row.items() if name < "f"}
                | {name: pa.array([str(row[name])]) for name in row if name >= "f"}
            ),
        )
        session.commit()
        (found,) = session["S"]
        assert found.c.date() == found.b and found.a.microsecond == 500_000
        assert (found.c.hour, found.d.hour, found.d.utcoffset()) == (10, 9, datetime.timedelta(0))
        with pytest.raises(DDlogError, match=r'expected time::Time, such as "10:11:12.5", found "noon"'):
            session.insert("R", ("noon", *ROWS[0][1:]))
