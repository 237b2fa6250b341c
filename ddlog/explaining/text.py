"""Proof trees as indented text with box lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .tree import Absent, Condition, Group, Item, ShownMember, Tree
from .words import Words

_BOLD, _DIM, _GREEN, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[0m"


@dataclass(frozen=True)
class Lines:
    """Writes trees; in `color` for a terminal."""

    words: Words
    color: bool = False

    def tree(self, tree: Tree) -> Iterator[str]:
        """The lines of a tree."""
        yield self._head(tree)
        yield from self._below(tree)

    def _head(self, tree: Tree) -> str:
        row = self.words.row(tree.relation, tree.row)
        match tree.kind:
            case "fact":
                return f"{self._in(_GREEN, row)}  {self._in(_DIM, 'fact' + self._place(tree))}"
            case "cut":
                known = "" if tree.height is None else f", height {tree.height}"
                return f"{self._in(_BOLD, row)}  {self._in(_DIM, '…' + known)}"
        return f"{self._in(_BOLD, row)}  {self._in(_DIM, f'height {tree.height}')}"

    def _place(self, tree: Tree) -> str:
        return "" if tree.place is None else f" of the program, {tree.place}"

    def _below(self, tree: Tree) -> Iterator[str]:
        if tree.rule is None or not (tree.body or tree.kind != "fact"):
            return
        bar = "│ " if tree.body else "  "
        for line in self._rule(tree):
            yield bar + line
        yield from self._items(tree.body)

    def _rule(self, tree: Tree) -> Iterator[str]:
        assert tree.rule is not None and tree.place is not None
        text = " ".join(rule_text(tree).split())
        yield f"{text}  {self._in(_DIM, f'at {tree.place}')}"
        if tree.variables:
            yield self._in(_DIM, self.words.variables(tree.variables, tree.rule.variables))

    def _items(self, items: tuple[Item, ...]) -> Iterator[str]:
        for number, item in enumerate(items):
            last = number == len(items) - 1
            lead, rest = ("└─ ", "   ") if last else ("├─ ", "│  ")
            first, *others = self._item(item)
            yield lead + first
            yield from (rest + line for line in others)

    def _item(self, item: Item) -> Iterator[str]:
        match item:
            case Tree():
                yield from self.tree(item)
            case Group():
                yield from self._group(item)
            case _:
                said, found = _said(item, self.words)
                yield f"{said}  {self._in(_DIM, found)}"

    def _group(self, group: Group) -> Iterator[str]:
        yield group_line(group)
        more = group.count - len(group.members)
        for number, member in enumerate(group.members):
            last = number == len(group.members) - 1 and not more
            lead, rest = ("└─ ", "   ") if last else ("├─ ", "│  ")
            first, *others = self._member(member, group)
            yield lead + first
            yield from (rest + line for line in others)
        if more:
            yield f"└─ … and {more} more"

    def _member(self, member: ShownMember, group: Group) -> Iterator[str]:
        decides = self._in(_DIM, "  decides") if member.decides else ""
        yield self.words.value(member.value, group.type) + decides
        yield from self._items(member.body)

    def _in(self, style: str, text: str) -> str:
        return f"{style}{text}{_PLAIN}" if self.color else text


def rule_text(tree: Tree) -> str:
    """The text of the rule of a tree, as the user wrote it."""
    assert tree.rule is not None
    if tree.place is None or tree.place == tree.rule.span:
        return tree.rule.text
    return tree.place.text()


def item_line(item: Absent | Condition, words: Words) -> str:
    """A negated term or a condition, with what was found."""
    return "  ".join(_said(item, words))


def group_line(group: Group) -> str:
    """A group, with the number of its members."""
    count = "1 member" if group.count == 1 else f"{group.count} members"
    return f"{' '.join(group.text.split())}  {count}"


def _said(item: Absent | Condition, words: Words) -> tuple[str, str]:
    match item:
        case Absent(relation, pattern, text):
            hidden = "$" in relation
            return " ".join(text.split()) if hidden else f"not {words.row(relation, pattern)}", "absent"
        case Condition(text, value, of):
            return " ".join(text.split()), words.value(value, of)
