"""Library functions on Spark's Python workers, which get them as pickles."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ddlog.codegen.scalar import compile_function_table, row_expr
from ddlog.engine.spark.evaluation import RowEvaluation, packed
from ddlog.sessions.program import compile
from ddlog.spark.types.codec import SparkCodec

PROGRAM = """
import json
import hashset
typedef Item = Item{id: u8}
function id(item: Item): u8 { item.id }
typedef Tree = Tree{
    name: istring, kids: Vec<Tree>, weight: float, of: Map<s16, JsonValue>,
    #[rust="serde(default)"] #[deserialize_from_array=id()] items: Map<u8, Item>
}

function shown(text: string): Result<string, string> {
    var tree = (from_json_string(text): Result<Tree, string>)?;
    var written = to_json_string(tree)?;
    var value = to_json_value(tree)?;
    var odd = tree.kids.map(|kid| kid.kids.len() + 1).filter(|n| n % 2 == 1).to_hashset();
    var any = from_any(to_any(tree.weight)): Option<float>;
    var heaviest = tree.kids.arg_max(|kid| kid.weight);
    Ok{to_string_debug((tree.items, written, value.get(i"name"), odd, any, heaviest))}
}
input relation Text(json: string)
output relation Shown(text: string)
Shown(shown(json).unwrap_or("none")) :- Text(json).
"""
JSON = (
    '{"name":"a","kids":[{"name":"b","kids":[],"weight":1.5,"of":{}}],"weight":0.5,'
    '"of":{"-1":[null,2]},"items":[{"id":4}]}'
)
WORKER = """
import pathlib, sys
from ddlog.engine.spark.evaluation import prepared
evaluation, _ = prepared(pathlib.Path(sys.argv[1]).read_bytes())
print(evaluation.function(sys.argv[2]))
"""


def test_functions_run_in_another_process(tmp_path: Path) -> None:
    checked = compile(PROGRAM).checked
    compiled = row_expr(checked.rules[0].heads[0].args[0], compile_function_table(checked), "text")
    evaluation = RowEvaluation(compiled.scalar, ("json",), (None,), compiled.column, False, "", "")
    sent = tmp_path / "sent"
    sent.write_bytes(packed(evaluation, SparkCodec(checked.typedefs)))
    there = subprocess.run(
        [sys.executable, "-c", WORKER, str(sent), JSON], capture_output=True, text=True, timeout=60
    )
    here = compiled.scalar(JSON)
    assert there.stdout.rstrip() == here, there.stderr
    assert here.startswith("({4: Item{4}}, ")
    assert here.endswith(
        'ddlog_std::Some{json::JsonString{"a"}}, [1], ddlog_std::Some{0.5}, '
        'ddlog_std::Some{Tree{"b",[],1.5,{},{}}})'
    )
