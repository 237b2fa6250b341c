"""Followed files: facts to insert, or changes, as rows with +1 or -1."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..commands.changefiles import WORDS, JsonReader, separated_changes
from ..commands.commands import Commit, Start
from ..commands.interpreter import Command
from ..commands.update import Update
from ..commands.updatefiles import commands_of, read_update_file
from ..core import Relation
from ..errors.diagnostics import DDlogError
from ..errors.facts import CannotRead
from ..errors.follow import OnlyInsertsAndDeletes
from ..io.columns import TypeDefs
from ..io.delimited import Record, RowShape, records, usual_shape
from ..io.dialects import PLAIN
from ..io.faults import CellFault
from ..io.files import FactFile, split_name
from ..io.formats import TABLE_FORMATS
from ..io.read import fault_in, table_of
from ..io.refusals import Refuse, stop
from ..values.rows import Row

if TYPE_CHECKING:
    import pyarrow as pa

_HEAD = 1 << 20  # bytes of a file, of which the whole lines are its first ones
OP = "op"
"""The column of a table with +1 for a row to insert, and -1 for a row to delete."""

_SIGNS = {"+1": 1, "1": 1, "-1": -1}


def changes_in(
    path: Path,
    relation: Relation,
    relations: Mapping[str, Relation],
    typedefs: TypeDefs,
    refuse: Refuse = stop,
) -> Iterator[tuple[str, Row, int]] | None:
    """The changes of a file in the folder of a relation, as relation, row and +1 or -1, in order; None if the
    file holds facts. Wrong lines are refused. Raises DDlogError.

    A file of changes is a file of JSON lines whose first line is a change (`{"insert": …}`), a file of rows
    with +1 or -1 before the columns of the relation, or a table with a further column `op`.
    """
    named = split_name(path)
    if named is None:
        return None
    if named[1] in TABLE_FORMATS:
        return _table_changes(FactFile(relation.name, path, named[1]), relation, typedefs, refuse)
    if named[1] in ("jsonl", "ndjson", "json"):
        if not _is_json_change(_head(path)):
            return None
        reader = JsonReader(relations, typedefs, str(path))
        reader.feed(read_update_file(path))
        return _rows(commands_of(reader, True, False, refuse))
    shape = usual_shape(named[1])
    if not _is_separated_change(_head(path), shape, relation):
        return None
    text = read_update_file(path)
    return _rows(separated_changes(text, shape, relation.name, relations, typedefs, str(path), refuse))


def _table_changes(
    file: FactFile, relation: Relation, typedefs: TypeDefs, refuse: Refuse
) -> Iterator[tuple[str, Row, int]] | None:
    """The changes in a table with the column `op`; None if the table has no such column."""

    if OP in relation.titles:
        return None
    try:
        table = table_of(file)
    except CellFault as fault:
        raise DDlogError([fault_in(file.shown, fault)]) from None
    except OSError as error:
        raise DDlogError([CannotRead(file.shown, error.strerror or str(error))]) from None
    return _signed_rows(file, table, relation, typedefs, refuse) if OP in table.column_names else None


def _signed_rows(
    file: FactFile, table: pa.Table, relation: Relation, typedefs: TypeDefs, refuse: Refuse
) -> Iterator[tuple[str, Row, int]]:
    """The rows of a table, each with its sign. Wrong rows are refused. Raises DDlogError."""
    from ..io.arrow import columns_of_table
    from ..io.arrowfiles import in_columns

    ops, wrong = table[OP].to_pylist(), set[int]()

    def skip(fault: CellFault) -> None:
        wrong.add(fault.line)
        refuse(DDlogError([fault_in(file.shown, fault)]))

    try:
        table = in_columns(table.drop_columns([OP]), relation, PLAIN)
        rows = columns_of_table(table, relation, typedefs, skip).rows(relation)
    except CellFault as fault:
        raise DDlogError([fault_in(file.shown, fault)]) from None
    right = (number for number in range(1, len(ops) + 1) if number not in wrong)
    for number, row in zip(right, rows, strict=True):
        op = ops[number - 1]
        sign = _SIGNS.get(str(op).strip())
        if sign is not None:
            yield relation.name, row, sign
        else:
            skip(CellFault(f"column `{OP}`: expected +1 or -1, found {op!r}", number, 0, ""))


def _rows(commands: Iterator[Command]) -> Iterator[tuple[str, Row, int]]:
    """The changes that commands make. A batch is one transaction, whatever the file says of transactions."""
    for command in commands:
        match command.action:
            case Update("insert", relation, row):
                yield relation, row, 1
            case Update("delete", relation, row):
                yield relation, row, -1
            case Start() | Commit():
                pass
            case _:
                raise DDlogError([OnlyInsertsAndDeletes(command.word, span=command.place())])


def _head(path: Path) -> str:
    """The first whole lines of a file, which may be compressed. Raises DDlogError."""
    try:
        with (gzip.open if path.name.endswith(".gz") else open)(path, "rb") as file:
            data: bytes = file.read(_HEAD)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DDlogError([CannotRead(str(path), reason)]) from None
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.rpartition("\n")[0] if len(data) == _HEAD else text


def _is_json_change(text: str) -> bool:
    line = next((line for line in text.splitlines() if line.strip()), "")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and len(first) == 1 and next(iter(first)) in (*WORDS, "upsert")


def _is_separated_change(text: str, shape: RowShape, relation: Relation) -> bool:
    """Whether one of the first two rows has a further cell with +1 or -1; the other one may be a header."""
    try:
        first: list[Record] = list(itertools.islice(records(text, shape), 2))
    except CellFault:
        return False
    if len(relation.columns) > 1 and first and first[0].cells == ["commit"]:
        return True
    return any(
        len(record.cells) == len(relation.columns) + 1 and record.cells[0].strip() in _SIGNS
        for record in first
    )
