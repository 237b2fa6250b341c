"""Sums of changes, and rows in Arrow's form: the quick ways give what the plain ones do."""

from __future__ import annotations

import zlib
from collections import Counter
from json import dumps
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ddlog.core import Column
from ddlog.durability.forms import WEIGHT, RelationForm, Rows
from ddlog.durability.parts import checksum, packed, unpacked
from ddlog.durability.sums import merged, summed, weights_of
from ddlog.types import Bit, Signed, String

from ..trying import trying

ROW = st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c"]))
NUMBERS = {
    Bit(8): (0, 255),
    Signed(8): (-128, 127),
    Signed(64): (-(1 << 63), (1 << 63) - 1),
    Bit(40): (0, 1 << 39),
}


@trying(33)
@given(st.lists(st.lists(ROW, max_size=6), max_size=6))
def test_changes_of_a_set_have_the_sum_of_any_changes(epochs: list[list[tuple[int, str]]]) -> None:
    held, tables = set[tuple[int, str]](), []
    for rows in epochs:
        changes = [(row, -1 if row in held else 1) for row in dict.fromkeys(rows)]
        held.symmetric_difference_update(row for row, _ in changes)
        if changes:
            columns = [pa.array([row[0] for row, _ in changes]), pa.array([row[1] for row, _ in changes])]
            names, weights = ["x", "y"], [weight for _, weight in changes]
            if min(weights) < 0:
                columns.append(pa.array(weights))
                names.append(WEIGHT)
            tables.append(pa.table(columns, names=names))
    if tables:
        found = summed(merged(tables), of_set=True)
        rows = list(zip(found["x"].to_pylist(), found["y"].to_pylist(), strict=True))
        assert Counter(rows) == Counter(held) and set(weights_of(found).tolist()) <= {1}
        assert found.equals(summed(tables))


@trying(33)
@given(st.data(), st.lists(st.sampled_from([*NUMBERS, String()]), min_size=1, max_size=4), st.integers(1, 40))
def test_rows_of_numbers_and_texts_come_back(data: st.DataObject, types: list[Any], count: int) -> None:
    columns: list[Any] = []
    for of in types:
        if isinstance(of, String):
            texts = data.draw(st.lists(st.text(max_size=3), min_size=1, max_size=count, unique=True))
            codes = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=count, max_size=count))
            columns.append((texts, np.array(codes)))
        else:
            numbers = st.integers(*NUMBERS[of])
            columns.append(np.array(data.draw(st.lists(numbers, min_size=count, max_size=count)), np.int64))
    weights = data.draw(st.none() | st.just(np.full(count, -1)))
    form = RelationForm([Column(f"c{k}", of) for k, of in enumerate(types)], {})
    back = form.rows(unpacked(packed(form.batch(Rows(columns, weights, None, count)))))
    assert (back.weights is None) == (weights is None) and back.length == count
    for one, other in zip(columns, back.columns, strict=True):
        assert _values(one) == _values(other)


def _values(column: Any) -> list[Any]:
    return [column[0][k] for k in column[1].tolist()] if isinstance(column, tuple) else list(column)


@trying(33)
@given(st.lists(st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)))
def test_a_checksum_is_that_of_json(fields: list[Any]) -> None:
    assert checksum(*fields) == zlib.crc32(dumps(fields, separators=(",", ":")).encode())


def test_few_rows_are_written_as_arrow_writes_streams() -> None:
    for count in (1, 3, 40):
        texts = pa.array(["é" * k for k in range(count)])
        nothing = pa.array([None] * count, pa.bool_())
        record = pa.StructArray.from_arrays([texts, nothing], ["a", "b"])
        for columns in ([texts], [nothing, pa.array(range(count))], [texts.dictionary_encode()], [record]):
            whole = pa.RecordBatch.from_arrays(columns, names=[f"c{k}" for k in range(len(columns))])
            for batch in (whole, whole.slice(1)):
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, batch.schema) as writer:
                    writer.write_batch(batch)
                assert packed(batch) == sink.getvalue().to_pybytes()
                assert unpacked(packed(batch)).equals(pa.Table.from_batches([batch]))
