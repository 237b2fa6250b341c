"""Sessions whose program changes: what is added and dropped, what stays, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import ddlog
from ddlog import DDlogError, Session, syntax
from ddlog.commands.interpreter import Command, Interpreter
from ddlog.commands.updatefiles import update_commands
from ddlog.engine import thresholds
from ddlog.errors.source import Source
from ddlog.sessions.hosts.host import here_of
from ddlog.syntax.parser import parse_program

PATHS = """
input relation Edge(a: u32, b: u32)
output relation Path(a: u32, b: u32)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
function twice(x: u32): u32 { 2 * x }
output relation Ends(a: u32, n: usize)
Ends(twice(a), n) :- Path(a, b), var n = b.group_by(a).count_distinct().
"""
CYCLE = "output relation Cyclic(a: u32)\nCyclic(a) :- Path(a, a)."


@pytest.fixture(params=[False, True], ids=["in memory", "with a state"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    state = tmp_path / "state.ddlog" if request.param else None
    with ddlog.compile(PATHS).session(state=state) as opened:
        opened.insert("Edge", (1, 2), (2, 1), (3, 4))
        opened.commit()
        yield opened


def rows(session: Session, relation: str) -> list[tuple[object, ...]]:
    return sorted(map(tuple, session[relation]))


def test_a_new_relation_over_others_is_derived_of_what_they_hold(session: Session) -> None:
    changes = session.extend(CYCLE)
    assert list(changes.lines()) == ["Cyclic:", "Cyclic{.a = 1}: +1", "Cyclic{.a = 2}: +1"]
    session.delete("Edge", (2, 1))
    assert "Cyclic{.a = 1}: -1" in session.commit().lines()
    assert not rows(session, "Cyclic")
    assert not session.query("Cyclic(x)")


def test_only_what_is_added_is_derived(session: Session) -> None:
    here = here_of(session.state.host)
    before = {name: here._store(name) for name in ("Edge", "Path", "Ends")}
    session.extend(CYCLE)
    assert all(here._store(name) is store for name, store in before.items())


def test_a_rule_of_a_relation_that_is_there_changes_what_depends_on_it(session: Session) -> None:
    changes = session.extend("Path(9, b) :- Edge(_, b).")
    assert {row for row, _ in changes["Path"]} == {(9, 1), (9, 2), (9, 4)}
    assert [(tuple(row), weight) for row, weight in changes["Ends"]] == [((18, 3), 1)]
    changes = session.drop("Path(9, b) :- Edge(_, b).")
    assert {row for row, weight in changes["Path"] if weight < 0} == {(9, 1), (9, 2), (9, 4)}
    session.extend("output relation Only(a: u32)\nOnly(a) :- Edge(a, _).")
    assert [weight for _, weight in session.drop("Only(a) :- Edge(a, _).")["Only"]] == [-1, -1, -1]
    assert not session.query("Path(9, x)")


def test_a_relation_that_becomes_equal_to_another_tells_what_it_loses_and_has() -> None:
    rules = "Path(a, b) :- Edge(a, b).\nPath(a, c) :- Path(a, b), Edge(b, c).\n"
    declared = "input relation Edge(a: u32, b: u32)\noutput relation Path(a: u32, b: u32)\n"
    with ddlog.compile(declared + rules).session() as session:
        session.insert("Edge", (1, 2), (2, 3))
        session.commit()
        assert session.drop("Path(a, c) :- Path(a, b), Edge(b, c).")["Path"] == [((1, 3), -1)]
        changes = session.extend("output relation Copy(a: u32, b: u32)\nCopy(a, b) :- Edge(a, b).")
        assert changes["Copy"] == [((1, 2), 1), ((2, 3), 1)] and not changes["Path"]


def test_inputs_functions_and_facts_can_be_added(session: Session) -> None:
    session.extend("input relation Node(x: u32)\nfunction next(x: u32): u32 { x + 1 }")
    session.extend("output relation Next(x: u32)\nNext(next(x)) :- Node(x).\nNode(7).")
    session.insert("Node", 1)
    session.commit()
    assert rows(session, "Next") == [(2,), (8,)]


def test_an_extern_function_that_is_another_one_is_called_anew(tmp_path: Path) -> None:
    program, python = tmp_path / "p.dl", tmp_path / "p.py"
    declared = "extern function f(x: u8): u8\ninput relation A(x: u8)\noutput relation B(x: u8)\n"
    program.write_text(declared + "B(f(x)) :- A(x).")
    python.write_text("def f(x):\n    return x + 1")
    with ddlog.compile(program).session() as session:
        session.insert("A", (1,))
        session.commit()
        python.write_text("def f(x):\n    return x + 9")
        session.go_on_with(ddlog.compile(program))
        assert rows(session, "B") == [(10,)]


def test_an_extern_function_is_given_the_weights_of_a_group(tmp_path: Path) -> None:
    program = tmp_path / "p.dl"
    program.write_text("""
        extern function total(g: Group<u8, u8>): s64
        function twice(g: Group<u8, u8>): s64 { 2 * total(g) }
        input relation A(a: u8, b: u8, c: u8)
        output relation B(a: u8, n: s64, m: s64)
        B(a, total(g), g.twice()) :- A(a, b, _), var g = b.group_by(a).
    """)
    program.with_suffix(".py").write_text("def total(g):\n    return sum(n for _, n in g.weighed())")
    with ddlog.compile(program).session() as session:
        session.insert("A", (1, 2, 3), (1, 2, 4), (1, 3, 4))
        session.commit()
        assert rows(session, "B") == [(1, 3, 6)]
        session.delete("A", (1, 2, 3))
        session.commit()
        assert rows(session, "B") == [(1, 2, 4)]


@pytest.mark.parametrize(("kept", "more"), [(thresholds.KEPT_ANSWERS, 0), (0, 5)])
def test_a_load_calls_a_function_once_for_equal_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int, more: int
) -> None:
    """All batches of a join share the values, and so do epochs while they are few."""
    monkeypatch.setattr(thresholds, "KEPT_ANSWERS", kept)
    program, python, log = tmp_path / "p.dl", tmp_path / "p.py", tmp_path / "log"
    declared = (
        "extern function f(x: string): string\ninput relation A(n: u32, x: string)\ninput relation B(n: u32)"
    )
    program.write_text(f"{declared}\noutput relation C(n: u32, y: string)\nC(n, f(x)) :- A(n, x), B(n).")
    python.write_text(f"def f(x):\n    print(x, file=open({str(log)!r}, 'a'))\n    return x + '!'")
    with ddlog.compile(program).session() as session:
        for start, asked in ((0, 5), (40_000, 5 + more)):
            numbers = range(start, start + 40_000)
            session.insert("A", *((n, f"t{n % 5}") for n in numbers))
            session.insert("B", *((n,) for n in numbers))
            changes = session.commit()
            assert Counter(y for (_, y), _ in changes["C"]) == {f"t{k}!": 8_000 for k in range(5)}
            assert len(log.read_text().split()) == asked


def test_values_of_functions_are_not_those_of_values_that_are_gone() -> None:
    """A query's key is computed by the numbers of texts, which other texts have after `tidy`."""
    inputs = "input relation A(x: string)\ninput relation B(n: s64, y: string)\n"
    with ddlog.compile(f"{inputs}output relation C(x: string)\nC(x) :- A(x).").session() as session:
        session.insert("B", *((n, f"ka{n}") for n in range(300)), *((n, f"kb{n}") for n in range(300, 600)))
        for each, number in (("a", 5), ("b", 305)):
            session.insert("A", *((f"{each}{n}",) for n in range(number - 5, number + 295)))
            session.commit()
            found = session.query(f'B({number}, k), A(x), k == "k" ++ x').rows
            assert list(map(tuple, found)) == [(f"k{each}{number}", f"{each}{number}")]
            session.clear("A")
            session.commit()
            session.insert("B", (5000, f"q{each}"))
            session.commit()
            session.tidy()


