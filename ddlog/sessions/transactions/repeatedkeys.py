"""The places of two rows of fact files with one primary key."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...core import Relation
from ...errors.changes import KeyExists
from ...errors.diagnostics import DDlogError, Note
from ...errors.source import Span
from ...values.rows import Row, record_text
from ..hosts.host import FactSource
from ..pending import primary_key
from ..program import Program


def with_places(
    error: DDlogError, program: Program, declared: Relation, sources: Sequence[FactSource]
) -> DDlogError:
    """The error of a load; if a key is there twice, with both rows and their places in the files."""
    key = primary_key(program, declared)
    if key is None or not any(isinstance(each, KeyExists) for each in error.diagnostics):
        return error
    show, found = record_text(declared, program.checked.typedefs), dict[Hashable, tuple[Row, Span]]()
    for source in sources:
        for row, span in source.placed():
            first = found.setdefault(key.of(row), (row, span))
            if first[0] != row:
                notes = (
                    Note(f"this row is {show(row)}"),
                    Note(f"the other row is {show(first[0])}", first[1]),
                )
                return DDlogError([KeyExists(declared.name, key.show(key.of(row)), span=span, notes=notes)])
    return error
