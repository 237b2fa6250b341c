"""Fact files of any format, read as columns."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from ..core import Relation
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError, Note
from ..errors.excerpt import Excerpt
from ..errors.source import Span
from .columns import Columns, TypeDefs
from .faults import CellFault, FaultyFile
from .files import FactFile
from .formats import TABLE_FORMATS, table_format, text_format
from .reading import Reading
from .refusals import Refuse


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
    try:
        columns = _columns(file, relation, typedefs, reading)
        for text in told:
            note(f"{path}: {text}")
        return columns
    except FaultyFile as faulty:
        raise faulty_file(path, faulty) from None
    except CellFault as fault:
        raise DDlogError([fault_in(file.shown, fault)]) from None
    except IsADirectoryError:
        raise DDlogError([errors.DirectoryForFile(path=file.shown)]) from None
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, KeyError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DDlogError([errors.CannotRead(path=file.shown, reason=reason)]) from None


def _columns(file: FactFile, relation: Relation, typedefs: TypeDefs, reading: Reading) -> Columns:
    if file.format in TABLE_FORMATS:
        read = table_format(file.format).read
        if file.fetch is None:
            return read(file.path, relation, typedefs, reading)
        with NamedTemporaryFile(suffix=f".{file.format}") as here:
            here.write(file.fetch())
            here.flush()
            return read(Path(here.name), relation, typedefs, reading)
    return text_format(file.format).read(load(file), relation, typedefs, reading)


def load(file: FactFile) -> bytes:
    """The bytes of a text file, which may be compressed or in an archive. Raises OSError and others."""
    if file.path.suffix == ".zip":
        with zipfile.ZipFile(file.path) as archive:
            return archive.read(file.dialect.member or "")
    data = file.path.read_bytes() if file.fetch is None else file.fetch()
    return gzip.decompress(data) if file.compressed else data


def faulty_file(path: str, faulty: FaultyFile) -> DDlogError:
    """The error of a file with faults: the first of them, and the number of the others."""
    *found, last = [fault_in(path, fault) for fault in faulty.faults]
    if faulty.more:
        last = replace(last, notes=(Note(f"{faulty.more:,} more of these errors in this file"),))
    return DDlogError([*found, last])


def fault_in(path: str, fault: CellFault) -> errors.BadFact:
    """The diagnostic for a fault in the file at `path`."""
    if not fault.column:
        return errors.BadFact(path, fault.message, fault.line)
    source = Excerpt(path, fault.text, fault.line)
    span = Span(source, fault.line, fault.column, fault.line, fault.column + fault.width)
    return errors.BadFact(path, fault.message, span=span)
