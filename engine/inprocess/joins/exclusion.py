"""The test that may still exclude a row on which a late step faults: the rest of the body, without the step.

    f(x, z) > 0, g(x, z) > 0        f faults on (1, 0), and g is negative there
                                    g faults on (2, 0), and f is negative there

Both steps are late, and neither row is a valuation. What reads the variable that the step binds says nothing
of such a row.
"""

from __future__ import annotations

import numpy as np

from ...circuit import DeltaJoin, Inspect, Join, Term
from ...operators.steps import determined, inputs
from ...planner import RunStep, Stage
from ...schema import Column, Kind
from ..storage.batch import Batch
from .valuation import Valuation

_PLACE = Column("place", Kind.INT, "")


def rest_of(
    node: Join | DeltaJoin, stage: Stage, test: RunStep, rows: Valuation
) -> tuple[Join, tuple[int, ...]] | None:
    """The body that is left of a join for rows on which one of the tests of a stage faults, without it: the
    rows are its first term, with their places as a last column, which is its output. Beside it the numbers of
    its other terms. None: nothing is left."""
    left = stage.tests[stage.tests.index(test) + 1 :]
    undone = stage.undone | {each.number for each in left if isinstance(each, RunStep)}
    waiting = stage.waiting | {each.term for each in left if not isinstance(each, RunStep)}
    steps = [node.steps[k] for k in sorted(undone) if not isinstance(node.steps[k], Inspect)]
    positive = [node.terms[k] for k in waiting if not node.terms[k].negated]
    named = {name for term in positive for name in term.columns if name is not None}
    known = determined(named.union(rows.variables), steps)
    terms = tuple(k for k in sorted(waiting) if known.issuperset(filter(None, node.terms[k].columns)))
    kept = tuple(step for step in steps if known.issuperset(inputs(step)))
    if not terms and not kept:
        return None
    place = "$place"
    while place in rows.variables:
        place += "$"
    body = (Term(0, (*rows.variables, place)), *(node.terms[k] for k in terms))
    return Join(body, kept, (place,), (_PLACE,), node.text), terms


def as_term(rows: Valuation) -> tuple[tuple[Column, ...], Batch]:
    """Rows as those of the first term of such a body, with their columns."""
    schema = (*(column for column, _ in rows.variables.values()), _PLACE)
    columns = (*(array for _, array in rows.variables.values()), np.arange(rows.length))
    return schema, Batch(columns, rows.length, rows.weights, rows.times)
