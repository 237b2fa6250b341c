"""Errors about relations, rules and queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .diagnostics import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class InputHead(Diagnostic):
    """A rule for an input relation."""

    title: ClassVar[str] = "input relation `{name}` cannot have rules: its contents come from outside"
    suggestion: ClassVar[str] = "remove `input` from its declaration, or give the rule another head"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NegatedBinding(Diagnostic):
    """A new variable in a negated term."""

    title: ClassVar[str] = "variable `{name}` is not bound: a negated term binds no variables"
    suggestion: ClassVar[str] = "bind it in a positive term before this one, or write `_`"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnboundVariable(Diagnostic):
    """A variable used before a term binds it."""

    title: ClassVar[str] = "variable `{name}` is not bound here"
    label: ClassVar[str] = "bound only by a later term"
    suggestion: ClassVar[str] = (
        "terms are read from left to right: move this one behind the term that binds `{name}`"
    )
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnboundHead(Diagnostic):
    """A head variable that the body does not bind."""

    title: ClassVar[str] = "head variable `{name}` is not bound in the body of the rule"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotVisibleAfterGroup(Diagnostic):
    """A variable used behind a group_by that forgets it."""

    title: ClassVar[str] = "variable `{name}` is not visible after group_by: only its keys and its result are"
    suggestion: ClassVar[str] = "make it a key of the group_by, or part of the grouped value"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupByKeys(Diagnostic):
    """Keys of a group_by that are not variables."""

    title: ClassVar[str] = "the key of group_by must be a variable, a tuple of variables or ()"
    suggestion: ClassVar[str] = "define it before: `var k = ...`, then group_by(k)"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupByKeyTwice(Diagnostic):
    """A key of a group_by that it has already."""

    title: ClassVar[str] = "`{name}` is a key of this group_by already"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupByArguments(Diagnostic):
    """A group_by with a wrong number of arguments."""

    title: ClassVar[str] = "group_by takes two arguments: the value and the key"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupByTwice(Diagnostic):
    """More than one group_by in a rule."""

    title: ClassVar[str] = "group_by may occur at most once in a rule"
    suggestion: ClassVar[str] = "make a relation of the first one"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupByOutsideRule(Diagnostic):
    """group_by in a function, a head or a fact."""

    title: ClassVar[str] = "group_by is only allowed in a clause `var g = value.group_by(key)` of a rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatMapPlace(Diagnostic):
    """FlatMap elsewhere than right of `=` in a clause."""

    title: ClassVar[str] = "FlatMap is only allowed in a clause `var x = FlatMap(collection)` of a rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregatePlace(Diagnostic):
    """Aggregate elsewhere than right of `=` in a clause."""

    title: ClassVar[str] = (
        "Aggregate is only allowed in a clause `var x = Aggregate((keys), f(value))` of a rule"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadModifier(Diagnostic):
    """A head that is negated or bound to a name."""

    title: ClassVar[str] = "a head is a plain term: `Relation(values)`"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNotInput(Diagnostic):
    """A primary key of a relation that is no input."""

    title: ClassVar[str] = "only an input relation can have a primary key, and `{name}` is none"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexUnbound(Diagnostic):
    """A variable of an index that its pattern does not bind."""

    title: ClassVar[str] = "variable `{name}` of the index does not occur in its pattern"
    suggestion: ClassVar[str] = "write `{name}` where the column is that the index looks up"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBindsMore(Diagnostic):
    """A variable in the pattern of an index that is none of its own."""

    title: ClassVar[str] = "`{name}` is no variable of the index"
    suggestion: ClassVar[str] = "declare it between the index's parentheses, or write `_` for any value"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOnStream(Diagnostic):
    """An index on what is gone after each transaction."""

    title: ClassVar[str] = "an index cannot be on {what}: it has no contents between transactions"
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOnDelayed(Diagnostic):
    """An index on an earlier state of a relation."""

    title: ClassVar[str] = "an index is on a relation as it is now, not on `{what}`"
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NegatedBinder(Diagnostic):
    """`not v in R(..)`."""

    title: ClassVar[str] = "a negated term cannot bind `{name}`"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationAsType(Diagnostic):
    """`relation[T]` where a type of values is wanted."""

    title: ClassVar[str] = "only a transformer takes relations"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerPorts(Diagnostic):
    """An application with too many or too few relations or functions."""

    title: ClassVar[str] = "transformer {name} has {wanted} {what}, here are {given}"
    name: str
    what: str
    wanted: int
    given: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerOutput(Diagnostic):
    """An output of a transformer that is no relation."""

    title: ClassVar[str] = "output {name} of a transformer must be a relation"
    suggestion: ClassVar[str] = "write `{name}: relation[T]`"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformedHead(Diagnostic):
    """A rule, or a second transformer, for a relation that a transformer fills."""

    title: ClassVar[str] = "relation {name} is filled by a transformer; nothing else can add to it"
    name: str
