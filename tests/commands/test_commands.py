"""Command files and change files: what they read as, and the places of what is wrong in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddlog.commands.commands import (
    Clear,
    Commit,
    Dump,
    DumpIndex,
    Echo,
    Exit,
    LogLevel,
    ProfileCommand,
    QueryIndex,
    Rollback,
    Sleep,
    Start,
    Timestamp,
)
from ddlog.commands.interpreter import Action
from ddlog.commands.reader import CommandReader
from ddlog.commands.update import Update
from ddlog.commands.updatefiles import update_commands
from ddlog.core import Column, Function, Index, Parameter, Relation
from ddlog.errors.diagnostics import DDlogError
from ddlog.types import Signed, User

from ..engine.declared import BIGINT, PLACE, POINTS, S32, STRING, option, pair, relation, typedefs, vec

EDGE = relation("Edge", a=S32, b=S32)
ITEM = relation("Item", name=STRING, at=POINTS, tags=vec(STRING), note=option(STRING))
KEY = Function("key", "", "key", (Parameter("id", S32, False),), S32, None, PLACE)
HOST = dataclasses.replace(relation("Host", id=S32, name=STRING), key=KEY)
PAIRS = Relation(
    "Pairs", "input", "relation", pair(S32, S32), None, (Column("value", pair(S32, S32)),), None, PLACE
)
SPOTS = Relation(
    "Spots",
    "input",
    "relation",
    POINTS,
    None,
    (Column("x", Signed(32)), Column("y", Signed(32))),
    None,
    PLACE,
)
RELATIONS = {each.name: each for each in (EDGE, ITEM, HOST, PAIRS)}
TYPES = typedefs(*RELATIONS.values())
BY_A = Index("ByA", (Column("a", S32),), "Edge", "Edge", ((0,),), 0, PLACE)
AT = Index("At", (Column("name", STRING), Column("at", POINTS)), "Item", "Item", ((0,), (1,)), 0, PLACE)
ANY = Index("Any", (), "Edge", "Edge", (), 0, PLACE)
INDEXES = {each.name: each for each in (BY_A, AT, ANY)}


def reader(text: str = "") -> CommandReader:
    made = CommandReader(RELATIONS, TYPES, "c.dat", INDEXES)
    made.feed(text)
    return made


def actions(text: str) -> list[Action | Update]:
    return [command.action for command in reader(text).commands(final=True)]


def insert(name: str, *row: object, last: bool = True) -> Update:
    return Update("insert", name, row, last)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("start;", [Start()]),
        ("commit; commit dump_changes;rollback;", [Commit(), Commit(True), Rollback()]),
        ("# a comment\nstart ; # another\n", [Start()]),
        ("dump; dump Edge; clear Edge;", [Dump(None), Dump("Edge"), Clear("Edge")]),
        ("echo;echo  a b\n c;", [Echo(""), Echo("a b\n c")]),
        ("timestamp; mssleep 5; exit;", [Timestamp(), Sleep(5), Exit()]),
        ("query_index ByA(1); query_index Any();", [QueryIndex("ByA", (1,)), QueryIndex("Any", ())]),
        ('query_index At("a", Point{1, 2});', [QueryIndex("At", ("a", (1, 2)))]),
        ("dump_index ByA;", [DumpIndex("ByA")]),
        (
            "profile; profile cpu on; profile change off;",
            [ProfileCommand(), ProfileCommand("cpu", True), ProfileCommand("change", False)],
        ),
        ("profile timely on; log_level 600;", [ProfileCommand("timely", True), LogLevel(600)]),
        ("insert Edge(1, -2);", [insert("Edge", 1, -2)]),
        ("insert Edge(.b = 1, .a = 2);", [insert("Edge", 2, 1)]),
        ("insert Edge(.b = 1);", [insert("Edge", 0, 1)]),
        ("insert Edge[Edge{1, 2}];", [insert("Edge", 1, 2)]),
        ("insert Pairs[(1, 2)];", [insert("Pairs", (1, 2))]),
        (
            "insert Edge(1, 2), delete Edge(3, 4);",
            [insert("Edge", 1, 2, last=False), Update("delete", "Edge", (3, 4), True)],
        ),
        ("insert Edge(1, 2), commit;", [insert("Edge", 1, 2, last=False), Commit()]),
        (
            'insert Item("a", Point{1, 2}, ["x", "y"], "n");',
            [insert("Item", "a", (1, 2), ("x", "y"), (1, "n"))],
        ),
        ('insert_or_update Host(1, "a");', [Update("insert_or_update", "Host", (1, "a"), True)]),
        ("delete_key Host 1;", [Update("delete_key", "Host", 1, True)]),
    ],
)
def test_commands_read_as_actions(text: str, expected: list[Action | Update]) -> None:
    assert actions(text) == expected


def test_modify_changes_named_fields() -> None:
    (update,) = actions('modify Host 1 <- Host{.name = "z"};')
    assert isinstance(update, Update) and update.change is not None
    assert (update.relation, update.row, update.change((1, "a"))) == ("Host", 1, (1, "z"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "strat;",
            "c.dat:1:1: there is no command `strat`\n    strat;\n    ^^^^^\n  help: did you mean `start`?",
        ),
        (
            "sleep 5;",
            "c.dat:1:1: there is no command `sleep`\n    sleep 5;\n    ^^^^^\n  help: the commands are start",
        ),
        ("profile memory on;", "c.dat:1:9: expected `cpu` or `change` or `timely`, found `memory`"),
        ("profile cpu;", "c.dat:1:12: expected `on` or `off`, found `;`"),
        ("log_level high;", "c.dat:1:11: expected a level, a number, found `high`"),
        ("query_index ByB(1);", "c.dat:1:13: there is no index ByB\n    query_index ByB(1);\n"),
        ("dump_index Edge;", "c.dat:1:12: Edge is a relation, not an index"),
        ("dump_index Nothing;", "help: the indexes are Any, At, ByA"),
        ("query_index ByA(1, 2);", "c.dat:1:20: expected 1 value, found more"),
        ('query_index At("a");', "c.dat:1:16: expected 2 values, found 1"),
        ("query_index ByA 1;", "c.dat:1:17: expected `(` after `ByA`, found `1`"),
        ("start;\n\n  insert Egde(1);", "c.dat:3:10: there is no relation Egde"),
        ("insert Edge(1, x);", "c.dat:1:16: expected signed<32>, found `x`"),
        ("insert Edge(1, 2, 3);", "c.dat:1:19: expected 2 values, found more"),
        ("insert Edge(1);", "c.dat:1:13: expected 2 values, found 1"),
        ("insert Edge 1;", "c.dat:1:13: expected `(` after `Edge`, found `1`"),
        ("insert Edge(1, 2) start;", "c.dat:1:19: expected `;` or `,` after an update, found `start`"),
        ("commit changes;", "c.dat:1:8: expected `;` after `commit`, found `changes`"),
        ("delete_key Edge 1;", "Edge has no primary key"),
        ("mssleep x;", "c.dat:1:9: expected a number of milliseconds, found `x`"),
        ("mssleep 99999999999;", "c.dat:1:9: expected a number of milliseconds under a year"),
        ("insert Edge();", "c.dat:1:13: expected 2 values, found 0"),
        (";", "c.dat:1:1: expected a command, found `;`"),
        ("? Edge(1, x);", "help: `query Rel(x);` asks among commands"),
        ('insert Item(%"/no/such", Point{}, [], None);', 'c.dat:1:13: cannot read "/no/such": No such file'),
    ],
)
def test_errors_have_places(text: str, message: str) -> None:
    with pytest.raises(DDlogError) as caught:
        actions(text)
    assert message in str(caught.value)


def test_integers_may_be_as_long_as_they_like() -> None:
    wide = relation("Wide", n=BIGINT)
    made = CommandReader({"Wide": wide}, typedefs(wide), "c.dat")
    made.feed(f"insert Wide(-1{'0' * 9000});")
    (command,) = made.commands(final=True)
    assert isinstance(command.action, Update) and command.action.row == (-(10**9000),)


def test_reading_goes_on_after_an_error() -> None:
    commands = reader("start; bad; commit;\n")
    assert next(commands.commands()).action == Start()
    with pytest.raises(DDlogError):
        next(commands.commands())
    assert [command.action for command in commands.commands()] == [Commit()]


@given(st.data())
def test_it_does_not_matter_how_the_text_arrives(data: st.DataObject) -> None:
    text = "start;\ninsert Edge(1,\n 2),\n insert Edge(3, 4);\necho a\nb;\n# c;\ncommit\ndump_changes;\n"
    lines = text.splitlines(keepends=True)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(lines)), max_size=4)))
    pieces = ["".join(lines[a:b]) for a, b in zip([0, *cuts], [*cuts, len(lines)], strict=True)]
    made, got = reader(), []
    for piece in pieces:
        made.feed(piece)
        got += [(command.action, str(command.place())) for command in made.commands()]
    assert got == [(command.action, str(command.place())) for command in reader(text).commands(final=True)]
    assert made.remainder() is None


@given(st.text(alphabet='insertdlmpckoy EdgItHa_(),;.{}[]"\\<-=#1234\n%@', max_size=60))
def test_no_text_crashes_the_reader(text: str) -> None:
    made = reader(text)
    for _ in range(100):
        try:
            list(made.commands(final=True))
        except DDlogError as error:
            assert "c.dat:" in str(error)
        else:
            return
    raise AssertionError("the reader does not come to an end")


# ------------------------------------------------------------ change files


def changes(path: Path, content: str) -> Iterator[Action | Update]:
    path.write_text(content)
    for command in update_commands(str(path), RELATIONS, TYPES):
        yield command.action


def test_json_lines(tmp_path: Path) -> None:
    content = (
        '{"insert": {"Edge": {"a": 1, "b": 2}, "Pairs": [3, 4]}}\n\n{"delete": {"Edge": [1, 2]}}\n'
        '{"commit": true}\n{"insert_or_update": {"Host": [1, "a"]}}\n{"delete_key": {"Host": 1}}\n'
        '{"clear": "Edge"}\n{"rollback": true}\n'
        '{"insert": {"Edge": [5, 6]}}'
    )
    assert list(changes(tmp_path / "c.jsonl", content)) == [
        Start(),
        insert("Edge", 1, 2, last=False),
        insert("Pairs", (3, 4)),
        Update("delete", "Edge", (1, 2), True),
        Commit(),
        Start(),
        Update("insert_or_update", "Host", (1, "a"), True),
        Update("delete_key", "Host", 1, True),
        Clear("Edge"),
        Rollback(),
        Start(),
        insert("Edge", 5, 6),
    ]


def test_a_json_line_with_several_rows(tmp_path: Path) -> None:
    content = '{"insert": {"Edge": [[1, 2], {"A": 3, "b": 4}], "Pairs": [[5, 6]]}}\n{"commit": true}\n'
    assert list(changes(tmp_path / "c.jsonl", content)) == [
        Start(),
        insert("Edge", 1, 2, last=False),
        insert("Edge", 3, 4, last=False),
        insert("Pairs", (5, 6)),
        Commit(),
    ]


def test_a_json_line_that_modifies_rows(tmp_path: Path) -> None:
    content = """{"modify": {"Host": {"key": 1, "set": {"Name": "z"}}}}
{"modify": {"Host": [{"key": 2, "set": {"name": "y"}}, {"key": 3, "set": {}}]}, "id": 7}"""
    start, *updates = changes(tmp_path / "c.jsonl", content)
    assert start == Start()
    found = [each for each in updates if isinstance(each, Update)]
    assert [(each.kind, each.relation, each.row, each.last, each.id) for each in found] == [
        ("modify", "Host", 1, True, None),
        ("modify", "Host", 2, False, "7"),
        ("modify", "Host", 3, True, "7"),
    ]
    made = [each.change((each.row, "a")) for each in found if each.change is not None]
    assert made == [(1, "z"), (2, "y"), (3, "a")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Edge.csv", "+1,1,2\n-1,3,4\ncommit\n1,5,6\n"),
        ("Edge.csv", "\ufeff+1,1,2\r\n-1,3,4\r\ncommit\r\n+1,5,6"),
        ("Edge.csv", "change,b,a\n+1,2,1\n-1,4,3\ncommit\n+1,6,5\n"),
        ("Edge.changes.tsv", "+1\t1\t2\n-1\t3\t4\ncommit\n+1\t5\t6\n"),
    ],
)
def test_separated_changes(tmp_path: Path, name: str, content: str) -> None:
    assert list(changes(tmp_path / name, content)) == [
        Start(),
        insert("Edge", 1, 2),
        Update("delete", "Edge", (3, 4), True),
        Commit(),
        Start(),
        insert("Edge", 5, 6),
        Commit(),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("Edge.csv", "+1,1,2\n0,1,2\n", "Edge.csv:2:1: expected +1, -1 or commit, found `0`"),
        ("Edge.csv", "a,b\n1,2\n", "Edge.csv:1:1: the header lacks a first column, of +1 and -1"),
        ("Edge.csv", "+1,1\n", "Edge.csv:1:1: expected +1 or -1 and 2 columns, found 2 columns"),
        ("Edge.csv", "+1,1,x\n", 'Edge.csv:1:6: expected signed<32>, found "x"'),
        ("Egde.csv", "+1,1,2\n", "Egde.csv:1:1: there is no relation Egde"),
        ("c.jsonl", "{}\n", "c.jsonl:1:1: expected an object with one of"),
        ("c.jsonl", '{"commit": false}\n', 'c.jsonl:1:1: expected {"commit": true}'),
        (
            "c.jsonl",
            '{"insert": {"Edge": [1, 2], "Edge": [3, 4]}}\n',
            'c.jsonl:1:1: "Edge" is there twice in an object',
        ),
        ("c.jsonl", "[\n", "c.jsonl:1:2: this is not JSON"),
        ("c.jsonl", '{"commit": true}\n{"insrt": {}}\n', "c.jsonl:2:1: there is no command `insrt`"),
        ("c.jsonl", '{"insert": {"Egde": 1}}\n', "c.jsonl:1:1: there is no relation Egde"),
        (
            "c.jsonl",
            '{"insert": {"Edge": [1]}}\n',
            "c.jsonl:1:1: Edge: expected 2 fields, found an array of 1",
        ),
        ("c.jsonl", '{"delete_key": {"Edge": 1}}\n', "c.jsonl:1:1: Edge has no primary key"),
        (
            "c.jsonl",
            '{"modify": {"Edge": {"key": 1, "set": {}}}}\n',
            "c.jsonl:1:1: Edge has no primary key",
        ),
        ("c.jsonl", '{"modify": {"Host": [1, "a"]}}\n', 'c.jsonl:1:1: expected {"key": …, "set": '),
        (
            "c.jsonl",
            '{"modify": {"Host": {"key": 1, "set": {"nam": "a"}}}}\n',
            "c.jsonl:1:1: Host has no column nam",
        ),
    ],
)
def test_errors_in_change_files(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(DDlogError) as caught:
        list(changes(tmp_path / name, content))
    assert f"{tmp_path}/{message}" in str(caught.value)


def test_update_files_that_cannot_be_read(tmp_path: Path) -> None:
    for name, content in (("none.dat", None), ("dir.dat", None), ("bytes.dat", b"start;\n\xff")):
        path = tmp_path / name
        if name == "dir.dat":
            path.mkdir()
        elif content is not None:
            path.write_bytes(content)
        with pytest.raises(DDlogError) as caught:
            list(update_commands(str(path), RELATIONS, TYPES))
        assert name in str(caught.value)


def test_a_relation_of_a_struct_takes_its_constructor() -> None:
    made = CommandReader({"Spots": dataclasses.replace(SPOTS, constructor=None)}, TYPES, "c.dat")
    assert User("Point") == SPOTS.record
    made.feed("insert Spots[Point{1, 2}];")
    (command,) = made.commands(final=True)
    assert isinstance(command.action, Update) and command.action.row == ((1, 2),)
