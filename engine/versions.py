"""Which version of each term a delta join sees.

A join is multilinear, so its change is a sum with one delta join for each term that changed. In any order
of the terms, a delta join sees the terms before its own with their changes and the terms after it without:

                    A      B      C
    from ΔA         ΔA     z⁻¹    z⁻¹             Δ(A ⋈ B ⋈ C)  =  ΔA ⋈ z⁻¹B ⋈ z⁻¹C
    from ΔB         now    ΔB     z⁻¹                            +  A  ⋈ ΔB   ⋈ z⁻¹C
    from ΔC         now    now    ΔC                             +  A  ⋈ B    ⋈ ΔC

Negated terms come first in the order, then small changes before large ones, so that the largest change
meets the others' changes. In the first epoch every z⁻¹ is empty, and only the last line is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from .circuit import Term

Seen: TypeAlias = tuple[bool, ...]
"""For each term, whether it is seen with its change (now) or without it. The start's own entry says
nothing."""


def versions(terms: Sequence[Term], sizes: Sequence[int], first: bool) -> Iterator[tuple[int | None, Seen]]:
    """The terms to start delta joins from, each with the version that it sees of every term.

    `sizes` are the sizes of the terms' changes, 0 for a term without one. A body without positive terms
    holds once, from the first epoch on: its start is None, and the join starts from nothing.
    """
    order = [k for k, size in enumerate(sizes) if size]
    if len(order) == 1 and not first:
        yield order[0], (True,) * len(terms)
        return
    order.sort(key=lambda k: (not terms[k].negated, sizes[k]))
    if first:
        if all(term.negated or size for term, size in zip(terms, sizes, strict=True)):
            yield _last_positive(terms, order), (True,) * len(terms)
        return
    for position, start in enumerate(order):
        later = order[position + 1 :]
        yield start, tuple([k not in later for k in range(len(terms))])


def _last_positive(terms: Sequence[Term], order: Sequence[int]) -> int | None:
    return order[-1] if order and not terms[order[-1]].negated else None


def inner_versions(sources: Sequence[int | str]) -> tuple[tuple[int, str, Seen], ...]:
    """The variables among the sources of a rule in a recursion, by position, each with the version that its
    delta join sees: variables before it with this iteration's change, variables after it without, and all
    imports as they are."""
    return tuple(
        (start, source, tuple(isinstance(s, int) or k <= start for k, s in enumerate(sources)))
        for start, source in enumerate(sources)
        if isinstance(source, str)
    )
