"""Epochs: what one is given, and how one begins and ends, whatever the runtime.

    changes of inputs  ->  begin  ->  walk the circuit  ->  finish  ->  commit
                                            |                  |
                                            +---- rollback ----+

An epoch changes the state wholly or not at all. Between `finish` and `commit` it is sealed: what keeps the
changes beyond the process writes them there, and may fail. After that nothing can.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from traceback import clear_frames
from typing import Any, Generic, Protocol, TypeVar, cast

from . import epochcosts, interrupt, thresholds
from .circuit import Circuit, DeltaLate, Input, NodeId, Trace
from .runtime import Delta, Progress
from .schedule import Operators, downstream, readers, walk

B = TypeVar("B")
G = TypeVar("G")
T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Epoch(Generic[G]):
    """The input of one epoch: the signed batches of the inputs that change, in order; the number of epochs
    committed before it; and the arguments of `Runtime.commit`. `tried`: it is looked at, and rolled back.
    Nobody changes it, like a batch."""

    changes: Mapping[str, Sequence[tuple[G, int]]]
    number: int = 0
    static: bool = False
    limit: int | None = None
    progress: Progress | None = None
    tried: bool = False

    @property
    def first(self) -> bool:
        """Whether no epoch was committed before this one, so that all state is empty."""
        return self.number == 0


class _Seen(Exception):
    """Ends an epoch that is only looked at."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer


class Running(Operators[B], Protocol[B]):
    """The operators of one epoch, with the state that they change."""

    def finish(self, outputs: Mapping[str, B]) -> dict[str, Delta]:
        """The change of every output, given the changes of the outputs that were visited. Computes all that
        `commit` needs, so that `commit` cannot fail."""

    def commit(self) -> None:
        """The changes of the state stay."""

    def rollback(self) -> None:
        """Takes the changes of the state back, wherever the epoch is."""


class SmallWalk(Protocol):
    """The walk of some nodes in small epochs."""

    def run(self, running: Any, limit: int | None, progress: Progress | None) -> Mapping[str, Any]:
        """The changes of the outputs that change, in forms that `finish` takes."""


@dataclass(frozen=True)
class FirstEpoch(Generic[B]):
    """The plan of a first epoch before which the state of some nodes is there: the nodes that it walks, and
    what other nodes hold, as their changes."""

    nodes: Sequence[NodeId]
    known: Mapping[NodeId, B]


