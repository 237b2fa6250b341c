"""Profiles: their figures, their JSON, and their page."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from time import perf_counter, sleep
from types import SimpleNamespace

import pytest

import ddlog
from ddlog.console import progress
from ddlog.console.cli import main
from ddlog.console.phases import Phases
from ddlog.engine import clock, thresholds
from ddlog.profiling.compare import differences
from ddlog.profiling.costs import StratumCost
from ddlog.profiling.page import page
from ddlog.profiling.profile import Profile, read_profile
from ddlog.profiling.summary import summary

PATHS = """\
input relation Edge(x: u32, y: u32)
output relation Path(x: u32, y: u32)
output relation Ends(x: u32, n: u64)
output relation Source(x: u32)

Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
Ends(x, n) :- Path(x, y), var n = y.group_by(x).count().
Source(x) :- Edge(x, _).
"""

LOOP = """\
input relation Edge(x: u32, y: u32, w: u64)
output relation Best(x: u32, d: u64)
Best(0, 0).
Best(y, d) :- Best(x, e), Edge(x, y, w), var f = e + w, var d = f.group_by(y).min(), d < 100.
"""


def measured() -> Profile:
    """The profile of three commits on a square with a diagonal."""
    with ddlog.compile(PATHS).session(maintain="always") as session:
        session.measure()
        session.insert("Edge", (1, 2), (2, 3), (1, 3), (3, 4))
        session.commit()
        session.delete("Edge", (1, 3))
        session.commit()
        session.insert("Edge", (4, 5))
        session.commit()
        return session.profile()


def stratum(profile: Profile, name: str) -> StratumCost:
    (found,) = [each for each in profile.strata if each.name == name]
    return found


def test_a_profile_counts_what_was_done() -> None:
    profile = measured()
    assert profile.commits == 4
    assert [(each.number, each.rows_in) for each in profile.epochs] == [(0, 0), (1, 4), (2, 1), (3, 1)]
    assert 0 < sum(each.seconds for each in profile.strata) <= profile.seconds
    source = {each.operator: each for each in stratum(profile, "Source").operators}
    assert (source["distinct"].rows_in, source["distinct"].rows_out) == (6, 4)
    assert source["distinct"].duplicates == 2
    assert source["join"].place.endswith(":9:1")
    path = stratum(profile, "Path")
    assert path.recursive and all(each.place for each in path.operators if each.operator == "rule")
    assert "Path(x, y) :- Edge(x, y)." in [each.text for each in path.operators]
    assert [(each.epoch, each.way, each.changed) for each in profile.decisions][-2:] == [
        (2, "maintained", 1),
        (3, "maintained", 1),
    ]
    assert {each.name: each.rows for each in profile.relations} == {
        "Edge": 4, "Path": 10, "Ends": 4, "Source": 4,
    }  # fmt: skip
    assert profile.memory is not None and any(each.name == "Path" for each in profile.memory)
    assert profile.plans is not None and any(each.rule.startswith("Path(x, z)") for each in profile.plans)
    assert len(profile.slowest) == 4
    slow = [each.epoch.seconds for each in profile.slowest]
    assert slow == sorted(slow, reverse=True)


def test_each_operator_is_one_of_a_rule_or_relation() -> None:
    program = """
    input relation A(x: u32, y: u32)
    input relation B(x: u32, y: u32)
    output relation R(x: u32, n: usize)
    R(x, n) :- A(x, y), not B(x, _), var n = y.group_by(x).count().
    output relation S(x: u32)
    S(x) :- A(x, _), not B(_, x).
    """
    with ddlog.compile(program).session() as session:
        session.measure()
        session.insert("A", (1, 2), (1, 3))
        session.insert("B", (2, 2))
        session.commit()
        found = [each for stratum in session.profile().strata for each in stratum.operators]
    assert {each.relation for each in found} == {"A", "B", "R", "S"}
    assert {each.text.split("(")[0] for each in found} == {"A", "B", "R", "S"}


def test_the_rounds_of_a_recursion_say_how_many_rows_are_new() -> None:
    with ddlog.compile(PATHS).session() as session:
        session.measure()
        session.insert("Edge", (1, 2), (2, 3), (1, 3), (3, 4))
        session.commit()
        path = stratum(session.profile(), "Path")
    assert [(each.round, each.derived, each.rows) for each in path.rounds] == [
        (0, 4, 4), (1, 3, 2), (2, 0, 0),
    ]  # fmt: skip
    assert (path.rows_out, path.duplicates) == (6, 1)


@pytest.mark.parametrize("maintain", ["always", "never"])
def test_recursions_by_rounds_are_measured(maintain: str) -> None:
    with ddlog.compile(LOOP).session(maintain=maintain) as session:  # type: ignore[arg-type]
        session.measure()
        session.insert("Edge", (0, 1, 5), (1, 2, 5), (0, 2, 20))
        session.commit()
        session.delete("Edge", (0, 1, 5))
        session.commit()
        profile = session.profile()
    assert profile.commits == 3
    assert stratum(profile, "Best").recursive


def test_a_commit_that_fails_is_not_counted() -> None:
    text = "input relation A(x: u32)\noutput relation B(x: u32)\nB(10 / x) :- A(x).\n"
    with ddlog.compile(text).session() as session:
        session.measure()
        session.insert("A", (0,))
        with pytest.raises(ddlog.DDlogError):
            session.commit()
        session.insert("A", (5,))
        session.commit()
        assert [each.rows_in for each in session.profile().epochs if each.rows_in] == [1]


def test_a_session_that_goes_on_with_another_program_is_measured_anew() -> None:
    with ddlog.compile(
        "input relation A(x: u32)\noutput relation B(x: u32)\nB(x) :- A(x)."
    ).session() as session:
        session.measure()
        session.insert("A", (1,))
        session.commit()
        session.extend("output relation C(x: u32)\nC(x) :- B(x).")
        session.insert("A", (2,))
        session.commit()
        assert session.profile().commits == 1


def test_many_short_commits_count_and_a_slow_one_is_whole() -> None:
    with ddlog.compile(PATHS).session(maintain="always") as session:
        session.measure()
        session.insert("Edge", *((n, n + 1) for n in range(0, 40, 2)))
        session.commit()
        for _ in range(150):
            session.delete("Edge", (2, 3))
            session.commit()
            session.insert("Edge", (2, 3))
            session.commit()
        session.insert("Edge", *((n, n + 1) for n in range(1_000, 1_150)))
        session.commit()
        session.insert("Edge", (1, 2))
        session.commit()
        profile = session.profile()
    assert profile.commits == 304
    assert [each.number for each in profile.epochs] == list(range(304))
    assert profile.seconds == pytest.approx(sum(each.seconds for each in profile.epochs))
    assert 0 < sum(each.seconds for each in profile.strata) < 3 * profile.seconds
    (slow,) = [each for each in profile.slowest if each.epoch.number == 302]
    assert (slow.epoch.rows_in, slow.epoch.rows_out) == (150, 150 * 151 // 2 + 2 * 150)
    (path,) = [each for each in slow.strata if each.name == "Path"]
    assert path.rounds and any(each.operator == "rule" for each in path.operators)
    (source,) = [o for o in stratum(profile, "Source").operators if o.operator == "distinct"]
    assert source.calls == 304


def test_without_measuring_there_are_no_times() -> None:
    with ddlog.compile(PATHS).session() as session:
        session.insert("Edge", (1, 2))
        session.commit()
        profile = session.profile()
    assert (profile.commits, profile.strata, profile.epochs) == (0, (), ())
    assert profile.relations


def test_json_is_read_again() -> None:
    profile = measured()
    assert read_profile(profile.json()) == profile


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"strata": [], "version": 2}', '{"strata": [{}], "version": 1}']
)
def test_other_json_is_no_profile(text: str) -> None:
    with pytest.raises(ValueError, match="it is"):
        read_profile(text)


class Tags(HTMLParser):
    """Checks that tags close, and that nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert not {"src", "href"} & {name for name, _ in attributes}
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_stands_alone() -> None:
    text = page(measured())
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    assert "http" not in text and "@import" not in text
    assert 'name="viewport"' in text and "Rounds of Path" in text


