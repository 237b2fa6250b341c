"""The places of two rows with one primary key, among rows that are inserted together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...core import Relation
from ...errors.changes import KeyExists
from ...errors.diagnostics import DDlogError
from ...errors.source import Span
from ...values.rows import Row
from ..pending import primary_key
from ..program import Program


def with_places(
    error: DDlogError, program: Program, declared: Relation, placed: Iterable[tuple[Row, Span]]
) -> DDlogError:
    """The error of an insertion of rows with places; if their key is there twice, with both rows and their
    places."""
    key = primary_key(program, declared)
    exists = next((each for each in error.diagnostics if isinstance(each, KeyExists)), None)
    if key is None or exists is None:
        return error
    found = [(row, span) for row, span in placed if key.show(key.of(row)) == exists.key]
    if not found:
        return error
    first, there = found[0]
    for row, span in found:
        if row != first:
            return key.exists(declared.name, row, first, span, there)
    return DDlogError([replace(exists, span=found[-1][1])])
