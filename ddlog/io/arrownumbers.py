"""The numbers of an Arrow column as an array of NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


def numbers_in(column: pa.Array | pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """The numbers of a column, which may be those in Arrow's memory: not to be changed. Arrow's own
    conversion imports pandas, which takes half a second."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    of = column.type
    if column.null_count or not (pa.types.is_integer(of) or pa.types.is_floating(of)):
        return np.asarray(column)
    kind = np.dtype(of.to_pandas_dtype())
    data = column.buffers()[1]
    if data is None or not len(column):
        return np.empty(0, kind)
    return np.frombuffer(data, kind, len(column), column.offset * kind.itemsize)
