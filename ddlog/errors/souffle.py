"""Errors in a Soufflé program, and constructs of it without a counterpart in this language."""

from __future__ import annotations

from .diagnostics import Diagnostic


class CannotTranslate(Diagnostic):
    """A construct whose meaning has no counterpart here."""

    title = "{what} cannot be translated{why:: %}"
    what: str
    why: str = ""


class Ungrounded(Diagnostic):
    """A variable that nothing in a clause binds."""

    title = "variable `{name}` is not grounded: nothing in this {where} binds it"
    name: str
    where: str = "rule"


class UnnamedValue(Diagnostic):
    """`_` where a value is needed."""

    title = "`_` has no value here"
    suggestion = "`_` can only be a column of a term, or a part of a record in a term"


class DeclaredTwice(Diagnostic):
    """A second declaration of a name."""

    title = "{what} `{name}` is already declared"
    what: str
    name: str


class WrongNumber(Diagnostic):
    """Too few or too many arguments."""

    title = "{what} takes {expected}, found {given}"
    what: str
    expected: str
    given: int


class TypeClash(Diagnostic):
    """An expression with the wrong type for its place."""

    title = "type clash: this is of type {found}, and {wanted} is needed here"
    found: str
    wanted: str


class UnknownShape(Diagnostic):
    """A record whose type no other term determines."""

    title = "the type of this {what} cannot be told from the rule"
    suggestion = "give it a type with `as(..., T)`"
    what: str


class ConstantTooLarge(Diagnostic):
    """An integer that its type does not hold."""

    title = "the constant {value} does not fit the type `{kind}` of {word} bits"
    suggestion = "a program for 64 bits is imported with `--word 64`"
    value: int
    kind: str
    word: int


class NotATerm(Diagnostic):
    """A value where a term of a body is needed."""

    title = "this is a value, not a term of a body"
    suggestion = "a term is `relation(...)`, a comparison, `match(p, s)` or `contains(a, b)`"


class NotAValue(Diagnostic):
    """A body where a value is needed."""

    title = "this is a part of a body, not a value"


class OtherAggregates(Diagnostic):
    """A rule of FlowLog whose head has other aggregates than those of the relation's other rules."""

    title = "the rules of {name} have different aggregates in their heads"
    suggestion = "each column has one aggregate, or none, in all rules of a relation"
    name: str


class NotAHead(Diagnostic):
    """A head that is not an atom."""

    title = "a head must be a term: `relation(values)`"


class BadDirective(Diagnostic):
    """A faulty line for the preprocessor, or a faulty `.include`."""

    title = "`{shown}`: {problem}"
    word: str
    problem: str

    @property
    def shown(self) -> str:
        """The word as it is written."""
        return self.word if self.word.startswith(".") else f"#{self.word}"


class BadMacroUse(Diagnostic):
    """A macro with parameters that is used in another way."""

    title = "macro `{name}`: {problem}"
    name: str
    problem: str


class UnclosedSouffleComment(Diagnostic):
    """A block comment without an end."""

    title = "this comment has no closing `*/`"
    label = "opened here"


class UnclosedText(Diagnostic):
    """A string without an end."""

    title = "this string does not end on its line"
    label = "opened here"


class NothingToOverride(Diagnostic):
    """An `.override` of a relation that no base declares overridable."""

    title = "there is no relation `{name}` to override"
    suggestion = "a base must declare the relation `overridable`"
    name: str


class BadComponent(Diagnostic):
    """A component that cannot be instantiated."""

    title = "component `{name}`: {problem}"
    name: str
    problem: str


class ProgramOfSouffle(Diagnostic):
    """A program of Soufflé where one of this language is expected."""

    title = "{name} is a program of Soufflé"
    suggestion = (
        "`ddlog import-souffle {name} --run` runs it; with `-o OUT.dl` in place of `--run` it is translated"
    )
    name: str


class ProgramOfFlowlog(Diagnostic):
    """A program of FlowLog where one of Soufflé is expected."""

    title = "{name} is a program of FlowLog"
    suggestion = "`ddlog import-souffle {name} --dialect flowlog` takes it"
    name: str


class Unstratified(Diagnostic):
    """A negation, or an aggregate that must know all its rows, inside a recursion."""

    title = "this {what} is inside a recursion of {cycle}"
    suggestion = "it must know all rows of {cycle} before it has a value"
    what: str
    cycle: str


class BadParameter(Diagnostic):
    """A parameter of an `.input` or `.output` with a value of the wrong form."""

    title = "{key}={value}: expected {expected}"
    key: str
    value: str
    expected: str


class NoFactFile(Diagnostic):
    """An absent file of an `.input`."""

    title = "{path}: there is no such file, and the facts of {relation} are read from it"
    suggestion = "-F gives the folder of fact files; a relation without facts has an empty file"
    path: str
    relation: str


class NotInDatabase(Diagnostic):
    """A relation that a database of facts or results does not hold."""

    title = "{path}: {problem}"
    path: str
    problem: str


class TwoRelations(Diagnostic):
    """A subsumption between rows of two relations."""

    title = "a subsumption is between rows of one relation, not of `{less}` and `{more}`"
    less: str
    more: str


class NoLimit(Diagnostic):
    """A `.limitsize` without a limit."""

    title = "`.limitsize` needs a number of rows: `.limitsize r(n=10)`"
