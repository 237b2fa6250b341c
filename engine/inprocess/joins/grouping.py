"""Start rows in groups: rows that are alike in all that the other terms read are joined with them as one.

    P(x, z) :- Q(x, r, y), P(y, w), Iu(w, r, z).      from rows of Q, of which the other terms read r and y

    rows (x, r, y) ── π ──> keys (r, y) ── P(y, w), Iu(w, r, z) ──> (r, y, z) ── rows (x, r, y) ──> (x, z)

A column that only the output reads makes many rows that the other terms cannot tell apart. So they are joined
with each key once, and each result with the rows of its key:  a ⋈ b ⋈ c = a ⋈ (π(a) ⋈ b ⋈ c), where each key
has weight 1 in π(a). That pays where the keys are few, which a sample tells, and where a look-up gives more
rows than the next ones leave, so there have to be two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ... import thresholds
from ...circuit import DeltaJoin, Join, Term
from ...schema import Column
from ..arrangements.store import Store
from ..arrangements.views import StoreView, strided
from ..storage.batch import Batch
from ..storage.layout import bounds, fit
from . import projection
from .valuation import Valuation


@dataclass(frozen=True, slots=True)
class Grouping:
    """The two joins that a join from groups is: of the keys, its first term, with the terms of the numbers
    `others`; and of their results, its first term, with the rows. The schemas of their terms, and the
    positions of the keys in the rows."""

    of_keys: Join
    key_schemas: tuple[Sequence[Column], ...]
    others: tuple[int, ...]
    of_rows: Join
    row_schemas: tuple[Sequence[Column], ...]
    keys: tuple[int, ...]


def grouping_of(node: Join | DeltaJoin, schemas: Sequence[Sequence[Column]], start: int) -> Grouping | None:
    """How a join starts from groups of the rows of a term. None: it has steps, or fewer than two other terms
    that bind; or the other terms read all columns of the start that are read at all, or none."""
    others = tuple(k for k in range(len(node.terms)) if k != start)
    if node.steps or sum(not node.terms[k].negated for k in others) < 2:
        return None
    columns: dict[str, Column] = {}
    for name, column in zip(node.terms[start].columns, schemas[start], strict=True):
        if name is not None:
            columns.setdefault(name, column)
    read = {name for k in others for name in node.terms[k].columns}
    keys = tuple(name for name in columns if name in read)
    names = tuple(name for name in columns if name in read or name in node.output)
    if not keys or len(keys) == len(names):
        return None
    found = {name: columns[name] for name in keys}
    for name, column in zip(node.output, node.schema, strict=True):
        if name not in columns:
            found[name] = column
    given = tuple(found.values())
    of_keys = (Term(0, keys), *(node.terms[k] for k in others))
    of_rows = Term(0, tuple(found)), Term(1, names)
    return Grouping(
        Join(of_keys, (), tuple(found), given, node.text),
        (tuple(columns[name] for name in keys), *(schemas[k] for k in others)),
        others,
        Join(of_rows, (), node.output, node.schema, node.text),
        (given, tuple(columns[name] for name in names)),
        tuple(names.index(name) for name in keys),
    )


def pays(way: Grouping, rows: Valuation) -> bool:
    """Whether the keys of rows are few, by a sample of the rows. They have no times."""
    if rows.times is not None:
        return False
    some = strided(rows.length, thresholds.MERGED_SAMPLE)
    sample = rows.take(some, frozenset(filter(None, way.of_keys.terms[0].columns)))
    return rows.length >= thresholds.GROUPED_GAIN * projection.left_of(sample, rows.length)


def by_keys(way: Grouping, rows: Valuation) -> StoreView | None:
    """The rows, to be looked up by their keys only: two of them may be equal. None: they are too wide for a
    word."""
    variables = [rows.variables[name] for name in way.of_rows.terms[1].columns if name is not None]
    layout = fit([bounds(column) for _, column in variables]) if rows.length else None
    if layout is None:
        return None
    words, _ = layout.pack([column for _, column in variables], rows.length)
    store = Store(tuple(column for column, _ in variables))
    store.table.fill_later(rows.length, layout, lambda: words)
    store.weights, store.present = rows.weights, rows.length
    return StoreView(store, weighted=True)


def keys_of(way: Grouping, view: StoreView) -> Batch:
    """The keys of rows, each once."""
    keys = view.keys(way.keys)
    return Batch(keys.columns(), keys.size)
