"""The state of checking one function body, rule or query: scopes, types so far, open questions.

The essay at the head of the package tells how inference and questions work together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from .. import core, errors, syntax
from ..errors.diagnostics import Diagnostic, Note
from ..errors.source import Span
from ..names.environment import Environment, digest
from ..names.signatures import DeclaredSignature, readable
from ..syntax.foreign import GROUPED, value_hint
from ..types import UNIT, BigInt, Bit, Float, Signed, Type, TypeVar, User
from ..types.unify import LiteralSort, Substitution, is_unknown, substitute, type_variables
from .questions import OpenQuestions, Question

DEEPEST = 150  # levels of expressions and patterns within others


class Border(Enum):
    """The edge of a scope that may read the variables around it, and change none of them."""

    CLOSURE = "closure"
    CONDITION = "condition"


@dataclass(slots=True, eq=False)
class Local:
    """A variable in scope. `name` is unique in the body; `path` is the part of another variable
    that a match binds it to, which an assignment to it changes too. `iterated` says that it would be mutable
    if there were no loop over it around; `beyond` is the border of a scope that it is read across."""

    name: str
    type: Type
    span: Span
    mutable: bool = False
    used: bool = False
    mutated: bool = False
    iterated: bool = False
    path: Typed | None = None
    beyond: Border | None = None


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression whose type is being inferred. `build` may be called once all is solved. `place` is the
    variable that this is, or is a part of. `decided` has the meaning of an undecided expression as soon as it
    is known; it may turn out that this is no part of `place`."""

    type: Type
    span: Span
    build: Callable[[], core.Expr]
    place: Local | None = None
    decided: Sequence[Typed] | None = None

    @property
    def settled(self) -> Typed:
        """The expression as far as it is decided."""
        return self.decided[0].settled if self.decided else self


