"""DataFrames as they are given out: no column is nullable, and its type in the language is its comment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core import Relation
from ...engine.spark.sqltext import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ...engine.spark.runtime import SparkRuntime

WEIGHT = "weight"


def weight_name(columns: Sequence[str]) -> str:
    """The name of the column that counts rows, which no other column has."""
    taken = {column.lower() for column in columns}
    name = WEIGHT
    while name in taken:
        name += "_"
    return name


def presented(frame: DataFrame, relation: Relation, counted: bool) -> DataFrame:
    """A frame of the relation's columns, and of the weight if it is `counted`, in this order, under their
    names. Nothing is computed."""
    names = [column.name for column in relation.columns]
    types = [str(column.type) for column in relation.columns]
    if counted:
        names.append(weight_name(names))
        types.append("how often the row is there, or comes and goes")
    if not names:
        return frame
    from pyspark.sql.functions import expr

    if frame.columns != names:  # a node of the circuit may name its columns otherwise
        frame = frame.toDF(*names)
    fields = frame.schema.fields
    return frame.select(
        *(
            expr(_known(quoted(name), field)).alias(name, metadata={"comment": type})
            for name, field, type in zip(names, fields, types, strict=True)
        )
    )


def plain_frame(runtime: SparkRuntime, relation: Relation) -> DataFrame:
    """The rows of a relation, those of a multiset with their weight as the last column."""
    counted = relation.kind != "relation"
    frame, names = runtime.frame(relation.name, counted), [each.name for each in relation.columns]
    return frame.toDF(*names, *([weight_name(names)] if counted else [])) if names else frame


def _known(name: str, field: Any) -> str:
    """SQL of a column that is never null: Spark does not know it of some."""
    return f"coalesce({name}, {_some_value(field.dataType)})" if field.nullable else name


def _some_value(type: Any) -> str:
    """SQL of some value of a Spark type, which nobody sees."""
    text = type.simpleString()
    if text.startswith("struct"):
        fields = (
            f"'{k}', CAST(NULL AS {each.dataType.simpleString()})" for k, each in enumerate(type.fields)
        )
        return f"CAST(named_struct({', '.join(fields)}) AS {text})"
    if text.startswith("array"):
        return f"CAST(array() AS {text})"
    return {"string": "''", "binary": "X''", "boolean": "false"}.get(text) or f"CAST(0 AS {text})"
