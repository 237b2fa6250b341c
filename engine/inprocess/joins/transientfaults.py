"""Faults of joins that do not count, since their valuations come and go within one epoch.

The delta joins of an epoch may derive a valuation that is there neither before nor after it: once with a
positive and once with a negative weight. With B(1) and C(0) before, an epoch that brings A(1, 0) and takes
C(0) away derives the body `A(x, y), B(x), C(y)` for (1, 0) from the change of A, and takes it back from the
change of C. What a step says on such a valuation is of no account. So where a step faults, and valuations may
cancel out, the join is evaluated with all that its terms hold now, which tells whether there is a fault, and
with what they held before. The change is the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...circuit import DeltaJoin, Join, Term
from ...operators.steps import has_effect
from ..arrangements.store import store_of
from ..arrangements.views import Readable, StoreView
from ..storage.batch import Batch, Gathering, concat, consolidate
from .join import Joiner

Source = tuple[Readable, bool, Batch | None]
"""The store of a term, whether its weights count, and its change."""


def may_cancel(node: Join | DeltaJoin, changes: Sequence[Batch | None]) -> bool:
    """Whether valuations of a delta join may cancel out, and deriving them again shows nothing."""
    gone = (
        change is not None and change.length and (term.negated or not change.positive())
        for term, change in zip(node.terms, changes, strict=True)
    )
    return any(gone) and not any(map(has_effect, node.steps))


def without_cancelled(
    joiner: Joiner, node: Join | DeltaJoin, changes: Sequence[Batch | None], source: Callable[[int], Source]
) -> Batch:
    """The change of a join. `source` gives that of a term, by its place. Raises RowFault if a valuation that
    is there after the epoch faults."""
    joiner.forget_faults()
    arity = len(node.schema)
    if len(node.terms) == 1 and not node.terms[0].negated:
        (change,) = changes
        assert change is not None
        return concat(list(joiner.run(0, consolidate(change), (None,))), arity)
    sources = [source(place) for place in range(len(node.terms))]
    start = _start(node.terms, sources)
    total = Gathering(arity)
    total.extend(_whole(joiner, start, [(store, counted) for store, counted, _ in sources]))
    total.extend(each.negated() for each in _whole(joiner, start, [_before(*each) for each in sources]))
    return consolidate(total.total() or concat([], arity))


def _whole(joiner: Joiner, start: int | None, stores: Sequence[tuple[Readable, bool]]) -> Iterator[Batch]:
    """The result of a join for all rows of its terms."""
    joiner.forget_faults()
    views = [None if place == start else StoreView(*each) for place, each in enumerate(stores)]
    yield from joiner.run(start, None if start is None else stores[start][0].batch(), views)


def _before(store: Readable, weighted: bool, change: Batch | None) -> tuple[Readable, bool]:
    """A store as it was before a change, with each row once, and whether its weights count."""
    if change is None or not change.length:
        return store, weighted
    held = consolidate(concat([store.batch(), change.negated()], len(store.schema)))
    return store_of(store.schema, held), weighted


def _start(terms: Sequence[Term], sources: Sequence[Source]) -> int | None:
    """The positive term that holds the fewest rows."""
    positive = [place for place, term in enumerate(terms) if not term.negated]
    return min(positive, key=lambda place: sources[place][0].present, default=None)
