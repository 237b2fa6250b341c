"""The runtime of a session that waits for its first update: a large first change is answered as a batch is,
and the state is made of it when a second change comes.

                 a large first change              a second one
    no rows  ------------------------->  waiting  -------------->  the state of `SparkRuntime`
       |                                 one query for each relation            ^
       +-- a small one, or one that might not be there later -------------------+

The rows of such a change are not computed but promised, if they come from files that can be read again;
other rows are stored, and become the state of their input. What can fail is run before the commit returns:
recursions, and the rules that may fault.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from .. import metering
from ..circuit import Circuit
from ..maintaining import Coin, Mode
from ..runtime import Delta, Progress, Seal
from .batch.runtime import BatchRuntime, Given
from .codec import Codec
from .giving import named_columns
from .rows import FrameDelta
from .runtime import Answer, SparkRuntime
from .sqltext import everything
from .tables import Options, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Promised:
    """Rows for an input relation that nothing has computed, only counted: columns c0, c1, … and the weight
    `w`. `whole` are the same rows with all of their columns checked. `differ`: no two have the same primary
    key, as far as known. `check` raises DDlogError if they are others by now."""

    rows: int
    frame: DataFrame
    whole: DataFrame
    once: bool
    differ: bool
    check: Callable[[], None]


@dataclass(slots=True)
class _First:
    """The first change, and how it was committed. `passed`: commits without changes came after it."""

    changes: Mapping[str, Sequence[tuple[Any, int]]]
    limit: int | None
    progress: Progress | None
    answers: BatchRuntime
    passed: bool = False
    readers: WeakSet[Delta] = field(default_factory=WeakSet)
    """The changes that the commit gave out, as long as someone has them."""

    def check(self) -> None:
        """Raises DDlogError if its rows are others by now."""
        for batches in self.changes.values():
            for batch, _ in batches:
                if isinstance(batch, Promised):
                    batch.check()


class WaitingRuntime(SparkRuntime):
    """See `engine.runtime.FrameRuntime`."""

    def __init__(
        self,
        circuit: Circuit,
        spark: SparkSession,
        codec: Codec,
        nan: float = float("nan"),
        options: Options | None = None,
        maintain: Mode | Coin = "auto",
        keys: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        """`keys`: for input relations, columns in which no two rows of what is promised agree."""
        super().__init__(circuit, spark, codec, nan, options, maintain)
        self._maintain, self._keys = maintain, dict(keys or {})
        self._fresh = True
        self._first: _First | None = None
        self._over: _First | None = None
        self.failures: Callable[[], AbstractContextManager[None]] = nullcontext
        """Surrounds what a batch of Spark's runs after the commit."""

    # ------------------------------------------------------------- promises

    def may_promise(self, relation: str, frame: DataFrame) -> bool:
        """Whether the rows of a frame, of the relation's columns, can be promised: they are many, and nothing
        came before."""
        if not self._fresh or self.options.placement != "auto":
            return False
        view = self.tables.named(named_columns(self.schema(relation), frame))
        try:
            return self.tables.are_many(everything(view), self._sides.room(relation))
        finally:
            self.tables.forget(view)

    def promise(
        self,
        relation: str,
        rows: int,
        frame: DataFrame,
        whole: DataFrame,
        once: bool,
        differ: bool,
        check: Callable[[], None],
    ) -> Promised:
        """Rows as a batch, not computed. See `Promised`; `frame` has the relation's columns here."""
        return Promised(rows, named_columns(self.schema(relation), frame), whole, once, differ, check)

    def kept(self, relation: str, promised: Promised) -> Table:
        """The rows, computed now."""
        table = self.batch_from_frame(relation, promised.whole, once=promised.once)
        table.once = table.once or promised.differ
        promised.check()
        return table

    @property
    def waits(self) -> bool:
        """Whether the state is still to be made of the first change."""
        return self._first is not None

    # ------------------------------------------------------------- epochs

    def commit(
        self,
        changes: Mapping[str, Sequence[tuple[Any, int]]],
        *,
        static: bool = False,
        max_iterations: int | None = None,
        progress: Progress | None = None,
        seal: Seal | None = None,
    ) -> dict[str, Delta]:
        if self._first is not None and not any(changes.values()):
            self._first.passed = True
            return {name: self._unchanged(name) for name in self._state.outputs}
        self._release()
        self.make()
        if seal is None and self._can_wait(changes):
            return self._wait(changes, max_iterations, progress)
        deltas = super().commit(
            self._computed(changes),
            static=static,
            max_iterations=max_iterations,
            progress=progress,
            seal=seal,
        )
        self._fresh = self._fresh and not any(changes.values()) and not any(map(len, deltas.values()))
        return deltas

    def _can_wait(self, changes: Mapping[str, Sequence[tuple[Any, int]]]) -> bool:
        """Whether the state can be made of a change later: all of its rows are insertions, and the driver has
        no room for some of them."""
        batches = [(name, *each) for name, some in changes.items() for each in some]
        return (
            self._fresh
            and self.options.placement == "auto"
            and metering.current() is None
            and all(sign > 0 for _, _, sign in batches)
            and any(self.is_large(name, batch.rows) for name, batch, _ in batches)
        )

    def is_large(self, relation: str, rows: int) -> bool:
        """Whether the driver has no room for so many rows of an input."""
        return rows > self._sides.room(relation)

    def _wait(
        self,
        changes: Mapping[str, Sequence[tuple[Any, int]]],
        limit: int | None,
        progress: Progress | None,
    ) -> dict[str, Delta]:
        answers = BatchRuntime(
            self.circuit, self.spark, self.codec, self._nan, self.options, self._maintain, self._keys
        )
        first = _First(changes, limit, progress, answers)

        @contextmanager
        def checked() -> Iterator[None]:
            first.check()
            with self.failures():
                yield
            first.check()

        answers.failures = checked
        try:
            given = {name: [(_given(batch), 1) for batch, _ in some] for name, some in changes.items()}
            deltas = answers.commit(given, max_iterations=limit, progress=progress)
            answers.settle()
        except BaseException:
            answers.close()
            raise
        first.readers.update(deltas.values())
        self._first, self._fresh = first, False
        return deltas

    def _unchanged(self, relation: str) -> Delta:
        schema = self.schema(relation)
        nothing = self.tables.nothing(schema)
        return FrameDelta(
            schema,
            self.codec,
            0,
            lambda: nothing.local,
            lambda: self.frame(relation, True).limit(0),
        )

    def make(self) -> None:
        """Makes the state of the first change, if that is still to be done. Raises what a commit raises, and
        DDlogError if promised rows are others by now; then the session goes on waiting."""
        first = self._first
        if first is None:
            return
        changes = self._computed(first.changes)
        first.check()
        self._first = None
        try:
            super().commit(changes, max_iterations=first.limit, progress=first.progress)
        except BaseException:
            self._first = first
            raise
        if first.passed:
            self._latest.forget()
        self._over = first  # the changes of the first commit may still be read

    def _release(self) -> None:
        """Lets go of what answered the first commit if nobody has its changes any more."""
        if self._over is not None and not self._over.readers:
            self._over.answers.close()
            self._over = None

    def _computed(
        self, changes: Mapping[str, Sequence[tuple[Any, int]]]
    ) -> dict[str, list[tuple[Table, int]]]:
        return {
            name: [(self.kept(name, b) if isinstance(b, Promised) else b, sign) for b, sign in some]
            for name, some in changes.items()
        }

    def attempt(
        self, changes: Mapping[str, Sequence[tuple[Any, int]]], look: Callable[[], T], limit: int | None
    ) -> T:
        self.make()
        return super().attempt(self._computed(changes), look, limit)

    def before(self, look: Callable[[], T], limit: int | None) -> T:
        self.make()
        return super().before(look, limit)

    # ------------------------------------------------------------- reading

    def lookup(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        if self._first is not None:
            return self._first.answers.lookup(relation, rows)
        return super().lookup(relation, rows)

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        if self._first is not None:
            return self._first.answers.find(relation, values)
        return super().find(relation, values)

    def rows(self, relation: str) -> Answer:
        if self._first is not None:
            return self._first.answers.rows(relation)
        return super().rows(relation)

    def frame(self, relation: str, weight: bool | None = None) -> DataFrame:
        if self._first is not None:
            self._first.check()
            return self._first.answers.frame(relation, weight)
        return super().frame(relation, weight)

    def size(self, relation: str) -> int:
        if self._first is not None:
            return self._first.answers.size(relation)
        return super().size(relation)

    def query(
        self,
        circuit: Circuit,
        given: Mapping[str, Sequence[tuple[Any, ...]]] | None = None,
        most: int | None = None,
    ) -> Answer:
        if self._first is not None:
            return self._first.answers.query(circuit, given, most)
        return super().query(circuit, given, most)

    def births(
        self, relation: str, rows: Sequence[tuple[Any, ...]], together: Collection[str]
    ) -> tuple[Sequence[int], bool] | None:
        return None if self._first is not None else super().births(relation, rows, together)

    # ------------------------------------------------------------- where things are

    def placed(self) -> list[tuple[str, str, int]]:
        return [] if self._first is not None else super().placed()

    def operators_placed(self) -> list[str]:
        return [] if self._first is not None else super().operators_placed()

    def explained(self, relation: str) -> str | None:
        """Spark's plan of a relation; None once there is a state."""
        return None if self._first is None else self._first.answers.explained(relation)

    def mend(self, given: Mapping[str, Sequence[tuple[Table, int]]]) -> tuple[str, ...]:
        first = self._first
        if first is None:
            return super().mend(given)
        self._first, self._fresh = None, True
        try:
            self._wait(first.changes, first.limit, first.progress)
        except BaseException:
            self._first, self._fresh = first, False
            raise
        first.answers.close()
        return tuple(self._state.outputs)

    def close(self) -> None:
        for first in (self._first, self._over):
            if first is not None:
                first.answers.close()
        super().close()


def _given(batch: Promised | Table) -> Given:
    """Rows for a batch: of those on the driver each as often as its weight says."""
    if isinstance(batch, Promised):
        return Given(lambda: batch.frame.drop("w"))
    shown = batch.shown
    columns = [name for name in shown.columns if name != "w"]
    if batch.total == batch.rows or not columns:
        return Given(lambda: shown.drop("w"))
    fields = ", ".join(columns)
    return Given(lambda: shown.selectExpr(f"inline(array_repeat(struct({fields}), CAST(w AS INT)))"))
