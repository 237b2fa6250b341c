"""Rules that an application stands for, written in place of it."""

from __future__ import annotations

import dataclasses

from .. import core, syntax
from ..errors.source import Span
from ..names.environment import Environment


class RuleWriter:
    """Writes the rules of one application, all of them at its place."""

    def __init__(self, environment: Environment, apply: syntax.ApplyDecl) -> None:
        self.environment, self.apply = environment, apply
        self.span: Span = apply.span
        self.rules: list[syntax.RuleDecl] = []

    def name(self, name: str) -> syntax.Expr:
        """A variable or a function."""
        return syntax.Name(name, self.span)

    def atom(
        self, relation: str, element: syntax.Expr, differentiated: bool = False, delay: int | None = None
    ) -> syntax.Atom:
        """`R[element]`"""
        return syntax.Atom(
            relation, None, element, self.span, self.span, differentiated=differentiated, delay=delay
        )

    def atom_of(self, relation: str, *columns: syntax.Expr) -> syntax.Atom:
        """`R(columns)`"""
        given = tuple(syntax.Argument(None, each, self.span) for each in columns)
        return syntax.Atom(relation, given, None, self.span, self.span)

    def rule(self, head: syntax.Atom, *body: syntax.Clause) -> None:
        """Adds a rule."""
        self.rules.append(syntax.RuleDecl((head,), body, (), self.span))

    def copied(self, source: core.Relation, name: str, to: core.Relation) -> None:
        """Adds the rule that copies the rows of a relation to another, `name`: by columns if these are alike
        and the relations are not declared with one type."""
        alike = source.columns == to.columns and None not in (source.constructor, to.constructor)
        if source.record == to.record or not alike:
            self.rule(self.atom(name, self.name("row")), self.atom(source.name, self.name("row")))
            return
        columns = [self.name(f"column{place}") for place in range(len(to.columns))]
        self.rule(self.atom_of(name, *columns), self.atom_of(source.name, *columns))

    def let(self, target: syntax.Expr, value: syntax.Expr) -> syntax.Clause:
        """`target = value`"""
        return syntax.Condition(syntax.Assign(target, value, self.span), self.span)

    def call(self, function: str, *args: syntax.Expr) -> syntax.Expr:
        """`function(args)`"""
        return syntax.Call(self.name(function), args, self.span)

    def hidden(self, like: core.Relation, what: str, window: core.WindowRelation, kind: str) -> core.Relation:
        """Makes a hidden relation of rows like those of another."""
        name = f"{like.name}${what}_{self.span.line}_{self.span.column}"
        made = dataclasses.replace(
            like, name=name, role="internal", kind=kind, key=None, span=self.span, original="", past=None,
            window=window,
        )  # fmt: skip
        self.environment.made[name] = self.environment.relations[name] = made
        return made