def test_a_subscriber_hears_of_what_a_rule_adds(session: Session) -> None:
    heard: list[object] = []
    session.subscribe("Path", heard.extend)
    session.extend("Path(0, 0).")
    assert heard == [((0, 0), 1)]


def test_a_relation_goes_with_its_rules(session: Session) -> None:
    session.extend(CYCLE)
    session.drop("Cyclic")
    with pytest.raises(DDlogError, match="there is no relation Cyclic"):
        session["Cyclic"]
    assert "Cyclic" not in session.program.source.text
    session.extend('output relation Cyclic(s: string)\nCyclic("${a}") :- Path(a, a).')
    assert rows(session, "Cyclic") == [("1",), ("2",)]


def test_a_dropped_input_loses_its_rows(session: Session) -> None:
    session.extend("input relation Node(x: u32)")
    session.insert("Node", 1)
    session.commit()
    session.drop("Node")
    session.extend("input relation Node(x: u32)")
    assert not rows(session, "Node")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Path(a, b) :- Lnk(a, b).", "<added>:1:15: Unknown relation `Lnk`"),
        ("\nCyclic(a) :- Path(a, a", "<added>:2:18: this `(` has no closing"),
        ("input relation Path(x: u32)", "<added>:1:16: Multiple definitions of Path\n"),
        ("Path(a / 0, 1) :- Edge(a, _).", "<added>:1:6: division by zero"),
        ("extern function f(x: u32): u32", "f"),
    ],
)
def test_what_cannot_be_added_leaves_all_as_it_was(session: Session, text: str, message: str) -> None:
    before, held = session.program, rows(session, "Path")
    with pytest.raises(DDlogError, match=f"(?s){message.split(chr(10))[0].replace('(', '.')}"):
        session.extend(text)
    assert session.program is before
    session.insert("Edge", (4, 3))
    session.commit()
    assert rows(session, "Path") == sorted([*held, (3, 3), (4, 3), (4, 4)])


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("Path", "Path cannot be dropped: the rule of Ends uses it"),
        ("Edge", "Edge cannot be dropped: the rule of Path uses it"),
        ("twice", "twice cannot be dropped: the rule of Ends uses it"),
        ("Pth", "the program has no declaration of Pth\n  help: did you mean `Path`?"),
        ("Path(a, b) :- Edge(b, a).", "the program has no rule `Path.a, b. :- Edge.b, a..`"),
    ],
)
def test_what_others_use_cannot_be_dropped(session: Session, what: str, message: str) -> None:
    with pytest.raises(DDlogError, match=message):
        session.drop(what)
    assert len(session["Path"]) == 5


