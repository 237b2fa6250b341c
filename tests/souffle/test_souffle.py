"""Soufflé programs, translated and run: what they compute, how they read, and what is said of the rest.

A folder of `souffle/` holds a program, its facts, and for each output relation the rows that it must have, in
the form in which Soufflé writes them; in some, what the program becomes. `souffle/fail/` holds programs that
cannot be translated, and why.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog import syntax
from ddlog.console.cli import main
from ddlog.engine.inprocess import runtime
from ddlog.errors.diagnostics import DDlogError
from ddlog.errors.source import Source
from ddlog.sessions.program import Program, compile_source
from ddlog.sessions.session import Session
from ddlog.souffle.files.resulttexts import float_text
from ddlog.souffle.names import capital
from ddlog.souffle.translate import Translation, translate
from ddlog.syntax.parser import parse_program

from ..engine.reference_runtime import ReferenceRuntime
from ..trying import trying

HERE = Path(__file__).parent
FOLDERS = sorted(path.parent for path in HERE.glob("*/program.dl"))
GOLDEN = [folder for folder in FOLDERS if (folder / "translated.dl").exists()]
FAIL = sorted((HERE / "fail").glob("*.dl"))


def translated(text: str, word: int = 32, name: str = "program.dl") -> Translation:
    return translate(Source(name, text), word)


def in_folder(folder: Path) -> Translation:
    path = folder / "program.dl"
    return translated(path.read_text(encoding="utf-8"), name=str(path))


def compiled(folder: Path) -> tuple[Program, dict[str, Path]]:
    """The translated program, and the files of its facts, which the notes or the relations name."""
    done = in_folder(folder)
    program = ddlog.compile(done.text)
    named = dict(re.findall(r"`--input (\w+)=([\w./]+)`", "\n".join(done.remarks)))
    return program, {name: folder / named.get(name, f"{name}.facts") for name in program.names("input")}


def printed(value: object) -> str:
    """A value as Soufflé writes it."""
    return float_text(value, 32) if isinstance(value, float) else str(value)


def rows(session: Session, relation: str) -> list[str]:
    """The rows of a relation of the Soufflé program; `()` is the row without columns."""
    return sorted("\t".join(map(printed, row)) or "()" for row in session[capital(relation)])


def check_outputs(folder: Path) -> None:
    """Loads the facts of a program and compares its outputs."""
    program, facts = compiled(folder)
    wanted = {file.stem: file for file in folder.glob("*.csv") if file not in facts.values()}
    assert {capital(name) for name in wanted} == set(program.names("output"))
    with program.session() as session:
        session.load([f"{name}={file}" for name, file in facts.items()])
        outputs = {name: rows(session, name) for name in wanted}
    assert outputs == {name: sorted(file.read_text().splitlines()) for name, file in wanted.items()}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_outputs(folder: Path) -> None:
    check_outputs(folder)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_evaluation_from_scratch_agrees(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with the reference evaluation in place of the engine."""
    monkeypatch.setattr(runtime, "InProcess", lambda circuit, *_, **__: ReferenceRuntime(circuit))
    check_outputs(folder)


@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_translations(folder: Path) -> None:
    text = (folder / "program.dl").read_text(encoding="utf-8")
    assert translated(text).text == (folder / "translated.dl").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_text_says_what_the_tree_says(folder: Path) -> None:
    done = in_folder(folder)
    parsed, wrong = parse_program(Source("translated.dl", done.text))
    assert not wrong
    assert parsed.declarations == done.module.declarations


