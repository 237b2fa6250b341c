"""The translated program as text; remarks at the top list what the translation leaves out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from .remarks import Remark, remark_line
from .rules import OutRelation, OutRule
from .types import WIDTH


def program_text(
    source: str,
    remarks: Sequence[Remark],
    imports: Sequence[str],
    typedefs: Sequence[str],
    functions: Sequence[str],
    relations: Sequence[OutRelation],
    rules: Sequence[OutRule],
) -> str:
    """The whole program."""
    sections = [_heading(source, remarks), "\n".join(sorted(imports)), "\n".join(typedefs)]
    sections.append("\n\n".join(functions))
    sections += ["\n".join(map(_relation, relations)), *_groups(rules)]
    return "\n\n".join(section for section in sections if section) + "\n"


def _heading(source: str, remarks: Sequence[Remark]) -> str:
    lines = [f"// Translated from {source}."]
    if remarks:
        lines += ["//", "// Not said here, or said differently:"]
        lines += [_comment(remark_line(remark)) for remark in remarks]
    return "\n".join(lines)


def _comment(text: str) -> str:
    """A point of a list in a comment."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent="// - ",
        subsequent_indent="//   ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _relation(relation: OutRelation) -> str:
    columns = ", ".join(f"{name}: {type}" for name, type in relation.columns)
    return f"{relation.role}relation {relation.name}({columns})"


def _groups(rules: Sequence[OutRule]) -> list[str]:
    """The rules; neighbours with the same heads form a paragraph."""
    groups: list[list[OutRule]] = []
    for rule in rules:
        if groups and groups[-1][-1].relations == rule.relations:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    return ["\n".join(map(rule_text, _distinct(group))) for group in groups]


def _distinct(rules: Iterable[OutRule]) -> list[OutRule]:
    """The rules without duplicates."""
    return list({(rule.heads, rule.body): rule for rule in rules}.values())


def rule_text(rule: OutRule) -> str:
    """A rule on one line, or when it is long with a line for each clause."""
    head = ", ".join(rule.heads)
    if not rule.body:
        return f"{head}."
    short = f"{head} :- {', '.join(rule.body)}."
    if len(short) <= WIDTH:
        return short
    return f"{head} :-\n    " + ",\n    ".join(rule.body) + "."
