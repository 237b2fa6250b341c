"""Rows of commits that come to workers past the first one, against the definition."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ddlog
from ddlog.engine.circuit import Circuit
from ddlog.engine.inprocess.storage.batch import Batch
from ddlog.engine.inprocess.storage.interner import Values
from ddlog.engine.runtime import Delta, NotKept
from ddlog.engine.schema import RowFault
from ddlog.engine.shards.arrivals import Arrivals, Elsewhere, Load, RowsChanged, SentRows, Way, digest
from ddlog.engine.shards.runtime import Sharded, WorkerGone
from ddlog.engine.shards.tcp import Door
from ddlog.engine.shards.transfers import Bringing, Carrier, Doors, NoRoom, attend
from ddlog.engine.shards.wire import Parcel, divided, packed

from ..trying import trying
from .random_circuits import Changes, circuits, settling, streams
from .test_oracle import follow, undo
from .threads import in_threads


class Held:
    """Who has the rows of a batch, for tests: see `Source`."""

    def __init__(self, runtime: Sharded, relation: str, batch: Batch) -> None:
        self._runtime, self.batch, self._schema = runtime, batch, runtime.schema(relation)
        self.reads = 0

    @property
    def length(self) -> int:
        return self.batch.length

    def send(self, way: Way) -> Sequence[SentRows]:
        """In two pieces; and one that is not finished, and one that is not named."""
        values, half = self._runtime.values, self.batch.length // 2
        pieces = []
        for number, part in enumerate(
            (self.batch.slice(0, half), self.batch.slice(half, self.length), self.batch)
        ):
            name = secrets.token_hex(4)
            carrier = Carrier(way.doors, Bringing(way.name, name))
            for rank, rows in enumerate(divided(values, self._schema, way.key, part, way.owning)):
                if rows is not None:
                    carrier.bring(rank - way.owning.start, packed(values, self._schema, rows))
            carrier.finish()
            if number < 2:
                pieces.append(SentRows(name, part.length, digest(values, self._schema, part)))
        return pieces

    def read(self) -> Batch:
        self.reads += 1
        return self.batch

    def differ(self, places: Sequence[int]) -> bool:
        rows = [tuple(row[place] for place in places) for row in self.batch.rows()]
        return len(set(rows)) == len(rows)


def elsewhere(runtime: Sharded, relation: str, rows: list[tuple[Any, ...]]) -> Batch:
    """Rows that come past the first worker."""
    batch = runtime.batch(relation, rows)
    return Batch(Elsewhere(len(batch.columns), Held(runtime, relation, batch)), batch.length)


@trying(7, long=400)
@given(
    circuits(windows=False),
    streams(),
    st.sampled_from([2, 3]),
    st.lists(st.tuples(st.integers(1, 2), st.integers(1, 60)), max_size=4),
    st.randoms(use_true_random=False),
)
@settling
def test_rows_from_elsewhere(
    circuit: Circuit, epochs: list[Changes], size: int, ends: list[tuple[int, int]], chosen: Any
) -> None:
    """Some batches come past the first worker, also to workers that are started again."""
    mortal = ((min(rank, size - 1), messages) for rank, messages in ends)
    runtime = in_threads(circuit, size, first=1, ends=mortal, doors=True)
    commit, rows = runtime.commit, runtime.rows

    def committed(changes: Any) -> dict[str, Delta]:
        given = {
            name: [
                (
                    Batch(Elsewhere(len(batch.columns), Held(runtime, name, batch)), batch.length)
                    if chosen.random() < 0.5
                    else batch,
                    sign,
                )
                for batch, sign in parts
            ]
            for name, parts in changes.items()
        }
        with suppress(WorkerGone):  # thrice
            return commit(given)
        return commit(given)

    def found(relation: str) -> Any:
        with suppress(WorkerGone):
            return rows(relation)
        return rows(relation)

    runtime.commit, runtime.rows = committed, found  # type: ignore[method-assign, assignment]
    with closing(runtime):
        follow(circuit, runtime, [*epochs, *map(undo, reversed(epochs)), *epochs])


PROGRAM = ddlog.compile("""
input relation Road(from: string, to: string, toll: s64)
input stream Seen(at: string)
output relation Reach(from: string, to: string)
output relation Share(to: string, share: s64)
output stream Told(at: string, to: string)
Reach(a, b) :- Road(a, b, _).
Reach(a, c) :- Reach(a, b), Road(b, c, _).
Share(b, 100 / t) :- Road(_, b, t).
Told(a, b) :- Seen(a), Reach(a, b).
""")
ROADS = [("a", "b", 1), ("b", "c", 2), ("ä", "b", 4), ("x", "y", 5)]


@pytest.fixture
def workers() -> Iterator[Sharded]:
    """A runtime of two workers beside this one."""
    runtime = in_threads(PROGRAM.circuit("relational"), 3, first=1, doors=True)
    yield runtime
    runtime.close()


def held_by(batch: Batch) -> Held:
    """Who has the rows of a batch."""
    columns: Any = batch.columns
    found: Held = columns.source
    return found


def test_what_is_checked_before_a_commit_is_asked_of_workers(workers: Sharded) -> None:
    roads = elsewhere(workers, "Road", ROADS)
    for key in ((0, 1), (2,), (0, 1, 2)):
        assert workers.has_room("Road", key, [roads], [])
        assert not workers.has_room("Road", key, [elsewhere(workers, "Road", [*ROADS, ROADS[1]])], [])
        none = [elsewhere(workers, "Road", [])]
        assert not workers.has_room("Road", key, [elsewhere(workers, "Road", [*ROADS, ROADS[1]])], none)
    assert not workers.has_room("Road", (1,), [roads], [])  # two roads to b
    assert not workers.covers("Road", [roads])
    workers.commit({"Road": [(roads, 1)]})
    assert not held_by(roads).reads
    assert workers.covers("Road", [roads])
    assert workers.covers("Road", [elsewhere(workers, "Road", ROADS[1:3])])
    assert not workers.covers("Road", [elsewhere(workers, "Road", [ROADS[0], ("a", "b", 7)])])
    assert not workers.has_room("Road", (0, 1), [elsewhere(workers, "Road", [("a", "b", 7)])], [])
    assert workers.has_room("Road", (0, 1), [elsewhere(workers, "Road", [("a", "b", 7)])], [roads])
    assert workers.has_room("Road", (0, 1), [elsewhere(workers, "Road", [("a", "e", 7)])], [])


def test_a_fault_of_a_row_leaves_no_trace(workers: Sharded) -> None:
    workers.commit({"Road": [(elsewhere(workers, "Road", ROADS), 1)]})
    wrong = elsewhere(workers, "Road", [("b", "d", 0), ("d", "e", 1)])
    with pytest.raises(RowFault, match="division by zero"):
        workers.commit({"Road": [(wrong, 1)]})
    assert workers.size("Reach") == 6
    mended = [(wrong, 1), (workers.batch("Road", [("b", "d", 0)]), -1)]
    assert workers.commit({"Road": mended})["Reach"].rows == [("d", "e")]
    with pytest.raises(NotKept, match="too many"):
        workers.before(lambda: None, None)


def test_rows_that_changed_are_not_taken_for_those_of_the_commit(workers: Sharded) -> None:
    roads = elsewhere(workers, "Road", ROADS)
    workers.commit({"Road": [(roads, 1)]})
    held_by(roads).batch = workers.batch("Road", [*ROADS[:3], ("x", "y", 6)])
    workers.team.lose()
    for _ in range(2):
        with pytest.raises(RowsChanged):
            workers.size("Reach")
    held_by(roads).batch = workers.batch("Road", ROADS[::-1])
    assert workers.size("Reach") == 6


def test_elements_of_a_stream_end_with_the_next_epoch(workers: Sharded) -> None:
    """Also in workers that are started again."""
    for seen in (elsewhere(workers, "Seen", [("a",)]), workers.batch("Seen", [("a",)])):
        workers.commit({"Road": [(elsewhere(workers, "Road", ROADS), 1)], "Seen": [(seen, 1)]})
        workers.team.lose()
        assert set(workers.rows("Told")) == {("a", "b"), ("a", "c")}
        workers.commit({})
        workers.team.lose()
        assert not workers.size("Told")


def test_rows_for_which_a_worker_has_no_memory() -> None:
    door, arrivals = Door("127.0.0.1", b"key"), Arrivals()
    threading.Thread(target=attend, args=(door, iter, arrivals.add, 1), daemon=True).start()
    carrier = Carrier(Doors([door.address], b"key"), Bringing("load", "piece"))
    for _ in range(3):
        carrier.bring(0, Parcel((), 1, None, None))
    with pytest.raises(NoRoom, match="whole share of memory"):
        carrier.finish()
    assert not arrivals.batch(Values(), (), Load("load", ("piece",))).length
