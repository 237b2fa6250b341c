"""The statements of a text, told apart without the parser: as fast as the text is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors.source import Source
from .literals import shape_of

_SPACE = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/|;)*", re.DOTALL)
_QUOTED = {
    "duckdb": r"""[eE]'(?:[^'\\]|''|\\.)*+' | \w++ | [^;'"$/\w-]++ | '(?:[^']|'')*+' | "(?:[^"]|"")*+"
    | \$(?P<tag>\w*)\$.*?\$(?P=tag)\$ | \$(?!\w*\$)""",
    "spark": r"""[^;'"`/-]++ | '(?:[^'\\]|\\.)*+' | "(?:[^"\\]|\\.)*+" | `(?:[^`]|``)*+`""",
}
_STATEMENT = {
    dialect: re.compile(
        rf"(?:{quoted} | --[^\n]*+ | /\*.*?\*/ | /(?!\*) | -(?!-))*+;", re.VERBOSE | re.DOTALL
    )
    for dialect, quoted in _QUOTED.items()
}
_DECLARES = re.compile(r"(?i)(CREATE|DROP|ATTACH|SET)\b")
_ZONE = re.compile(r"SET\s+(?:SESSION\s+|GLOBAL\s+)?TimeZone\s*(?:=|\bTO\b)\s*'([^']*)'", re.IGNORECASE)
_CHANGES = re.compile(
    r"(?i)(?:\(\s*)*(UPDATE|DELETE|MERGE|TRUNCATE|BEGIN|START|SELECT|FROM|VALUES|WITH|DESCRIBE|SHOW|EXPLAIN|PIVOT|UNPIVOT|TABLE|INSERT\s+OR)\b"
)
_WORDS = re.compile(
    r"\b(UPDATE|DELETE|MERGE|TRUNCATE|BEGIN|START|SELECT|SHOW|EXPLAIN|OR|ON|DEFAULT|RETURNING)\b"
    r"|;[\s(]*(FROM|VALUES|WITH|DESCRIBE|PIVOT|UNPIVOT|TABLE)\b",
    re.IGNORECASE,
)
_FACTS = re.compile(
    r"(?i)INSERT\b(?!.*\b(SELECT|CONFLICT|RETURNING|BY\s+NAME|DEFAULT\s+VALUES)\b)", re.DOTALL
)


def statements(text: str, dialect: str, at: int = 0, final: bool = True) -> Iterator[tuple[int, int]]:
    """The beginning and the end of each statement of a dialect from a place on; with `final`, also of one
    without a `;`."""
    while True:
        begin = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        found = _STATEMENT[dialect].match(text, begin)
        if found is None and not (final and text[begin:].strip()):
            return
        at = len(text) if found is None else found.end()
        yield begin, at


def zone_set(text: str) -> str:
    """The time zone that a module of SQL sets before anything else, or UTC."""
    found = _ZONE.match(text, _SPACE.match(text).end())  # type: ignore[union-attr]
    return found[1] if found else "UTC"


def without_script(source: Source) -> tuple[Source, Source | None]:
    """The declarations of a module, and its other statements, which are to be carried out, each at its place
    in the file. Without statements behind the last view but INSERT of values, which are facts, the module as
    it is and None."""
    text = source.text
    if _WORDS.search(text) is None:
        return source, None
    found = list(statements(text, source.dialect))
    declares = [_DECLARES.match(text, begin) is not None for begin, _ in found]
    behind = found[len(declares) - declares[::-1].index(True) :] if True in declares else []
    if not any(_is_carried_out(text[begin:end]) for begin, end in behind):
        return source, None
    parts = tuple(
        replace(source, text=_only(text, [e for e, d in zip(found, declares, strict=True) if d == of]))
        for of in (True, False)
    )
    return parts[0], parts[1]


def _only(text: str, stretches: list[tuple[int, int]]) -> str:
    """The text with nothing but some stretches of it, each at its place."""
    made, at = list[str](), 0
    for begin, end in stretches:
        made += [re.sub(r"[^\n]", " ", text[at:begin]), text[begin:end]]
        at = end
    return "".join(made)


def _is_carried_out(statement: str) -> bool:
    if _CHANGES.match(statement):
        return True
    return statement[:6].upper() == "INSERT" and _FACTS.match(shape_of(statement)[0]) is None
