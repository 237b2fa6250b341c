"""Who uses whom: relations read relations by their rules, and rules and functions call functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import syntax
from ..errors.source import Span
from ..syntax.forrules import for_rules
from .analysis import Analysis, NameDeclaration
from .navigation import is_same
from .occurrences import FUNCTION, RELATION, Occurrence

_KINDS = (RELATION, FUNCTION)


@dataclass
class Use:
    """A relation or function that uses another one or is used, and the places where that is."""

    kind: str
    declared: NameDeclaration
    places: list[Span]


def can_call(analysis: Analysis, occurrence: Occurrence) -> NameDeclaration | None:
    """The declaration of a relation or function; None for other names."""
    return analysis.declared(occurrence) if occurrence.kind in _KINDS else None


def users(analyses: Sequence[Analysis], wanted: NameDeclaration, kind: str) -> list[Use]:
    """The relations and functions whose rules and bodies use one, with the places where they do."""
    return _united(
        (analysis, user, analysis.placed(each.span))
        for analysis, each in _of_name(analyses, wanted, kind)
        if each.span not in [head.span for head in _defined(each.scope)]
        for user in _defined(each.scope)
    )


def used(analyses: Sequence[Analysis], wanted: NameDeclaration, kind: str) -> list[Use]:
    """The relations and functions that the rules or the body of one use, with the places where they do."""
    return _united(
        (analysis, other, analysis.placed(other.span))
        for analysis, each in _of_name(analyses, wanted, kind)
        if each.span in (heads := [head.span for head in _defined(each.scope)])
        for other in analysis.around(each)
        if other.scope is each.scope and other.kind in _KINDS and other.span not in heads
    )


def _of_name(
    analyses: Sequence[Analysis], wanted: NameDeclaration, kind: str
) -> Iterator[tuple[Analysis, Occurrence]]:
    last = wanted.span.text()
    for analysis in analyses:
        if last in analysis.source.text:
            for each in analysis.occurrences:
                if each.kind == kind and each.name.rpartition("::")[2] == last:
                    declared = analysis.declared(each)
                    if declared is not None and is_same(declared.span, wanted.span):
                        yield analysis, each


def _defined(scope: syntax.Declaration) -> list[Occurrence]:
    """The relations or the function that a declaration is about."""
    match scope:
        case syntax.FunctionDecl():
            return [Occurrence(FUNCTION, scope.name, scope.name_span, scope, True)]
        case syntax.ForDecl():
            rules = [*for_rules(scope)]
        case syntax.RuleDecl():
            rules = [scope]
        case _:
            rules = []
    heads = {head.name_span: head.relation for rule in rules for head in rule.heads}
    return [Occurrence(RELATION, name, span, scope) for span, name in heads.items()]


def _united(found: Iterable[tuple[Analysis, Occurrence, Span]]) -> list[Use]:
    """The names with all their places, each once."""
    uses: dict[tuple[Path, int, int], Use] = {}
    for analysis, name, place in found:
        declared = analysis.declared(name)
        if declared is not None:
            span = declared.span
            key = Path(span.source.name).resolve(), span.line, span.column
            places = uses.setdefault(key, Use(name.kind, declared, [])).places
            places += [place] if place not in places else []
    return list(uses.values())
