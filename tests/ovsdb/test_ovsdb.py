"""Schemas of OVSDB: the modules that they become, and what is wrong with those that become none."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main

HERE = Path(__file__).parent
TABLES = HERE.parent / "programs" / "corpus" / "tables"
GOLDEN = {
    HERE / "shop.dl": "shop.ovsschema -o Group --ro Group.status -o Badge -k Badge.match -p Group "
    "--output-only Rule_Row --intern-table Site --intern-strings --rename sensor=Probe",
    TABLES / "Wanted.dl": "wanted.ovsschema --intern-table Net_Port -o Net_Port --rw Net_Port.up "
    "-o Cloud --rw Cloud.seen",
    TABLES / "Hosts.dl": "-f hosts.ovsschema -o Path -o Slot --ro Slot.host -o Flood -o Names -k Names.name "
    "--output-only-table flow",
}
SHOP = str(HERE / "shop.ovsschema")


def written(options: str, tmp_path: Path) -> str:
    """The module that the command writes."""
    words = [str(HERE / word) if word.endswith(".ovsschema") else word for word in shlex.split(options)]
    assert main(["import-ovsdb", *words, "--output-file", str(tmp_path / "M.dl")]) == 0
    return (tmp_path / "M.dl").read_text(encoding="utf-8")


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["import-ovsdb", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def of_text(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a schema."""
    path = tmp_path / "s.ovsschema"
    path.write_text(text, encoding="utf-8")
    return complaint(capsys, str(path)).replace(f"{path}:", "")


