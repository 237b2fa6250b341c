"""Programs of FlowLog: types that say their size, and aggregates in heads."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddlog.console.cli import main
from ddlog.engine.inprocess import runtime

from ..engine.reference_runtime import ReferenceRuntime

PATHS = Path(__file__).parent / "flowlog" / "paths.dl"
ARCS = "1,2,9\n1,3,2\n3,2,3\n2,1,4\n5,6,7\n"
WANTED = {
    "Far": "1\t0\n2\t5\n3\t2\n",
    "Group": "1\t1\n2\t1\n3\t1\n5\t5\n6\t5\n",
    "Heaviest": "1\t9\n2\t4\n3\t3\n5\t7\n",
    "Degree": "1\t2\t11\n2\t1\t4\n3\t1\t3\n5\t1\t7\n",
    "Mean": "1\t5\n2\t4\n3\t3\n5\t7\n",
    "Tags": "1\t2\n4294967296\t1\n",
    "Weight": "1\t1\n4294967296\t2\n",
}


@pytest.mark.parametrize("evaluation", ["in process", "reference"])
def test_a_program_gives_its_files(tmp_path: Path, evaluation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if evaluation == "reference":
        monkeypatch.setattr(runtime, "InProcess", lambda circuit, *_, **__: ReferenceRuntime(circuit))
    (tmp_path / "Arc.csv").write_text(ARCS)
    places = ["-F", str(tmp_path), "-D", str(tmp_path / "out")]
    assert main(["import-souffle", str(PATHS), "--dialect", "flowlog", "--run", *places]) == 0
    assert {path.stem: path.read_text() for path in (tmp_path / "out").iterdir()} == WANTED


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("R(x, min(y)) :- E(x, y). R(x, max(y)) :- E(x, y).", "the rules of R have different aggregates"),
        ("R(x, sum(y)) :- R(x, y).", "this aggregate"),
        ("R(x, median(y)) :- E(x, y).", "median"),
    ],
)
def test_wrong_aggregates(rules: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "p.dl"
    program.write_text(f".decl E(x: int32, y: int32)\n.decl R(x: int32, y: int32)\n{rules}\n.output R\n")
    assert main(["import-souffle", str(program), "--dialect", "flowlog"]) == 1
    assert said in capsys.readouterr().err
