"""`.limitsize` in a recursion: its rules stop after the round in which a relation has so many rows.

A round of Soufflé adds to the relations all rows that the rules derive from them, unless one of them has
reached its limit. Here a round gives each relation what its rules say of the round before. So three of ours
are one of Soufflé's, and each relation has three ways to what it is then:

    R  ->  ROld  ->  ROlder             ->  R        its rows stay,
    R  ->  RNew  ->  RNewer             ->  R        its rules add rows,
    R  ->  RCounted  ->  ROpen          ->  R        while there are fewer than the limit.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import syntax
from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from ..syntax.templates import arguments, atom, items, let, name, tree, tuple_type
from .clauses import HornClause, Summary
from .relations import DeclaredRelation, Relations
from .rules import TranslationOutput, row
from .types import column_names


class RecursionLimits:
    """The limits of the recursions of a program."""

    def __init__(self, relations: Relations, output: TranslationOutput) -> None:
        self.relations, self.output = relations, output
        self.limits: dict[int, list[tuple[DeclaredRelation, int, Span]]] = {}
        for each in relations.declared.values():
            for directive in each.directives:
                if directive.what == "limitsize" and each.is_recursive:
                    given = dict(directive.parameters).get("n", "")
                    if not given.isdecimal():
                        self.output.found.append(errors.NoLimit(span=directive.span))
                    else:
                        limit = each, int(given), directive.span
                        self.limits.setdefault(each.cycle, []).append(limit)
        self.new: dict[str, str] = {}
        for cycle in self.limits:
            for each in relations.declared.values():
                if each.cycle == cycle:
                    self.new[each.relation.name] = output.fresh(each.name + "New")

    def is_limited(self, clause: HornClause) -> bool:
        """Whether a clause derives rows of a relation whose recursion has a limit."""
        return any(head.name in self.new for head in clause.heads)

    def head(self, name: str) -> str:
        """The relation of which such a clause derives rows."""
        return self.new[name] if name in self.new else self.output.head(name)

    def check(self, clause: HornClause) -> list[Diagnostic]:
        """The errors for literals with which a round takes more than three of the engine's."""
        what, why = "`.limitsize`", "its recursion has an aggregate"
        spans = (literal.span for literal in clause.body if isinstance(literal, Summary))
        return [errors.CannotTranslate(what=what, why=why, span=span) for span in spans]

    def write(self) -> None:
        """Adds the three ways."""
        for cycle, limits in self.limits.items():
            opens = [self._open(*limit) for limit in limits]
            for each in self.relations.declared.values():
                if each.cycle == cycle:
                    self._ways(each, opens, limits[0][2])

    def _open(self, each: DeclaredRelation, limit: int, span: Span) -> str:
        """The relation that has a row while the limit is not reached. One row is always counted, as there is
        no group of none."""
        counted, open = self.output.fresh(each.name + "Counted"), self.output.fresh(each.name + "Open")
        columns = column_names(each.relation.attributes)
        types = [self.output.types.type_of(attribute.type) for attribute in each.relation.attributes]
        option = syntax.NamedType("Option", (tuple_type(types),), span)
        self.output.declare(counted, [("row", option)], span)
        self.output.declare(open, [("rows", syntax.IntType(64, False, span))], span)
        whole = items(*(name(column, span) for column in columns), at=span)
        none, some = tree("None", at=span), tree("Some{$}", whole, at=span)
        self.output.rule(atom(counted, arguments([none]), span), (), span)
        self.output.rule(atom(counted, arguments([some]), span), [row(each.name, columns, span)], span)
        count = let("rows", tree("row.group_by(()).count()", at=span), span)
        tests = [syntax.Condition(each, span) for each in (count, tree("rows <= $", limit, at=span))]
        self.output.rule(row(open, ["rows"], span), [row(counted, ["row"], span), *tests], span)
        return open

    def _ways(self, each: DeclaredRelation, opens: Sequence[str], span: Span) -> None:
        if each.offers or each.has("eqrel"):
            what, why = "`.limitsize`", f"the recursion of `{each.relation.name}` has rules of its own"
            self.output.found.append(errors.CannotTranslate(what=what, why=why, span=span))
            return
        new, fresh = self.new[each.relation.name], self.output.fresh
        newer, old, older = (fresh(each.name + word) for word in ("Newer", "Old", "Older"))
        names = column_names(each.relation.attributes)
        types = [self.output.types.type_of(attribute.type) for attribute in each.relation.attributes]
        for made in (new, newer, old, older):
            self.output.declare(made, zip(names, types, strict=True), span)
        for target, source in ((newer, new), (old, each.name), (older, old), (each.name, older)):
            self.output.rule(row(target, names, span), [row(source, names, span)], span)
        are_open = [atom(open, arguments([syntax.Wildcard(span)]), span) for open in opens]
        self.output.rule(row(each.name, names, span), [row(newer, names, span), *are_open], span)
