"""Errors and warnings as other tools read them: JSON, SARIF, and the annotations of GitHub's workflows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

from ..errors.codes import code_of
from ..errors.diagnostics import Diagnostic, Note, in_order
from ..errors.installation import version
from ..errors.source import Span

Json: TypeAlias = dict[str, Any]


def report(diagnostics: Sequence[Diagnostic], form: str) -> str:
    """The text of a report, in one of the forms `REPORTED`."""
    found = in_order(diagnostics)
    if form == "github":
        return "".join(f"{_annotation(each)}\n" for each in found)
    whole = [_plain(each) for each in found] if form == "json" else _sarif(found)
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _plain(diagnostic: Diagnostic) -> Json:
    return {
        "code": code_of(type(diagnostic)),
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "label": diagnostic.marked,
        "help": diagnostic.hint,
        **_place(diagnostic.span),
        "notes": [{"message": note.text, **_place(note.span)} for note in diagnostic.notes],
    }


def _place(span: Span | None) -> Json:
    """The place of a remark: lines and columns count from 1, the end is exclusive. Null for none."""
    keys = ("file", "line", "column", "end_line", "end_column")
    values = span and (span.source.name, span.line, span.column, span.end_line, span.end_column)
    return dict(zip(keys, values or [None] * len(keys), strict=True))


# ---- SARIF 2.1.0


def _sarif(found: Sequence[Diagnostic]) -> Json:
    kinds = {code_of(type(each)): type(each) for each in found}
    driver = {
        "name": "ddlog",
        "version": version(),
        "rules": [{"id": code, "name": kind.__name__} for code, kind in sorted(kinds.items())],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(each) for each in found]}],
    }


def _result(diagnostic: Diagnostic) -> Json:
    words = [diagnostic.message, diagnostic.marked, diagnostic.hint and f"help: {diagnostic.hint}"]
    return {
        "ruleId": code_of(type(diagnostic)),
        "level": diagnostic.severity,
        "message": {"text": "\n".join(filter(None, words))},
        "locations": _locations(diagnostic.span),
        "relatedLocations": [
            {**location, "message": {"text": note.text}}
            for note in diagnostic.notes
            for location in _locations(note.span)
        ],
    }


def _locations(span: Span | None) -> list[Json]:
    if span is None:
        return []
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return [{"physicalLocation": {"artifactLocation": {"uri": span.source.name}, "region": region}}]


# ---- GitHub


def _annotation(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    properties = {"title": code_of(type(diagnostic))}
    if span is not None:
        properties |= {
            "file": span.source.name, "line": str(span.line), "col": str(span.column),
            "endLine": str(span.end_line), "endColumn": str(span.end_column),
        }  # fmt: skip
    notes = [_noted(note) for note in diagnostic.notes]
    words = [diagnostic.message, diagnostic.marked, *notes, diagnostic.hint and f"help: {diagnostic.hint}"]
    given = ",".join(f"{name}={_escaped(value, ',:')}" for name, value in properties.items())
    return f"::{diagnostic.severity} {given}::{_escaped(chr(10).join(filter(None, words)))}"


def _noted(note: Note) -> str:
    return f"note: {note.text}" if note.span is None else f"note: {note.span}: {note.text}"


def _escaped(text: str, also: str = "") -> str:
    for character in "%\r\n" + also:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
