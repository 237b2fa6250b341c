"""Which file an import is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddlog.console.cli import main

PROGRAM = 'import intern\noutput relation R(x: istring)\nR("a".intern()).\n'
HALF = "extern type Intern<'A>\nextern function intern(x: 'A): Intern<'A>\n"


def test_a_module_of_another_installation_without_its_extern_half_is_the_library_s(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "intern.dl").write_text(HALF, encoding="utf-8")
    program = tmp_path / "program.dl"
    program.write_text(PROGRAM, encoding="utf-8")
    for _ in ("checked", "from the cache"):
        assert main(["run", str(program), "-L", str(tmp_path / "lib")]) == 0
        printed = capsys.readouterr()
        assert printed.out == 'R:\nR{.x = "a"}\n\n'
        assert "warning: " in printed.err
        assert f"module intern is the one of the library: {tmp_path}/lib/intern.dl has" in printed.err


def test_inputs_of_imported_modules_may_be_for_other_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = "input relation A(x: u32)\ninput relation B(x: u32)\nrelation C(x: u32)\nC(x) :- B(x).\n"
    (tmp_path / "tables.dl").write_text(tables, encoding="utf-8")
    program = tmp_path / "program.dl"
    program.write_text("import tables\ninput relation D(x: u32)\n", encoding="utf-8")
    assert main(["check", str(program)]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith(("warning", "  help"))]
    assert [line.partition(": ")[2].partition(": ")[2] for line in lines[::2]] == [
        "relation `D` is never read",
        "relation `tables::C` is never read",
    ]
    assert lines[1] == "  help: read it in a rule, or remove it"


def test_a_module_that_imports_the_main_one_sees_that_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "part.dl").write_text(
        "import whole\nimport whole as w\nrelation B(n: w::N)\nB(next(N{x})) :- whole::A(x), A(x).\n", "utf-8"
    )
    program = tmp_path / "whole.dl"
    program.write_text(
        "import part\ntypedef N = N{x: u32}\nfunction next(n: N): N { N{n.x + 1} }\n"
        "input relation A(x: u32)\nA(1).\noutput relation O(n: N)\nO(n) :- B(n).\n",
        "utf-8",
    )
    assert main(["run", str(program)]) == 0
    assert capsys.readouterr().out == "O:\nO{.n = N{.x = 2}}\n\n"
