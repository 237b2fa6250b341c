"""The state of a recursion by rounds in process: the relations of one Rounds node."""

from __future__ import annotations

from collections.abc import Callable

from ..circuit import Input, NodeId, Rounds
from ..rounds import round_circuit
from ..rules import schemas_of
from ..schedule import downstream, readers
from .batch import Batch, concat, consolidate
from .steps import Evaluator
from .store import Store


class RoundsRecursion:
    """The relations of one Rounds node, as of the last commit, and the circuit of its rounds."""

    def __init__(self, node: Rounds, weighted: Callable[[NodeId], bool], evaluator: Evaluator) -> None:
        """`weighted` says of which imported nodes the rows have weights."""
        self.node, self.evaluator = node, evaluator
        self.circuit = round_circuit(node, weighted)
        self.schemas = schemas_of(node)
        self.relations = {head: Store(schema, is_set=True) for head, schema in self.schemas.items()}
        read_by = readers(self.circuit)
        self.downstream = {
            each.relation: downstream(read_by, at)
            for at, each in enumerate(self.circuit.nodes)
            if isinstance(each, Input)
        }

    def replace(self, relation: str, contents: Batch) -> Batch | None:
        """Makes these rows the contents of a relation; gives the change."""
        store = self.relations[relation]
        if not store.present:
            return store.add_present(contents) if contents.length else None
        change = consolidate(concat([contents, store.batch().negated()], len(store.schema)))
        return store.add_counted(change, as_set=True) if change.length else None

    def commit(self) -> None:
        """The epoch's changes stay."""
        for store in self.relations.values():
            store.commit()

    def rollback(self) -> None:
        """Takes the epoch back."""
        for store in self.relations.values():
            store.rollback()
