"""Inputs of every size: a name for each kind, with the text of n parts and what reads it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ddlog
from ddlog.commands.changefiles import JsonReader
from ddlog.commands.reader import CommandReader
from ddlog.commands.updatefiles import commands_of
from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.source import Source
from ddlog.io.delimitedfiles import comma_lines
from ddlog.io.files import FactFile
from ddlog.io.read import read_facts
from ddlog.sessions.program import compile_source
from ddlog.souffle.translate import translate

FACTS = ddlog.compile("""
input relation R(n: bigint, s: string, v: Vec<s64>)
input relation E(a: s32, b: s32)
input relation N(n: bigint)
""")
A = "input relation A(x: u32)\noutput relation R(x: u32)\n"
DIGITS = 2.7  # multiplying numbers of twice as many digits takes more than twice as long


def program(text: str) -> None:
    """Checks a program, which may have errors."""
    with suppress(DDlogError):
        ddlog.compile(text)


def modules(text: str) -> None:
    """Checks a program of the modules that it imports, each with a rule."""
    with TemporaryDirectory() as folder:
        for name in text.replace("import ", "").split():
            Path(folder, f"{name}.dl").write_text(f"{A}R(x) :- A(x).\n")
        Path(folder, "main.dl").write_text(text)
        ddlog.compile(Path(folder, "main.dl"))


def sql(text: str) -> None:
    """Checks a module of SQL."""
    compile_source(Source("sized.sql", "CREATE TABLE t (a INTEGER, b INTEGER);\n" + text))


def souffle(text: str) -> None:
    """Translates a program of Soufflé."""
    translate(Source("sized.dl", text))


def facts(form: str, relation: str = "R") -> Callable[[str], None]:
    """Reads facts of a relation in a format, which may have faults."""

    def read(text: str) -> None:
        with TemporaryDirectory() as folder, suppress(DDlogError):
            path = Path(folder, f"{relation}.{form}")
            path.write_text(text)
            read_facts(FactFile(relation, path, form), FACTS.relations[relation], FACTS.checked.typedefs)

    return read


def commands(text: str) -> None:
    """Reads commands."""
    reader = CommandReader(FACTS.relations, FACTS.checked.typedefs, "sized.dat")
    reader.feed(text)
    for _ in reader.commands(final=True):
        pass


def runs(text: str) -> None:
    """Reads commands, or lines of JSON, in runs, past those that are wrong."""
    made = JsonReader if text.startswith("{") else CommandReader
    reader = made(FACTS.relations, FACTS.checked.typedefs, "sized.dat")
    reader.feed(text)
    for _ in commands_of(reader, True, True, lambda error: None):
        pass


def printed(text: str) -> None:
    """Writes a row with a number of so many bits as CSV."""
    lines = comma_lines(FACTS.relations["N"], FACTS.checked.typedefs)
    assert lines is not None
    lines([(1 << 3 * len(text),)])


@dataclass(frozen=True, slots=True)
class Sized:
    """A kind of input: its text of n parts, what reads it, the parts of the smaller of two that are compared,
    how much longer twice the size may take, and the most parts that are not refused."""

    text: Callable[[int], str]
    read: Callable[[str], Any]
    parts: int = 40
    longer: float = 2.3
    most: int = 1 << 62


def rule(body: Callable[[int], str]) -> Callable[[int], str]:
    """A rule with a body of n parts."""
    return lambda n: f"{A}R(x) :- A(x), {body(n)}.\n"


def string(piece: str) -> Callable[[int], str]:
    """A string of n pieces."""
    return lambda n: f'output relation R(x: string)\nR("{piece * n}").\n'


def lines(line: str, head: str = "") -> Callable[[int], str]:
    """Lines with their number in the places of `#`."""
    return lambda n: head + "".join(line.replace("#", str(i)) + "\n" for i in range(n))


SIZED = {
    "a body of one relation": Sized(rule(lambda n: ", ".join(["A(x)"] * n)), program),
    "a body of many variables": Sized(rule(lambda n: ", ".join(f"A(y{i})" for i in range(n))), program),
    "a chain of terms": Sized(
        lambda n: "input relation E(a: u32, b: u32)\noutput relation R(x: u32)\nR(x0) :- "
        + ", ".join(f"E(x{i}, x{i + 1})" for i in range(n)) + ".\n",
        program,
    ),
    "conditions": Sized(rule(lambda n: ", ".join(["x > 1"] * n)), program),
    "definitions": Sized(rule(lambda n: ", ".join(f"var y{i} = x" for i in range(n))), program),
    "negated terms": Sized(rule(lambda n: ", ".join(["not A(x + 1)"] * n)), program),
    "literals of no type in a text": Sized(string("${1}"), program, 200),
    "literals of no type in rules": Sized(
        lines('R("${1} ${2}").', "output relation R(x: string)\n"), program
    ),
    "literals of no type that meet": Sized(string("${1 + 2 * 3}"), program, 200),
    "open questions": Sized(
        lambda n: "output relation R(x: string)\nfunction f(): string = {\n"
        + "".join(f"  var v{i} = vec_empty();\n" for i in range(n))
        + "".join(f'  v{i}.push("a");\n' for i in range(n)) + '  "a"\n}\n',
        program,
    ),
    "rules": Sized(lines("R(x) :- A(x), x == #.", A), program),
    "relations": Sized(lines("relation R#(x: u32)\nR#(x) :- A(x).", A), program),
    "relations in a row": Sized(
        lambda n: A + "".join(f"relation S{i + 1}(x: u32)\nS{i + 1}(x) :- S{i}(x).\n" for i in range(n))
        + "relation S0(x: u32)\nS0(x) :- A(x).\n",
        program,
    ),
    "fields": Sized(lambda n: f"input relation W({', '.join(f'c{i}: u32' for i in range(n))})\n", program),
    "types": Sized(lines("typedef T# = T#{x: u32}"), program),
    "constructors": Sized(
        lambda n: "typedef T = " + " | ".join(f"C{i}{{x{i}: u32}}" for i in range(n)) + "\n", program
    ),
    "aliases in a row": Sized(
        lambda n: "typedef T0 = u32\n" + "".join(f"typedef T{i + 1} = T{i}\n" for i in range(n)), program
    ),
    "types that name the one before twice": Sized(
        lambda n: "typedef T0 = (u8, u8)\n" + "".join(f"typedef T{i + 1} = (T{i}, T{i})\n" for i in range(n)),
        program,
    ),
    "structs that name the one before twice": Sized(
        lambda n: "typedef T0 = T0{x: u8}\n"
        + "".join(f"typedef T{i + 1} = T{i + 1}{{x: T{i}, y: T{i}}}\n" for i in range(n)),
        program,
    ),
    "a deep type": Sized(
        lambda n: f"input relation D(x: {'Vec<' * n}u8{'>' * n})\n", program
    ),
    "modules": Sized(lines("import m#"), modules),
    "functions": Sized(lines("function f#(x: u32): u32 = x + #"), program),
    "functions in a row": Sized(
        lambda n: "function f0(x: u32): u32 = x\n"
        + "".join(f"function f{i + 1}(x: u32): u32 = f{i}(x) + f{i}(x)\n" for i in range(n)),
        program,
    ),
    "arms of constants": Sized(
        lambda n: "function f(x: u32): u32 = match (x) {"
        + "".join(f"{i} -> 1, " for i in range(n)) + "_ -> 2}\n",
        program,
    ),
    "a vector": Sized(
        lambda n: f"output relation R(x: u32)\nR(x) :- var x = FlatMap([{', '.join(map(str, range(n)))}]).\n",
        program,
    ),
    "escapes": Sized(string("\\n"), program, 200),
    "quotes": Sized(string('a\\\\\\"'), program, 200),
    "continued lines": Sized(string("\\\n  "), program, 200),
    "errors of syntax": Sized(lines("relation R#(x u32)"), program),
    "unknown names": Sized(lines("R(x) :- B#(x).", A), program),
    "comments": Sized(lambda n: "/* a */ // b\n" * n + A, program, 200),
    "a list of SQL": Sized(
        lambda n: f"CREATE VIEW v AS SELECT a FROM t WHERE a IN ({', '.join(map(str, range(n)))});", sql
    ),
    "views of SQL": Sized(lines("CREATE VIEW v# AS SELECT a FROM t WHERE b = #;"), sql, 20),
    "a WITH of SQL": Sized(
        lambda n: f"CREATE VIEW v AS WITH {', '.join(f'c{i} AS (SELECT a FROM t)' for i in range(n))} "
        "SELECT a FROM c0;",
        sql,
    ),
    "columns of SQL": Sized(
        lambda n: f"CREATE VIEW v AS SELECT {', '.join(f'a + {i} AS c{i}' for i in range(n))} FROM t;", sql,
        most=2000,
    ),
    "aggregates of SQL": Sized(
        lambda n: f"CREATE VIEW v AS SELECT b, {', '.join(f'SUM(a + {i}) AS c{i}' for i in range(n))} "
        "FROM t GROUP BY b;",
        sql,
        10,
    ),
    "rows of SQL": Sized(lambda n: f"INSERT INTO t VALUES {', '.join(['(1, 2)'] * n)};", sql),
    "rules of Soufflé": Sized(
        lines("r(x) :- a(x), x = #.", ".decl a(x: number)\n.input a\n.decl r(x: number)\n"), souffle
    ),
    "rows of CSV": Sized(lines('#,"s","[1, 2]"'), facts("csv"), 200),
    "rows of JSON": Sized(lines('{"n": #, "s": "a", "v": [1]}'), facts("jsonl"), 200),
    "an array of JSON": Sized(
        lambda n: f'[{",".join(["""{"n": 1, "s": "a", "v": []}"""] * n)}]', facts("json"), 200
    ),
    "a long cell": Sized(lambda n: f'1,s,"[{", ".join(["1"] * n)}]"\n', facts("csv"), 200),
    "digits of a program": Sized(
        lambda n: f"output relation R(x: bigint)\nR({'7' * n}).\n", program, 2000, DIGITS
    ),
    "digits of CSV": Sized(lambda n: f'{"7" * n},"s","[]"\n', facts("csv"), 2000, DIGITS),
    "digits of JSON": Sized(
        lambda n: f'[{{"n": {"7" * n}, "s": "a", "v": []}}]', facts("json"), 2000, DIGITS
    ),
    "digits of commands": Sized(lambda n: f'insert R({"7" * n}, "", []);', commands, 2000, DIGITS),
    "digits that are written": Sized(lambda n: "7" * n, printed, 2000, DIGITS),
    "updates": Sized(lines("insert E(#, 2),", "start;\n"), commands, 200),
    "updates before a wrong one": Sized(
        lambda n: "start;\n" + "insert E(1, 2);\n" * n + f"insert E(1, {2**31});", runs, 200
    ),
    "wrong updates between others": Sized(lines(f"insert E(#, 2); insert E(#, {2**31});"), runs, 200),
    "wrong transactions between others": Sized(
        lines(f"start; insert E(#, 2); commit; start; insert E(#, {2**31}); commit;"), runs, 200
    ),
    "wrong lines of JSON between others": Sized(
        lines(f'{{"insert": {{"E": [#, 2]}}}}\n{{"insert": {{"E": [#, {2**31}]}}}}'), runs, 200
    ),
    "queries": Sized(lines("query E(#, x), x > #;"), commands, 200),
    "strings of commands": Sized(lambda n: 'insert R(1, "' + '\\"' * n + '", []);', commands, 200),
}  # fmt: skip
