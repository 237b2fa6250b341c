"""Writes the TextMate grammar of editors/vscode, of the lexer's tables: `python -m tests.textmate`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ddlog.syntax.lexer import _TOKEN, RESERVED, SPELLINGS
from ddlog.syntax.tables import tables

GRAMMAR = Path(__file__).parent.parent / "editors" / "vscode" / "syntaxes" / "ddlog.tmLanguage.json"

TYPES = ("bigint", "bit", "bool", "double", "float", "signed", "string")
CONSTANTS = ("true", "false")
CONTROL = (
    "if", "else", "for", "match", "return", "break", "continue", "skip", "FlatMap", "Aggregate", "Inspect",
    "not", "and", "or", "in", "as",
)  # fmt: skip
SOFT = {"index": r"(?=\s+[A-Z])", "initial": r"(?=\s+&?[A-Z])", "on": r"(?:(?<=\))|(?<=\)\s))"}
"""Words that are names elsewhere, and what must stand beside them."""
ESCAPE = r"\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|.)"
LEVELS = {0: ESCAPE, 1: r'\\{2,}.?|\\(?!")', 2: r"\\{4,}.?|\\{1,2}(?!\\)"}
"""The escapes in a string by its depth in others: its quotes stand after 0, 1 or 3 backslashes."""


def grammar() -> dict[str, Any]:
    """The grammar."""
    words = {each for each in tables().words if each.isalpha()} | {*SPELLINGS} | RESERVED
    rest = words - {*TYPES, *CONSTANTS, *CONTROL, *SOFT}
    strings = [{"include": f"#string{level}"} for level in reversed(LEVELS)]
    code = [
        {"include": "#comment"},
        {"include": "#raw"},
        {"include": "#cooked"},
        *strings,
        _match("keyword.other.ddlog", r"\bprimary\s+key\b"),
        *(_match("keyword.other.ddlog", rf"\b{word}\b{beside}" if word != "on" else rf"{beside}\bon\b")
          for word, beside in SOFT.items()),
        _match("support.type.ddlog", _any(TYPES)),
        _match("constant.language.ddlog", _any(CONSTANTS)),
        _match("keyword.control.ddlog", _any(CONTROL)),
        _match("keyword.other.ddlog", _any(rest)),
        *(_match("constant.numeric.ddlog", _of_lexer(kind)) for kind in ("SIZED", "DECIMAL", "INTEGER")),
        _match("entity.name.type.parameter.ddlog", _of_lexer("TYPEVAR")),
        _match("variable.language.ddlog", r"\b_\b"),
        _match("variable.other.member.ddlog", r"(?<=\.)(?:[A-Za-z_]\w*::)*[a-z_]\w*"),
        _match("entity.name.type.ddlog", r"(?:\b[A-Za-z_]\w*::)*\b_*[A-Z]\w*"),
        _match("entity.name.function.ddlog", r"(?:\b[A-Za-z_]\w*::)*\b[a-z_]\w*(?=\s*\()"),
        _match("variable.other.ddlog", r"(?:\b[A-Za-z_]\w*::)*\b[a-z_]\w*"),
        _match("keyword.operator.ddlog", _signs()),
        _match("punctuation.ddlog", r"[()\[\]{},;.:#]"),
    ]  # fmt: skip
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Differential Datalog",
        "scopeName": "source.ddlog",
        "patterns": [{"include": "#code"}],
        "repository": {
            "code": {"patterns": code},
            "block": {
                "begin": r"\{",
                "end": r"\}",
                "captures": {"0": {"name": "punctuation.ddlog"}},
                "patterns": [{"include": "#block"}, {"include": "#code"}],
            },
            "comment": {
                "patterns": [
                    _match("comment.line.double-slash.ddlog", "//.*$"),
                    {"include": "#nested"},
                ]
            },
            "nested": _region("comment.block.ddlog", r"/\*", r"\*/", [{"include": "#nested"}]),
            "splice": {
                "name": "meta.embedded.ddlog",
                "begin": r"\$\{",
                "end": r"\}",
                "captures": {"0": {"name": "punctuation.section.embedded.ddlog"}},
                "patterns": [{"include": "#block"}, {"include": "#code"}],
            },
            "raw": _region("string.quoted.other.raw.ddlog", r"i?\[\|", r"\|\]", []),
            "cooked": _region("string.quoted.other.ddlog", r"i?\$\[\|", r"\|\]", [{"include": "#splice"}]),
            **{f"string{level}": _string(level, escape) for level, escape in LEVELS.items()},
        },
    }


def _string(level: int, escape: str) -> dict[str, Any]:
    """A string in quotes, which ends on its line."""
    quote = "\\\\" * ((1 << level) - 1) + '"'
    inside = [{"include": "#splice"}, _match("constant.character.escape.ddlog", escape)]
    return _region("string.quoted.double.ddlog", f"i?{quote}", rf"{quote}|(?<![\\\n])$", inside)


def _region(name: str, begin: str, end: str, patterns: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {"name": name, "begin": begin, "end": end, "patterns": list(patterns)}


def _match(name: str, pattern: str) -> dict[str, str]:
    return {"name": name, "match": pattern}


def _any(words: Iterable[str]) -> str:
    return rf"\b(?:{'|'.join(sorted(words))})\b(?!::)"


def _signs() -> str:
    signs = sorted((each for each in tables().words if not re.match(r"[\w()\[\]{},;.:#]|\w", each)), key=len)
    return "|".join(re.escape(each) for each in [":-", *reversed(signs)])


def _of_lexer(kind: str) -> str:
    """The pattern by which the lexer knows a kind of token."""
    found = re.search(rf"\(\?P<{kind}>(.*?)\)\n\s*(?:\||$)", _TOKEN.pattern, re.DOTALL)
    assert found is not None
    return re.sub(r"\s+", "", found[1])


def text() -> str:
    """The text of the file."""
    return json.dumps(grammar(), indent=2) + "\n"


if __name__ == "__main__":
    GRAMMAR.write_text(text(), encoding="utf-8")
