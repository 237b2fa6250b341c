"""The protocol by which the Spark runtime knows the types of the front end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ..schema import Column


class Codec(Protocol):
    """Columns of values as Spark sees them. A codec is pickled into Python workers. Every value has exactly
    one encoding, never null at the top, so that Spark's `=` is the language's equality."""

    def sql_type(self, column: Column) -> str:
        """The column's type as Spark writes it: INT, STRUCT<x: INT, y: STRING>."""

    def arrow_type(self, column: Column) -> pa.DataType:
        """The Arrow type that stands for `sql_type`."""

    def encode(self, column: Column, values: Sequence[Any] | np.ndarray[Any, Any]) -> pa.Array:
        """Values (a list, or a NumPy array of numbers) as an Arrow array. Raises ValueError with a clear
        text for a value that the Spark type cannot hold (a bigint of more than 38 digits)."""

    def decode(self, column: Column, array: pa.Array | pa.ChunkedArray) -> list[Any]:
        """The values of an Arrow array, canonical."""

    def ordered(self, column: Column) -> bool:
        """Whether Spark's order of the column is the language's, so that min and max need no Python."""

    def wrapped(self, column: Column, text: str) -> str | None:
        """SQL of an integer of any size brought into the range and the type of the column, as the language's
        arithmetic wraps; None for a column of integers that SQL does not compute with."""

    def grouped(self, out: Column, keys: Sequence[str], members: Sequence[Column], text: str) -> str | None:
        """SQL of the group, a value of `out`, of the SQL texts of its key's columns and of the array of its
        members, which are structs of the fields _0, _1 and so on; None if only Python can make it."""

    def persistent_id(self, value: Any) -> Any:
        """The name in a pickle of an object that has to stay the same object; None for other objects."""

    def persistent_load(self, known: Any) -> Any:
        """The object that `persistent_id` names."""
