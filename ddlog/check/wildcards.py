"""Names for the columns of terms that a rule leaves out, and the edits that write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .. import core
from ..core.clauses import named
from ..errors.source import Source, Span
from ..syntax.lexer import Places, Token, tokenize
from .ruletexts import Edit, place_of

_OPENING = frozenset({"LPAR", "LBRACE", "LSQB", "_OPEN_SPLICE"})
_CLOSING = frozenset({"RPAR", "RBRACE", "RSQB"})


def with_names(
    relations: Mapping[str, core.Relation], body: Sequence[core.Clause]
) -> tuple[list[core.Clause], dict[str, Edit]]:
    """The body with a name for each column of a term that has none, written `_` or left out, and for each of
    these names the edit of the text that binds it. Terms that are not written `R(…)` stay."""
    taken = {name.partition("$")[0] for clause in body for name in named(clause)}
    edits: dict[str, Edit] = {}
    made: list[core.Clause] = []
    for clause in body:
        if isinstance(clause, core.Atom) and not clause.negated and None in clause.columns:
            columns = list(clause.columns)
            fields = [each.name for each in relations[clause.relation].columns]
            for place, edit in _without_name(clause.span, fields):
                if columns[place] is None:
                    columns[place] = name = _fresh(fields[place], taken)
                    edits[name] = edit[0], edit[1] + name
            clause = replace(clause, columns=tuple(columns))
        made.append(clause)
    return made, edits


def _fresh(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken; it is taken afterwards."""
    numbered = (name if i == 1 else f"{name}{i}" for i in range(1, len(taken) + 2))
    fresh = next(each for each in numbered if each not in taken)
    taken.add(fresh)
    return fresh


def _without_name(term: Span, fields: Sequence[str]) -> Iterator[tuple[int, Edit]]:
    """The columns that a term leaves out, each with the edit that binds it but for the name."""
    tokens = tokenize(Places(Source("", term.text()))).tokens
    opening = next((i for i, each in enumerate(tokens) if each.kind in _OPENING), 0)
    if tokens[opening].kind != "LPAR" or tokens[-1].kind != "RPAR":
        return
    begin, _ = place_of(term)
    written: set[int] = set()
    for number, argument in enumerate(_arguments(tokens[opening + 1 : -1])):
        by_name = argument[0].kind == "MEMBER"
        if by_name and argument[0].value not in fields:
            return
        column = fields.index(argument[0].value) if by_name else number
        written.add(column)
        if argument[-1].kind == "UNDERSCORE" and len(argument) == (3 if by_name else 1):
            yield column, ((begin + argument[-1].start, begin + argument[-1].end), "")
    end = begin + tokens[-1].start
    if not written:
        return
    for column in range(len(fields)):
        if column not in written:
            yield column, ((end, end), f", .{fields[column]} = ")


def _arguments(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens between the parentheses of a term, by argument."""
    argument: list[Token] = []
    depth = 0
    for token in tokens:
        depth += (token.kind in _OPENING) - (token.kind in _CLOSING)
        if depth == 0 and token.kind == "COMMA":
            yield argument
            argument = []
        else:
            argument.append(token)
    if argument:
        yield argument
