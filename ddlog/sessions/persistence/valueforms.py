"""Interned values as bytes: texts one after another, values of other types as a column of Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...durability.forms import RelationForm, Rows
from ...durability.parts import packed, unpacked
from ...engine.inprocess.storage.serialization import ByteSource, Kept, Sink, keep_array, read_array
from ...engine.schema import Column
from ...syntax.cursor import TextFault
from ...types import BigInt, Bit, Signed, String, TypeDef

if TYPE_CHECKING:
    import pyarrow as pa

# Lists that share their ends take little memory, and their texts much: a sample shows it before all are made.
_FEW = 1024  # values of which no sample is made
_SAMPLE = 16  # values of a sample
_LONG = 4096  # bytes of an average value for which room is asked before all are written
_SMALLER = 16  # times that compression may shrink the texts


class ValueForms:
    """Writes and reads the values of a program's types. See `engine.inprocess.resumption.Codec`."""

    def __init__(self, typedefs: Mapping[str, TypeDef]) -> None:
        self._typedefs = typedefs

    def keep(self, column: Column, values: Sequence[Any], sink: Sink) -> Kept:
        """Writes values of a column. Raises ValueError for one that cannot be written."""
        if isinstance(column.type, String):
            texts = [value.encode("utf-8", "surrogatepass") for value in values]
            sizes = np.fromiter(map(len, texts), np.int64, len(texts))
            return [keep_array(sizes, sink), keep_array(_bytes(b"".join(texts)), sink)]
        if isinstance(column.type, BigInt | Bit | Signed):
            return [f"{value:x}" for value in values]
        form = RelationForm.of_values(column.type, self._typedefs)
        if len(values) > _FEW:
            some = _batch(form, values[:: -(len(values) // _SAMPLE)])  # the last one is seldom the shortest
            if some.nbytes > _LONG * some.num_rows:
                sink.expect(some.nbytes * (len(values) // some.num_rows) // _SMALLER)
        return keep_array(_bytes(packed(_batch(form, values)) if values else b""), sink)

    def read(self, column: Column, kept: Kept, source: ByteSource) -> Sequence[Any]:
        """The values that were written."""
        if isinstance(column.type, String):
            sizes, texts = (read_array(each, source) for each in kept)
            ends, data = np.cumsum(sizes).tolist(), texts.tobytes()
            starts = [0, *ends[:-1]]
            if data.isascii():
                text = data.decode("ascii")
                return [text[start:end] for start, end in zip(starts, ends, strict=False)]
            pairs = zip(starts, ends, strict=False)
            return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairs]
        if isinstance(column.type, BigInt | Bit | Signed):
            return [int(each, 16) for each in kept]
        data = read_array(kept, source).tobytes()
        if not data:
            return []
        found = RelationForm.of_values(column.type, self._typedefs).rows(unpacked(data)).columns[0]
        if isinstance(found, tuple):
            return [found[0][place] for place in found[1].tolist()]
        listed: list[Any] = found.tolist() if isinstance(found, np.ndarray) else found
        return listed


def _batch(form: RelationForm, values: Sequence[Any]) -> pa.RecordBatch:
    try:
        return form.batch(Rows([list(values)], None, None, len(values)))
    except (ValueError, TextFault) as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError("a value is nested too deeply") from None


def _bytes(data: bytes) -> Any:
    return np.frombuffer(data, np.uint8)
