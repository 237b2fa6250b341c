"""Programs of FlowLog: sized types, aggregates in heads, tuples, truth values, loops, orders of results."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddlog.console.cli import main
from ddlog.engine.inprocess import runtime

from ..engine.reference_runtime import ReferenceRuntime

HERE = Path(__file__).parent / "flowlog"
FACTS = {
    "Arc.csv": "1,2,9\n1,3,2\n3,2,3\n2,1,4\n5,6,7\n",
    "Person.csv": "1,ann,TRUE,0.5\n2,bob,false,1e-4\n3,cyd,True,1.5e2\n",
}
PATHS = {
    "Far": "1\t0\n2\t5\n3\t2\n",
    "Group": "1\t1\n2\t1\n3\t1\n5\t5\n6\t5\n",
    "Heaviest": "1\t9\n2\t4\n3\t3\n5\t7\n",
    "Degree": "1\t2\t11\n2\t1\t4\n3\t1\t3\n5\t1\t7\n",
    "Mean": "1\t5\n2\t4\n3\t3\n5\t7\n",
    "Tags": "1\t2\n4294967296\t1\n",
    "Weight": "1\t1\n4294967296\t2\n",
}
FORMS = {
    "Active": "1\tann\n3\tcyd\n",
    "Any": "True\n",
    "Flag": "1\ttrue\n2\tfalse\n3\ttrue\n9\tfalse\n",
    "Label": "ann is bob\nann is cyd\nbob is ann\nbob is cyd\ncyd is ann\ncyd is bob\n",
    "Nests": "(bob, (ann, bob))\n(cyd, (ann, cyd))\n(cyd, (bob, cyd))\n",
    "None": "",
    "Ones": "(bob,)\n(cyd,)\n",
    "Only": "bob\ncyd\n",
    "Pairs": "(ann, bob)\n(ann, cyd)\n(bob, cyd)\n",
    "Reach": "1\t2\n1\t3\n2\t3\n",
    "Score": "cyd\t150000\nann\t500\n",
    "Wide": "1\n2\n3\n",
}


@pytest.mark.parametrize(("program", "wanted"), [("paths", PATHS), ("forms", FORMS)])
@pytest.mark.parametrize("evaluation", ["in process", "reference"])
def test_a_program_gives_its_files(
    program: str, wanted: dict[str, str], tmp_path: Path, evaluation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if evaluation == "reference":
        monkeypatch.setattr(runtime, "InProcess", lambda circuit, *_, **__: ReferenceRuntime(circuit))
    for name, text in FACTS.items():
        (tmp_path / name).write_text(text)
    places = ["-F", str(tmp_path), "-D", str(tmp_path / "out")]
    assert (
        main(["import-souffle", str(HERE / f"{program}.dl"), "--dialect", "flowlog", "--run", *places]) == 0
    )
    assert {path.stem: path.read_text() for path in (tmp_path / "out").iterdir()} == wanted


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("R(x, min(y)) :- E(x, y). R(x, max(y)) :- E(x, y).", "the rules of R have different aggregates"),
        ("R(x, sum(y)) :- R(x, y).", "this aggregate"),
        ("R(x, median(y)) :- E(x, y).", "median"),
        ("loop iterative { R } { R(x, y) :- E(x, y). }", "`loop iterative` cannot be translated"),
        ("loop 3 { R(x, y) :- E(x, y). }", "`loop 3` cannot be translated"),
        (".extern fn twice(x: int32) -> int32\nR(x, y) :- E(x, y).", "`.extern` cannot be translated"),
        ("R(x, true) :- E(x, _).", "truth value"),
    ],
)
def test_forms_that_are_refused(
    rules: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.dl"
    program.write_text(f".decl E(x: int32, y: int32)\n.decl R(x: int32, y: int32)\n{rules}\n.output R\n")
    assert main(["import-souffle", str(program), "--dialect", "flowlog"]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("parameter", "said"), [('order_by="z"', "order_by"), ('limit="few"', "limit")])
def test_orders_and_limits_are_checked(
    parameter: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "p.dl"
    program.write_text(f".decl R(x: number)\nR(1).\n.output R({parameter})\n")
    assert main(["import-souffle", str(program), "--run", "-D", "-"]) == 1
    assert said in capsys.readouterr().err


def test_a_program_of_flowlog_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only where all of it is one: an error in it is told as one of Soufflé."""
    path = tmp_path / "p.dl"
    for text, told in (
        (".decl A(x: int32)\nA(1).\n.output A\n", "p.dl is a program of FlowLog"),
        (".decl A(x: int32)\nA(1).\nA(y) :- A(x).\n", "unknown type `int32`"),
    ):
        path.write_text(text)
        assert main(["import-souffle", str(path)]) == 1
        err = capsys.readouterr().err
        assert told in err and ("--dialect flowlog` takes it" in err) == ("FlowLog" in told)
