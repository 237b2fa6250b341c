"""Programs of great depth and length: they are checked, or refused with one message and a place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ddlog
from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.source import Source
from ddlog.sessions.program import compile_source
from ddlog.souffle.translate import translate
from ddlog.types import BigInt
from ddlog.values.cells import integer_of
from ddlog.values.numbers import decimal

DEEP = 1500
T = "CREATE TABLE t (a INTEGER NOT NULL, b INTEGER NOT NULL);\n"


def chain(first: str, more: str, count: int) -> str:
    """Declarations of which each names the one before."""
    return first + "".join(more.format(i=i, before=i - 1) for i in range(1, count))


PROGRAMS = {
    "a type": (
        f"input relation R(x: {'Vec<' * DEEP}u32{'>' * DEEP})",
        "this type is nested in more than 150",
    ),
    "a tuple": (
        f"input relation R(x: {'(u32, ' * DEEP}u32{')' * DEEP})",
        "this type is nested in more than 150",
    ),
    "a function's type": (
        f"function f(x: {'function(' * DEEP}u32{'): u32' * DEEP}): u32 = 1",
        "this type is nested in more than 150",
    ),
    "a pattern": (
        f"relation A(x: Option<u32>)\nA(None).\nrelation R(x: u8)\nR(1) :- A({'Some{' * DEEP}_{'}' * DEEP}).",
        "Type mismatch",
    ),
    "bit vectors one after another": (
        f"function f(x: bit<1>): u32 {{ {' ++ '.join(['x'] * DEEP)}; 1 }}",
        "this expression is nested in more than 150 others",
    ),
    "fields of fields": (
        chain("typedef T0 = T0{x: u32}\n", "typedef T{i} = T{i}{{x: T{before}}}\n", DEEP),
        "`T149` has fields within fields on more than 150 levels",
    ),
    "two fields each": (
        chain("typedef T0 = T0{x: u32}\n", "typedef T{i} = T{i}{{x: T{before}, y: T{before}}}\n", DEEP),
        "`T11` has more than 5000 parts",
    ),
    "fields of a type variable": (
        "typedef Two<'A> = Two{x: 'A, y: 'A}\ninput relation R(x: " + "Two<" * 20 + "u8" + ">" * 20 + ")",
        "`R` has more than 5000 parts",
    ),
    "aliases that are used twice": (
        chain("typedef T0 = (u8, u8)\n", "typedef T{i} = (T{before}, T{before})\n", DEEP),
        "`T11` has more than 5000 parts",
    ),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_what_is_too_large_is_refused_once(case: str) -> None:
    text, message = PROGRAMS[case]
    with pytest.raises(DDlogError) as raised:
        ddlog.compile(text + "\n")
    wrong = [each for each in raised.value.diagnostics if message in str(each)]
    assert wrong[0].span is not None
    assert len(wrong) == 1


def test_long_chains_of_declarations_are_checked() -> None:
    aliases = chain("typedef T0 = u32\n", "typedef T{i} = T{before}\n", DEEP)
    functions = chain("function f0(x: u32): u32 = x\n", "function f{i}(x: u32): u32 = f{before}(x)\n", DEEP)
    rules = chain(
        "relation R0(x: u32) R0(1).\n", "relation R{i}(x: u32) R{i}(x) :- R{before}(x), x > 0.\n", 500
    )
    output = f"output relation R(x: T{DEEP - 1}) R(f{DEEP - 1}(x)) :- R499(x).\n"
    program = ddlog.compile(f"{aliases}{functions}{rules}{output}")
    with program.session() as session:
        session.start()
        assert list(session["R"].tuples()) == [(1,)]


def test_strings_are_joined_in_chains_of_any_length() -> None:
    joined = " ++ ".join(["x", "n", '"-"'] * DEEP)
    program = ddlog.compile(
        f"input relation A(x: string, n: u8)\noutput relation R(x: string)\nR({joined}) :- A(x, n).\n"
        "output relation B(x: string)\nB((n as bit<8>) ++ 8'd1 ++ x ++ n) :- A(x, n).\n"
    )
    with program.session() as session:
        session.insert("A", ("a", 2))
        session.commit()
        assert list(session["R"].tuples()) == [("a2-" * DEEP,)]
        assert list(session["B"].tuples()) == [("513a2",)]


def test_functions_that_call_another_twice_have_code_of_their_own() -> None:
    doubled = chain(
        "function f0(x: u32): u32 = x\n", "function f{i}(x: u32): u32 = f{before}(x) + f{before}(x)\n", 12
    )
    program = ddlog.compile(
        f"{doubled}input relation A(x: u32)\noutput relation R(x: u32)\nR(f11(x)) :- A(x).\n"
    )
    with program.session() as session:
        session.insert_rows("A", [(x,) for x in range(3000)])
        session.commit()
        assert sorted(session["R"].tuples()) == [(2048 * x,) for x in range(3000)]


STATEMENTS = {
    "parentheses": f"SELECT {'(' * DEEP}a{')' * DEEP} FROM t",
    "subqueries": f"SELECT a FROM {'(SELECT a FROM ' * DEEP}t{') AS q' * DEEP}",
    "a sum": f"SELECT {'+'.join(['a'] * DEEP)} AS x FROM t",
    "a sum that the parser takes": f"SELECT {'+'.join(['a'] * 200)} AS x FROM t",
    "negations": f"SELECT a FROM t WHERE {'NOT ' * DEEP} a = 1",
    "functions": f"SELECT {'abs(' * DEEP}a{')' * DEEP} AS x FROM t",
    "cases": "SELECT CASE " + " ".join(f"WHEN a = {i} THEN {i}" for i in range(200)) + " END AS x FROM t",
    "no end": f"SELECT {'(' * DEEP}",
}


@pytest.mark.parametrize("case", STATEMENTS)
def test_sql_that_is_nested_too_deeply_is_refused_with_a_place(case: str) -> None:
    with pytest.raises(DDlogError, match="this is nested too deeply") as raised:
        compile_source(Source("deep.sql", f"{T}CREATE VIEW v AS {STATEMENTS[case]};"))
    (wrong,) = raised.value.diagnostics
    assert wrong.span is not None and wrong.span.line == 2


def test_sql_has_long_lists_and_disjunctions() -> None:
    listed = ", ".join(map(str, range(500)))
    either = " OR ".join(f"b = {i}" for i in range(140))
    program = compile_source(
        Source("long.sql", f"{T}CREATE VIEW v AS SELECT a FROM t WHERE a IN ({listed}) AND ({either});")
    )
    with program.session() as session:
        session.insert_rows("t", [(499, 139), (500, 0), (7, 140)])
        session.commit()
        assert list(session["v"].tuples()) == [(499,)]


def test_a_decimal_with_words_for_numbers_is_refused() -> None:
    with pytest.raises(DDlogError, match="`10, INTEGER2` are no numbers of digits and places"):
        compile_source(Source("d.sql", "CREATE TABLE d (a DECIMAL(10, INTEGER2));"))


def test_a_relation_of_souffle_without_a_declaration_is_an_error() -> None:
    text = ".decl a(x: number)\n.output a\na(1).\nb(x) :- a(x).\nc(x) :- b(x), d(x).\n"
    with pytest.raises(DDlogError, match="`b`"):
        translate(Source("s.dl", text))


LISTS = """
typedef List = Nil | Cons{head: u32, tail: Ref<List>}
function built(n: u32): List {
    var list: List = Nil;
    for (i in range_vec(0, n, 1)) { list = Cons{i, ref_new(list)} };
    list
}
output relation R(x: List)
"""


@pytest.mark.parametrize(
    ("length", "code", "said"), [(2000, 0, "R{.x = Cons"), (300_000, 1, "nested too deeply")]
)
def test_values_may_be_nested_but_not_without_end(length: int, code: int, said: str, tmp_path: Path) -> None:
    path = tmp_path / "lists.dl"
    path.write_text(f"{LISTS}R(built({length})).\n")
    done = subprocess.run(
        [sys.executable, "-m", "ddlog", "run", path, "--quiet"], capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr and "Traceback" not in done.stderr


def test_a_list_that_grows_is_not_hashed_anew(tmp_path: Path) -> None:
    """A rule makes it an element a round: each value is hashed by what the one before has kept. They are
    nested too deeply for a checkpoint, without which the state is whole."""
    program = ddlog.compile(
        "typedef List = Nil | Cons{head: u32, tail: Ref<List>}\n"
        "output relation Length(n: u32)\n"
        "relation Made(n: u32, list: List)\n"
        "Made(0, Nil).\n"
        "Made(n + 1, Cons{n, ref_new(list)}) :- Made(n, list), n < 20000.\n"
        "Length(n) :- Made(n, _), n >= 20000.\n"
    )
    for _ in range(2):
        with program.session(state=tmp_path / "state") as session:
            assert [row.n for row in session["Length"]] == [20_000]


def test_facts_of_a_program_may_be_as_deep() -> None:
    """They are constants of its circuit, which is made before there is a session."""
    with ddlog.compile(f"{LISTS}R(built(1000)).\n").session() as session:
        assert len(session["R"]) == 1
    with pytest.raises(DDlogError, match="a value is nested too deeply"):
        ddlog.compile(f"{LISTS}R(built(20_000)).\n").session()


TREES = """
typedef Tree = Tree{x: u32, below: Vec<Tree>}
input relation In(t: Tree)
output relation Out(t: Tree)
Out(t) :- In(t).
"""


def nested(levels: int) -> dict[str, object]:
    """A tree of so many levels."""
    tree: dict[str, object] = {"x": 1, "below": []}
    for _ in range(levels - 1):
        tree = {"x": 1, "below": [tree]}
    return tree


def test_objects_are_nested_in_a_thousand_levels_and_refused_in_many_more(tmp_path: Path) -> None:
    for _ in range(2):
        with ddlog.compile(TREES).session(state=tmp_path / "state") as session:
            session.insert("In", (nested(1000),))
            session.commit()
            with pytest.raises(DDlogError, match="the value is nested too deeply"):
                session.insert("In", (nested(100_000),))
            assert not session.commit()
            (row,) = session["Out"]
            assert str(row).startswith("Out(t=Tree(x=1, below=Vec([Tree(x=1") and "…" in str(row)


@pytest.mark.parametrize("digits", [1, 4000, 4001, 30000, 250_000])
def test_integers_of_many_digits_are_read_as_they_are_written(digits: int) -> None:
    for text in ("9" * digits, "-1" + "0" * digits, "1" + "0" * (digits - 1) + "7"):
        assert decimal(integer_of(text, BigInt())) == text


def test_integers_beyond_the_doubles_are_infinite() -> None:
    with ddlog.compile(
        f"input relation In(x: double)\noutput relation Out(x: double)\nOut(x) :- In(x).\nOut({'8' * 400})."
    ).session() as session:
        session.insert("In", (-(10**5000),))
        session.commit()
        assert sorted(session["Out"].tuples()) == [(float("-inf"),), (float("inf"),)]


def test_a_long_number_that_does_not_fit_is_told_in_short() -> None:
    with pytest.raises(DDlogError, match=r"\(6,000 digits\) is not a value of type bit<8>"):
        ddlog.compile(f"output relation R(x: u8)\nR({'7' * 6000}).")


def test_a_view_of_too_many_columns_is_an_error_of_its_text() -> None:
    columns = ", ".join(f"a + {i} AS c{i}" for i in range(2_600))
    with pytest.raises(DDlogError, match=r"p\.sql:2:1: `V` has more than 5000 parts"):
        compile_source(
            Source("p.sql", f"CREATE TABLE t (a INTEGER);\nCREATE VIEW v AS SELECT {columns} FROM t;")
        )
