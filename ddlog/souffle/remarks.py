"""Remarks about a translation."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors.source import Span


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that the translation does not say, with its place if it has one. It is `of_text` if it does
    not concern those who run the program as Soufflé does, and do not read the translation."""

    text: str
    span: Span | None = None
    of_text: bool = False


def remark_line(remark: Remark) -> str:
    """A remark with its place: `file:line: text`."""
    if remark.span is None:
        return remark.text
    return f"{remark.span.source.name}:{remark.span.line}: {remark.text}"
