"""Runs of plain updates: read and applied at once, they mean what they mean one by one, whatever the text."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ddlog
from ddlog.commands.changefiles import JsonReader
from ddlog.commands.commands import Commit, Start
from ddlog.commands.interpreter import Action, Command, Interpreter
from ddlog.commands.reader import CommandReader
from ddlog.commands.transactions import Transactions
from ddlog.commands.update import Update, UpdateRun
from ddlog.commands.updatefiles import UpdateReader, update_commands
from ddlog.errors.diagnostics import DDlogError, render
from ddlog.io.refusals import stop
from ddlog.sessions.results import Changes
from ddlog.sessions.results.lines import record_lines

from ..trying import trying
from .test_commands_fuzz import mutated

PROGRAM = ddlog.compile(
    """
    typedef Point = Point{x: float, y: s8}
    input relation Edge(a: s32, b: string)
    input relation Host(id: u8, name: string, at: Point) primary key (h) h.id
    input relation Mixed(flag: bool, d: double, pair: (bigint, Point))
    input multiset Bag(x: s128)
    input stream Tick(x: bit<4>)
    input relation Maybe(o: Option<u8>)
    output relation Path(a: s32, b: string)
    output relation Name(id: u8, name: string, at: Point)
    output relation All(flag: bool, d: double, pair: (bigint, Point))
    output multiset Twice(x: s128)
    output stream Ticks(x: bit<4>)
    output relation Some1(x: u8)
    Path(a, b) :- Edge(a, b).
    Name(i, n, p) :- Host(i, n, p).
    All(a, b, c) :- Mixed(a, b, c).
    Twice(x) :- Bag(x).
    Ticks(x) :- Tick(x).
    Some1(x) :- Maybe(Some{x}).
    """
)

ints = st.sampled_from(
    ["0", "1", "2", "-3", "007", "1_0", "0x1", "300", "1.5", "2e1", "", "99999999999999999999"]
)
few = st.sampled_from(["1", "2", "3"])
number = few | few | few | ints
text = st.sampled_from(['"a"', '"b"', '"a"', '"é;,)\\n"', '"\\q"', '""', '"\n"', "b"])
point = st.tuples(number, number).map(lambda xy: f"Point{{{xy[0]}, {xy[1]}}}") | st.just("Point{.y = 1}")
boolean = st.sampled_from(["true", "false", "maybe"])
blank = st.sampled_from(["", "", "", " ", "\n", " # no\n"])
rows = st.one_of(
    st.tuples(st.just("Edge"), number, text),
    st.tuples(st.just("Edge"), number, text),
    st.tuples(st.just("Host"), number, text, point),
    st.tuples(st.just("Host"), few, st.just('"a"'), st.just("Point{1, 2}")),
    st.tuples(st.just("Mixed"), boolean, number, st.tuples(number, point).map(lambda p: f"({p[0]}, {p[1]})")),
    st.tuples(st.just("Bag"), number),
    st.tuples(st.just("Tick"), number),
    st.tuples(st.just("Maybe"), number),
    st.tuples(st.sampled_from(["Path", "Nowhere", "Edge"]), number, number),
)


@st.composite
def update(draw: st.DrawFn) -> str:
    """An update, its ending included, which may be wrong."""
    word = draw(st.sampled_from(["insert", "insert", "insert", "delete", "insert_or_update"]))
    name, *values = draw(rows)
    gap = draw(blank)
    inside = f"{gap},{gap}".join(values)
    ending = draw(st.sampled_from([";", ";", ";", ",", ",", ".", ""]))
    return f"{word} {name}{draw(blank)}({inside}{draw(blank)}){gap}{ending}{draw(blank)}"


other = st.sampled_from(
    ["commit; start;", "commit dump_changes;\nstart;", "rollback; start;", "start;", "commit;", "dump Edge;",
     "echo a, b;", "clear Edge;", "delete_key Host 1;", "modify Host 2 <- _{.name = \"c\"};"]
)  # fmt: skip
hosts = [f'Host({id}, "{name}", Point{{1, 2}})' for id in (1, 2, 300) for name in "ab"]
simple = st.tuples(
    st.sampled_from(["insert", "insert", "delete", "insert_or_update"]),
    st.sampled_from([*hosts, *hosts, 'Edge(1, "a")', 'Edge(2, "b")', "Bag(1)", "Path(1)"]),
    st.sampled_from(["commit", "commit", "commit dump_changes", "rollback"]),
)
transactions = st.lists(simple, min_size=1, max_size=6).map(
    lambda each: "commit;\n" + "\n".join(f"start; {word} {row}; {end};" for word, row, end in each) + "start;"
)
scripts = st.lists(update() | update() | transactions | other, max_size=12).map(
    lambda parts: "start;\n" + "\n".join(parts)
)

plain = st.sampled_from([1, 2, 3, -1, 1.0, 0.5, "a", "b", 'x"\\\n', "é", True, None, 300, 10**20])
json_point = st.fixed_dictionaries({"x": plain, "y": plain}) | st.lists(plain, min_size=2, max_size=2)
json_row = st.one_of(
    st.tuples(st.just("Edge"), st.fixed_dictionaries({"a": plain, "b": plain})),
    st.tuples(st.just("Edge"), st.lists(plain, min_size=1, max_size=3)),
    st.tuples(st.just("Host"), st.fixed_dictionaries({"id": plain, "name": plain, "at": json_point})),
    st.tuples(st.just("Host"), st.just({"id": 1, "name": "a", "at": {"x": 1, "y": 2}})),
    st.tuples(st.just("Bag"), st.lists(plain, max_size=2) | plain),
    st.tuples(st.just("Nowhere"), st.just([1])),
)
json_word = st.sampled_from(["insert", "insert", "delete", "insert_or_update", "upsert", "drop"])


@st.composite
def json_line(draw: st.DrawFn) -> str:
    """A line of a change file, which may be wrong."""
    if draw(st.integers(0, 5)) == 0:
        return draw(
            st.sampled_from(['{"commit": true}', '{"commit":true}', '{"rollback": true}', "", "{", "[]"])
        )
    name, row = draw(json_row)
    line = {draw(json_word): {name: row}}
    return json.dumps(
        line, ensure_ascii=draw(st.booleans()), separators=draw(st.sampled_from([None, (",", ":")]))
    )


json_host = '{"%s": {"Host": {"id": %d, "name": "a", "at": {"x": 1, "y": 2}}}}\n{"commit": true}'
json_transactions = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "insert_or_update"]), st.sampled_from([1, 2, 300])).map(
        lambda given: json_host % given
    ),
    max_size=6,
).map("\n".join)
json_scripts = st.lists(json_line() | json_line() | json_transactions, max_size=12).map("\n".join)


def single(commands: Iterator[Command]) -> Iterator[Command]:
    """The commands, of runs of transactions one by one."""
    for command in commands:
        if isinstance(command.action, Transactions):
            run = command.action
            assert str(command.place()) == str(run.place(0, "start"))
            for number, row in enumerate(run.rows):
                parts: dict[str, Action | Update] = {
                    "start": Start(),
                    run.kind: Update(run.kind, run.relation, row, True),
                    "commit": Commit(run.dumps[number]),
                }
                for word, action in parts.items():
                    yield Command(action, word, partial(run.place, number, word))
        else:
            yield command


def read(reader: UpdateReader, text: str, runs: bool) -> list[Any]:
    """All that a reader reads up to the first error, with places, updates one by one; then the error."""
    found: list[Any] = []
    reader.feed(text)
    try:
        for command in single(reader.commands(final=True, runs=runs)):
            if isinstance(command.action, UpdateRun):
                run = command.action
                assert str(command.place()) == str(run.place(0))
                found += [(each, command.word, str(run.place(k))) for k, each in enumerate(run.singly())]
            else:
                action = command.action
                if isinstance(action, Update):
                    action = replace(action, change=None)  # functions are never equal
                found.append((action, command.word, str(command.place())))
    except DDlogError as error:
        found.append(render(error.diagnostics))
    return found


def carry_out(reader: UpdateReader, text: str, runs: bool, skips: bool = False) -> list[str]:
    """What a command file prints, its error, or with `skips` those of updates, and what the session then
    holds."""
    lines: list[str] = []

    def skip(error: DDlogError) -> None:
        lines.append(render(error.diagnostics))

    def changed(changes: Changes, dump_changes: bool) -> None:
        lines.extend((f"commit {dump_changes}", *changes.lines()))

    with PROGRAM.session() as session:
        reader.feed(text)
        refuse = skip if skips else stop
        interpreter = Interpreter(session, lines.append, changed, PROGRAM.names("output"), refuse=refuse)
        try:
            interpreter.run(reader.commands(final=True, runs=runs))
            interpreter.flush()
        except DDlogError as error:
            lines.append(render(error.diagnostics))
            if interpreter.in_transaction:  # what the error left is what came before it
                interpreter.commit(False)
        interpreter.forget()
        lines.extend(
            record_lines(
                [session[name] for role in ("input", "output") for name in PROGRAM.names(role)], True
            )
        )
    return lines


def command_reader() -> CommandReader:
    return CommandReader(PROGRAM.relations, PROGRAM.checked.typedefs, "c.dat", PROGRAM.indexes)


def json_reader() -> JsonReader:
    return JsonReader(PROGRAM.relations, PROGRAM.checked.typedefs, "c.jsonl")


GOOD = (
    'start; insert Edge(1, "a"), insert Edge(2, "b"); insert Edge(3, "c");\n'
    'delete Edge(1, "a"); insert Host(1, "n", Point{1.5, 2}); insert Host(1, "m", Point{1, 2}); commit;'
)

TRANSACTIONS = """
start; insert Host(1, "a", Point{1, 2}); commit;
start; insert Host(2, "b", Point{1, 2}); commit dump_changes;
start; insert Host(1, "c", Point{1, 2}); commit;
start; insert Host(3, "a", Point{1, 2}); commit;
start; delete Host(400, "a", Point{1, 2}); commit;
"""
"""Of which the third, and if it is skipped the last, has an error."""


@trying(83)
@given(scripts | mutated())
@example(GOOD)
@example(TRANSACTIONS)
def test_commands_in_runs_read_the_same(text: str) -> None:
    assert read(command_reader(), text, True) == read(command_reader(), text, False)


@trying(83)
@given(json_scripts)
@example('{"insert": {"Edge": {"a": 1, "b": "a"}}}\n{"insert": {"Edge": {"a": 300000000000, "b": ""}}}')
def test_json_lines_in_runs_read_the_same(text: str) -> None:
    assert read(json_reader(), text, True) == read(json_reader(), text, False)


@trying(20)
@given(scripts, st.booleans())
@example(GOOD, False)
@example(TRANSACTIONS, False)
@example(TRANSACTIONS, True)
def test_commands_in_runs_do_the_same(text: str, skips: bool) -> None:
    assert carry_out(command_reader(), text, True, skips) == carry_out(command_reader(), text, False, skips)


@trying(13)
@given(json_scripts)
def test_json_lines_in_runs_do_the_same(text: str) -> None:
    assert carry_out(json_reader(), text, True) == carry_out(json_reader(), text, False)


def runs_of(reader: UpdateReader, text: str) -> list[tuple[str, list[Any], bool, bool]]:
    reader.feed(text)
    actions = [command.action for command in reader.commands(final=True, runs=True)]
    return [(r.relation, list(r.rows), r.apart, r.last) for r in actions if isinstance(r, UpdateRun)]


def test_what_is_a_run() -> None:
    assert runs_of(command_reader(), GOOD) == [
        ("Edge", [(1, "a"), (2, "b")], False, True),
        ("Edge", [(3, "c")], True, True),
        ("Edge", [(1, "a")], True, True),
        ("Host", [(1, "n", (1.5, 2)), (1, "m", (1.0, 2))], True, True),
    ]
    lines = '{"insert":{"Bag":[1]}}\n{"insert": {"Bag": {"x": 2}} }\n{"insert": {"Bag": 3}}\n'
    assert runs_of(json_reader(), lines) == [("Bag", [(1,)], True, True), ("Bag", [(2,)], True, True)]
    nested = '{"insert": {"Mixed": {"flag": true, "d": 2, "pair": [1, {"x": 0.5, "y": -1}]}}}'
    assert runs_of(json_reader(), nested) == [("Mixed", [(True, 2.0, (1, (0.5, -1)))], True, True)]


def test_transactions_are_a_run_up_to_the_first_that_is_another() -> None:
    reader = command_reader()
    reader.feed(TRANSACTIONS)
    run = next(reader.commands(final=True, runs=True)).action
    assert isinstance(run, Transactions) and run.dumps == [False, True, False, False]
    lines = json_reader()
    lines.feed('{"insert": {"Bag": [1]}}\n{"commit": true}\n' * 3 + '{"insert": {"Bag": [2]}}')
    run = next(lines.commands(final=True, runs=True)).action
    assert isinstance(run, Transactions) and run.rows == [(1,)] * 3


def test_an_error_in_a_run_undoes_its_batch_only(tmp_path: Path) -> None:
    path = tmp_path / "c.dat"
    hosts = "".join(f'insert Host({k % 200}, "h", Point{{1, 2}});\n' for k in range(300))
    path.write_text(f"start;\n{hosts}commit;\n")
    relations, typedefs = PROGRAM.relations, PROGRAM.checked.typedefs
    with PROGRAM.session() as session:
        interpreter = Interpreter(session, print, lambda changes, asked: None, [])
        with pytest.raises(DDlogError) as raised:
            interpreter.run(update_commands(str(path), relations, typedefs, runs=True))
        assert f"{path}:202:1" in str(raised.value)
        session.commit()
        assert session.size("Host") == 200


class _Pipe:
    """Standard input of which a piece arrives at a time."""

    def __init__(self, *pieces: bytes) -> None:
        self.buffer = SimpleNamespace(read1=lambda most: next(given, b""))
        given = iter(pieces)


def piped(monkeypatch: pytest.MonkeyPatch, *pieces: bytes) -> Iterator[Command]:
    monkeypatch.setattr(sys, "stdin", _Pipe(*pieces))
    return update_commands("-", PROGRAM.relations, PROGRAM.checked.typedefs, runs=True)


def test_pieces_of_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = (
        b'\xef\xbb\xbfstart;\r\ninsert Edge(1, "\xc3',
        b'\xa9"),\r',
        b'\ninsert Edge(2, "b")',
        b";\ncommit;",
    )
    words = [command.word for command in piped(monkeypatch, *pieces)]
    assert words == ["start", "insert", "insert", "commit"]
    (first,) = (c.action for c in piped(monkeypatch, *pieces) if isinstance(c.action, UpdateRun | Update)
                if c.action.last is False)  # fmt: skip
    assert isinstance(first, UpdateRun) and first.rows == [(1, "é")]
    with pytest.raises(DDlogError, match="not UTF-8"):
        list(piped(monkeypatch, b"start;\n", b'insert Edge(1, "\xc3'))
    monkeypatch.setattr(sys, "stdin", io.StringIO("start;\ncommit;"))
    assert len(list(update_commands("-", PROGRAM.relations, {}))) == 2


def test_a_commit_shows_when_it_is_done(tmp_path: Path) -> None:
    """The changes of a commit come out of the pipe before more commands go in."""
    (tmp_path / "p.dl").write_text(
        "input relation A(x: string)\noutput relation B(x: string)\nB(x) :- A(x).\n"
    )
    command = [sys.executable, "-c", "from ddlog.console.cli import main; exit(main())"]
    with subprocess.Popen(
        [*command, "run", str(tmp_path / "p.dl"), "--updates", "-", "--quiet"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        for name in ("a", "b"):
            process.stdin.write(f'start; insert A("{name}"); commit;\n')
            process.stdin.flush()
            assert process.stdout.readline() == "B:\n"
            assert process.stdout.readline() == f'B{{.x = "{name}"}}: +1\n'
        process.stdin.close()
        assert process.wait(60) == 0
