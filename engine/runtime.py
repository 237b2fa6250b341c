"""The protocol of runtimes: all that a session asks of one.

A runtime holds the state of one circuit and runs it epoch by epoch. How it does so is its own
business; `schedule` drives the operators of any runtime in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from .circuit import Circuit
from .maintenance import Decision, Expectation
from .schema import Array, Schema

if TYPE_CHECKING:
    from .joinplan import JoinPlan

_NOTHING: Mapping[str, Sequence[tuple[Any, ...]]] = MappingProxyType({})

T = TypeVar("T")

Batch: TypeAlias = Any  # a runtime's own columnar rows
Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the phase (a relation's name), the iteration and the rows so far."""


@dataclass(frozen=True, slots=True)
class Held:
    """The memory of a part of a runtime's state. `kind` is "relation" (rows of a relation or of a rule),
    "groups" (of a rule), "recursion" (what one by rounds keeps beside its relations) or "values" (interned,
    of a type); `rows` are the rows, groups, steps, changes or values of `name`, and `parts` the bytes of its
    parts."""

    kind: str
    name: str
    rows: int
    parts: Mapping[str, int]

    @property
    def bytes(self) -> int:
        """The bytes of all parts."""
        return sum(self.parts.values())


class RowSet(Protocol):
    """Rows of Python values in value order, with weights where the relation is a multiset."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    @property
    def weights(self) -> list[int] | None:
        """The weight of each row; None: all 1."""

    def columns(self) -> list[list[Any]]:
        """The values column by column."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...


@runtime_checkable
class PartedDelta(Protocol):
    """A change of which a part can be had without putting all in order."""

    def some(self, first: int, count: int) -> Delta:
        """At most so many of the changed rows, from one on in the order in which they lie."""


@runtime_checkable
class PartedRows(Protocol):
    """Rows of which a part can be had without putting all in order."""

    def some(self, first: int, count: int) -> RowSet:
        """At most so many of the rows, from one on in the order in which they lie; these in value order."""


class Delta(Protocol):
    """The change of one relation in one epoch, consolidated, in value order."""

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows that changed."""

    @property
    def weights(self) -> list[int]:
        """The change of each row's weight; never 0."""

    def __len__(self) -> int: ...


@runtime_checkable
class CountedDelta(Protocol):
    """A change that counts its rows without putting them in order."""

    def counts(self) -> tuple[int, int]:
        """The numbers of rows that came, and that went."""


@dataclass(frozen=True, slots=True)
class Coded:
    """A change column by column, in no order: `columns` in the forms of `Runtime.batch_from_columns`, and
    the change of each row's weight; None: all 1."""

    columns: Sequence[Any]
    weights: Array | None
    length: int


class NotKept(Exception):
    """The state before the last epoch cannot be told. The argument says why."""


class Sealed(Protocol):
    """The changes of an epoch that is computed."""

    @property
    def deltas(self) -> Mapping[str, Delta]:
        """The result of the epoch, if it becomes final."""

    @property
    def length(self) -> int:
        """The number of rows that inputs changed by, or more."""

    def inputs(self) -> Mapping[str, Any]:
        """The change of each input that changed, or the elements of one that is a stream: in process a
        function that gives it as `Coded`, on Spark a table."""

    def output(self, name: str) -> Any:
        """The change of an output, in the form of `inputs`; None if it did not change."""


Seal: TypeAlias = Callable[[Sealed], None]
"""Called when an epoch is computed and can still be rolled back. If it raises, the epoch is rolled back. The
changes that it is given are to be read at once."""


