"""The checker: golden errors, and what accepted programs become."""

from __future__ import annotations

from pathlib import Path

import pytest

import ddlog
from ddlog import core
from ddlog.check.function import Instances
from ddlog.check.program import check_program
from ddlog.check.query import check_query
from ddlog.errors.diagnostics import DDlogError, Diagnostic, render
from ddlog.errors.groups import EqualValues
from ddlog.errors.source import Source
from ddlog.names.environment import Environment
from ddlog.names.modules import FUNCTIONS, library, load_modules

FAIL = sorted((Path(__file__).parent / "fail").glob("*.dl"))


@pytest.mark.parametrize("path", FAIL, ids=lambda path: path.stem)
def test_messages(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program in fail/ gives exactly the text beside it."""
    monkeypatch.chdir(path.parent)
    _, diagnostics = check_program(Source(path.name, path.read_text()))
    assert render(diagnostics) + "\n" == path.with_suffix(".err").read_text()


def test_rules_as_a_warning_shows_them_need_no_warning() -> None:
    path = next(each for each in FAIL if each.stem == "equal_values")
    text = path.read_text()
    _, found = check_program(Source(path.name, text))
    for each in found:
        assert isinstance(each, EqualValues)
        if each.what == "rule":
            text = text.replace(each.rule.text(), each.instead)
    program, left = check_program(Source(path.name, text))
    assert program is not None
    assert [each for each in left if not isinstance(each, EqualValues) or each.what == "rule"] == []


def accepted(text: str) -> core.CheckedProgram:
    program, diagnostics = check_program(Source("test.dl", text))
    assert program is not None, render(diagnostics)
    return program


def rejected(text: str) -> list[Diagnostic]:
    program, diagnostics = check_program(Source("test.dl", text))
    assert program is None
    return diagnostics


def variables(rule: str, declarations: str = "") -> dict[str, str]:
    """The types of the named variables of a rule."""
    text = f"input relation I(n: string, x: u32, v: Vec<u32>, o: Option<s8>)\n{declarations}\n{rule}"
    types = accepted(text).rules[-1].variables
    return {name: str(type_) for name, type_ in types.items() if not name.startswith("$")}


HELPERS = """
typedef T<'A> = A{x: 'A, y: u32} | B{x: 'A}
typedef Money = bigint
function pair(x: 'A, y: 'B): ('A, 'B) { (x, y) }
function over(x: u32): string { "u32" }
function over(x: string): u32 { 1 }
function over(x: Vec<'A>): 'A { x.nth(0).unwrap_or_default() }
"""


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("1", "bit<64>"),
        ("-1", "signed<64>"),
        ("18446744073709551616", "bit<128>"),
        ("-9223372036854775809", "signed<128>"),
        ("340282366920938463463374607431768211456", "bigint"),
        ("1.5", "double"),
        ("32'f1.5", "float"),
        ("8'd255", "bit<8>"),
        ("x + 1", "bit<32>"),
        ("1 + x", "bit<32>"),
        ("1 + 2", "bit<64>"),
        ("x << 3", "bit<32>"),
        ("x[7:0]", "bit<8>"),
        ("x[15:8] ++ x[7:0]", "bit<16>"),
        ("x as s32", "signed<32>"),
        ("300 as u8", "bit<8>"),
        ("3 as double", "double"),
        ('x == 1 and not (n == "a")', "bool"),
        ("n ++ x", "string"),
        ("n + x", "string"),
        ("x + n", "string"),
        ('"${x} and ${n}"', "string"),
        ("n.len()", "bit<64>"),
        ("len(v)", "bit<64>"),
        ("v.nth(0)", "ddlog_std::Option<bit<32>>"),
        ("[x, 1]", "ddlog_std::Vec<bit<32>>"),
        ("[n -> x]", "ddlog_std::Map<string, bit<32>>"),
        ("(n, 1)", "(string, bit<64>)"),
        ("Some{x}", "ddlog_std::Option<bit<32>>"),
        ("A{n, 3}", "T<string>"),
        ("B{.x = 1}.x", "bit<64>"),
        ("A{n, 3}.x", "string"),
        ("pair(n, x).1", "bit<32>"),
        ("over(x)", "string"),
        ("over(n)", "bit<32>"),
        ("over(v)", "bit<32>"),
        ("match (o) { Some{a} -> a, None -> 0 }", "signed<8>"),
        ('if (x > 1) n else ""', "string"),
        ("{var a = x; a = a + 1; a}", "bit<32>"),
        ("{var a = vec_empty(); a.push(x); a}", "ddlog_std::Vec<bit<32>>"),
        ("{(var a, var b) = (x, n); b}", "string"),
        ("(1: Money)", "bigint"),
        ("o.unwrap_or(0)", "signed<8>"),
        ("(-(1))", "signed<64>"),
        ("'hff", "bit<64>"),
    ],
)
def test_types_of_expressions(expression: str, type_: str) -> None:
    """The type that inference gives an expression in a rule."""
    rule = f"output relation O(x: u32)\nO(0) :- I(n, x, v, o), var _r = {expression}."
    assert variables(rule, HELPERS)["_r"] == type_


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("var y = FlatMap(v)", {"y": "bit<32>"}),
        ("(var a, var b) = FlatMap([n -> x])", {"a": "string", "b": "bit<32>"}),
        ("Some{var y} = o", {"y": "signed<8>"}),
        ("var g = n.group_by(x)", {"g": "ddlog_std::Group<bit<32>, string>"}),
        ("var g = (n, 1.5).group_by((x, n))", {"g": "ddlog_std::Group<(bit<32>, string), (string, double)>"}),
        ("var c = n.group_by(x).count()", {"c": "bit<64>"}),
        ("var c = (x).group_by(n).sum() + 1", {"c": "bit<32>"}),
        ("var c = Aggregate((n), max(x))", {"c": "bit<32>"}),
        ("var g = n.group_by(())", {"g": "ddlog_std::Group<(), string>"}),
    ],
)  # fmt: skip
def test_types_of_variables(clause: str, expected: dict[str, str]) -> None:
    """The types of variables that clauses define."""
    found = variables(f"output relation O(x: u32)\nO(0) :- I(n, x, v, o), {clause}.")
    assert expected.items() <= found.items()


def clauses(body: str, head: str = "O(0)") -> str:
    """The clauses of a rule, shortly."""
    text = f"""
    typedef S = S{{a: u32, b: string}}
    typedef U = U1{{a: u32}} | U2
    input relation R(a: u32, b: string)
    input relation P[S]
    input relation Q[U]
    input relation N(u32, u32)
    output relation O(x: u32)
    function f(g: Group<u32, string>): u32 {{ g.key }}
    {head} :- {body}.
    """
    return "; ".join(map(short, accepted(text).rules[-1].body))


def short(clause: core.Clause) -> str:
    match clause:
        case core.Atom(relation, columns, negated):
            shown = ", ".join(each or "_" for each in columns)
            return f"{'not ' if negated else ''}{relation}({shown})"
        case core.Let(name, value):
            return f"{name} = {show(value)}"
        case core.Guard(condition):
            return show(condition)
        case core.Unnest(name, value):
            return f"{name} in {show(value)}"
        case core.GroupBy(name, value, keys):
            return f"{name} = {show(value)} by {', '.join(keys)}"
        case core.Inspect(value):
            return f"inspect {show(value)}"


def show(expr: core.Expr) -> str:
    match expr:
        case core.Const(value):
            return repr(value)
        case core.Var(name):
            return name
        case core.Op(op, args):
            return f"({f' {op} '.join(map(show, args))})"
        case core.GetField(arg, name):
            return f"{show(arg)}.{name}"
        case core.MakeStruct(constructor, args):
            return f"{constructor.name}{{{', '.join(map(show, args))}}}"
        case core.Match(arg, _):
            return f"{show(arg)} matches"
        case core.Call(function, args):
            return f"{function}({', '.join(map(show, args))})"
        case core.MakeTuple(items):
            return f"({', '.join(map(show, items))})"
        case _:
            return type(expr).__name__


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("R(_, _)", "R(_, _)"),
        ("R()", "R(_, _)"),
        ("R(x, s), R(x, t), s != t", "R(x, s); R(x, t); (s != t)"),
        ("N(x, x)", "N(x, x)"),
        ("N(x, x + 1)", "N(x, $1); $1 = (x + 1)"),
        ('R(3, "a")', "R($1, $2); $1 = 3; $2 = 'a'"),
        ("R(.b = s), s == s", "R(_, s); (s == s)"),
        ("R(x, _), not N(x, _)", "R(x, _); not N(x, _)"),
        ("R(x, _), not N(x, 3)", "R(x, _); $1 = 3; not N(x, $1)"),
        ("R(x, _), N(y, _), x = y", "R(x, _); N(y, _); x = y"),
        ("p in R(x, _), p.a == x", "R(x, $1); p = R{x, $1}; (p.a == x)"),
        ("P(x, _)", "P(x, _)"),
        ("P[s], s.a > 1", "P($1, $2); s = S{$1, $2}; (s.a > 1)"),
        ("P[S{x, _}]", "P(x, _)"),
        ("P[s], P[s]", "P($1, $2); s = S{$1, $2}; $5 = s; $3 = $5.a; $4 = $5.b; P($3, $4)"),
        ("Q[u], U1{var x} = u", "Q(u); $1 = u; $1 matches; x = $1.a"),
        ("Q[U1{x}]", "Q($1); $1 matches; x = $1.a"),
        ("Q[U2]", "Q($1); $1 = U2{}"),
        ("not R(1, \"a\")", "$1 = 1; $2 = 'a'; not R($1, $2)"),
        ("R(x, s), var g = s.group_by(x)", "R(x, s); g = s by x"),
        ("R(x, s), var c = f(s.group_by(x))", "R(x, s); $1 = s by x; c = f($1)"),
        ("R(x, _), not Q[U1{_}]", "R(x, _); not Q$not10_22()"),
        ("R(x, _), not Q[U1{x}]", "R(x, _); $1 = U1{x}; not Q($1)"),
        ("R(x, s), Inspect ()", "R(x, s); inspect ()"),
    ],
)  # fmt: skip
def test_clauses(body: str, expected: str) -> None:
    """What the clauses of a rule are in core."""
    found = clauses(body)
    assert found == expected


def test_instances() -> None:
    """Functions are made for the types that they are used with, and only those."""
    program = accepted(
        """
        function id(x: 'A): 'A { x }
        function unused(x: 'A): 'A { id(x) }
        function even(n: u32): bool { if (n == 0) true else odd(n - 1) }
        function odd(n: u32): bool { if (n == 0) false else even(n - 1) }
        output relation O(x: u32, y: string)
        O(id(1), id("a")).
        """
    )
    own = {key for key in program.functions if not key.startswith("ddlog_std::")}
    assert own == {"id<bit<32>>", "id<string>", "even", "odd"}


def test_facts_and_heads() -> None:
    """Facts have no body; several heads share one."""
    program = accepted(
        """
        output relation A(x: u32)
        output relation B(x: u32)
        A(1). A(1 + 1).
        A(x), B(x) :- A(x).
        """
    )
    assert [len(rule.heads) for rule in program.rules] == [1, 1, 2]
    assert program.rules[0].body == ()
    assert sum(len(stratum.rules) for stratum in program.strata) == 4


def test_assignment_through_a_match() -> None:
    """A variable that a match binds to a part of a mutable one is that part."""
    program = accepted(
        """
        function f(o: mut Option<u32>) { match (o) { Some{x} -> { x = x + 1 }, None -> () } }
        """
    )
    body = program.functions["f"].body
    assert isinstance(body, core.Match)
    arm = body.arms[0][1]
    while isinstance(arm, core.Block):
        arm = arm.items[0]
    assert isinstance(arm, core.Assign)
    assert show(arm.target) == "o.x"
    assert show(arm.value) == "(o.x + 1)"


def test_primary_key() -> None:
    """The key of a relation is a function of its columns."""
    program = accepted(
        """
        input relation R(a: u32, b: string) primary key (r) (r.a, r.b)
        output relation O(a: u32)
        O(a) :- R(a, _).
        """
    )
    key = program.relations["R"].key
    assert key is not None
    assert [str(each.type) for each in key.parameters] == ["bit<32>", "string"]
    assert str(key.result) == "(bit<32>, string)"


def test_own_names_come_before_the_library() -> None:
    """A program may declare a name that the library has."""
    program = accepted(
        """
        typedef Option = Some{y: u32}
        function len(s: string): u32 { 7 }
        output relation O(x: u32, o: Option)
        O(len("abc"), Some{1}).
        """
    )
    assert show(program.rules[0].heads[0].args[0]) == "len('abc')"
    assert str(program.relations["O"].columns[1].type) == "Option"


def test_many_errors_at_once() -> None:
    """Errors in several declarations are all reported, in order of place."""
    found = rejected("relation R(x: Foo)\nfunction f(): u32 { true }\nR(y) :- S(y).\nR(1) :- R(x, y).")
    assert [each.span.line for each in found if each.span and each.is_error] == [1, 2, 3, 4]


PROGRAM = """
input relation Edge(from: string, to: string)
output relation Path(from: string, to: string)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
typedef Shape = Circle{r: double} | Square{side: double}
function twice(x: 'A): ('A, 'A) { (x, x) }
input relation Shapes(s: Shape)
output relation Big(s: Shape)
Big(s) :- Shapes(s).
"""


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ('Path("a", x), x != "b"', ("x",)),
        ("Edge(x, y), Path(y, x)", ("x", "y")),
        ("Path(x, _), not Edge(x, _)", ("x",)),
        ("Path", ("from", "to")),
        ("1 + 2", ("value",)),
        ('"a".len() > 2', ("value",)),
        ("Path(x, y), var p = twice(x)", ("x", "y", "p")),
        ("Path(x, y), var c = y.group_by(x).count()", ("x", "c")),
        ("Shapes(Circle{r})", ("r",)),
        ("p in Path(_, _)", ("p",)),
    ],
)
def test_queries(query: str, names: tuple[str, ...]) -> None:
    """A query is a rule without head, with its variables in order."""
    program = accepted(PROGRAM)
    checked = check_query(program, Source("query", query))
    rule, shown = checked.rule, checked.variables
    assert rule.heads == ()
    assert shown == names
    assert set(shown) <= set(rule.variables)


def test_a_query_brings_its_instances() -> None:
    """The functions and types that only a query uses go with it; its program stays as it is."""
    program = accepted(PROGRAM)
    query = check_query(program, Source("query", "Path(x, _), var p = (twice(x), Some{x})"))
    assert "twice<string>" not in program.functions
    assert "ddlog_std::Option" not in program.typedefs
    assert "twice<string>" in query.within(program).functions
    assert "ddlog_std::Option" in query.within(program).typedefs


def test_a_checked_program_is_frozen() -> None:
    program = accepted(PROGRAM)
    for table in (program.functions, program.typedefs, program.relations, program.indexes, program.externs):
        assert not hasattr(table, "__setitem__")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("Pathh(x, y)", "Unknown relation"),
        ("Path(x)", "2 columns"),
        ("Path(x, y), z > 1", "Unknown variable"),
        ("Path(x, y), x > 1", "Type mismatch"),
    ],
)
def test_query_errors(query: str, message: str) -> None:
    """A wrong query raises, and the next one is not affected."""
    program = accepted(PROGRAM)
    with pytest.raises(DDlogError, match=message):
        check_query(program, Source("query", query))
    assert check_query(program, Source("query", "Path(x, y)")).variables == ("x", "y")


def test_the_whole_library() -> None:
    """Every function of the library is right, also those that no program here uses."""
    environment = Environment(library(), tuple(library()))
    instances = Instances(environment, {})
    for module in library().values():
        for name in module.names(FUNCTIONS):
            for signature in environment.functions(name, module.name):
                if signature.module == module.name:
                    instances.generic(signature)
    instances.complete()
    assert render([*instances.diagnostics, *environment.diagnostics]) == ""


def test_library_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored library reads as the parsed one; an unreadable or unwritable cache does no harm."""
    (tmp_path / "m.dl").write_text("typedef T = A{x: u32} | B\nfunction f(t: T): u32 { 1 }\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    parsed = load_modules(tmp_path, ["m"])["m"]
    stored = next((tmp_path / "cache" / "ddlog").iterdir())
    read = load_modules(tmp_path, ["m"])["m"]
    assert isinstance(read.tables[FUNCTIONS]["f"][0], bytes)
    assert list(read.all(FUNCTIONS)) == list(parsed.all(FUNCTIONS))
    assert read.get("constructors", "B") == parsed.get("constructors", "B")
    stored.write_bytes(b"broken")
    assert list(load_modules(tmp_path, ["m"])["m"].all(FUNCTIONS)) == list(parsed.all(FUNCTIONS))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "m.dl"))
    assert list(load_modules(tmp_path, ["m"])["m"].names(FUNCTIONS)) == ["f"]


def test_negated_pattern_is_an_auxiliary_relation() -> None:
    """A negated term that takes a column apart negates a relation of what the pattern matches."""
    program = accepted(
        """
        typedef U = U1{a: u32, b: u32} | U2
        input relation Q(k: string, u: U)
        output relation O(x: u32)
        O(x) :- Q(k, U1{x, _}), not Q(k, U1{_, x}).
        """
    )
    (name,) = [name for name in program.relations if "$" in name]
    assert [str(each.type) for each in program.relations[name].columns] == ["string", "bit<32>"]
    assert [rule.heads[0].relation for rule in program.rules] == [name, "O"]
    assert program.rules[1].body[-1] == core.Atom(name, ("k", "x"), True, program.rules[1].span)


def test_shadowing_and_unique_names() -> None:
    """Variables of functions may be declared again; in core their names differ."""
    program = accepted(
        'function f(x: u32): string { var y = x; { var y = "a"; var x = y ++ x; x } }\n'
        "output relation O(s: string)\nO(f(1))."
    )
    text = repr(program.functions["f"].body)
    assert "name='y$2'" in text
    assert "name='x$2'" in text


@pytest.mark.parametrize(
    ("declaration", "type_"), [("Nothing", "T"), ("DDNestedTS", "ddlog_std::DDNestedTS")]
)
def test_bare_names_in_typedefs(declaration: str, type_: str) -> None:
    """`typedef T = N` names a type N where there is one, and else declares a constructor N."""
    program = accepted(
        f"typedef T = {declaration}\ninput relation I(t: T)\noutput relation O(t: T)\nO(t) :- I(t)."
    )
    assert str(program.relations["I"].columns[0].type) == type_


def test_of_a_long_line_the_part_around_the_error_is_shown() -> None:
    line = f"/*{'x' * 9000}*/ output relation N(x: nothing) // {'y' * 9000}"
    with pytest.raises(ddlog.DDlogError) as raised:
        ddlog.compile(line)
    shown, carets = str(raised.value).splitlines()[1:3]
    assert len(shown) < 220 and shown.strip().startswith("…x") and shown.endswith("y…")
    assert shown[carets.index("^") :].startswith("nothing") and carets.count("^") == len("nothing")
