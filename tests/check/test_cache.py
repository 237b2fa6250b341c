"""Programs that were checked before: the same as when checked anew, and never what is no longer so."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ddlog
from ddlog.check import cache
from ddlog.check import program as checker
from ddlog.errors.diagnostics import DDlogError
from ddlog.syntax.cachefiles import cache_directory, keep_recent, read_cached, write_cached
from ddlog.syntax.privatefiles import _key_in, state_directory, user_key

from ..trying import longer

HOME = Path(__file__).parents[1]
CORPUS = sorted(HOME.glob("programs/corpus/*.dl"))
PROGRAMS = [*sorted(HOME.parent.glob("programs/*/*.dl")), *CORPUS[:: longer(8, 1)]]
PATHS = """
import shapes
input relation Edge(a: string, b: string)
output relation Path(a: string, b: string)
output relation Box(s: Side)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Box(side(2)).
"""
SHAPES = """
typedef Side = Side{n: u32}
function side(n: u32): Side { Side{n + 1} }
"""


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test; the folder of its entries."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _key_in.cache_clear()
    monkeypatch.delenv("DDLOG_CACHE", raising=False)
    return tmp_path / "cache" / "ddlog" / "programs"


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that were checked."""
    seen: list[str] = []
    original = checker.check_program

    def counted(source: object, *rest: object) -> object:
        seen.append(source.name)  # type: ignore[attr-defined]
        return original(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(checker, "check_program", counted)
    return seen


@pytest.fixture
def paths(tmp_path: Path) -> Path:
    """A program that imports a module beside it."""
    (tmp_path / "shapes.dl").write_text(SHAPES)
    (tmp_path / "paths.dl").write_text(PATHS)
    return tmp_path / "paths.dl"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_cached_program_is_the_checked_one(path: Path, checks: list[str]) -> None:
    try:
        first = ddlog.compile(path)
    except DDlogError:
        return
    second = ddlog.compile(path)
    assert len(checks) == 1
    assert second.checked == first.checked
    assert second.warnings == first.warnings
    rules = zip(first.checked.rules, second.checked.rules, strict=True)
    assert all(one.variables == other.variables and one.span == other.span for one, other in rules)


def test_a_cached_program_answers_queries(paths: Path, checks: list[str]) -> None:
    for _ in range(2):
        with ddlog.compile(paths).session() as session:
            session.insert("Edge", ("a", "b"), ("b", "c"))
            session.commit()
            assert len(session.query("Path(x, y), var s = side(1), var o = Some{s.n}")) == 3
            assert [tuple(row) for row in session.query("Box(s), var n = s.n + 1, var m = n")] != []
    assert len(checks) == 1


def test_a_query_sees_the_files_as_they_were(paths: Path) -> None:
    ddlog.compile(paths)
    with ddlog.compile(paths).session() as session:
        paths.with_name("shapes.dl").write_text("oops")
        assert len(session.query("var n = side(1).n")) == 1


def _edit(path: Path) -> None:
    path.write_text(path.read_text() + "output relation More(x: u32)\nMore(1).\n")


def _edit_import(path: Path) -> None:
    path.with_name("shapes.dl").write_text(SHAPES.replace("n + 1", "n + 2"))


@pytest.mark.parametrize("change", [_edit, _edit_import])
def test_what_has_changed_is_checked_again(
    paths: Path, checks: list[str], change: Callable[[Path], None]
) -> None:
    ddlog.compile(paths)
    change(paths)
    program = ddlog.compile(paths)
    assert len(checks) == 2
    assert program.checked == checker.check_program(program.source)[0]


def test_a_module_that_comes_to_be_is_found(paths: Path, tmp_path: Path, checks: list[str]) -> None:
    """A second file for an import is an error, though neither file of before has changed."""
    more = tmp_path / "more"
    more.mkdir()
    ddlog.compile(paths, library_paths=more)
    ddlog.compile(paths, library_paths=more)
    assert len(checks) == 1
    (more / "shapes.dl").write_text(SHAPES)
    with pytest.raises(DDlogError, match="shapes"):
        ddlog.compile(paths, library_paths=more)


def test_python_functions_are_loaded_anew(tmp_path: Path, checks: list[str]) -> None:
    path = tmp_path / "twice.dl"
    path.write_text("extern function twice(x: u32): u32\noutput relation R(x: u32)\nR(twice(2)).\n")
    answers = []
    for factor in (2, 3):
        path.with_suffix(".py").write_text(f"def twice(x):\n    return {factor} * x\n")
        with ddlog.compile(path).session() as session:
            answers.append([row[0] for row in session.query("R(x)")])
    assert answers == [[4], [6]]
    assert len(checks) == 1
    path.with_suffix(".py").write_text("def other(x): ...\n")
    with pytest.raises(DDlogError, match="twice"):
        ddlog.compile(path)


def test_python_code_that_comes_to_be_is_found(tmp_path: Path) -> None:
    path = tmp_path / "twice.dl"
    path.write_text("extern function twice(x: u32): u32\noutput relation R(x: u32)\nR(twice(2)).\n")
    assert ddlog.compile(path, externs="warn").warnings
    path.with_suffix(".py").write_text("def twice(x):\n    return 2 * x\n")
    assert not ddlog.compile(path).warnings


def test_wrong_programs_are_not_kept(tmp_path: Path, fresh: Path) -> None:
    path = tmp_path / "wrong.dl"
    path.write_text("R(1).\n")
    for _ in range(2):
        with pytest.raises(DDlogError):
            ddlog.compile(path)
    assert not fresh.exists()


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "shared", "linked", "renamed"])
def test_a_damaged_entry_is_made_again(paths: Path, fresh: Path, checks: list[str], damage: str) -> None:
    ddlog.compile(paths)
    (entry,) = fresh.iterdir()
    content = entry.read_bytes()
    match damage:
        case "cut":
            entry.write_bytes(content[: len(content) // 2])
        case "empty":
            entry.write_bytes(b"")
        case "flipped":
            entry.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        case "shared":
            entry.chmod(0o666)
        case "linked":
            entry.rename(fresh / "elsewhere")
            entry.symlink_to(fresh / "elsewhere")
        case "renamed":
            write_cached(fresh / "other", content)
            (fresh / "other").replace(entry)
    assert ddlog.compile(paths).checked.relations
    assert ddlog.compile(paths).checked.relations
    assert len(checks) == 2


def test_a_directory_that_cannot_be_written_does_no_harm(paths: Path, fresh: Path, checks: list[str]) -> None:
    fresh.parent.mkdir(parents=True)
    fresh.write_text("no directory")
    for _ in range(2):
        assert ddlog.compile(paths).checked.relations
    assert len(checks) == 2


def test_it_can_be_turned_off(paths: Path, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DDLOG_CACHE", "off")
    ddlog.compile(paths)
    assert not fresh.exists()


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    """A reader finds one of the contents whole, or nothing."""
    path = tmp_path / "entry"
    contents = [bytes([i]) * 100_000 for i in range(8)]

    def work(content: bytes) -> bool:
        found = []
        for _ in range(20):
            write_cached(path, content)
            found.append(read_cached(path))
        return all(each is None or each in contents for each in found)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, contents))
    assert read_cached(path) in contents
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_processes_at_the_same_time(paths: Path, fresh: Path) -> None:
    code = f"import ddlog; print(len(ddlog.compile({str(paths)!r}).relations))"
    runs = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert {run.communicate()[0] for run in runs} == {"3\n"}
    assert len(list(fresh.iterdir())) == 1


def test_a_relative_cache_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, "repository")
    assert cache_directory() == tmp_path / ".cache" / "ddlog"
    assert state_directory() == tmp_path / ".local" / "state" / "ddlog"
    monkeypatch.setenv("HOME", ".")
    assert cache_directory() is state_directory() is user_key() is None


