"""The counters of a server, as Prometheus reads them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from ..engine.memory import resident

BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""The upper ends of the classes of times, in seconds."""


class Histogram:
    """Times by classes."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BUCKETS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Counts a time."""
        self._counts[bisect_left(BUCKETS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str) -> Iterator[str]:
        """The lines of the histogram."""
        count = 0
        for end, more in zip((*map(str, BUCKETS), "+Inf"), self._counts, strict=True):
            count += more
            yield f'{name}_bucket{{le="{end}"}} {count}'
        yield f"{name}_sum {self._sum}"
        yield f"{name}_count {count}"


class Metrics:
    """The counts of a server since its start."""

    def __init__(self) -> None:
        self.epochs = self.transactions = self.refused = self.questions = 0
        self.latency = Histogram()

    def text(
        self, gauges: Iterable[tuple[str, str, float]], sizes: Mapping[str, tuple[int, int | None]]
    ) -> str:
        """All counts; `gauges` are names, helps and values, `sizes` the rows and bytes by relation."""
        lines: list[str] = []
        for name, help, value in (
            ("epochs_total", "Epochs that were committed.", self.epochs),
            ("transactions_total", "Transactions that were acknowledged.", self.transactions),
            ("transactions_refused_total", "Transactions that ended with an error.", self.refused),
            ("questions_total", "Questions that were answered.", self.questions),
        ):
            lines += [*_head(name, help, "counter"), f"ddlog_{name} {value}"]
        for name, help, measured in (
            *gauges,
            ("memory_bytes", "Resident memory of the process.", resident() or 0),
        ):
            lines += [*_head(name, help, "gauge"), f"ddlog_{name} {measured}"]
        latency = "transaction_seconds"
        lines += _head(latency, "Time from a transaction's arrival to its answer.", "histogram")
        lines += self.latency.lines(f"ddlog_{latency}")
        lines += _head("relation_rows", "Rows of a relation.", "gauge")
        lines += [f'ddlog_relation_rows{{relation="{name}"}} {rows}' for name, (rows, _) in sizes.items()]
        lines += _head("relation_bytes", "Bytes of the rows of a relation.", "gauge")
        lines += [
            f'ddlog_relation_bytes{{relation="{n}"}} {b}' for n, (_, b) in sizes.items() if b is not None
        ]
        return "\n".join(lines) + "\n"


def _head(name: str, help: str, kind: str) -> list[str]:
    return [f"# HELP ddlog_{name} {help}", f"# TYPE ddlog_{name} {kind}"]
