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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core import CheckedProgram, Rule
from ..errors.origins import Derived, Written
from ..errors.source import Span
from ..types import BigInt, Bool, Tuple, Type
from ..values.structs import Struct
from .absence import Attempt, Fails, Failure, Found, Missing, NoRow
from .changes import Change, Changed, Ended, Excluded, OtherMember, Part, Regrouped, Same
from .held import is_translated
from .tree import Absent, Condition, Group, Item, ShownMember, Tree
from .words import Words, made_of, wrapped

Named = tuple[Written, Any, Type]


def in_sql(program: CheckedProgram) -> InSql | None:
    """The rewriter of explanations of a program; None if none of its rules was translated."""
    return InSql(program) if is_translated(program) else None


@dataclass
class _Body:
    """A rewritten body of a rule: its columns and computed values, and its items."""

    columns: list[Named] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)
    types: dict[str, Type] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)

    @property
    def has_group(self) -> bool:
        """Whether a group is among the items."""
        return any(isinstance(each, Group | Regrouped) for each in self.items)

    def say(self, item: Condition, made: Any) -> None:
        """Adds a condition, unless its text is there."""
        if item.text not in self.said:
            self.said.add(item.text)
            self.items.append(made)

    def take(self, other: _Body) -> None:
        """Adds what is said of a rule whose row is passed over."""
        self.columns += other.columns
        self.types |= other.types
        for each in other.items:
            item = each.item if isinstance(each, Same) else each
            if isinstance(item, Condition):
                self.say(item, each)
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
        self._bodies: dict[Tree, _Body] = {}
        self._trees: dict[Tree, Tree] = {}

    # ------------------------------------------------------------- proofs

    def tree(self, tree: Tree) -> Tree:
        """A proof tree."""
        if tree not in self._trees:
            self._trees[tree] = self._tree(tree)
        return self._trees[tree]

    def _tree(self, tree: Tree) -> Tree:
        if tree.rule is None:
            unknown = tree.kind == "cut" and self._is_translated(tree.relation)
            return replace(tree, height=None) if unknown else tree
        place = tree.rule.span
        if not isinstance(place, Derived):
            return replace(tree, body=tuple(self._untranslated(tree.body)))
        body = self._body_of(tree)
        variables = body.variables()
        rule, items = body.rule(place), tuple(body.items)
        height = 0 if tree.kind == "fact" else None
        return replace(tree, rule=rule, place=place, variables=variables, body=items, height=height)

    def _is_translated(self, relation: str) -> bool:
        declared = self._program.relations.get(relation)
        return declared is not None and declared.span.source.origins is not None

    def _untranslated(self, items: Iterable[Item]) -> Iterator[Item]:
        """The body of a rule that was not translated."""
        for item in items:
            match item:
                case Tree():
                    yield self.tree(item)
                case Group(members=members):
                    parts = (replace(m, body=tuple(self._untranslated(m.body))) for m in members)
                    yield replace(item, members=tuple(parts))
                case _:
                    yield item

    def _body_of(self, tree: Tree) -> _Body:
        if tree not in self._bodies:
            assert tree.rule is not None
            body = self._body(tree.body, tree.variables, tree.rule)
            self._computed(body, tree.variables, tree.rule)
            self._bodies[tree] = body
        return self._bodies[tree]

    def _body(self, items: Sequence[Item], variables: Mapping[str, Any], rule: Rule) -> _Body:
        body = self._begun(variables, rule)
        for item in items:
            self._item(item, body, rule)
        return body

    def _begun(self, variables: Mapping[str, Any], rule: Rule) -> _Body:
        named = (self._named(name, value, rule) for name, value in variables.items())
        return _Body([each for each in named if each is not None and each[0].is_column])

    def _computed(self, body: _Body, variables: Mapping[str, Any], rule: Rule) -> None:
        """Adds the values of expressions which no item tells."""
        for name, value in variables.items():
            named = self._named(name, value, rule)
            if named is not None and not named[0].is_column and named[0].text:
                item = Condition(named[0].text, named[1], named[2])
                body.say(item, item)

    def _item(self, item: Item, body: _Body, rule: Rule) -> None:
        match item:
            case Tree(relation):
                made = made_of(self._program.relations.get(relation))
                if made is not None and made.dropped:
                    return
                if made is not None and made.passed and item.rule is not None:
                    inner = self._body_of(item)
                    if not (inner.has_group and body.has_group):
                        body.take(inner)
                        return
                body.items.append(self.tree(item))
            case Absent():
                body.items.append(self._absent(item))
            case Condition():
                said = self._condition(item, rule)
                if said is not None:
                    body.say(said, said)
            case Group():
                body.items.append(self._group(item, body, rule))

    def _absent(self, item: Absent) -> Absent:
        return replace(item, text=self._said_of(item.relation, _said(item.span)))

    def _said_of(self, relation: str, text: str) -> str:
        return text or f"there are no {self._words.relation(relation)} for it"

    def _condition(self, item: Condition, rule: Rule) -> Condition | None:
        clause = item.span
        if not isinstance(clause, Derived) or not clause.said:
            return None
        named = self._named(clause.variable, item.value, rule) if clause.variable else None
        value, of = (True, Bool()) if named is None else named[1:]
        return Condition(clause.said, value, of)

    def _group(self, group: Group, body: _Body, rule: Rule) -> Group:
        text, by = _said(group.span) or "rows", getattr(group.span, "members", ())
        members, of = [], group.type
        for number, each in enumerate(group.members, 1):
            inner = self._body(each.body, each.variables, rule)
            self._computed(inner, each.variables, rule)
            value, of = self._member(number, by, each.variables, rule)
            shown = ShownMember(value, each.decides, inner.variables(), tuple(inner.items), each.times)
            members.append(shown)
            body.types |= inner.types
        keys = self._begun(group.keys, rule)
        named = keys.variables()
        body.types |= keys.types
        return replace(group, text=text, type=of, keys=named, members=tuple(members))

    def _member(
        self, number: int, by: Sequence[str], variables: Mapping[str, Any], rule: Rule
    ) -> tuple[Any, Type]:
        """What a row of a group is known by: some of its values, or its number."""
        named = (self._named(name, variables[name], rule) for name in by if name in variables)
        known = [each for each in named if each is not None]
        if not known:
            return number, BigInt()
        if len(known) == 1:
            return known[0][1:]
        return tuple(value for _, value, _ in known), Tuple(tuple(of for _, _, of in known))

    def _named(self, name: str, value: Any, rule: Rule) -> Named | None:
        """What a variable stands for, and its value as users know it."""
        origins = rule.span.source.origins
        written = None if origins is None else origins.variables.get(name)
        if written is None or name not in rule.variables:
            return None
        return written, *wrapped(value, rule.variables[name], written.wrapper, self._program.typedefs)

    # ------------------------------------------------------------- changes

    def change(self, change: Change) -> Change:
        """The change of a row."""
        return replace(change, proofs=tuple(self._changed(each) for each in change.proofs))

    def _changed(self, changed: Changed) -> Changed:
        if changed.rule is None:
            return changed
        place = changed.rule.span
        if not isinstance(place, Derived):
            return replace(changed, body=tuple(self._unchanged(changed.body)))
        body = self._parts(changed.body, changed.variables, changed.rule)
        variables = body.variables()
        return replace(
            changed, rule=body.rule(place), place=place, variables=variables, body=tuple(body.items)
        )

    def _unchanged(self, parts: Iterable[Part]) -> Iterator[Part]:
        """The body of a rule that was not translated."""
        for part in parts:
            match part:
                case Changed():
                    yield self._changed(part)
                case Excluded():
                    yield replace(part, rows=tuple(map(self._changed, part.rows)))
                case Regrouped():
                    members = (replace(m, body=tuple(self._unchanged(m.body))) for m in part.members)
                    yield replace(part, members=tuple(members))
                case Same() | Ended():
                    yield part

    def _parts(self, parts: Sequence[Part], variables: Mapping[str, Any], rule: Rule) -> _Body:
        body = self._begun(variables, rule)
        for part in parts:
            self._part(part, body, rule)
        computed = _Body(said=set(body.said))
        self._computed(computed, variables, rule)
        body.items += map(Same, computed.items)
        return body

    def _part(self, part: Part, body: _Body, rule: Rule) -> None:
        match part:
            case Changed(relation):
                made = made_of(self._program.relations.get(relation))
                if made is not None and made.dropped:
                    return
                if made is not None and made.passed and part.rule is not None:
                    inner = self._parts(part.body, part.variables, part.rule)
                    if not (inner.has_group and body.has_group):
                        body.take(inner)
                        return
                body.items.append(self._changed(part))
            case Same(item):
                inner = _Body()
                self._item(item, inner, rule)
                kept = (each for each in inner.items if not isinstance(each, Group))
                body.take(_Body(inner.columns, [Same(each) for each in kept], inner.types))
            case Excluded():
                rows = tuple(map(self._changed, part.rows))
                body.items.append(replace(part, term=self._absent(part.term), rows=rows))
            case Regrouped():
                body.items.append(self._regrouped(part, rule))

    def _regrouped(self, group: Regrouped, rule: Rule) -> Regrouped:
        text, by = _said(group.span) or "rows", getattr(group.span, "members", ())
        members, of = [], group.type
        for number, each in enumerate(group.members, 1):
            value, of = self._member(number, by, each.variables, rule)
            parts = self._parts(each.body, each.variables, rule).items
            members.append(OtherMember(value, each.came, tuple(parts), {}, each.times))
        return replace(group, text=text, type=of, members=tuple(members))

    # ------------------------------------------------------------- absence

    def missing(self, missing: Missing) -> Missing:
        """A row that does not hold."""
        return replace(missing, attempts=tuple(map(self._attempt, missing.attempts)))

    def _attempt(self, attempt: Attempt) -> Attempt:
        place, rule, fails = attempt.rule.span, attempt.rule, attempt.fails
        if not isinstance(place, Derived):
            below = isinstance(fails, NoRow) and fails.below is not None
            return replace(attempt, fails=self._below(fails)) if below else attempt
        body = self._body(attempt.holds, attempt.variables, rule)
        fails = self._passed(fails, body)
        variables = body.variables()
        return Attempt(body.rule(place), place, variables, tuple(body.items), self._failure(fails, rule))

    def _passed(self, fails: Failure, body: _Body) -> Failure:
        """What fails below rows that are passed over."""
        while isinstance(fails, NoRow) and fails.below is not None and len(fails.below.attempts) == 1:
            made = made_of(self._program.relations.get(fails.relation))
            (only,) = fails.below.attempts
            if made is None or not made.passed or not isinstance(only.rule.span, Derived):
                break
            body.take(self._body(only.holds, only.variables, only.rule))
            fails = only.fails
        return fails

    def _below(self, fails: Failure) -> Failure:
        if not isinstance(fails, NoRow) or fails.below is None:
            return fails
        return replace(fails, below=self.missing(fails.below))

    def _failure(self, fails: Failure, rule: Rule) -> Failure:
        said = _said(fails.span)
        match fails:
            case NoRow(relation):
                words = self._words.relation(relation)
                return self._below(replace(fails, text=said or f"row of {words} with these values"))
            case Found():
                return replace(fails, text=self._said_of(fails.relation, said))
            case Fails(values=values, column=(name, at)):
                text, wrapper = self._column(name, at)
                return self._told(fails, text, wrapper, values)
            case Fails(values=values, variable=variable) if variable:
                origins = rule.span.source.origins
                written = None if origins is None else origins.variables.get(variable)
                text = said or ("a value of the query" if written is None else written.text)
                return self._told(fails, text, "" if written is None else written.wrapper, values)
        parts = tuple(self._fails(fails.values, rule))
        return replace(fails, text=said or "a condition of the query", values=parts)

    def _column(self, relation: str, at: int) -> tuple[str, str]:
        """The name of a column, and the struct in which its values are known."""
        declared = self._program.relations[relation]
        made = made_of(declared)
        written = None if made is None else made.columns[at]
        if written is None:
            return declared.columns[at].name, ""
        return written.text or "a column", written.wrapper

    def _told(self, fails: Fails, text: str, wrapper: str, values: Sequence[tuple[str, Any, Type]]) -> Fails:
        """The failure of an expression, with its values as users know them."""
        typedefs = self._program.typedefs
        parts = tuple((text, *wrapped(value, of, wrapper, typedefs)) for _, value, of in values)
        wanted = None if fails.wanted is None else wrapped(*fails.wanted, wrapper, typedefs)
        return replace(fails, text=text, values=parts, wanted=wanted)

    def _fails(self, values: Sequence[tuple[str, Any, Type]], rule: Rule) -> Iterator[tuple[str, Any, Type]]:
        for text, value, _ in values:
            named = self._named(text, value, rule)
            if named is not None and named[0].text:
                yield named[0].text, named[1], named[2]


def _bare(value: Any) -> Any:
    """A value without the Option around it."""
    return value[1] if isinstance(value, Struct) and value.__ddlog__.constructor == "Some" else value


def _said(place: Span | None) -> str:
    """What a clause says in SQL."""
    return place.said if isinstance(place, Derived) else ""
