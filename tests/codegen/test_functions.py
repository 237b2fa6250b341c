"""User functions: the statement language, `mut` parameters, recursion, order of evaluation, faults."""

from __future__ import annotations

import sys

import pytest

from ddlog.check.program import check_program
from ddlog.codegen.scalar import compile_function_table, free_variables, row_expr
from ddlog.core import CheckedProgram, Expr
from ddlog.errors.source import Source
from ddlog.values import Fault

PROGRAM = """
typedef Tree = Leaf | Node{l: Box, key: s32, r: Box}
typedef Box = Box{inside: Vec<Tree>}
typedef Shape = Dot{tag: string} | Disc{r: s32, tag: string} | Slab{w: s32, h: s32, tag: string}
typedef Point = Point{x: s32, y: s32}
typedef Line = Line{from: Point, to: (Point, string)}

function fib(n: s32): s32 { if (n < 2) { n } else { fib(n - 1) + fib(n - 2) } }
function even(n: u32): bool { if (n == 0) true else odd(n - 1) }
function odd(n: u32): bool { if (n == 0) false else even(n - 1) }
function forever(n: bigint): bigint { 1 + forever(n + 1) }
function there(n: bigint): bigint { back(n) }
function back(n: bigint): bigint { there(n) }
function pushes(v: mut Vec<bigint>, n: bigint) { pushes(v, n) }
function pushed(n: bigint): bigint { var v = [n]; for (each in [n]) { pushes(v, each) }; n }
function down(n: s32): s32 { if (n == 0) { 0 } else { 1 + down(n - 1) } }

function bump(x: mut s32): s32 { x = x + 1; x * 10 }
function bump_twice(x: mut s32, y: mut s32) { y = y + bump(x); y = y + bump(x) }
function bumped(): (s32, s32) { var x: s32 = 1; var y: s32 = 0; bump_twice(x, y); (x, y) }
function order(): (s32, s32, s32) { var a: s32 = 1; (a, bump(a), a) }
function order_sum(): s32 { var a: s32 = 1; a + bump(a) * 100 + a * 10000 }
function lazy(b: bool): s32 { var a: s32 = 1; var c = b and bump(a) > 0; if (c) { a } else { -a } }
function lazy_or(b: bool): s32 { var a: s32 = 1; var c = b or bump(a) > 0; if (c) { a } else { -a } }
function lazy_implies(b: bool): s32 { var a: s32 = 1; var c = b => bump(a) > 0; if (c) { a } else { -a } }
function bump_field(): Line {
    var l = Line{Point{1, 2}, (Point{3, 4}, "x")};
    var ignored = bump(l.to.0.x);
    l.from.y = l.to.0.x + 1;
    l.to.1 = l.to.1 ++ "!";
    l
}
function retag(s: Shape): Shape { var t = s; t.tag = "new"; t }

function loops(rows: Vec<Vec<s32>>): (s32, s32) {
    var total: s32 = 0;
    var seen: s32 = 0;
    for (row in rows) {
        if (row.is_empty()) { continue };
        for (x in row) {
            if (x < 0) { break };
            if (x == 5) { continue };
            total = total + x
        };
        seen = seen + 1
    };
    (total, seen)
}
function first_above(v: Vec<s32>, least: s32): Option<s32> {
    for (x in v) { if (x > least) { return Some{x} } };
    None
}
function find_or(v: Vec<s32>, least: s32): s32 { match (first_above(v, least)) { Some{x} -> x, None -> -1 } }
function pairs(m: Map<string, s32>): string {
    var out = "";
    for ((k, v) in m) { out = out ++ k ++ "=" ++ "${v};" };
    out
}
function map_pairs(m: Map<string, s32>): string { var s = ""; for (kv in m) { s = s ++ kv.0 }; s }
function nested(p: (Option<(s32, Shape)>, bool)): string {
    match (p) {
        (None, true) -> "none!",
        (None, false) -> "none",
        (Some{(0, _)}, _) -> "zero",
        (Some{(n, Disc{.r = 7})}, _) -> "seven ${n}",
        (Some{(n, Slab{w, h, "flat"})}, _) -> "flat ${n + w * h}",
        (Some{(_, s)}, b) -> s.tag ++ "${b}"
    }
}
function word(s: string): s32 {
    match (s) { "one" -> 1, "two" -> 2, _ -> { var n = s.len() as s64; (n as s32) * 100 } }
}
function try_sum(a: Option<s32>, b: Option<s32>): Option<s32> { Some{a? + b?} }
function half(n: s32): Result<s32, string> { if (n % 2 == 0) { Ok{n / 2} } else { Err{"odd ${n}"} } }
function quarter(n: s32): Result<s32, string> { var h = half(n)?; half(h) }
function quarter_or_none(n: s32): Option<s32> { Some{half(half(n)?)?} }
function mut_try(x: mut s32): Option<s32> { x = x + 1; var h = quarter_or_none(x)?; x = h; Some{h} }
function mut_tried(n: s32): (Option<s32>, s32) { var x = n; var r = mut_try(x); (r, x) }
function insert(t: Tree, k: s32): Tree {
    match (t) {
        Leaf -> Node{Box{[Leaf]}, k, Box{[Leaf]}},
        Node{l, key, r} -> {
            if (k < key) {
                Node{Box{[insert(l.inside.nth(0).unwrap_or(Leaf), k)]}, key, r}
            } else {
                Node{l, key, Box{[insert(r.inside.nth(0).unwrap_or(Leaf), k)]}}
            }
        }
    }
}
function walk(t: Tree): string {
    match (t) {
        Leaf -> "",
        Node{l, key, r} ->
            walk(l.inside.nth(0).unwrap_or(Leaf)) ++ " ${key}" ++ walk(r.inside.nth(0).unwrap_or(Leaf))
    }
}
function shadow(): s32 {
    var x: s32 = 1;
    { var x: s32 = 5; var y = x };
    if (true) { var x: s32 = 9; x } else { x }
}
function unit_value(): () { var x: s32 = 1 }
function identity(x: 'A): 'A = x
function swap(p: ('A, 'B)): ('B, 'A) { (var a, var b) = p; (b, a) }
function if_without_else(b: bool): s32 { var n: s32 = 0; if (b) { n = 1 }; n }
function divided(a: s32, b: s32): s32 { a / b }
output relation O(s: string)
"""

