"""Fact files of any format, read as columns."""

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
from .formats import TABLE_FORMATS, table_format, text_format


def read_facts(file: FactFile, relation: Relation, typedefs: TypeDefs) -> Columns:
    """The rows of a fact file, checked against the relation's types. Raises DDlogError."""
    try:
        if file.format in TABLE_FORMATS:
            return table_format(file.format).read(file.path, relation, typedefs)
        return text_format(file.format).read(_load(file), relation, typedefs)
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


def fault_in(path: str, fault: CellFault) -> errors.BadFact:
    """The diagnostic for a fault in the file at `path`."""
    if not fault.column:
        return errors.BadFact(path, fault.message, fault.line)
    source = Excerpt(path, fault.text, fault.line)
    span = Span(source, fault.line, fault.column, fault.line, fault.column + fault.width)
    return errors.BadFact(path, fault.message, span=span)
