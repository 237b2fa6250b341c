"""The places of a name: its declaration, its uses, and its new name at all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors.diagnostics import DDlogError
from ..errors.editor import BreaksProgram, CannotRename, NameIsTaken
from ..errors.source import Source, Span
from .analysis import Analysis, NameDeclaration
from .occurrences import MODULE, TYPE, VARIABLE, Occurrence


def definition(analysis: Analysis, occurrence: Occurrence) -> Span | None:
    """The place where a name is declared."""
    found = analysis.declared(occurrence)
    return None if found is None else found.span


def type_definition(analysis: Analysis, occurrence: Occurrence) -> Span | None:
    """The place where the type of a variable is declared."""
    type_ = analysis.type_of(occurrence)
    if type_ is None or type_[1] is None:
        return None
    return definition(analysis, Occurrence(TYPE, type_[1], occurrence.span, occurrence.scope))


def references(analyses: Sequence[Analysis], occurrence: Occurrence) -> list[Span]:
    """The places of a name in the first of the documents, where it occurs, and in all others."""
    own = analyses[0]
    if occurrence.kind == VARIABLE:
        return [own.placed(each.span) for each in own.of_variable(occurrence)]
    wanted = own.declared(occurrence)
    if wanted is None:
        return []
    found = (span for each in analyses for span in _uses(each, occurrence.kind, wanted))
    return list(dict.fromkeys(found))


def _uses(analysis: Analysis, kind: str, wanted: NameDeclaration) -> Iterator[Span]:
    last = wanted.span.text()
    if last not in analysis.source.text:
        return
    for each in analysis.occurrences:
        if each.kind == kind and each.name.rpartition("::")[2] == last:
            found = analysis.declared(each)
            if found is not None and is_same(found.span, wanted.span):
                yield analysis.placed(each.span)


def is_same(one: Span, other: Span) -> bool:
    """Whether two places are one place of one file."""
    if (one.line, one.column) != (other.line, other.column):
        return False
    files = [each.source.name for each in (one, other)]
    return files[0] == files[1] or Path(files[0]).resolve() == Path(files[1]).resolve()


def renamed(analyses: Sequence[Analysis], occurrence: Occurrence, name: str) -> list[Span]:
    """The places of a name that get a new one, without prefixes. Raises DDlogError where the name would be
    none, or the programs would have errors that they do not have now."""
    found = analyses[0].declared(occurrence)
    own = occurrence.kind == VARIABLE or (found is not None and _editable(analyses[0], found))
    if occurrence.kind == MODULE or not own:
        raise DDlogError([CannotRename(span=occurrence.span, name=occurrence.name)])
    upper = occurrence.span.text().rpartition("::")[2][:1].isupper()
    if not re.fullmatch(r"[A-Z]\w*" if upper else r"[a-z_]\w*", name, re.ASCII):
        raise DDlogError([CannotRename(span=occurrence.span, name=name)])
    if any(
        _is_taken(each, occurrence, name) for each in analyses[: 1 if occurrence.kind == VARIABLE else None]
    ):
        raise DDlogError([NameIsTaken(span=occurrence.span, name=name)])
    places = [_last(each) for each in references(analyses, occurrence)]
    _check(analyses, places, name, occurrence)
    return places


def _is_taken(analysis: Analysis, occurrence: Occurrence, name: str) -> bool:
    """True if a name means something already where it would stand: then a program could change its meaning
    without an error."""
    if occurrence.kind == VARIABLE:
        same = (each for each in analysis.around(occurrence) if each.scope is occurrence.scope)
        return any(each.kind == VARIABLE and each.name == name for each in same)
    if occurrence.span.text().rpartition("::")[2] not in analysis.source.text:
        return False
    new = replace(occurrence, name=name)
    return analysis.declared(new) is not None


def _editable(analysis: Analysis, found: NameDeclaration) -> bool:
    """True for a declaration in a file of the user's."""
    return found.owner in analysis.modules.own


def _last(span: Span) -> Span:
    """The place of a name without its prefix."""
    at = span.text().rfind("::")
    column = span.column if at < 0 else span.column + at + 2
    return Span(span.source, span.line, column, span.line, span.end_column)


def _check(analyses: Sequence[Analysis], places: Sequence[Span], name: str, occurrence: Occurrence) -> None:
    texts = {each.source.name: each.source.text for each in places}
    for file in texts:
        own = [each for each in places if each.source.name == file]
        texts[file] = replaced(texts[file], own, name)
    unsaved = {Path(file).resolve(): text.encode() for file, text in texts.items()}
    for each in analyses:
        if not {each.source.name, *(str(file) for file in each.modules.files)} & texts.keys():
            continue
        text = texts.get(each.source.name, each.source.text)
        after = Analysis(Source(each.source.name, text), each.folders, {**each.unsaved, **unsaved})
        before = sum(error.is_error for error in each.findings.diagnostics)
        new = [error for error in after.findings.diagnostics if error.is_error]
        if len(new) > before:
            raise DDlogError([BreaksProgram(span=occurrence.span, name=name, error=new[0].message)])


def replaced(text: str, places: Sequence[Span], name: str) -> str:
    """A text with a name at places of it."""
    lines = text.split("\n")
    for span in sorted(places, key=lambda each: (each.line, each.column), reverse=True):
        line = lines[span.line - 1]
        lines[span.line - 1] = line[: span.column - 1] + name + line[span.end_column - 1 :]
    return "\n".join(lines)
