"""Why a row does not hold, as indented text with box lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .absence import Attempt, Fails, Failure, Found, Missing, NoRow
from .held import Fact
from .text import Lines, boxed, in_round, rule_line, tinted
from .tree import Tree
from .words import Words


@dataclass(frozen=True)
class AbsenceLines:
    """Writes what is missing; in `color` for a terminal."""

    words: Words
    color: bool = False

    def missing(self, missing: Missing) -> Iterator[str]:
        """The lines of a row that does not hold."""
        shown = self._in("bold", self.words.row(missing.relation, missing.pattern))
        if missing.given:
            yield f"{shown}  {self._in('dim', 'does not hold: it is not a fact')}"
            return
        said = f"does not hold{in_round(missing.rounds)}"
        yield f"{shown}  {self._in('dim', said + (', …' if missing.cut else ''))}"
        if missing.cut:
            return
        parts = [list(self._attempt(each)) for each in missing.attempts]
        if not missing.attempts:
            said = "no rule has it as its head" if missing.others else "no rule gives rows of this relation"
            parts.append([said])
        elif missing.others:
            heads = "another rule" if missing.others == 1 else f"{missing.others} other rules"
            parts.append([self._in("dim", f"the head of {heads} cannot be it")])
        yield from boxed(parts)

    def sets(self, title: str, sets: Sequence[Sequence[Fact]]) -> Iterator[str]:
        """The smallest sets of facts to insert or to delete."""
        for number, each in enumerate(sets):
            rows = ", ".join(self.words.row(*fact) for fact in each)
            yield f"{title if not number else 'or'}: {rows}"

    def _attempt(self, attempt: Attempt) -> Iterator[str]:
        yield rule_line(attempt.rule, attempt.place, self.color)
        lines = Lines(self.words, self.color)
        parts = [
            [f"{self.words.row(each.relation, each.row)}  {self._in('dim', 'holds' + in_round(each.rounds))}"]
            if isinstance(each, Tree)
            else list(lines.item(each))
            for each in attempt.holds
        ]
        yield from boxed([*parts, list(self._failure(attempt.fails, attempt))])

    def _failure(self, fails: Failure, attempt: Attempt) -> Iterator[str]:
        match fails:
            case NoRow(relation, pattern, text, exact, nearest, below, rounds):
                shown = self.words.row(relation, pattern) if exact else " ".join(text.split())
                lack = "nothing in" if exact and self.words.is_described(relation) else "no"
                yield self._in("red", f"{lack} {shown}") + (in_round(rounds) if exact else "")
                parts = [[f"nearest {self.words.row(relation, row)}"] for row in nearest]
                if below is not None:
                    parts.append(list(self.missing(below)))
                yield from boxed(parts)
            case Found(relation, pattern, text, rows, rounds):
                shown = f"not {self.words.row(relation, pattern)}"
                said = " ".join(text.split()) if self.words.is_described(relation) else shown
                yield f"{self._in('red', said)}{in_round(rounds)}  but there is"
                yield from boxed([[self.words.row(relation, row)] for row in rows])
            case Fails(text, values, wanted):
                said = self._in("red", " ".join(text.split()))
                yield f"{said}  is false" if wanted is None else said
                parts = [[f"{' '.join(part.split())} is {self.words.value(v, of)}"] for part, v, of in values]
                if wanted is not None:
                    parts.append([f"needed is {self.words.value(*wanted)}"])
                yield from boxed(parts)

    def _in(self, style: str, text: str) -> str:
        return tinted(style, text, self.color)