class Epochs(Generic[G, B]):
    """Runs the epochs of one circuit, one after another."""

    def __init__(
        self,
        circuit: Circuit,
        begin: Callable[[Epoch[G]], Running[B]],
        held: Callable[[NodeId], G | None],
        length: Callable[[G], int],
        exhausted: Callable[[Running[B], MemoryError], None] | None = None,
        restless: Callable[[], tuple[NodeId, ...]] = tuple,
        walk_for: Callable[[Sequence[NodeId]], SmallWalk] | None = None,
    ) -> None:
        """`held` gives the contents of an input, None where it has none; `length` the rows of a batch.
        `exhausted` looks at an epoch that ran out of memory, before it is rolled back. `restless` gives the
        nodes that change even if no input does. `walk_for` gives the walk of some nodes in small epochs."""
        self._circuit, self._begin, self._held, self._length = circuit, begin, held, length
        self._restless, self._exhausted = restless, exhausted
        inputs = [(at, node) for at, node in enumerate(circuit.nodes) if isinstance(node, Input)]
        self._inputs = {node.relation: at for at, node in inputs}
        self._streams = [(node.relation, at) for at, node in inputs if node.stream]
        self._passing = [at for at, node in enumerate(circuit.nodes) if isinstance(node, DeltaLate)]
        kept = lru_cache(thresholds.KEPT_WALKS)
        self._active_from = active_from = kept(partial(_active_from, circuit, readers(circuit)))
        self._small_walk: Callable[[tuple[NodeId, ...]], SmallWalk] | None = None
        if walk_for is not None:
            self._small_walk = kept(lambda moving: walk_for(active_from(moving)))
        self.committed = 0
        self.beginning: FirstEpoch[B] | None = None
        self.given: dict[NodeId, B] = {}
        """The changes of nodes in the first epoch that do not follow from those of their sources."""
        self.times: dict[NodeId, float] = {}
        """The seconds of each node in the large epoch in which it took most."""

    def run(
        self,
        changes: Mapping[str, Sequence[tuple[G, int]]],
        static: bool,
        limit: int | None,
        progress: Progress | None,
        seal: Callable[[Running[B], Mapping[str, Delta]], None] | None = None,
        look: Callable[[], None] | None = None,
        known: Mapping[NodeId, B] | None = None,
    ) -> dict[str, Delta]:
        """Runs one epoch; see `Runtime.commit`. `look` is called before the changes stay, and takes the epoch
        back if it raises. `known` are the changes of nodes, in an epoch that is not the first, that do not
        follow from those of their sources."""
        if self._streams:
            changes = self._with_ends(changes)
        epoch = Epoch(changes, self.committed, static, limit, progress, look is not None)
        first = not self.committed
        running = self._begin(epoch)
        try:
            known = self._known() if first else known
            changing, rows = ((), 0) if first else self._changing(changes)
            is_small = rows <= thresholds.ROWS_ONE_BY_ONE and not (first or static or known)
            walk_of = self._small_walk
            if is_small and walk_of is not None and epochcosts.current() is None:
                outputs = walk_of(self._moving(changing)).run(running, limit, progress)
            else:
                is_large = first or rows >= thresholds.TIMED_CHANGES
                times = self.times if is_large else None  # a clock takes nothing beside so many rows
                nodes = self._active(epoch, changing, known or {})
                outputs = walk(self._circuit, running, nodes, limit, progress, known, times)
            deltas = running.finish(outputs)
            if look is not None:
                look()
            interrupt.check()
            if seal is not None:
                with interrupt.held():
                    seal(running, deltas)
        except BaseException as error:
            with interrupt.held():
                if isinstance(error, MemoryError) and self._exhausted is not None:
                    self._exhausted(running, error)
                    clear_frames(error.__traceback__)  # the columns of a half-made join
                running.rollback()
            raise
        with interrupt.held():
            running.commit()
        self.committed += 1
        return deltas

    def attempt(
        self, changes: Mapping[str, Sequence[tuple[G, int]]], limit: int | None, look: Callable[[], T]
    ) -> T:
        """The result of `look`, which sees the state with some changes. The epoch is rolled back."""

        def seen() -> None:
            raise _Seen(look())

        try:
            self.run(changes, False, limit, None, look=seen)
        except _Seen as found:
            return cast("T", found.answer)
        raise AssertionError("the epoch was not looked at")

    def _with_ends(
        self, changes: Mapping[str, Sequence[tuple[G, int]]]
    ) -> Mapping[str, Sequence[tuple[G, int]]]:
        """The changes, with the ends of the streams: what a stream holds goes before anything comes."""
        ended = dict(changes)
        for name, at in self._streams:
            held = self._held(at)
            if held is not None:
                ended[name] = [(held, -1), *changes.get(name, ())]
        return ended

    def _active(
        self, epoch: Epoch[G], changing: Sequence[NodeId], known: Collection[NodeId]
    ) -> Sequence[NodeId]:
        """The nodes that may change, in order, if some inputs do, with those whose changes are known: in the
        first epoch all of them."""
        if epoch.first:
            every = range(len(self._circuit.nodes))
            return every if self.beginning is None else self.beginning.nodes
        return self._active_from((*self._moving(changing), *known))

    def _moving(self, changing: Sequence[NodeId]) -> tuple[NodeId, ...]:
        """The nodes that change by themselves, in an epoch in which some inputs do."""
        return (*changing, *(self.ending() if self._passing else ()), *self._restless())

    def _known(self) -> Mapping[NodeId, B]:
        """The changes that are known before the first epoch."""
        known = {} if self.beginning is None else self.beginning.known
        return {**known, **self.given}

    def _changing(self, changes: Mapping[str, Sequence[tuple[G, int]]]) -> tuple[Sequence[NodeId], int]:
        """The inputs that change, in order, and the rows by which they do."""
        changing: list[NodeId] = []
        rows = 0
        for name, parts in changes.items():
            before = rows
            for part, _ in parts:
                rows += self._length(part)
            if rows > before:
                changing.append(self._inputs[name])
        changing.sort()
        return changing, rows

    @property
    def keeps_elements(self) -> bool:
        """Whether there are streams, whose elements end with the next epoch."""
        return bool(self._streams or self._passing)

    def ending(self) -> list[NodeId]:
        """The streams that the circuit makes of its own, and that hold elements of the epoch before."""
        return [at for at in self._passing if self._held(at) is not None]


def _active_from(
    circuit: Circuit, read_by: Sequence[Sequence[NodeId]], moving: tuple[NodeId, ...]
) -> Sequence[NodeId]:
    """The nodes that may change if some do."""
    active = set[NodeId]().union(*(downstream(read_by, at) for at in moving))
    return sorted(at for at in active if not isinstance(circuit.nodes[at], Trace))
