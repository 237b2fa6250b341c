"""Attributes of fields, in the JSON that the library reads and writes."""

from __future__ import annotations

import pytest

from ddlog.codegen.scalar import compile_function_table, row_expr
from ddlog.program import Program, compile

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


@pytest.fixture(scope="module")
def program() -> Program:
    """The program, compiled."""
    return compile(PROGRAM)


@pytest.mark.parametrize("text", READ)
def test_reading(program: Program, text: str) -> None:
    head = program.checked.rules[0].heads[0].args[0]
    shown = row_expr(head, compile_function_table(program.checked), "text").scalar(text)
    assert shown == READ[text]


def test_writing(program: Program) -> None:
    head = program.checked.rules[1].heads[0].args[0]
    text = next(iter(READ))
    assert row_expr(head, compile_function_table(program.checked), "text").scalar(text) == WRITTEN