@pytest.mark.parametrize("path", FAIL, ids=lambda path: path.stem)
def test_messages(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program in fail/ gives exactly the text beside it."""
    monkeypatch.chdir(path.parent)
    with pytest.raises(DDlogError) as raised:
        translated(path.read_text(encoding="utf-8"), name=path.name)
    assert str(raised.value) + "\n" == path.with_suffix(".err").read_text(encoding="utf-8")


def test_notes() -> None:
    """What is not said, or said elsewhere, with its place; the same at the top of the program."""
    done = translated((HERE / "notes.dl").read_text(), name="notes.dl")
    assert list(done.remarks) == [
        "names of relations begin with a capital letter: r is R, s is S, t is T, u is U, v is V",
        "types and branches with other names: point is Point2",
        "notes.dl:5: `brie` of r has no meaning here and is left out",
        "notes.dl:6: the facts of R are given by `--input R=data/r.txt`",
        "notes.dl:6: the facts of R must have tabs or commas, not '|'",
        "notes.dl:6: headers=true of the input R is left out",
        'notes.dl:6: records in the facts of R are read as `[1, "a"]`, with quotes and with `null` for nil, '
        'branches as `Name{1, "a"}`',
        "notes.dl:8: the facts of S are given by `--input S=s.csv`",
        "notes.dl:8: the facts of S have tabs: the name of their file must end in .facts",
        "notes.dl:10: T is read from a file, not by IO=sqlite",
        "notes.dl:12: the facts of U are given by `--input U=u.facts`",
        "notes.dl:12: the facts of U have commas: the name of their file must end in .csv",
        "notes.dl:13: `inline` of v has no meaning here and is left out",
        "notes.dl:14: `--output DIR --format csv` writes V to DIR/V.csv; left out: filename=v.tsv",
        "notes.dl:15: the size of V is printed by `--sizes --relation V`",
        'notes.dl:1: .pragma "legacy" has no meaning here and is left out',
        "notes.dl:18: .debug_delta has no meaning here and is left out",
        "notes.dl:2: the functor @f is not used, and left out",
        "notes.dl:17: the plan is left out: joins are ordered at run time",
    ]
    heading = re.sub(r"\n//  +", " ", done.text.partition("\n\n")[0])
    assert heading.splitlines()[3:] == [f"// - {remark}" for remark in done.remarks]


def test_notes_on_arbitrary_results() -> None:
    """Each kind of number or row that Soufflé leaves open is noted, at its first place."""
    text = """
    .functor f(x: number): number stateful
    .decl r(n: number, x: symbol) choice-domain x
    r($, x) :- s(x).
    r(autoinc(), x) :- r(_, x), s(x).
    .decl s(x: symbol)
    s("a").
    .decl t(n: number)
    .output t
    t(@f(ord(x))) :- r(_, x).
    .decl u(x: number, y: number)
    u(x, y) <= u(x, z) :- y < z.
    u(x, y + 1) :- v(x, y).
    .decl v(x: number, y: number)
    v(x, y) :- u(x, y), y < 9.
    .decl w(x: number)
    .limitsize w(n=3)
    """
    wanted = [
        "p.dl:2: @f may be called once for several equal calls",
        "p.dl:3: which rows R keeps is arbitrary: here the least, column by column",
        "p.dl:4: the numbers of counters are arbitrary: rows are numbered in their order",
        "p.dl:5: the number of a counter in a recursion is a hash, and rarely that of another row, too",
        "p.dl:10: the number of a text is arbitrary, and rarely that of another one, too",
        "p.dl:11: U is in a recursion: each round keeps the rows that none so far subsumes",
    ]
    done = translated(text, name="p.dl")
    assert not set(wanted) - set(done.caveats)
    assert "p.dl:17: the limit of W is left out: only recursions end early by it" in done.remarks


def outputs(text: str, relation: str, word: int = 32) -> list[tuple[object, ...]]:
    """The rows of a relation of a program without inputs."""
    with ddlog.compile(translated(text, word).text).session() as session:
        return sorted(tuple(row) for row in session[relation])


def test_word_size() -> None:
    text = """
    .decl Out(what: symbol, x: number, y: unsigned, z: float)
    .output Out
    Out("wrap", x + 1, y + 1, 0.1) :- x = {greatest}, y = as(-1, unsigned).
    Out("functions", strlen("abc") + (2 ^ 3), 1u bshl 35, 1.0) :- 7 = count : {{ Seven(_) }}.
    Out("shift", -1 bshr 2, itou(-1 bshru 2), itof(3)).
    .decl Seven(x: number)
    Seven(range(0, 7)).
    """
    for word, tenth in ((32, 0.10000000149011612), (64, 0.1)):
        top = 1 << (word - 1)
        assert outputs(text.format(greatest=top - 1), "Out", word) == [
            ("functions", 11, 8 if word == 32 else 1 << 35, 1.0),
            ("shift", -1, (1 << (word - 2)) - 1, 3.0),
            ("wrap", -top, 0, tenth),
        ]


def test_a_text_that_is_no_number_stops_the_program() -> None:
    text = ".decl r(x: symbol)\n.input r\n.decl q(n: number)\n.output q\nq(to_number(x)) :- r(x)."
    with ddlog.compile(translated(text).text).session() as session:
        session.insert("R", ("12",))
        session.commit()
        assert [row[0] for row in session["Q"]] == [12]
        for wrong in ("twelve", "99999999999", ""):
            session.insert("R", (wrong,))
            with pytest.raises(DDlogError, match=f'"{wrong}" is no number of 32 bits'):
                session.commit()
            session.rollback()


def transactions(seed: int) -> Iterator[tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
    """Random insertions and deletions of edges."""
    random_ = random.Random(seed)
    for _ in range(6):
        some = [(random_.randrange(5), random_.randrange(5)) for _ in range(5)]
        yield some[:3], some[3:]


GRAPH = """
.decl Node(x: number)
.input Node
.decl Edge(x: number, y: number)
.input Edge
.decl Path(x: number, y: number)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
.decl Out(x: number, degree: number, total: number, reached: number, later: number)
.output Out
Out(x, d, t, count : { Path(x, _) }, l) :-
    Node(x), d = count : { Edge(x, _) ; false }, t = sum y * w : { Edge(x, y), Edge(y, w) },
    l = count : { Node(y), y > x, !Path(x, y) }.
.decl Least(x: number, least: number)
.output Least
Least(x, m) :- Node(x), m = min n : { Path(x, y), n = count : { Edge(y, _) } }.
"""


def expected(edges: set[tuple[int, int]]) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """The relations of GRAPH in plain Python."""
    path = set(edges)
    while True:
        more = path | {(x, w) for (x, y), (z, w) in product(path, edges) if y == z}
        if more == path:
            break
        path = more
    degree = Counter(x for x, _ in edges)
    reached = Counter(x for x, _ in path)
    out: list[tuple[int, ...]] = []
    least: list[tuple[int, ...]] = []
    for x in range(5):
        total = sum(y * w for a, y in edges if a == x for b, w in edges if b == y)
        later = sum((x, y) not in path for y in range(x + 1, 5))
        out.append((x, degree[x], total, reached[x], later))
        if reached[x]:
            least.append((x, min(degree[y] for a, y in path if a == x)))
    return out, least


@pytest.mark.parametrize("seed", range(5))
def test_aggregates_are_kept_up_to_date(seed: int) -> None:
    """Counts and sums fall to 0 and rise again as their rows go and come."""
    edges: set[tuple[int, int]] = set()
    with ddlog.compile(translated(GRAPH).text).session() as session:
        session.insert("Node", *((x,) for x in range(5)))
        for inserted, deleted in transactions(seed):
            session.insert("Edge", *inserted)
            session.delete("Edge", *deleted)
            session.commit()
            edges = (edges | set(inserted)) - set(deleted)
            found = tuple(sorted(map(tuple, session[name])) for name in ("Out", "Least"))
            assert found == expected(edges)


def test_a_variable_may_be_compared_with_an_aggregate_that_depends_on_it() -> None:
    text = """
    .decl gen(x: number)
    gen(0). gen(3). gen(6).
    .decl f(x: number, i: number)
    f(3, 1). f(3, 2). f(0, 5).
    .decl p(x: number)
    .output p
    p(x) :- gen(x), x = sum i : f(x, i).
    """
    assert outputs(text, "P") == [(3,)]


def test_a_type_a_relation_and_an_instance_may_share_a_name() -> None:
    text = """
    .type node = number
    .comp C {
        .decl node(x: node)
        node(1).
        .comp D { .decl r(x: node) }
        .init node = D
        node.r(x + 1) :- node(x).
    }
    .init S = C
    .output S.node.r
    """
    assert outputs(text, "S_node_r") == [(2,)]


def test_a_head_of_an_unknown_relation_is_an_error() -> None:
    text = ".decl a(x: number)\na(1).\nb(x) :- a(x).\n.output a\n"
    with pytest.raises(DDlogError, match=r"p\.dl:3:1: unknown relation `b`"):
        translated(text, name="p.dl")


def test_inline_relations_are_not_stored() -> None:
    """The pairs of numbers would be a million rows. A recursion, a negation and an aggregate need rows."""
    text = """
    .decl number(x: number)
    number(range(0, 1000)).
    .decl pair(x: number, y: number) inline
    pair(x, y) :- number(x), number(y).
    .decl near(x: number, y: number) inline
    near(x, y) :- pair(x, y), y = x + 1.
    near(x, y) :- pair(x, y), y = x + 2.
    .decl found(x: number, y: number)
    .output found
    found(x, y) :- near(x, y), near(y, 6).
    .decl path(x: number, y: number) inline
    path(x, y) :- near(x, y), y < 4.
    path(x, z) :- path(x, y), path(y, z).
    .decl small(x: number) inline
    small(x) :- number(x), x < 3.
    .decl rest(n: number)
    .output rest
    rest(n) :- n = count : { path(_, _) }.
    rest(x) :- number(x), x > 996, !small(x).
    """
    done = translated(text)
    declared = {each.name for each in done.module.declarations if isinstance(each, syntax.RelationDecl)}
    assert {"Path", "Small"} <= declared and not {"Pair", "Near"} & declared
    assert outputs(text, "Found") == [(2, 4), (3, 4), (3, 5), (4, 5)]
    assert outputs(text, "Rest") == [(6,), (997,), (998,), (999,)]


def test_variables_of_inline_relations_are_their_own() -> None:
    text = """
    .decl point(x: number)
    point(range(0, 5)).
    .decl beyond(x: number, y: number) inline
    beyond(x, y) :- point(z), x < z, z < y.
    .decl twice(x: number, y: number) inline
    twice(x, x).
    .decl found(x: number, z: number)
    .output found
    found(x, z) :- point(x), point(z), beyond(x, z), twice(z + 1, x + 3).
    """
    assert outputs(text, "Found") == [(0, 2), (1, 3), (2, 4)]


def helpers(seed: int) -> str:
    """A program of relations that are defined by others before them; `%s` stands after their declarations."""
    random_ = random.Random(seed)
    known, lines = ["a"], [".decl a(x: number, y: number)"]
    lines += [f"a({random_.randrange(5)}, {random_.randrange(5)})." for _ in range(8)]

    def term() -> str:
        args = (random_.choice(["x", "y", "z", "_", "2", "x + 1"]) for _ in range(2))
        return f"{random_.choice(known)}({', '.join(args)})"

    for name in ("p", "q", "r", "s"):
        lines.append(f".decl {name}(x: number, y: number){' %s' if name != 's' else ''}")
        for _ in range(random_.randrange(1, 3)):
            head = random_.choice([f"{name}(x, y)", f"{name}(x, x)", f"{name}(y, 3)"])
            tests = ["x != y", f"!a(x, {random_.randrange(5)})", "!p(x, y)"]
            test = "x != 4" if name == "p" else random_.choice(tests)
            lines.append(f"{head} :- a(x, y), {term()}, {term()}, {test}.")
        known.append(name)
    return "\n".join([*lines, ".output s"])


@pytest.mark.parametrize("seed", range(12))
def test_inline_relations_change_no_result(seed: int) -> None:
    text = helpers(seed)
    assert outputs(text % (("inline",) * 3), "S") == outputs(text % (("",) * 3), "S")


def test_errors_of_inline_relations_are_told_once_and_whether_they_are_used_or_not() -> None:
    text = """
    .decl number(x: number)
    number(1).
    .decl wrong(x: number) inline
    wrong(x) :- number(x), x = "a".
    .decl used(x: number)
    used(x) :- wrong(x), wrong(x).
    """
    with pytest.raises(DDlogError) as raised:
        translated(text, name="p.dl")
    assert [str(each.span) for each in raised.value.diagnostics] == ["p.dl:5:28"]


def test_a_recursion_with_one_choice_domain_chooses_key_by_key() -> None:
    text = """
    .decl edge(x: number, y: number)
    edge(0, 2). edge(0, 1). edge(1, 2). edge(2, 3). edge(1, 3). edge(3, 0).
    .decl tree(y: number, x: number) choice-domain y
    .output tree
    tree(0, 0).
    tree(y, x) :- tree(x, _), edge(x, y).
    """
    assert "group_by(y).min()" in translated(text).text
    assert outputs(text, "Tree") == [(0, 0), (1, 0), (2, 0), (3, 1)]


CHOICES = """
.decl edge(x: number, y: number)
.input edge
.decl pair(x: number, y: number) choice-domain x, y
.output pair
pair(x, y), seen(y) :- edge(x, y), x < 2.
pair(x, y) :- near(x), edge(x, y).
.decl near(x: number)
near(y) :- pair(_, y).
near(y) :- near(x), edge(x, y), y < 3.
.decl seen(x: number)
.output seen
seen(x) :- near(x), !edge(x, x).
"""


@cache
def choices() -> list[Program]:
    """The program above from its tree and from its text."""
    done = translated(CHOICES)
    return [compile_source(done.source, tree=done.module), ddlog.compile(done.text)]


Edges = set[tuple[int, int]]


def chosen_of(program: Program, contents: Sequence[Edges]) -> tuple[Edges, list[object]]:
    """The pairs and what was seen, after commits that bring the edges to each of these contents."""
    with program.session() as session:
        for before, edges in pairwise([set(), *contents]):
            session.delete("Edge", *(before - edges))
            session.insert("Edge", *(edges - before))
            session.commit()
        return {(row.x, row.y) for row in session["Pair"]}, [row.x for row in session["Seen"]]


@trying(6)
@given(st.lists(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4))), min_size=1, max_size=4))
def test_choices_in_a_recursion_are_legal_whatever_was_there_before(contents: list[Edges]) -> None:
    """Kept rows are offered and agree in no domain, and every other row that is offered agrees with one."""
    edges = contents[-1]
    pairs, seen = chosen_of(choices()[0], contents)
    near = {y for _, y in pairs}
    while more := {y for x, y in edges if x in near and y < 3} - near:
        near |= more
    offered = {(x, y) for x, y in edges if x < 2 or x in near}
    lefts, rights = {x for x, _ in pairs}, {y for _, y in pairs}
    assert pairs <= offered and len(lefts) == len(rights) == len(pairs)
    assert all(x in lefts or y in rights for x, y in offered)
    for program in choices():
        assert chosen_of(program, [edges]) == (pairs, seen)


def test_annotations_are_left_out() -> None:
    """They may hold any tokens, and brackets of each kind in pairs."""
    text = """
    @[about(r(")]", {1}).)]
    .decl r(@[first] x: number) // of [
    .output r
    @[a] @[b = [c], @[d]] @[/* ] */ e]
    r(x) :- @![inner "]"] x = 1.
    """
    assert outputs(text, "R") == [(1,)]


def test_an_unknown_qualifier_is_named() -> None:
    with pytest.raises(DDlogError) as raised:
        translated(".decl p(x: number) btre\n.decl q(x: number) eqrel ordered\nq(1).")
    assert re.findall(r"error: .*|help: .*", str(raised.value)) == [
        "error: program.dl:1:20: unknown qualifier `btre`",
        "help: did you mean `btree`?",
        "error: program.dl:2:26: unknown qualifier `ordered`",
    ]


def test_texts_are_added() -> None:
    text = """
    .decl part(s: symbol)
    part("a"). part("b").
    .decl out(s: symbol)
    .output out
    out(x + "-" + y) :- part(x), part(y), x != y.
    """
    assert outputs(text, "Out") == [("a-b",), ("b-a",)]


def test_names_do_not_collide() -> None:
    """Variables, columns, relations, types and branches that differ only in what cannot be kept."""
    text = """
    .type node = number
    .type Node = symbol
    .type T = node {} | Node {x: number}
    .decl edge(match_: node, Match: Node, X: T)
    .output edge
    .decl Edge(x: number, X: number, ?x: number)
    .output Edge
    Edge(x, X, ?x) :- x = 1, X = 2, ?x = 3.
    edge(for, var, $node) :- for = 1, var = "a".
    edge(for, In, $Node(x)) :- Edge(x, for, _), In = "in".
    """
    program = ddlog.compile(translated(text).text)
    assert program.warnings == ()
    with program.session() as session:
        assert [tuple(row) for row in session["Edge"]] == [(1, 2, 3)]
        assert sorted(str(row[1]) for row in session["Edge2"]) == ["a", "in"]


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command writes the program to a file or to standard output, and the notes to standard error."""
    source = tmp_path / "p.dl"
    source.write_text(".decl r(x: number)\nr(1).\n.output r\n")
    assert main(["import-souffle", str(source)]) == 0
    shown = capsys.readouterr()
    assert shown.err == "note: names of relations begin with a capital letter: r is R\n"
    assert shown.out.endswith("output relation R(x: signed<32>)\n\nR(1).\n")
    assert main(["import-souffle", str(source), "-o", str(tmp_path / "out.dl"), "--word", "64"]) == 0
    assert "x: signed<64>" in (tmp_path / "out.dl").read_text()
    capsys.readouterr()
    assert main(["run", str(tmp_path / "out.dl"), "--quiet"]) == 0
    assert capsys.readouterr().out == "R:\nR{.x = 1}\n\n"


def test_command_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "p.dl"
    source.write_text("r(1).\n")
    assert main(["import-souffle", str(source), "-o", str(source)]) == 1
    assert "is the program itself" in capsys.readouterr().err
    assert main(["import-souffle", str(source)]) == 1
    assert f"error: {source}:1:1: unknown relation `r`\n    r(1).\n    ^^^^\n" == capsys.readouterr().err
    assert main(["import-souffle", str(tmp_path / "none.dl")]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert main(["import-souffle", str(source), "-o", str(tmp_path / "no" / "out.dl")]) == 1


def test_functors_are_python_functions(tmp_path: Path) -> None:
    """A functor of the program is an extern function, which a module beside the program defines."""
    text = """
    .functor Twice(x: number): number
    .functor glue(symbol, symbol): symbol
    .functor unused(): number
    .decl r(x: number, s: symbol)
    .output r
    r(@Twice(x) + 1, @glue("a", "b")) :- x = 3.
    """
    done = translated(text, name="p.dl")
    assert done.remarks[1:] == (
        "p.dl:2: @Twice is the function twice of a Python module that has the name of the program",
        "p.dl:3: @glue is the function glue of a Python module that has the name of the program",
        "p.dl:4: the functor @unused is not used, and left out",
    )
    (tmp_path / "p.dl").write_text(done.text)
    (tmp_path / "p.py").write_text("def twice(x):\n    return 2 * x\n\ndef glue(a, b):\n    return a + b\n")
    with ddlog.compile(tmp_path / "p.dl").session() as session:
        assert [tuple(row) for row in session["R"]] == [(7, "ab")]


def test_records_in_facts_may_be_nil(tmp_path: Path) -> None:
    text = """
    .type Point = [x: number, name: symbol]
    .type Segment = [a: Point, b: Point]
    .decl r(s: Segment)
    .input r
    .decl ends(x: number)
    .output ends
    ends(x) :- r([_, [x, "end"]]).
    """
    (tmp_path / "r.facts").write_text('null\n[[1, "a"], [2, "end"]]\n[null, [3, "end"]]\n[[4, "a"], null]\n')
    with ddlog.compile(translated(text).text).session() as session:
        session.load([f"R={tmp_path / 'r.facts'}"])
        assert sorted(row[0] for row in session["Ends"]) == [2, 3]
