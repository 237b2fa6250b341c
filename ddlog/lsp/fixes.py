"""Corrections that the messages know: the name that was meant, a missing field or import, the better rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import groups, modules, names, rules, syntax, types
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..names.modules import library_module, module_file

_MEANT = re.compile(r"did you mean `([^`]+)`")
_IMPORT = re.compile(r"^import\b.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fix:
    """A text for a place, and what that does."""

    title: str
    span: Span
    text: str


def fixes(diagnostic: Diagnostic) -> Iterator[Fix]:
    """The corrections of an error or a warning, the best first."""
    span = diagnostic.span
    if span is None:
        return
    match diagnostic:
        case modules.UnknownModule(name=name) if _is_there(name, span):
            last = max((span.source.text.count("\n", 0, each.start()) + 2
                        for each in _IMPORT.finditer(span.source.text)), default=1)  # fmt: skip
            yield Fix(f"Import `{name}`", Span(span.source, last, 1, last, 1), f"import {name}\n")
        case types.MissingField(field=field):
            yield _with_field(span, field)
        case groups.EqualValues(what="rule", rule=rule, instead=instead):
            yield Fix("Tell the rows apart", rule, instead)
        case names.UnusedVariable(name=name) if span.text() == name:
            yield Fix(f"Write `_{name}`", span, f"_{name}")
        case names.UnusedRelation():
            line = span.source.line(span.line)
            at = re.match(r"\s*(?=relation\b)", line)
            if at is not None:
                place = Span(span.source, span.line, at.end() + 1, span.line, at.end() + 1)
                yield Fix("Make it an output relation", place, "output ")
        case rules.NegatedBinding(name=name) if span.text() == name:
            yield Fix("Write `_`", span, "_")
        case syntax.EqualsInHead():
            yield Fix("Write `:-`", span, ":-")
        case syntax.DoubledSign():
            both = Span(span.source, span.line, span.column, span.line, span.column + 2)
            yield Fix("Write `and`", both, "and")
    meant = _MEANT.search(diagnostic.hint)
    wrong = getattr(diagnostic, "field", None) or getattr(diagnostic, "name", None)
    found = _within(span, wrong) if meant is not None and isinstance(wrong, str) else None
    if meant is not None and found is not None:
        yield Fix(f"Write `{meant[1]}`", found, meant[1])


def _is_there(module: str, span: Span) -> bool:
    """Whether a module is in the library, or in the folder of the program."""
    file = module_file(Path(span.source.name).parent, module)
    return library_module(module) is not None or any(
        file.with_suffix(end).is_file() for end in (".dl", ".sql")
    )


def _with_field(span: Span, field: str) -> Fix:
    """The fix that gives a field the variable of its name."""
    text, given = span.text(), f".{field} = {field}"
    if text[-1:] not in (")", "}"):
        at = Span(span.source, span.end_line, span.end_column, span.end_line, span.end_column)
        return Fix(f"Add `{given}`", at, f"{{{given}}}")
    is_first = re.search(r"[({,]\s*$", text[:-1])
    at = Span(span.source, span.end_line, span.end_column - 1, span.end_line, span.end_column - 1)
    return Fix(f"Add `{given}`", at, given if is_first else f", {given}")


def _within(span: Span, word: str) -> Span | None:
    """The place of a word in a span; None if it is not there."""
    text = span.text()
    found = re.search(rf"(?<![\w:]){re.escape(word)}(?!\w)", text)
    if found is None:
        return None
    line = span.line + text.count("\n", 0, found.start())
    begin = found.start() - (text.rfind("\n", 0, found.start()) + 1)
    column = begin + (span.column if line == span.line else 1)
    return Span(span.source, line, column, line, column + len(word))
