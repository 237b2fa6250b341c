"""From phrases of the grammar to nodes of the tree: for each rule or alias a method, or a class in `_NODES`.

A method gets the place of its phrase if its first parameter is `span`, then the values of its parts: nodes,
tuples, tokens, None for an optional part that is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..syntax.digits import to_int
from ..syntax.reductions import Build, reduction
from ..syntax.tables import Production
from . import syntax as ast
from .lexer import Lexeme

TESTS = {"match": 2, "contains": 2}
_LATTICE = (
    "`R(x, @lub(v, w)) :- R(x, v), R(x, w).` and `R(x, v) <= R(x, w) :- w = @lub(v, w).` keep one row of R "
    "for each `x`, with the least upper bound of its values"
)


class SouffleActions:
    """Builds the tree from tokens; `found` are the errors in it that are not about grammar."""

    def __init__(self, tokens: Sequence[Lexeme]) -> None:
        self.tokens = tokens
        self.found: list[Diagnostic] = []

    def reduction(self, production: Production) -> Build | None:
        """The function that builds the node of a phrase from the number of its first token, that of the token
        after it, and the values of its symbols."""
        action = getattr(self, production.action, None)
        node = _NODES.get(production.action)
        if node is not None:
            action = lambda span, *parts: node(span, *map(_plain, parts))  # noqa: E731
        return reduction(production, action, self._span)

    def _span(self, start: int, end: int) -> Span:
        if start >= end:
            return self.tokens[0].span
        first, last = self.tokens[start], self.tokens[end - 1]
        if first.places is not last.places:
            return first.span
        return first.places.span(first.start, last.end)

    def program(self, *items: Any) -> tuple[ast.Item, ...]:
        return _flat(items)

    def listing(self, *items: Any) -> tuple[Any, ...]:
        return items

    # ------------------------------------------------------------- relations

    def relation_decl(
        self, span: Span, names: Any, attributes: Any, words: Any
    ) -> tuple[ast.SouffleRelation, ...]:
        return tuple(ast.SouffleRelation(name.span, name.value, attributes or (), words) for name in names)

    def delta_decl(self, span: Span, names: Any, word: Lexeme, of: Lexeme) -> ast.Ignored:
        """`.decl New = debug_delta(R)`: the rows of R that a round of Soufflé's evaluation has found."""
        why = "rounds are not those of Soufflé"
        self.found.append(errors.CannotTranslate(what=f"`{word.value}`", why=why, span=word.span))
        return ast.Ignored(span, "")

    def choice(self, span: Span, *domains: Any) -> ast.Qualifier:
        listed = (
            each if isinstance(each, tuple) and not isinstance(each, Lexeme) else (each,) for each in domains
        )
        return ast.Qualifier(span, "choice-domain", _plain(tuple(listed)))

    def directive(self, span: Span, word: str, targets: Any) -> tuple[ast.Directive | ast.Ignored, ...]:
        if word == ".debug_delta":
            return (ast.Ignored(span, ".debug_delta has no meaning here and is left out"),)
        made: list[ast.Directive] = []
        given: Any = ()  # those of a target hold for the targets before it that have none
        for name, parameters in reversed(targets):
            given = given if parameters is None else parameters
            made.append(ast.Directive(name.span, word.removeprefix("."), name.value, given))
        return tuple(reversed(made))

    def pragma(self, span: Span, key: Lexeme, value: Lexeme | None) -> ast.Ignored:
        return ast.Ignored(span, f'.pragma "{key.value}" has no meaning here and is left out')

    def functor(
        self, span: Span, name: Lexeme, args: Any, result: Lexeme, stateful: str | None
    ) -> ast.FunctorDecl:
        return ast.FunctorDecl(span, name.value, args or (), result.value, stateful is not None)

    def functor_args(self, span: Span, *args: Lexeme | ast.TypedName) -> tuple[str, ...]:
        return tuple(arg.type if isinstance(arg, ast.TypedName) else arg.value for arg in args)

    def lattice(self, span: Span, name: Lexeme, *operators: Any) -> ast.Ignored:
        self.found.append(errors.CannotTranslate(what="a lattice", span=name.span, help=_LATTICE))
        return ast.Ignored(span, "")

    # ------------------------------------------------------------ components

    def component(self, span: Span, type: Any, bases: Any, *items: Any) -> ast.ComponentDecl:
        return ast.ComponentDecl(span, type, bases or (), _flat(items))

    # ----------------------------------------------------------------- rules

    def rule(self, span: Span, heads: Any, body: Any = None, plan: Span | None = None) -> ast.SouffleRule:
        return ast.SouffleRule(span, self._heads(heads), self._term(body), plan)

    def subsumption(
        self, span: Span, less: Any, more: Any, body: Any, plan: Span | None
    ) -> ast.Subsumption | ast.Ignored:
        atoms = self._heads((less, more))
        if len(atoms) != 2:
            return ast.Ignored(span, "")
        if atoms[0].name != atoms[1].name:
            self.found.append(errors.TwoRelations(less=atoms[0].name, more=atoms[1].name, span=atoms[1].span))
        return ast.Subsumption(span, *atoms, self._term(body), plan)

    def plan(self, span: Span, *items: Any) -> Span:
        return span

    def _heads(self, heads: tuple[ast.Expr, ...]) -> tuple[ast.Predicate, ...]:
        atoms = []
        for head in heads:
            if isinstance(head, ast.FunctorCall):
                atoms.append(ast.Predicate(head.span, head.name, head.args))
            else:
                self.found.append(errors.NotAHead(span=head.span))
        return tuple(atoms)

    def conjunction(self, span: Span, *terms: Any) -> ast.And:
        return ast.And(span, terms)

    def disjunction(self, span: Span, *terms: Any) -> ast.Or:
        return ast.Or(span, terms)

    def compare(self, span: Span, left: Any, op: str, right: Any) -> ast.Compare:
        return ast.Compare(span, op, self._value(left), self._value(right))

    def proposition(self, span: Span, expr: ast.Expr) -> ast.Term:
        """An expression as a term of a body, or as it stands when parentheses may make it a value."""
        match expr:
            case ast.BracketedBody(_, body):
                return body
            case ast.FunctorCall(_, name, args) if name in TESTS:
                return ast.Test(span, name, args)
            case ast.FunctorCall(_, name, args):
                return ast.Predicate(span, name, args)
        return ast.Bare(span, expr)

    def _term(self, term: ast.Term) -> ast.Term:
        """A body without values in it."""
        match term:
            case ast.Bare():
                self.found.append(errors.NotATerm(span=term.span))
            case ast.And(span, terms):
                return ast.And(span, tuple(map(self._term, terms)))
            case ast.Or(span, terms):
                return ast.Or(span, tuple(map(self._term, terms)))
            case ast.Not(span, inner):
                return ast.Not(span, self._term(inner))
        return term

    def _value(self, expr: ast.Expr) -> ast.Expr:
        """A value: parentheses hold no body."""
        if not isinstance(expr, ast.BracketedBody):
            return expr
        match expr.body:
            case ast.Bare(_, value):
                return self._value(value)
            case ast.Predicate(span, name, args) | ast.Test(span, name, args):
                return ast.FunctorCall(span, name, args)
        self.found.append(errors.NotAValue(span=expr.span))
        return ast.Unnamed(expr.span)

    def _values(self, exprs: tuple[ast.Expr, ...] | None) -> tuple[ast.Expr, ...]:
        return tuple(map(self._value, exprs or ()))

    # ----------------------------------------------------------- expressions

    def variable(self, span: Span, name: Lexeme) -> ast.Named:
        if name.value == "__ITERATION__":
            self._no_rounds(span, name.value)
        return ast.Named(span, name.value)

    def _no_rounds(self, span: Span, what: str) -> None:
        why = "a recursion here is what it is when nothing changes any more, whatever its rounds were"
        self.found.append(errors.CannotTranslate(what=f"`{what}`", why=why, span=span))

    def number(self, span: Span, token: Lexeme) -> ast.Number:
        text = token.value.removesuffix("u")
        base = {"0x": 16, "0b": 2}.get(text[:2], 10)
        kind = "unsigned" if token.value.endswith("u") else ""
        return ast.Number(span, to_int(text) if base == 10 else int(text, base), kind, base == 10)

    def boolean(self, span: Span, token: Lexeme) -> ast.Boolean:
        return ast.Boolean(span, token.value == "true")

    def branch_value(self, span: Span, name: Lexeme, items: Any) -> ast.Branch:
        return ast.Branch(span, name.value.removeprefix("$"), self._values(items))

    def record(self, span: Span, items: Any) -> ast.RecordValue:
        return ast.RecordValue(span, self._values(items))

    def cast(self, span: Span, value: Any, type: Lexeme) -> ast.TypeCast:
        return ast.TypeCast(span, self._value(value), type.value)

    def user_call(self, span: Span, name: Lexeme, args: Any) -> ast.UserCall:
        return ast.UserCall(span, name.value, self._values(args))

    def call(self, span: Span, name: Lexeme, args: Any) -> ast.FunctorCall | ast.Counter | ast.Unnamed:
        if name.value == "autoinc":
            return ast.Counter(span)
        if name.value == "recursive_iteration_cnt":
            self._no_rounds(span, name.value)
            return ast.Unnamed(span)
        return ast.FunctorCall(span, name.value, self._values(args))

    def extremum_call(self, span: Span, name: str, first: Any, rest: Any) -> ast.FunctorCall:
        return ast.FunctorCall(span, name, self._values((first, *rest)))

    def count(self, span: Span, body: Any) -> ast.Aggregator:
        return ast.Aggregator(span, "count", None, self._term(body))

    def aggregate(self, span: Span, word: str, target: Any, body: Any) -> ast.Aggregator:
        return ast.Aggregator(span, word, self._value(target), self._term(body))

    def parentheses(self, span: Span, body: ast.Term) -> ast.Expr:
        return body.value if isinstance(body, ast.Bare) else ast.BracketedBody(span, body)

    def sign(self, token: Lexeme) -> str:
        return token.value

    def caret(self, token: Lexeme) -> str:
        return "^"

    lor = lxor = land = bor = bxor = band = shift = additive = multiplicative = minus = sign
    stateful = complement = summary = extremum = comparison = sign
    directive_word = parameter_word = parameter_value = sign

    def binary(self, span: Span, left: Any, sign: str, right: Any) -> ast.Operation:
        return ast.Operation(span, sign, self._values((left, right)))

    def prefixed(self, span: Span, sign: str, value: Any) -> ast.Expr:
        if sign == "-" and isinstance(value, ast.Number) and not value.kind:
            return ast.Number(span, -value.value, "", value.exact)
        return ast.Operation(span, sign, self._values((value,)))


