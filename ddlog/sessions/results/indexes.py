"""Indexes as sessions answer them: the rows of a relation that a key finds.

    by_from = session.index("ByFrom")
    for link in by_from["a"]:
        ...

The key of an index with several variables has several values, `by_place["a", 1]`; without variables the key
is `whole[()]`. A look-up shows the state of the last commit at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from ... import values
from ...core import Index, Relation
from ...errors.diagnostics import DDlogError
from ...errors.lookups import BadIndexKey, WrongIndexKey
from ...types import TypeDef
from ...values.rows import Row, row_of
from .listedrows import found_rows
from .views import RelationView

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ...engine.runtime import Runtime


class Lockable(Protocol):
    """An object whose `lock` is held by who uses it."""

    @property
    def lock(self) -> AbstractContextManager[object]: ...


class IndexView:
    """An index of a session. `index[key]` are the rows that a key finds, `index.all()` the rows that any key
    finds."""

    def __init__(
        self,
        index: Index,
        relation: Relation,
        runtime: Runtime,
        typedefs: Mapping[str, TypeDef],
        frame: Callable[[], DataFrame],
        session: Lockable,
    ) -> None:
        """`frame` gives the rows that a look-up finds as a frame of Spark, or raises DDlogError."""
        self._index, self._relation, self._typedefs = index, relation, typedefs
        self._runtime, self._frame, self._session = runtime, frame, session

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables that a key gives values to."""
        return tuple(each.name for each in self._index.variables)

    def __getitem__(self, key: Any) -> RelationView:
        """The rows that a key finds: one value, or a tuple with a value for each variable. Raises
        DDlogError."""
        given = (key,) if len(self._index.variables) == 1 else key
        return self.find(self._checked(given))

    def find(self, key: Sequence[Any]) -> RelationView:
        """The rows that a key of canonical values finds."""
        wanted: dict[int, Any] = {}
        for positions, value in zip(self._index.positions, key, strict=True):
            wanted.update(dict.fromkeys(positions, value))
        source = self._index.source
        with self._session.lock:
            rows = self._runtime.find(source, wanted) if wanted else list(self._runtime.rows(source))
            return self._view(rows)

    def all(self) -> RelationView:
        """The rows that any key finds."""
        same = [positions for positions in self._index.positions if len(positions) > 1]
        with self._session.lock:
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

        return RelationView(relation, found_rows(schema, weighted), contains, self._typedefs, self._frame)

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
