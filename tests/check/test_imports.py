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
