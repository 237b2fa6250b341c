"""Errors as servers tell them, and as clients read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors.diagnostics import DDlogError, Diagnostic, Note, render
from ..errors.excerpt import Excerpt, RowSource
from ..errors.serving import RemoteProblem
from ..errors.source import Span


def told(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Errors or warnings as objects of JSON."""
    return [
        {
            "kind": each.kind if isinstance(each, RemoteProblem) else type(each).__name__,
            "message": each.message,
            "label": each.marked,
            "hint": each.hint,
            "place": _place(each.span),
            "notes": [{"text": note.text, "place": _place(note.span)} for note in each.notes],
            "text": render([each]),
        }
        for each in diagnostics
    ]


def error_of(data: Iterable[Mapping[str, Any]]) -> DDlogError:
    """The error that a server told."""
    return DDlogError([diagnostic_of(each) for each in data])


def diagnostic_of(data: Mapping[str, Any]) -> Diagnostic:
    """One error that a server told, with its place."""
    notes = tuple(Note(each["text"], _span(each["place"])) for each in data["notes"])
    return RemoteProblem(
        data["message"], data["label"], data["hint"], data["kind"], span=_span(data["place"]), notes=notes
    )


def _place(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    return {
        "source": span.source.name, "line": span.line, "column": span.column, "endLine": span.end_line,
        "endColumn": span.end_column, "text": span.source.line(span.line),
        "rows": isinstance(span.source, RowSource),
    }  # fmt: skip


def _span(place: Mapping[str, Any] | None) -> Span | None:
    if place is None:
        return None
    name, line = place["source"], place["line"]
    source = RowSource(name, "") if place["rows"] else Excerpt(name, place["text"], line)
    return Span(source, line, place["column"], place["endLine"], place["endColumn"])
