"""Semi-naive evaluation of growing sets of pairs as bits, by products of relations; see `denseset`.

An epoch that begins without rows begins in tables. While these grow, a sample of them tells how many values
their columns have, about; where the rows come to be a good part of all pairs of values, the epoch goes on in
bits: `choose` says when. Rules that start from imports have run by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np

from ... import thresholds
from ...budget import MADE, STEP
from ...circuit import Guard
from ...epochcosts import UNKNOWN, Inside, clock
from ...rules import FixpointRule
from ...schema import Array
from ..arrangements.views import Readable
from ..joins.join import Joiner
from ..storage.bits import BitMatrix, PairList, Pairs, product
from ..storage.layout import bounds, fit
from ..storage.steps import Evaluator
from ..storage.table import RowTable
from .growingset import GrowingSet
from .products import Factor, Products


class Choosing:
    """Chooses when an epoch goes on in bits."""

    def __init__(
        self,
        relations: Mapping[str, GrowingSet],
        imports: Mapping[int, Readable],
        products: Products | None,
        evaluator: Evaluator,
    ) -> None:
        self._relations, self._imports, self._evaluator = relations, imports, evaluator
        starts_empty = not any(relation.size for relation in relations.values())
        self._products = products if starts_empty else None
        self._next = thresholds.DENSE_ROWS

    def choose(self) -> DenseSets | None:
        """The relations as bits, if they are dense enough now."""
        products = self._products
        if products is None:
            return None
        rows = sum([relation.size for relation in self._relations.values()])
        if rows < self._next:
            return None
        if any(relation.table.layout is None for relation in self._relations.values() if relation.size):
            self._products = None  # rows that are not packed are of far too many values
            return None
        most = rows * thresholds.DENSE_PAIRS
        pairs = sum(_pairs(relation.table) for relation in self._relations.values() if relation.size)
        if pairs <= most:
            axes = _axes(self._relations, self._imports, products)
            pairs = sum(
                axes[products.axes[head, 0]].size * axes[products.axes[head, 1]].size
                for head in self._relations
            )
            if pairs <= most:
                if not all(self._fits(axes, head, products) for head in self._relations):
                    self._products = None  # values that rules carry from one column to the other
                    return None
                return DenseSets(self._relations, self._imports, products, axes, self._evaluator)
        self._next = min(max(pairs // thresholds.DENSE_PAIRS, rows + rows // 4), 2 * rows)
        return None

    @staticmethod
    def _fits(axes: Mapping[int, RowTable], head: str, products: Products) -> bool:
        """Whether a row of any two values of a relation's axes fits into one word."""
        both = [axes[products.axes[head, column]] for column in (0, 1)]
        return fit([bounds(axis.column(0)) if axis.size else (0, 0) for axis in both]) is not None


def _pairs(table: RowTable) -> int:
    """The pairs of values that the columns of a table have, about, by a sample: rows that are drawn alike
    from n values have n * (1 - exp(-rows / n)) of them."""
    random = Random(0).randbytes(8 * thresholds.DENSE_SAMPLE)  # NumPy's takes 5 ms to import
    rows, found = np.frombuffer(random, np.int64) % table.size, 1
    for column in (0, 1):
        distinct = RowTable(1)
        distinct.insert_new((table.column_at(rows, column),), len(rows))
        low, high = float(distinct.size), float(max(distinct.size, table.size))
        for _ in range(20):
            values = (low + high) / 2
            if values * -np.expm1(-len(rows) / values) < distinct.size:
                low = values
            else:
                high = values
        found *= int(low)
    return found


def _axes(
    relations: Mapping[str, GrowingSet], imports: Mapping[int, Readable], products: Products
) -> dict[int, RowTable]:
    """The values of each axis."""
    axes = {axis: RowTable(1) for axis in products.axes.values()}
    for (source, column), axis in products.axes.items():
        if isinstance(source, str):
            table = relations[source].table
            axes[axis].insert_new((table.column(column),), table.size)
        else:
            rows = imports[source].batch()
            axes[axis].insert_new((rows.columns[column],), rows.length)
    return axes


class DenseSets:
    """The relations of a recursion as bits, in the rest of one epoch."""

    def __init__(
        self,
        relations: Mapping[str, GrowingSet],
        imports: Mapping[int, Readable],
        products: Products,
        axes: Mapping[int, RowTable],
        evaluator: Evaluator,
    ) -> None:
        self._products, self._evaluator = products, evaluator
        self._sets = {
            head: relation.densified((axes[products.axes[head, 0]], axes[products.axes[head, 1]]))
            for head, relation in relations.items()
        }
        self._imports: dict[int, PairList] = {}
        for source, store in imports.items():
            if (source, 0) in products.axes:
                rows = store.batch()
                ends = [axes[products.axes[source, k]] for k in (0, 1)]
                left, right = (axis.insert((rows.columns[k],), rows.length) for k, axis in enumerate(ends))
                self._imports[source] = PairList(left, right, ends[0].size, ends[1].size)

    def derive(self, rule: FixpointRule[Joiner], start: int, measured: Inside | None) -> None:
        """Derives rows by a rule from the delta of a term."""
        since, before = clock(), 0 if measured is None else measured.derived
        factors = self._products.factors[rule.node]
        at = next(k for k, factor in enumerate(factors) if factor.term == start)
        self._evaluator.budget.spend(STEP)
        found = self._side(factors[at], True)
        taken = found.count
        for factor in factors[at + 1 :]:
            found = product(found, self._side(factor))
        if at:
            found = found.turned
            for factor in reversed(factors[:at]):
                found = product(found, self._side(factor).turned)
            found = found.turned
        found = self._guarded(rule, found)
        self._evaluator.budget.spend(MADE * found.count)
        for head, _ in rule.heads:
            self._sets[head].add(found)
        if measured is not None:
            measured.derived += found.count
            measured.rule(rule.node.text, since, clock(), taken, before, UNKNOWN)

    def _side(self, factor: Factor, delta: bool = False) -> Pairs:
        """The relation of a factor, or the delta of it, in the direction of the way."""
        if isinstance(factor.source, int):
            pairs: Pairs = self._imports[factor.source]
        else:
            relation = self._sets[factor.source]
            pairs = relation.delta if delta else relation.held
        return pairs.turned if factor.turned else pairs

    def _guarded(self, rule: FixpointRule[Joiner], found: Pairs) -> Pairs:
        """The rows for which the conditions of a rule are true."""
        if not rule.node.steps:
            return found
        relation = self._sets[rule.heads[0][0]]

        def true(left: Array, right: Array) -> Array:
            columns = relation.values(left, 0), relation.values(right, 1)
            variables = {
                name: (column, values)
                for name, column, values in zip(rule.node.output, rule.node.schema, columns, strict=True)
            }
            kept: Array = np.ones(len(left), np.int64)
            for step in rule.node.steps:
                assert isinstance(step, Guard)
                kept *= self._evaluator.condition(step.condition, variables, len(left), rule.node.text)
            return kept

        if isinstance(found, BitMatrix):
            kept_bits = BitMatrix(found.words.copy(), found.width)
            kept_bits.filter(true)
            return kept_bits
        kept = np.flatnonzero(true(found.left, found.right))
        return PairList(found.left[kept], found.right[kept], found.height, found.width)
