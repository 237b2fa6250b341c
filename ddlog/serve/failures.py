"""Errors as servers tell them, and as clients read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..errors.diagnostics import DDlogError, Diagnostic, moved, render
from ..errors.excerpt import Excerpt, RowSource
from ..errors.source import Span
from .jsonforms import carried, received


def told(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Errors or warnings as objects of JSON."""
    return [
        {
            "kind": type(each).__name__,
            "message": each.message,
            "label": each.marked,
            "hint": each.hint,
            "place": _place(each.span),
            "notes": [{"text": note.text, "place": _place(note.span)} for note in each.notes],
            "text": render([each]),
        }
        for each in diagnostics
    ]


def exact_errors(diagnostics: Iterable[Diagnostic]) -> str:
    """Errors with their fields, from which `error_of` makes them anew; of their sources only the lines that
    are shown."""
    return carried(tuple(moved(each, _excerpt) for each in diagnostics), str)


def error_of(text: bytes) -> DDlogError:
    """The error that a server told by `exact_errors`. A place in the request is none for the caller. Raises
    ValueError."""
    found = received(text, str)
    return DDlogError([replace(each, span=None) if _in_request(each.span) else each for each in found])


def _in_request(span: Span | None) -> bool:
    from .transactions import NAME

    return span is not None and span.source.name == NAME


def _excerpt(span: Span) -> Span:
    source = span.source
    if isinstance(source, RowSource):
        return span
    return replace(span, source=Excerpt(source.name, source.line(span.line), span.line))


def _place(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    return {
        "source": span.source.name, "line": span.line, "column": span.column, "endLine": span.end_line,
        "endColumn": span.end_column, "text": span.source.line(span.line),
        "rows": isinstance(span.source, RowSource),
    }  # fmt: skip
