"""Circuits in Python: operators on streams of Z-sets, their incremental versions, and sessions that run them.

    from ddlog.circuits import Circuit

    circuit = Circuit()
    edges = circuit.input("edges", x="signed<32>", y="signed<32>")
    steps = edges.join(edges.map(y="x", z="y"))
    circuit.output("two", steps.project("x", "z").distinct())
    with circuit.incremental().session() as session:
        print(session.step({"edges": [(1, 2), (2, 3)]}))

See docs/circuits.md.
"""

from .circuit import Circuit, Incremental, Nested
from .functions import python
from .session import CircuitSession
from .streams import Stream, Wire

__all__ = ["Circuit", "CircuitSession", "Incremental", "Nested", "Stream", "Wire", "python"]
