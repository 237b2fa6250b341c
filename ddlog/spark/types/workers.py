"""Functions of Arrow arrays, for Spark's Python workers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pyarrow as pa

_numbers = itertools.count()


def register(
    spark: Any, function: Callable[[pa.Array], pa.Array], returns: Any, *, once: bool = False
) -> str:
    """The name under which SQL calls a function; `returns` is a Spark type. `once`: the function is
    expensive, and Spark must not call it again for each use of its value."""
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

    def run(items: pa.Array) -> pa.Array:
        return function(items)

    run.__annotations__ = {"items": pa.Array, "return": pa.Array}
    udf = arrow_udf(run, returns)
    name = f"ddlog_files_{next(_numbers)}"
    spark.udf.register(name, udf.asNondeterministic() if once else udf)
    return name
