"""Attributes of types, constructors and fields, in the JSON that the library reads and writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ddlog.check.program import check_program
from ddlog.codegen.scalar import compile_function_table, row_expr
from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.source import Source
from ddlog.io.jsonfiles import json_line
from ddlog.names.jsonnames import renamed_constructor, renamed_field
from ddlog.sessions.program import Program, compile
from ddlog.types import User
from ddlog.values.anyjson import to_any_json
from ddlog.values.fromjson import from_json
from ddlog.values.tojson import to_json

PROGRAM = """
import json
typedef Item = Item{id: u32, name: string}
function id(item: Item): u32 { item.id }
typedef Order = Order{
    #[rust="serde(rename=\\"type\\")"] kind: string,
    #[rust="serde(default)"] count: u8,
    #[deserialize_from_array=id()] items: Map<u32, Item>
}
input relation Text(json: string)
output relation Shown(text: string)
function order(json: string): Result<Order, string> { from_json_string(json) }
Shown(to_string_debug(order(json))) :- Text(json).
Shown(order(json).and_back()) :- Text(json).

#[rust="serde(tag = \\"@type\\")"]
typedef Tagged = #[rust="serde(rename=\\"t.One\\")"] One{x: u8} | Nothing | Two{tagged: Vec<Tagged>}
#[rust="serde(untagged)"]
typedef Loose = Number{n: u8} | Text_{text: string, more: string} | Empty | Some_{inner: Tagged}
#[rust="serde(tag = \\"kind\\")"]
typedef Alone = Alone{a: u8}
typedef All = All{tagged: Tagged, loose: Loose, alone: Alone}
function all_of(json: string): Result<All, string> { from_json_string(json) }
Shown(to_string_debug(all_of(json))) :- Text(json).
Shown(all_and_back(all_of(json))) :- Text(json).
function all_and_back(all: Result<All, string>): string {
    match (all) { Ok{a} -> to_json_string(a).unwrap_or("none"), Err{error} -> error }
}
function and_back(order: Result<Order, string>): string {
    match (order) { Ok{o} -> to_json_string(o).unwrap_or("none"), Err{_} -> "wrong" }
}
"""

READ = {
    '{"type": "a", "items": [{"id": 7, "name": "x"}, {"id": 3, "name": "y"}]}':
        'ddlog_std::Ok{Order{"a",0,{3: Item{3,"y"}, 7: Item{7,"x"}}}}',
    '["a", 1, [{"id": 7, "name": "x"}]]': 'ddlog_std::Ok{Order{"a",1,{7: Item{7,"x"}}}}',
    '{"type": "a", "items": {"7": {"id": 7, "name": "x"}}}': 'ddlog_std::Ok{Order{"a",0,{7: Item{7,"x"}}}}',
    '{"type": "a", "items": [{"id": 7}]}': 'ddlog_std::Err{"missing field `name` at line 1 column 33"}',
    '{"kind": "a", "items": []}': 'ddlog_std::Err{"missing field `type` at line 1 column 26"}',
}  # fmt: skip
WRITTEN = '{"type":"a","count":0,"items":[{"id":3,"name":"y"},{"id":7,"name":"x"}]}'


ALL = """{"tagged":%s,"loose":%s,"alone":{"kind":"Alone","a":1}}"""
UNIONS = {
    ALL % ('{"@type":"t.One","x":1}', '{"n":7}'): "One{1},Number{7}",
    ALL % ('{"@type":"Nothing"}', "null"): "Nothing{},Empty{}",
    ALL % ('{"@type":"Two","tagged":[{"@type":"Nothing"}]}', '{"text":"a","more":"b"}'):
        'Two{[Nothing{}]},Text_{"a","b"}',
    ALL % ('{"@type":"Nothing"}', '{"inner":{"@type":"Nothing"}}'): "Nothing{},Some_{Nothing{}}",
}  # fmt: skip
WRONG = {
    ALL % ('{"x":1}', "null"): "missing field `@type` at line 1 column 17",
    ALL % ('{"@type":"One","x":1}', "null"):
        "unknown variant `One`, expected one of `t.One`, `Nothing`, `Two` at line 1 column 31",
    ALL % ('{"@type":"Two","tagged":[{"@type":"t.One"}]}', "null"): "missing field `x` at line 1 column 52",
    ALL % ('{"@type":"Nothing"}', '{"n":"b"}'):
        "data did not match any variant of untagged enum Loose at line 1 column 47",
}  # fmt: skip


@pytest.fixture(scope="module")
def program() -> Program:
    """The program, compiled."""
    return compile(PROGRAM)


def shown(program: Program, rule: int, text: str) -> str:
    """What the head of a rule is for a text."""
    head = program.checked.rules[rule].heads[0].args[0]
    found: str = row_expr(head, compile_function_table(program.checked), "text").scalar(text)
    return found


@pytest.mark.parametrize("text", READ)
def test_fields_are_read(program: Program, text: str) -> None:
    assert shown(program, 0, text) == READ[text]


def test_fields_are_written(program: Program) -> None:
    assert shown(program, 1, next(iter(READ))) == WRITTEN


@pytest.mark.parametrize("text", UNIONS)
def test_unions_are_read_and_written(program: Program, text: str) -> None:
    assert shown(program, 2, text) == f"ddlog_std::Ok{{All{{{UNIONS[text]},Alone{{1}}}}}}"
    assert shown(program, 3, text) == text


@pytest.mark.parametrize("text", WRONG)
def test_unions_are_refused(program: Program, text: str) -> None:
    assert shown(program, 3, text) == WRONG[text]


@pytest.mark.parametrize("text", UNIONS)
def test_facts_have_the_same_form(program: Program, text: str) -> None:
    typedefs = program.checked.typedefs
    value = from_json(json.loads(text), User("All"), typedefs)
    assert json.dumps(to_json(value, User("All"), typedefs), separators=(",", ":")) == text


@pytest.mark.parametrize("text", [text for text in WRONG if '"One"' not in text])
def test_facts_are_refused(program: Program, text: str) -> None:
    """But for constructors by their own names, which facts may have in any case."""
    with pytest.raises(ValueError, match=r"expected|missing field"):
        from_json(json.loads(text), User("All"), program.checked.typedefs)


def test_compiling_does_not_change_the_checked_program() -> None:
    checked, _ = check_program(Source("p.dl", PROGRAM))
    assert checked is not None
    compiled = Program(Source("p.dl", PROGRAM), checked).checked
    for program, found in ((checked, False), (compiled, True)):
        key = program.typedefs["Order"].constructors[0].json[2].key
        assert key is not None and (key.function is not None) == found
    assert checked.array_keys == {("Order", "items"): "id"} and compiled == checked


FLATTENED = """
import json
import net::ipv4
import time
typedef Pos = Pos{x: u32, y: u32}
typedef Extra = Extra{note: string, #[rust="serde(flatten)"] more: Map<string, u32>}
typedef Kind = Circle{r: u32} | Dot | #[rust="serde(rename=\\"line\\")"] Line{a: u32, b: u32}
#[rust="serde(tag=\\"t\\")"]
typedef Tagged = A{p: u32} | B
#[rust="serde(untagged)"]
typedef Loose = L{l: u32} | M{m: string}
typedef Thing = Thing{
    #[rust="serde(flatten)"] pos: Ref<Pos>,
    name: string,
    #[rust="serde(flatten)"] kind: Kind,
    #[rust="serde(flatten)"] maybe: Option<Pt>,
    #[rust="serde(flatten)"] tagged: Tagged,
    #[rust="serde(flatten)"] loose: Loose,
    #[rust="serde(with=\\"serde_with::json::nested\\")"] held: Vec<Pos>
}
typedef Pt = Pt{u: u32, v: u32}
typedef Open = Open{id: u8, #[rust="serde(flatten)"] other: JsonValue}
typedef Deep = Deep{d: u8, #[rust="serde(flatten)"] extra: Extra}
typedef Chain = Chain{c: u8, #[rust="serde(flatten)"] next: Option<Ref<Chain>>}
typedef Wrapped = Wrapped{w: JsonWrapper<Vec<Pos>>}
typedef Stay = Stay{at: Ipv4Addr, days: Vec<Date>}
input relation Text(json: string)
input relation Row(id: u8, #[rust="serde(flatten)"] pos: Pos, #[rust="serde(flatten)"] deep: Option<Extra>)
output relation Out(id: u8, #[rust="serde(flatten)"] pos: Pos, #[rust="serde(flatten)"] deep: Option<Extra>)
Out(id, pos, deep) :- Row(id, pos, deep).
output relation Shown(text: string)
function back(read: Result<'T, string>): string {
    match (read) { Ok{x} -> to_json_string(x).unwrap_or("none"), Err{error} -> error }
}
function thing(json: string): Result<Thing, string> { from_json_string(json) }
function open(json: string): Result<Open, string> { from_json_string(json) }
function deep(json: string): Result<Deep, string> { from_json_string(json) }
function stay(json: string): Result<Stay, string> { from_json_string(json) }
function wrapped(json: string): Result<Wrapped, string> { from_json_string(json) }
Shown(back(thing(json))) :- Text(json).
Shown(back(open(json))) :- Text(json).
Shown(back(deep(json))) :- Text(json).
Shown(back(wrapped(json))) :- Text(json).
Shown(back(stay(json))) :- Text(json).
function chain(json: string): Result<Chain, string> { from_json_string(json) }
Shown(back(chain(json))) :- Text(json).
"""
THING = '{"x":1,"y":2,"name":"n",%s"t":"%s,"held":"[{\\"x\\":3,\\"y\\":4}]"}'
CIRCLE = '"Circle":{"r":5},'
BACK = [
    (0, THING % (CIRCLE + '"u":1,"v":2,', 'A","p":3,"l":7'), ""),
    (0, THING % ('"Dot":null,', 'B","m":"x"'), ""),
    (0, THING % ('"line":{"a":1,"b":2},', 'B","m":"x"'), ""),
    (0, THING % (CIRCLE + '"u":1,', 'B","m":"x"'), THING % (CIRCLE, 'B","m":"x"')),
    (0, THING % (CIRCLE + '"unknown":[],', 'B","m":"x"'), THING % (CIRCLE, 'B","m":"x"')),
    (0, THING % ("", 'B","m":"x"'), "no variant of enum Kind found in flattened data at line 1 column 69"),
    (0, THING % (CIRCLE, 'B"'), "data did not match any variant of untagged enum Loose at line 1 column 78"),
    (0, (THING % (CIRCLE, 'B","m":"x"')).replace('"y":2,', ""), "missing field `y` at line 1 column 80"),
    (0, '{"x":1,"t":"A"}', "missing field `name` at line 1 column 15"),
    (0, '[1]', "invalid type: sequence, expected struct Thing at line 1 column 3"),
    (1, '{"id":1,"a":[1.5],"b":null}', ""),
    (1, '{"id":1}', ""),
    (5, '{"c":1}', ""),
    (2, '{"d":1,"note":"x","a":1,"b":2}', ""),
    (2, '{"d":1,"note":"x","a":"1"}', 'invalid type: string "1", expected bit<32> at line 1 column 25'),
    (3, '{"w":"[{\\"x\\":3,\\"y\\":4}]"}', ""),
    (4, '{"at":"127.0.0.1","days":["2020-02-29"]}',
        '{"at":{"addr":2130706433},"days":[{"year":2020,"month":2,"day":29}]}'),
    (4, '{"at":{"addr":2130706433},"days":[{"year":2020,"month":2,"day":29}]}', ""),
    (4, '{"at":"127.0.0.1","days":["2021-13-01"]}',
        "invalid value: month must be in the range 1..=12 at line 1 column 38"),
    (3, '{"w":"[3]"}', "invalid type: integer `3`, expected struct Pos at line 1 column 2"),
]  # fmt: skip


@pytest.fixture(scope="module")
def flattened() -> Program:
    """The program with flattened fields, compiled."""
    return compile(FLATTENED)


@pytest.mark.parametrize(("rule", "text", "expected"), BACK)
def test_flattened_fields(flattened: Program, rule: int, text: str, expected: str) -> None:
    assert shown(flattened, rule + 1, text) == (expected or text)


@pytest.mark.parametrize("text", [text for rule, text, expected in BACK if rule == 0 and not expected])
def test_facts_have_flattened_fields(flattened: Program, text: str) -> None:
    typedefs = flattened.checked.typedefs
    value = from_json(json.loads(text), User("Thing"), typedefs)
    assert json.loads(json.dumps(to_json(value, User("Thing"), typedefs))) == json.loads(text) | {
        "held": '[{"x": 3, "y": 4}]'
    }
    with pytest.raises(ValueError, match="no field 'unknown'"):
        from_json(json.loads(text) | {"unknown": 1}, User("Thing"), typedefs)


def test_columns_are_flattened(flattened: Program, tmp_path: Path) -> None:
    rows = '{"id": 1, "x": 1, "y": 2, "note": "a", "more1": 7}\n{"id": 2, "x": 3, "y": 4}\n'
    (tmp_path / "Row.jsonl").write_text(rows)
    with flattened.session() as session:
        session.load(tmp_path)
        write = json_line(flattened.relations["Out"], session.typedefs)
        assert "".join(map(write, session["Out"].stored)) == rows
    for wrong, message in (
        ('{"id": 1, "x": 1}', "pos: Pos: missing field 'y'"),
        ("[1, [1, 2], null]", "Row: expected an object, found an array of 3"),
        ('{"id": 1, "x": 1, "y": 2, "more1": 7}', "deep: Extra: missing field 'note'"),
    ):
        (tmp_path / "Row.jsonl").write_text(wrong)
        with flattened.session() as session, pytest.raises(DDlogError, match=message):
            session.load(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, 2.5, null], "b": "x", "c": false}', ""),
        ("7", ""),
        ('"JsonText"', ""),
        ("null", ""),
        ('{"JsonString": "x"}', '"x"'),  # the name of a constructor stands for it
        ("1" + "0" * 40, "1e+40"),
        ("1e400", "the number is out of the range of double"),
        ('["\\ud800"]', "the half of a surrogate pair"),
    ],
)
def test_facts_of_any_json(flattened: Program, text: str, expected: str) -> None:
    def read(text: str, of: str) -> Any:
        return from_json(json.loads(text), User(of), flattened.checked.typedefs)

    if expected.startswith("the"):
        with pytest.raises(ValueError, match=expected):
            read(text, "json::JsonValue")
        return
    data = to_any_json(read(text, "json::JsonValue"))
    assert json.dumps(data) == (expected or text)
    (held,) = read(json.dumps({"w": '[{"x": 1, "y": 2}]'}), "Wrapped")
    assert held == read('{"w": {"x": [[1, 2]]}}', "Wrapped")[0]


RENAMED = """
import json
#[rust="serde(rename_all=\\"camelCase\\")"]
typedef Style = Style{line_width: u8, #[rust="serde(rename=\\"X\\")"] other_one: bool, plain: u8}
#[rust="serde(rename_all=\\"kebab-case\\")"]
typedef Mark =
    BigDot{size_in_mm: u8} | #[rust="serde(rename_all=\\"SCREAMING_SNAKE_CASE\\")"] Line{to_x: u8} | NoMark
input relation Both(style: Style, marks: Vec<Mark>)
output relation Copy(json: string)
Copy(to_json_string((s, m)).unwrap_or("none")) :- Both(s, m).
"""


def test_rules_rename_fields_and_constructors(tmp_path: Path) -> None:
    row = """{
        "style": {"lineWidth": 1, "X": true, "plain": 2},
        "marks": [{"big-dot": {"size_in_mm": 1}}, {"line": {"TO_X": 2}}, "no-mark"]
    }"""
    (tmp_path / "Both.jsonl").write_text(" ".join(row.split()))
    with compile(RENAMED).session() as session:
        session.load(tmp_path)
        ((found,),) = session["Copy"].tuples()
    style = '{"lineWidth":1,"X":true,"plain":2}'
    assert found == f'[{style},[{{"big-dot":{{"size_in_mm":1}}}},{{"line":{{"TO_X":2}}}},"no-mark"]]'


@pytest.mark.parametrize(
    ("rule", "field", "constructor"),
    [
        ("lowercase", "line_width", "bigdot"),
        ("UPPERCASE", "LINE_WIDTH", "BIGDOT"),
        ("PascalCase", "LineWidth", "BigDot"),
        ("camelCase", "lineWidth", "bigDot"),
        ("snake_case", "line_width", "big_dot"),
        ("SCREAMING_SNAKE_CASE", "LINE_WIDTH", "BIG_DOT"),
        ("kebab-case", "line-width", "big-dot"),
        ("SCREAMING-KEBAB-CASE", "LINE-WIDTH", "BIG-DOT"),
    ],
)
def test_the_rules(rule: str, field: str, constructor: str) -> None:
    assert renamed_field("line_width", rule) == field
    assert renamed_constructor("BigDot", rule) == constructor
