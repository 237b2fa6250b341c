"""Attributes: the forms that they give to values in JSON, and what else they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.engine.circuit import Join
from ddlog.types import User
from ddlog.values.fromjson import from_json
from ddlog.values.tojson import to_json

PROGRAM = """
typedef Port = Port{
    #[rust="serde(rename=\\"@id\\")"] id: u32,
    #[rust="serde(default)"] note: Option<string>,
    #[rust="serde(default, rename = \\"list\\")"] v: Vec<u8>
}
function port_id(p: Port): u32 { if (p.id == 0) 1 / p.id else p.id }
typedef Node<'A> = Leaf{#[rust="serde(rename=\\"val\\")"] x: 'A} | Empty
#[original="logical-switch"]
input relation Switch(
    #[rust="serde(rename=\\"_name\\")"] name: string,
    #[deserialize_from_array=port_id()] ports: Map<u32, Port>
)
output relation Copy(
    name: string, #[deserialize_from_array=port_id(), rust="serde(rename=\\"all\\")"] ports: Map<u32, Port>
)
output relation Leaves[Node<u8>]
Copy(n, p) :- Switch(n, p).
Leaves[Leaf{1}].
"""
PORTS = '[{"@id": 2, "note": null, "list": [1]}, {"@id": 7, "note": "n", "list": []}]'


@pytest.fixture(scope="module")
def program() -> ddlog.Program:
    return ddlog.compile(PROGRAM)


def test_files_of_json(tmp_path: Path) -> None:
    """Names, absent fields and arrays of values, in facts and results."""
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "in").mkdir()
    line = '{"_name": "s", "ports": [{"list": [1], "@id": 2}, {"@id": 7, "note": "n"}]}'
    (tmp_path / "in" / "Switch.jsonl").write_text(line)
    options = ["--input", str(tmp_path / "in"), "--output", str(tmp_path / "out"), "--format", "jsonl"]
    assert main(["run", str(tmp_path / "p.dl"), *options]) == 0
    assert (tmp_path / "out" / "Copy.jsonl").read_text() == f'{{"name": "s", "all": {PORTS}}}\n'
    assert (tmp_path / "out" / "Leaves.jsonl").read_text() == '{"Leaf": {"val": 1}}\n'


@pytest.mark.parametrize(
    ("type_", "written", "printed"),
    [
        (User("Port"), '{"@id": 2}', '{"@id": 2, "note": null, "list": []}'),
        (User("Port"), '[2, null, [1]]', '{"@id": 2, "note": null, "list": [1]}'),
        (User("Copy"), f'["s", {PORTS}]', f'{{"name": "s", "all": {PORTS}}}'),
        (User("Copy"), '{"name": "s", "all": [[3, {"@id": 4}]]}', None),
        (User("Port"), '{"id": 2}', None),
        (User("Port"), '{"note": "a"}', None),
        (User("Copy"), '{"name": "s", "all": [{"@id": 0}]}', None),
    ],
)  # fmt: skip
def test_values(program: ddlog.Program, type_: User, written: str, printed: str | None) -> None:
    types = program.checked.typedefs
    if printed is None:
        with pytest.raises(ValueError, match=r"@id|port_id|no field 'id'|Port"):
            from_json(json.loads(written), type_, types)
        return
    value: Any = from_json(json.loads(written), type_, types)
    assert json.dumps(to_json(value, type_, types)) == printed
    assert from_json(json.loads(printed), type_, types) == value


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`@json` reads the same forms. They are of fields: a map on its own is an array of pairs."""
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "p.dat").write_text(
        'start; insert Switch[@json "[\\"a\\", [{\\"@id\\": 2}]]"];'
        'insert Switch("b", @json "[[3, {\\"@id\\": 4}]]"); commit dump_changes;'
    )
    assert main(["run", str(tmp_path / "p.dl"), "--updates", str(tmp_path / "p.dat")]) == 0
    printed = capsys.readouterr().out
    assert 'Copy{.name = "a", .ports = [(2, Port{.id = 2,' in printed
    assert 'Copy{.name = "b", .ports = [(3, Port{.id = 4,' in printed


def test_the_original_name(program: ddlog.Program) -> None:
    """A relation has it beside its own, under which it is declared, printed and read."""
    assert program.relations["Switch"].original == "logical-switch"
    assert program.relations["Copy"].original == ""


@pytest.mark.parametrize(("attribute", "joins"), [("", 1), ("#[has_side_effects=true]", 2)])
def test_side_effects_are_not_shared(attribute: str, joins: int) -> None:
    """Rules that are the same are computed once, unless they have side effects."""
    text = f"""
    input relation I(x: u32)
    output relation O(x: u32)
    output relation P(x: u32)
    {attribute} function f(x: u32): u32 {{ x + 1 }}
    function g(x: u32): u32 {{ f(x) + 1 }}
    O(y) :- I(x), var y = g(x).
    P(y) :- I(x), var y = g(x).
    """
    nodes = ddlog.compile(text).circuit("relational").nodes
    assert len([node for node in nodes if isinstance(node, Join)]) == joins


def test_side_effects_happen_for_each_row(tmp_path: Path) -> None:
    """A function is called once for rows that agree in what it sees, unless it has side effects."""
    (tmp_path / "p.dl").write_text(
        """
        extern function noted(x: u32): ()
        #[has_side_effects=true]
        extern function effect(x: u32): u32
        extern function plain(x: u32): u32
        input relation I(x: u32, y: u32)
        output relation O(x: u32, y: u32)
        output relation P(x: u32, y: u32)
        output relation Q(x: u32, y: u32)
        O(x, y) :- I(x, y), Inspect noted(x).
        P(z, y) :- I(x, y), var z = effect(x).
        Q(z, y) :- I(x, y), var z = plain(x).
        """
    )
    (tmp_path / "p.py").write_text(
        "from pathlib import Path\n"
        "def called(name, result):\n"
        "    with Path(__file__).with_suffix('.log').open('a') as log: log.write(name + ' ')\n"
        "    return result\n"
        "def noted(x): return called('noted', ())\n"
        "def effect(x): return called('effect', x)\n"
        "def plain(x): return called('plain', x)\n"
    )
    with ddlog.compile(tmp_path / "p.dl").session() as session:
        session.insert("I", *((1, y) for y in range(100)))
        changes = session.commit()
        assert [len(changes[name]) for name in "OPQ"] == [100, 100, 100]
    calls = (tmp_path / "p.log").read_text().split()
    assert [calls.count(name) for name in ("noted", "effect", "plain")] == [100, 100, 1]
