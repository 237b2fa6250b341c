"""Errors about relations, rules and queries."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class InputHead(Diagnostic):
    """A rule for an input relation."""

    title: ClassVar[str] = "input relation `{name}` cannot have rules: its contents come from outside"
    suggestion: ClassVar[str] = "remove `input` from its declaration, or give the rule another head"
    name: str


@declared(kw_only=True)
class NegatedBinding(Diagnostic):
    """A new variable in a negated term."""

    title: ClassVar[str] = "variable `{name}` is not bound: a negated term binds no variables"
    suggestion: ClassVar[str] = "bind it in a positive term before this one, or write `_`"
    name: str


@declared(kw_only=True)
class UnboundVariable(Diagnostic):
    """A variable used before a term binds it."""

    title: ClassVar[str] = "variable `{name}` is not bound here"
    label: ClassVar[str] = "bound only by a later term"
    suggestion: ClassVar[str] = (
        "terms are read from left to right: move this one after the term that binds `{name}`"
    )
    name: str


@declared(kw_only=True)
class UnboundHead(Diagnostic):
    """A head variable that the body does not bind."""

    title: ClassVar[str] = "head variable `{name}` is not bound in the body of the rule"
    name: str


@declared(kw_only=True)
class NotVisibleAfterGroup(Diagnostic):
    """A variable that a group_by hides, used after the group_by."""

    title: ClassVar[str] = (
        "variable `{name}` is not visible after group_by: only the keys and the result of the group_by are"
    )
    suggestion: ClassVar[str] = "make it a key of the group_by, or part of the grouped value"
    name: str


@declared(kw_only=True)
class GroupByKeys(Diagnostic):
    """Keys of a group_by that are not variables."""

    title: ClassVar[str] = "the key of group_by must be a variable, a tuple of variables or ()"
    suggestion: ClassVar[str] = "define a variable before the group_by: `var k = ...`, then group_by(k)"


@declared(kw_only=True)
class GroupByKeyTwice(Diagnostic):
    """A variable that occurs twice in the key of a group_by."""

    title: ClassVar[str] = "`{name}` occurs twice in the key of this group_by"
    name: str


@declared(kw_only=True)
class GroupByArguments(Diagnostic):
    """A group_by with a wrong number of arguments."""

    title: ClassVar[str] = "group_by takes two arguments: the value and the key"


@declared(kw_only=True)
class GroupByTwice(Diagnostic):
    """More than one group_by in a clause."""

    title: ClassVar[str] = "a clause can have only one group_by"
    suggestion: ClassVar[str] = "give each a clause of its own: a later one groups what an earlier one gives"


@declared(kw_only=True)
class GroupByOutsideRule(Diagnostic):
    """A group_by in a function, a head or a fact."""

    title: ClassVar[str] = "group_by is only allowed in a clause `var g = value.group_by(key)` of a rule"


@declared(kw_only=True)
class FlatMapPlace(Diagnostic):
    """A FlatMap that is not the right side of `=` in a clause."""

    title: ClassVar[str] = "FlatMap is only allowed in a clause `var x = FlatMap(collection)` of a rule"


@declared(kw_only=True)
class AggregatePlace(Diagnostic):
    """An Aggregate that is not the right side of `=` in a clause."""

    title: ClassVar[str] = (
        "Aggregate is only allowed in a clause `var x = Aggregate((keys), f(value))` of a rule"
    )


@declared(kw_only=True)
class HeadModifier(Diagnostic):
    """A head that is negated or bound to a name."""

    title: ClassVar[str] = "a head cannot be negated or bound to a name: write `Relation(values)`"


@declared(kw_only=True)
class KeyNotInput(Diagnostic):
    """A primary key of a relation that is not an input relation."""

    title: ClassVar[str] = "relation `{name}` cannot have a primary key: it is not an input relation"
    name: str


@declared(kw_only=True)
class IndexUnbound(Diagnostic):
    """A variable of an index that its pattern does not bind."""

    title: ClassVar[str] = "variable `{name}` of the index does not occur in its pattern"
    suggestion: ClassVar[str] = "write `{name}` in the pattern, at the column that the index looks up"
    name: str


@declared(kw_only=True)
class IndexBindsMore(Diagnostic):
    """A variable in the pattern of an index that is not a variable of the index."""

    title: ClassVar[str] = "`{name}` is not a variable of the index"
    suggestion: ClassVar[str] = "declare it between the index's parentheses, or write `_` for any value"
    name: str


@declared(kw_only=True)
class IndexOnStream(Diagnostic):
    """An index on a stream."""

    title: ClassVar[str] = "stream {name} cannot have an index: it has no contents between transactions"
    name: str


@declared(kw_only=True)
class IndexOnDelayed(Diagnostic):
    """An index on an earlier state of a relation."""

    title: ClassVar[str] = "`{what}` cannot have an index: an index reads the current contents of a relation"
    what: str


@declared(kw_only=True)
class NegatedBinder(Diagnostic):
    """A negated term that is bound to a name: `not v in R(..)`."""

    title: ClassVar[str] = "a negated term cannot bind `{name}`"
    name: str


@declared(kw_only=True)
class RelationAsType(Diagnostic):
    """`relation[T]` as the type of a value."""

    title: ClassVar[str] = "a relation is not a value: only a transformer takes relations"


@declared(kw_only=True)
class TransformerPorts(Diagnostic):
    """An application of a transformer with too many or too few inputs or outputs."""

    title: ClassVar[str] = "transformer {name} has {wanted}, not {given}"
    name: str
    wanted: str
    given: int


@declared(kw_only=True)
class TransformerInput(Diagnostic):
    """An expression in place of a relation."""

    title: ClassVar[str] = "input {name} of a transformer must be the name of a relation"
    name: str


@declared(kw_only=True)
class TransformerOutput(Diagnostic):
    """An output of a transformer that is not a relation."""

    title: ClassVar[str] = "output {name} of a transformer must be a relation"
    suggestion: ClassVar[str] = "write `{name}: relation[T]`"
    name: str


@declared(kw_only=True)
class TransformedHead(Diagnostic):
    """A rule, or a second transformer, for the output of a transformer."""

    title: ClassVar[str] = "relation {name} is the output of a transformer: nothing else can add to it"
    name: str


@declared(kw_only=True)
class Product(Diagnostic):
    """A rule that combines every row of one term with every row of another."""

    severity: ClassVar[str] = "warning"
    title: ClassVar[str] = "every row of `{right}` is combined with every row of `{left}`"
    suggestion: ClassVar[str] = (
        "let them share a variable, or relate them by a condition such as `==`; "
        "`#[product]` before the rule says that all pairs are meant"
    )
    left: str
    right: str
