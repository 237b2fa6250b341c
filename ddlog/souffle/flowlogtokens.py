"""The texts of FlowLog that Soufflé writes otherwise, rewritten token by token.

Name(f cat " " cat l, true) :- ...      +  between symbols, and a token of its own for `true`
.type Pair = ( a: symbol, b: symbol )   brackets, also around the values (x, y) and (x,)
.decl Seed(node: int32) mutable         no word, as every input may change
loop fixpoint { rules }                 the rules, as every recursion goes on until nothing changes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from .lexer import Lexeme

AGGREGATES = {
    **{each: each for each in ("min", "max", "sum", "count", "mean")},
    **dict.fromkeys(("avg", "average"), "mean"),
}
_LOOP = "rounds that are counted, stopped or forget their rows are loops here: see docs/loops.md"
_BOOLEANS = ("true", "false", "True", "False")
_VALUES = ("IDENT", "QUALIFIED", "STRING", "NUMBER", "FLOAT")


def as_tokens_of_souffle(
    tokens: Sequence[Lexeme], words: Mapping[str, str], found: list[Diagnostic]
) -> list[Lexeme]:
    """The tokens of a program of FlowLog as Soufflé's grammar takes them; `words` are its fixed texts with
    their terminals. Errors go to `found`."""
    run = _Rewriting(tokens, words, found)
    for at, token in enumerate(tokens):
        run.rewrite(at, token)
    return [token for token in run.result if token is not None]


class _Bracket(NamedTuple):
    """The end of what a bracket opens, its commas, and whether values stand in it, not terms of a body."""

    end: int
    commas: tuple[int, ...]
    holds_values: bool


class _Rewriting:
    def __init__(self, tokens: Sequence[Lexeme], words: Mapping[str, str], found: list[Diagnostic]) -> None:
        self.tokens, self.words, self.found = tokens, words, found
        self.texts = ["" if token.kind == "STRING" else token.value for token in tokens]
        self.result: list[Lexeme | None] = list(tokens)
        self.spans = _spans(self.texts)
        self.open: list[_Bracket] = []

    def text(self, at: int) -> str:
        return self.texts[at] if 0 <= at < len(self.texts) else ""

    def rewrite(self, at: int, token: Lexeme) -> None:
        while self.open and self.open[-1].end <= at:
            self.open.pop()
        text, before, after = self.text(at), self.text(at - 1), self.text(at + 1)
        if at in self.spans:
            self.bracket(at)
        elif text.lower() in AGGREGATES and _is_one_case(text) and before in ("(", ",") and after == "(":
            self.result[at] = token._replace(kind="IDENT", value=AGGREGATES[text.lower()])
        elif text in _BOOLEANS and (self.in_values() or self.is_compared(at, at)):
            self.result[at] = token._replace(kind="BOOLEAN", value=text.lower())
        elif text == "cat" and (self.tokens[at - 1].kind in _VALUES or before in (")", "]")):
            self.result[at] = token._replace(kind=self.words["+"], value="+")
        elif text in ("mutable", "append") and before == ")":
            self.result[at] = None
        elif text == "loop" and self.tokens[at + 1 : at + 2] and self.tokens[at + 1].kind in _VALUES:
            self.loop(at)

    def in_values(self) -> bool:
        return bool(self.open) and self.open[-1].holds_values

    def is_compared(self, first: int, last: int) -> bool:
        signs = ("=", "!=")
        return self.text(first - 1) in signs or self.text(last + 1) in signs

    def bracket(self, at: int) -> None:
        """Takes an opening bracket; that of a tuple becomes that of a record."""
        end, commas = self.spans[at]
        is_tuple = self.text(at) == "(" and self.is_tuple(at, end, commas)
        if is_tuple:
            for place, sign in ((at, "["), (end, "]")):
                self.result[place] = self.tokens[place]._replace(kind=self.words[sign], value=sign)
            if end - 1 in commas:
                self.result[end - 1] = None
        self.open.append(_Bracket(end, commas, is_tuple or self.is_call(at) or self.text(at) == "["))

    def is_call(self, at: int) -> bool:
        before = self.text(at - 1)
        return self.text(at) == "(" and before != "cat" and before.replace("?", "_")[-1:].isidentifier()

    def is_tuple(self, at: int, end: int, commas: Sequence[int]) -> bool:
        if self.text(at - 3) == ".type":
            return True
        if not commas or self.is_call(at):
            return False
        return self.in_values() or self.is_compared(at, end)

    def loop(self, at: int) -> None:
        """Leaves the rules of a loop, and reports one that is no fixpoint."""
        begin = next((i for i in range(at, len(self.texts)) if self.texts[i] == "{" and i in self.spans), at)
        if self.texts[at + 1 : begin + 1] != ["fixpoint", "{"]:
            what = f"`loop {self.text(at + 1)}`"
            self.found.append(errors.CannotTranslate(what=what, why=_LOOP, span=self.tokens[at].span))
            while begin in self.spans and self.text(self.spans[begin][0] + 1) == "{":
                begin = self.spans[begin][0] + 1  # the relations of the loop stand before its rules
        end = self.spans[begin][0] if begin in self.spans else at
        self.result[at : begin + 1] = [None] * (begin + 1 - at)
        self.result[end] = None
        for inside in range(at, begin + 1):
            self.spans.pop(inside, None)


def _is_one_case(text: str) -> bool:
    return text in (text.lower(), text.upper())


def _spans(texts: Sequence[str]) -> dict[int, tuple[int, tuple[int, ...]]]:
    """The end and the commas of what each bracket opens."""
    spans: dict[int, tuple[int, tuple[int, ...]]] = {}
    open: list[tuple[int, list[int]]] = []
    for at, text in enumerate(texts):
        if text in ("(", "[", "{"):
            open.append((at, []))
        elif text in (")", "]", "}") and open:
            begin, commas = open.pop()
            spans[begin] = at, tuple(commas)
        elif text == "," and open:
            open[-1][1].append(at)
    return spans
