"""Errors by code: the examples give what they are for, and docs/errors.md and the command say so."""

from __future__ import annotations

import pytest

from ddlog.console.cli import main
from ddlog.console.examples import errors_of
from ddlog.console.explainerror import heading
from ddlog.errors.codes import codes
from ddlog.errors.diagnostics import render
from ddlog.errors.explanations import _HOME, _sections, explanations

from .errorspage import PAGE, page

FOUND = explanations()
EXAMPLES = {code: each.example for code, each in FOUND.items() if each.example is not None}


def test_the_wrong_program_of_an_example_has_this_error_alone_and_the_right_one_none() -> None:
    for code, example in EXAMPLES.items():
        wrong = errors_of(example.wrong, example.language)
        assert {type(each) for each in wrong} == {FOUND[code].kind}, f"{code}:\n{render(wrong)}"
        assert render(errors_of(example.right, example.language)) == "", code


def test_every_kind_says_when_it_arises_and_what_to_do() -> None:
    for each in FOUND.values():
        assert each.kind.__doc__, each
        advised = each.kind.suggestion or "hint" in vars(each.kind)
        assert each.remark or each.example or advised, heading(each)


def test_every_kind_has_an_example_or_says_what_one_takes() -> None:
    assert [heading(each) for each in FOUND.values() if each.example is None and not each.takes] == []


def test_every_section_is_about_a_kind() -> None:
    for path in _HOME.glob("*.md"):
        own = {name for file, name in codes().values() if file == path.stem}
        assert not _sections(path.stem).keys() - own, path.name
        assert len(_sections(path.stem)) == path.read_text(encoding="utf-8").count("\n## ") + 1


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.errorspage writes it"


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain-error", "dl0206"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("DL0206: Unknown relation `…`\n\nA relation that is not declared.\n\nwrong:\n")
    assert "    Path(x, y) :- Edgee(x, y).\n" in told and "  help: did you mean `Edge`?\n" in told
    assert main(["explain-error"]) == 0
    assert capsys.readouterr().out.count("\n") == len(codes())
    assert main(["explain-error", "DL206"]) == 1
    assert "unknown code of an error `DL206`" in capsys.readouterr().err
