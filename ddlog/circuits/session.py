"""A circuit on a runtime: its state, brought from time to time by epochs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..engine.interrupt import deferred
from ..engine.runtime import Batch
from ..engine.zset import Row, Zset
from ..errors.diagnostics import DDlogError
from ..errors.nearest import meant_of
from ..errors.sessions import SessionClosed
from ..sessions.hosts.host import Host
from ..sessions.hosts.inputrows import table_rows
from ..sessions.opening import open_host
from ..sessions.options import SessionOptions
from .faults import diagnosed
from .runnable import Change, InputContents, Runnable, bad, by_input, check_limit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_session(
    circuit: Runnable,
    engine: str,
    spark: SparkSession | None,
    spark_options: Any,
    workers: int | None,
    max_iterations: int | None,
    memory_limit: int | str | None,
) -> CircuitSession:
    """A session of a circuit. Raises DDlogError."""
    check_limit(max_iterations)
    if workers is not None and (type(workers) is not int or workers < 1):
        bad("workers", f"{workers!r} is no number of threads", "it is an integer of at least 1, or None")
    options = SessionOptions(
        engine=engine, spark=spark, spark_options=spark_options, workers=workers, memory_limit=memory_limit
    )
    host = open_host(circuit.language.host_program(), circuit.executed(), options)
    return CircuitSession(circuit, host, max_iterations)


class CircuitSession:
    """A running circuit. Use it as a context manager, or call `close`. All methods raise DDlogError.

    `step` is one time of the streams. A fault, an interrupt or a limit leaves the session as it was before.
    """

    def __init__(self, circuit: Runnable, host: Host, max_iterations: int | None) -> None:
        self._circuit, self._host, self._limit = circuit, host, max_iterations
        self._contents = InputContents(circuit)
        self._inputs, self._outputs = circuit.ends
        self._open = True

    def __enter__(self) -> CircuitSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the session."""
        if self._open:
            self._open = False
            self._host.runtime.close()

    def step(self, given: Mapping[str, Change] | None = None) -> dict[str, Zset]:
        """The values of the outputs at the next time, for those of the inputs; of an incremental circuit,
        their changes. What an input is given is a mapping from rows to weights, or rows; or an Arrow table
        or a data frame with its columns."""
        self._check_open()
        changes: dict[str, list[tuple[Batch, int]]] = {}
        for name, rows in ({} if given is None else by_input(given, "step")).items():
            changes[name] = self._batches(name, rows)
        try:
            with deferred(), (self._host.offer.failures or nullcontext)():
                deltas = self._host.runtime.commit(changes, max_iterations=self._limit)
                return {name: dict(zip(d.rows, d.weights, strict=True)) for name, d in deltas.items()}
        except Exception as error:
            found = diagnosed(error, self._circuit.language.places)
            if found is None:
                raise
            raise found from None

    def contents(self, name: str) -> Zset:
        """The contents of an input or output: the sum of all changes so far; of a stream, its last value."""
        self._check_open()
        if name not in self._inputs and name not in self._outputs:
            help = meant_of(str(name), (*self._inputs, *self._outputs), "they")
            bad(str(name), "there is no such input or output", help)
        with (self._host.offer.failures or nullcontext)():
            found = self._host.runtime.rows(name)
            return dict(zip(found, found.weights or [1] * len(found), strict=True))

    def _batches(self, name: str, rows: Any) -> list[tuple[Batch, int]]:
        if name in self._inputs and not isinstance(rows, Mapping) and hasattr(rows, "columns"):
            end, typedefs = self._inputs[name], self._circuit.language.typedefs
            return [(table_rows(self._host.runtime, end.relation, rows, typedefs).batch(), 1)]
        given = self._contents.zset(name, rows, name)
        by_weight: dict[int, list[Row]] = {weight: [] for weight in set(given.values())}
        if len(by_weight) == 1:
            by_weight = {weight: list(given) for weight in by_weight}
        else:
            for row, weight in given.items():
                by_weight[weight].append(row)
        runtime = self._host.runtime
        return [(runtime.batch(name, few), weight) for weight, few in by_weight.items()]

    def _check_open(self) -> None:
        if not self._open:
            raise DDlogError([SessionClosed()])
