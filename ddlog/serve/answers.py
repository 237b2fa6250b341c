"""Rows as bodies of answers: JSON, lines of JSON, and streams of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ..core import Relation
from ..io.jsonfiles import json_writer
from ..sessions.results import Changes
from ..sessions.results.views import Table
from ..types import TypeDef
from ..values.rows import Row
from ..values.tojson import json_text

JSON, LINES, ARROW = "application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"
CALL = "application/vnd.ddlog.call"
"""The type of the answers to calls, and to transactions and errors if they are asked for as such."""
STATEMENT = "application/vnd.ddlog.statement"
"""The type of a statement of SQL that is a transaction."""
Weighted = Sequence[tuple[Row, int]]
Parts = Iterator[Sequence[Any]]
"""The parts of a body, each of buffers that follow each other."""


class RowTexts:
    """Writes rows of the relations of a program as JSON; each writer is made once."""

    def __init__(self, relations: Mapping[str, Relation], typedefs: Mapping[str, TypeDef]) -> None:
        self._relations, self._typedefs = relations, typedefs
        self._writers: dict[str, Callable[[Row], str]] = {}

    def name(self, relation: str) -> str:
        """The name of a relation as its source has it."""
        return self._relations[relation].source_name

    def named(self, changed: Mapping[str, Weighted]) -> str:
        """Rows with the changes of their weights, as an object by relation."""
        parts = (
            f"{json_text(self.name(each))}:{self.weighted(each, rows)}" for each, rows in changed.items()
        )
        return "{" + ",".join(parts) + "}"

    def weighted(self, relation: str, rows: Weighted) -> str:
        """Rows with the changes of their weights, as an array of objects."""
        write = self._writers.get(relation)
        if write is None:
            write = self._writers[relation] = json_writer(self._relations[relation], self._typedefs)
        return "[" + ",".join(f'{{"row":{write(row)},"weight":{weight}}}' for row, weight in rows) + "]"

    def changes(self, changes: Changes) -> str:
        """The changes of the output relations, as an object by relation."""
        return self.named({name: changes.stored(name) for name in changes})


def columns_of(relation: Relation) -> list[dict[str, str]]:
    """The names and types of the columns of a relation."""
    return [{"name": title, "type": str(of)} for title, of in relation.titled_types]


def body_of(table: Table, media: str, extra: Mapping[str, Any], most: int, offset: int = 0) -> bytes | Parts:
    """The rows of a table as a body. JSON has at most so many rows from an offset on, and says how many there
    are. Raises DDlogError for a value that Arrow cannot hold."""
    if media == ARROW:
        return arrow_parts([table.to_arrow()])
    write = json_writer(table.relation, table.typedefs)
    if media == LINES:
        return _lines(map(write, table.repeated()))
    weights = table.stored.weights
    shown = islice(table.stored, offset, offset + most)
    rows = ",".join(map(write, shown))
    head = {"columns": columns_of(table.relation), "count": len(table), "offset": offset, **extra}
    if weights is not None:
        head["weights"] = weights[offset : offset + most]
    return f'{json_text(head)[:-1]}, "rows":[{rows}]}}'.encode()


def arrow_parts(tables: Iterable[Any]) -> Parts:
    """Tables of Arrow as a stream, a batch of rows at a time."""
    import pyarrow as pa

    class _WrittenParts:
        closed = False

        def __init__(self) -> None:
            self.parts: list[Any] = []  # bytes, and buffers of Arrow

        def write(self, part: Any) -> int:
            self.parts.append(part)
            return len(part)

        def taken(self) -> list[Any]:
            parts, self.parts = self.parts, []
            return parts

        def flush(self) -> None:
            pass

        def close(self) -> None:
            self.closed = True

    sink, writer = _WrittenParts(), None
    for table in tables:
        writer = writer or pa.ipc.new_stream(pa.PythonFile(sink, mode="w"), table.schema)
        for batch in table.to_batches(max_chunksize=1 << 18):
            writer.write_batch(batch)
            yield sink.taken()
    if writer is not None:
        writer.close()
    yield sink.taken()


def _lines(texts: Iterator[str]) -> Parts:
    while part := list(islice(texts, 10_000)):
        yield [("\n".join(part) + "\n").encode()]