class Runtime(Protocol):
    """One circuit's state. Relations are named; rows are tuples of values."""

    def batch(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> Batch:
        """Rows as a batch for `commit`."""

    def batch_from_columns(self, relation: str, columns: Sequence[Any]) -> Batch:
        """Columns as a batch: for each an int64 or float64 array, a list of values, or a pair
        (dictionary of values, array of positions in it)."""

    def batches(self, relation: str, delta: Delta) -> Sequence[tuple[Batch, int]]:
        """The changes for `commit` that change an input relation as a delta that this runtime gave."""

    def contains(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[bool]:
        """For each row, whether the relation holds it since the last commit."""

    def lookup(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> list[int]:
        """The weight of each row since the last commit; 0 for an absent row."""

    def find(self, relation: str, values: Mapping[int, Any]) -> list[tuple[Any, ...]]:
        """The rows with these values in the columns at these positions."""

    def before(self, look: Callable[[], T], limit: int | None) -> T:
        """The result of `look`, which sees the state as it was before the last epoch. Raises NotKept if the
        changes of that epoch are not at hand."""

    def births(
        self, relation: str, rows: Sequence[tuple[Any, ...]], together: Collection[str]
    ) -> tuple[Sequence[int], bool] | None:
        """The iteration at which the evaluation of a recursion first derives each of some present rows of a
        relation, and True; or iterations that may be later, and False: each row has a derivation from rows of
        earlier ones. None if neither is known, or if the recursion is not that of the relations
        `together`."""

    def rows(self, relation: str) -> RowSet:
        """The contents of a relation. Raises KeyError for one that the circuit does not keep."""

    def size(self, relation: str) -> int:
        """The number of rows of a relation."""

    def commit(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        *,
        static: bool = False,
        max_iterations: int | None = None,
        progress: Progress | None = None,
        seal: Seal | None = None,
    ) -> dict[str, Delta]:
        """Runs one epoch. Each change is a batch and the weight of each of its rows, applied in order. In a
        set the weight is +1 or -1, and the insertion of a present row and the deletion of an absent row do
        nothing. A stream begins empty. `static`: no other commit follows, so that no history is needed.
        `seal` is called before the changes become final, and may refuse them.
        Returns the change of every output, and the contents of an output that is a stream.

        Raises RowFault, Unsettled or KeyboardInterrupt, with the state as it was before. A Ctrl-C
        too late for that is raised after the epoch, or where the caller's `interrupt.deferred` ends.
        """

    def attempt(
        self, changes: Mapping[str, Sequence[tuple[Batch, int]]], look: Callable[[], T], limit: int | None
    ) -> T:
        """The result of `look`, which sees the state with some changes, which are taken back then. Raises
        what `commit` raises."""

    def footprint(self) -> Sequence[Held] | None:
        """The memory that the state takes, part by part; None where the runtime does not know."""

    def plans(self) -> Sequence[JoinPlan] | None:
        """The plans that joins have run, with their rows; None where the runtime does not know."""

    def expectations(self) -> Sequence[Expectation] | None:
        """For each recursion, the choice that would be made now: maintaining it, or evaluating it anew;
        None where the runtime does not know."""

    def decisions(self) -> Sequence[Decision]:
        """The choices that the last epochs made for the recursions that they changed, with the reasons."""

    def tidy(self) -> None:
        """Gives back memory that nothing uses any more. Takes as long as reading the state."""

    def close(self) -> None:
        """Releases the state. A Spark session goes on."""

    def query(
        self,
        circuit: Circuit,
        given: Mapping[str, Sequence[tuple[Any, ...]]] = _NOTHING,
        most: int | None = None,
    ) -> RowSet:
        """Evaluates a circuit without recursion whose inputs are relations of this runtime, on their
        contents, or sets of a few rows that are `given`; gives its one output, or `most` rows of it."""


class ComparingRuntime(Runtime, Protocol):
    """A runtime that compares the rows of batches with those that it holds, without giving them out."""

    def covers(self, relation: str, batches: Sequence[Batch]) -> bool:
        """Whether the relation held all rows of these batches at the last commit, each as often as all of
        them together have it."""

    def has_room(
        self, relation: str, key: Sequence[int], come: Sequence[Batch], gone: Sequence[Batch]
    ) -> bool:
        """Whether the rows of the batches that come differ in the columns at the positions `key` from each
        other, and from all rows of the last commit but those that go, which were there."""


class BudgetedRuntime(Protocol):
    """A runtime that gives up an epoch which takes too much work, and can go on with another circuit."""

    @property
    def circuit(self) -> Circuit:
        """The circuit whose state it is."""

    @property
    def is_restored(self) -> bool:
        """Whether the first epoch is to come, and begins with kept units."""

    def size_of(self, relation: str) -> int:
        """The number of rows of an input, also before the first epoch."""

    def within(self, rows: int | None) -> AbstractContextManager[None]:
        """An epoch inside that takes more work than so many rows raises OverBudget; see `engine.budget`."""

    def take_up(self, circuit: Circuit) -> None:
        """Goes on with another circuit over the same inputs: it begins with their rows. Raises what `commit`
        raises, and goes on with the circuit from before then."""