def test_a_run_writes_its_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "paths.dl").write_text(PATHS)
    (tmp_path / "changes.dat").write_text("start; insert Edge(1, 2); commit;\n")
    run = ["run", str(tmp_path / "paths.dl"), "--updates", str(tmp_path / "changes.dat"), "--quiet"]
    assert main([*run, "--profile", str(tmp_path / "p.json")]) == 0
    assert json.loads((tmp_path / "p.json").read_text())["commits"] == 2
    assert main([*run, "--profile", str(tmp_path / "p.html")]) == 0
    assert (tmp_path / "p.html").read_text().startswith("<!DOCTYPE html>")
    assert main([*run, "--profile", str(tmp_path / "p.txt")]) == 1
    assert "ends in .json or .html" in capsys.readouterr().err


def test_profiles_are_shown_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "paths.dl").write_text(PATHS)
    names = []
    for number, rows in enumerate(("(1, 2)", "(1, 2), insert Edge(2, 3), insert Edge(3, 4)")):
        (tmp_path / "changes.dat").write_text(f"start; insert Edge{rows}; commit;\n")
        names.append(str(tmp_path / f"{number}.json"))
        run = ["run", str(tmp_path / "paths.dl"), "--updates", str(tmp_path / "changes.dat"), "--quiet"]
        assert main([*run, "--profile", names[-1]]) == 0
    capsys.readouterr()
    assert main(["profile", names[1]]) == 0
    shown = capsys.readouterr().out
    assert "2 commits in" in shown and "Path (4 rounds: 3/3 2/2 1/1 0/0)" in shown
    assert "rule: Path(x, z) :- Path(x, y), Edge(y, z)." in shown
    assert main(["profile", *names]) == 0
    shown = capsys.readouterr().out
    assert "  Path: 1 and 6\n" in shown and "commits: 2 and 2" in shown
    assert main(["profile", names[0], "--output", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    drawn, program = tmp_path / "c.svg", str(tmp_path / "paths.dl")
    assert main(["circuit", program, "--output", str(drawn), "--profile", names[1]]) == 0
    assert " rows</text>" in drawn.read_text() and "fixpoint Path · " in drawn.read_text()
    assert main(["circuit", program, "--profile", names[1]]) == 1
    assert "--profile needs --output FILE.svg" in capsys.readouterr().err
    assert main(["circuit", program, "--plans", "--profile", names[1]]) == 1
    assert main(["profile", str(tmp_path / "paths.dl")]) == 1
    assert "cannot be read as a profile" in capsys.readouterr().err
    assert main(["profile", str(tmp_path / "missing.json")]) == 1
    assert main(["profile", *names, "--output", "x.html"]) == 1


def test_differences_are_those_of_the_times() -> None:
    before = measured()
    slower = replace(before, strata=tuple(map(slowed, before.strata)), seconds=before.seconds + 1)
    (first, *others) = differences(before, slower)
    assert first.name.startswith("Path(x, z)") and first.more == pytest.approx(1)
    assert all(each.more == 0 for each in others)
    assert differences(before, before)[0].more == 0


def slowed(each: StratumCost) -> StratumCost:
    """The stratum with one more second for one rule."""
    if each.name != "Path":
        return each
    slow = next(o for o in each.operators if o.operator == "rule" and o.text.startswith("Path(x, z)"))
    others = tuple(o for o in each.operators if o is not slow)
    return replace(each, operators=(replace(slow, seconds=slow.seconds + 1), *others))


def test_the_command_profile_measures_while_it_is_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "paths.dl").write_text(PATHS)
    (tmp_path / "changes.dat").write_text(
        "profile; profile cpu on; start; insert Edge(1, 2), insert Edge(2, 3); commit; profile cpu off;"
        "start; insert Edge(3, 4); commit; profile;\n"
    )
    run = ["run", str(tmp_path / "paths.dl"), "--updates", str(tmp_path / "changes.dat"), "--quiet"]
    assert main(run) == 0
    shown = capsys.readouterr().out
    assert shown.count("Time by rule") == 1
    assert "Path (3 rounds: 2/2 1/1 0/0)" in shown and "paths.dl: 1 commit in" in shown


def test_steps_of_joins_are_timed_and_duplicates_of_rules_are_told() -> None:
    """A clique: nearly all that the rule derives, its relation has. Many of its rows are left out early."""
    with ddlog.compile(PATHS).session(relations="outputs") as session:
        session.measure()
        session.insert_rows("Edge", [(x, y) for x in range(60) for y in range(60)])
        session.commit()
        profile = session.profile()
    (rule,) = [o for o in stratum(profile, "Path").operators if o.text.startswith("Path(x, z)")]
    assert (rule.rows_out, rule.duplicates) == (60**3, 60**3)
    assert [each.rows for each in stratum(profile, "Path").rounds] == [3600, 0]
    (plan,) = [each for each in profile.plans or () if each.start == "Path(x, y)"]
    assert 0 < plan.spent <= rule.seconds
    assert "Edge(y, z) by y" in page(profile)


class Terminal(StringIO):
    """Standard error of a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_lines_have_the_phase_its_rounds_and_rows(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line is there as soon as something tells of its work, and gone after it; what is printed meanwhile
    does not go to the terminal with it. Here rounds of a few rows are not told together."""
    monkeypatch.setattr(thresholds, "ROUNDS_AT_ONCE", 1)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: float(len(told))))
    told: list[tuple[str, int, int]] = []
    line, shown = progress.ProgressLine(quiet), list[str]()

    def tell(phase: str, iteration: int, rows: int) -> None:
        told.append((phase, iteration, rows))
        line(phase, iteration, rows)
        shown.append(line._text())

    with line, ddlog.compile(PATHS).session(progress=tell) as session:
        deadline = perf_counter() + 60
        while not quiet and line._shown is None and perf_counter() < deadline:
            sleep(0.01)  # for the thread of the line
        assert (line._shown is None) == quiet
        print("printed")
        session.insert("Edge", *((n, n + 1) for n in range(9)))
        session.commit()
    assert line._shown is None and bool(terminal.getvalue()) != quiet
    assert capsys.readouterr().out == "printed\n" and "printed" not in terminal.getvalue()
    assert ("Path", 8, 45) in told
    assert "Path, 9 rows, 9 a second" in shown  # a second passes between any two lines here
    assert "Path, iteration 3, 30 rows, 8 a second" in shown
    assert "Ends(x, n) :- Path(x, y), var n = y.group_by(x).count()." in shown


