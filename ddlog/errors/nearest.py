"""The name that was probably meant, for messages that say so."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that is most like the name, or None when none is close.

    A difference in upper and lower case counts little; otherwise a third of the letters may differ. Names
    with a `$` are not the user's.
    """
    allowed = max(1, len(name) // 3)
    others = [other for other in dict.fromkeys(candidates) if other != name and "$" not in other]
    scored = [(_score(name, other), other) for other in others]
    close = [(score, other) for score, other in scored if score <= allowed]
    return min(close)[1] if close else None


def _score(name: str, other: str) -> float:
    if abs(len(name) - len(other)) > max(1, len(name) // 3):
        return float("inf")
    if name.lower() == other.lower():
        return 0.5
    return _edits(name, other)


def _edits(a: str, b: str) -> int:
    """The least number of insertions, deletions, replacements and swaps of neighbours from a to b."""
    before: list[int] = []
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]