EXPRESSIONS = {
    "fib(15)": "610",
    "even(10)": "true",
    "down(3000)": "3000",
    "bumped()": "(3, 50)",
    "order()": "(1, 20, 2)",
    "order_sum()": str(1 + 2000 + 20000),
    "(lazy(true), lazy(false))": "(2, -1)",
    "(lazy_or(true), lazy_or(false))": "(1, 2)",
    "(lazy_implies(true), lazy_implies(false))": "(2, 1)",
    "bump_field()": 'Line{Point{1,5},(Point{4,4}, "x!")}',
    '(retag(Dot{"a"}), retag(Slab{1, 2, "a"}))': '(Dot{"new"}, Slab{1,2,"new"})',
    '(Dot{"a"}.tag, Disc{1, "b"}.tag)': '("a", "b")',
    "loops([[1, 5, 2], vec_empty(), [7, -1, 9]])": "(10, 2)",
    "first_above([1, 5, 9], 3)": "ddlog_std::Some{5}",
    "find_or([1], 3)": "-1",
    'pairs(["b" -> 1, "a" -> 2])': '"a=2;b=1;"',
    'map_pairs(["b" -> 1, "a" -> 2])': '"ab"',
    "nested((None, true)) ++ nested((None, false))": '"none!none"',
    'nested((Some{(0, Dot{"d"})}, true))': '"zero"',
    'nested((Some{(3, Disc{7, "d"})}, true))': '"seven 3"',
    'nested((Some{(3, Slab{2, 5, "flat"})}, true))': '"flat 13"',
    'nested((Some{(3, Slab{2, 5, "s"})}, true))': '"strue"',
    '(word("one"), word("two"), word("three"))': "(1, 2, 500)",
    "(try_sum(Some{1}, Some{2}), try_sum(None, Some{1}))": "(ddlog_std::Some{3}, ddlog_std::None{})",
    "(quarter(12), quarter(6), quarter(5))":
        '(ddlog_std::Ok{3}, ddlog_std::Err{"odd 3"}, ddlog_std::Err{"odd 5"})',
    "(quarter_or_none(12), quarter_or_none(6))": "(ddlog_std::Some{3}, ddlog_std::None{})",
    "(mut_tried(11), mut_tried(12))": "((ddlog_std::Some{3}, 3), (ddlog_std::None{}, 13))",
    "walk(insert(insert(insert(Leaf, 2), 3), 1))": '" 1 2 3"',
    "shadow()": "9",
    "unit_value()": "()",
    'swap(identity((1: u8, "a")))': '("a", 1)',
    "(if_without_else(true), if_without_else(false))": "(1, 0)",
    "divided(-7, 2)": "-3",
    "if (1 == 1) { var x: s32 = 2; x + 1 } else { 0 }": "3",
    "match (Some{4: s32}) { Some{x} -> x + 1, None -> 0 }": "5",
    "(1: u8) ++ (2: u8)": "258",
    "(" + "+".join(["1: s32"] * 100) + ")": "100",
}  # fmt: skip


