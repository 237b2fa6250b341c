"""Ctrl-C and SIGTERM at random instants: one line, the exit code of the signal, and a state that is whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

import ddlog
from ddlog.console.cli import main
from ddlog.durability.background import Background
from ddlog.sessions.persistence.durable import Durable

from .. import trying
from .test_cli import DDLOG
from .test_repl import Terminal

PATHS = """
input relation Edge(a: u32, b: u32)
output relation Path(a: u32, b: u32)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
"""
TRIALS = 200 if trying.is_long else 6
FIRST, COMMITS = 150, 100


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A program, its facts, and updates of a hundred commits."""
    (tmp_path / "p.dl").write_text(PATHS)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "Edge.csv").write_text("".join(f"{i},{i + 1}\n" for i in range(FIRST)))
    updates = (f"start; insert Edge({1000 + i}, {1001 + i}); commit;\n" for i in range(COMMITS))
    (tmp_path / "u.dat").write_text("".join(updates))
    return tmp_path


def begun(process: subprocess.Popen[str]) -> None:
    """Waits until ddlog has set its handlers: before that, Python ends in its own way."""
    while process.poll() is None:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        caught = next((line for line in lines if line.startswith("SigCgt")), "SigCgt: 0")
        if int(caught.split()[1], 16) >> signal.SIGTERM - 1 & 1:
            return
        time.sleep(0.0005)


def ended(place: Path, number: signal.Signals, after: float, *more: str) -> tuple[int, str]:
    """The exit code and the messages of a run that gets a signal so many seconds after its begin."""
    command = [*DDLOG, "run", "p.dl", "--input", "facts", "--updates", "u.dat", "--quiet", *more]
    process = subprocess.Popen(
        command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    begun(process)
    time.sleep(after)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    return process.returncode, told


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_signals_at_random_instants(place: Path) -> None:
    """In imports, the load, commits and the end. The state has the commits that were made, in order."""
    began = time.monotonic()
    assert subprocess.run([*DDLOG, "run", "p.dl", "--input", "facts", "--updates", "u.dat"], cwd=place,
                          stdout=subprocess.DEVNULL, check=True).returncode == 0  # fmt: skip
    whole = time.monotonic() - began
    ends = [(signal.SIGINT, (130, "interrupted\n")), (signal.SIGTERM, (143, "terminated\n"))]
    for trial in range(TRIALS):
        (number, expected), is_early = ends[trial % 2], trial % 3 == 0
        state, after = f"s{trial}", random.uniform(0, 0.12 * whole if is_early else 1.2 * whole)
        found = ended(place, number, after, "--state", state)
        assert found in (expected, (0, "")), f"{number!r} after {after} s"
        if (place / state).exists():
            with ddlog.compile(place / "p.dl").session(state=place / state) as session:
                rows = sorted(row[0] for row in session["Edge"].tuples())
            made = [*range(FIRST), *range(1000, 1000 + COMMITS)]
            assert rows == made[: len(rows)] and (not rows or len(rows) >= FIRST)


def test_the_state_is_closed_by_sigterm(place: Path) -> None:
    """With --durability exit, what was committed is written when the process ends."""
    (place / "u.dat").write_text("start; insert Edge(7777, 7778); commit; echo done; mssleep 60000;")
    command = [*DDLOG, "run", "p.dl", "--updates", "u.dat", "--state", "s", "--durability", "exit", "--quiet"]
    with subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None and run.stderr is not None
        assert any(line == "done\n" for line in run.stdout)
        run.send_signal(signal.SIGTERM)
        assert (run.wait(timeout=60), run.stderr.read()) == (143, "terminated\n")
    with ddlog.compile(place / "p.dl").session(state=place / "s") as session:
        assert list(session["Edge"].tuples()) == [(7777, 7778)]


@pytest.mark.parametrize(
    ("kind", "method", "goes_on"), [(Background, "stop", True), (Durable, "_write_checkpoint", False)]
)
def test_an_interrupt_of_the_end_loses_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch, kind: type, method: str, goes_on: bool
) -> None:
    """The end of a session on a slow machine is interrupted by the signal that is raised again: what waits is
    written, and no checkpoint."""
    program, original, went_on = ddlog.compile(place / "p.dl"), getattr(kind, method), list[object]()

    def slowly(part: object) -> None:
        signal.raise_signal(signal.SIGINT)
        went_on.append(part)
        original(part)

    session = program.session(state=place / "s", durability="exit")
    session.insert("Edge", (7777, 7778))
    session.commit()
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(kind, method, slowly)
        session.close()
    assert bool(went_on) == goes_on
    with program.session(state=place / "s") as session:
        assert list(session["Edge"].tuples()) == [(7777, 7778)]


