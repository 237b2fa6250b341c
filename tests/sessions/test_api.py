"""The Python interface on whole programs."""

from __future__ import annotations

from pathlib import Path

import pytest

import ddlog
from ddlog.sessions.hosts import inprocess
from ddlog.sessions.hosts.inprocess import InProcessHost

PATHS = """
input relation Edge(a: bigint, b: bigint)
output relation Path(a: bigint, b: bigint)
relation Loop(a: bigint)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Loop(a) :- Path(a, a).
"""
HOSTS = """
typedef Kind = Server | Client{owner: string}
typedef Spot = Spot{x: signed<16>, y: signed<16>}
input relation Host(id: bit<16>, kind: Kind, at: Spot, tags: Set<string>, note: Option<string>)
    primary key (h) (h.id, h.at.x)
input relation Raw[Kind]
output relation Owned(owner: string, ids: Vec<bit<16>>)
output relation Kinds[Kind]
Owned(o, g.to_vec()) :- Host(.id = i, .kind = Client{o}), var g = i.group_by(o).
Kinds[k] :- Raw[k].
"""


def test_the_first_lines_of_the_documentation() -> None:
    program = ddlog.compile(PATHS)
    with program.session() as session:
        session.insert("Edge", (1, 2), (2, 3))
        changes = session.commit()
        assert [tuple(row) for row, _ in changes["Path"]] == [(1, 2), (1, 3), (2, 3)]
        assert session.query("Path(1, x)").rows == [(2,), (3,)]
        assert session.query("Path(x, y), y > x + 1").columns == ("x", "y")
        assert not session.query("Loop(_)") and session.query("not Loop(1)")
        session.insert("Edge", (3, 1))
        session.commit()
        assert [row.a for row in session["Loop"]] == [1, 2, 3]
        assert session.query("Loop(x), var g = x.group_by(()), var n = g.count()").rows[0][-1] == 3


def test_changes_of_outputs_that_did_not_change_are_empty() -> None:
    program = ddlog.compile(PATHS + "output relation Big(a: bigint)\nBig(a) :- Edge(a, _), a > 9.\n")
    with program.session() as session:
        session.insert("Edge", (1, 2))
        changes = session.commit()
        assert changes["Big"] == [] and changes.rows("Big") == [] and changes.get("Big", None) == []
        assert list(changes) == ["Path"] and "Path" in changes
        assert "Big" not in changes and "Pth" not in changes and "Loop" not in changes and 1 not in changes
        for name, message in (
            ("Pth", "there is no relation Pth"),
            ("Loop", "Loop is not an output relation"),
        ):
            with pytest.raises(ddlog.DDlogError, match=message):
                changes[name]
        with pytest.raises(ddlog.DDlogError, match="did you mean `Path`"):
            changes.rows("Pth")


def test_circuits_of_explanations_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inprocess, "MOST_LOWERED", 20)
    with ddlog.compile(PATHS).session() as session:
        session.insert("Edge", *((i, i + 1) for i in range(12)))
        session.commit()
        host = session.state.host
        assert isinstance(host, InProcessHost)
        for i in range(9):
            session.why("Path", (i, i + 3))
            session.why_not("Path", (i + 3, i))
        assert len(host._lowered) <= 20


def test_a_file_is_compiled_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PATHS)
    assert set(ddlog.compile(tmp_path / "p.dl").relations) == {"Edge", "Path", "Loop"}
    assert ddlog.compile(str(tmp_path / "p.dl")).names("output") == ["Path"]
    with pytest.raises(ddlog.DDlogError, match="cannot be read"):
        ddlog.compile(tmp_path / "none.dl")
    (tmp_path / "bytes.dl").write_bytes(b"// \xff\n")
    with pytest.raises(ddlog.DDlogError, match="offset 3 is not UTF-8"):
        ddlog.compile(tmp_path / "bytes.dl")
    (tmp_path / "returns.dl").write_bytes(b"// lines of an old Macintosh\rinput relation R(x: u8)\r")
    assert set(ddlog.compile(tmp_path / "returns.dl").relations) == {"R"}