def of_column(type_: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a schema of one table, which has one column of a type."""
    tables = {"T": {"columns": {"c": {"type": type_}}}}
    return of_text(json.dumps({"name": "D", "tables": tables}), tmp_path, capsys)


@pytest.mark.parametrize("module", GOLDEN, ids=lambda path: path.stem)
def test_a_schema_becomes_its_module(module: Path, tmp_path: Path) -> None:
    assert written(GOLDEN[module], tmp_path) == module.read_text(encoding="utf-8")


def test_the_module_is_printed_or_written_to_the_file_of_o(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import-ovsdb", SHOP, "-o", str(tmp_path / "M.dl")]) == 0
    assert main(["import-ovsdb", SHOP]) == 0
    assert (tmp_path / "M.dl").read_text(encoding="utf-8") == capsys.readouterr().out


@pytest.mark.parametrize("module", GOLDEN, ids=lambda path: path.stem)
def test_options_are_written_to_a_file_and_read_from_it(module: Path, tmp_path: Path) -> None:
    options = str(tmp_path / "options.json")
    first = written(f"{GOLDEN[module]} -O {options}", tmp_path)
    (tmp_path / "M.dl").unlink()
    assert main(["import-ovsdb", "-c", options]) == 0
    assert (tmp_path / "M.dl").read_text(encoding="utf-8") == first


def test_options_of_older_files_are_read_and_added_to(tmp_path: Path) -> None:
    old = {"ovsSchemaFile": SHOP, "outputFile": None, "outputTables": [["Group", ["status"]], ["Badge", []]]}
    (tmp_path / "old.json").write_text(json.dumps(old), encoding="utf-8")
    rest = "-k Badge.match -p Group --output-only Rule_Row --intern-table Site --intern-strings"
    found = written(f"-c {tmp_path / 'old.json'} {rest} --rename sensor=Probe", tmp_path)
    assert found == (HERE / "shop.dl").read_text(encoding="utf-8")


def test_wrong_options_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {"outputTable": [], "outputTables": [["A", {"Rigt": []}]], "keyColumns": "a", "internStrings": 1}
    (tmp_path / "o.json").write_text(json.dumps(wrong), encoding="utf-8")
    told = complaint(capsys, "-c", str(tmp_path / "o.json"))
    assert "cannot have a member `outputTable`" in told and "did you mean `outputTables`" in told
    assert "must be a pair of a table and columns" in told and "`keyColumns` must be a list" in told
    assert "`internStrings` must be true or false" in told
    assert "expected one file" in complaint(capsys, "-O", str(tmp_path / "x.json"))


def test_a_row_is_inserted_then_changed_and_then_deleted() -> None:
    module = (HERE / "shop.dl").read_text(encoding="utf-8")
    rules = """
        input relation Want(_uuid: uuid, name: istring)
        Out_Group(u, name, None) :- Want(u, name).
        OutProxy_Group(u, name, Some{1}) :- Out_Group(u, name, _).
    """
    with ddlog.compile(module + rules).session() as session:
        session.insert("Want", (5, "a"))
        plus = session.commit()
        session.insert("Group", (5, "b", None, ""))
        update = session.commit()
        session.delete("Want", (5, "a"))
        minus = session.commit()
    assert [(row.uuid_name[-2:], row.name, row.tag) for row, n in plus["DeltaPlus_Group"] if n > 0] == [
        ("05", "a", 1)
    ]
    assert [(row.name, row.tag) for row, n in update["Update_Group"] if n > 0] == [("a", 1)]
    assert [n for _, n in update["DeltaPlus_Group"]] == [-1]
    assert list(minus["DeltaMinus_Group"]) == [((5,), 1)]


@pytest.mark.parametrize(
    ("text", "said"),
    {
        '{"name": "D",}': 'error: 1:14: this is not JSON: expected a text in "',
        '{"name": "D" "tables": {}}': "expected , or }",
        '{"name": "D", "name": "E", "tables": {}}': "the object has two members `name`",
        '{"name": "D", "tables": {}} x': "this is not JSON: expected the end",
        "[" * 200: "more than 100 levels",
        "[]": "a schema must be an object",
        "{}": "a schema has no member `name`",
        '{"name": 1, "tables": {}}': "the name of a schema must be a text",
        '{"name": "D", "tabels": {}}': "did you mean `tables`?",
        '{"name": "D", "tables": {"T": {}}}': "table `T` has no member `columns`",
        '{"name": "D", "tables": {"a-b": {"columns": {}}}}': "the name `a-b` must be letters",
        '{"name": "D", "tables": {"t": {"columns": {}}, "T": {"columns": {}}}}': "would both be `T`",
    }.items(),
)
def test_what_is_wrong_with_a_schema_is_said_at_its_place(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in of_text(text, tmp_path, capsys)


@pytest.mark.parametrize(
    ("type_", "said"),
    [
        ("text", "there is no type `text`"),
        (1, "a type must be an object"),
        ({"value": "string"}, "a type has no member `key`"),
        ({"key": {"type": "uuid", "refTable": "U"}}, "refTable: there is no table `U`"),
        ({"key": {"type": "string", "refTable": "T"}}, "the type `string` cannot have a member `refTable`"),
        ({"key": "string", "min": 2}, "a column has from 2 to 1 elements"),
        ({"key": "string", "max": 0}, "a column has from 1 to 0 elements"),
        ({"key": {"type": "string", "enum": {}}}, '`enum` must be ["set", […]] or one value'),
    ],
)
def test_what_is_wrong_with_a_type_is_said_at_its_place(
    type_: object, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = of_column(type_, tmp_path, capsys)
    assert said in message and "^" in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("-o Grup", "--output-table: there is no table `Grup`"),
        ("-o Group --output-only-table Group", "--output-table Group cannot be combined"),
        ("--ro Group.tag", "--ro: table `Group` is not an output"),
        ("-o Group --ro tag", "--ro tag: expected TABLE.COLUMN"),
        ("-o Group --ro Group.tga", "table `Group` has no column `tga`"),
        ("-o Group --ro Group.tag --rw Group.name", "--ro Group cannot be combined with --rw Group"),
        ("-o Group --ro Group.tag -k Group.tag", "--key Group.tag: the program does not write this column"),
        ("-o Group -o Badge -k Badge.groups", "a collection of references cannot be a key"),
        ("-p Group", "--proxy: table `Group` is not an output"),
        ("--intern-table Group --output-only Group", "--intern-table Group cannot be combined"),
        ("--rename Group=group", "a relation begins with a capital letter"),
        ("--rename Group=Door", "would both be `Door`"),
        ("--rename Group.tag=name", "would both be `name`"),
        ("-o a.dl --output-file b.dl", "--output-file b.dl cannot be combined with -o a.dl"),
        ("-f other.ovsschema", "expected one file, SCHEMA.ovsschema"),
    ],
)
def test_what_is_wrong_with_an_option_is_said(
    options: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in complaint(capsys, SHOP, *options.split())


def test_keys_of_maps_are_no_references(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refers = {"key": {"type": "uuid", "refTable": "T"}, "value": "string", "max": "unlimited"}
    schema = tmp_path / "s.ovsschema"
    tables = {"T": {"columns": {"c": {"type": refers}}}}
    schema.write_text(json.dumps({"name": "D", "tables": tables}), encoding="utf-8")
    assert main(["import-ovsdb", str(schema)]) == 0
    capsys.readouterr()
    assert "cannot refer to the output table `T`" in complaint(capsys, str(schema), "-o", "T")


def test_columns_of_any_name_become_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = {name: {"type": "string"} for name in ("Zed", "In", "match", "uuid_name", "id", "primary", "x")}
    columns["ref"] = {"type": {"key": {"type": "uuid", "refTable": "T"}}}  # type: ignore[dict-item]
    schema = tmp_path / "s.ovsschema"
    schema.write_text(json.dumps({"name": "D", "tables": {"T": {"columns": columns}}}), encoding="utf-8")
    text = written(f"{schema} -o T", tmp_path)
    assert " zed: " in text and " __in: " in text and " __uuid_name: " in text
    assert main(["check", str(tmp_path / "M.dl")]) == 0
    capsys.readouterr()
    assert complaint(capsys, str(schema), "-o", "T", "--rename", "T.x=uuid_name") == (
        "error: `T.uuid_name` and `T.x` would both be `uuid_name` in the module\n"
        "  help: give one another name: --rename T.x=NAME\n"
    )
