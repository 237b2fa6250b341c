"""Errors about loops."""

from __future__ import annotations

from .diagnostics import Diagnostic


class UnknownEnd(Diagnostic):
    """Something else than an end between the name of a loop and its body."""

    title = "`{text}` does not say when a loop ends"
    suggestion = "a loop ends with `rounds N`, `until empty(R)` or `until unchanged`; `limit N` may follow"
    text: str


class SecondEnd(Diagnostic):
    """Two ends of one loop, or two limits."""

    title = "the loop has a second {kind}"
    kind: str


class LoopRelation(Diagnostic):
    """An input, a stream or a multiset that a loop declares, or a relation with a primary key."""

    title = "loop `{loop}` cannot declare {what} `{name}`"
    suggestion = "declare it outside: rules of a loop read what is outside, and hold plain relations"
    loop: str
    what: str
    name: str


class ForeignHead(Diagnostic):
    """A rule whose head belongs to another loop, or to none."""

    title = "the rule stands {place}, but `{name}` is declared {home}"
    suggestion = "the rules of a relation stand where the relation is declared"
    place: str
    name: str
    home: str


class UnknownEmpty(Diagnostic):
    """The relation of `until empty(R)` is none of the loop's."""

    title = "loop `{loop}` declares no relation `{name}`"
    suggestion = "the relation whose emptiness ends a loop is declared in that loop"
    loop: str
    name: str


class InitialOutside(Diagnostic):
    """`initial` before a rule that stands in no loop."""

    title = "`initial` stands before rules of loops, and this rule is in no loop"


class LoopInCycle(Diagnostic):
    """A loop that reads what is computed of its own relations."""

    title = "loop `{loop}` reads `{source}`, which depends on what the loop computes: {cycle}"
    suggestion = (
        "declare in the loop what depends on it and feeds it; a rule reads an earlier round as `R-1(..)`"
    )
    loop: str
    source: str
    cycle: str


class BagInLoop(Diagnostic):
    """`group_all_by` in a loop."""

    title = "a rule of loop `{loop}` cannot use `group_all_by`: in a loop each row counts once"
    suggestion = "`group_by` a tuple with something that tells the values apart"
    loop: str


class RoundType(Diagnostic):
    """`round` compared with something that is no integer."""

    title = "`round` is compared with a value of type {type}"
    suggestion = "rounds are integers, from 0"
    type: str


class RoundValue(Diagnostic):
    """`round` where it is not compared, and no variable."""

    title = "`round` can only be compared in a condition of a rule, as in `round >= e`"
    suggestion = (
        "to have the number of the round, count in a relation: `initial Round(0).` and "
        "`Round(n + 1) :- Round-1(n).`"
    )


class RoundUnequal(Diagnostic):
    """`round != e`."""

    title = "`round` cannot be compared by `!=`"
    suggestion = "write two rules, one for `round < e` and one for `round > e`"


class LoopsTooDeep(Diagnostic):
    """More loops in one another than there is room for."""

    title = "loop `{loop}` is nested {depth} loops and recursions deep; at most {most} are possible"
    loop: str
    depth: int
    most: int


class LoopLimitReached(Diagnostic):
    """A loop that goes on beyond the limit."""

    title = "{name:loop %|a recursion in a loop} still changes after {limit} rounds: {relations}"
    suggestion = (
        "the session is at its last commit; if the loop ends, set a higher limit: `limit N` before its body, "
        "or --max-iterations"
    )
    limit: int
    name: str
    relations: tuple[str, ...]


class LoopRepeats(Diagnostic):
    """A loop that comes back to a state that it had before."""

    title = (
        "{name:loop %|a recursion in a loop} never ends: its relations are the same again after every "
        "{rounds}: {relations}"
    )
    suggestion = (
        "the session is at its last commit; to end the loop with a round, write `rounds N` before its body"
    )
    period: int
    name: str
    relations: tuple[str, ...]

    @property
    def rounds(self) -> str:
        """The rounds between equal states."""
        return "round" if self.period == 1 else f"{self.period} rounds"