def test_a_relation_of_a_rule_with_two_heads_is_not_dropped_alone(session: Session) -> None:
    session.extend("relation A(x: u32) relation B(x: u32)\nA(x), B(x) :- Edge(x, _).")
    with pytest.raises(DDlogError, match="A cannot be dropped: a rule of A is also one of B"):
        session.drop("A")
    session.drop("A(x), B(x) :- Edge(x, _).")
    session.drop("A")


def test_not_within_a_transaction(session: Session) -> None:
    session.insert("Edge", (5, 6))
    with pytest.raises(DDlogError, match="commit or roll back first"):
        session.extend(CYCLE)
    session.rollback()


def test_an_extern_function_that_was_edited_counts_for_all_rows(tmp_path: Path) -> None:
    program, python = tmp_path / "p.dl", tmp_path / "p.py"
    declared = "extern function f(x: u32): u32\ninput relation A(x: u32)\noutput relation B(y: u32)\n"
    program.write_text(f"{declared}B(f(x)) :- A(x).")
    python.write_text("def f(x):\n    return x + 1")
    with ddlog.compile(program).session() as session:
        session.insert("A", 1)
        session.commit()
        python.write_text("def f(x):\n    return x + 2")
        session.extend("function g(x: u32): u32 { x }\noutput relation C(y: u32)\nC(g(f(x))) :- A(x).")
        assert rows(session, "B") == rows(session, "C") == [(3,)]


def test_a_state_is_one_of_the_changed_program(tmp_path: Path) -> None:
    state = tmp_path / "state.ddlog"
    with ddlog.compile(PATHS).session(state=state) as session:
        session.extend(f"{CYCLE}\ninput relation Node(x: u32)\nCyclic(x) :- Node(x).")
        session.insert("Edge", (1, 1))
        session.insert("Node", 5)
        session.commit()
        text = session.program.source.text
    with ddlog.compile(text).session(state=state) as session:
        assert session.resumed
        assert rows(session, "Cyclic") == [(1,), (5,)]
    with pytest.raises(DDlogError, match="there is no input relation Node"):
        ddlog.compile(PATHS).session(state=state)


def test_lines_keep_their_numbers_when_something_is_dropped() -> None:
    text = "relation A(x: u32)\n#[cold]\nfunction f(x: u32): u32 {\n  x\n}\nA(1). A(2)."
    with ddlog.compile(text).session() as session:
        session.drop("f")
        session.drop("A(1).")
        assert session.program.source.text == "relation A(x: u32)\n\n\n\n\n      A(2)."