def test_values_of_many_levels_are_written() -> None:
    nested = """
        typedef Tree = Leaf | Node{left: Ref<Tree>, right: Ref<Tree>}
        function tree(n: u32): Ref<Tree> {
            if (n == 0) ref_new(Leaf) else ref_new(Node{ref_new(Leaf), tree(n - 1)})
        }
        input relation N(n: u32)
        output relation T(n: u32, tree: Ref<Tree>)
        T(n, tree(n)) :- N(n)."""
    with ddlog.compile(nested).session() as session:
        session.insert("N", (900,))
        text = str(session.commit())
        assert text.count("Leaf{}") == 901
        assert f"T:\n{next(session['T'].records())}: +1" == text
        assert session["T"].to_arrow().num_rows == 1
        assert str(session.why("T(n, t)")).count("Leaf") == 901


def test_all_errors_of_a_program_come_at_once() -> None:
    with pytest.raises(ddlog.DDlogError) as caught:
        ddlog.compile("input relation A(x: bool)\noutput relation B(x: bool)\nB(y) :- A(x).\nB(x) :- C(x).\n")
    assert {d.span.line for d in caught.value.diagnostics if d.span} >= {3, 4}


def test_warnings_stay_with_the_program() -> None:
    program = ddlog.compile("input relation A(x: bool)\noutput relation B(x: bool)\nB(true) :- A(x).\n")
    assert [d.severity for d in program.warnings] == ["warning"]


def test_wide_integers_leave_as_what_holds_them() -> None:
    with ddlog.compile(PATHS).session() as session:
        session.insert("Edge", (1, 2**70), (-1, 3))
        session.commit()
        view = session["Edge"]
        assert [int(b) for b in view.to_arrow().to_pydict()["b"]] == [3, 2**70]
        frame = view.to_pandas()
        assert str(frame["a"].dtype) == "int64" and [int(b) for b in frame["b"]] == [3, 2**70]
        assert view.to_polars()["a"].to_list() == [-1, 1]


def test_bad_queries_are_errors() -> None:
    with ddlog.compile(PATHS).session() as session:
        for text in ("Pth(x, y)", "Path(x", "Path(x, y), y == true", "", "y"):
            with pytest.raises(ddlog.DDlogError):
                session.query(text)
        with pytest.raises(ddlog.DDlogError, match="division by zero"):
            session.query("1 / 0")


def test_columns_of_a_query_are_named_like_its_variables() -> None:
    with ddlog.compile(PATHS).session() as session:
        assert session.query("var x = [1].map(|x| x + 1), var y = x.len()").columns == ("x", "y")


def test_a_query_may_negate_patterns() -> None:
    types = "typedef U = A{n: u32} | B\n"
    text = (
        types
        + "input relation R(x: u32, u: Ref<U>)\noutput relation O(x: u32)\nO(x) :- R(x, _), not R(_, &A{x})."
    )
    with ddlog.compile(text).session() as session:
        for x, union in ((1, "A{2}"), (2, "B"), (3, "A{3}")):
            session.insert("R", (x, session.query(f"var u = ref_new({union})").rows[0][0]))
        session.commit()
        assert [row.x for row in session["O"]] == [1]
        assert session.query("R(x, _), not R(_, &A{x})").rows == [(1,)]
        assert session.query("R(x, _), not R(x, &A), not R(x, &A{x + 1})").rows == [(2,)]
        assert session.query("R(x, _), not R(x, &A{x + 1}), not R(x, &B)").rows == [(3,)]
        assert not session.query("not R(_, &A)") and session.query("not R(3, &B)")


def test_a_union_is_given_as_in_json() -> None:
    text = "typedef U = A{n: u32, s: string} | B{k: bool} | C\ninput relation R(u: U)\n"
    with ddlog.compile(text).session(relations="all") as session:
        session.insert("R", ({"A": {"n": 1, "s": "x"}},), ({"A": (2, "y")},), ({"B": {"k": True}},), ("C",))
        session.commit()
        texts = ['A{.n = 1, .s = "x"}', 'A{.n = 2, .s = "y"}', "B{.k = true}", "C{}"]
        assert list(session["R"].records()) == [f"R{{.u = {each}}}" for each in texts]
        for wrong in ({"D": {}}, {"A": {"n": 1}}, {"A": 1}, {"A": (1, "x"), "B": (True,)}, {"B": {"k": 2}}):
            with pytest.raises(ddlog.DDlogError):
                session.insert("R", (wrong,))


