"""Circuits in Python: operators on streams of Z-sets, their incremental versions, and sessions that run them.

    from ddlog.circuits import Circuit

    circuit = Circuit()
    edges = circuit.input("edges", x="signed<32>", y="signed<32>")
    steps = edges.join(edges.map(y="x", z="y"))
    circuit.output("two", steps.project("x", "z").distinct())
    with circuit.incremental().session() as session:
        print(session.step({"edges": [(1, 2), (2, 3)]}))

`ddlog/circuits/` builds circuits without a program (docs/circuits.md). Row expressions are checked and
lowered as queries over the columns of a stream. What users connect is ordered into nodes by `scopes.py`,
which turns the delay of a cycle into a `Feedback` and a `Feed`. For a runtime, `recognition.py` makes a
`Fixpoint` of a bracket that is one, `nestedfixpoints.py` one `Fixpoint` of monotone fixpoints in one another,
and `rules.py` brings the body of a monotone fixpoint into rules. Chains of row operators and joins become one
join (`engine/passes/chains.py`), whose faults name the operator that was written. A circuit on values runs as
its incremental version with streams at its ends: C = I ∘ C^Δ ∘ D.
"""

from .circuit import Circuit, Incremental, Nested
from .functions import python
from .session import CircuitSession
from .streams import Stream, Wire

__all__ = ["Circuit", "CircuitSession", "Incremental", "Nested", "Stream", "Wire", "python"]
