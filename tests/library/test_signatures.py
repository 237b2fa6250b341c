"""The library declares every function of the language reference, as it stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddlog import stdlib, syntax
from ddlog.errors.source import Source
from ddlog.syntax.parser import parse_program

FOLDER = Path(__file__).parent / "signatures"
MODULES = sorted(file.relative_to(FOLDER).with_suffix("") for file in FOLDER.rglob("*.txt"))
LIBRARY = Path(str(stdlib.__file__)).parent


def functions(text: str) -> list[syntax.FunctionDecl]:
    """The functions that a text declares."""
    module, diagnostics = parse_program(Source("test.dl", text))
    assert module is not None and not diagnostics
    return [each for each in module.declarations if isinstance(each, syntax.FunctionDecl)]


def shape(function: syntax.FunctionDecl) -> tuple[object, ...]:
    """What a caller sees of a function. No result is the unit type."""
    parameters = tuple((each.name, each.type, each.mutable) for each in function.parameters)
    return function.name, parameters, function.result


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_functions_are_declared(module: Path) -> None:
    declared = {shape(each) for each in functions((LIBRARY / module).with_suffix(".dl").read_text())}
    listed = (FOLDER / module).with_suffix(".txt").read_text().splitlines()
    assert listed
    missing = [
        line
        for line in listed
        if not {shape(each) for each in functions(f"extern function {line}")} <= declared
    ]
    assert missing == []
