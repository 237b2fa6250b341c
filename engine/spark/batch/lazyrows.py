"""The rows of a relation, and its contents as its change, which a query gives when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ...schema import Schema
from ..codec import Codec
from ..rows import FrameDelta, FrameRows


class LazyRows(FrameRows):
    """Rows that are counted and read when asked for."""

    def __init__(
        self, schema: Schema, codec: Codec, count: Callable[[], int], fetch: Callable[[], pa.Table]
    ) -> None:
        super().__init__(schema, codec, count, fetch)
        self.count, self.fetch = count, fetch


class LazyDelta(FrameDelta):
    """The contents of an output as its change, counted when asked for."""

    count: Callable[[], int]

    def __len__(self) -> int:
        return self.count()

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return self._collected.rows

    @property
    def weights(self) -> list[int]:
        return self._collected.weights