def test_structured_values_and_keys() -> None:
    with ddlog.compile(HOSTS).session() as session:
        session.insert("Host", {"id": 1, "kind": "Server", "at": (3, 4), "tags": {"b", "a"}, "note": None})
        session.upsert("Host", (2, "Server", {"x": 1, "y": 2}, [], "hello"))
        session.commit()
        first, second = session["Host"]
        assert (first.at.x, tuple(first.tags), second.note) == (3, ("a", "b"), "hello")
        with pytest.raises(ddlog.DDlogError, match=r"already has a row with the key \(1, 3\)"):
            session.insert("Host", first)
        client = session.query('var k = Client{"ann"}').rows[0][0]
        session.modify("Host", (1, 3), {"kind": client})
        session.insert("Raw", client, "Server")
        changes = session.commit()
        assert changes["Owned"] == [(("ann", (1,)), 1)]
        assert [kind.owner for kind, _ in changes["Kinds"] if hasattr(kind, "owner")] == ["ann"]
        assert list(session["Kinds"].records()) == ["Server{}", 'Client{.owner = "ann"}']
        table = session["Host"].to_arrow().to_pydict()
        assert table["at"] == [{"x": 3, "y": 4}, {"x": 1, "y": 2}] and table["note"] == [None, "hello"]
        assert table["kind"] == ['{"Client": {"owner": "ann"}}', "Server"] and table["tags"] == [
            ["a", "b"],
            [],
        ]
        with pytest.raises(ddlog.DDlogError, match=r"Host\.id: 70000 is out of the range"):
            session.insert("Host", (70000, "Server", (0, 0), [], None))


def test_errors_leave_the_last_commit() -> None:
    program = ddlog.compile(
        "input relation N(x: bigint)\noutput relation D(x: bigint)\noutput relation M(x: bigint)\n"
        "D(100 / x) :- N(x).\nM(x) :- N(x), x > 0.\nM(x + 1) :- M(x), x < 1000000, x > 6.\n"
    )
    with program.session(max_iterations=30) as session:
        session.insert("N", 5)
        session.commit()
        for bad, message in ((0, "division by zero"), (7, "no fixpoint after 30 iterations of M")):
            session.insert("N", bad, 4)
            with pytest.raises(ddlog.DDlogError, match=message):
                session.commit()
            assert not session.in_transaction
            assert [row.x for row in session["N"]] == [5] and [row.x for row in session["D"]] == [20]
        session.insert("N", 4)
        assert str(session.commit()) == "D:\nD{.x = 25}: +1\nM:\nM{.x = 4}: +1"


LONGEST = """input relation Edge(x: u32, y: u32)
output relation Long(x: u32, d: bigint)
Long(x, 0) :- Edge(x, _).
Long(y, m + 1) :- Long(x, d), Edge(x, y), var m = d.group_by(y).max().
"""
PARITY = """input relation Member(name: string, odd: bool)
output relation Here(name: string)
relation Count(n: u64)
Here(name) :- Member(name, true), Count(n), n % 2 == 1.
Here(name) :- Member(name, false).
Count(name.group_by(()).count()) :- Here(name).
"""


def test_a_recursion_that_takes_too_many_rounds_names_rows() -> None:
    with ddlog.compile(LONGEST).session(max_iterations=20) as session:
        session.insert("Edge", (1, 2), (2, 3))
        session.commit()
        before = list(session["Long"])
        session.insert("Edge", (3, 1))
        with pytest.raises(ddlog.DDlogError) as raised:
            session.commit()
        assert str(raised.value) == (
            "error: no fixpoint after 20 iterations of Long\n"
            "  note: still changing: Long{.x = 1, .d = 19} goes\n"
            "  note: still changing: Long{.x = 1, .d = 20} comes\n"
            "  note: still changing: Long{.x = 2, .d = 19} goes\n"
            "  help: the session is at its last commit; if the recursion is finite, set a higher limit"
        )
        assert list(session["Long"]) == before and len(session["Edge"]) == 2
        session.delete("Edge", (1, 2))
        assert [row.x for row in session.commit()["Long"][0][:1]] == [1]


def test_a_recursion_that_repeats_itself_names_rows() -> None:
    with ddlog.compile(PARITY).session() as session:
        session.insert("Member", ("a", False), ("b", False), ("c", True))
        assert session.commit().rows("Here") == [(("a",), 1), (("b",), 1)]
        session.delete("Member", ("b", False))
        with pytest.raises(ddlog.DDlogError) as raised:
            session.commit()
        assert str(raised.value) == (
            "error: the recursion of Here, Count never settles: it is in the same state again after every 4 "
            "rounds\n"
            '  note: still changing: Here{.name = "c"} comes and goes\n'
            "  note: still changing: Count{.n = 1} comes and goes\n"
            "  note: still changing: Count{.n = 2} comes and goes\n"
            "  help: the session is at its last commit; these rows must not depend on their own absence, "
            "by `group_by` or by negation"
        )
        assert [row.name for row in session["Here"]] == ["a", "b"]