def test_another_program_has_the_terminal_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with progress.ProgressLine() as line:
        with line.aside():
            begun = len(terminal.getvalue())
            sleep(0.3)
            assert line._shown is None and len(terminal.getvalue()) == begun
        assert line._timer is not None


@pytest.mark.parametrize("quiet", [False, True])
def test_what_takes_long_and_is_done_once_is_told_once(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(clock, "_told", 0.0)
    clock.tell_once("no one listens", 9.0)
    with progress.ProgressLine(quiet):
        for seconds in (1.5, 1.5, 9.0):
            clock.tell_once("something is made", seconds)
    assert capsys.readouterr().err == ("" if quiet else "note: something is made\n")


def test_the_phases_of_a_run_are_all_of_its_time(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PATHS)
    (tmp_path / "Edge.csv").write_text("1,2\n2,3\n")
    written = tmp_path / "p.json"
    place, since = f"Edge={tmp_path / 'Edge.csv'}", perf_counter()
    run = ["run", str(tmp_path / "p.dl"), "--input", place, "--quiet", "--profile", str(written)]
    assert main(run) == 0
    profile = read_profile(written.read_text())
    times = {each.name: each.seconds for each in profile.phases}
    assert list(times)[:3] == ["start of the process", "parsing and checking", "circuit and session"]
    assert times["commits"] == profile.seconds
    assert sum(times.values()) - times["start of the process"] <= perf_counter() - since
    assert all(each.text for each in profile.operators)
    assert "Time by phase, of " in "\n".join(summary(profile))
    assert "parsing and checking" in page(profile)


def test_each_second_is_of_one_phase() -> None:
    phases = Phases(perf_counter() - 3)
    phases.switch("outer")
    with phases.during("inner"):
        sleep(0.02)
    found = {each.name: each.seconds for each in phases.times(0.0)}
    assert 3 <= found["start of the process"] < 4
    assert found["inner"] >= 0.02
