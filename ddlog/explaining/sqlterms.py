"""Explanations of rules that were translated from SQL, in the terms of its text.

The translation makes relations that nobody wrote. Rows of such a relation that only passes others on are left
out, and what is below them stands in their place:

    turnover(…)                      turnover(…)
    └─ Rows__7(…)            →       ├─ item(…)
       ├─ Item(…)                    └─ sale(…)
       └─ Sale(…)

unless that would bring two groups into one body. So heights, which count such rows, are not told. Rows of
other such relations, such as subqueries, are told in words (`words`). A rule becomes the SELECT that it comes
from, variables the columns that they stand for, and clauses the expressions; those which say nothing are left
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core import CheckedProgram, Rule
from ..errors.origins import SqlMeaning, SqlPlace
from ..errors.source import Span
from ..types import BigInt, Bool, Tuple, Type
from ..values.structs import Struct
from .node import Reason
from .snapshot import is_translated
from .tree import condition
from .words import Words, made_of, wrapped

Named = tuple[SqlMeaning, Any, Type]


def in_sql(program: CheckedProgram) -> InSql | None:
    """The rewriter of explanations of a program; None if none of its rules was translated."""
    return InSql(program) if is_translated(program) else None


@dataclass
class _RewrittenBody:
    """A rewritten body of a rule: its columns and computed values, and its items."""

    columns: list[Named] = field(default_factory=list)
    items: list[Reason] = field(default_factory=list)
    types: dict[str, Type] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)

    @property
    def has_group(self) -> bool:
        """Whether a group is among the items."""
        return any(each.kind in ("members", "regrouped") for each in self.items)

    def say(self, item: Reason) -> None:
        """Adds a condition, unless its text is there."""
        if item.text not in self.said:
            self.said.add(item.text)
            self.items.append(item)

    def take(self, other: _RewrittenBody) -> None:
        """Adds what is said of a rule whose row is passed over."""
        self.columns += other.columns
        self.types |= other.types
        for each in other.items:
            if each.kind == "condition":
                self.say(each)
            else:
                self.items.append(each)

    def variables(self) -> dict[str, Any]:
        """The values of columns, each by a name of its own."""
        found: dict[str, Any] = {}
        for written, value, of in self.columns:
            alike = [each for each in self.columns if each[0].text == written.text]
            qualified = written.table and any(_bare(other) != _bare(value) for _, other, _ in alike)
            name = made = f"{written.table}.{written.text}" if qualified else written.text
            number = 2
            while made in found and _bare(found[made]) != _bare(value):
                made, number = f"{name}#{number}", number + 1
            found[made], self.types[made] = value, of
        return found

    def rule(self, place: Span) -> Rule:
        """A rule that reads as the text of a place."""
        return Rule((), (), dict(self.types), place.text(), place)


class InSql:
    """Rewrites the explanations of a program."""

    def __init__(self, program: CheckedProgram) -> None:
        self._program, self._words = program, Words(program)
        self._bodies: dict[Reason, _RewrittenBody] = {}
        self._nodes: dict[Reason, Reason] = {}

    def node(self, node: Reason) -> Reason:
        """A node, and all below it."""
        if node not in self._nodes:
            self._nodes[node] = self._node(node)
        return self._nodes[node]

    def _node(self, node: Reason) -> Reason:
        place = None if node.rule is None else node.rule.span
        if not isinstance(place, SqlPlace):
            unknown = node.kind == "cut" and self._is_translated(node.relation)
            children = tuple(map(self.node, node.children))
            return replace(node, height=None if unknown else node.height, children=children)
        body = self._body_of(node)
        variables, height = body.variables(), 0 if node.kind == "fact" else None
        children = tuple(body.items)
        if node.kind == "attempt":
            children = tuple(each.marked("holds") if each.is_row else each for each in children)
        return replace(
            node, rule=body.rule(place), place=place, variables=variables, children=children,
            height=height if node.came is None else None,
        )  # fmt: skip

    def _is_translated(self, relation: str) -> bool:
        declared = self._program.relations.get(relation)
        return declared is not None and declared.span.source.origins is not None

    def _is_window(self, relation: str) -> bool:
        """Whether a relation is that behind a window of SQL, whose rows are told already."""
        return self._is_translated(relation) and self._program.relations[relation].window is not None

    def _body_of(self, node: Reason) -> _RewrittenBody:
        """The body of a rule, with the values of expressions that no item tells."""
        if node not in self._bodies:
            assert node.rule is not None
            body = self._body(node.children, node.variables, node.rule)
            if node.kind != "attempt":
                self._computed(body, node.variables, node.rule)
            self._bodies[node] = body
        return self._bodies[node]

    def _body(self, items: Sequence[Reason], variables: Mapping[str, Any], rule: Rule) -> _RewrittenBody:
        body = self._begun(variables, rule)
        for item in items:
            self._item(item, body, rule)
        return body

    def _begun(self, variables: Mapping[str, Any], rule: Rule) -> _RewrittenBody:
        named = (self._named(name, value, rule) for name, value in variables.items())
        return _RewrittenBody([each for each in named if each is not None and each[0].is_column])

    def _computed(self, body: _RewrittenBody, variables: Mapping[str, Any], rule: Rule) -> None:
        """Adds the values of expressions which no item tells."""
        for name, value in variables.items():
            named = self._named(name, value, rule)
            if named is not None and not named[0].is_column and named[0].text:
                body.say(condition(named[0].text, named[1], named[2]))

    def _item(self, item: Reason, body: _RewrittenBody, rule: Rule) -> None:
        match item.kind:
            case "absent" | "excluded":
                said = self._said_of(item.relation, _said(item.place))
                body.items.append(replace(item, text=said, children=tuple(map(self.node, item.children))))
            case "condition":
                self._condition(item, body, rule)
            case "members" | "regrouped":
                body.items.append(self._group(item, body, rule))
            case "no row":
                self._no_row(item, body)
            case "found":
                said = self._said_of(item.relation, _said(item.place))
                body.items.append(replace(item, text=said))
            case "false":
                body.items.append(self._false(item, rule))
            case "ended":
                return
            case _:
                self._row(item, body)

    def _row(self, item: Reason, body: _RewrittenBody) -> None:
        """A row of a term; for one that only passes rows on, what is below it."""
        made = made_of(self._program.relations.get(item.relation))
        if (made is not None and made.dropped) or self._is_window(item.relation):
            return
        if made is not None and made.passed and item.rule is not None:
            inner = self._body_of(item)
            if item.kind == "same":
                kept = (each for each in inner.items if each.kind != "members")
                same = [each.marked("same") if each.is_row else each for each in kept]
                body.take(_RewrittenBody(inner.columns, same, inner.types))
                return
            if not (inner.has_group and body.has_group):
                body.take(inner)
                return
        body.items.append(item.marked("same") if item.kind == "same" else self.node(item))

    def _said_of(self, relation: str, text: str) -> str:
        return text or f"there are no {self._words.relation(relation)} for it"

    def _condition(self, item: Reason, body: _RewrittenBody, rule: Rule) -> None:
        clause = item.place
        if isinstance(clause, SqlPlace) and clause.said:
            named = self._named(clause.variable, item.value, rule) if clause.variable else None
            value, of = (True, Bool()) if named is None else named[1:]
            body.say(condition(clause.said, value, of))

    def _group(self, group: Reason, body: _RewrittenBody, rule: Rule) -> Reason:
        by = group.place.members if isinstance(group.place, SqlPlace) else ()
        members = []
        for number, each in enumerate(group.children, 1):
            if each.kind != "member":
                members.append(each)
                continue
            inner = self._body(each.children, each.variables, rule)
            self._computed(inner, each.variables, rule)
            value, of = self._member(number, by, each.variables, rule)
            parts, variables = tuple(inner.items), inner.variables()
            members.append(replace(each, value=value, type=of, variables=variables, children=parts))
            body.types |= inner.types
        keys = self._begun(group.variables, rule)
        named = keys.variables()
        body.types |= keys.types
        return replace(group, text=_said(group.place) or "rows", variables=named, children=tuple(members))

    def _member(
        self, number: int, by: Sequence[str], variables: Mapping[str, Any], rule: Rule
    ) -> tuple[Any, Type]:
        """The name of a row of a group, with its type: some of its values, or its number."""
        named = (self._named(name, variables[name], rule) for name in by if name in variables)
        known = [each for each in named if each is not None]
        if not known:
            return number, BigInt()
        if len(known) == 1:
            return known[0][1:]
        return tuple(value for _, value, _ in known), Tuple(tuple(of for _, _, of in known))

    def _named(self, name: str, value: Any, rule: Rule) -> Named | None:
        """A variable as SQL has it, and its value as users know it; None for one that SQL has not."""
        origins = rule.span.source.origins
        written = None if origins is None else origins.variables.get(name)
        if written is None or name not in rule.variables:
            return None
        return written, *wrapped(value, rule.variables[name], written.wrapper, self._program.typedefs)

    # ------------------------------------------------------------- clauses that fail

    def _no_row(self, fails: Reason, body: _RewrittenBody) -> None:
        """A term without a row; of a relation that only passes rows on, what fails below."""
        made = made_of(self._program.relations.get(fails.relation))
        below = [
            each for each in fails.children if each.kind == "missing" and made is not None and made.passed
        ]
        attempts = [each for node in below for each in node.children if each.kind == "attempt"]
        if (
            len(attempts) == 1
            and (inner := attempts[0].rule) is not None
            and isinstance(inner.span, SqlPlace)
        ):
            body.take(self._body(attempts[0].children, attempts[0].variables, inner))
            return
        text = _said(fails.place) or f"row of {self._words.relation(fails.relation)} with these values"
        body.items.append(replace(fails, text=text, children=tuple(map(self.node, fails.children))))

    def _false(self, fails: Reason, rule: Rule) -> Reason:
        said = _said(fails.place)
        if fails.column is not None:
            return self._told(fails, *self._column(*fails.column))
        if fails.variable:
            origins = rule.span.source.origins
            written = None if origins is None else origins.variables.get(fails.variable)
            text = said or ("a value of the query" if written is None else written.text)
            return self._told(fails, text, "" if written is None else written.wrapper)
        named = [self._named(each.text, each.value, rule) for each in fails.children if each.kind == "value"]
        parts = [
            Reason("value", text=each[0].text, value=each[1], type=each[2])
            for each in named
            if each is not None and each[0].text
        ]
        return replace(fails, text=said or "a condition of the query", children=tuple(parts))

    def _column(self, relation: str, at: int) -> tuple[str, str]:
        """The name of a column, and the struct in which its values are known."""
        declared = self._program.relations[relation]
        made = made_of(declared)
        written = None if made is None else made.columns[at]
        if written is None:
            return declared.columns[at].name, ""
        return written.text or "a column", written.wrapper

    def _told(self, fails: Reason, text: str, wrapper: str) -> Reason:
        """The failure of an expression, with its values as users know them."""
        parts = []
        for each in fails.children:
            assert each.type is not None
            value, of = wrapped(each.value, each.type, wrapper, self._program.typedefs)
            parts.append(replace(each, text=text if each.kind == "value" else "", value=value, type=of))
        return replace(fails, text=text, children=tuple(parts))


def _bare(value: Any) -> Any:
    """A value without the Option around it."""
    return value[1] if isinstance(value, Struct) and value.__ddlog__.constructor == "Some" else value


def _said(place: Span | None) -> str:
    """The text of a clause in SQL."""
    return place.said if isinstance(place, SqlPlace) else ""
