"""Queries with names in place of the blanks of their terms.

`Order(_, p), var s = p.group_by(()).sum()` has no variable that tells two orders of one price apart. Its
warning names the column that does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from .. import core, syntax
from ..errors.source import Source
from .rewriting import Edit, place_of, rewritten

_NAME = re.compile(r"[A-Za-z_]\w*")


def blanks(query: syntax.Query, relations: Mapping[str, core.Relation]) -> dict[str, Edit]:
    """A name for each column that a term of a query leaves blank, with the edit that writes it."""
    taken = set(_NAME.findall(query.span.source.text))
    found: dict[str, Edit] = {}
    for clause in query.body:
        if isinstance(clause, syntax.Atom) and not clause.negated and clause.relation in relations:
            for column, place, text in _blanks(clause, relations[clause.relation]):
                name = _free(column, taken)
                taken.add(name)
                found[name] = place, text.format(name)
    return found


def _blanks(term: syntax.Atom, relation: core.Relation) -> Iterator[tuple[str, tuple[int, int], str]]:
    args = term.args or ()
    named = {arg.name for arg in args}
    for arg, column in zip(args, relation.columns, strict=False):
        if isinstance(arg.value, syntax.Wildcard):
            yield arg.name or column.name, place_of(arg.value.span), "{}"
    if args and None not in named:
        end = place_of(args[-1].span)[1]
        for column in relation.columns:
            if column.name not in named:
                yield column.name, (end, end), f", .{column.name} = {{}}"


def _free(column: str, taken: Collection[str]) -> str:
    """A name like that of a column, which nothing else has."""
    name = column if column[:1].islower() else f"column{column}"
    return next(each for each in (name, *(f"{name}{n}" for n in range(2, 99))) if each not in taken)


def with_names(query: syntax.Query, edits: Collection[Edit]) -> Source | None:
    """The text of a query after edits."""
    text = rewritten(query.span, edits)
    return None if text is None else Source(query.span.source.name, text)
