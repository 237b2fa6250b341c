"""A recursion of an evaluation without state: from rows of what it imports to tables of its relations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from ...circuit import Circuit, Fixpoint, FixpointResult, Input, Node, NodeId, Output
from ...epoch import Epoch
from ...inprocess.runtime import InProcess
from ..batches import Crossing
from ..tables import LocalTable


def evaluated(
    circuit: Circuit,
    at: NodeId,
    imported: Mapping[NodeId, pa.Table],
    crossing: Crossing,
    opened: Callable[[Circuit, int], InProcess],
    epoch: Epoch[Any],
) -> dict[NodeId, LocalTable]:
    """The rows of the FixpointResult nodes of a Fixpoint of a circuit of changes, each once, given those of
    the nodes that it reads. `opened` gives a runtime for a circuit whose inputs have so many rows, over the
    values of the crossing. Raises what a commit raises."""
    alone, names, results = _alone(circuit, at)
    runtime = opened(alone, sum(rows.num_rows for rows in imported.values()))
    changes = {
        names[source]: [(crossing.batch(circuit.nodes[source].schema, rows), 1)]
        for source, rows in imported.items()
    }
    try:
        runtime.commit(changes, static=True, max_iterations=epoch.limit, progress=epoch.progress)
        return {
            k: crossing.table(circuit.nodes[k].schema, runtime.contents(relation))
            for k, relation in results.items()
        }
    finally:
        runtime.close()


def _alone(circuit: Circuit, at: NodeId) -> tuple[Circuit, dict[NodeId, str], dict[NodeId, str]]:
    """A circuit of a Fixpoint alone, with the names of its inputs and those of its outputs, by the nodes."""
    fixpoint = circuit.nodes[at]
    assert isinstance(fixpoint, Fixpoint)
    sources = list(dict.fromkeys(fixpoint.reads()))
    names = {source: f"import {source}" for source in sources}
    nodes: list[Node] = [Input(names[source], circuit.nodes[source].schema) for source in sources]
    nodes.append(fixpoint.reading(sources.index))
    found: dict[NodeId, str] = {}
    for k, node in enumerate(circuit.nodes):
        if isinstance(node, FixpointResult) and node.fixpoint == at:
            found[k] = node.relation
            nodes.append(FixpointResult(len(sources), node.relation, node.schema, node.text))
            nodes.append(Output(node.relation, len(nodes) - 1, node.schema))
    return Circuit(tuple(nodes)), names, found
