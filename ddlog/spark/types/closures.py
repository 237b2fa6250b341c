"""Closures in rows: the types of the columns of a circuit, and the code of closures for other processes."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...engine.circuit import Circuit, DeltaJoin, Fixpoint, Join
from ...engine.operators.steps import expression
from ...types import Type
from ...values import Closure


def column_types(circuit: Circuit) -> Iterator[Type]:
    """The types of all columns that operators of a circuit read or give."""
    for node in circuit.nodes:
        columns = list(node.schema)
        if isinstance(node, Join | DeltaJoin):
            for step in node.steps:
                value = expression(step)
                columns += (value.column, *value.columns)
        yield from (each.type for each in columns if each.type is not None)
        if isinstance(node, Fixpoint):
            yield from column_types(node.body)


def pickled(classes: Mapping[str, type[Any]], name_of: Callable[[Any], Any]) -> bytes:
    """Classes with the code of their methods; `name_of` as `SparkCodec.persistent_id`."""
    from pyspark.cloudpickle import CloudPickler

    class Pickler(CloudPickler):
        def persistent_id(self, value: Any) -> Any:
            return name_of(value)

    out = io.BytesIO()
    pickler: Any = Pickler
    pickler(out).dump(classes)
    return out.getvalue()


def unpickled(data: bytes, known: Callable[[Any], Any]) -> dict[str, type[Closure]]:
    """The classes that `pickled` pickled; `known` as `SparkCodec.persistent_load`."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: Any) -> Any:
            return known(name)

    found: dict[str, type[Closure]] = Unpickler(io.BytesIO(data)).load()
    return found
