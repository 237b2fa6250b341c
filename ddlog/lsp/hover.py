"""Descriptions of names: a declaration, the comment above it, the type of a variable, a relation's rules."""

from __future__ import annotations

from .. import syntax
from ..errors.source import Span
from .analysis import Analysis, NameDeclaration
from .occurrences import RELATION, VARIABLE, Occurrence

_MOST = 5  # rules that are shown


def described(analysis: Analysis, occurrence: Occurrence) -> str | None:
    """The description of a name in Markdown; None where nothing is known."""
    if occurrence.kind == VARIABLE:
        type_ = analysis.type_of(occurrence)
        return None if type_ is None else _code(f"{occurrence.name}: {type_[0]}")
    found = analysis.declared(occurrence)
    if found is None or found.node is None:
        return None
    texts = [_code(heading(found)), comment_above(found)]
    if occurrence.kind == RELATION and isinstance(found.node, syntax.RelationDecl):
        rules = list(analysis.rules(found.owner, found.node.name))
        texts += [_code(each.span.text().strip()) for each in rules[:_MOST]]
        if len(rules) > _MOST:
            texts.append(f"and {len(rules) - _MOST} more rules")
    return "\n\n".join(filter(None, texts))


def heading(found: NameDeclaration) -> str:
    """The text of a declaration; of a function without its body."""
    text: str = found.node.span.text()
    if isinstance(found.node, syntax.FunctionDecl) and found.node.body is not None:
        text = text[: len(text) - len(found.node.body.span.text())].rstrip().removesuffix("=").rstrip()
    return text if not found.owner.name else f"// {found.owner.name}\n{text}"


def comment_above(found: NameDeclaration) -> str:
    """The comment on the lines directly above a declaration."""
    span: Span = found.node.span
    lines: list[str] = []
    for number in range(span.line - 1, 0, -1):
        line = span.source.line(number).strip()
        if not line.startswith("//"):
            break
        lines.append(line.lstrip("/").strip())
    return "\n".join(reversed(lines))


def _code(text: str) -> str:
    return f"```ddlog\n{text}\n```"
