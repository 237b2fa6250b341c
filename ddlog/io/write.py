"""Relations to files, each written whole beside its place and then put there."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, BinaryIO

from ..core import Relation
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError
from ..types import BigInt, Bit, Float, JsonField, Signed, String, Type
from ..values.jsonvalue import field_to_json, forms_of
from .columns import TypeDefs, cell_writer

_CHUNK = 1 << 14

Row = tuple[Any, ...]


def write_relation(
    directory: Path,
    format: str,
    relation: Relation,
    typedefs: TypeDefs,
    rows: Iterable[Row],
    columns: Callable[[], Sequence[Any]],
    weights: Sequence[int] | None = None,
) -> Path:
    """Writes a relation as `directory/Name.format`. `weights`, of a multiset, say how often
    each row is written.

    `columns` is asked for only by formats that are columnar. Raises DDlogError.
    """
    path = directory / f"{relation.name}.{format}"
    with replacing(path) as out:
        if format == "parquet":
            _write_parquet(out, path, relation, typedefs, columns(), weights)
        else:
            for text in _texts(format, relation, typedefs, rows, weights):
                out.write(text.encode("utf-8"))
    return path


def row_writer(format: str, relation: Relation, typedefs: TypeDefs) -> Callable[[Row], str]:
    """What writes one row in a text format, its line end included. It raises DDlogError when the
    format cannot say a value."""
    if format == "jsonl":
        write_json = json_writer(relation, typedefs)
        return lambda row: write_json(row) + "\n"
    cells = [cell_writer(column.type, typedefs) for column in relation.columns]
    if format == "csv":
        return lambda row: csv_line([write(value) for write, value in zip(cells, row, strict=True)])

    def tab_line(row: Row) -> str:
        texts = [write(value) for write, value in zip(cells, row, strict=True)]
        for text in texts:
            if "\t" in text or "\n" in text or "\r" in text:
                raise DDlogError([errors.NotTabSeparable(relation=relation.name, value=text)])
        return "\t".join(texts) + "\n"

    return tab_line


def json_writer(relation: Relation, typedefs: TypeDefs) -> Callable[[Row], str]:
    """What writes a row as JSON: an object by column name, or of a relation `R[T]` the element itself."""
    if relation.constructor is None:
        write = json_value_writer(relation.columns[0].type, JsonField("value"), typedefs)
        return lambda row: write(row[0])
    named = forms_of(relation.constructor)
    writers = [
        json_value_writer(column.type, form, typedefs)
        for column, form in zip(relation.columns, named, strict=True)
    ]
    names = (json.dumps(form.name, ensure_ascii=False).replace("%", "%%") for form in named)
    template = f"{{{', '.join(f'{name}: %s' for name in names)}}}"
    if all(write is str for write in writers):
        return lambda row: template % row
    return lambda row: template % tuple([write(value) for write, value in zip(writers, row, strict=True)])


def json_value_writer(type: Type, form: JsonField, typedefs: TypeDefs) -> Callable[[Any], str]:
    """What writes the value of a field as JSON."""
    match type:
        case Bit() | Signed():
            return str
        case String():
            return encode_basestring
    return lambda value: json.dumps(field_to_json(value, form, type, typedefs), ensure_ascii=False)


def csv_line(cells: Sequence[str]) -> str:
    """A line of a comma-separated file, after RFC 4180 but with a bare line feed."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()


def csv_header(relation: Relation, first: Sequence[str] = ()) -> str:
    """The line that names the columns."""
    return csv_line([*first, *(column.name for column in relation.columns)])


def _texts(
    format: str,
    relation: Relation,
    typedefs: TypeDefs,
    rows: Iterable[Row],
    weights: Sequence[int] | None,
) -> Iterator[str]:
    """The file's text in pieces."""
    if format == "csv":
        yield csv_header(relation)
    plain = all(isinstance(c.type, BigInt | Bit | Signed | String | Float) for c in relation.columns)
    write = _csv_rows(relation, typedefs) if format == "csv" and plain else None
    batch: list[Row] = []
    line = row_writer(format, relation, typedefs)
    for position, row in enumerate(rows):
        batch.extend([row] * (weights[position] if weights is not None else 1))
        if len(batch) >= _CHUNK:
            yield write(batch) if write else "".join(map(line, batch))
            batch = []
    yield write(batch) if write else "".join(map(line, batch))


def _csv_rows(relation: Relation, typedefs: TypeDefs) -> Callable[[list[Row]], str]:
    """Many rows at once; numbers and strings are what the csv module writes anyway."""
    floats = [p for p, c in enumerate(relation.columns) if isinstance(c.type, Float)]
    cells = [cell_writer(column.type, typedefs) for column in relation.columns]

    def write(rows: list[Row]) -> str:
        out = io.StringIO()
        texts = (
            [w(v) if p in floats else v for p, (w, v) in enumerate(zip(cells, row, strict=True))]
            for row in rows
        )
        csv.writer(out, lineterminator="\n").writerows(texts if floats else rows)
        return out.getvalue()

    return write


def _write_parquet(
    out: BinaryIO,
    path: Path,
    relation: Relation,
    typedefs: TypeDefs,
    columns: Sequence[Any],
    weights: Sequence[int] | None,
) -> None:
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    from .arrow import to_table

    names = [(column.name, column.type) for column in relation.columns]
    if not names:
        reason = f"Parquet has no rows without columns, and {relation.name} has none"
        raise DDlogError([errors.CannotWrite(path=str(path), reason=reason)])
    try:
        table = to_table(names, columns, typedefs)
    except ValueError as error:
        raise DDlogError([errors.CannotWrite(path=str(path), reason=str(error))]) from None
    if weights is not None:
        table = table.take(pa.array(np.repeat(np.arange(len(weights)), weights)))
    parquet.write_table(table, out)


def make_directory(directory: Path) -> None:
    """Makes a directory for output and sees that it can be written to. Raises DDlogError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except FileExistsError:
        raise DDlogError([errors.NotADirectory(path=str(directory))]) from None
    except OSError as error:
        raise DDlogError(
            [errors.CannotWrite(path=str(directory), reason=error.strerror or str(error))]
        ) from None


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when all has gone well. Raises DDlogError."""
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        os.fchmod(descriptor, 0o666 & ~_umask())
        with os.fdopen(descriptor, "wb") as out:
            yield out
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise DDlogError([errors.CannotWrite(path=str(path), reason=error.strerror or str(error))]) from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
