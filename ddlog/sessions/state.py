"""The state of a session: a program on a host, brought from commit to commit by epochs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..core import Relation
from ..engine.interrupt import deferred
from ..engine.runtime import Batch, Delta, Progress
from ..engine.schema import RowFault
from ..engine.settling import Unsettled
from ..errors.diagnostics import DDlogError
from ..errors.sessions import SessionClosed
from ..errors.unknown import unknown_relation
from .delays import Delays
from .faults import diagnosed, never_settled
from .host import Host
from .program import Program
from .results import Changes


class SessionState:
    """The state that the parts of a session share. `kept` are the relations that the circuit computes."""

    def __init__(
        self,
        program: Program,
        host: Host,
        kept: frozenset[str],
        max_iterations: int | None,
        progress: Progress | None,
    ) -> None:
        self.program, self.host, self.kept = program, host, kept
        self.typedefs = program.checked.typedefs
        self.max_iterations, self.progress = max_iterations, progress
        self.started = False
        self.static = False
        self.closed = False
        self._delays = Delays((program.relations[name] for name in kept), host.runtime)
        self._untold = {name for name in kept if program.relations[name].role != "output"}

    def check_open(self) -> None:
        """Raises DDlogError if the session is closed."""
        if self.closed:
            raise DDlogError([SessionClosed()])

    def declared(self, name: str) -> Relation:
        """The relation with a name. Raises DDlogError if there is none."""
        declared = self.program.relations.get(name)
        if declared is None:
            raise DDlogError([unknown_relation(name, self.program.relations, self.program.indexes)])
        return declared

    def start(self) -> None:
        """Puts the program's own facts in the state, unless that was done. Raises DDlogError."""
        if not self.started:
            self.run({}, False)

    def run(self, batches: Mapping[str, Sequence[tuple[Batch, int]]], static: bool) -> Changes:
        """Runs one epoch, and returns the changes of the output relations. Raises DDlogError."""
        with deferred(), self.diagnosing():
            deltas = self.host.runtime.commit(
                {**batches, **self._delays.changes()},
                static=static,
                max_iterations=self.max_iterations,
                progress=self.progress,
            )
            self._delays.remember(deltas)
            self.started = True
            self.static = static
        return self.changes({name: delta for name, delta in deltas.items() if name not in self._untold})

    def changes(self, deltas: Mapping[str, Delta]) -> Changes:
        """The changes of output relations, to give out."""
        return Changes(deltas, self.program.relations, self.typedefs, self.host.delta_frame)

    @contextmanager
    def diagnosing(self) -> Iterator[None]:
        """Turns faults and failures of the runtime inside into DDlogErrors."""
        try:
            with self.host.failures():
                yield
        except RowFault as fault:
            raise DDlogError([diagnosed(fault)]) from None
        except Unsettled as unsettled:
            raise DDlogError([never_settled(unsettled, self.program.relations, self.typedefs)]) from None
