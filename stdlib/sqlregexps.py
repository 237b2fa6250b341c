"""Functions of regular expressions of the module `sql`."""

from __future__ import annotations

import re

from ..values import Fault, Vec
from .options import some
from .regex import searched

_OF_DUCKDB = re.compile(r"\\(.)", re.DOTALL)


def group_of(found: re.Match[str], at: int) -> str:
    """The text of a group, "" if it is not part of the match. Raises Fault where there is no such group."""
    if not 0 <= at <= found.re.groups:
        raise Fault(f"a regular expression with {found.re.groups} groups has no group {at}")
    return found.group(at) or ""


def regexp_extract(text: str, pattern: str, at: int) -> str:
    compiled = searched(pattern, captures=True, ascii=True)
    found = compiled.search(text)
    return "" if found is None or at > found.re.groups else group_of(found, at)


def regexp_extract_all(text: str, pattern: str, at: int) -> Vec:
    return Vec(
        some(group_of(each, at)) for each in searched(pattern, captures=True, ascii=True).finditer(text)
    )


def regexp_full_match(text: str, pattern: str) -> bool:
    return searched(pattern, ascii=True).fullmatch(text) is not None


def regexp_replace(text: str, pattern: str, by: str, all_: bool) -> str:
    def filled(found: re.Match[str]) -> str:
        return _OF_DUCKDB.sub(
            lambda each: group_of(found, int(each[1])) if each[1].isdigit() else each[1], by
        )

    return replaced_by(text, pattern, filled, all_)


def replaced_by(text: str, pattern: str, by: object, all_: bool) -> str:
    """The text with what a function makes of its matches, of the first or of all."""
    made: str = searched(pattern, captures=True, ascii=True).sub(by, text, 0 if all_ else 1)
    return made


def regexp_split(text: str, pattern: str, limit: int) -> Vec:
    if not pattern and text:
        count = limit if 0 < limit <= len(text) else len(text)
        return Vec(map(some, [*text[: count - 1], text[count - 1 :]]))
    parts, at = list[str](), 0
    for each in searched(pattern, ascii=True).finditer(text):
        if 0 < limit <= len(parts) + 1:
            break
        if each.end() == 0:
            continue  # an empty match gives no empty text at the beginning
        parts.append(text[at : each.start()])
        at = each.end()
    return Vec(map(some, [*parts, text[at:]]))
