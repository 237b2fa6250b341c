"""The names of a document by what they stand for, in the numbers of the protocol."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from .analysis import Analysis
from .occurrences import CONSTRUCTOR, FIELD, FUNCTION, INDEX, MODULE, RELATION, TYPE, VARIABLE
from .pieces import Parsed, PlacedPiece

KINDS = {
    RELATION: "struct",
    TYPE: "type",
    CONSTRUCTOR: "enumMember",
    FUNCTION: "function",
    VARIABLE: "variable",
    FIELD: "property",
    MODULE: "namespace",
    INDEX: "struct",
}
LEGEND = sorted(set(KINDS.values()))
_NUMBERS = {kind: LEGEND.index(name) for kind, name in KINDS.items()}
Units = Callable[[str], int]
"""The number of units of the client in a text."""


def tokens(analysis: Analysis, units: Units, pieces: Sequence[PlacedPiece] | None = None) -> array[int]:
    """Five numbers a name: the lines and then the units from the last one, the length, the kind, and whether
    it is a declaration. `pieces` are a part of those of the document."""
    data = array("I")
    line = 0
    for piece in analysis.pieces if pieces is None else pieces:
        own = _of_piece(piece.parsed, units)
        if own:
            at = len(data)
            data += own
            data[at] += piece.first - line
            line = piece.first + sum(own[::5])
    return data


def _of_piece(parsed: Parsed, units: Units) -> array[int]:
    """The numbers of a piece, from its first line on. They stay with it."""
    if parsed.tokens is None:
        found: list[int] = []
        line, column = 1, 0
        for each in parsed.occurrences:
            span = each.span
            if span.line != span.end_line:
                continue
            text = parsed.source.line(span.line)
            begin, length = units(text[: span.column - 1]), units(text[span.column - 1 : span.end_column - 1])
            if (span.line, begin) < (line, column):
                continue
            moved = begin - column if span.line == line else begin
            found += [span.line - line, moved, length, _NUMBERS[each.kind], int(each.declares)]
            line, column = span.line, begin
        parsed.tokens = array("I", found)
    return parsed.tokens


def edit(old: Sequence[int], new: Sequence[int]) -> tuple[int, int, Sequence[int]]:
    """What makes the new numbers of the old ones: a place, how many go there, and which come."""
    one, other = (array("I", each).tobytes() for each in (old, new))
    most = min(len(old), len(new))
    same = _common(most, lambda low, high: one[low:high] == other[low:high])
    last = _common(
        most - same,
        lambda low, high: (
            one[len(one) - high : len(one) - low] == other[len(other) - high : len(other) - low]
        ),
    )
    return same, len(old) - last - same, new[same : len(new) - last]


def _common(most: int, equal: Callable[[int, int], bool]) -> int:
    """How many numbers are the same; `equal` compares bytes of them, counted from where they begin."""
    low, high, size = 0, most, array("I").itemsize
    while low < high:
        middle = (low + high + 1) // 2
        if equal(low * size, middle * size):
            low = middle
        else:
            high = middle - 1
    return low
