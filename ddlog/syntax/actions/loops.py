"""Loops."""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import syntax as ast
from ...errors import loops as errors
from ...errors.source import Span
from ..lexer import Token
from .builder import TreeBuilder


class _End(NamedTuple):
    """One end of a loop, between its name and its body: a word, and the number or relation after it."""

    word: str
    value: Any
    span: Span


class Loops(TreeBuilder):
    """Loops, and the ends that they have."""

    def initial_rule(self, start: int, end: int, rule: ast.RuleDecl) -> ast.Declaration:
        return ast.RuleDecl(rule.heads, rule.body, rule.attributes, self.span(start, end), initial=True)

    def counted_end(self, start: int, end: int, word: Token, number: Token) -> _End:
        if word.value not in ("rounds", "limit"):
            self.found.append(errors.UnknownEnd(word.value, span=self._at(word)))
        return _End(word.value, int(number.value), self.span(start, end))

    def until_end(self, start: int, end: int, until: Token, word: Token, relation: Token | None) -> _End:
        span = self.span(start, end)
        if until.value != "until":
            self.found.append(errors.UnknownEnd(until.value, span=self._at(until)))
        elif word.value not in ("empty", "unchanged") or (word.value == "empty") != (relation is not None):
            self.found.append(errors.UnknownEnd(span.text(), span=span))
        place = span if relation is None else self._at(relation)
        return _End("until", relation and relation.value, place)

    def loop(
        self, start: int, end: int, name: Token, ends: tuple[_End, ...], *declarations: ast.Declaration
    ) -> ast.Declaration:
        said: dict[str, _End] = {}
        for each in ends:
            kind = "limit" if each.word == "limit" else "end"
            if kind in said:
                self.found.append(errors.SecondEnd(kind, span=each.span))
            said[kind] = each
        last, most = said.get("end"), said.get("limit")
        rounds = last.value if last is not None and last.word == "rounds" else None
        empty = last.value if last is not None and last.word == "until" else None
        return ast.LoopDecl(
            self._declared(name), rounds, empty, None if most is None else most.value, declarations, (),
            self.span(start, end), self._at(name), None if last is None else last.span,
        )  # fmt: skip
