"""`ddlog circuit --plans`, and the plans of a profile."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.engine.maintenance import Mode
from ddlog.sessions.profile import SessionProfile

PROGRAM = """
typedef Id = Id{name: string, n: u32}
input relation E(a: u32, b: u32)
input relation Off(a: u32)
input relation Named(id: Id, a: u32)
output relation T(a: u32, b: u32, c: u32)
T(a, b, c) :- E(a, b), E(b, c), E(a, c), not Off(a).
output relation P(a: u32, b: u32)
P(a, b) :- E(a, b).
P(a, c) :- P(a, b), E(b, c), b != c.
output relation N(n: u32)
N(n) :- Named(Id{_, n}, a), Off(m), n == a + m.
"""

GUESSED = """\
Plans of joins, if every relation had 1,000,000 rows:
T(a, b, c) :- E(a, b), E(b, c), E(a, c), not Off(a).  // p.dl:7:1
  from E(a, b); then tests not Off(a)
    E(b, c) by b: 3,981 expected for each row; least mean; others: E(a, c) by a 3,981; then tests E(a, c)
"""

RECURSIVE = """\
P(a, c) :- P(a, b), E(b, c), b != c.  // p.dl:10:1
  from P(a, b)
    E(b, c) by b: 3,981 expected for each row; only candidate; then tests b != c
  from E(b, c); then tests b != c
    P(a, b) by b: 3,981 expected for each row; only candidate
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the program and skewed facts, where the test runs."""
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "facts").mkdir()
    edges = {(k * k % 71 * k % 83, (k * 7919) % 97 * (k % 5) // 2) for k in range(3000)}
    (tmp_path / "facts" / "E.csv").write_text("".join(f"{a},{b}\n" for a, b in sorted(edges)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("engine", ["in-process", "spark"])
def test_plans_by_guesses(place: Path, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["circuit", "p.dl", "--plans", "--engine", engine]) == 0
    out = capsys.readouterr().out
    assert out.startswith(GUESSED) and RECURSIVE in out
    assert re.search(
        r"by guesses: .*\n  P: maintained by a commit that deletes up to about [\d,]+ of the", out
    )
    assert re.search(r"^  from Off\(m\)\n    all of Named\(.*: 1,000,000 expected", out, re.M)


def test_plans_that_ran(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["circuit", "p.dl", "--plans", "--input", "facts"]) == 0
    out, error = capsys.readouterr()
    assert out.startswith("Plans of joins that ran on these facts:\nT(a, b, c) :- ")
    assert "no file for the input relation Off" in error and "Named" not in out
    figures = re.findall(r"by \w: ([\d,]+) rows in, (.*?), ([\d,]+) given; (.*)$", out, re.M)
    assert any(guess != "not asked" and "asked" in why for _, guess, _, why in figures), out
    with ddlog.compile(place / "p.dl").session() as session:
        session.load("facts")
        sizes = {name: session.size(name) for name in ("P", "T")}
    recursive = out.partition("P(a, c) :- ")[2]
    read = re.search(r"by b: ([\d,]+) rows in, not asked, ([\d,]+) given; only candidate", recursive)
    assert read is not None and int(read[1].replace(",", "")) == sizes["P"]
    expected = re.search(r"  P: maintained by .* up to about ([\d,]+) of the ([\d,]+) rows", out)
    assert expected is not None and int(expected[1].replace(",", "")) <= int(expected[2].replace(",", ""))


@pytest.mark.parametrize("mode, done", [("always", "maintained; always"), ("never", "evaluated anew; never")])
def test_what_was_done_with_recursions(
    mode: Mode, done: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "u.dat").write_text(
        "start; insert E(1, 2), insert E(2, 3); commit; start; delete E(1, 2); commit;"
    )
    assert main(["run", "p.dl", "--maintain", mode, "--updates", "u.dat"]) == 0
    changes = capsys.readouterr().out
    assert "P{.a = 1, .b = 3}: -1" in changes
    with ddlog.compile(place / "p.dl").session(maintain=mode) as session:
        session.insert_rows("E", [(1, 2), (2, 3)])
        session.commit()
        session.delete("E", (1, 2))
        session.commit()
        lines = list(SessionProfile(session).lines())
    (at,) = (k for k, line in enumerate(lines) if line.startswith("Recursive relations by commit"))
    assert lines[at + 2].startswith(f"        2  P: {done}")
    assert "(1 of 2 rows changed; " in lines[at + 2]


def test_a_mode_that_there_is_not(place: Path) -> None:
    with pytest.raises(ddlog.DDlogError, match=r'maintain.*"always", "never" or "auto"'):
        ddlog.compile(place / "p.dl").session(maintain="often")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--input facts", "--input needs --plans: a circuit does not depend on facts"),
        ("--plans --output c.svg", "--plans cannot be combined with --output: plans are printed as text"),
        ("--plans --stage relational", "--plans cannot be combined with --stage relational: plans are those"),
        ("--plans --input facts --engine spark", "--plans --input cannot be combined with --engine spark: "),
        ("--plans --input none", "none: there is no such directory"),
        ("--plans --input=", "--input needs a place"),
    ],
)
def test_wrong_options(place: Path, options: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["circuit", "p.dl", *options.split()]) == 1
    assert capsys.readouterr().err.startswith(f"error: {message}")


def test_a_profile_has_plans(place: Path) -> None:
    with ddlog.compile(place / "p.dl").session(maintain="always") as session:
        profile = SessionProfile(session)
        assert not any("Plans" in line for line in profile.lines())
        session.load("facts")
        text = "\n".join(profile.lines())
        assert "Plans of joins, with the rows of all commits:\n" in text
        plans = text.partition("Plans of joins")[2]
        assert plans.index("P(a, c) :- ") < plans.index("T(a, b, c) :- ")
        session.delete("E", *list(session["E"].tuples())[:200])
        session.commit()
        text = "\n".join(profile.lines())
        assert "$" not in text and "  from search for derivations of P(a, c)\n" in text


ROUNDS = """
input relation Edge(a: u32, b: u32, d: u32)
output relation Dist(a: u32, b: u32, d: u32)
relation Step(a: u32, b: u32, d: u32)
Step(a, b, d) :- Edge(a, b, d).
Step(a, c, d + e) :- Dist(a, b, d), Edge(b, c, e), d < 10.
Dist(a, b, d) :- Step(a, b, e), var d = e.group_by((a, b)).min().
"""


def test_recursions_by_rounds_have_plans(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(ROUNDS)
    with ddlog.compile(tmp_path / "p.dl").session() as session:
        session.insert("Edge", *((k % 101, k * 7 % 97, 1 + k % 3) for k in range(2000)))
        session.commit()
        (plan,) = [each for each in session.state.host.runtime.plans() or () if each.start == "Dist(a, b, d)"]
        assert plan.look_ups[0].term == "Edge(b, c, e)" and (plan.look_ups[0].given or 0) > 2000


def test_on_spark_a_profile_says_that_plans_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.dl").write_text(PROGRAM)
    with ddlog.compile(tmp_path / "p.dl").session() as session:
        monkeypatch.setattr(type(session.state.host.runtime), "plans", lambda runtime: None, raising=False)
        (line,) = [line for line in SessionProfile(session).lines() if "Plans" in line]
        assert line == "Plans of joins: unknown on Spark, whose UI shows its queries on its page SQL"


DERIVED = """
typedef U = A{x: u32, y: string} | B{z: u32}
input relation E(u: U, n: u32)
input relation F(u: U, n: u32)
output relation O(n: u32, m: u32)
O(n, m) :- E(A{x, _}, n), F(A{x, _}, m).
"""


@pytest.mark.parametrize("engine", ["in-process", "spark"])
def test_keys_that_are_derived(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.dl").write_text(DERIVED)
    assert main(["circuit", str(tmp_path / "p.dl"), "--plans", "--engine", engine]) == 0
    assert re.search(r"^    F\(\$\d, m\) by x = A\{x, _\}: 3,981 expected", capsys.readouterr().out, re.M)
