"""The one node of which all explanations are made: why, why not, why change and why ends.

A node is a row, a clause of a rule, a group or one of its members, or a remark. `kind` says which:

    fact  rule  group  cut        a row that holds: given, by a rule, by a rule with a group, not gone into
    fact  rule  cut  above        with `came`: a row that came or went; "above" has its body elsewhere
    same  holds  present  near    a row as before, found by a body, by a negated term; like a missing one
    missing  unknown  no fact     a row that does not hold: by its rules, not gone into, not given
    attempt                       a rule that could give a missing row; its last child is what fails
    absent  condition             a negated term that finds nothing; a condition or assignment and its value
    no row  found  false          a clause that fails: no row, a row for a negated term, another value
    excluded                      a negated term over rows that came or went
    members  regrouped  member    a group; one with other members than before; a member
    value  wanted                 a part of a clause that fails; the value that it should have
    more  ended  others  note     remarks: how many more, where a loop ended, which rules cannot give the row
    set   by                      facts to insert and to delete; facts that came and went
    absence  change  ends         an answer that is a sequence of nodes
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core import Rule
from ..errors.source import Span
from ..types import Type
from .snapshot import Fact

if TYPE_CHECKING:
    from .derivations import GroupMembers

ROWS = frozenset({"fact", "rule", "group", "cut"})
"""The kinds of rows of proofs."""


@dataclass(frozen=True, slots=True, eq=False)
class Reason:
    """A node of an explanation. Two nodes are equal only if they are one: searches use nodes as keys."""

    kind: str
    relation: str = ""
    row: tuple[Any, ...] = ()  # of a pattern, ANY stands for a column that may have any value
    text: str = ""  # of a clause, as it is written; of a remark
    value: Any = None
    type: Type | None = None  # of the value; of a group, that of the values of its members
    rule: Rule | None = None
    place: Span | None = None  # of the rule, or of the clause
    variables: Mapping[str, Any] = field(default_factory=dict)  # of a rule or a member; the keys of a group
    children: tuple[Reason, ...] = ()
    height: int | None = None  # None: not known
    rounds: tuple[
        int, ...
    ] = ()  # of loops, the outermost first: since when a row is there, or where a term looked
    ended: bool = False  # the row went again in a later round
    looked: tuple[int, ...] = ()  # the round in which the rule of the row above found this row
    came: bool | None = None  # whether a row or a member came (True) or went (False)
    count: int | None = None  # of members; of proofs that a row had
    before: int | None = None  # the members that a group had
    noun: str = "member"  # what a group has
    decides: bool = False  # this member gives the group its least or greatest value
    times: int = 1  # how often a member counts
    exact: bool = (
        True  # whether no row fits; otherwise equal values are asked for in columns that may have any
    )
    facts: tuple[tuple[Fact, bool], ...] = ()  # facts inserted (True) or deleted
    variable: str = ""  # the variable that an expression with another value is to be
    column: tuple[str, int] | None = None  # the column of a relation that it is to be
    group: GroupMembers | None = None  # for the search: the members of a group in its state
    loop: str = ""  # for the search: a relation of the loop in whose round a group was made

    @property
    def is_row(self) -> bool:
        """Whether the node is a row of a proof."""
        return self.kind in ROWS

    @property
    def is_sequence(self) -> bool:
        """Whether the node is an answer whose children follow one another."""
        return self.kind in ("absence", "change", "ends")

    @property
    def shows_rule(self) -> bool:
        """Whether a rule, its place and its variables are told below the title."""
        return self.kind in ("rule", "group") and self.rule is not None

    def marked(self, kind: str) -> Reason:
        """A leaf of another kind for the row of the node."""
        return Reason(kind, self.relation, self.row, rounds=self.rounds, looked=self.looked)


def rows(nodes: Iterable[Reason]) -> Iterator[Reason]:
    """The rows in a body, those of the members of its groups included."""
    for node in nodes:
        if node.is_row:
            yield node
        elif node.kind == "members":
            yield from (row for member in node.children for row in rows(member.children))


def absences(nodes: Iterable[Reason]) -> Iterator[Reason]:
    """The negated terms of a body that found nothing, those of the members of its groups included."""
    for node in nodes:
        if node.kind == "absent":
            yield node
        elif node.kind == "members":
            yield from (each for member in node.children for each in absences(member.children))


def decisive(nodes: Iterable[Reason]) -> Iterator[Reason]:
    """The rows of a body on which its height rests: of a group those of the member that decides, or else of
    all members that are shown."""
    for node in nodes:
        if node.is_row:
            yield node
        elif node.kind == "members":
            members = [each for each in node.children if each.kind == "member"]
            deciding = [each for each in members if each.decides]
            for member in deciding or members:
                yield from decisive(member.children)


def remark(text: str, kind: str = "note", **data: Any) -> Reason:
    """A node that is only a text."""
    return Reason(kind, text=text, **data)


def more(count: int, what: str = "") -> Iterator[Reason]:
    """A remark that there are so many more; none if there are none."""
    if count:
        yield remark(f"… and {count} more{what}", "more", count=count)
