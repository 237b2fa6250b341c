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

from ..errors import souffle as errors
from ..errors.diagnostics import Diagnostic
from ..errors.source import Span
from .clauses import HornClause, Summary
from .relations import Declared, Relations
from .rules import Dependency, Output, OutRelation, OutRule
from .types import column_names


class Limits:
    """The limits of the recursions of a program."""

    def __init__(self, relations: Relations, output: Output) -> None:
        self.relations, self.output = relations, output
        self.limits: dict[int, list[tuple[Declared, int, Span]]] = {}
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
        """Whether a clause of a recursion must stop."""
        return any(head.name in self.new for head in clause.heads)

    def head(self, name: str) -> tuple[str, str]:
        """The relation of which such a clause derives rows."""
        return (self.new[name], "") if name in self.new else self.output.head(name)

    def check(self, clause: HornClause) -> list[Diagnostic]:
        """What keeps rounds from being as long as they must be."""
        for literal in clause.body:
            if isinstance(literal, Summary):
                what, why = "`.limitsize`", "its recursion has an aggregate"
                return [errors.CannotTranslate(what=what, why=why, span=literal.span)]
        return []

    def write(self) -> None:
        """Adds the three ways."""
        for cycle, limits in self.limits.items():
            opens = [self._open(*limit) for limit in limits]
            for each in self.relations.declared.values():
                if each.cycle == cycle:
                    self._ways(each, opens, limits[0][2])

    def _open(self, each: Declared, limit: int, span: Span) -> str:
        """The relation that has a row while the limit is not reached. One row is always counted, as there is
        no group of none."""
        counted, open = self.output.fresh(each.name + "Counted"), self.output.fresh(each.name + "Open")
        columns = column_names(each.relation.attributes)
        row = columns[0] if len(columns) == 1 else f"({', '.join(columns)})"
        types = [self.output.types.text(attribute.type) for attribute in each.relation.attributes]
        type = types[0] if len(types) == 1 else f"({', '.join(types)})"
        self.output.relations.append(OutRelation("", counted, (("row", f"Option<{type}>"),)))
        self.output.relations.append(OutRelation("", open, (("rows", "bit<64>"),)))
        self._rule(counted, "None", (), (), span)
        self._rule(counted, f"Some{{{row}}}", (f"{each.name}({', '.join(columns)})",), (each.name,), span)
        body = (f"{counted}(row)", "var rows = row.group_by(()).count()", f"rows <= {limit}")
        self._rule(open, "rows", body, (counted,), span, "grouped")
        return open

    def _ways(self, each: Declared, opens: Sequence[str], span: Span) -> None:
        if each.offers or each.has("eqrel"):
            what, why = "`.limitsize`", f"the recursion of `{each.relation.name}` has rules of its own"
            self.output.found.append(errors.CannotTranslate(what=what, why=why, span=span))
            return
        new, fresh = self.new[each.relation.name], self.output.fresh
        newer, old, older = (fresh(each.name + word) for word in ("Newer", "Old", "Older"))
        names = column_names(each.relation.attributes)
        types = [self.output.types.text(attribute.type) for attribute in each.relation.attributes]
        for name in (new, newer, old, older):
            self.output.relations.append(OutRelation("", name, tuple(zip(names, types, strict=True))))
        row = ", ".join(names)
        for target, source in ((newer, new), (old, each.name), (older, old), (each.name, older)):
            self._rule(target, row, (f"{source}({row})",), (source,), span)
        body = (f"{newer}({row})", *(f"{open}(_)" for open in opens))
        self._rule(each.name, row, body, (newer, *opens), span)

    def _rule(
        self,
        target: str,
        row: str,
        body: tuple[str, ...],
        reads: Sequence[str],
        span: Span,
        how: str = "positive",
    ) -> None:
        dependencies = tuple(Dependency(name, how, span) for name in reads)
        self.output.rules.append(OutRule((target,), (f"{target}({row})",), body, dependencies))
