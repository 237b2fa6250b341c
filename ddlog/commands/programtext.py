"""Text in a conversation that is no command: a query, a part of a program, or statements of SQL."""

from __future__ import annotations

import re

from ..errors.diagnostics import Diagnostic
from ..errors.source import Source
from ..errors.syntax import UnclosedBracket
from .sqlreader import begins_sql

_PROGRAM = re.compile(
    r"""\#\[ | //
    | (typedef|function|extern|import|apply|index|input|output|internal|relation|stream|multiset|loop)\s
    | for\s*\( | (\w+::)*_*[A-Z]\w*(\s|[(\[{,:&]|\Z)""",
    re.VERBOSE,
)


def takes_lines(text: str) -> bool:
    """True if a text begins as a query, a statement of SQL, or a declaration, rule, fact, attribute or
    comment."""
    return text.startswith("?") or begins_sql(text) or _PROGRAM.match(text) is not None


def has_ended(text: str) -> bool:
    """True if a text of several lines ends with an empty line, which ends its input in the REPL."""
    return bool(text.strip()) and "\n" in text and not text.rpartition("\n")[2].strip()


def needs_more(text: str) -> bool:
    """Whether a query, a part of a program, or a statement of SQL, goes on in another line."""
    if has_ended(text):
        return False
    if begins_sql(text):
        return not text.rstrip().endswith(";")
    from ..syntax.parser import parse_program, parse_query

    if text.lstrip().startswith("?"):
        query = text.split("?", 1)[1]
        wrong = parse_query(Source("<input>", query))[1]
        return query.rstrip().endswith(",") or (bool(wrong) and _is_at_end(wrong[0], query))
    found = parse_program(Source("<input>", text))[1]
    return bool(found) and _is_at_end(found[0], text) and not asks(text)


def parses(text: str) -> bool:
    """Whether a text is a part of a program."""
    from ..syntax.parser import parse_program

    return not parse_program(Source("<input>", text))[1]


def asks(text: str) -> bool:
    """Whether a text that is no part of a program is a query."""
    from ..syntax.parser import parse_query

    return parse_query(Source("<input>", text))[1] == []


def _is_at_end(error: Diagnostic, text: str) -> bool:
    """Whether more text could mend an error: it stands at the end of the text, or is an open bracket."""
    if isinstance(error, UnclosedBracket):
        return True
    lines = text.rstrip().split("\n")
    span = error.span
    return span is not None and (span.line, span.column) > (len(lines), len(lines[-1]))