def test_an_entry_of_another_user_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who can write into the folder of the cache still has no key for the digest."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    write_cached(tmp_path / "entry", b"cos\nsystem\n")
    assert read_cached(tmp_path / "entry") is not None
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "mine"))
    assert read_cached(tmp_path / "entry") is None


def test_the_key_is_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "state" / "ddlog"
    key = user_key()
    assert key is not None and (folder / "key").read_bytes() == key
    assert [each.name for each in folder.iterdir()] == ["key"]
    assert (folder / "key").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "key").chmod(0o640)
    _key_in.cache_clear()
    assert user_key() is None
    write_cached(tmp_path / "entry", b"content")
    assert not (tmp_path / "entry").exists()


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_is_not_read(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    write_cached(folder / "own" / "entry", b"content")
    assert read_cached(folder / "own" / "entry") == b"content"
    if os.getuid() == 0:
        os.chown(folder, -1, 12345)
    elif mode == 0o770:
        pytest.skip("the group of the folder may be the user's own")
    folder.chmod(mode)
    assert read_cached(folder / "own" / "entry") is None
    folder.chmod(mode | stat.S_ISVTX)
    assert (read_cached(folder / "own" / "entry") is None) == (mode == 0o770)


def test_old_entries_are_removed(tmp_path: Path) -> None:
    for i in range(6):
        write_cached(tmp_path / str(i), b"x" * 1000)
        os.utime(tmp_path / str(i), (i + 1, i + 1))
    keep_recent(tmp_path, 4, 1 << 20)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["2", "3", "4", "5"]
    keep_recent(tmp_path, 4, 2500)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["4", "5"]


def test_the_files_of_ddlog_are_part_of_the_key() -> None:
    names = {Path(name).name for name, _, _ in cache._own_files()}
    assert {"grammar.lark", "ddlog_std.dl", "program.py", "stratify.py", "expressions.py"} <= names


def test_a_program_of_sql_starts_without_the_parser_of_sql(tmp_path: Path) -> None:
    module = tmp_path / "views.sql"
    module.write_text("CREATE TABLE t (a INTEGER); CREATE VIEW v AS SELECT a + 1 AS b FROM t;")
    ddlog.compile(module)
    script = (
        "import sys, ddlog; sys.modules['sqlglot'] = None; session = ddlog.compile(sys.argv[1]).session(); "
    )
    script += "session.start(); session.insert('T', (1,)); print(session.commit())"
    done = subprocess.run(
        [sys.executable, "-c", script, str(module)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "V:\nV{.b = 2}: +1\n", done.stderr