def test_the_past_of_a_relation_begins_with_what_it_holds(session: Session) -> None:
    session.extend("output relation Before(a: u32, b: u32)\nBefore(a, b) :- Edge-1(a, b).")
    assert not rows(session, "Before")
    session.insert("Edge", (7, 7))
    session.commit()
    assert rows(session, "Before") == [(1, 2), (2, 1), (3, 4)]
    session.extend("Edge(8, 8).")
    session.commit()
    assert rows(session, "Before") == [(1, 2), (2, 1), (3, 4), (7, 7), (8, 8)]


SELECTED = [
    ("SELECT * FROM Path ORDER BY a DESC, b", ("a", "b"), [(3, 4), (2, 1), (2, 2), (1, 1), (1, 2)]),
    ("SELECT b FROM path WHERE a < 3 ORDER BY 1;", ("b",), [(1,), (1,), (2,), (2,)]),
    ("SELECT a, count(*) AS n\nFROM path GROUP BY a ORDER BY n, a LIMIT 2", ("a", "n"), [(3, 1), (1, 2)]),
    ("WITH far AS (SELECT a FROM path WHERE a > 1) SELECT count(*) AS n FROM far", ("n",), [(3,)]),
]


@pytest.mark.parametrize(("text", "columns", "expected"), SELECTED)
def test_select_reads_the_relations(
    session: Session, text: str, columns: tuple[str, ...], expected: list[tuple[int, ...]]
) -> None:
    answer = session.select(text)
    assert answer.columns == columns
    assert list(map(tuple, answer)) == expected


def test_a_wrong_select_is_an_error_with_its_place(session: Session) -> None:
    with pytest.raises(DDlogError, match=r"<query>:2:17: unknown column `q`"):
        session.select("SELECT a\nFROM Path WHERE q > 1")
    with pytest.raises(DDlogError, match=r"<query>:1:15: unknown table `zed`"):
        session.select("SELECT * FROM Zed")


CORPUS = Path(__file__).parents[1] / "programs" / "corpus"


@pytest.mark.parametrize("name", ["recursive_groups", "written_forms", "extremes", "windows", "multisets"])
def test_rules_that_come_later_and_go_again_leave_the_same_as_from_the_start(name: str) -> None:
    path = CORPUS / f"{name}.dl"
    choice, text = random.Random(name), path.read_text()
    tree, _ = parse_program(Source(str(path), text))
    rules = [each for each in tree.declarations if isinstance(each, syntax.RuleDecl) and each.body]
    with ddlog.compile(path).session() as session, ddlog.compile(path).session() as other:
        later = _dropped(session, choice.sample(rules, len(rules)))
        commands = [update_commands(str(path.with_suffix(".dat")), each.program.relations, each.typedefs)
                    for each in (session, other)]  # fmt: skip
        ours, theirs = map(list, commands)
        cut = next(at for at, each in enumerate(ours) if each.word == "commit") + 1
        _run(session, ours[:cut])
        session.extend(later)
        _run(session, ours[cut:])
        _run(other, theirs)
        assert _contents(session) == _contents(other)


def test_sessions_of_one_program_keep_what_they_are_asked_for() -> None:
    """Also if those before them kept less, or more."""
    program = ddlog.compile(
        "input relation A(x: u8) input stream E(x: u8) output relation P(x: u8) output relation Q(x: u8)"
        " P(x) :- A(x). Q(x) :- A(x), E'-1(x)."
    )
    for kept in ("all", "inputs", ["Q"], "outputs", ["P"], "all"):
        with program.session(relations=kept) as session:
            session.insert("E", (1,))
            session.commit()
            session.insert("A", (1,))
            session.commit()
            assert [*map(len, (session.query("P(x)"), session.query("A(x)")))] == [1, 1]
            assert kept in ("inputs", ["P"]) or [row.x for row in session["Q"]] == [1]


def _dropped(session: Session, rules: list[syntax.RuleDecl]) -> str:
    """Drops up to three rules that can go, and gives their text."""
    gone: list[str] = []
    for rule in rules[:3]:
        try:
            session.drop(rule.span.text())
            gone.append(rule.span.text())
        except DDlogError:
            continue
    return "\n".join(gone)


def _run(session: Session, commands: list[Command]) -> None:
    Interpreter(session, lambda line: None, lambda changes, dump: None, []).run(commands)


def _contents(session: Session) -> dict[str, list[str]]:
    relations = session.program.relations.values()
    return {
        each.name: sorted(map(repr, session[each.name].stored))
        for each in relations
        if session.keeps(each.name) and each.kind != "stream" and not each.hidden
    }
