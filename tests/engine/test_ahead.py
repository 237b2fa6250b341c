"""Machine code is made once, by processes beside, and whatever ends them leaves no code that is not whole."""

from __future__ import annotations

import fcntl
import os
import pkgutil
import signal
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from time import monotonic, sleep
from typing import Any

import numba
import numpy as np
import pytest

from ddlog.console.cli import main
from ddlog.engine.inprocess import kernels
from ddlog.engine.inprocess.kernels import ahead, beside, codefiles, compiler
from ddlog.engine.inprocess.kernels.signatures import numba_type, signatures

ONE = "module.kernel-sources-1.code"
COUNT = """
import sys
import numpy as np
from ddlog.engine.inprocess.kernels import ahead, compiler, postings

compiler.interpreted_seconds = -1
compiler.patient_seconds = {patience}
compiler.pause_seconds = {pause}
{before}
counts = np.zeros(3, np.int32)
postings.count(counts, np.array([0])) if {undone} else postings.count(np.array([0, 2, 2]), counts)
print(counts.tolist(), "numba" in sys.modules, flush=True)
"""


def begun(
    folder: Path | str, patience: int = -1, undone: bool = False, before: str = "", pause: float = 300
) -> subprocess.Popen[str]:
    """A process that calls one kernel, with a folder for code, after what comes before."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    script = COUNT.format(patience=patience, undone=undone, before=before, pause=pause)
    return subprocess.Popen(
        [sys.executable, "-c", script],
        env={**environment, "NUMBA_CACHE_DIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    return output


def kernels_of(folder: Path) -> set[str]:
    return {path.name.split("-")[0] for path in folder.glob("*.code") if path.stat().st_size}


def test_signatures_are_of_the_kernels_that_there_are() -> None:
    for module in pkgutil.iter_modules(kernels.__path__):
        import_module(f"{kernels.__name__}.{module.name}")
    there = {
        f"{each.__module__.rpartition('.')[2]}.{each.__name__}": len(signature(each).parameters)
        for each in {*compiler._kernels, *compiler.compiled}
        if each not in compiler._parts and each.__module__.startswith(kernels.__name__)
    }
    known = {f"{module}.{name}": len(types) for module, name, types in signatures()}
    assert known == there


def test_types_are_those_that_have_their_names() -> None:
    square = np.zeros((4, 4))
    square.flags.writeable = False
    nested = ((square, 3), (square, 2.5), ((square.T, True),) * 2)
    names = {name for _, _, types in signatures() for name in types} | {str(numba.typeof(nested[:2]))}
    for name in names | {str(numba.typeof(each)) for each in (square, square[::2], nested[2], (3, 4))}:
        assert str(numba_type(name)) == name


def test_code_is_made_once_by_processes_beside(tmp_path: Path) -> None:
    both = [begun(tmp_path) for _ in range(2)]
    # The one whose group is beside waits for it; the other one may compile by itself.
    assert all(ended(each).startswith("[1, 0, 2] ") for each in both)
    assert "postings.count" in kernels_of(tmp_path)
    assert ended(begun(tmp_path)) == "[1, 0, 2] False\n"  # loaded


@pytest.mark.parametrize("given", [{"patience": 9}, {"pause": 0.01}])
def test_while_code_is_made_little_is_interpreted(tmp_path: Path, given: dict[str, Any]) -> None:
    assert ended(begun(tmp_path, **given)) == "[1, 0, 2] False\n"
    assert "postings.count" not in kernels_of(tmp_path)
    with open(tmp_path / "ahead.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert "postings.count" in kernels_of(tmp_path)  # for the next process


def test_while_another_process_has_code_made_little_is_interpreted(tmp_path: Path) -> None:
    with open(tmp_path / "ahead.lock", "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert ended(begun(tmp_path, pause=0)) == "[1, 0, 2] False\n"


def test_types_that_are_not_known_are_compiled_too(tmp_path: Path) -> None:
    assert ended(begun(tmp_path, undone=True)) == "[0, 0, 0] False\n"
    assert "postings.count" in kernels_of(tmp_path)


def test_a_process_that_is_killed_leaves_none_beside_it_and_no_broken_code(tmp_path: Path) -> None:
    killed = begun(tmp_path)
    until = monotonic() + 60
    while not (tmp_path / "ahead.lock").exists() and monotonic() < until:
        sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    with open(tmp_path / "ahead.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # once all of the group have ended
    assert ended(begun(tmp_path)) == "[1, 0, 2] False\n"


def test_without_a_folder_to_write_to_each_process_compiles() -> None:
    assert ended(begun("/proc/none")) == "[1, 0, 2] True\n"


def test_a_copy_of_a_process_does_not_wait_for_processes_that_it_does_not_have(tmp_path: Path) -> None:
    copied = f"""
