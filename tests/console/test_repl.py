"""The REPL, driven through a pseudo-terminal, and its input from a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from ddlog.console.prompt import NameCompleter

from ..engine.smallprogram import PROGRAM
from .test_cli import DDLOG, FOREVER, PATHS, ddlog

PROMPT = r"ddlog(>|\*)"
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


class Terminal:
    """A REPL at a terminal."""

    def __init__(self, where: Path, *arguments: str) -> None:
        own = {
            "TERM": "xterm",
            "XDG_STATE_HOME": str(where / "state"),
            "PAGER": "cat",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        environment = {**os.environ, **own}
        self.process: Any = pexpect.spawn(
            DDLOG[0], [*DDLOG[1:], *arguments], cwd=str(where), env=environment, encoding="utf-8",
            codec_errors="replace", timeout=60,
            dimensions=(50, 160),
        )  # fmt: skip

    def prompt(self) -> str:
        """What was printed up to the next prompt."""
        self.process.expect(PROMPT)
        return _CONTROL.sub("", self.process.before)

    def enter(self, text: str) -> None:
        """Types a line."""
        self.process.send(text + "\r")

    def end(self) -> None:
        """Ctrl-D at the next prompt, until the process is gone."""
        self.process.expect(PROMPT)
        time.sleep(0.5)  # the terminal is still to be put into raw mode
        self.again(self.process.sendeof, pexpect.EOF)

    def wait_for(self, text: str) -> None:
        """Waits until something is printed."""
        self.process.expect_exact(text)

    def again(self, act: Callable[[], object], expected: object) -> None:
        """Does something until the REPL was ready for it."""
        for _ in range(20):
            act()
            if self.process.expect([expected, pexpect.TIMEOUT], timeout=5) == 0:
                return
        raise AssertionError(self.process.before)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "paths.dl").write_text(PATHS)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "Edge.csv").write_text("x,y\ny,z\n")
    opened = Terminal(tmp_path, "repl", "paths.dl", "--input", "facts")
    yield opened
    opened.process.close(force=True)


def test_a_conversation(terminal: Terminal) -> None:
    terminal.prompt()
    terminal.enter('? Path("x", b), b != "y"')
    terminal.wait_for("z")
    terminal.wait_for("(1 row, ")
    terminal.enter('? Path("x", "z")')
    terminal.wait_for("true (")
    terminal.enter("? 1 + 2")
    terminal.wait_for("3")
    terminal.enter("? Pth(x, y)")
    terminal.wait_for("did you mean `Path`?")
    terminal.enter("start;")
    terminal.wait_for("ddlog*")
    terminal.enter('insert Edge("z", "w"),')
    terminal.wait_for("...")
    terminal.enter('delete Edge("x", "y");')
    terminal.wait_for("ddlog*")
    terminal.enter("commit;")
    terminal.wait_for("Path: +2 -2")
    terminal.enter("bad;")
    terminal.wait_for("there is no command `bad`")
    terminal.enter("relations")
    terminal.wait_for("input relation Edge(a: string, b: string)  2 rows")
    terminal.enter("help")
    terminal.wait_for("begin a transaction")
    terminal.wait_for("applied together.")
    terminal.end()
    terminal.process.close()
    assert terminal.process.exitstatus == 0


def test_names_are_completed_and_history_is_kept(terminal: Terminal, tmp_path: Path) -> None:
    terminal.prompt()
    terminal.process.send("? Pa\t")
    terminal.wait_for("th")
    terminal.process.send('("x", q)\r')
    terminal.wait_for("(2 rows, ")
    terminal.prompt()
    terminal.enter("? 40 + 2")
    terminal.wait_for("42")
    terminal.process.send("\x1b[A")
    terminal.wait_for("? 40 + 2")
    terminal.enter("")
    terminal.wait_for("42")
    terminal.enter("exit")
    terminal.process.expect(pexpect.EOF)
    history = tmp_path / "state" / "ddlog" / "history"
    assert "? 40 + 2" in history.read_text()
    assert history.stat().st_mode & 0o777 == 0o600


def test_interrupts_leave_the_last_commit(tmp_path: Path) -> None:
    (tmp_path / "f.dl").write_text(FOREVER)
    terminal = Terminal(tmp_path, "repl", "f.dl")
    try:
        terminal.prompt()
        terminal.process.send("dump half a comm")
        terminal.process.sendintr()
        terminal.prompt()
        terminal.enter("start;")
        terminal.wait_for("ddlog*")
        terminal.enter("insert N(1);")
        terminal.wait_for("ddlog*")
        terminal.enter("commit;")
        terminal.process.expect(pexpect.TIMEOUT, timeout=2)
        terminal.again(terminal.process.sendintr, "interrupted; the session is at its last commit")
        terminal.wait_for("ddlog>")
        terminal.enter("? N(x)")
        terminal.wait_for("(0 rows, ")
        terminal.enter("exit")
        terminal.process.expect(pexpect.EOF)
    finally:
        terminal.process.close(force=True)


def test_input_from_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "paths.dl").write_text(PATHS)
    text = (
        'start;\ninsert Edge("a", "b");\ncommit dump_changes;\n? Path(x, y)\nbad;\ncommit;\n'
        'start; insert Edge("b",\n'
        ' "c"); commit;\ndump Path;\nquit\necho never;\n'
    )
    shown, said = ddlog(tmp_path, "repl", "paths.dl", stdin=text)
    lines = shown.splitlines()
    assert lines[:4] == ["Fan:", 'Fan{.a = "a", .count = 1}: +1', "Path:", 'Path{.a = "a", .b = "b"}: +1']
    assert "(1 row, " in shown and "Path: +2" in shown and "never" not in shown
    assert lines[-1] == 'Path{.a = "b", .b = "c"}'
    assert "there is no command `bad`" in said and "`commit` outside a transaction" in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"bad", ["<input>:1:1: ignored, as it is not finished: bad"]),
        (b'start;\ninsert Edge("a",', [
            '<input>:2:1: ignored, as it is not finished: insert Edge("a",',
            "the last transaction was not committed",
        ]),
        (b'start;\n"\xff";', ["<input>: cannot be read: it is not UTF-8: invalid start byte"]),
        (b"start; exit;", ["the last transaction was not committed"]),
    ],
)  # fmt: skip
def test_a_pipe_that_ends_too_early_is_told(tmp_path: Path, text: bytes, told: list[str]) -> None:
    (tmp_path / "paths.dl").write_text(PATHS)
    _, said = ddlog(tmp_path, "repl", "paths.dl", stdin=text, code=b"\xff" in text)
    assert [line.partition(": ")[2] for line in said.splitlines()] == told


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("", "insert"),
        ("start; ", "commit"),
        ("insert ", "Edge"),
        ("dump ", "Two"),
        ("commit ", "dump_changes"),
        ("insert Edge(.", "b"),
        ("insert Edge(1, 2), ", "delete"),
        ("? ", "Named"),
        ("? Two(", "c"),
    ],
)
def test_candidates(before: str, expected: str) -> None:
    assert expected in NameCompleter(PROGRAM.relations).candidates(before)


def test_indexes_are_completed() -> None:
    completer = NameCompleter(PROGRAM.relations, ["ByName", "ByA"])
    assert completer.candidates("query_index ") == completer.candidates("dump_index ") == ["ByA", "ByName"]
    assert "ByA" not in completer.candidates("dump ")
    assert "cpu" in completer.candidates("profile ")


def test_indexes_and_internal_relations(tmp_path: Path) -> None:
    more = """
        index From(a: string) on Path(a, _)
        index ToC(a: string) on Path(a, "c")
        relation Ends(b: string)
        Ends(b) :- Path(_, b).
    """
    (tmp_path / "paths.dl").write_text(PATHS + more)
    text = (
        'start; insert Edge("a", "b"), insert Edge("b", "c"); commit dump_changes;\n'
        'query_index From("b");\nquery_index ToC("a"); query_index Frm("a");\ndump_index\nToC;\nrelations\n'
        "profile cpu;\nprofile;\n"
    )
    shown, said = ddlog(tmp_path, "repl", "paths.dl", "--output-internal-relations", "--quiet", stdin=text)
    changes, _, found = shown.partition(" ms)\n")
    assert 'Ends:\nEnds{.b = "b"}: +1\nEnds{.b = "c"}: +1\n' in changes
    rows = [line for line in found.splitlines() if line.startswith("Path{")]
    to_c = ['Path{.a = "a", .b = "c"}', 'Path{.a = "b", .b = "c"}']
    assert rows == ['Path{.a = "b", .b = "c"}', 'Path{.a = "a", .b = "c"}', *to_c]
    assert "index From(a: string) on Path\nindex ToC(a: string) on Path\n" in found and "$" not in found
    assert "there is no index Frm" in said and "did you mean `From`?" in said
    assert "expected `on` or `off`, found `;`" in said
    assert "           3  Path\n" in found and "           2  ToC (index)\n" in found


def test_a_query_that_merges_equal_values_is_told(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("input relation Sale(id: u32, price: double)\n")
    query = "Sale(_, p), var s = p.group_by(()).sum()"
    for arguments, text in (
        (["repl", "p.dl"], f"? {query}\nquery {query};\n"),
        (["run", "p.dl", "--query", query], ""),
    ):
        _, said = ddlog(tmp_path, *arguments, stdin=text)
        assert said.count("`sum` adds equal values once") == (2 if text else 1)
        assert "Sale(id, p), var s = (id, p).group_by(()).sum_second()" in said


@pytest.mark.parametrize(("delta", "shown"), [("asked", "rows"), ("none", "")])
def test_commits_that_show_their_changes(tmp_path: Path, delta: str, shown: str) -> None:
    (tmp_path / "paths.dl").write_text(PATHS)
    text = 'start; insert Edge("a", "b"); commit;\nstart; insert Edge("b", "b"); commit dump_changes;\n'
    told, _ = ddlog(tmp_path, "repl", "paths.dl", "--quiet", "--delta", delta, stdin=text)
    lines = [line for line in told.splitlines() if not line.startswith("(")]
    rows = ["Fan:", 'Fan{.a = "b", .count = 1}: +1', "Path:", 'Path{.a = "b", .b = "b"}: +1']
    assert lines == (rows if shown else [])


def test_only_inputs_can_be_changed() -> None:
    assert "Two" not in NameCompleter(PROGRAM.relations).candidates("insert ")


def test_the_editor_is_not_loaded_for_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("output relation R(x: bool)\nR(true).\n")
    script = (
        "import sys; from ddlog.console.cli import main; main(['repl', 'p.dl']); "
        "print([m for m in ('prompt_toolkit', 'rich') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        input="dump;\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "R:\nR{.x = true}\n\n[]\n"


def test_a_program_is_written_at_the_prompt(terminal: Terminal) -> None:
    terminal.prompt()
    terminal.enter("output relation Cyclic(a: string)")
    terminal.prompt()
    terminal.enter("Cyclic(a) :-")
    terminal.wait_for("...")
    terminal.enter("  Path(a, a)")
    terminal.wait_for("...")
    terminal.enter("")
    terminal.wait_for("expected")
    terminal.prompt()
    terminal.enter("Cyclic(a) :- Path(a, b), b != a.")
    terminal.wait_for("Cyclic: +")
    terminal.enter("? Cyclic(")
    terminal.wait_for("...")
    terminal.enter("x)")
    terminal.wait_for("rows, ")
    terminal.enter('start; insert Edge("q", "r")')
    terminal.wait_for("...")
    terminal.enter("quit")
    terminal.process.expect(pexpect.EOF)


STEPS: list[tuple[str, list[str]]] = [
    ("Cyclic(a) :- Lnk(a).", ["error: <input>:1:14: Unknown relation `Lnk`"]),
    ("output relation Cyclic(a: string)\nCyclic(a) :-\n  Path(a, a).", ["Cyclic: +1"]),
    ("Path(a, b)", ["error: this is no rule and no fact: these end with `.`", "`? Path(a, b)` asks"]),
    ("? Path(a, b),\n  a == b", ["(1 row, "]),
    ("relations; dump Cyclic; echo there;", ['Cyclic{.a = "x"}', "there"]),
    ("drop Path;", ["Path cannot be dropped: the rule of Cyclic uses it"]),
    ("drop Cyclic(a) :- Path(a, a).", ["Cyclic: -1"]),
    ("drop Cyclic", ["("]),
    ("dump Cyclic;", ["there is no relation Cyclic"]),
    ("load Edge.csv", ["Path: +2"]),
    ("load more.dl", ["Fan: +1"]),
    ("load day2.dat", ["Path: -1"]),
    ("load", ["`load` needs the name of a file"]),
    ("load gone.dl", ["gone.dl: cannot be read"]),
    ("load gone.csv", ["gone.csv: cannot be read: No such file"]),
    ('EXPLAIN Path("x", y);', ["<input>:1:9: EXPLAIN is about a statement of SQL", "`why` explains a row"]),
    (
        "SELECT a, count(*) AS n\n  FROM path GROUP BY a ORDER BY n DESC, a LIMIT 1;",
        ["a  n", "x  1", "(1 row, "],
    ),
    ("CREATE VIEW ends AS SELECT b FROM path;", ["Ends: +2"]),
    ("SELECT z FROM path;", ["error: <input>:1:8: unknown column `z`"]),
    ("save new.dl", ["the program is in new.dl"]),
    ("save old.dl", ["old.dl is there already"]),
    ("save new.txt", ["a file that ends in .dl"]),
    ("edit", ["Fan: +1"]),
    ('start;\nPath("u", "v").', ["neither committed nor rolled back"]),
]
"""What a user enters, and what each step prints, in this order."""


def test_a_program_changes_in_the_repl(tmp_path: Path) -> None:
    (tmp_path / "paths.dl").write_text(PATHS)
    (tmp_path / "Edge.csv").write_text("x,x\ny,y\nu,u\n")
    (tmp_path / "more.dl").write_text('Fan("more", 1).')
    (tmp_path / "old.dl").write_text("")
    (tmp_path / "day2.dat").write_text('start; delete Edge("u", "u"); commit;\n')
    (tmp_path / "editor").write_text("echo 'Fan(\"edited\", 2).' > $1\n")
    begun = ('start; insert Edge("x", "x"); commit;', ["Path: +1"])
    text = "\n".join(step for step, _ in [begun, *STEPS])
    done = subprocess.run(
        [*DDLOG, "repl", "paths.dl"], cwd=tmp_path, input=text, timeout=60, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "EDITOR": "sh editor"},
    )  # fmt: skip
    at = 0
    for step, printed in [begun, *STEPS]:
        for each in printed:
            found = done.stdout.find(each, at)
            assert found >= 0, (step, each, done.stdout[at:])
            at = found
    saved = (tmp_path / "new.dl").read_text()
    assert saved.startswith(PATHS.strip()) and 'Fan("more", 1).' in saved and "Ends(" in saved


def test_several_commands_of_the_repl_on_a_line(tmp_path: Path) -> None:
    (tmp_path / "paths.dl").write_text(PATHS)
    text = 'Edge("x", "y").\nstate; dump;\nexit\n'
    shown, _ = ddlog(tmp_path, "repl", "paths.dl", "--state", "s.ddlog", stdin=text)
    assert shown.index("s.ddlog: epoch 1") < shown.index('Path{.a = "x", .b = "y"}')
