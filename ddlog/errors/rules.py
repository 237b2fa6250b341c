"""Errors about relations, rules and queries."""

from __future__ import annotations

from .diagnostics import Diagnostic


class InputHead(Diagnostic):
    """A rule for an input relation."""

    title = "input relation `{name}` cannot have rules: its contents come from outside"
    suggestion = "remove `input` from its declaration, or give the rule another head"
    name: str


class NegatedBinding(Diagnostic):
    """A new variable in a negated term."""

    title = "variable `{name}` is not bound: a negated term binds no variables"
    suggestion = "bind it in a positive term before this one, or write `_`"
    name: str


class UnboundVariable(Diagnostic):
    """A variable used before a term binds it."""

    title = "variable `{name}` is not bound here"
    label = "bound only by a later term"
    suggestion = "terms are read from left to right: move this one after the term that binds `{name}`"
    name: str


class UnboundHead(Diagnostic):
    """A head variable that the body does not bind."""

    title = "head variable `{name}` is not bound in the body of the rule"
    name: str


class NotVisibleAfterGroup(Diagnostic):
    """A variable that a group_by hides, used after the group_by."""

    title = (
        "variable `{name}` is not visible after group_by: only the keys and the result of the group_by are"
    )
    suggestion = "make it a key of the group_by, or part of the grouped value"
    name: str


class GroupByKeys(Diagnostic):
    """Keys of a group_by that are not variables."""

    title = "the key of group_by must be a variable, a tuple of variables or ()"
    suggestion = "define a variable before the group_by: `var k = ...`, then group_by(k)"


class GroupByKeyTwice(Diagnostic):
    """A variable that occurs twice in the key of a group_by."""

    title = "`{name}` occurs twice in the key of this group_by"
    name: str


class GroupByArguments(Diagnostic):
    """A group_by with a wrong number of arguments."""

    title = "group_by takes two arguments: the value and the key"


class GroupByTwice(Diagnostic):
    """More than one group_by in a clause."""

    title = "a clause can have only one group_by"
    suggestion = "give each a clause of its own: a later one groups what an earlier one gives"


class GroupByOutsideRule(Diagnostic):
    """A group_by in a function, a head or a fact."""

    title = "group_by is only allowed in a clause `var g = value.group_by(key)` of a rule"


class FlatMapPlace(Diagnostic):
    """A FlatMap that is not the right side of `=` in a clause."""

    title = "FlatMap is only allowed in a clause `var x = FlatMap(collection)` of a rule"


class AggregatePlace(Diagnostic):
    """An Aggregate that is not the right side of `=` in a clause."""

    title = "Aggregate is only allowed in a clause `var x = Aggregate((keys), f(value))` of a rule"


class KeyNotInput(Diagnostic):
    """A primary key of a relation that is not an input relation."""

    title = "relation `{name}` cannot have a primary key: it is not an input relation"
    name: str


class IndexUnbound(Diagnostic):
    """A variable of an index that its pattern does not bind."""

    title = "variable `{name}` of the index does not occur in its pattern"
    suggestion = "write `{name}` in the pattern, at the column that the index looks up"
    name: str


class IndexBindsMore(Diagnostic):
    """A variable in the pattern of an index that is not a variable of the index."""

    title = "`{name}` is not a variable of the index"
    suggestion = "declare it between the index's parentheses, or write `_` for any value"
    name: str


class IndexOnStream(Diagnostic):
    """An index on a stream."""

    title = "stream {name} cannot have an index: it has no contents between transactions"
    name: str


class IndexOnDelayed(Diagnostic):
    """An index on an earlier state of a relation."""

    title = "`{what}` cannot have an index: an index reads the current contents of a relation"
    what: str


class NegatedBinder(Diagnostic):
    """A negated term that is bound to a name: `not v in R(..)`."""

    title = "a negated term cannot bind `{name}`"
    name: str


class TransformerPorts(Diagnostic):
    """An application of a transformer with too many or too few inputs or outputs."""

    title = "transformer {name} has {wanted}, not {given}"
    name: str
    wanted: str
    given: int


class TransformerInput(Diagnostic):
    """An expression in place of a relation."""

    title = "input {name} of a transformer must be the name of a relation"
    name: str


class TransformerOutput(Diagnostic):
    """An output of a transformer that is not a relation."""

    title = "output {name} of a transformer must be a relation"
    suggestion = "write `{name}: relation[T]`"
    name: str


class TransformedHead(Diagnostic):
    """A rule, or a second transformer, for the output of a transformer."""

    title = "relation {name} is the output of a transformer: nothing else can add to it"
    name: str


class Product(Diagnostic):
    """A rule that combines every row of one term with every row of another."""

    severity = "warning"
    title = "every row of `{right}` is combined with every row of `{left}`"
    suggestion = (
        "let them share a variable, or relate them by a condition such as `==`; "
        "`#[product]` before the rule says that all pairs are meant"
    )
    left: str
    right: str
