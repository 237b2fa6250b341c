"""Row expressions on Python workers: Arrow columns in, structs of a value or a fault out."""

from __future__ import annotations

import base64
import io
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ..schema import Column, fault_message
from .codec import Codec

_SAMPLE = 64  # rows that tell whether a batch repeats itself

# An argument: a column, the columns of the members of an array of structs, or None if nothing is known.
ArgumentColumn: TypeAlias = Column | tuple[Column, ...] | None


@dataclass(frozen=True, slots=True)
class RowEvaluation:
    """A function of rows with the names and columns of its arguments, and the place that its faults name.

    `column` describes the result, or its elements where `many`; None: it is evaluated for its effect.
    `origin` is the number by which the driver knows the expression's origin.
    """

    function: Callable[..., Any]
    names: tuple[str, ...]
    arguments: tuple[ArgumentColumn, ...]
    column: Column | None
    many: bool
    origin: int
    text: str


def pickled(value: Any, name_of: Callable[[Any], Any]) -> bytes:
    """A value with the code of its functions and classes; `name_of` as `Codec.persistent_id`."""
    from pyspark.cloudpickle import CloudPickler

    class Pickler(CloudPickler):
        def persistent_id(self, value: Any) -> Any:
            return name_of(value)

    out = io.BytesIO()
    pickler: Any = Pickler
    pickler(out).dump(value)
    return out.getvalue()


def unpickled(data: bytes, known: Callable[[Any], Any]) -> Any:
    """The value that `pickled` pickled; `known` as `Codec.persistent_load`."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: Any) -> Any:
            return known(name)

    return Unpickler(io.BytesIO(data)).load()


def packed(evaluation: RowEvaluation, codec: Codec) -> bytes:
    """An evaluation with the code of its function, for `prepared`."""
    return pickle.dumps((pickle.dumps(codec), pickled(evaluation, codec.persistent_id)))


@lru_cache(maxsize=64)
def _codec(data: bytes) -> Codec:
    found: Codec = pickle.loads(data)
    return found


@lru_cache(maxsize=1024)
def prepared(data: bytes) -> tuple[RowEvaluation, Codec]:
    """The evaluation that `packed` packed; a worker keeps it from one batch to the next."""
    codec_data, body = pickle.loads(data)
    codec = _codec(codec_data)
    return unpickled(body, codec.persistent_load), codec


def evaluated(data: bytes, columns: Sequence[pa.Array]) -> pa.Array:
    """The structs `v`, `e` of a batch. A row with a null among its arguments, which is the result of a
    row that failed or of a case that a condition excludes, has neither value nor fault."""
    evaluation, codec = prepared(data)
    length = len(columns[0])
    columns = columns[: len(evaluation.arguments)]
    known = np.ones(length, bool)
    for column in columns:
        if column.null_count:
            known &= column.is_valid().to_numpy(zero_copy_only=False)
    if not known.all():
        columns = [column.filter(pa.array(known)) for column in columns]
    decoded = [_decoded(a, c, codec) for a, c in zip(evaluation.arguments, columns, strict=True)]
    rows = list(zip(*decoded, strict=True)) if decoded else [()] * int(known.sum())
    outcomes = _outcomes(evaluation, rows)
    return _structs(evaluation, codec, rows, outcomes, np.flatnonzero(known), length)


def _decoded(argument: ArgumentColumn, array: pa.Array, codec: Codec) -> list[Any]:
    if argument is None:
        plain: list[Any] = array.to_pylist()
        return plain
    if isinstance(argument, Column):
        return codec.decode(argument, array)
    members = array.flatten()
    columns = [codec.decode(column, members.field(i)) for i, column in enumerate(argument)]
    rows = list(zip(*columns, strict=True))
    offsets = array.offsets.to_numpy()
    bounds = (offsets - offsets[0]).tolist() if len(array) else []
    return [rows[start:end] for start, end in pairwise(bounds)]


class _Failed:
    """The outcome of a row whose function failed."""

    __slots__ = ("message",)

    def __init__(self, fault: Exception) -> None:
        self.message = fault_message(fault)


def _outcomes(evaluation: RowEvaluation, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The value of each row, or its failure. Rows that repeat are evaluated once."""
    function, many = evaluation.function, evaluation.many

    def outcome(row: tuple[Any, ...]) -> Any:
        try:
            return list(function(*row)) if many else function(*row)
        except Exception as fault:
            return _Failed(fault)

    if evaluation.column is None or not _repeats(evaluation, rows):
        return [outcome(row) for row in rows]
    found = {row: outcome(row) for row in dict.fromkeys(rows)}
    return [found[row] for row in rows]


def _repeats(evaluation: RowEvaluation, rows: Sequence[tuple[Any, ...]]) -> bool:
    if len(rows) <= _SAMPLE or any(isinstance(each, tuple) for each in evaluation.arguments):
        return False
    return len(set(islice(rows, _SAMPLE))) * 2 < _SAMPLE


def _structs(
    evaluation: RowEvaluation,
    codec: Codec,
    rows: Sequence[tuple[Any, ...]],
    outcomes: list[Any],
    places: Any,
    length: int,
) -> pa.Array:
    values, faults = _encoded(evaluation, codec, outcomes)
    if len(outcomes) == length and not faults:
        return pa.StructArray.from_arrays([values, pa.nulls(length, pa.string())], names=["v", "e"])
    sources = np.full(length, -1, np.int64)
    texts: list[str | None] = [None] * length
    succeeded = 0
    for number, place in enumerate(places.tolist()):
        message = faults.get(number)
        if message is None:
            sources[place], succeeded = succeeded, succeeded + 1
        else:
            texts[place] = fault_text(evaluation, message, rows[number])
    taken = values.take(pa.array(sources, mask=sources < 0))
    return pa.StructArray.from_arrays([taken, pa.array(texts, pa.string())], names=["v", "e"])


def _encoded(evaluation: RowEvaluation, codec: Codec, outcomes: list[Any]) -> tuple[pa.Array, dict[int, str]]:
    """The array of the values of rows that did not fail, and the message of each row that did."""
    faults = {n: o.message for n, o in enumerate(outcomes) if o.__class__ is _Failed}
    values = [o for o in outcomes if o.__class__ is not _Failed] if faults else outcomes
    try:
        return _array(evaluation, codec, values), faults
    except ValueError:
        pass
    kept = []
    for number, outcome in enumerate(outcomes):
        if number in faults:
            continue
        try:
            _array(evaluation, codec, [outcome])
            kept.append(outcome)
        except ValueError as error:
            faults[number] = str(error)
    return _array(evaluation, codec, kept), faults


def _array(evaluation: RowEvaluation, codec: Codec, values: list[Any]) -> pa.Array:
    column = evaluation.column
    if column is None:
        return pa.array(np.ones(len(values), bool))
    if not evaluation.many:
        return codec.encode(column, values)
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(np.fromiter(map(len, values), np.int32, len(values)), out=offsets[1:])
    return pa.ListArray.from_arrays(
        pa.array(offsets), codec.encode(column, [each for some in values for each in some])
    )


def fault_text(evaluation: RowEvaluation, message: str, row: Sequence[Any]) -> str:
    """A fault as letters and digits, for `fault_of`."""
    named = dict(zip(evaluation.names, row, strict=True))
    return base64.b64encode(pickle.dumps((message, evaluation.origin, evaluation.text, named))).decode()


def fault_of(text: str) -> tuple[str, int, str, dict[str, Any]]:
    """The message, the number of the origin, the expression's text and the row of a fault."""
    found: tuple[str, int, str, dict[str, Any]] = pickle.loads(base64.b64decode(text))
    return found
