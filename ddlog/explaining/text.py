"""Proof trees as indented text with box lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core import Rule
from ..errors.source import Span
from .tree import Absent, Condition, Group, Item, ShownMember, Tree
from .words import Words

_STYLES = {"bold": "\x1b[1m", "dim": "\x1b[2m", "green": "\x1b[32m", "red": "\x1b[31m"}


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
                return f"{self._in('green', row)}  {self._in('dim', 'fact' + self._place(tree))}"
            case "cut":
                said = ", ".join(filter(None, ("…", height_text(tree))))
                return f"{self._in('bold', row)}  {self._in('dim', said)}"
        return "  ".join(filter(None, (self._in("bold", row), self._in("dim", height_text(tree)))))

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
        yield rule_line(tree.rule, tree.place, self.color)
        if tree.variables:
            yield self._in("dim", self.words.variables(tree.variables, tree.rule.variables))

    def _items(self, items: tuple[Item, ...]) -> Iterator[str]:
        yield from boxed([list(self.item(item)) for item in items])

    def item(self, item: Item) -> Iterator[str]:
        """The lines of an item of a body."""
        match item:
            case Tree():
                yield from self.tree(item)
            case Group():
                yield from self._group(item)
            case _:
                said, found = _said(item, self.words)
                yield f"{said}  {self._in('dim', found)}"

    def _group(self, group: Group) -> Iterator[str]:
        yield group_line(group)
        parts = [list(self._member(member, group)) for member in group.members]
        if group.more:
            parts.append([f"… and {group.more} more"])
        yield from boxed(parts)

    def _member(self, member: ShownMember, group: Group) -> Iterator[str]:
        note = self._in("dim", f"  {member.note}") if member.note else ""
        yield self.words.value(member.value, group.type) + note
        yield from self._items(member.body)

    def _in(self, style: str, text: str) -> str:
        return tinted(style, text, self.color)


def rule_text(tree: Tree) -> str:
    """The text of the rule of a tree, as the user wrote it."""
    assert tree.rule is not None
    if tree.place is None or tree.place == tree.rule.span:
        return tree.rule.text
    return tree.place.text()


def height_text(tree: Tree) -> str:
    """The height of a row, and the rounds since which it is there."""
    said = [] if tree.height is None else [f"height {tree.height}"]
    if tree.rounds:
        number = ".".join(map(str, tree.rounds))
        said.append(f"in round {number}, not to the end" if tree.ended else f"since round {number}")
    return ", ".join(said)


def item_line(item: Absent | Condition, words: Words) -> str:
    """A negated term or a condition, with what was found."""
    return "  ".join(_said(item, words))


def group_line(group: Group) -> str:
    """A group, with the number of its members."""
    count = f"1 {group.noun}" if group.count == 1 else f"{group.count} {group.noun}s"
    return f"{' '.join(group.text.split())}  {count}"


def _said(item: Absent | Condition, words: Words) -> tuple[str, str]:
    match item:
        case Absent(relation, pattern, text, rounds):
            if words.is_described(relation):
                return " ".join(text.split()), f"true{in_round(rounds)}"
            shown = " ".join(text.split()) if "$" in relation else f"not {words.row(relation, pattern)}"
            return shown, f"absent{in_round(rounds)}"
        case Condition(text, value, of):
            return " ".join(text.split()), words.value(value, of)


def in_round(rounds: tuple[int, ...]) -> str:
    """A round, the number of the outermost loop first, to be said after something; nothing without one."""
    if rounds and rounds[-1] < 0:
        return " before round 0"
    return f" in round {'.'.join(map(str, rounds))}" if rounds else ""


def boxed(parts: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of some parts below a line, led by box lines."""
    for number, (first, *others) in enumerate(parts):
        lead, rest = ("└─ ", "   ") if number == len(parts) - 1 else ("├─ ", "│  ")
        yield lead + first
        yield from (rest + line for line in others)


def rule_line(rule: Rule, place: Span, color: bool) -> str:
    """The text of a rule and its place."""
    text = rule.text if place == rule.span else place.text()
    return f"{' '.join(text.split())}  {tinted('dim', f'at {place}', color)}"


def tinted(style: str, text: str, color: bool) -> str:
    """A text in a style of the terminal, if there are colors."""
    return f"{_STYLES[style]}{text}\x1b[0m" if color and text else text
