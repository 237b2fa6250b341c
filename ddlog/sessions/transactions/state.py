"""The state of a session: a program on a host, brought from commit to commit by epochs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial, wraps
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NoReturn, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

from ...codegen.functiontable import RECURSION_DEPTH
from ...core import Relation, relation_named
from ...durability import records
from ...engine.divergence import Unsettled
from ...engine.interrupt import deferred
from ...engine.memory import Exhausted
from ...engine.runtime import Batch, Delta, Progress, Seal
from ...engine.schema import RowFault
from ...engine.weakly import weakly
from ...errors.diagnostics import DDlogError
from ...errors.memory import NoMemoryLeft
from ...errors.sessions import NestedTooDeeply, SessionClosed
from ...errors.state import StateOfParent
from ...errors.unknown import unknown_relation
from ...syntax.stackroom import deep_recursion
from ...values.rows import Row, has_plain_columns, row_taker
from ..hosts.host import Host, frames_of
from ..program import Program
from ..results.views import Changes
from .delays import Delays
from .faults import diagnosed, never_settled, out_of_memory

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..asking.demandbudget import Sparing
    from ..asking.questions import Questions
    from ..measuring.recorder import Recorder
    from .durable_state import DurableState


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="_Shared")
T = TypeVar("T")


class _Shared(Protocol):
    """An object with the state of a session, which several threads may use."""

    state: SessionState


def in_turn(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """A method of a session for which other threads that use the session wait."""

    @wraps(method)
    def call(shared: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with shared.state.lock:  # a Ctrl-C finds it taken and to be given back, or not taken
            return method(shared, *args, **kwargs)

    return call


class _LockOfParent:
    """The lock of a session that only the process uses from which this one was forked: nobody gets it."""

    def __init__(self) -> None:
        self._process = os.getppid()

    def __enter__(self) -> NoReturn:
        raise DDlogError([StateOfParent("the session", self._process)])

    def __exit__(self, *raised: object) -> None:
        pass


class UpdateIds:
    """The ids of the updates of committed transactions, and of the open one; of requests with a key the last
    ones. `known` gives those of before the session, the newest last, when the first id is asked for."""

    def __init__(self, known: Callable[[], Collection[str]]) -> None:
        self._known, self._ids = known, set[str]()
        self._keys = deque[str]()
        self._asked = False
        self.pending: list[str] = []

    def has(self, id: str) -> bool:
        """Whether an update with this id was applied."""
        if not self._asked:
            self._asked, ids = True, [*self._known(), *self._ids]
            self._ids = set[str]()
            self._add(ids)
        return id in self._ids or id in self.pending

    def note(self, ids: Iterable[str]) -> None:
        """Takes ids of updates that the open transaction has now."""
        self.pending.extend(dict.fromkeys(ids))

    def settle(self, committed: bool) -> None:
        """Ends the transaction."""
        if committed:
            self._add(self.pending)
        self.pending = []

    def _add(self, ids: Iterable[str]) -> None:
        for id in ids:
            if id.startswith(records.KEY) and id not in self._ids:
                self._keys.append(id)
            self._ids.add(id)
        while len(self._keys) > records.LAST_KEYS:
            self._ids.discard(self._keys.popleft())


class Diagnosing(Generic[T]):
    """See `SessionState.diagnosing`. A class, as every change of an input comes here."""

    __slots__ = ("_failures", "_given", "_inside", "_room", "_state")

    def __init__(self, state: SessionState, given: T) -> None:
        """`given` is the value that `with … as` binds."""
        self._state, self._failures, self._given = state, state.host.offer.failures, given
        self._room = deep_recursion(RECURSION_DEPTH)

    def __enter__(self) -> T:
        self._room.__enter__()
        if self._failures is not None:
            self._inside = self._failures()
            self._inside.__enter__()
        return self._given

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._failures is not None:
                self._inside.__exit__(kind, error, trace)
            if error is not None:
                self._state.diagnose(error)
        except BaseException as failure:
            if failure is not error:
                self._state.diagnose(failure)
            raise
        finally:
            self._room.__exit__()


class SessionState:
    """The state that the parts of a session share. `kept` are the relations that the circuit computes."""

    def __init__(
        self,
        program: Program,
        host: Host,
        kept: frozenset[str],
        max_iterations: int | None,
        progress: Progress | None,
        updates: bool = True,
    ) -> None:
        """`updates`: whether changes may follow the first."""
        self.updates = updates
        self.lock: RLock | _LockOfParent = RLock()
        """Held by the thread that uses the session: see `in_turn`."""
        self.max_iterations, self.progress = max_iterations, progress
        self.wanted: str | Iterable[str] = "all"  # as `Program.session` takes them
        self.started = False
        self.static = False
        self.first = False  # whether the last commit was the first, from nothing
        self.closed = False
        self.durable: DurableState | None = None
        self.recorder: Recorder | None = None  # measures the epochs
        self.sparing: Sparing | None = None  # of outputs on demand
        self.epochs = 0  # those of the runtime
        self.applied = UpdateIds(weakly(self._known_ids))
        self._questions: Questions | None = None
        self.take_up(program, host, kept)
        _STATES.add(self)

    def take_up(self, program: Program, host: Host, kept: frozenset[str]) -> None:
        """Begins with a program on a host, or goes on with another one."""
        self.forget_questions()
        self.program, self.host, self.kept = program, host, kept
        self.typedefs = program.checked.typedefs
        self._texts: dict[str, Callable[[Row], str]] = {}
        self._taking: dict[str, Callable[[Any], Row]] = {}
        self._plain: dict[str, Callable[[Any], Row] | None] = {}
        self.delays = Delays((program.relations[name] for name in kept), host.runtime)
        self._untold = {name for name in kept if program.relations[name].role != "output"}

    @property
    def questions(self) -> Questions:
        """The queries that are answered on demand."""
        if self._questions is None:
            from ..asking.questions import Questions

            self._questions = Questions(self.program, self.host, self.kept)
        return self._questions

    def forget_questions(self) -> None:
        """Ends the queries that are answered on demand."""
        if self._questions is not None:
            self._questions.close()
            self._questions = None

    def _known_ids(self) -> Collection[str]:
        return () if self.durable is None else self.durable.known_ids()

    def check_open(self) -> None:
        """Raises DDlogError if the session is closed, or another process uses it."""
        if self.closed:
            with self.lock:
                raise DDlogError([SessionClosed()])

    @property
    def is_used_here(self) -> bool:
        """True if this thread holds the lock of the session, for which all others wait."""
        return not self.is_left and bool(self.lock._is_owned())  # type: ignore[union-attr]

    @property
    def is_left(self) -> bool:
        """True in a forked process whose parent alone may use the session."""
        return isinstance(self.lock, _LockOfParent)

    def leave_to_parent(self) -> None:
        """In a process that was forked: closes a session in which another thread was at work, which is not
        here to end that, and one with connections, which both processes would use."""
        if isinstance(self.lock, _LockOfParent):
            return
        if self.host.offer.here is not None and self.lock.acquire(blocking=False):
            self.lock.release()
        else:
            self.closed, self.lock = True, _LockOfParent()

    def declared(self, name: str) -> Relation:
        """The relation with a name. Raises DDlogError if there is none."""
        declared = relation_named(name, self.program.relations)
        if declared is None:
            raise DDlogError([unknown_relation(name, self.program.relations, self.program.indexes)])
        return declared

    def row_taker(self, declared: Relation) -> Callable[[Any], Row]:
        """The function that takes users' values for rows of a relation. It raises DDlogError."""
        found = self._taking.get(declared.name)
        if found is None:
            found = self._taking[declared.name] = row_taker(declared, self.typedefs)
        return found

    def plain_taker(self, declared: Relation) -> Callable[[Any], Row] | None:
        """The same, of a relation whose values hold no others; None: those of this relation may."""
        name = declared.name
        if name not in self._plain:
            self._plain[name] = self.row_taker(declared) if has_plain_columns(declared) else None
        return self._plain[name]

    def start(self) -> None:
        """Puts the program's own facts in the state, and what its durable state holds, unless that was done.
        Raises DDlogError."""
        if not self.started:
            self.begin(False)

    def begin(self, static: bool) -> Changes:
        """The first epoch of a session. Raises DDlogError."""
        if self.durable is not None and self.durable.is_begun:
            return self.durable.begin(self, static)
        return self.run({}, static)

    def run(self, batches: Mapping[str, Sequence[tuple[Batch, int]]], static: bool) -> Changes:
        """Runs one epoch, and returns the changes of the output relations. Raises DDlogError."""
        with deferred(), self.diagnosing():
            return self.told(self.ran(batches, static))

    def ran(self, batches: Mapping[str, Sequence[tuple[Batch, int]]], static: bool) -> dict[str, Delta]:
        """As `run`, inside `diagnosing` and `deferred`: the changes of all relations."""
        changes = {**batches, **self.delays.changes()} if self.delays.delayed else batches
        deltas = self.epoch(changes, static, None if self.durable is None else self._seal(self.durable))
        if self.delays.delayed:
            self.delays.remember(deltas)
        if self._questions is not None:
            self._questions.follow(changes, self.max_iterations)
        self.first = not self.started
        self.started = True
        self.static = static
        if self.durable is not None:
            self.durable.committed()
        return deltas

    def epoch(
        self,
        changes: Mapping[str, Sequence[tuple[Batch, int]]],
        static: bool,
        seal: Seal | None,
        limited: bool = True,
    ) -> dict[str, Delta]:
        """Runs one epoch of the runtime, with the session's limit of iterations or without. Raises what the
        runtime raises."""

        def run() -> dict[str, Delta]:
            most = self.max_iterations if limited else None
            return self.host.runtime.commit(
                changes, static=static, progress=self.progress, seal=seal, max_iterations=most
            )

        measured = run if self.recorder is None else partial(self.recorder.commit, run, self.epochs)
        deltas = measured() if self.sparing is None else self.sparing.commit(changes, measured)
        self.epochs += 1
        return deltas

    def _seal(self, durable: DurableState) -> Seal | None:
        """The function that seals an epoch. A state that is only read begins without an epoch of its own."""
        if durable.read_only and not self.started:
            return None
        return partial(durable.seal, ids=self.applied.pending if self.started else ())

    def told(self, deltas: dict[str, Delta]) -> Changes:
        """The changes of the output relations among those of an epoch."""
        if not self._untold.isdisjoint(deltas):
            deltas = {name: delta for name, delta in deltas.items() if name not in self._untold}
        return self.changes(deltas)

    def changes(self, deltas: Mapping[str, Delta]) -> Changes:
        """The changes of output relations, to give out."""
        return Changes(deltas, self.program.relations, self.typedefs, self._delta_frame, self._texts)

    def _delta_frame(self, delta: Delta) -> DataFrame:
        return frames_of(self.host, "to_spark").delta_frame(delta)

    def diagnosing(self) -> Diagnosing[None]:
        """Turns faults and failures of the runtime inside into DDlogErrors. Values may be nested as deeply
        inside as in functions."""
        return Diagnosing(self, None)

    def diagnose(self, error: BaseException) -> None:
        """Raises the DDlogError that tells of a fault or failure of the runtime. Returns for other errors."""
        if isinstance(error, RowFault):
            raise DDlogError([diagnosed(error)]) from None
        if isinstance(error, Unsettled):
            raise DDlogError([never_settled(error, self.program.relations, self.typedefs)]) from None
        if isinstance(error, Exhausted):
            raise DDlogError([out_of_memory(error)]) from None
        if isinstance(error, RecursionError):
            raise DDlogError([NestedTooDeeply()]) from None
        if isinstance(error, MemoryError):
            raise DDlogError([NoMemoryLeft("")]) from None
        damaged = None if self.durable is None else self.durable.diagnosed(error)
        if damaged is not None:
            raise damaged from error


_STATES = WeakSet[SessionState]()


def _leave_to_parent() -> None:
    for state in list(_STATES):
        state.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
