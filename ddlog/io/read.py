"""Fact files to columns, whatever their format."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from ..core import Relation
from ..errors import facts as errors
from ..errors.diagnostics import DDlogError
from ..errors.excerpt import Excerpt
from ..errors.source import Span
from .columns import Columns, TypeDefs
from .faults import CellFault, FaultyFile
from .files import FactFile


def read_facts(file: FactFile, relation: Relation, typedefs: TypeDefs) -> Columns:
    """The rows of a fact file, checked against the relation's types. Raises DDlogError."""
    try:
        if file.format in ("parquet", "arrow"):
            from .arrow import read_table

            return read_table(str(file.path), file.format, relation, typedefs)
        return _read_text(_load(file), file, relation, typedefs)
    except FaultyFile as faulty:
        raise DDlogError([fault_in(str(file.path), fault) for fault in faulty.faults]) from None
    except CellFault as fault:
        raise DDlogError([fault_in(str(file.path), fault)]) from None
    except IsADirectoryError:
        raise DDlogError([errors.DirectoryForFile(path=str(file.path))]) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DDlogError([errors.CannotRead(path=str(file.path), reason=reason)]) from None


def _load(file: FactFile) -> bytes:
    data = Path(file.path).read_bytes()
    return gzip.decompress(data) if file.compressed else data


def _read_text(data: bytes, file: FactFile, relation: Relation, typedefs: TypeDefs) -> Columns:
    match file.format:
        case "jsonl" | "ndjson" | "json":
            from .jsonlines import read_json

            return read_json(data, relation, typedefs, lines=file.format != "json")
        case "csv":
            separator = ","
        case _:
            separator = "\t"
    from .text import read_text

    return read_text(data, separator, relation, typedefs)


def fault_in(path: str, fault: CellFault) -> errors.BadFact:
    """The diagnostic of a fault in the file at `path`."""
    if not fault.column:
        return errors.BadFact(path, fault.message, fault.line)
    source = Excerpt(path, fault.text, fault.line)
    span = Span(source, fault.line, fault.column, fault.line, fault.column + fault.width)
    return errors.BadFact(path, fault.message, span=span)