import fcntl
import os
import signal

postings.expand(*[np.zeros(2, np.int64)] * 2, np.zeros(1, np.int32), np.zeros(1, np.int32), 0, 0)
beside = [each.pid for each in ahead._beside]
if copy := os.fork():
    os._exit(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]))
signal.alarm(300)  # seconds, after which the test fails
for each in beside:
    os.kill(each, signal.SIGKILL)
with open({str(tmp_path / "ahead.lock")!r}) as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
compiler.patient_seconds = -1
"""
    assert ended(begun(tmp_path, patience=9, before=copied)) == "[1, 0, 2] False\n"


def test_files_of_another_user_are_let_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for name in (ONE, "ahead.lock"):
        (tmp_path / name).mkdir()  # cannot be opened, also by root
    with codefiles.locked(ONE) as file:
        assert file is None
    assert ahead.begin() == []
    assert ended(begun(tmp_path)) == "[1, 0, 2] True\n"


def test_without_a_home_there_is_no_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as it is for a user that has no name
    assert codefiles.folders() == [str(Path(kernels.__file__).parent / "__pycache__")]


def test_processes_beside_end_where_code_cannot_be_kept(tmp_path: Path) -> None:
    full = """
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from ddlog.engine.inprocess.kernels import beside

setrlimit(RLIMIT_FSIZE, (34, getrlimit(RLIMIT_FSIZE)[1]))  # bytes
print(beside.compile_known(lambda: iter([("postings", "count", ("array(int64, 1d, C)",) * 2)])))
exit()
"""
    assert ended(begun(tmp_path, before=full)) == "File too large\n"
    assert len([*tmp_path.iterdir()]) == 1


def test_processes_beside_find_the_modules_that_this_one_finds(tmp_path: Path) -> None:
    (tmp_path / "only_here.py").write_text("print('found', file=__import__('sys').stderr)")
    script = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from ddlog.engine import children
children.start("only_here").wait()
"""
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).stderr == b"found\n"


def test_processes_beside_make_no_code_of_other_sources(tmp_path: Path) -> None:
    program = [sys.executable, "-m", beside.__name__, "other"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    assert subprocess.run(program, env=environment, stdin=subprocess.PIPE).returncode == 0
    assert [*tmp_path.iterdir()] == []


def test_a_command_tells_that_kernels_cannot_be_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/none")
    assert main(["compile-kernels"]) == 1
    assert "/proc/none: cannot be written: no kernels can be kept there" in capsys.readouterr().err


def test_code_of_sources_that_have_changed_since_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert codefiles.writable() == str(tmp_path)
    monkeypatch.setattr(codefiles, "IMPORTED", codefiles.IMPORTED | {"hashing.py": (0, 0)})
    monkeypatch.setattr(codefiles, "are_imported", codefiles.are_imported.__wrapped__)
    with codefiles.locked(ONE) as file:
        assert file is None and codefiles.writable() is None
    assert not (tmp_path / ONE).exists()


@pytest.mark.long
def test_a_command_compiles_all_that_are_known(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    script = "from ddlog.console.cli import main; exit(main(['compile-kernels']))"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"the kernels are in {tmp_path}\n")
    assert kernels_of(tmp_path) == {f"{module}.{name}" for module, name, _ in signatures()}


def test_only_one_process_compiles_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with codefiles.locked(ONE) as file:
        assert file is not None and file.read() is None
        with codefiles.locked(ONE, wait=False) as other:
            assert other is None
        file.write(b"code")
        assert codefiles.read(ONE) == file.read() == b"code"
    (tmp_path / ONE).write_bytes((tmp_path / ONE).read_bytes() + b"?")
    assert codefiles.read(ONE) is None


def test_a_file_that_cannot_be_written_is_no_code_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    before = getrlimit(RLIMIT_FSIZE)
    with codefiles.locked(ONE) as file:
        assert file is not None
        setrlimit(RLIMIT_FSIZE, (34, before[1]))  # bytes: room for the digest, and for a part of the code
        try:
            assert file.write(b"code") == "File too large"
        finally:
            setrlimit(RLIMIT_FSIZE, before)
    assert codefiles.read(ONE) is None and (tmp_path / ONE).stat().st_size == 0


def test_old_code_of_other_sources_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for name in ("a.b-old-1.code", "a.b-new-1.code", "a.b-late-1.code", "a.c-old-1.code"):
        (tmp_path / name).touch()
        if "late" not in name:
            os.utime(tmp_path / name, (0, 0))
    with codefiles.locked("a.b-new-2.code") as file:
        assert file is not None
        file.write(b"code")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"a.b-new-1.code", "a.b-late-1.code", "a.c-old-1.code", "a.b-new-2.code"}
