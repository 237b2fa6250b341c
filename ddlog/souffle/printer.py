"""The translated program as text; remarks at the top list what the translation leaves out."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby

from .. import syntax
from ..errors.source import Source
from ..formatting.program import formatted
from ..syntax.printing import module_text
from .functors import FUNCTIONS_NAME

_WIDTH = 100


def program_text(name: str, remarks: Sequence[str], module: syntax.Module) -> str:
    """The text of a program that was translated from a file."""
    sections = [_heading(name, remarks)]
    for fixed, group in groupby(module.declarations, _is_fixed):
        part = tuple(group)
        if fixed:
            sections += [each.span.source.text for each in part]
        else:
            text = module_text(syntax.Module(part, module.span))
            sections.append(formatted(Source(name, text)).rstrip("\n"))
    return "\n\n".join(sections) + "\n"


def _is_fixed(declaration: syntax.Declaration) -> bool:
    """Whether a declaration has a text of its own, with comments."""
    return declaration.span.source.name == FUNCTIONS_NAME


def _heading(name: str, remarks: Sequence[str]) -> str:
    lines = [f"// Translated from {name}."]
    if remarks:
        lines += ["//", "// Not said here, or said differently:", *map(_comment, remarks)]
    return "\n".join(lines)


def _comment(text: str) -> str:
    """A point of a list in a comment."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent="// - ",
        subsequent_indent="//   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