def test_only_what_is_wanted_is_kept() -> None:
    program = ddlog.compile(PATHS)
    with program.session(relations="outputs") as session:
        session.insert("Edge", (1, 1))
        assert session.commit()
        with pytest.raises(ddlog.DDlogError, match="Loop is not kept"):
            session["Loop"]
        assert session.query("Loop(x)").rows == [(1,)]


def test_a_row_set_outlives_the_next_commit() -> None:
    with ddlog.compile(PATHS).session() as session:
        session.insert("Edge", (1, 2))
        session.commit()
        before, result = session["Path"], session.query("Path(x, y)")
        session.insert("Edge", (2, 3))
        changes = session.commit()
        session.clear("Edge")
        session.commit()
        assert [tuple(row) for row in before] == [(1, 2)] and result.rows == [(1, 2)]
        assert len(changes["Path"]) == 2


def test_misuse_is_refused() -> None:
    program = ddlog.compile(PATHS)
    for refused, message in (
        (lambda: program.session(relations=["Pth"]), "there is no relation Pth"),
        (lambda: program.circuit(outputs=["Pth"]), "there is no relation Pth"),
        (lambda: program.session(engine="sparky"), "there is no engine `sparky`"),
        (lambda: program.session(max_iterations=0), "max_iterations 0: expected a positive integer"),
        (lambda: program.circuit("best"), "stage 'best': expected relational, incremental or workers"),
    ):
        with pytest.raises(ddlog.DDlogError, match=message):
            refused()
    session = program.session()
    with pytest.raises(TypeError, match="cannot be called"):
        session.subscribe("Path", 5)  # type: ignore[arg-type]
    with pytest.raises(ddlog.DDlogError, match=r"pass several rows as `\*rows`"):
        session.insert("Edge", (row for row in [(1, 2)]))
    session.close()
    with pytest.raises(ddlog.DDlogError, match="the session is closed"), session:
        pass
    with pytest.raises(ddlog.DDlogError, match="the session is closed"):
        session.subscribe("Path", print)


def test_a_commit_stands_whatever_subscribers_raise() -> None:
    heard: list[object] = []

    def fail(changes: object) -> None:
        raise RuntimeError("no")

    with ddlog.compile(PATHS).session() as session:
        session.subscribe("Path", fail)
        session.subscribe("Path", heard.extend)
        session.insert("Edge", (1, 2))
        with pytest.raises(RuntimeError, match="no"):
            session.commit()
        assert heard == [((1, 2), 1)] and not session.in_transaction and len(session["Path"]) == 1


def test_a_function_that_modifies_gives_a_checked_row() -> None:
    program = ddlog.compile("input relation K(id: bigint, v: string) primary key (x) x.id")
    with program.session() as session:
        session.insert("K", (1, "a"))
        with pytest.raises(ddlog.DDlogError, match=r"K\.v: expected string, found 5"):
            session.modify("K", 1, lambda row: (1, 5))
        with pytest.raises(ddlog.DDlogError, match="a row of K has 2 values"):
            session.modify("K", 1, lambda row: (1, "b", 3))
        session.modify("K", 1, lambda row: (2, row[1] + "b"))
        session.commit()
        assert [tuple(row) for row in session["K"]] == [(2, "ab")]


def test_one_library_path_needs_no_list(tmp_path: Path) -> None:
    assert ddlog.compile("input relation E(x: bigint)", library_paths=str(tmp_path)).relations.keys() == {"E"}
    with pytest.raises(ddlog.DDlogError, match="no such directory"):
        ddlog.compile("input relation E(x: bigint)", library_paths=tmp_path / "missing")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("Edge$x(a), a > 1", r"<query>:1:5: Edge\$x is a name of ddlog's own, which a query cannot read"),
        ("Edge-1(a)", "<query>:1:1: Edge-1 is not kept"),
    ],
)
def test_names_that_no_query_can_read(query: str, message: str) -> None:
    program = ddlog.compile(
        'input relation Edge(a: u32)\noutput relation Text(s: string)\nText("$a") :- Edge(_).'
    )
    with pytest.raises(ddlog.DDlogError, match=message):
        program.asking(query)
    with program.session() as session, pytest.raises(ddlog.DDlogError, match=message):
        session.query(query)
    assert program.asking('Text(s), s != "a $b"')
