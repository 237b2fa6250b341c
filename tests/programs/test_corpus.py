"""Small programs in files: what each prints for its command file, and that how changes are cut into commits
makes no difference to the state that they lead to, if a program has no streams and no delays."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ddlog.check import cache
from ddlog.check.program import check_program
from ddlog.console.cli import main
from ddlog.engine.inprocess import runtime
from ddlog.engine.inprocess.storage import sweep
from ddlog.errors.source import Source
from ddlog.sessions import computedrelations

from ..engine.reference_runtime import ReferenceRuntime

CORPUS = Path(__file__).parent / "corpus"
NAMES = sorted(path.stem for path in CORPUS.glob("*.dl"))
PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|#[^\n]*\n?|[^"#(),;{}\[\]]+|.', re.DOTALL)
END = "---- end"
OF_TIME = re.compile(r"\bstream [A-Z]|\b[A-Z]\w*'?-\d+\(")
OF_ROUNDS = {"loops"}  # whose past is that of rounds
TIMELESS = [
    name
    for name in NAMES
    if name in OF_ROUNDS or not OF_TIME.search((CORPUS / f"{name}.dl").read_text("utf-8"))
]


@pytest.fixture(autouse=True, scope="module")
def checked_once() -> Iterator[None]:
    """Each program is checked once for all runs of it."""
    checked: dict[Source, Any] = {}

    def check_once(source: Source, folders: Sequence[Path], tree: Any = None) -> Any:
        if source not in checked:
            checked[source] = check_program(source, folders, tree)
        return checked[source]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "check_cached", check_once)
        yield


def run(name: str, script: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What `ddlog run NAME.dl --updates SCRIPT` prints."""
    code = main(["run", str(CORPUS / f"{name}.dl"), "--updates", str(script)])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    assert "equal values once" not in printed.err
    return printed.out


def commands(script: str) -> Iterator[str]:
    """The commands and updates of a command file, one by one."""
    command, depth = "", 0
    for piece in PIECE.findall(script):
        if piece.startswith("#"):
            continue
        depth += (piece in "([{") - (piece in ")]}")
        if piece in (",", ";") and depth == 0:
            yield command.strip()
            command = ""
        else:
            command += piece


def committed(script: str) -> list[str]:
    """The updates of the transactions that were committed, in their order."""
    updates: list[str] = []
    pending: list[str] = []
    for command in commands(script):
        match command.split()[0]:
            case "start" | "rollback":
                pending = []
            case "commit":
                updates += pending
            case "insert" | "delete" | "clear" | "insert_or_update" | "delete_key" | "modify":
                pending.append(command)
    return updates


def played(name: str, script: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """What a command file prints, and the output relations that have rows after it; `dump` names those that
    had some, too."""
    path = folder / "script.dat"
    path.write_text(f"{script}\necho {END};\ndump;\n", encoding="utf-8")
    told, _, state = run(name, path, capsys).partition(f"{END}\n")
    return told, re.sub(r"(?m)^[\w:]+:\n\n", "", state)


@pytest.fixture(scope="module")
def whole() -> dict[str, tuple[str, str]]:
    """What `played` gives for the command files of programs, as far as they have run."""
    return {}


def own(
    name: str, whole: dict[str, tuple[str, str]], folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[str, str]:
    """What `played` gives for the command file of a program, which runs once."""
    if name not in whole:
        whole[name] = played(name, (CORPUS / f"{name}.dat").read_text(encoding="utf-8"), folder, capsys)
    return whole[name]


@pytest.mark.parametrize("name", NAMES)
def test_prints_what_is_expected(
    name: str, whole: dict[str, tuple[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = (CORPUS / f"{name}.expected").read_text(encoding="utf-8")
    assert own(name, whole, tmp_path, capsys)[0] == expected


class Unlimited:
    """Demand without a budget, which only the engine in process counts."""

    def __init__(self, *_: object) -> None:
        pass

    def commit(self, changes: object, run: Callable[[], Any]) -> Any:
        return run()


@pytest.mark.parametrize("name", NAMES)
def test_evaluation_from_scratch_agrees(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same with the reference evaluation in place of the engine."""
    monkeypatch.setattr(runtime, "InProcess", lambda circuit, *_, **__: ReferenceRuntime(circuit))
    monkeypatch.setattr(computedrelations, "Sparing", Unlimited)
    expected = (CORPUS / f"{name}.expected").read_text(encoding="utf-8")
    assert run(name, CORPUS / f"{name}.dat", capsys) == expected


@pytest.mark.parametrize("name", TIMELESS)
def test_commits_can_be_merged_and_split(
    name: str,
    whole: dict[str, tuple[str, str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Values that no row uses are given back after every commit of the others. A coin says whether recursions
    are maintained, given up on the way, or evaluated anew."""
    _, state = own(name, whole, tmp_path, capsys)
    monkeypatch.setattr(sweep, "is_due", lambda _: True)
    script = (CORPUS / f"{name}.dat").read_text(encoding="utf-8")
    updates = committed(script)
    merged = "start;\n" + "".join(f"{update};\n" for update in updates) + "commit;"
    split = "".join(f"start; {update}; commit;\n" for update in updates)
    falls = random.Random(name)

    def flip() -> int | None:
        return falls.choice((None, 0, 1, 3, 9, 1 << 60))

    inprocess = runtime.InProcess
    monkeypatch.setattr(runtime, "InProcess", lambda *a, **how: inprocess(*a, **{**how, "maintain": flip}))
    assert played(name, merged, tmp_path, capsys)[1] == state
    assert played(name, split, tmp_path, capsys)[1] == state
