"""Indexes as sessions answer them: the rows of a relation that a key finds.

    by_from = session.index("ByFrom")
    for link in by_from["a"]:
        ...

An index of several variables is asked with several values, `by_place["a", 1]`, and one without any
with none, `whole[()]`. Answers are those of the last commit at the time of asking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .. import values
from ..core import Index, Relation
from ..engine.runtime import Runtime
from ..engine.schema import Schema
from ..errors.diagnostics import DDlogError
from ..errors.reading import BadIndexKey, WrongIndexKey
from ..types import TypeDef
from ..values.rows import Row, row_of
from .results import RelationView


class FoundRows:
    """Rows that a look-up gave, in value order."""

    def __init__(self, schema: Schema, weighted: Mapping[Row, int]) -> None:
        self.schema = schema
        self._rows = sorted(weighted)
        weights = [weighted[row] for row in self._rows]
        self.weights = None if all(weight == 1 for weight in weights) else weights

    def columns(self) -> list[list[Any]]:
        """The values column by column."""
        return [[row[i] for row in self._rows] for i in range(len(self.schema))]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)


class IndexView:
    """An index of a session. `index[key]` are the rows that the key finds, `index.all()` all that it has."""

    def __init__(
        self, index: Index, relation: Relation, runtime: Runtime, typedefs: Mapping[str, TypeDef]
    ) -> None:
        self._index, self._relation, self._runtime, self._typedefs = index, relation, runtime, typedefs

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of what the index looks up."""
        return tuple(each.name for each in self._index.variables)

    def __getitem__(self, key: Any) -> RelationView:
        """The rows that a key finds: a value, or a tuple of as many as the index has variables."""
        given = (key,) if len(self._index.variables) == 1 else key
        return self.find(self._checked(given))

    def find(self, key: Sequence[Any]) -> RelationView:
        """The rows that a key of canonical values finds."""
        wanted: dict[int, Any] = {}
        for positions, value in zip(self._index.positions, key, strict=True):
            wanted.update(dict.fromkeys(positions, value))
        source = self._index.source
        return self._view(self._runtime.find(source, wanted) if wanted else list(self._runtime.rows(source)))

    def all(self) -> RelationView:
        """All rows that some key finds."""
        same = [positions for positions in self._index.positions if len(positions) > 1]
        rows = self._runtime.rows(self._index.source)
        return self._view([row for row in rows if all(len({row[i] for i in each}) == 1 for each in same)])

    def _view(self, rows: Sequence[Row]) -> RelationView:
        index, relation = self._index, self._relation
        weights = [1] * len(rows)
        if relation.kind == "multiset":
            weights = self._runtime.lookup(index.source, rows)
        schema = self._runtime.rows(index.source).schema[index.start :]
        weighted = {row[index.start :]: weight for row, weight in zip(rows, weights, strict=True)}

        def contains(value: Any) -> bool:
            try:
                return row_of(value, relation, self._typedefs) in weighted
            except DDlogError:
                return False

        return RelationView(relation, FoundRows(schema, weighted), contains, self._typedefs)

    def _checked(self, key: Any) -> list[Any]:
        wanted = self._index.variables
        if not isinstance(key, tuple) or len(key) != len(wanted):
            given = len(key) if isinstance(key, tuple) else 1
            shown = tuple(f"{each.name}: {each.type}" for each in wanted)
            raise DDlogError([WrongIndexKey(self._index.name, shown, given)])
        checked = []
        for value, variable in zip(key, wanted, strict=True):
            try:
                checked.append(values.check(value, variable.type, self._typedefs))
            except ValueError as error:
                raise DDlogError([BadIndexKey(self._index.name, variable.name, str(error))]) from None
        return checked

    def __repr__(self) -> str:
        return f"<index {self._index.name}({', '.join(self.variables)}) on {self._relation.name}>"
