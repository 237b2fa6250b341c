"""The TextMate grammar of editors/vscode is made of the lexer's tables, and colors what the lexer reads."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ddlog.errors.source import Source
from ddlog.syntax.lexer import Places, Token, tokenize

from .textmate import CONSTANTS, CONTROL, GRAMMAR, TYPES, grammar, text

ROOT = Path(__file__).parent.parent
PROGRAMS = [*sorted((ROOT / "programs").glob("*/*.dl")), *sorted((ROOT / "stdlib").glob("*.dl"))]
CODE = """\
O("a ${f(\\"b ${g(\\\\\\"c\\\\\\")} \\\\n d\\")} ${h("e")} \\"f\\"") :- I(x), x == i"g", y == 8'hff. // "h
/* "i /* j */ k" */ O($[|l ${m({n})} "|], [|o ${p}|], 1.5e3, 'A, u::v::W{.x = w.z}, not _.
input relation R(x: bit<32>) primary key (r) r.x
index I(x: u32) on R(x)
"""


def wanted(token: Token) -> str:
    """The beginning of the scope of a token."""
    word = token.value
    match token.kind:
        case "TEXT" | "QUOTED" | "_OPEN_STRING" | "_CLOSE_STRING":
            return "string|constant.character"
        case "_OPEN_SPLICE":
            return "punctuation.section.embedded"
        case "SIZED" | "DECIMAL" | "INTEGER":
            return "constant.numeric"
        case "TYPEVAR":
            return "entity.name.type.parameter"
        case "UPPER":
            return "entity.name.type"
        case "LOWER":
            return "variable.other|entity.name.function"
        case "MEMBER" | "ITEM" | "_INTERN":
            return ""  # its first character is the period, or the quote's
    if word in TYPES:
        return "support.type"
    if word in CONSTANTS:
        return "constant.language"
    if word in CONTROL:
        return "keyword.control"
    if word == "_":
        return "variable.language"
    return "keyword" if word[:1].isalpha() else "keyword.operator|punctuation"


REPOSITORY = {f"#{name}": rule for name, rule in grammar()["repository"].items()}
Rule = Mapping[str, Any]


def rules(patterns: Sequence[Rule]) -> Iterator[Rule]:
    """The rules of a list of patterns, with those that it includes in their places."""
    for each in patterns:
        found = REPOSITORY[each["include"]] if "include" in each else each
        if "match" in found or "begin" in found:
            yield found
        else:
            yield from rules(found["patterns"])


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class Line:
    """A line that is read from `at` on, and the first match of each pattern from there."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.matches: dict[str, re.Match[str] | None] = {}

    def begin(self, pattern: str) -> int:
        """Where the first match of a pattern begins; behind the line for none."""
        known = self.matches.get(pattern)
        if pattern not in self.matches or (known is not None and known.start() < self.at):
            known = self.matches[pattern] = compiled(pattern).search(self.text, self.at)
        return len(self.text) + 1 if known is None else known.start()


def scopes(program: str) -> list[list[tuple[int, str]]]:
    """Of each line the places where a scope begins. As editors do: of all rules that can follow, the one that
    matches first, and of several at one place the end of the region around it, then the first in order."""
    regions: list[Rule] = [{"patterns": grammar()["patterns"]}]
    inside = [list(rules(regions[0]["patterns"]))]
    found = []
    for each in program.split("\n"):
        line, marks = Line(f"{each}\n"), [(0, regions[-1].get("name", ""))]
        while line.at < len(each):
            ends = [regions[-1]["end"]] if "end" in regions[-1] else []
            own = [rule.get("match", rule.get("begin")) for rule in inside[-1]]
            pattern = min([*ends, *own], key=line.begin)
            match = line.matches[pattern]
            if match is None:
                break
            if ends and pattern == ends[0]:
                rule = regions.pop()
                inside.pop()
            else:
                rule = inside[-1][own.index(pattern)]
                if "begin" in rule:
                    regions.append(rule)
                    inside.append(list(rules(rule["patterns"])))
            sign = rule.get("captures", {}).get("0", rule)
            line.at = match.end()
            marks += [(match.start(), sign.get("name", "")), (line.at, regions[-1].get("name", ""))]
        found.append(marks)
    return found


def assert_colored(program: str) -> None:
    lines = program.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    marks = scopes(program)
    for token in tokenize(Places(Source("p.dl", program))).tokens:
        line = bisect_right(starts, token.start) - 1
        column = token.start - starts[line]
        scope = next(name for at, name in reversed(marks[line]) if at <= column)
        right = scope.startswith(tuple(wanted(token).split("|")))
        assert right, f"{line + 1}: {lines[line]}\n{token} is {scope}"


def test_the_grammar_is_current() -> None:
    assert GRAMMAR.read_text(encoding="utf-8") == text(), "python -m tests.textmate writes it"


def test_strings_in_strings_comments_and_soft_words() -> None:
    assert_colored(CODE)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs(path: Path) -> None:
    assert_colored(path.read_text())
