"""Row steps over columns: array code where an expression has it, its scalar function otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np

from ... import memory, thresholds
from ...budget import Budget
from ...circuit import EPOCH, ITERATION, WEIGHT
from ...interrupt import immediate
from ...schema import Array, Column, Kind, NotVectorised, RowExpr, RowFault, fault_message, ready
from .batch import Batch, consolidate
from .interner import Values
from .table import RowTable
from .threadpool import alone

_BETWEEN = 1024  # rows between two looks at the memory that their values take
Variables = dict[str, tuple[Column, Array]]


def _may_repeat(expr: RowExpr, length: int) -> bool:
    """Whether an expression on so many rows is evaluated once on equal ones. An effect comes on each row."""
    return not expr.effect and (not expr.inputs or length >= thresholds.REPEATS)


class Evaluator:
    """Evaluates row expressions over columns of variables, in an `epoch` and, inside a recursion, an
    `iteration`. Inside a loop `rounds` gives the iterations of times. While it is `silent`, for what was
    evaluated before, effects are left out. While it is `measured`, the steps of joins are timed. What
    joins look up is taken from its `budget`."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self._answers: dict[int, tuple[RowExpr, RowTable, Array]] = {}  # ids in them are good until a sweep
        self._swept = values.swept  # before the first answer
        self.begin(0)
        self.iteration = 0
        self.rounds: Callable[[Array], Array] = lambda times: times
        self.silent = False
        self.asks = False
        """Whether look-ups ask other workers."""
        self.measured = False
        self.budget = Budget()

    def begin(self, epoch: int) -> None:
        """Begins an epoch, without the answers of expressions that earlier ones asked for too many."""
        self.epoch = epoch
        for key, (_, rows, _) in [*self._answers.items()] if self._answers else ():
            if rows.size > thresholds.KEPT_ANSWERS:
                del self._answers[key]

    def column(self, expr: RowExpr, variables: Variables, length: int, rule: str) -> Array:
        """The expression's value on each row. Raises RowFault where user code fails."""
        arrays = [variables[name][1] for name in expr.inputs]
        if expr.arrays is not None:
            try:
                out: Array = expr.arrays(self.values, *arrays)
                return out if len(out) == length else np.full(length, out[0], np.int64)
            except NotVectorised:
                pass
        alone()
        if _may_repeat(expr, length):
            return self._remembered(expr, variables, arrays, length, rule)
        return self._called(expr, variables, arrays, length, rule)

    def _called(
        self, expr: RowExpr, variables: Variables, arrays: list[Array], length: int, rule: str
    ) -> Array:
        results = self._scalar(expr, variables, arrays, length, rule)
        return self.values.encode_column(expr.column, results, length)

    def _remembered(
        self, expr: RowExpr, variables: Variables, arrays: list[Array], length: int, rule: str
    ) -> Array:
        """The expression's value on each row, evaluated once on equal rows while its answers are kept."""
        large = sum(rows.size for _, rows, _ in self._answers.values()) > thresholds.CHUNK
        if large or self._swept != self.values.swept:  # a derived column is computed between epochs, too
            self._answers.clear()
            self._swept = self.values.swept
        asked = self._answers.pop(id(expr), None) or (expr, RowTable(len(arrays)), np.empty(0, np.int64))
        _, rows, answers = asked
        before = rows.size
        places = rows.insert(arrays, length)
        if rows.size > before:
            new = self._called(expr, variables, list(rows.columns(before)), rows.size - before, rule)
            answers = np.concatenate((answers, new))
        self._answers[id(expr)] = expr, rows, answers
        return answers[places]

    def condition(self, expr: RowExpr, variables: Variables, length: int, rule: str) -> Array:
        """An array of bools, true for each row for which the expression is true."""
        true: Array = self.column(expr, variables, length, rule) != 0
        return true

    def effect(
        self, expr: RowExpr, variables: Variables, weights: Array, times: Array | None, rule: str
    ) -> None:
        """Evaluates the expression on each row, also on equal ones, but for those that cancel out."""
        if self.silent:
            return
        iterations = np.full(len(weights), self.iteration) if times is None else self.rounds(times)
        arrays = (*(array for _, array in variables.values()), iterations)
        rows = Batch(arrays, len(weights), weights)
        if len(weights) and int(weights.min()) < 0 < int(weights.max()):
            rows = consolidate(rows)
        now = {WEIGHT: rows.weight_array(), EPOCH: np.full(rows.length, self.epoch)}
        now[ITERATION] = rows.columns[-1]
        known = {name: (column, rows.columns[k]) for k, (name, (column, _)) in enumerate(variables.items())}
        known |= {name: (Column(name, Kind.INT, ""), array) for name, array in now.items()}
        self._scalar(expr, known, [known[name][1] for name in expr.inputs], rows.length, rule)

    def elements(self, expr: RowExpr, variables: Variables, length: int, rule: str) -> tuple[Array, Array]:
        """Every (position, element) of the expression's collection on each row."""
        arrays = [variables[name][1] for name in expr.inputs]
        inverse: Array | None = None
        count = length
        if _may_repeat(expr, length):
            table = RowTable(len(arrays))
            inverse = table.insert(arrays, length)
            arrays, count = list(table.columns()), table.size
        lists = self._scalar(expr, variables, arrays, count, rule, tuple)
        sizes = np.fromiter(map(len, lists), np.int64, count)
        flat = self.values.encode_column(
            expr.column, [element for one in lists for element in one], int(sizes.sum())
        )
        if inverse is None:
            return np.repeat(np.arange(length), sizes), flat
        starts = np.cumsum(sizes) - sizes
        left = np.repeat(np.arange(length), sizes[inverse])
        ends = np.cumsum(sizes[inverse])
        within = np.arange(len(left)) - np.repeat(ends - sizes[inverse], sizes[inverse])
        return left, flat[np.repeat(starts[inverse], sizes[inverse]) + within]

    def faulty(self, expr: RowExpr, variables: Variables, length: int, wrap: Any = None) -> Array:
        """The places of the rows on which the expression fails. `wrap`: what is done with its value."""
        function, found = ready(expr.scalar), list[int]()
        with immediate():
            for place, row in enumerate(self._rows(expr, variables, length)):
                try:
                    function(*row) if wrap is None else wrap(function(*row))
                except MemoryError:
                    raise
                except Exception:
                    found.append(place)
        return np.array(found, np.int64)

    def _rows(self, expr: RowExpr, variables: Variables, length: int) -> Iterable[tuple[Any, ...]]:
        """The values that an expression reads, row by row."""
        decode, read = self.values.decode_column, [variables[name] for name in expr.inputs]
        return zip(*[decode(*each) for each in read], strict=True) if read else [()] * length

    def _scalar(
        self,
        expr: RowExpr,
        variables: Variables,
        arrays: list[Array],
        length: int,
        rule: str,
        wrap: Any = None,
    ) -> list[Any]:
        read = {name: (variables[name][0], a) for name, a in zip(expr.inputs, arrays, strict=True)}
        function = ready(expr.scalar)
        results: list[Any] = []
        append = results.append
        rows = iter(self._rows(expr, read, length))
        row: tuple[Any, ...] = ()
        try:
            with immediate():
                while length > 0:
                    for row in islice(rows, _BETWEEN):
                        append(function(*row) if wrap is None else wrap(function(*row)))
                    length -= _BETWEEN
                    memory.check()
        except MemoryError:
            raise
        except Exception as fault:
            valuation = dict(zip(expr.inputs, row, strict=True))
            raise RowFault(fault_message(fault), rule, expr.origin, valuation) from fault
        return results