def test_an_ignored_interrupt_stays_ignored(place: Path) -> None:
    """As in a job that a shell has put into the background."""
    (place / "u.dat").write_text("echo begun; mssleep 1000; echo done;")
    command = [*DDLOG, "run", "p.dl", "--updates", "u.dat", "--quiet"]
    with subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    ) as run:  # fmt: skip
        assert run.stdout is not None
        assert any(line == "begun\n" for line in run.stdout)
        run.send_signal(signal.SIGINT)
        assert (run.stdout.read(), run.wait(timeout=60)) == ("done\n", 0)


def test_a_paste_and_interrupts_in_the_repl(place: Path) -> None:
    """No traceback of the line editor, and the REPL goes on."""
    terminal = Terminal(place, "repl", "p.dl")
    terminal.prompt()
    for _ in range(4 if not trying.is_long else 60):
        terminal.process.send("".join(f"? {i} + 1\r" for i in range(30)))
        time.sleep(random.uniform(0, 0.3))
        terminal.process.kill(signal.SIGINT)
        terminal.process.sendintr()
    time.sleep(0.5)
    terminal.enter("")
    terminal.again(lambda: terminal.enter("? 1000 + 234"), "1234")
    assert "Traceback" not in terminal.process.before and "Unhandled" not in terminal.process.before
    terminal.process.kill(signal.SIGTERM)
    terminal.wait_for("terminated")
    terminal.process.wait()
    assert terminal.process.exitstatus == 143


def test_errors_that_libraries_make_of_interrupts(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that catches everything makes another error of an interrupt: it counts as the interrupt."""
    from ddlog.console import exits, run

    def swallowed(*_: object) -> None:
        monkeypatch.setattr(exits, "_asked", signal.SIGINT)
        raise ImportError("numpy failed to import")

    monkeypatch.setattr(run, "run", swallowed)
    assert main(["run", str(place / "p.dl")]) == 130
    monkeypatch.setattr(run, "run", lambda *_: None)
    assert main(["run", str(place / "p.dl")]) == 130


def test_a_java_that_has_not_started_yet_ends_with_an_interrupt(place: Path) -> None:
    """It would not hear that nobody waits for it any more."""
    pytest.importorskip("pyspark")
    java, started = place / "home" / "bin" / "java", place / "started"
    java.parent.mkdir(parents=True)
    launcher = (
        "printf '\\0\\nsh\\0-c\\0echo $$ > started; exec sleep 300\\0'"  # the command that is to be run
    )
    java.write_text(f'#!/bin/sh\n[ "$1" = -version ] && exec echo \'openjdk version "17.0.1"\'\n{launcher}\n')
    java.chmod(0o755)
    environ = os.environ | {"JAVA_HOME": str(place / "home")}
    command = [*DDLOG, "run", "p.dl", "--input", "facts", "--engine", "spark", "--quiet"]
    with subprocess.Popen(
        command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environ
    ) as run:
        assert run.stderr is not None
        while not started.exists() or not started.read_text().strip():
            assert run.poll() is None, run.stderr.read()
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        told = run.stderr.read()
        assert (run.wait(timeout=60), told) == (130, "interrupted\n")
    process = Path(f"/proc/{started.read_text().strip()}")
    for _ in range(100):
        if not process.exists():
            return
        time.sleep(0.1)
    raise AssertionError("Java still runs")