# The nodes of phrases whose parts are the fields.
_NODES: dict[str, Callable[..., Any]] = {
    "symbol_type": partial(ast.AliasType, bases=("symbol",)),
    "number_type": partial(ast.AliasType, bases=("number",)),
    "union_type": ast.AliasType,
    "record_type": ast.RecordType,
    "branch_type": ast.BranchType,
    "branch": ast.BranchDecl,
    "attribute": ast.TypedName,
    "word": ast.Qualifier,
    "component_type": ast.ComponentType,
    "init": ast.Init,
    "override": ast.Override,
    "negation": ast.Not,
    "true": partial(ast.Truth, value=True),
    "false": partial(ast.Truth, value=False),
    "wildcard": ast.Unnamed,
    "floating": ast.Real,
    "text": ast.Text,
    "nil": ast.Nil,
    "counter": ast.Counter,
}


def _flat(items: tuple[Any, ...]) -> tuple[ast.Item, ...]:
    """The declarations; some phrases make several."""
    return tuple(each for item in items for each in (item if isinstance(item, tuple) else (item,)))


def _plain(part: Any) -> Any:
    """A part of a phrase as a field of its node: tokens are texts, and absent lists are empty."""
    if isinstance(part, Lexeme):
        return part.value
    if isinstance(part, tuple):
        return tuple(map(_plain, part))
    return () if part is None else part
