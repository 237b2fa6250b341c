"""A group as a SELECT with Spark's aggregates, where SQL means the same, and UDFs over groups elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from ...circuit import DeltaGroup
from ...schema import Schema
from ..aggregates import Aggregates
from ..expressions import SparkExpressions
from ..faults import raised_where
from ..sqltext import As, Select, Source, names


def grouped(
    node: DeltaGroup, columns: Sequence[int], source: Schema, members: Source, expressions: SparkExpressions
) -> Select:
    """The query of some columns of a group, given the table of its members."""
    aggregates, keys = Aggregates(expressions), names(node.schema)[: node.keys]
    wanted = [k for k in columns if k >= node.keys]
    made = [(k, node.aggregates[k - node.keys], node.schema[k]) for k in wanted]
    gathered = [As(aggregates.gathered(a, source), f"a{k}") for k, a, _ in made]
    groups = Select([*keys, *gathered, As("count(*)", "n")], members, grouped=keys)
    done = [(k, aggregates.finish(a, source, node.keys, out, f"a{k}")) for k, a, out in made]
    called = Select([*keys, *(As(d.text, f"f{k}") for k, d in done)] or ["1 AS one"], groups)
    results = {k: As(f"f{k}{'.v' if d.udf else ''}", f"c{k}") for k, d in done}
    items = [results.get(k, f"c{k}") for k in columns]
    faults = [f"f{k}.e" for k, d in done if d.udf]
    first = f"coalesce({', '.join(faults)})" if len(faults) > 1 else "".join(faults)
    return Select(items or ["1 AS one"], called, where=raised_where(node.text, first) if faults else "")
