"""Errors about one unknown name, told at its first use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .diagnostics import Diagnostic, Note, in_order
from .names import UnknownConstructor, UnknownFunction, UnknownRelation, UnknownType

_Unknown = UnknownConstructor | UnknownFunction | UnknownRelation | UnknownType


def told_once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics in order, with the uses of an unknown name in one text as notes of the first."""
    told: list[Diagnostic] = []
    first: dict[tuple[object, ...], int] = {}
    lines: dict[int, list[int]] = {}
    for each in in_order(diagnostics):
        if isinstance(each, _Unknown) and each.span is not None:
            key = (type(each), each.name, each.span.source.name)
            if key in first:
                lines.setdefault(first[key], []).append(each.span.line)
                continue
            first[key] = len(told)
        told.append(each)
    for place, others in lines.items():
        told[place] = _with_uses(told[place], others)
    return told


def _with_uses(diagnostic: Diagnostic, lines: list[int]) -> Diagnostic:
    line = diagnostic.span.line if diagnostic.span else 0
    shown = [str(each) for each in dict.fromkeys(lines) if each != line]
    if not shown:
        return diagnostic
    listed = " and ".join((", ".join(shown[:-1]), shown[-1])) if len(shown) > 1 else shown[0]
    note = Note(f"also used in {'lines' if len(shown) > 1 else 'line'} {listed}")
    return replace(diagnostic, notes=(*diagnostic.notes, note))
