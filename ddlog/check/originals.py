"""Queries that name relations as a source of another language does: `? turnover(x)`, `? "my view"(x)`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..core import Relation
from ..core.relations import originals
from ..errors.source import Source

_NAME = re.compile(r'(?:^|,|\bnot\b)\s*("(?:[^"]|"")*"|\w+)(?=\s*(?:\(|,|$))|"(?:[^"\\]|\\.)*"')


def with_own_names(source: Source, relations: Mapping[str, Relation]) -> Source:
    """The query with the names that relations have in this language, in places of the same length."""
    known = originals(relations)
    if not known:
        return source

    def named(found: re.Match[str]) -> str:
        written = found.group(1)
        if written is None:
            return found.group()
        plain = written[1:-1].replace('""', '"') if written.startswith('"') else written
        name = plain if plain in relations else known.get(plain.lower())
        if name is None or len(name) > len(written):
            return found.group()
        before = found.group()[: found.start(1) - found.start()]
        return f"{before}{name:{len(written)}}"

    return Source(source.name, _NAME.sub(named, source.text))
