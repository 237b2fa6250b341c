"""Derived columns of a table: computed once a row, when an index first asks for the row.

A row on which the steps fault has no value and is told apart, as a look-up must not hide the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...circuit import Guard
from ...derivedcolumns import Derived, DerivedKey
from ...operators.steps import binds, expression
from ...schema import Array, Column, RowFault, ready
from .arrays import grow
from .interner import Values
from .marks import Marks
from .steps import Evaluator, Variables
from .table import RowTable

States: TypeAlias = npt.NDArray[np.int8]
_UNKNOWN, _ABSENT, _PRESENT, _FAULTY = 0, 1, 2, 3


class EvaluatedColumn(Derived):
    """A derived column of rows of a schema, with the evaluator that computes it."""

    __slots__ = ("_evaluator", "_of_one", "_schema")

    def __init__(self, column: Derived, schema: Sequence[Column], evaluator: Evaluator) -> None:
        super().__init__(column.steps)
        self._schema, self._evaluator = schema, evaluator
        self._of_one = _of_one(column, schema, evaluator.values)

    def compute(self, table: RowTable, rows: Array) -> tuple[Array, States]:
        """The value and the state of rows of a table."""
        given = {str(k): (self._schema[k], table.column_at(rows, k)) for k in self.places}
        values, states = np.zeros(len(rows), np.int64), np.full(len(rows), _ABSENT, np.int8)
        self._compute(given, values, states)
        return values, states

    def compute_one(self, row: tuple[int, ...]) -> tuple[int, bool] | None:
        """The value of one row by the functions of single values, and whether it has one. None: it is to be
        computed in the general way."""
        of_one = self._of_one
        try:
            return None if of_one is None else of_one(row)
        except MemoryError:
            raise
        except Exception:
            return None

    def _compute(self, given: Variables, values: Array, states: States) -> None:
        """Halves the rows until the faulty ones are alone."""
        try:
            rows, found = self._evaluate(given, len(values))
        except RowFault:
            if len(values) == 1:
                states[0] = _FAULTY
                return
            half = len(values) // 2
            for part in (slice(None, half), slice(half, None)):
                some = {name: (column, array[part]) for name, (column, array) in given.items()}
                self._compute(some, values[part], states[part])
            return
        values[rows], states[rows] = found, _PRESENT

    def _evaluate(self, variables: Variables, length: int) -> tuple[Array, Array]:
        """The rows for which the conditions hold, and their values."""
        rows = np.arange(length, dtype=np.int64)
        for step in self.steps:
            if isinstance(step, Guard):
                true = np.flatnonzero(self._evaluator.condition(step.condition, variables, len(rows), ""))
                rows = rows[true]
                variables = {name: (column, array[true]) for name, (column, array) in variables.items()}
            else:
                found = self._evaluator.column(step.value, variables, len(rows), "")
                variables = variables | {step.name: (step.value.column, found)}
        return rows, variables[self.value.name][1]


def _of_one(
    column: Derived, schema: Sequence[Column], interned: Values
) -> Callable[[tuple[int, ...]], tuple[int, bool]] | None:
    """The function that computes a derived column of one row; None: a step may run for long, so that it is to
    be interrupted."""
    if any(expression(step).arrays is None for step in column.steps):
        return None
    read = [(str(k), k, schema[k].kind, schema[k].domain) for k in column.places]
    steps: list[tuple[str | None, tuple[str, ...], Callable[..., Any]]] = []
    last, made = column.value.name, column.value.value.column
    encode, decode = interned.encode, interned.decode

    def compute(row: tuple[int, ...]) -> tuple[int, bool]:
        if not steps:
            for step in column.steps:
                value = expression(step)
                steps.append((binds(step), value.inputs, ready(value.scalar)))
        values = {name: decode(kind, domain, row[k]) for name, k, kind, domain in read}
        for name, inputs, function in steps:
            found = function(*[values[each] for each in inputs])
            if name is not None:
                values[name] = found
            elif not found:
                return 0, False
        return encode(made.kind, made.domain, values[last]), True

    return compute


class DerivedValues:
    """The values of a derived column for the rows of a table."""

    def __init__(self, column: EvaluatedColumn) -> None:
        self.column = column
        self._values: Array = np.empty(0, np.int64)
        self._states: States = np.empty(0, np.int8)

    def know(self, table: RowTable, rows: Array) -> None:
        """Computes the values of rows that are not known. So the removal of a row, as in a rollback, computes
        nothing."""
        grow(self, "_values", table.size)
        grow(self, "_states", table.size, _UNKNOWN)
        unknown = rows[self._states[rows] == _UNKNOWN]
        if len(unknown):
            self._values[unknown], self._states[unknown] = self.column.compute(table, unknown)

    def note(self, table: RowTable, at: int, value: int) -> None:
        """Notes the value of a row."""
        grow(self, "_values", table.size)
        grow(self, "_states", table.size, _UNKNOWN)
        self._values[at], self._states[at] = value, _PRESENT

    def truncate(self, size: int) -> None:
        """Forgets the values of the rows with ids from `size` on."""
        self._states[size:] = _UNKNOWN

    def mark(self, marks: Marks, rows: Array | None) -> None:
        """Marks the ids in the values of rows (None: of all), and forgets the values of the others, whose ids
        may go to other values."""
        if rows is not None:
            rows = rows[: np.searchsorted(rows, len(self._states))]
            states = np.full(len(self._states), _UNKNOWN, np.int8)
            states[rows] = self._states[rows]
            self._states = states
        marks.columns((self.column.value.value.column,), (self._values[self._states == _PRESENT],))

    def at(self, rows: Array) -> Array:
        """The values of rows with these ids."""
        return self._values[rows]

    def present(self, rows: Array) -> Array:
        """Whether each row has a value."""
        there: Array = self._states[rows] == _PRESENT
        return there

    def faulty(self, rows: Array) -> Array:
        """Whether the steps fault on each row."""
        wrong: Array = self._states[rows] == _FAULTY
        return wrong


def derived_values(table: RowTable, column: EvaluatedColumn, rows: Array) -> DerivedValues:
    """The values of a derived column of a table, those of `rows` among them."""
    held = _of_table(table, column)
    held.know(table, rows)
    return held


def note_value(table: RowTable, column: EvaluatedColumn, at: int, value: int) -> None:
    """Notes the value of a derived column for one row of a table."""
    _of_table(table, column).note(table, at, value)


def _of_table(table: RowTable, column: EvaluatedColumn) -> DerivedValues:
    held: DerivedValues | None = table.derived.get(column)
    if held is None:
        held = table.derived[column] = DerivedValues(column)
    return held


def evaluated_keys(
    keys: Sequence[Sequence[DerivedKey]], schemas: Sequence[Sequence[Column]], evaluator: Evaluator
) -> list[list[DerivedKey]]:
    """The keys of the terms of a join, whose rows have these columns, with the means to compute them."""
    return [
        [
            DerivedKey(key.name, EvaluatedColumn(key.column, schema, evaluator), key.inputs, key.ensured)
            for key in each
        ]
        for each, schema in zip(keys, schemas, strict=True)
    ]
