"""Texts of rules with parts of them replaced, for messages that show what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias

from .. import core
from ..errors.source import Span

Place: TypeAlias = tuple[int, int]
"""The offsets at which a part of a source begins and ends."""

Edit: TypeAlias = tuple[Place, str]
_SCOPED_NAME = re.compile(r"(?:\w+::)*(\w+)\s*\(")
_METHOD = re.compile(r"\s*\.\s*(?:\w+::)*(\w+)\s*\(")


def place_of(span: Span) -> Place:
    """The offsets at which a span begins and ends in the text of its source."""
    starts = _line_starts(span.source.text)
    return starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1


@lru_cache(maxsize=8)
def _line_starts(text: str) -> list[int]:
    return list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))


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
