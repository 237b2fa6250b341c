"""The kinds of inputs: how each is given to a command line, and examples of it that are right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc, parquet

from ddlog.io.formats import FORMATS, TABLE_FORMATS

TESTS = Path(__file__).parent.parent
FOUND = Path(__file__).parent / "found"
PROGRAM = """
typedef Shape = Dot | Box{w: s8, h: Option<bigint>}
typedef Point = Point{x: float, y: double}
typedef Tree = Tree{name: string, below: Vec<Tree>}
input relation Edge(a: s32, b: s32)
input relation Host(id: u8, name: string, at: Point, tags: Set<string>, sizes: Map<string, Vec<bool>>)
    primary key (h) h.id
input relation Shapes[Shape]
input relation Pairs[(bit<4>, (string, Shape))]
input relation Trees(t: Tree)
input multiset Bag(x: s128, o: Option<Set<u8>>)
output relation Path(a: s32, b: s32)
output relation All(h: string, s: Shape)
output multiset Twice(x: s128)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
All(name, s) :- Host(.name = name), Shapes[s].
Twice(x) :- Bag(x, _).
index From(a: s32) on Path(a, _)
"""
COMMANDS = """
start; insert Edge(1, 2), insert Edge(2, 3); commit dump_changes;
start; insert Host(1, "a", Point{1.5, NaN}, ["x"], [("k", [true])]), insert Shapes[Box{1, Some{2}}];
insert Pairs[(3, ("p", Dot))], insert Trees(Tree{"t", [Tree{"u", []}]}), insert Bag(-5, Some{[1, 2]});
modify Host 1 <- _{.name = "b"}; insert_or_update Host(2, "c", Point{0.0, 0.0}, [], []); commit;
query_index From(1); dump Path; echo done; start; delete Edge(1, 2), delete_key Host 1; clear Edge; rollback;
"""
_BAGS = ("-5", "Some{[1, 2]}"), (str(2**100), "None")
_TREE = '{"name": "t", "below": [{"name": "u", "below": []}]}'
FACTS: dict[str, dict[str, str]] = {
    "Bag": {
        **dict.fromkeys(("facts", "tsv"), "".join(f"{x}\t{o}\n" for x, o in _BAGS)),
        "csv": "x,o\n" + "".join(f'{x},"{o}"\n' for x, o in _BAGS),
        **dict.fromkeys(("jsonl", "ndjson"), '{"x": -5, "o": [1, 2]}\n{"x": 7, "o": null}\n'),
        "json": '[{"x": -5, "o": [1, 2]},\n {"x": 7, "o": null}]',
    },
    "Edge": {"csv": "a,b\n1,2\n2,-3\n2147483647,-2147483648\n"},
    "Trees": {"csv": '"Tree{""t"", [Tree{""u"", []}]}"\n', "json": f'[{{"t": {_TREE}}}]'},
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of input: the ending of its files, examples, and the command line for a file of it, with what is
    then read from standard input."""

    ending: str
    examples: Callable[[], list[bytes]]
    command: Callable[[Path], tuple[list[str], str]]


def program_file(folder: Path) -> str:
    """A file with the program that the facts and the commands are for."""
    path = folder / "program.dl"
    path.write_text(PROGRAM)
    return str(path)


def _facts(relation: str, form: str) -> Kind:
    def command(path: Path) -> tuple[list[str], str]:
        run = ["run", program_file(path.parent), "--quiet", "--engine", "in-process"]
        return [*run, "--input", f"{relation}={path}"], ""

    example = _table(form) if form in TABLE_FORMATS else FACTS[relation][form].encode()
    return Kind(form, lambda: [example], command)


def _table(form: str) -> bytes:
    """A table of bags in a format."""
    bags = pa.table({"x": pa.array([-5, 7], pa.decimal128(38)), "o": [[1, 2], None]})
    sink = pa.BufferOutputStream()
    if form == "parquet":
        parquet.write_table(bags, sink)
    else:
        with ipc.new_file(sink, bags.schema) as writer:
            writer.write_table(bags)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def _commands(path: Path) -> tuple[list[str], str]:
    run = ["run", program_file(path.parent), "--quiet", "--engine", "in-process"]
    return [*run, "--updates", str(path), "--delta"], ""


def _script(path: Path) -> tuple[list[str], str]:
    given = path.read_bytes().decode("utf-8", "surrogateescape")
    return ["repl", program_file(path.parent), "--quiet", "--engine", "in-process"], given


def _read(*pattern: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for each in pattern for path in sorted(TESTS.glob(each))][:60]


def _check(path: Path) -> tuple[list[str], str]:
    return ["check", str(path)], ""


def _circuit(path: Path) -> tuple[list[str], str]:
    return ["circuit", str(path)], ""


def _souffle(path: Path) -> tuple[list[str], str]:
    return ["import-souffle", str(path)], ""


_SCRIPT = COMMANDS + "? Path(a, b), a > 1\n? var x = [1, 2]\n? Edge\nhelp;\n"
_SQL = """
CREATE TABLE t (a INTEGER NOT NULL, b DECIMAL(10, 2), c VARCHAR, d DATE);
INSERT INTO t VALUES (1, 2.5, 'x', DATE '2020-01-01'), (2, NULL, NULL, NULL);
CREATE VIEW v AS SELECT a, sum(b) AS s, count(*) AS n FROM t WHERE c LIKE 'x%' OR a IN (1, 2) GROUP BY a;
CREATE VIEW w AS SELECT x.a, CASE WHEN x.b > 1 THEN 'p' ELSE x.c END AS q
FROM t AS x LEFT JOIN t AS y ON x.a = y.a WHERE EXISTS (SELECT 1 FROM v WHERE v.a = x.a);
CREATE VIEW u AS SELECT a FROM t UNION SELECT n FROM v ORDER BY 1 LIMIT 3;
"""
_SOUFFLE = """
.type Name <: symbol
.type List = [head: number, tail: List]
.decl edge(a: number, b: number)
.input edge
.decl path(a: number, b: number)
.output path
edge(1, 2). edge(2, 3).
path(a, b) :- edge(a, b).
path(a, c) :- path(a, b), edge(b, c), a != c, !edge(c, a).
.decl n(x: number, s: Name)
n(count : { edge(_, _) }, cat("a", to_string(max(1, 2)))).
.comp C<T> { .decl r(x: T) r(x) :- path(x, _). }
.init c = C<number>
"""
KINDS: dict[str, Kind] = {
    **{f"facts.{form}": _facts("Bag", form) for form in FORMATS},
    "edges.csv": _facts("Edge", "csv"),
    "trees.csv": _facts("Trees", "csv"),
    "trees.json": _facts("Trees", "json"),
    "commands": Kind("dat", lambda: [COMMANDS.encode()], _commands),
    "changes.jsonl": Kind(
        "jsonl",
        lambda: [b'{"insert": {"Edge": {"a": 1, "b": 2}}}\n{"commit": true}\n{"delete": {"Edge": [1, 2]}}\n'],
        _commands,
    ),
    "script": Kind("txt", lambda: [_SCRIPT.encode()], _script),
    "sql": Kind("sql", lambda: [_SQL.encode()], _check),
    "souffle": Kind("dl", lambda: [_SOUFFLE.encode()], _souffle),
    "program": Kind("dl", _read("programs/corpus/*.dl"), _check),
    "wrong program": Kind("dl", _read("check/fail/*.dl"), _check),
    "circuit": Kind("dl", _read("programs/corpus/*.dl", "programs/loops/*.dl"), _circuit),
}
