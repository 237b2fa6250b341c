"""The TextMate grammar of editors/vscode is made of the lexer's tables."""

from __future__ import annotations

from .textmate import GRAMMAR, text


def test_the_grammar_is_current() -> None:
    assert GRAMMAR.read_text(encoding="utf-8") == text(), "python -m tests.textmate writes it"
