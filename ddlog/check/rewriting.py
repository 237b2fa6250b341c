"""Texts of rules with parts of them replaced, for messages that show what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from .. import core
from ..errors.source import Source, Span

Place: TypeAlias = tuple[int, int]
"""Where a part of a source begins and ends."""

Edit: TypeAlias = tuple[Place, str]
_SCOPED_NAME = re.compile(r"(?:\w+::)*(\w+)\s*\(")
_METHOD = re.compile(r"\s*\.\s*(?:\w+::)*(\w+)\s*\(")


def place_of(span: Span) -> Place:
    """Where a span begins and ends in the text of its source."""
    begin = _offset(span.source, span.line, span.column)
    return begin, _offset(span.source, span.end_line, span.end_column)


def _offset(source: Source, line: int, column: int) -> int:
    position = 0
    for _ in range(line - 1):
        position = source.text.index("\n", position) + 1
    return position + column - 1


def rewritten(span: Span, edits: Iterable[Edit]) -> str | None:
    """The text of a span with parts of it replaced; None if they overlap, or are not in it."""
    begin, end = place_of(span)
    made, position = "", begin
    for (start, stop), text in sorted(set(edits)):
        if not position <= start <= stop <= end:
            return None
        made += span.source.text[position:start] + text
        position = stop
    return made + span.source.text[position:end]


def called_name(call: core.Call, name: str) -> Place | None:
    """The place of the function's name in a call, which may be written as a method of its first argument."""
    text = call.span.source.text
    begin, _ = place_of(call.span)
    _, first_end = place_of(call.args[0].span)
    for found in (_METHOD.match(text, first_end), _SCOPED_NAME.match(text, begin)):
        if found is not None and found.group(1) == name:
            return found.span(1)
    return None
