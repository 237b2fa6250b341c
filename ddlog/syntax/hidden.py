"""The names that are declared in text which could not be read, so that their uses are no further errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from ..errors.diagnostics import Diagnostic

Hidden: TypeAlias = Mapping[str, Diagnostic]
"""For each name the error that hides its declaration. A name that ends in `::` is that of a module."""

ANY_NAME, ANY_MODULE = ("::", "?::")  # for all names without prefix, and for all modules

_DECLARED = re.compile(
    r"""
    \b import \b (?: \s+ (?P<module> [\w:]+ ) (?: \s+ as \s+ (?P<alias> [\w:]+ ) )? )?
  | \b (?: (?: input | output | function | typedef | type | relation | stream | multiset | transformer
             | index ) \s+ )+ &? \s* (?P<name> [A-Za-z_]\w* )
  | [=|] \s* (?P<constructor> [A-Z]\w* )
  | (?P<relation> [A-Z]\w* ) \s* \( \s* [a-z_]\w* \s* :
    """,
    re.VERBOSE,
)

# The first word of a line that begins a declaration or a rule, and is no code of a string.
_BEGINS = re.compile(
    r"""
    ^ (?: (?: typedef | input | output | relation | stream | multiset | extern | import | apply ) \s
        | function \s+ \w | index \s+ [A-Z] | [A-Z]\w* [(\[] )
    """,
    re.VERBOSE | re.MULTILINE,
)


def hidden_names(text: str, cause: Diagnostic) -> Iterator[tuple[str, Diagnostic]]:
    """The names that a text seems to declare, each with the cause."""
    for found in _DECLARED.finditer(text):
        module, alias = found.group("module", "alias")
        if found.lastgroup not in ("name", "constructor", "relation"):
            yield (f"{module}::" if module else ANY_MODULE), cause
            yield (f"{alias}::" if alias else ANY_NAME), cause
        else:
            yield found.group(found.lastgroup), cause


def next_declaration(text: str, start: int, end: int | None = None) -> int | None:
    """The place of the next line that begins with a declaration or a rule; None if there is none."""
    found = _BEGINS.search(text, start, len(text) if end is None else end)
    return found.start() if found else None


def begins_declaration(text: str, at: int) -> bool:
    """Whether a declaration or a rule begins at a place, which is the first of its line."""
    return _BEGINS.match(text, at) is not None
