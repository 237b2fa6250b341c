"""The name that was probably meant, for messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that is most like the name, or None if no candidate is close.

    A third of the letters of the name may be inserted, deleted, replaced or swapped with a neighbour. A
    difference only in upper and lower case is closest, then one in the module before the name, then a missing
    end. A name of one letter is like no other one. Generated names, with a `$`, are no candidates.
    """
    allowed = max(1, len(name) // 3)
    others = {other for other in candidates if other != name and "$" not in other}
    scored = [(_distance(name, other, allowed), other) for other in others]
    return min(
        ((score, other) for score, other in scored if score <= allowed and score < len(name)),
        default=(0, None),
    )[1]


def meant(near: str | None, otherwise: str = "") -> str:
    """The help that a name was perhaps meant; `otherwise` if there is none."""
    return f"did you mean `{near}`?" if near else otherwise


def meant_of(name: str, known: Sequence[str], what: str) -> str:
    """The help that names the nearest of the known names, or says what they are."""
    return meant(nearest(name, known), f"{what} are {', '.join(known) or 'none'}")


def _distance(name: str, other: str, allowed: int) -> float:
    if name.lower() == other.lower():
        return 0.5
    if name.rpartition("::")[2] == other.rpartition("::")[2]:
        return 0.6
    if len(name) > 3 and other.startswith(name) and len(other) < 2 * len(name):
        return 0.7 + len(other) / 1000
    from rapidfuzz.distance import OSA  # imported when there is an error: it takes 20 ms

    return OSA.distance(name, other, score_cutoff=allowed)
