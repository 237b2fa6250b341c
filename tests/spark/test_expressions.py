"""Expressions as SQL text against the Python functions of the same expressions, on the same rows."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from ddlog import core, values
from ddlog.check.program import check_program
from ddlog.codegen.scalar import compile_function_table, kind_of, row_expr
from ddlog.engine.circuit import Aggregate, Group
from ddlog.engine.operators.group import group
from ddlog.engine.schema import Column, RowExpr
from ddlog.engine.spark.aggregates import Aggregates
from ddlog.engine.spark.expressions import SparkExpressions
from ddlog.errors.source import Source, Span
from ddlog.sessions.program import Program
from ddlog.spark.types.codec import SparkCodec
from ddlog.types import BigInt, Bit, Bool, Float, Opaque, String, Tuple, Type, User
from ddlog.values import NAN, Map, Set, TypeDefs, Vec, constructors_of, integer_range, make

from ..codegen.test_codegen import FLOATS, INTS, SCALARS, exprs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("compiled")

ROWS = 12


def edge_values(type: Type) -> list[Any]:
    """Values at the ends of a type's range and near zero."""
    match type:
        case Bool():
            return [False, True]
        case Float():
            return [0.0, 1.5, NAN, math.inf, -math.inf, -2.0, 0.125, 3.0]
        case String():
            return ["", "a", "b", "aé", "it's ${x} \\n"]
        case BigInt():
            return [0, 1, -1, 7, 10**37, -(10**37), 2**64, -(2**63), 12345]
    low, high = integer_range(type)  # type: ignore[arg-type]
    some = (0, high, low, 1, -1, 7, high // 3, low + 1, high - 1)
    return list(dict.fromkeys(v for v in some if low <= v <= high))


def assert_same(
    spark: SparkSession, compiled: Sequence[RowExpr], rows: Sequence[dict[str, Any]], codec: SparkCodec
) -> None:
    """Evaluates the expressions in one query and compares every value with what Python says."""
    show_rows(spark, compiled, rows, codec)
    texts = []
    for number, each in enumerate(compiled):
        assert each.sql is not None
        texts.append(f"{each.sql(*each.inputs)} AS r{number}")
    found = spark.sql(f"SELECT place, {', '.join(texts)} FROM ddlog_rows").toArrow().sort_by("place")
    for number, each in enumerate(compiled):
        array = found.column(f"r{number}")
        expected = [each.scalar(*(row[name] for name in each.inputs)) for row in rows]
        wanted = codec.arrow_type(each.column)
        assert plain(array.type) == plain(wanted), (each.text, array.type, wanted)
        decoded = codec.decode(each.column, array)
        for value, other, row in zip(decoded, expected, rows, strict=True):
            given = {name: row[name] for name in each.inputs}
            assert value == other and repr(value) == repr(other), (each.key, texts[number], given)


def show_rows(
    spark: SparkSession, compiled: Sequence[RowExpr], rows: Sequence[dict[str, Any]], codec: SparkCodec
) -> None:
    """Makes the rows the view ddlog_rows, numbered by `place`."""
    inputs = {c.name: c for each in compiled for c in each.columns}
    arrays = [codec.encode(c, [row[name] for row in rows]) for name, c in inputs.items()]
    table = pa.Table.from_arrays([*arrays, pa.array(range(len(rows)))], names=[*inputs, "place"])
    spark.createDataFrame(table).createOrReplaceTempView("ddlog_rows")


def plain(type: pa.DataType) -> str:
    """An Arrow type without what it says of nulls and of elements' names."""
    return str(type).replace(" not null", "").replace("item:", "element:")


def random_exprs(count: int, number: int) -> list[core.Expr]:
    """Random expressions of all types, the same for the same number."""
    found: list[core.Expr] = []

    @seed(number)
    @settings(
        max_examples=count, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.sampled_from([*INTS, *INTS, *FLOATS, Bool(), String()]).flatmap(lambda t: exprs(t, 2)))
    def collect(expr: core.Expr) -> None:
        found.append(expr)

    collect()
    return found


def has_sql(each: RowExpr) -> bool:
    """Whether an expression has an SQL form."""
    if each.sql is None:
        return False
    try:
        each.sql(*each.inputs)
    except NotImplementedError:
        return False
    return True


def scalar_rows() -> list[dict[str, Any]]:
    """Rows of two variables of each scalar type."""
    rows = []
    for number in range(ROWS):
        row = {}
        for place, of in enumerate(SCALARS):
            some = edge_values(of)
            row[f"x_{place}"] = some[number % len(some)]
            row[f"y_{place}"] = some[(number * 5 + 2) % len(some)]
        rows.append(row)
    return rows


def test_random_scalar_expressions(spark: SparkSession) -> None:
    functions = compile_function_table(core.CheckedProgram({}, {}, {}, (), ()))
    compiled = [row_expr(each, functions, "r") for each in random_exprs(350, 1)]
    native = list({each.key: each for each in compiled if has_sql(each)}.values())
    assert len(native) > 150
    for start in range(0, len(native), 50):
        assert_same(spark, native[start : start + 50], scalar_rows(), SparkCodec({}))


# ------------------------------------------------ structs, collections, functions

PROGRAM = r"""
typedef Point = Point { x: s32, y: s32 }
typedef Empty = Empty
typedef Shape = Square { at: Point, size: double } | Dot { at: Point } | Named { name: string, tag: u8 }
typedef Both = Zeta { same: string, n: u16 } | Alpha { n: u16, same: string } | Nothing
typedef Both2 = L { same: string, n: u16 } | R { n: u16, same: string }
typedef Order = Aa { x: u8 } | Bb | Cc { y: string }
typedef Tree = Leaf { v: u8 } | Fork { all: Vec<Tree> }
input relation Unused(x: bool)
"""

# What has a form, with what is left to Python after it.
NATIVE = r"""
function f1(p: Point): s32 { p.x * 3 - p.y }
function f2(p: Point): Point { Point{p.y, p.x + 1} }
function f3(t: (u8, string)): (string, u8) { (t.1, t.0 + 1) }
function f4(s: Shape): string { match (s) {
    Square{.size = z} -> "square", Dot{Point{x, y}} -> "dot ${x}, ${y}", Named{n, _} -> n } }
function f5(s: Shape): Shape { match (s) {
    Square{p, z} -> Square{p, z * 2.0}, Dot{p} -> Square{p, 1.0}, Named{n, t} -> Named{n ++ "!", t + 1} } }
function f6(a: Shape, b: Shape): bool { a == b }
function f7(b: Both2): string { b.same ++ "/${b.n}" }
function f8(a: Order, b: Order): bool { a < b }
function f9(a: (string, u64), b: (string, u64)): bool { a >= b }
function f10(o: Option<u32>): u32 { unwrap_or(o, 7) + 1 }
function f11(o: Option<string>): bool { is_some(o) and o == Some{"a"} }
function f12(x: u32): Option<u32> { if (x > 5) Some{x - 5} else None }
function f13(o: Option<(u8, string)>): string { match (o) {
    Some{(5, s)} -> s, Some{(n, "a")} -> "a${n}", _ -> "it's \"quoted\" $x \\ é" } }
function f14(v: Vec<u8>): u64 { v.len() + 1 }
function f15(v: Vec<Shape>, s: Shape): bool { v.contains(s) }
function f16(s: Set<string>, x: string): bool { s.contains(x) or s.size() > 2 }
function f17(m: Map<string, u8>): u64 { m.size() }
function f18(a: Map<string, u8>, b: Map<string, u8>): bool { a == b }
function f19(s: string, t: string): bool { s.contains(t) and not s.starts_with(t) or s.ends_with("a") }
function f20(s: string): u64 { s.len() }
function f21(t: Tree, u: Tree): bool { t != u }
function f22(x: u8): u8 { var y = x + 1; var z = y * y; z ^ 3 }
function f23(x: s32): string { if (x < 0) { return "negative" }; if (x == 0) return "zero"; "positive ${x}" }
function f24(e: Empty): (Empty, ()) { (e, ()) }
function f25(x: u32): bigint { (x as bigint) * 100000 - 1 }
function f26(x: bigint): bigint { x % 1000 }
function f27(x: bigint): s64 { (x as s64) }
function f28(x: u64): u64 { x / 10 + x % 10 }
function f29(x: s64): s64 { x / 3 - x % 3 }
function f30(x: bigint, y: bigint): bool { x < y }
function f31(x: u128): bool { x == 5 or x > 18446744073709551616 }
function f32(a: double): double { if (a > 0.0) a / 3.0 else -a % 7.5 }
function f33(a: float, b: float): float { a / b + 1.0 }
function f34(x: u32): (u16, u8) { (x[31:16], x[7:0]) }
function f35(x: u16, y: u16): u32 { x ++ y }
function f36(x: u64, y: u32): u64 { (x << y) | (x >> 3) }
function f37(x: Point): Shape { Dot{x} }
function f38(x: string, n: bigint, b: bool): string { "${x}-${n}-${b}" }
function f39(p: Point): s32 { (var a, var b) = (p.x, p.y); a - b }
function f40(p: (Point, u8)): s32 { match (p) {
    (Point{1, y}, _) -> y, (q, 3) -> q.x, (Point{x, _}, n) -> x + ((n as u32) as s32) } }
function f41(x: u8, s: string): Vec<string> { ["a", s, "it's ${x}"] }
function f42(x: Option<Option<double>>): bool { x == Some{None} }
function f43(x: bool, y: bool): bool { x => y }
function f44(x: u8, y: u8): u8 { min(x, y) + max(x, y) }
function f45(x: u64): s64 { (x as s64) }
function f46(v: Vec<(u8, string)>, w: Vec<(u8, string)>): bool { v <= w }
function f47(x: u8): u8 { var y = x; y = y + 1; var z = y; y = 3; y + z }
function f48(v: Vec<string>): string { v.join(", ") }
function f49(v: Vec<double>): Set<double> { vec_to_set(v) }
function f50(v: Vec<Order>): Vec<Order> { v.sort_imm() }
function f51(s: Set<double>, t: Set<double>): (Set<double>, Set<double>, Set<double>) {
    (s.union(t), s.intersection(t), s.difference(t)) }
function f52(s: Set<string>, x: string): Set<string> { s.insert_imm(x) }
function f53(x: string): (Vec<string>, Set<string>, Map<string, u8>) {
    (vec_singleton(x), set_singleton(x), map_singleton(x, 1)) }
function f54(m: Map<string, u8>, x: string): (bool, Vec<string>, Vec<u8>, bool) {
    (m.contains_key(x), m.keys(), m.values(), m.is_empty()) }
function f55(g: Group<u8, string>): (u8, u64, string, string, Vec<string>) {
    (g.key(), g.count(), g.min(), g.max(), g.to_vec()) }
function f56(g: Group<(u8, string), (string, double)>): (double, double) { (g.min_second(), g.max_second()) }
function f57(g: Group<u8, string>, s: Set<string>): bool { g.to_set() == s or g.first() == "a" }
function f58(x: u8): u8 { if (x > 100) { return x + 1 } else { return 0 } }
function f59(x: u8): u8 { match (x) { 0 -> return 5, 1 -> { return x * 2 }, y -> y - 1 } }
function f60(x: s16): bigint { if (x < 0) return -1; var y = x as bigint; if (y == 0) { return 7 }; y * y }
"""
PYTHON = r"""
function g1(x: u8, y: u8): u8 { x / y }
function g2(x: bigint): bigint { x * 2 + 1 }
function g3(x: double): string { "${x}" }
function g4(a: Shape, b: Shape): bool { a < b }
function g5(v: Vec<Shape>): Vec<Shape> { v.sort_imm() }
function g6(t: Tree): u8 { match (t) { Leaf{v} -> v, Fork{_} -> 0 } }
function g7(v: Vec<u8>): u8 { var s = 0; for (x in v) { s = s + x }; s }
function g8(x: u128): u128 { x + 1 }
function g9(s: string): string { string_to_uppercase(s) }
function g10(x: u8): Tree { Leaf{x} }
"""


@pytest.fixture(scope="module")
def program() -> core.CheckedProgram:
    """The program of these functions."""
    checked, found = check_program(Source("test.dl", PROGRAM + NATIVE + PYTHON))
    assert checked is not None, [str(each) for each in found]
    return checked


def some_values(type: Type, typedefs: TypeDefs, depth: int = 2) -> list[Any]:
    """A few values of a type."""
    match type:
        case Tuple(items):
            parts = [some_values(item, typedefs, depth) for item in items]
        case User(name, args):
            if depth < 0:
                return []
            found = []
            for each in constructors_of(typedefs[name], args):
                parts = [some_values(of, typedefs, depth - 1)[:3] for _, of in each.fields]
                found += [make(typedefs[name], each, fields) for fields in mixed(parts, 3)]
            return found
        case Opaque("ddlog_std::Group", (key, of)):
            some = some_values(of, typedefs)
            members = [some[:1], some[1:3], some[::-1], some[2:]]
            return [values.Group.of(k, v) for k, v in product(some_values(key, typedefs), members)][::3]
        case Opaque(name, (key, of)):
            keys = some_values(key, typedefs)
            pairs = list(zip(keys, some_values(of, typedefs) * 3, strict=False))
            return [Map(), Map(pairs[:1]), Map(pairs), Map(pairs[1:3])]
        case Opaque(name, (element,)):
            build: Any = Set if name.endswith("Set") else Vec
            some = some_values(element, typedefs, depth) if depth > 0 else []
            return [build(), build(some[:1]), build(some), build(some[1:3]), build(some[::-1])]
        case _:
            return edge_values(type)
    return [tuple(row) for row in mixed(parts, 6)]


def mixed(parts: list[list[Any]], count: int) -> list[tuple[Any, ...]]:
    """Some of the combinations of values."""
    every = list(product(*parts))
    return every[:: max(1, len(every) // count)] or [()]


def calls(program: core.CheckedProgram, text: str) -> list[core.Expr]:
    """A call of each function that a text declares, over variables named by type."""
    found: list[core.Expr] = []
    for name in re.findall(r"^function (\w+)", text, re.MULTILINE):
        (function,) = [each for each in program.functions.values() if each.name == name]
        arguments = tuple(
            core.Var(f"{'xyz'[i]}_{str(p.type).encode().hex()}", p.type, function.span)
            for i, p in enumerate(function.parameters)
        )
        found.append(core.Call(function.key, arguments, function.result, function.span))
    return found


def rows_for(compiled: Sequence[RowExpr], typedefs: TypeDefs, count: int = 16) -> list[dict[str, Any]]:
    """Rows of values for the inputs of expressions."""
    inputs = {c.name: c for each in compiled for c in each.columns}
    rows: list[dict[str, Any]] = []
    for number in range(count):
        row = {}
        for name, column in inputs.items():
            some = some_values(column.type, typedefs)
            step = {"x": 1, "y": 3, "z": 5}[name[0]]
            row[name] = some[number * step % len(some)]
        rows.append(row)
    return rows


def test_functions_of_structs_and_collections(spark: SparkSession, program: core.CheckedProgram) -> None:
    functions = compile_function_table(program)
    compiled = [row_expr(each, functions, "r") for each in calls(program, NATIVE)]
    assert [each.key for each in compiled if not has_sql(each)] == []
    assert_same(spark, compiled, rows_for(compiled, program.typedefs), SparkCodec(program.typedefs))


def test_the_rest_is_left_to_python(spark: SparkSession, program: core.CheckedProgram) -> None:
    functions, codec = compile_function_table(program), SparkCodec(program.typedefs)
    compiled = [row_expr(each, functions, "r") for each in calls(program, PYTHON)]
    assert [each.key for each in compiled if has_sql(each)] == []
    expressions = SparkExpressions(spark, codec)
    rows = rows_for(compiled, program.typedefs)
    show_rows(spark, compiled, rows, codec)
    texts = [expressions.value(each, each.inputs).text for each in compiled]
    listed = ", ".join(f"{text} AS r{number}" for number, text in enumerate(texts))
    found = spark.sql(f"SELECT place, {listed} FROM ddlog_rows").toArrow().sort_by("place")
    faults = 0
    for number, each in enumerate(compiled):
        result = found.column(f"r{number}").combine_chunks()
        valid, texts_of = result.field(0), result.field(1).to_pylist()
        for place, row in enumerate(rows):
            given = [row[name] for name in each.inputs]
            if texts_of[place] is None:
                assert codec.decode(each.column, valid[place : place + 1]) == [each.scalar(*given)]
                continue
            faults += 1
            fault = expressions.fault(texts_of[place], "the rule")
            assert not valid[place].is_valid
            assert (fault.message, fault.rule) == ("division by zero", "the rule")
            assert list(fault.row.values()) == given and given[1] == 0
    assert faults
    expressions.close()


# -------------------------------------------------------------------------- groups

GROUPS = r"""
input relation In(k: u8, s: string, n: s64, w: u64, h: u128, b: bigint, f: double, o: Shape, p: Order, i: s32)
output relation Out1(k: u8, n: s64, w: u64, m: double)
Out1(k, g.sum_second(), 0, g.avg_second()) :- In(.k = k, .s = s, .n = n), var g = (s, n).group_by(k).
output relation Out2(k: u8, n: u64, w: bigint, m: double)
Out2(k, g.sum_second(), b, g.avg_second()) :-
    In(.k = k, .s = s, .w = w), var g = (s, w).group_by(k), In(k, _, _, _, _, b, _, _, _, _).
output relation Out3(k: u8, n: u128)
Out3(k, g.sum_second()) :- In(.k = k, .s = s, .h = h), var g = (s, h).group_by(k).
output relation Out4(k: u8, n: bigint)
Out4(k, g.sum_second()) :- In(.k = k, .s = s, .b = b), var g = (s, b).group_by(k).
output relation Out5(k: u8, n: double, m: double)
Out5(k, g.sum_second(), g.max_second()) :- In(.k = k, .s = s, .f = f), var g = (s, f).group_by(k).
output relation Out6(k: u8, o: Shape, q: Shape)
Out6(k, g.min(), g.max()) :- In(.k = k, .o = o), var g = o.group_by(k).
output relation Out7(k: u8, s: string, o: Order, p: Order, c: u64)
Out7(k, s, g.min(), g.max(), g.count()) :- In(.k = k, .s = s, .p = p), var g = p.group_by((k, s)).
output relation Out8(v: Vec<(string, Order)>)
Out8(g.to_vec()) :- In(.k = k, .s = s, .p = p), var g = (s, p).group_by(()).
output relation Out9(k: u8, v: Vec<string>)
Out9(g.key(), g.to_vec()) :- In(.k = k, .s = s), var g = s.group_by(k).
output relation Out10(k: (string, u8), v: Vec<Shape>)
Out10(g.key(), g.to_vec()) :- In(.k = k, .s = s, .o = o), var g = o.group_by((s, k)).
output relation Out11(k: u8, n: s32, m: double)
Out11(k, g.sum_second(), g.avg_second()) :- In(.k = k, .s = s, .i = i), var g = (s, i).group_by(k).
"""


def test_groups_and_aggregates(spark: SparkSession) -> None:
    checked, found = check_program(Source("test.dl", PROGRAM + GROUPS))
    assert checked is not None, [str(each) for each in found]
    circuit = Program(Source("test.dl", ""), checked).circuit("relational")
    codec = SparkCodec(checked.typedefs)
    expressions, seen = SparkExpressions(spark, codec), set()
    aggregates = Aggregates(expressions)
    for node in circuit.nodes:
        if not isinstance(node, Group):
            continue
        source = circuit.nodes[node.source].schema
        parts = [some_values(each.type, checked.typedefs) for each in source]
        rows = {tuple(some[n * (k + 2) % len(some)] for k, some in enumerate(parts)) for n in range(30)}
        rows = {(row[0] % 3 if isinstance(row[0], int) else row[0], *row[1:]) for row in rows}
        arrays = [codec.encode(c, [row[k] for row in rows]) for k, c in enumerate(source)]
        table = pa.Table.from_arrays(arrays, names=[f"c{k}" for k in range(len(source))])
        spark.createDataFrame(table).createOrReplaceTempView("ddlog_members")
        names = [f"c{k}" for k in range(node.keys)]
        gathered = [f"{aggregates.gathered(a, source)} AS a{i}" for i, a in enumerate(node.aggregates)]
        grouped = ", ".join([*names, *gathered, "count(*) AS n"])
        query = f"SELECT {grouped} FROM ddlog_members GROUP BY {', '.join(names) or repr('all')}"
        items, outs = list(names), node.schema[node.keys :]
        for i, (a, out) in enumerate(zip(node.aggregates, outs, strict=True)):
            done = aggregates.finish(a, source, node.keys, out, f"a{i}")
            seen.add((a.function, done.udf))
            items.append(f"({done.text}){'.v' if done.udf else ''} AS r{i}")
        result = spark.sql(f"SELECT {', '.join(items)} FROM ({query})").toArrow()
        for i, out in enumerate(node.schema):
            assert plain(result.column(i).type) == plain(codec.arrow_type(out)), out
        columns = [codec.decode(out, result.column(i)) for i, out in enumerate(node.schema)]
        expected = group(dict.fromkeys(rows, 1), node.keys, node.aggregates)
        assert sorted(zip(*columns, strict=True)) == sorted(expected), node.text
    assert {("group", False), ("group", True), ("sum", False), ("min", False), ("min", True)} <= seen
    expressions.close()


def test_a_sum_beyond_38_digits_is_a_fault(spark: SparkSession) -> None:
    codec = SparkCodec({})
    big = Column("b", *kind_of(BigInt()), BigInt())
    expressions, aggregate = (
        SparkExpressions(spark, codec),
        Aggregate("sum", (0,), key="sum", origin="f.dl:1:1"),
    )
    aggregates = Aggregates(expressions)
    done = aggregates.finish(aggregate, (big,), 0, big, "a0")
    rows = "(SELECT CAST('9' || repeat('9', 37) AS DECIMAL(38,0)) AS c0 FROM range(2))"
    query = f"SELECT {aggregates.gathered(aggregate, (big,))} AS a0, count(*) AS n FROM {rows}"
    ((value, text),) = spark.sql(f"SELECT f.v, f.e FROM (SELECT {done.text} AS f FROM ({query}))").collect()
    fault = expressions.fault(text, "the rule")
    assert value is None and "38 digits" in fault.message and fault.origin == "f.dl:1:1"


def test_an_unknown_aggregate_is_an_error() -> None:
    number = Column("x", *kind_of(Bit(32)), Bit(32))
    codec = SparkCodec({})
    aggregates = Aggregates(SparkExpressions(None, codec))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown aggregate median"):
        aggregates.gathered(Aggregate("median", (0,)), (number,))


def test_python_runs_once_for_each_row(spark: SparkSession, tmp_path: Path) -> None:
    number = Column("x", *kind_of(Bit(32)), Bit(32))
    truth = Column("b", *kind_of(Bool()), Bool())
    log = str(tmp_path / "calls")

    def noted(x: int) -> bool:
        with open(log, "a") as file:
            file.write(f"{x}\n")
        return x % 2 == 0

    expressions = SparkExpressions(spark, SparkCodec({}))
    expr = RowExpr(("x",), truth, "noted", "noted(x)", "f.dl:1:1", noted, columns=(number,))
    call = expressions.value(expr, ["id"]).text
    query = f"SELECT id, f.e AS e FROM (SELECT id, {call} AS f FROM range(5)) WHERE f.e IS NOT NULL OR f.v"
    assert sorted(tuple(row) for row in spark.sql(query).collect()) == [(n, None) for n in (0, 2, 4)]
    assert sorted(Path(log).read_text().split()) == ["0", "1", "2", "3", "4"]
    expressions.close()


def test_expressions_without_inputs_or_rows_and_with_nulls(spark: SparkSession) -> None:
    number = Column("x", *kind_of(Bit(32)), Bit(32))
    expressions = SparkExpressions(spark, SparkCodec({}))
    constant = RowExpr((), number, "seven", "seven", "f.dl:1:1", lambda: 7)
    call = expressions.value(constant, []).text
    assert spark.sql(f"SELECT ({call}).v AS v FROM range(3)").collect() == [(7,)] * 3
    assert spark.sql(f"SELECT ({call}).v AS v FROM range(0)").collect() == []
    several = RowExpr(("x",), number, "several", "several(x)", "f.dl:1:1", range, columns=(number,))
    call = expressions.elements(several, ["x"]).text
    query = f"SELECT f.v, f.e FROM (SELECT {call} AS f FROM VALUES (2L), (NULL), (0L) AS t(x))"
    assert [tuple(row) for row in spark.sql(query).collect()] == [([0, 1], None), (None, None), ([], None)]
    expressions.close()


def test_values_that_spark_cannot_hold_are_faults_of_their_rows(spark: SparkSession) -> None:
    big = Column("b", *kind_of(BigInt()), BigInt())
    expressions = SparkExpressions(spark, SparkCodec({}))
    square = RowExpr(("x",), big, "square", "x * x", "f.dl:1:1", lambda x: x * x, columns=(big,))
    call = expressions.value(square, ["x"]).text
    values = "VALUES (CAST(3 AS DECIMAL(38,0))), (CAST('10000000000000000000' AS DECIMAL(38,0))) AS t(x)"
    good, bad = spark.sql(f"SELECT f.v, f.e FROM (SELECT {call} AS f FROM {values})").collect()
    assert tuple(good) == (9, None) and bad[0] is None
    fault = expressions.fault(bad[1], "the rule")
    assert "39 digits" in fault.message and fault.row == {"x": 10**19}
    expressions.close()


def test_long_integers_are_faults_without_python(spark: SparkSession) -> None:
    checked, _ = check_program(Source("test.dl", ""))
    assert checked is not None
    span, number = Span(Source("t.dl", "x"), 1, 1, 1, 2), BigInt()
    functions, codec = compile_function_table(checked), SparkCodec({})
    expressions = SparkExpressions(spark, codec)
    x, y = (core.Var(name, number, span) for name in "xy")
    compiled = [row_expr(core.Op(op, (x, y), number, span), functions, "r") for op in "+-*"]
    some = [0, 1, -3, 10**19, -(10**19), 10**37, 10**38 - 1, 1 - 10**38]
    rows = [{"x": a, "y": b} for a, b in product(some, some)]
    show_rows(spark, compiled, rows, codec)
    texts = [expressions.value(each, each.inputs).text for each in compiled]
    assert all(text.startswith("named_struct") for text in texts)
    listed = ", ".join(f"{text} AS r{n}" for n, text in enumerate(texts))
    table = spark.sql(f"SELECT place, {listed} FROM ddlog_rows").toArrow().sort_by("place")
    for n, each in enumerate(compiled):
        for row, found in zip(rows, table.column(f"r{n}").to_pylist(), strict=True):
            expected = each.scalar(*(row[name] for name in each.inputs))
            if abs(expected) < 10**38:
                assert (found["v"], found["e"]) == (expected, None), row
            else:
                assert found["v"] is None and "38 digits" in expressions.fault(found["e"], "").message
    (nothing,) = spark.sql(f"SELECT {expressions.value(compiled[0], ['NULL', '1BD']).text}").collect()[0]
    assert tuple(nothing) == (None, None)
