"""The rules that declarations make, but for those that an attribute keeps from a warning."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from .. import core, syntax
from ..errors.source import Span


def written_in(
    declarations: Iterable[object], rules: Iterable[core.Rule], mark: str
) -> Iterator[tuple[core.Rule, Span]]:
    """The rules that these declarations make, each with the place of its declaration, but for those that an
    attribute marks."""
    written = [each for each in declarations if isinstance(each, syntax.RuleDecl | syntax.ForDecl)]
    written.sort(key=lambda each: start(each.span))
    starts = [start(each.span) for each in written]
    for rule in rules:
        before = bisect_right(starts, start(rule.span))
        declaration = written[before - 1] if before else None
        if declaration is None or not rule.span.within(declaration.span):
            continue
        if not is_marked(declaration, mark):
            yield rule, declaration.span


def is_marked(declaration: syntax.RuleDecl | syntax.ForDecl | syntax.Query, mark: str) -> bool:
    """Whether a declaration has `#[mark]`, or `#[mark = true]`."""
    return any(
        each.name == mark and getattr(each.value, "value", True) is True for each in declaration.attributes
    )


def start(span: Span) -> tuple[str, int, int]:
    return span.source.name, span.line, span.column
