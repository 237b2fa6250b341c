"""Runs of plain lines of change files of JSON, read at once: `{"insert": {"Edge": {"from": 1, "to": 2}}}`;
and runs of such lines with a commit after each.

A regular expression reads a line, and the values are converted column by column. What it does not match is
left to the reader of JSON lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..core import Relation, relation_named
from ..types import TypeDef
from ..values.plainforms import BLANKS, PatternForm, json_fields
from ..values.rows import Row
from ..values.shapes import forms_of
from .ahead import Ahead

_HEAD = re.compile(rf'\{{{BLANKS}"(insert|delete|insert_or_update)"{BLANKS}:{BLANKS}\{{{BLANKS}"([^"\\]+)"')
COMMIT = '{"commit": true}'
_COMMITS = [COMMIT]
_Line = tuple[PatternForm, re.Pattern[str]]


class JsonRuns:
    """Reads runs of lines that change one relation in one way, each line one row."""

    def __init__(self, relations: Mapping[str, Relation], typedefs: Mapping[str, TypeDef]) -> None:
        self._relations, self._typedefs = relations, typedefs
        self._lines: dict[tuple[str, str], list[_Line]] = {}
        self._ahead = Ahead()

    def read(self, lines: Sequence[str], at: int, alone: bool = False) -> tuple[str, str, list[Row]] | None:
        """The word, the relation and the rows of a run of lines from one on that have the same form; None if
        that line is not plain. `alone`: of lines with a commit after each."""
        head = _HEAD.match(lines[at])
        if head is None:
            return None
        word, name = head.groups()
        if (word, name) not in self._lines:
            self._lines[word, name] = self._made(word, name)
        for form, line in self._lines[word, name]:
            rows = self._ahead.rows(form, self._texts(line, lines, at, alone))
            if rows:
                return word, name, rows
        return None

    def _texts(
        self, line: re.Pattern[str], lines: Sequence[str], at: int, alone: bool
    ) -> list[tuple[str, ...]]:
        """The texts of the groups in the lines from one on, as far as they match."""
        texts: list[tuple[str, ...]] = []
        match, add, step = line.fullmatch, texts.append, 2 if alone else 1
        for each in range(at, min(len(lines), at + step * self._ahead.most), step):
            found = match(lines[each])
            if found is None or (alone and lines[each + 1 : each + 2] != _COMMITS):
                break
            add(found.groups())
        return texts

    def _made(self, word: str, name: str) -> list[_Line]:
        declared = relation_named(name, self._relations)
        if declared is None or declared.constructor is None:
            return []
        fields = tuple((column.name, column.type) for column in declared.columns)
        forms = forms_of(declared.constructor)
        lines: list[_Line] = []
        for by_position in (False, True):
            form = json_fields(fields, forms, None, self._typedefs, by_position)
            if form is not None:
                parts = [
                    "",
                    rf'\{{{BLANKS}"{word}"',
                    ":",
                    rf'\{{{BLANKS}"{name}"',
                    ":",
                    form.pattern,
                    r"\}",
                    r"\}",
                    "",
                ]
                lines.append((form, re.compile(BLANKS.join(parts))))
        return lines
