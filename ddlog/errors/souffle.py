"""Errors in a Soufflé program, and constructs of it without a counterpart in this language."""

from __future__ import annotations

from typing import ClassVar

from .declared import declared
from .diagnostics import Diagnostic


@declared(kw_only=True)
class CannotTranslate(Diagnostic):
    """A construct whose meaning has no counterpart here."""

    title: ClassVar[str] = "{what} cannot be translated{reason}"
    what: str
    why: str = ""

    @property
    def reason(self) -> str:
        """The reason, after a colon."""
        return f": {self.why}" if self.why else ""


@declared(kw_only=True)
class Ungrounded(Diagnostic):
    """A variable that nothing in a clause binds."""

    title: ClassVar[str] = "variable `{name}` is not grounded: nothing in this {where} binds it"
    name: str
    where: str = "rule"


@declared(kw_only=True)
class UnnamedValue(Diagnostic):
    """`_` where a value is needed."""

    title: ClassVar[str] = "`_` has no value here"
    suggestion: ClassVar[str] = "`_` can only be a column of a term, or a part of a record in a term"


@declared(kw_only=True)
class Unknown(Diagnostic):
    """A name that is not declared."""

    title: ClassVar[str] = "unknown {what} `{name}`"
    what: str
    name: str
    near: str | None = None

    @property
    def hint(self) -> str:
        """The name that was perhaps meant."""
        return f"did you mean `{self.near}`?" if self.near else self.help


@declared(kw_only=True)
class DeclaredTwice(Diagnostic):
    """A second declaration of a name."""

    title: ClassVar[str] = "{what} `{name}` is already declared"
    what: str
    name: str


@declared(kw_only=True)
class WrongNumber(Diagnostic):
    """Too few or too many arguments."""

    title: ClassVar[str] = "{what} takes {expected}, found {given}"
    what: str
    expected: str
    given: int


@declared(kw_only=True)
class TypeClash(Diagnostic):
    """An expression with the wrong type for its place."""

    title: ClassVar[str] = "type clash: this is a {found}, and a {wanted} is needed here"
    found: str
    wanted: str


@declared(kw_only=True)
class UnknownShape(Diagnostic):
    """A record whose type no other term determines."""

    title: ClassVar[str] = "the type of this {what} cannot be told from the rule"
    suggestion: ClassVar[str] = "give it a type with `as(..., T)`"
    what: str


@declared(kw_only=True)
class ConstantTooLarge(Diagnostic):
    """An integer that its type does not hold."""

    title: ClassVar[str] = "the constant {value} does not fit the type `{kind}` of {word} bits"
    suggestion: ClassVar[str] = "a program for 64 bits is imported with `--word 64`"
    value: int
    kind: str
    word: int


@declared(kw_only=True)
class NotATerm(Diagnostic):
    """A value where a term of a body is needed."""

    title: ClassVar[str] = "this is a value, not a term of a body"
    suggestion: ClassVar[str] = "a term is `relation(...)`, a comparison, `match(p, s)` or `contains(a, b)`"


@declared(kw_only=True)
class NotAValue(Diagnostic):
    """A body where a value is needed."""

    title: ClassVar[str] = "this is a part of a body, not a value"


@declared(kw_only=True)
class NotAHead(Diagnostic):
    """A head that is not an atom."""

    title: ClassVar[str] = "a head must be a term: `relation(values)`"


@declared(kw_only=True)
class BadDirective(Diagnostic):
    """A faulty line for the preprocessor, or a faulty `.include`."""

    title: ClassVar[str] = "`{shown}`: {problem}"
    word: str
    problem: str

    @property
    def shown(self) -> str:
        """The word as it is written."""
        return self.word if self.word.startswith(".") else f"#{self.word}"


@declared(kw_only=True)
class BadMacroUse(Diagnostic):
    """A macro with parameters that is used in another way."""

    title: ClassVar[str] = "macro `{name}`: {problem}"
    name: str
    problem: str


@declared(kw_only=True)
class UnclosedComment(Diagnostic):
    """A block comment without an end."""

    title: ClassVar[str] = "this comment has no closing `*/`"
    label: ClassVar[str] = "opened here"


@declared(kw_only=True)
class UnclosedText(Diagnostic):
    """A string without an end."""

    title: ClassVar[str] = "this string does not end on its line"
    label: ClassVar[str] = "opened here"


@declared(kw_only=True)
class NothingToOverride(Diagnostic):
    """An `.override` of a relation that no base declares overridable."""

    title: ClassVar[str] = "there is no relation `{name}` to override"
    suggestion: ClassVar[str] = "a base must declare the relation `overridable`"
    name: str


@declared(kw_only=True)
class BadComponent(Diagnostic):
    """A component that cannot be instantiated."""

    title: ClassVar[str] = "component `{name}`: {problem}"
    name: str
    problem: str


@declared(kw_only=True)
class Unstratified(Diagnostic):
    """A negation inside a recursion."""

    title: ClassVar[str] = "this negation is inside a recursion: {cycle}"
    cycle: str


@declared(kw_only=True)
class TargetOutside(Diagnostic):
    """A variable of an aggregate's target that the rule uses outside it, too."""

    title: ClassVar[str] = "variable `{name}` of this aggregate's value is also used outside it"
    suggestion: ClassVar[str] = "give the two variables different names"
    name: str


@declared(kw_only=True)
class BadParameter(Diagnostic):
    """A parameter of an `.input` or `.output` with a value of the wrong form."""

    title: ClassVar[str] = "{key}={value}: expected {expected}"
    key: str
    value: str
    expected: str


@declared(kw_only=True)
class NoFactFile(Diagnostic):
    """An absent file of an `.input`."""

    title: ClassVar[str] = "{path}: there is no such file, and the facts of {relation} are read from it"
    suggestion: ClassVar[str] = (
        "-F gives the folder of fact files; a relation without facts has an empty file"
    )
    path: str
    relation: str


@declared(kw_only=True)
class NotInDatabase(Diagnostic):
    """A relation that a database of facts or results does not hold."""

    title: ClassVar[str] = "{path}: {problem}"
    path: str
    problem: str


@declared(kw_only=True)
class TwoRelations(Diagnostic):
    """A subsumption between rows of two relations."""

    title: ClassVar[str] = "a subsumption is between rows of one relation, not of `{less}` and `{more}`"
    less: str
    more: str


@declared(kw_only=True)
class NoLimit(Diagnostic):
    """A `.limitsize` without a limit."""

    title: ClassVar[str] = "`.limitsize` needs a number of rows: `.limitsize r(n=10)`"
