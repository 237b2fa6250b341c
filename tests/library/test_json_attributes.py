"""Attributes of types, constructors and fields, in the JSON that the library reads and writes."""

from __future__ import annotations

import json

import pytest

from ddlog.check.program import check_program
from ddlog.codegen.scalar import compile_function_table, row_expr
from ddlog.errors.source import Source
from ddlog.sessions.program import Program, compile
from ddlog.types import User
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
