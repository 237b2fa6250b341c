"""Rewritings of relational circuits that keep their meaning, one a file, and the order they run in."""

from __future__ import annotations

from collections.abc import Callable

from ..circuit import Circuit
from .dead_code import remove_dead_code

PASSES: tuple[Callable[[Circuit], Circuit], ...] = (remove_dead_code,)


def optimize(circuit: Circuit) -> Circuit:
    """The circuit after all passes: the same outputs and relations for all inputs."""
    for rewrite in PASSES:
        circuit = rewrite(circuit)
    return circuit