@dataclass(slots=True)
class Scope:
    """The variables of a block. `captured` are the variables around a closure that it reads, by their unique
    names, each as it is outside."""

    outer: Scope | None = None
    locals: dict[str, Local] = field(default_factory=dict)
    border: Border | None = None
    captured: dict[str, Typed] = field(default_factory=dict)

    def find(self, name: str) -> Local | None:
        """The innermost variable of the name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.locals:
                return scope.locals[name]
            scope = scope.outer
        return None

    def beyond(self, name: str) -> Scope | None:
        """The innermost scope with a border between this scope and the variable."""
        scope: Scope | None = self
        while scope is not None and name not in scope.locals:
            if scope.border is not None:
                return scope
            scope = scope.outer
        return None

    def names(self) -> set[str]:
        """All names in scope."""
        return set(self.locals) | (self.outer.names() if self.outer else set())

    def inner(self) -> Scope:
        """A scope within this one."""
        return Scope(self)


class FunctionInstances(Protocol):
    """The functions that the bodies of a program need."""

    def demand(self, signature: DeclaredSignature, types: tuple[Type, ...]) -> str:
        """The key of an instance of a declared function."""

    def lift(self, function: core.Function, captured: int, text: str) -> str:
        """The key of the function that a closure is: its first parameters are `captured` values."""


class Context:
    """The state of checking one body."""

    def __init__(
        self,
        environment: Environment,
        module: str,
        instances: FunctionInstances,
        *,
        result: Type | None = None,
        type_arguments: Mapping[str, Type] | None = None,
        recursive: Callable[[], bool] = lambda: False,
        plain: Callable[[syntax.Expr, Type], core.Const | None] = lambda expr, of: None,
    ) -> None:
        self.environment = environment
        self.module = module
        self.instances = instances
        self.result = result
        self.recursive = recursive
        self.type_arguments = dict(type_arguments or {})
        self.substitution = Substitution()
        self.diagnostics: list[Diagnostic] = []
        self.failed = bool(environment.diagnostics)
        self.loops = 0
        self.depth = 0
        self.too_deep = False
        self.in_rule = result is None
        self.in_head = False
        self.auxiliary: list[tuple[core.Relation, core.Rule]] = []
        self.forgotten: set[str] = set()
        self.bound_later: dict[str, Span] = {}
        self.left_out: set[Span] = set()  # ends of ranges, which need not be values of their type
        self.replaced: dict[int, Typed] = {}
        self.plain = plain
        self._settling = False  # nothing more will be learnt: what fails now may follow from an error
        self._questions = OpenQuestions(self.substitution)
        self._literals: dict[str, int | None] = {}  # by the unknown
        self._checks: list[Callable[[], None]] = []
        self._names: dict[str, int] = {}
        self._unknown: dict[str, Diagnostic] = {}

    # ------------------------------------------------------------ diagnostics

    def report(self, diagnostic: Diagnostic) -> None:
        """Notes an error or warning."""
        self.diagnostics.append(diagnostic)
        self.failed = self.failed or diagnostic.severity == "error"

    def fail(self, diagnostic: Diagnostic) -> Typed:
        """Notes an error about an expression; the expression then fits anywhere."""
        self.report(diagnostic)
        assert diagnostic.span is not None
        return self.poison(diagnostic.span)

    def poison(self, span: Span) -> Typed:
        """An expression of unknown type, after an error; it causes no further errors."""
        return Typed(self.fresh(), span, lambda: core.MakeTuple((), UNIT, span))

    def unknown_variable(self, name: str, span: Span, scope: Scope) -> Diagnostic:
        """The error for a variable that is not in scope: that of its first use."""
        if name not in self._unknown:
            self._unknown[name] = self._first_unknown(name, span, scope)
        return self._unknown[name]

    def _first_unknown(self, name: str, span: Span, scope: Scope) -> Diagnostic:
        if name == "round" and core.loops_around(self.environment.loops, span):
            return errors.loops.RoundValue(span=span)
        if self.in_head and name not in self.forgotten:
            hint = value_hint(name) or self.environment.suggest(name, scope.names())
            return errors.rules.UnboundHead(span=span, name=name, help=hint)
        if name in self.forgotten:
            return errors.rules.NotVisibleAfterGroup(span=span, name=name)
        if name in self.bound_later:
            notes = (Note("bound here", self.bound_later[name]),)
            return errors.rules.UnboundVariable(span=span, name=name, notes=notes)
        help_ = value_hint(name) or self.environment.suggest(name, scope.names())
        return errors.names.UnknownVariable(span=span, name=name, help=help_)

    # ------------------------------------------------------------------ names

    def enter(self, span: Span) -> bool:
        """Counts one more level of expressions or patterns, and returns True; if there are too many, reports
        that once, and returns False."""
        if self.depth < DEEPEST:
            self.depth += 1
            return True
        if not self.too_deep:
            self.report(errors.types.ExpressionTooDeep(span=span, limit=DEEPEST))
        self.too_deep = True
        return False

    def unique(self, name: str) -> str:
        """The name, or the name with a number if the body has it already."""
        count = self._names[name] = self._names.get(name, 0) + 1
        return name if count == 1 else f"{name}${count}"

    def temporary(self) -> str:
        """A name that no source has."""
        count = self._names[""] = self._names.get("", 0) + 1
        return f"${count}"

    def declare(self, scope: Scope, name: str, type_: Type, span: Span, *, mutable: bool = False) -> Local:
        """A new variable of the scope."""
        local = scope.locals[name] = Local(self.unique(name), type_, span, mutable)
        return local

    def place(self, span: Span, *types: Type) -> str:
        """A name for what stands at a place of the program and is of these types: names are in the order of
        places, and two programs, instances of a function or queries do not share one."""
        text = "" if span.source == self.environment.modules[self.module].source else span.source.text
        detail = (text, *map(str, self.type_arguments.values()), "", *map(str, types))
        place = f"{self.module}:{span.line:06}:{span.column:04}"
        return f"{self.environment.digest}:{place}:{digest(detail)}"

    def lift(self, function: core.Function, captured: int, text: str) -> str:
        """The key of the function that a closure is. A body that is checked for all types needs none."""
        if any(map(type_variables, self.type_arguments.values())):
            return function.key
        return self.instances.lift(function, captured, text)

    # ------------------------------------------------------------------ types

    def fresh(self, literal: LiteralSort | None = None) -> TypeVar:
        """A new unknown type."""
        return self.substitution.fresh(literal)

    def literal(self, sort: LiteralSort, value: int | None) -> Type:
        """The type of a literal without context; `value` is that of an integer literal."""
        unknown = self.fresh(sort)
        self._literals[unknown.name] = value
        return unknown

    def know(self, type_: Type) -> Type:
        """The type as far as its outermost part is known."""
        return self.substitution.shallow(type_)

    def is_open(self, type_: Type) -> bool:
        """Whether the type is unknown, and not known to be a number either."""
        known = self.know(type_)
        return is_unknown(known) and self.substitution.literal(known) is None

    def final(self, type_: Type) -> Type:
        """The type when all is solved; a part that nothing has fixed is the unit type."""
        resolved = self.substitution.resolve(type_)
        unknown = [name for name in type_variables(resolved) if name.startswith("?")]
        for name in unknown:
            self.substitution.unify(TypeVar(name), UNIT)
        return self.substitution.resolve(resolved) if unknown else resolved

    def show(self, type_: Type) -> str:
        """The type for a message."""
        return readable(self.substitution.show(type_))

    def expect(self, value: Typed, expected: Type, help: str = "") -> None:
        """Demands a type of an expression."""
        self.agree(value.span, value.type, expected, help)

    def agree(self, span: Span, actual: Type, expected: Type, help: str = "") -> bool:
        """Unifies the types, or reports that they differ, with `help` as a hint; whether they are equal."""
        if self.substitution.unify(actual, expected):
            return True
        if self._settling and self.failed:
            return False
        shown = self.show(expected), self.show(actual)
        help = help or (
            GROUPED if shown[0].startswith("Group<") else _conversion(*map(self.know, (actual, expected)))
        )
        self.report(errors.types.TypeMismatch(span=span, expected=shown[0], actual=shown[1], help=help))
        return False

    def written(self, type_: syntax.Type) -> Type:
        """A type written in the body."""
        before = len(self.environment.diagnostics)
        converted = self.environment.convert(type_, self.module, frozenset(self.type_arguments))
        self.failed = self.failed or len(self.environment.diagnostics) > before
        return substitute(converted, self.type_arguments)

    def constructors(self, type_: User) -> list[tuple[str, tuple[tuple[str, Type], ...]]]:
        """The constructors of a type with the types of their fields."""
        return self.environment.constructors_of(type_)

    # -------------------------------------------------------------- questions

    def ask(self, question: Question) -> None:
        """Decides the question now, or as soon as it can be."""
        self._questions.ask(question)

    def undecided(
        self, span: Span, decide: Callable[[bool], Typed | None], place: Local | None = None
    ) -> Typed:
        """An expression whose meaning hangs on types that may be known only later; `place` is what it may be
        a part of."""
        now = decide(False)
        if now is not None:
            return now
        result = self.fresh()
        decided: list[Typed] = []

        def ask(final: bool) -> bool:
            found = decide(final)
            if found is None:
                return False
            if not self.substitution.unify(found.type, result) and not (final and self.failed):
                self.agree(span, found.type, result)
            decided.append(found)
            return True

        self.ask(ask)
        return Typed(result, span, lambda: decided[0].build(), place, decided)

    def later(self, check: Callable[[], None]) -> None:
        """A check to do when all types are known."""
        self._checks.append(check)

    def progress(self) -> None:
        """Decides whatever can be decided by now."""
        self._questions.progress()

    def solve(self) -> None:
        """Decides all open questions; reports each that cannot be decided."""
        self._questions.progress_of_all()
        self._settling = True
        self._default_literals()
        self._questions.progress_of_all()
        while self._questions:
            self._questions.force_first()
            self.progress()
        self._default_literals()
        if not self.failed:
            for check in self._checks:
                check()
        self._checks.clear()

    def _default_literals(self) -> None:
        for name in list(self._literals):
            known = self.know(TypeVar(name))
            if isinstance(known, TypeVar) and is_unknown(known):
                self.substitution.unify(known, self._default(known))
                self.progress()

    def _default(self, unknown: TypeVar) -> Type:
        if self.substitution.literal(unknown) is LiteralSort.FLOAT:
            return Float(64)
        values = (self._literals.get(name) for name in self.substitution.same_as(unknown))
        return default_integer(value for value in values if value is not None)


def default_integer(values: Iterable[int]) -> Type:
    """The type of integer literals that nothing else decides."""
    least, greatest = min(values := [0, *values]), max(values)
    choices: tuple[Type, ...] = (Signed(64), Signed(128)) if least < 0 else (Bit(64), Bit(128))
    return next((type_ for type_ in choices if fits(least, type_) and fits(greatest, type_)), BigInt())


def fits(value: int, type_: Type) -> bool:
    """Whether the integer is a value of the type."""
    match type_:
        case Bit(width):
            return 0 <= value < 1 << width
        case Signed(width):
            return -(1 << width - 1) <= value < 1 << width - 1
        case _:
            return True


def unit(span: Span) -> Typed:
    """The empty tuple."""
    return Typed(UNIT, span, lambda: core.MakeTuple((), UNIT, span))


def _conversion(actual: Type, expected: Type) -> str:
    """The help that an integer of another type can be converted; empty for other types."""
    match actual, expected:
        case Bit(other), Signed(width) if width != other:
            return f"`(x as {Bit(width)}) as {expected}` converts it"
        case Signed(other), Bit(width) if width != other:
            return f"`(x as {Signed(width)}) as {expected}` converts it"
        case ((Bit() | Signed()), (Bit() | Signed() | BigInt())) | (BigInt(), Signed()):
            return f"`x as {expected}` converts it"
    return ""