_TOO_DEEP = "functions call each other too deep"
FAULTS = {
    "forever(0)": _TOO_DEEP,
    "there(0)": _TOO_DEEP,
    "pushed(0)": _TOO_DEEP,
    "divided(1, 0)": "division by zero",
}


@pytest.fixture(scope="module")
def program() -> tuple[CheckedProgram, dict[str, Expr]]:
    """The program with one fact for each expression."""
    facts = [f"O(to_string_debug({expr}))." for expr in (*EXPRESSIONS, *FAULTS)]
    checked, found = check_program(Source("test.dl", PROGRAM + "\n".join(facts)))
    assert checked is not None, found
    heads = [rule.heads[0].args[0] for rule in checked.rules]
    return checked, dict(zip((*EXPRESSIONS, *FAULTS), heads, strict=True))


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_value(program: tuple[CheckedProgram, dict[str, Expr]], expr: str) -> None:
    checked, facts = program
    assert row_expr(facts[expr], compile_function_table(checked), "s").scalar() == EXPRESSIONS[expr]


@pytest.mark.parametrize("expr", FAULTS)
def test_fault(program: tuple[CheckedProgram, dict[str, Expr]], expr: str) -> None:
    checked, facts = program
    before = sys.getrecursionlimit()
    with pytest.raises(Fault, match=FAULTS[expr]):
        row_expr(facts[expr], compile_function_table(checked), "s").scalar()
    assert sys.getrecursionlimit() == before


def test_equal_expressions_have_equal_keys() -> None:
    text = """
        input relation R(a: s32, b: s32)
        output relation O(x: s32)
        O(a + b * 2) :- R(a, b).
        O(a   + b * 2) :- R(a, b).
        O(b + a * 2) :- R(a, b).
    """
    checked, _ = check_program(Source("test.dl", text))
    assert checked is not None
    functions = compile_function_table(checked)
    first, second, third = (row_expr(rule.heads[0].args[0], functions, "x") for rule in checked.rules)
    assert first == second != third and hash(first.key) == hash(second.key)
    assert first.inputs == ("a", "b") and third.inputs == ("b", "a")
    assert first.text == "a + b * 2" and first.origin == checked.rules[0].heads[0].args[0].span


def test_variables_of_an_expression_are_those_it_does_not_declare() -> None:
    text = """
        input relation R(a: s32, o: Option<s32>)
        output relation O(x: s32)
        O(match (o) { Some{y} -> { var z = y + a; z }, None -> a }) :- R(a, o).
    """
    checked, _ = check_program(Source("test.dl", text))
    assert checked is not None
    assert list(free_variables(checked.rules[0].heads[0].args[0])) == ["o", "a"]
