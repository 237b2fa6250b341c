"""Passes: rewritings of relational circuits that keep their meaning, one a file, and the order they run
in."""

from __future__ import annotations

from collections.abc import Callable

from ..circuit import Circuit
from .canonical import share_common_nodes
from .dead_code import remove_dead_code
from .distinct import consolidate_distinct, eliminate_distinct
from .fold import fold_constants
from .groups import share_groups
from .inward import move_inward
from .prefixes import share_prefixes
from .transitive import make_linear

PASSES: tuple[Callable[[Circuit], Circuit], ...] = (
    fold_constants,
    share_common_nodes,
    share_prefixes,
    remove_dead_code,
    make_linear,
    eliminate_distinct,
    remove_dead_code,
    share_groups,
    move_inward,
    remove_dead_code,
    consolidate_distinct,
    share_common_nodes,
    remove_dead_code,
)


def optimize(circuit: Circuit) -> Circuit:
    """The circuit after all passes: the same outputs and relations for all inputs."""
    for rewrite in PASSES:
        circuit = rewrite(circuit)
    return circuit
