"""The LALR tables of a grammar: made by Lark from its file once, then read from a cache.

Reading them back takes a few milliseconds and no import of Lark.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from .cachefiles import cache_directory, read_cached, write_cached

GRAMMAR = Path(__file__).with_name("grammar.lark")

Step: TypeAlias = tuple[int, bool]


@dataclass(frozen=True, slots=True)
class Production:
    """A rule of the grammar.

    `steps` makes the arguments of its action from the values of its symbols: (-1, False) is None,
    (i, False) the value of symbol i, (i, True) all values of the list that symbol i is. `inline` says
    that the rule only makes a list; `passes` that the one argument is the result.
    """

    origin: str
    action: str
    length: int
    steps: tuple[Step, ...]
    inline: bool
    passes: bool


@dataclass(frozen=True, slots=True)
class ParseTables:
    """`moves[state][symbol]` is the next state when it is not negative, and otherwise ~p for a
    reduction by `productions[p]`. `words` gives the terminal of each fixed text."""

    moves: tuple[dict[str, int], ...]
    productions: tuple[Production, ...]
    starts: dict[str, int]
    ends: dict[str, int]
    words: dict[str, str]

    def fitting(self, states: list[int]) -> set[str]:
        """The kinds of tokens that the automaton would take in some states."""
        return {kind for kind in self.moves[states[-1]] if kind.isupper() and self._fits(states, kind)}

    def _fits(self, states: list[int], kind: str) -> bool:
        states = list(states)
        while (move := self.moves[states[-1]].get(kind)) is not None:
            if move >= 0:
                return True
            reduced = self.productions[~move]
            del states[len(states) - reduced.length :]
            states.append(self.moves[states[-1]][reduced.origin])
        return kind == "$END" and states[-1] in self.ends.values()


@cache
def tables(file: Path = GRAMMAR, starts: tuple[str, ...] = ("module", "query")) -> ParseTables:
    """The tables of the grammar in a file, for its start symbols: from the cache of this user if they are
    there. Without arguments those of the language."""
    grammar = file.read_bytes()
    path = _cache_file(grammar)
    stored = read_cached(path)
    if stored is None:
        plain = _generate(grammar.decode(), starts)
        write_cached(path, marshal.dumps(plain))
    else:
        plain = marshal.loads(stored)
    moves, productions, first, ends, words = plain
    return ParseTables(tuple(moves), tuple(Production(*p) for p in productions), first, ends, words)


def _cache_file(grammar: bytes) -> Path | None:
    key = hashlib.sha1(grammar + Path(__file__).read_bytes() + sys.version.encode(), usedforsecurity=False)
    directory = cache_directory()
    return directory and directory / f"grammar-{key.hexdigest()[:16]}"


def _generate(grammar: str, starts: tuple[str, ...]) -> Any:
    """The tables as marshal can write them."""
    from lark import Lark
    from lark.lexer import Lexer, PatternStr
    from lark.parsers.lalr_analysis import Shift

    class NoLexer(Lexer):
        def __init__(self, conf: Any) -> None: ...

        def lex(self, *unused: Any) -> Any:
            return iter(())

    lark = Lark(grammar, parser="lalr", lexer=NoLexer, start=list(starts), maybe_placeholders=True)
    table = lark.parser.parser._parse_table
    numbers = {rule: i for i, rule in enumerate(lark.rules)}
    moves = [
        {name: arg if move is Shift else ~numbers[arg] for name, (move, arg) in table.states[state].items()}
        for state in range(len(table.states))
    ]
    words = {t.pattern.value: t.name for t in lark.terminals if isinstance(t.pattern, PatternStr)}
    productions = [_production(rule) for rule in lark.rules]
    return moves, productions, dict(table.start_states), dict(table.end_states), words


def _production(rule: Any) -> tuple[Any, ...]:
    origin = str(rule.origin.name)
    steps = _steps(rule)
    return (
        origin,
        str(rule.alias or origin),
        len(rule.expansion),
        steps,
        origin.startswith("_"),
        rule.alias is None and rule.options.expand1 and len(steps) == 1 and not steps[0][1],
    )


def _steps(rule: Any) -> tuple[Step, ...]:
    """Lark's conventions: filtered tokens vanish, absent `[x]` is None, `_x` is spliced."""
    absent = iter(rule.options.empty_indices or [False] * len(rule.expansion))
    steps: list[Step] = []
    for i, symbol in enumerate(rule.expansion):
        while next(absent):
            steps.append((-1, False))
        if rule.options.keep_all_tokens or not (symbol.is_term and symbol.filter_out):
            steps.append((i, not symbol.is_term and symbol.name.startswith("_")))
    steps += [(-1, False) for rest in absent if rest]
    return tuple(steps)
