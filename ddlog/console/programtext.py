"""Text of the REPL that is no command: a part of a program, or statements of SQL."""

from __future__ import annotations

import re

from ..commands.sqlreader import begins_sql
from ..errors.diagnostics import Diagnostic
from ..errors.source import Source

_PROGRAM = re.compile(
    r"""\#\[ | //
    | (typedef|function|extern|import|apply|index|input|output|internal|relation|stream|multiset|loop)\s
    | for\s*\( | (\w+::)*_*[A-Z]\w*(\s|[(\[{,:&]|\Z)""",
    re.VERBOSE,
)


def is_program(text: str) -> bool:
    """True if a text begins with a declaration, a rule, a fact, an attribute or a comment."""
    return not begins_sql(text) and _PROGRAM.match(text.lstrip()) is not None


def has_ended(text: str) -> bool:
    """True if a text of several lines ends with an empty line, which ends its input in the REPL."""
    return bool(text.strip()) and "\n" in text and not text.rpartition("\n")[2].strip()


def needs_more(text: str) -> bool:
    """Whether a part of a program, or a statement of SQL, goes on in another line."""
    if has_ended(text):
        return False
    if begins_sql(text):
        return not text.rstrip().endswith(";")
    from ..syntax.parser import parse_program

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


def goes_on(query: str) -> bool:
    """Whether a query goes on in another line: its text ends too early."""
    from ..syntax.parser import parse_query

    found = parse_query(Source("<input>", query))[1]
    return bool(found) and _is_at_end(found[0], query) and not has_ended(query)


def _is_at_end(error: Diagnostic, text: str) -> bool:
    lines = text.rstrip().split("\n")
    span = error.span
    return span is not None and (span.line, span.column) > (len(lines), len(lines[-1]))
