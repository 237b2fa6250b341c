"""Fact files of any format, read as columns."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core import Relation
from ..engine.memory import OverLimit
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError, Note
from ..errors.excerpt import Excerpt, row_span
from ..errors.source import Span
from .columns import Columns, TypeDefs
from .decompression import check_size, unpacked
from .dialects import Reading
from .faults import CellFault, FaultyFile
from .files import FactFile
from .formats import TABLE_FORMATS, table_format, text_format
from .refusals import Refuse
from .utf8 import decode

if TYPE_CHECKING:
    import pyarrow as pa


def read_facts(
    file: FactFile,
    relation: Relation,
    typedefs: TypeDefs,
    note: Callable[[str], None] = lambda _: None,
    refuse: Refuse | None = None,
) -> Columns:
    """The rows of a fact file, checked against the relation's types. `note` is told how it was taken, and
    `refuse` takes wrong rows. Raises DDlogError."""
    path, told = file.shown, dict[str, None]()
    reading = Reading(
        file.dialect,
        lambda text: told.setdefault(text),
        None if refuse is None else lambda fault: refuse(DDlogError([fault_in(path, fault)])),
    )
    with errors_of(path):
        columns = columns_in(file, relation, typedefs, reading)
    for text in told:
        note(f"{path}: {text}")
    return columns


@contextmanager
def errors_of(path: str) -> Iterator[None]:
    """Reads a file inside. Raises DDlogError for its faults, and where it cannot be read."""
    try:
        yield
    except FaultyFile as faulty:
        raise faulty_file(path, faulty) from None
    except CellFault as fault:
        raise DDlogError([fault_in(path, fault)]) from None
    except IsADirectoryError:
        raise DDlogError([errors.DirectoryForFile(path=path)]) from None
    except MemoryError as error:
        raise DDlogError([errors.CannotRead(path=path, reason=too_large(error))]) from None
    except (OSError, EOFError, zlib.error, KeyError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DDlogError([errors.CannotRead(path=path, reason=reason)]) from None


def too_large(error: MemoryError) -> str:
    """Why the rows of a file cannot be held."""
    told = str(error) if not isinstance(error, OverLimit) else ""
    return told or "its rows take more memory than there may be"


def columns_in(file: FactFile, relation: Relation, typedefs: TypeDefs, reading: Reading) -> Columns:
    """The rows of a fact file. Raises FaultyFile, CellFault, OSError and others."""
    if file.format in TABLE_FORMATS:
        from .arrow import columns_of_table
        from .arrowfiles import in_columns

        table = in_columns(table_of(file), relation, file.dialect)
        return columns_of_table(table, relation, typedefs, reading.refuse)
    return text_format(file.format).read(load(file), relation, typedefs, reading)


def table_of(file: FactFile) -> pa.Table:
    """The table in a file of columns. Raises CellFault, OSError, DDlogError."""
    read = table_format(file.format).read
    if file.fetch is None:
        return read(str(file.path), file.dialect)
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile(suffix=f".{file.format}") as here:
        here.write(file.fetch())
        here.flush()
        return read(here.name, file.dialect)


def load(file: FactFile) -> bytes:
    """The bytes of a text file, which may be compressed or in an archive. Raises OSError and others."""
    if file.path.suffix.lower() == ".zip":
        from zipfile import BadZipFile, ZipFile

        try:
            with ZipFile(file.path) as archive:
                member = archive.getinfo(file.dialect.member or "")
                check_size(member.file_size)
                return archive.read(member)
        except (BadZipFile, RuntimeError) as error:  # also one that is encrypted, or packed in another way
            raise OSError(str(error)) from None
    if file.fetch is None:
        check_size(file.path.stat().st_size)
    data = file.path.read_bytes() if file.fetch is None else file.fetch()
    return unpacked(data) if file.compressed else data


def text_of(file: FactFile) -> str:
    """The text of a text file, without a byte order mark. Raises FaultyFile, and what `load` raises."""
    return decode(load(file), file.dialect.encoding).removeprefix("\ufeff")


def faulty_file(path: str, faulty: FaultyFile) -> DDlogError:
    """The error of a file with faults: the first of them, and the number of the others."""
    *found, last = [fault_in(path, fault) for fault in faulty.faults]
    if faulty.more:
        last = replace(last, notes=(Note(f"{faulty.more:,} more of these errors in this file"),))
    return DDlogError([*found, last])


def fault_in(path: str, fault: CellFault) -> errors.BadFact:
    """The diagnostic for a fault in the file at `path`."""
    if not fault.column:
        return errors.BadFact(path, fault.message, span=row_span(path, fault.line) if fault.line else None)
    source = Excerpt(path, fault.text, fault.line)
    span = Span(source, fault.line, fault.column, fault.line, fault.column + fault.width)
    return errors.BadFact(path, fault.message, span=span, help=fault.help)
